"""How far the engine is from NumPy by hand: python benchmarks/ratios.py [--only WORD ...] [--beside torch ...]

Engine and floor run in alternating blocks, in one process, on one core and one BLAS thread; a figure is the median of
the pairwise ratios of CPU time, so that a busy machine slows both. Results are checked before and after. A ratio, never
a time, is what this course states as a fact. Other engines can be measured in the same run (--beside torch mygrad
autograd, where installed); --json and --plot write the figures and a picture.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before anything imports NumPy

ROUNDS, BLOCK = 15, 0.03  # pairs of blocks, and seconds a block lasts
ROOT = Path(__file__).resolve().parents[1]


def seconds(call, times: int, timed: bool) -> float:
    """CPU seconds of one call, over a block of calls; as the call itself says, where it is timed."""
    if timed:
        return statistics.median(call()[0] for _ in range(min(times, 5)))
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


def measure(work) -> tuple[float, float, float]:
    """(ratio, seconds of the engine, seconds of the floor) for one operation."""
    from workloads import check

    check(work)
    sides = work.engine, work.floor
    counts = [max(1, int(BLOCK / max(min(seconds(f, 1, work.timed) for _ in range(3)), 1e-7))) for f in sides]
    pairs = []
    for _ in range(ROUNDS):
        work.change()
        pairs.append([seconds(f, n, work.timed) for f, n in zip(sides, counts, strict=True)])
    check(work)
    mine, least = (statistics.median(p[i] for p in pairs) / work.operations for i in (0, 1))
    return statistics.median(a / b for a, b in pairs), mine, least


HEAD = """
import gc, json, sys, time
sys.path.insert(0, ".")
import {module} as torch
def resident():
    with open("/proc/self/status") as f:
        return int(next(row for row in f if row.startswith("VmRSS")).split()[1]) / 1024
"""

DEPTH = """
def run(n):
    x = torch.tensor(1.0, requires_grad=True)
    gc.collect(); gc.disable()
    before, began, y = resident(), time.process_time(), x
    for _ in range(n): y = y + 1e-6
    held = resident() - before
    y.backward()
    spent = time.process_time() - began
    assert abs(x.grad.item() - 1) < 1e-6
    del y, x
    return spent, held, gc.collect()
run(1000)
print(json.dumps(run(100_000)))
"""

FLAT = """
net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
x, t = torch.randn(512, 784), torch.randint(0, 10, (512,))
gc.collect(); gc.disable()
for step in range(1, 201):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), t).backward()
    optimizer.step()
    if step == 5: before = resident()
print(json.dumps(resident() - before))
"""


def apart(program: str, module: str):
    """What a program prints, run in a process of its own."""
    out = subprocess.run([sys.executable, "-c", HEAD.format(module=module) + program],
                         capture_output=True, text=True, check=True, cwd=ROOT)  # fmt: skip
    return json.loads(out.stdout.splitlines()[-1])


def import_ratio(module: str, runs: int = 7) -> float:
    """CPU time of importing a module over that of importing NumPy, both less a bare interpreter's."""

    def spent(statement: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=ROOT)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    rows = [[spent(s) for s in ("pass", "import numpy", f"import {module}")] for _ in range(runs)]
    return statistics.median((mine - bare) / (numpy - bare) for bare, numpy, mine in rows)


def workloads_of(name: str) -> list:
    """The workloads an engine can do: all of them with PyTorch's names, a few for the others."""
    from peers import PEERS
    from workloads import all_workloads

    module = importlib.import_module(name)
    if name in PEERS:
        importlib.import_module({"autograd": "autograd.numpy"}.get(name, name))
        return list(PEERS[name](module))
    if name == "torch":
        module.set_num_threads(1)
    return all_workloads(module)


def table(results: dict) -> str:
    """Engines side by side, in Markdown."""
    engines = list(results)
    rows = list(dict.fromkeys(row for engine in engines for row in results[engine]))
    lines = [f"| workload | {' | '.join(engines)} |", f"|---|{'---:|' * len(engines)}"]
    for row in rows:
        found = (results[e].get(row) for e in engines)
        lines.append(f"| {row} | {' | '.join('' if v is None else f'{v:.2f}' for v in found)} |")
    return "\n".join(lines)


def plot(results: dict, path: Path) -> None:
    """Bars: how many times NumPy's time each workload takes on each engine."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    engines = list(results)
    rows = [r for r in results[engines[0]] if not r.startswith(("100,000", "memory"))]
    figure, axes = pyplot.subplots(figsize=(9, 0.22 * len(rows) * len(engines) + 1.2), layout="constrained")
    height = 0.8 / len(engines)
    for k, engine in enumerate(engines):
        values = [results[engine].get(r) or float("nan") for r in rows]
        bars = axes.barh([i + k * height for i in range(len(rows))], values, height, label=engine,
                         color=["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#999999"][k % 5],
                         hatch=["", "//", "..", "xx", "--"][k % 5], edgecolor="white")  # fmt: skip
        axes.bar_label(bars, ["" if v != v else f"{v:.2f}" for v in values], fontsize=8, padding=2)
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(rows))], rows)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.margins(y=0.01)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("times the CPU time of the same work by hand in NumPy (1 = as fast)")
    axes.legend(loc="center right")
    figure.savefig(path, dpi=120)


def run(name: str, only: list[str]) -> dict:
    """The figures of one engine, printed as they come."""
    from peers import PEERS

    results, wanted = {}, lambda row: not only or any(word in row for word in only)

    def note(row: str, value: float, text: str) -> None:
        results[row] = round(value, 3)
        print(f"{name:12} {row:30} {text}", flush=True)

    for work in workloads_of(name):
        if wanted(work.name):
            ratio, mine, least = measure(work)
            goal = f", goal {work.goal:g}{'' if ratio <= work.goal else ', over it'}" if work.goal else ""
            times = f"{mine * 1e6:10.2f} us against {least * 1e6:10.2f} us"
            note(work.name, ratio, f"{ratio:6.2f} x NumPy   {times}{goal}")
    if name in PEERS:
        return results
    if wanted("import"):
        note("import", value := import_ratio(name), f"{value:6.2f} x NumPy's import, goal 1.15")
    if sys.platform == "linux" and wanted("100,000 operations"):
        spent, held, garbage = apart(DEPTH, name)
        note("100,000 operations, seconds", spent, f"{spent:6.2f} s, {held:.0f} MB, {garbage} cyclic objects")
    if sys.platform == "linux" and wanted("memory"):
        grown = apart(FLAT, name)
        note("memory grown in 195 steps, MB", grown, f"{grown:6.2f} MB from the fifth training step on")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="workloads whose name holds one of these words")
    parser.add_argument("--beside", nargs="*", default=[], help="other engines: torch, autograd, mygrad")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--plot", type=Path, help="write a picture to this file (needs matplotlib)")
    args = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import numpy as np

    heap = np.empty(30_000_000, "u1")  # glibc then keeps freed blocks: timings do not hang on page faults
    del heap
    results = {name: run(name, args.only) for name in ("autogradlab", *args.beside)}
    if args.beside:
        print(table(results))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if args.plot:
        plot(results, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
