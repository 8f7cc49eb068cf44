"""Running sums and products along a dimension, and the product of all others that prod's gradient needs."""

from autogradlab import dtypes, shapes
from autogradlab.backends import namespace
from autogradlab.table import operator
from autogradlab.tensor import Tensor

from .elementary import zeros_like
from .join import cat, flip


def _running_samples(make):
    yield (make(3, 4), 0), {}
    yield (make(3, 4), -1), {}


def _running(input, dim, *, dtype=None):
    options = {"dim": shapes.wrap_dim(dim, input.dim())}
    if dtype is not None:
        input, options["dtype"] = input.to(dtype), dtype
    return (input,), options


@operator(result=dtypes.of_sum, in_place=True, samples=_running_samples)
class cumsum:
    """The sum of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim, dtype=None):
        return xp.cumsum(a, axis=dim) if a.ndim else a.copy()

    def grad_a(g, dim):
        return flipped(cumsum(flipped(g, dim), dim=dim), dim) if g.ndim else g


@operator(result=dtypes.of_sum, in_place=True, samples=_running_samples)
class cumprod:
    """The product of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim, dtype=None):
        return xp.cumprod(a, axis=dim) if a.ndim else a.copy()

    def grad_a(g, a, result, dim):
        return cumprod_backward(g, a, result, dim) if g.ndim else g


def cumprod_backward(g, a, result, dim):
    """The gradient of a running product: a running sum from behind, over each factor.  Where factors are zero that
    division fails, and every later product is worked out without the factor in question.
    """
    if not has_zero(a):
        return flipped(cumsum(flipped(g * result, dim), dim=dim), dim) / a
    total = None
    n = a.shape[dim]
    at = lambda x, i: x[(slice(None),) * dim + (slice(i, i + 1),)]  # noqa: E731
    columns = []
    for i in range(n):  # the derivative of every later product by factor i leaves that factor out
        ones = at(a, i) * 0 + 1
        before = ones if i == 0 else at(result, i - 1)
        running, total = before, at(g, i) * before
        for k in range(i + 1, n):
            running = running * at(a, k)
            total = total + at(g, k) * running
        columns.append(total)
    return cat(columns, dim=dim)


def has_zero(a) -> bool:
    """Whether a raw array or tensor holds a zero.  Waits for the device."""
    raw = a.window if isinstance(a, Tensor) else a
    return bool(namespace((raw,)).any(raw == 0))


def others(a, dim):
    """For each element along `dim` the product of all others: of those before times of those behind, so that zeros do
    no harm.
    """
    return _before(a, dim) * flipped(_before(flipped(a, dim), dim), dim)


def _before(a, dim):
    """The product of all elements before each: a running product, shifted by one, starting with 1."""
    n = a.shape[dim]
    part = a[(slice(None),) * dim + (slice(0, n - 1 if n else 0),)]
    first = ones_like_slice(a, dim)
    return cat([first, cumprod(part, dim=dim)], dim=dim)


def ones_like_slice(a, dim):
    first = a[(slice(None),) * dim + (slice(0, 1),)]
    return zeros_like(first) + 1


def flipped(a, dim):
    return flip(a, dims=(dim,))
