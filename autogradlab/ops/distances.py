"""Distances between vectors: cdist, dist."""

from autogradlab.table import operator, public

from .kinds import floating
from .reduce import norm
from .reduce import sum as total


def _differences(a, b):
    """Every row of a minus every row of b; raw arrays and tensors alike."""
    return a.reshape((*a.shape[:-1], 1, a.shape[-1])) - b.reshape((*b.shape[:-2], 1, *b.shape[-2:]))


def _row_slopes(g, a, b, result, p):
    """The gradient of each of those rows' norms."""
    d = _differences(a, b)
    return norm.block.grad_a(g, d, result, d.shape, p, (d.ndim - 1,), False)


def _cdist_samples(make):
    for p in (2.0, 1.0, 3.0):
        yield (make(3, 2), make(4, 2), p), {}
    yield (make(2, 3, 2), make(1, 2)), {}


@operator(promote=False, same_dtype=True, accepts=floating, samples=_cdist_samples)
class cdist:
    """The p-norm distances between every row of one matrix and every row of another."""

    def arguments(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
        if x1.dim() < 2 or x2.dim() < 2:
            raise RuntimeError("cdist only supports at least 2D tensors.")
        if x1.shape[-1] != x2.shape[-1]:
            raise RuntimeError(
                f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}."
            )
        if p < 0:
            raise RuntimeError("cdist only supports non-negative p values.")
        return (x1, x2), {"p": float(p)}

    def kernel(xp, a, b, /, p):
        d = _differences(a, b)
        return norm.kernel(xp, d, p, (d.ndim - 1,), False) if d.shape[-1] else xp.zeros(d.shape[:-1], a.dtype)

    def grad_a(g, a, b, result, p):
        return total(_row_slopes(g, a, b, result, p), dim=(g.ndim - 1,))

    def grad_b(g, a, b, result, p):
        return -total(_row_slopes(g, a, b, result, p), dim=(g.ndim - 2,))


def dist(input, other, p=2):
    """The p-norm of the difference."""
    return norm.function(input - other, p)


public(dist, also_method=True)
