"""What compile gains: a fused chain against the same steps one by one, time in alternating runs and bytes as counted.

python benchmarks/fusing.py            4 million floats; needs two quiet cores to say much
"""

import statistics
import time

import autogradlab as torch

N = 4_000_000
ROUNDS = 15


def chain(a, b, c, d):
    return torch.tanh(a * b + c) * d


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def by_steps(a, b, c):
    return a * b + c


def in_one(a, b, c):
    return torch.addcmul(c, a, b)


def product(x):
    return (x @ x).sum()


def seconds(f, args) -> float:
    began = time.perf_counter()
    f(*args)
    return time.perf_counter() - began


def ratio(f, g, args) -> tuple[float, float]:
    """(median of f in ms, g's time as a fraction of f's), in alternating runs after two of each."""
    for _ in range(2):
        f(*args), g(*args)
    pairs = [(seconds(f, args), seconds(g, args)) for _ in range(ROUNDS)]
    return statistics.median(p[0] for p in pairs) * 1e3, statistics.median(b / a for a, b in pairs)


def with_backward(f):
    def step(*args):
        out = f(*args)
        out.backward(torch.ones_like(out))
        for a in args:
            a.grad = None

    return step


def main() -> None:
    a, b, c, d = (torch.randn(N) for _ in range(4))
    square = torch.randn(400, 400)
    print(f"{N:,} floats, {torch.get_num_threads()} threads; compiled against eager in the same run")
    print(f"{'':34}{'eager ms':>9}{'time':>8}{'kernels':>10}{'bytes':>8}")
    rows = [("tanh(a*b+c)*d", chain, (a, b, c, d)), ("GELU (tanh form)", gelu, (a,)), ("a*b+c", by_steps, (a, b, c)),
            ("matmul: nothing to fuse", product, (square,))]  # fmt: skip
    for name, f, args in rows:
        compiled = torch.compile(f)
        ms, part = ratio(f, compiled, args)
        report = compiled.explain()
        (k0, k1), (b0, b1) = report.kernels, report.bytes
        print(f"{name:34}{ms:9.2f}{part:8.2f}{f'{k0} to {k1}':>10}{b1 / b0:8.2f}")
        wanting = [t.clone().requires_grad_() for t in args]
        compiled = torch.compile(f)
        ms, part = ratio(with_backward(f), with_backward(compiled), wanting)
        print(f"{'  with backward':34}{ms:9.2f}{part:8.2f}")
    ms, part = ratio(by_steps, in_one, (a, b, c))
    print(f"{'addcmul, against a*b+c':34}{ms:9.2f}{part:8.2f}")
    ms, part = ratio(by_steps, torch.compile(in_one), (a, b, c))
    print(f"{'addcmul compiled, against a*b+c':34}{ms:9.2f}{part:8.2f}")


if __name__ == "__main__":
    main()
