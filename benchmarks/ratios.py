"""How far the engine is from NumPy by hand: python benchmarks/ratios.py [--only WORD ...] [--json FILE]

Engine and floor run in alternating blocks, in one process, on one core and one BLAS thread; a figure is the median of
the pairwise ratios of CPU time, so that a busy machine slows both. Results are checked before and after. A ratio, never
a time, is what this course states as a fact.
"""

import argparse
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


def seconds(call, times: int) -> float:
    """CPU seconds of one call, over a block of calls."""
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


def measure(work) -> tuple[float, float, float]:
    """(ratio, seconds of the engine, seconds of the floor) for one operation."""
    from workloads import check

    check(work)
    counts = [max(1, int(BLOCK / max(min(seconds(f, 1) for _ in range(3)), 1e-7))) for f in (work.engine, work.floor)]
    pairs = []
    for _ in range(ROUNDS):
        work.change()
        pairs.append((seconds(work.engine, counts[0]), seconds(work.floor, counts[1])))
    check(work)
    mine, least = (statistics.median(p[i] for p in pairs) / work.operations for i in (0, 1))
    return statistics.median(a / b for a, b in pairs), mine, least


DEPTH = """
import gc, json, time
import autogradlab as torch
def run(n):
    x = torch.tensor(1.0, requires_grad=True)
    gc.collect(); gc.disable()
    began, y = time.process_time(), x
    for _ in range(n): y = y + 1e-6
    y.backward()
    spent = time.process_time() - began
    assert abs(x.grad.item() - 1) < 1e-6
    del y, x
    return spent, gc.collect()
run(1000)
print(json.dumps(run(100_000)))
"""


def depth() -> tuple[float, int]:
    """Seconds for 100,000 operations in a row, forward and backward, and the cyclic objects they leave behind."""
    out = subprocess.run([sys.executable, "-c", DEPTH], capture_output=True, text=True, check=True, cwd=ROOT)
    return tuple(json.loads(out.stdout))


def import_ratio(runs: int = 7) -> float:
    """CPU time of importing the engine over that of importing NumPy, both less a bare interpreter's."""

    def spent(statement: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=ROOT)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    rows = [[spent(s) for s in ("pass", "import numpy", "import autogradlab")] for _ in range(runs)]
    return statistics.median((mine - bare) / (numpy - bare) for bare, numpy, mine in rows)


ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="workloads whose name holds one of these words")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    args = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import numpy as np
    from workloads import all_workloads

    heap = np.empty(30_000_000, "u1")  # glibc then keeps freed blocks: timings do not hang on page faults
    del heap
    results = {}
    for work in all_workloads():
        if args.only and not any(word in work.name for word in args.only):
            continue
        ratio, mine, least = measure(work)
        results[work.name] = round(ratio, 3)
        print(f"{work.name:34}{ratio:8.2f} x NumPy   {mine * 1e6:10.2f} us against {least * 1e6:10.2f} us", flush=True)
    if not args.only:
        results["import"] = round(import_ratio(), 3)
        print(f"{'import':34}{results['import']:8.2f} x NumPy's import")
        spent, garbage = depth()
        results["100,000 operations in a row, cyclic objects"] = garbage
        print(f"{'100,000 operations in a row':34}{spent:8.2f} s, {garbage} cyclic objects")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
