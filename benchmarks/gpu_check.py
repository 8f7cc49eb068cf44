"""One script for one GPU: is everything right there, and how fast is it?  Ends in about 6 minutes.

python benchmarks/gpu_check.py [--device cuda|sim] [--json FILE] [--plot FILE] [--quick]

Parity of every operator with the CPU, forwards and backwards; elementwise and matmul against the roofline; training
steps, beside PyTorch on the same GPU where it is installed; memory; the tests that run on devices. On the simulated
accelerator the same code runs, and its times are its model's: they say nothing about any machine.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402

import autogradlab as torch  # noqa: E402
import autogradlab.nn.functional as F  # noqa: E402
from autogradlab import nn  # noqa: E402
from autogradlab.backends.clock import Figures, clock  # noqa: E402


class Bench:
    """The engine on one device, or another engine with PyTorch's names on the same GPU."""

    def __init__(self, engine, device: str):
        self.torch, self.device = engine, device
        self.simulated = device.startswith("sim")

    def synchronize(self) -> None:
        if self.simulated:
            torch.device(self.device).backend.synchronize()
        else:
            self.torch.cuda.synchronize()

    def seconds(self, call, rounds: int = 5, times: int = 10) -> float:
        """The best mean of several rounds: measured on a GPU, of the model's clock on the simulated one."""
        call()
        best = float("inf")
        for _ in range(1 if self.simulated else rounds):
            self.synchronize()
            began = clock.host if self.simulated else time.perf_counter()
            for _ in range(1 if self.simulated else times):
                call()
            self.synchronize()
            ended = clock.host if self.simulated else time.perf_counter()
            best = min(best, (ended - began) / (1 if self.simulated else times))
        return best

    def randn(self, *shape, dtype="float32", grad: bool = False):
        made = self.torch.randn(*shape, device=self.device).to(getattr(self.torch, dtype))
        return made.requires_grad_(grad)


# Right? ---------------------------------------------------------------------------------------------------------------


def parity(device: str) -> dict:
    """Every operator's samples on the device and on the CPU: values and gradients."""
    from operator_samples import OPERATORS, WITHOUT, call, outputs, samples, tensors

    done, wrong = 0, []
    for name in OPERATORS:
        if name in WITHOUT:
            continue
        for (here, options), (there, _) in zip(samples(name), samples(name, device=device), strict=True):
            done += 1
            try:
                pairs = [(call(name, args, options), tensors(args)) for args in (here, there)]
                (a, left), (b, right) = pairs
                for x, y in zip(outputs(a), outputs(b), strict=True):
                    same(x, y)
                floats = [(x, y) for x, y in zip(outputs(a), outputs(b), strict=True) if x.requires_grad]
                for x, y in floats[:1]:
                    wanted = [[t for t in side if t.requires_grad] for side in (left, right)]
                    grads = [
                        torch.autograd.grad(out.sum(), leaves, allow_unused=True)
                        for out, leaves in zip((x, y), wanted, strict=True)
                    ]
                    for g, h in zip(*grads, strict=True):
                        if g is not None or h is not None:
                            same(g, h)
            except Exception as error:  # whatever it is, it is this operator's
                wrong.append(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
                break
    return {"samples": done, "operators wrong": wrong}


def same(x, y) -> None:
    assert x.shape == y.shape and x.dtype is y.dtype, f"{x.dtype} {tuple(x.shape)} and {y.dtype} {tuple(y.shape)}"
    a, b = (np.asarray(t.detach().cpu().to(torch.float64).numpy()) for t in (x, y))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def suite() -> dict:
    """The tests that run on every device there is."""
    files = ("operators", "autograd", "in_place", "function", "tensor", "devices", "clock", "compiler")
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
    command += ["-k", "cuda or sim or device or accelerator"]
    done = subprocess.run([*command, *(f"tests/test_{f}.py" for f in files)], cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    return {"passed": done.returncode == 0, "said": lines[-1] if lines else done.stderr[-300:],
            "failed": [line for line in lines if line.startswith(("FAILED", "ERROR"))][:20]}  # fmt: skip


# Fast? ----------------------------------------------------------------------------------------------------------------


def elementwise(bench: Bench, quick: bool) -> list[dict]:
    """GB/s of x + y by size and dtype, and of a chain compiled into one kernel."""
    rows = []
    for dtype in ("float32", "float16"):
        for n in (1 << 16, 1 << 20, 1 << 24) if not quick else (1 << 20,):
            x, y = bench.randn(n, dtype=dtype), bench.randn(n, dtype=dtype)
            took = bench.seconds(lambda x=x, y=y: x + y)
            rows.append(
                {"what": f"add {dtype}", "size": n, "GB/s": 3 * n * x.element_size() / took / 1e9, "seconds": took}
            )
    if bench.torch is torch:
        n = 1 << 22
        a, b, c, d = (bench.randn(n) for _ in range(4))
        chain = torch.compile(lambda a, b, c, d: torch.tanh(a * b + c) * d)
        for what, f in (("chain, eager", chain.fn), ("chain, compiled", chain)):
            f(a, b, c, d)
            took = bench.seconds(lambda f=f: f(a, b, c, d))
            rows.append({"what": what, "size": n, "GB/s": 5 * n * 4 / took / 1e9, "seconds": took})
    return rows


def matmul(bench: Bench, quick: bool) -> list[dict]:
    """TFLOP/s of a product by size and dtype."""
    rows = []
    for dtype in ("float32", "float16", "bfloat16"):
        for n in (256, 1024, 4096) if not quick and not bench.simulated else (256, 512):
            x, y = bench.randn(n, n, dtype=dtype), bench.randn(n, n, dtype=dtype)
            took = bench.seconds(lambda x=x, y=y: x @ y)
            rows.append({"what": f"matmul {dtype}", "size": n, "TFLOP/s": 2 * n**3 / took / 1e12, "seconds": took})
    return rows


def steps(bench: Bench, quick: bool) -> list[dict]:
    """Training steps: a perceptron in float32 and in mixed precision with a scaler, and a transformer block."""
    lib, rows = bench.torch, []
    kind, functional, layers = bench.device.partition(":")[0], lib.nn.functional, lib.nn

    def perceptron(mixed: bool):
        model = layers.Sequential(layers.Linear(512, 1024), layers.ReLU(), layers.Linear(1024, 10)).to(bench.device)
        optimizer = lib.optim.SGD(model.parameters(), lr=0.01)
        x, y = bench.randn(256, 512), bench.randn(256, 10)
        scaler = lib.amp.GradScaler(kind, enabled=mixed)

        def step():
            optimizer.zero_grad()
            with lib.autocast(kind, dtype=lib.float16, enabled=mixed):
                loss = functional.mse_loss(model(x).float(), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        return step

    block = layers.MultiheadAttention(256, 4, batch_first=True).to(bench.device)
    words = bench.randn(8, 64, 256, grad=True)

    def attention():
        block(words, words, words, need_weights=False)[0].sum().backward()

    for what, call in (("perceptron step", perceptron(False)), ("perceptron step, mixed", perceptron(True)),
                       ("attention, forward and backward", attention)):  # fmt: skip
        rows.append({"what": what, "seconds": bench.seconds(call, times=3 if quick else 10)})
    return rows


def memory(device: str) -> dict:
    """Bytes held by a model, at most during a step, and after it: as the pool counts them, or storage by storage."""

    def step():
        model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).to(device)
        x = torch.randn(512, 1024, device=device)
        for _ in range(3):
            model.zero_grad()
            F.mse_loss(model(x), x).backward()

    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step()
        return {"most": torch.cuda.max_memory_allocated() - before, "left": torch.cuda.memory_allocated() - before}
    with torch.observe.memory() as m:
        step()
    return {"most": m.peak, "left": m.current}


# ----------------------------------------------------------------------------------------------------------------------


def plot(found: dict, path: Path) -> None:
    """Throughput by size, beside the model's roofs where the device is simulated."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    for axes, rows, unit, mark in ((left, found["elementwise"], "GB/s", "o"), (right, found["matmul"], "TFLOP/s", "s")):
        for what in dict.fromkeys(r["what"] for r in rows):
            mine = [r for r in rows if r["what"] == what]
            axes.loglog([r["size"] for r in mine], [r[unit] for r in mine], marker=mark, label=what)
        axes.set_xlabel("numbers" if unit == "GB/s" else "rows of a square matrix")
        axes.set_ylabel(unit)
        axes.legend()
    title = f"{found['device']}{' (a model, not measured)' if found['simulated'] else ''}"
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--device", default=str(torch.accelerator()))
    options.add_argument("--json", type=Path, default=ROOT / "build" / "gpu_check.json")
    options.add_argument("--plot", type=Path)
    options.add_argument("--quick", action="store_true", help="fewer sizes, without the tests: for trying the script")
    options = options.parse_args()
    device = str(torch.zeros(1, device=options.device).device)
    bench = Bench(torch, device)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else "simulated accelerator"
    found = {"device": device, "name": name, "simulated": bench.simulated}
    print(f"{device}: {name}{' - times of a model, not measured' if bench.simulated else ''}", flush=True)
    began = time.perf_counter()
    for part, run in (("parity", lambda: parity(device)), ("elementwise", lambda: elementwise(bench, options.quick)),
                      ("matmul", lambda: matmul(bench, options.quick)), ("steps", lambda: steps(bench, options.quick)),
                      ("memory", lambda: memory(device)), ("tests", lambda: {} if options.quick else suite()),
                      ("pytorch", lambda: beside(device, options.quick))):  # fmt: skip
        start = time.perf_counter()
        found[part] = run()
        show(part, found[part], time.perf_counter() - start)
    found["seconds"] = round(time.perf_counter() - began, 1)
    if bench.simulated:
        found["figures"] = vars(Figures())
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=1, default=str) + "\n")
    if options.plot:
        plot(found, options.plot)
    right = not found["parity"]["operators wrong"] and found["tests"].get("passed", True)
    print(f"{'all right' if right else 'NOT ALL RIGHT'}, {found['seconds']} s; {options.json}")
    return 0 if right else 1


def beside(device: str, quick: bool) -> dict:
    """The same work by PyTorch on the same GPU, where it is installed."""
    if not device.startswith("cuda") or importlib.util.find_spec("torch") is None:
        return {}
    real = importlib.import_module("torch")
    bench = Bench(real, device)
    return {"elementwise": elementwise(bench, quick), "matmul": matmul(bench, quick), "steps": steps(bench, quick)}


def show(part: str, found, seconds: float) -> None:
    print(f"-- {part} ({seconds:.1f} s)")
    for row in found if isinstance(found, list) else [found]:
        words = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
        print("   " + "   ".join(f"{k}: {v}" for k, v in zip(row, words, strict=True)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
