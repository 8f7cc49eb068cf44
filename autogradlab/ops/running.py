"""Running sums, products and extremes along a dimension, and the product of all others that prod's gradient needs."""

import math

from autogradlab import dtypes, shapes
from autogradlab.backends import namespace
from autogradlab.size import return_type
from autogradlab.table import operator
from autogradlab.tensor import Tensor

from .choose import where
from .elementary import exp, log, zeros_like
from .gather import scatter_zeros
from .join import cat, flip
from .kinds import chosen, floating, in_order
from .out import take_outs


def _running_samples(make):
    yield (make(3, 4), 0), {}
    yield (make(3, 4), -1), {}


def _running(input, dim, *, dtype=None):
    options = {"dim": shapes.wrap_dim(dim, input.dim())}
    if dtype is not None:
        dtype = chosen(dtype)
        input, options["dtype"] = input.to(dtype), dtype
    return (input,), options


@operator(result=dtypes.of_sum, in_place=True, samples=_running_samples)
class cumsum:
    """The sum of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim, dtype=None):
        return in_order(xp, xp.cumsum(a, axis=dim)) if a.ndim else a.copy()

    def grad_a(g, dim):
        return flipped(cumsum(flipped(g, dim), dim=dim), dim) if g.ndim else g


@operator(result=dtypes.of_sum, in_place=True, samples=_running_samples)
class cumprod:
    """The product of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim, dtype=None):
        return in_order(xp, xp.cumprod(a, axis=dim)) if a.ndim else a.copy()

    def grad_a(g, a, result, dim):
        return cumprod_backward(g, a, result, dim) if g.ndim else g


def scanned(xp, parts, dim, combine):
    """The running result of an associative `combine(earlier, later)` on tuples of arrays, in log2(n) steps.  (Hillis
    and Steele, 1986)
    """
    n, step = parts[0].shape[dim], 1
    cut = lambda t, start, stop: t[(slice(None),) * dim + (slice(start, stop),)]  # noqa: E731
    while step < n:
        joined = combine([cut(t, 0, n - step) for t in parts], [cut(t, step, n) for t in parts])
        parts = [xp.concatenate((cut(t, 0, step), new), axis=dim) for t, new in zip(parts, joined, strict=True)]
        step *= 2
    return parts


def _running_extreme(name: str, beats, says: str):
    """cummax and cummin: the extreme so far, and where it stands (the last of equal ones)."""

    def arguments(input, dim):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim())}

    def kernel(xp, a, /, dim):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")

        def later_wins(earlier, later):
            wins = beats(later[0], earlier[0]) | (later[0] != later[0])
            return [xp.where(wins, new, old) for old, new in zip(earlier, later, strict=True)]

        shape = [1] * a.ndim
        shape[dim] = a.shape[dim]
        where = xp.zeros(a.shape, "int64") + xp.arange(a.shape[dim]).reshape(shape)
        return tuple(scanned(xp, (a.copy(), where), dim, later_wins))

    def grad_a(g, indices, a_shape, dim):
        return scatter_zeros(g, indices, a_shape, dim) if a_shape else g

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    result = return_type(name, "values indices")
    return operator(outputs=result, samples=_running_samples)(type(name, (), block))


cummax = _running_extreme(
    "cummax", lambda a, b: a >= b, "The largest element up to each one along a dimension, and where: (values, indices)."
)
cummin = _running_extreme(
    "cummin",
    lambda a, b: a <= b,
    "The smallest element up to each one along a dimension, and where: (values, indices).",
)
take_outs(cummax, cummin)


@operator(accepts=floating, samples=_running_samples)
class logcumsumexp:
    """log(cumsum(exp(x))) along a dimension, without overflow."""

    def arguments(input, dim):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim())}

    def kernel(xp, a, /, dim):
        add = lambda earlier, later: [xp.logaddexp(earlier[0], later[0])]  # noqa: E731
        return scanned(xp, (a.copy(),), dim, add)[0] if a.ndim else a.copy()

    def grad_a(g, a, result, dim):  # sums of both signs apart, each in logarithms
        if not g.ndim:
            return g
        empty = zeros_like(g) - math.inf
        parts = []
        for sign in (1, -1):
            size = where(g * sign > 0, g * sign, zeros_like(g) + 1)
            logs = where(g * sign > 0, log(size) - result, empty)
            parts.append(exp(flipped(logcumsumexp(flipped(logs, dim), dim=dim), dim) + a))
        return parts[0] - parts[1]


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
