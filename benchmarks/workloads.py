"""The work that is timed: each on an engine with PyTorch's names, and by hand in NumPy (floors.py).

Both sides return the same values from the same memory, so that a fast wrong answer is noticed.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import floors
import numpy as np


class Workload(NamedTuple):
    """engine() and floor() do the same work and return the same list of values; change() alters what both read.

    goal: how many times the floor's time the engine may take.  timed: engine and floor return (seconds, values): part
    of what they do is not to be counted.
    """

    name: str
    engine: Callable
    floor: Callable
    change: Callable
    operations: int = 1
    goal: float = 0.0
    timed: bool = False


def shared(torch, *arrays, grad: bool = True) -> list:
    """Tensors over the arrays' own memory."""
    return [torch.from_numpy(a).requires_grad_(grad and a.dtype.kind == "f") for a in arrays]


def nudge(*arrays) -> Callable:
    """A function that changes one element of each array a little."""
    random = np.random.default_rng(1)

    def change() -> None:
        for a in arrays:
            a.reshape(-1)[random.integers(a.size)] += np.float32(0.01)

    return change


def forget(leaves) -> None:
    for leaf in leaves:
        leaf.grad = None


def small_operations(torch) -> Iterator[Workload]:
    """x * y + x on four numbers: what an operation costs beside its kernel."""
    a, b = np.ones(4, "f"), np.full(4, 0.99, "f")
    x, y = shared(torch, a, b)

    def without_graph():
        with torch.no_grad():
            for _ in range(50):
                z = x * y + x
        return [z]

    def fifty():
        for _ in range(50):
            z = a * b + a
        return [z]

    yield Workload("small operations, graph", lambda: [x * y + x], lambda: [a * b + a], nudge(a), 2, 5.0)
    yield Workload("small operations, no_grad", without_graph, fifty, nudge(a), 100, 4.3)


def small_backward(torch) -> Iterator[Workload]:
    """Backward through z = z * y + x, 500 times; the forward pass is not counted."""
    a, b = np.ones(4, "f"), np.full(4, 0.99, "f")
    x, y = shared(torch, a, b)
    one = torch.ones(4)

    def engine():
        z = x
        for _ in range(500):
            z = z * y + x
        forget((x, y))
        began = time.process_time()
        z.backward(one)
        return time.process_time() - began, [x.grad, y.grad]

    def floor():
        zs = [a]
        for _ in range(500):
            zs.append(zs[-1] * b + a)
        began = time.process_time()
        g, dx, dy = np.ones(4, "f"), np.zeros(4, "f"), np.zeros(4, "f")
        for z in reversed(zs[:-1]):
            dx += g
            dy += g * z
            g = g * b
        dx += g
        return time.process_time() - began, [dx, dy]

    yield Workload("small operations, backward", engine, floor, nudge(a), 1000, 4.0, timed=True)


def elementwise(torch) -> Iterator[Workload]:
    """sum(tanh(a * b + c)) of a million numbers, forward and backward."""
    arrays = [np.random.default_rng(k).standard_normal((1000, 1000)).astype("f") for k in range(3)]
    leaves = shared(torch, *arrays)

    def engine():
        forget(leaves)
        a, b, c = leaves
        loss = torch.tanh(a * b + c).sum()
        loss.backward()
        return [loss, *(leaf.grad for leaf in leaves)]

    yield Workload("elementwise, 1M numbers", engine, lambda: floors.elementwise(*arrays), nudge(*arrays), 4, 1.35)


def views(torch) -> Iterator[Workload]:
    """Three views in a row: arithmetic on strides, no data."""
    a = np.zeros((8, 6, 4), "f")
    for grad, goal in ((False, 8.0), (True, 10.0)):
        (x,) = shared(torch, a, grad=grad)
        yield Workload(
            f"views{', graph' if grad else ''}",
            lambda x=x: [x.transpose(0, 1)[1:].reshape(5, 8, 2, 2)],
            lambda: [a.swapaxes(0, 1)[1:].reshape(5, 8, 2, 2)],
            nudge(a),
            3,
            goal,
        )


def perceptron(torch) -> Iterator[Workload]:
    """A training step of two layers with cross entropy and momentum."""
    yield _training_step(torch, 64, 1.10)
    yield _training_step(torch, 512, 1.05)


def _training_step(torch, batch: int, goal: float) -> Workload:
    F = torch.nn.functional
    random = np.random.default_rng(0)
    matrix = lambda *s: (random.standard_normal(s) / np.sqrt(s[-1])).astype("f")  # noqa: E731
    x, t = matrix(batch, 784) * np.float32(28), random.integers(0, 10, batch)
    start = [matrix(256, 784), np.zeros(256, "f"), matrix(10, 256), np.zeros(10, "f")]
    mine, theirs = [w.copy() for w in start], [w.copy() for w in start]
    velocities = [np.zeros_like(w) for w in start]
    (tx, tt), weights = shared(torch, x, t, grad=False), shared(torch, *mine)
    optimizer = torch.optim.SGD(weights, lr=1e-3, momentum=0.9)
    poke = nudge(x)

    def engine():
        optimizer.zero_grad()
        hidden = torch.relu(F.linear(tx, weights[0], weights[1]))
        loss = F.cross_entropy(F.linear(hidden, weights[2], weights[3]), tt)
        loss.backward()
        optimizer.step()
        return [loss, *(w.grad for w in weights)]

    def floor():
        loss, *gradients = floors.perceptron(x, t, *theirs)
        floors.momentum_step(theirs, velocities, gradients, 1e-3, 0.9)
        return [loss, *gradients]

    def change():  # both start the next block from the same weights and no momentum
        poke()
        optimizer.state.clear()
        for s, u, w, v in zip(start, mine, theirs, velocities, strict=True):
            u[...] = w[...] = s
            v[...] = 0

    return Workload(f"training step, batch {batch}", engine, floor, change, 1, goal)


def transformer(torch) -> Iterator[Workload]:
    """A transformer block, forward and backward: 4 texts of 128 tokens, width 128, 4 heads."""
    F = torch.nn.functional
    b, n, d, h, wide = sizes = 4, 128, 128, 4, 512
    random = np.random.default_rng(0)
    matrix = lambda *s: (random.standard_normal(s) / np.sqrt(s[-1])).astype("f")  # noqa: E731
    ones, zeros = np.ones(d, "f"), np.zeros(d, "f")
    x = random.standard_normal((b * n, d)).astype("f")
    p = [ones, zeros, *(v for _ in range(4) for v in (matrix(d, d), np.zeros(d, "f"))), ones.copy(), zeros.copy()]
    p += [matrix(wide, d), np.zeros(wide, "f"), matrix(d, wide), np.zeros(d, "f")]
    mask = np.triu(np.full((n, n), -1e4, "f"), 1)[None]
    out = (random.standard_normal((b * n, d)) / (b * n)).astype("f")
    (tx, tmask, tout), leaves = shared(torch, x, mask, out, grad=False), shared(torch, *p)
    split = lambda t: t.reshape(b, n, h, d // h).permute(0, 2, 1, 3).reshape(b * h, n, d // h)  # noqa: E731

    def engine():
        forget(leaves)
        g1, c1, wq, bq, wk, bk, wv, bv, wo, bo, g2, c2, w1, b1, w2, b2 = leaves
        y = F.layer_norm(tx, (d,), g1, c1)
        q, k, v = split(F.linear(y, wq, bq)), split(F.linear(y, wk, bk)), split(F.linear(y, wv, bv))
        a = torch.softmax(q @ k.transpose(1, 2) * (d // h) ** -0.5 + tmask, dim=-1)
        o = (a @ v).reshape(b, h, n, d // h).permute(0, 2, 1, 3).reshape(b * n, d)
        middle = tx + F.linear(o, wo, bo)
        f = torch.relu(F.linear(F.layer_norm(middle, (d,), g2, c2), w1, b1))
        loss = ((middle + F.linear(f, w2, b2)) * tout).sum()
        loss.backward()
        return [loss, *(leaf.grad for leaf in leaves)]

    block = floors.Block(sizes[:4], mask, out)
    yield Workload("transformer block", engine, lambda: block(x, *p), nudge(x), 1, 1.15)


def convolution(torch) -> Iterator[Workload]:
    """sum(conv2d(x, w)), forward and backward: 32 pictures of 28 by 28, 16 kernels of 3 by 3."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((32, 1, 28, 28)).astype("f"), random.standard_normal((16, 1, 3, 3)).astype("f")
    leaves = shared(torch, x, w)

    def engine():
        forget(leaves)
        loss = torch.nn.functional.conv2d(*leaves).sum()
        loss.backward()
        return [loss, *(leaf.grad for leaf in leaves)]

    yield Workload("convolution", engine, lambda: floors.convolution(x, w), nudge(x), 1, 1.4)


FAMILIES = (
    small_operations, small_backward, elementwise, views, perceptron, transformer, convolution,
)  # fmt: skip


def all_workloads(torch) -> list[Workload]:
    """Every workload on one engine, made anew."""
    return [w for family in FAMILIES for w in family(torch)]


def check(work: Workload) -> None:
    """Both sides agree, before and after a change; AssertionError otherwise."""
    for _ in range(2):
        work.change()
        mine, least = work.engine(), work.floor()
        if work.timed:
            mine, least = mine[1], least[1]
        got = [np.asarray(v.detach().numpy() if hasattr(v, "detach") else v, "f8") for v in mine]
        want = [np.asarray(v, "f8") for v in least]
        assert len(got) == len(want), f"{work.name}: {len(got)} values, {len(want)} expected"
        for k, (g, w) in enumerate(zip(got, want, strict=True)):
            size = max(1.0, float(np.abs(w).max(initial=0)))
            np.testing.assert_allclose(g, w, rtol=2e-3, atol=2e-4 * size, err_msg=f"{work.name}: value {k}")
