"""The work that is timed: each on the engine, and written by hand in NumPy, the floor an engine on NumPy cannot beat.

Both sides return the same values from the same memory, so that a fast wrong answer is noticed.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import autogradlab as torch


class Workload(NamedTuple):
    """engine() and floor() do the same work and return the same list of values; change() alters what both read."""

    name: str
    engine: Callable
    floor: Callable
    change: Callable
    operations: int = 1


def shared(*arrays, grad: bool = True) -> list:
    """Tensors over the arrays' own memory."""
    return [torch.from_numpy(a).requires_grad_(grad) for a in arrays]


def nudge(*arrays) -> Callable:
    """A function that changes one element of each array a little."""
    random = np.random.default_rng(1)

    def change() -> None:
        for a in arrays:
            a.reshape(-1)[random.integers(a.size)] += np.float32(0.01)

    return change


def small_operations() -> Iterator[Workload]:
    """x * y + x on four numbers: what an operation costs beside its kernel."""
    a, b = np.ones(4, "f"), np.full(4, 0.99, "f")
    x, y = shared(a, b)

    def without_graph():
        with torch.no_grad():
            for _ in range(50):
                z = x * y + x
        return [z]

    def fifty():
        for _ in range(50):
            z = a * b + a
        return [z]

    yield Workload("small operations, with a graph", lambda: [x * y + x], lambda: [a * b + a], nudge(a), 2)
    yield Workload("small operations, no_grad", without_graph, fifty, nudge(a), 100)


def elementwise() -> Iterator[Workload]:
    """sum(tanh(a * b + c)) of a million numbers, forward and backward."""
    arrays = [np.random.default_rng(k).standard_normal((1000, 1000)).astype("f") for k in range(3)]
    leaves = shared(*arrays)

    def engine():
        for leaf in leaves:
            leaf.grad = None
        a, b, c = leaves
        loss = torch.tanh(a * b + c).sum()
        loss.backward()
        return [loss, *(leaf.grad for leaf in leaves)]

    def floor():
        a, b, c = arrays
        t = a * b
        t += c
        np.tanh(t, out=t)
        loss = t.sum()
        np.multiply(t, t, out=t)
        np.subtract(1, t, out=t)
        return [loss, t * b, t * a, t]

    yield Workload("elementwise, a million numbers", engine, floor, nudge(*arrays), 4)


def views() -> Iterator[Workload]:
    """Three views in a row: arithmetic on strides, no data."""
    a = np.zeros((8, 6, 4), "f")
    for grad in (False, True):
        (x,) = shared(a, grad=grad)
        yield Workload(
            f"views, {'with' if grad else 'without'} a graph",
            lambda x=x: [x.transpose(0, 1)[1:].reshape(5, 8, 2, 2)],
            lambda: [a.swapaxes(0, 1)[1:].reshape(5, 8, 2, 2)],
            nudge(a),
            3,
        )


def products() -> Iterator[Workload]:
    """Two layers on a batch, forward and backward, without optimizer."""
    random = np.random.default_rng(0)
    x, t = random.standard_normal((64, 784)).astype("f"), random.standard_normal((64, 10)).astype("f")
    w1, w2 = (random.standard_normal(s).astype("f") / 28 for s in ((784, 256), (256, 10)))
    (tx, tt), params = shared(x, t, grad=False), shared(w1, w2)

    def engine():
        for p in params:
            p.grad = None
        loss = ((torch.relu(tx @ params[0]) @ params[1] - tt) ** 2).mean()
        loss.backward()
        return [loss, *(p.grad for p in params)]

    def floor():
        h = x @ w1
        np.maximum(h, 0, out=h)
        d = h @ w2
        d -= t
        loss = np.vdot(d, d) / np.float32(d.size)
        d *= np.float32(2 / d.size)
        dh = d @ w2.T
        dh *= h > 0
        return [loss, x.T @ dh, h.T @ d]

    yield Workload("two layers, batch of 64", engine, floor, nudge(x), 6)


def all_workloads() -> list[Workload]:
    """Every workload, made anew."""
    return [w for family in (small_operations, elementwise, views, products) for w in family()]


def check(work: Workload) -> None:
    """Both sides agree, before and after a change; AssertionError otherwise."""
    for _ in range(2):
        got = [np.asarray(v.detach().numpy() if isinstance(v, torch.Tensor) else v, "f8") for v in work.engine()]
        want = [np.asarray(v, "f8") for v in work.floor()]
        assert len(got) == len(want), f"{work.name}: {len(got)} values, {len(want)} expected"
        for k, (g, w) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_allclose(g, w, rtol=2e-3, atol=2e-4, err_msg=f"{work.name}: value {k}")
        work.change()
