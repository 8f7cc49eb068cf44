"""Reductions: sum, mean, extremes, spread, norms, and running sums.

A reduction drops dimensions; its gradient puts them back (`restored`) and is then as large as the input by
broadcasting. Sums of half precision run in float32, as everything in half precision does.
"""

import math

from autogradlab import dtypes, errors, shapes
from autogradlab.dispatch import NOTHING, call
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, return_type

from . import samples
from .elementary import exp, zeros_like
from .gather import scatter_zeros
from .join import cat, flip
from .pointwise import maximum, minimum, sign, where
from .shape import expand

min_result = return_type("min", "values indices")
max_result = return_type("max", "values indices")


def axes(input, dim) -> tuple[int, ...] | None:
    """The dimensions to reduce, counted from 0; None for all of them."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return None
    return shapes.wrap_dims(dim, input.dim()) if input.shape else None


def restored(g, shape, dim, keepdim):
    """A reduction's gradient (or result) with its reduced dimensions back, of size 1, so that it broadcasts over the
    input.
    """
    if keepdim or not shape:
        return g
    kept = [1 if dim is None or d in dim else n for d, n in enumerate(shape)]
    return g.reshape(tuple(kept))


def over(g, shape, dim, keepdim):
    """A reduction's gradient, seen under the input's whole shape."""
    return expand(restored(g, shape, dim, keepdim), size=tuple(shape))


def numbered(name: str):
    """PyTorch numbers the node of a whole reduction 0 and that of one over dimensions 1."""
    return lambda options: f"{name}Backward{0 if options.get('dim') is None else 1}"


def _sum_dtype(common, options):
    return options.get("dtype") or (common if common.is_floating_point else dtypes.int64)


def _reduction(input, dim=None, keepdim=False, *, dtype=None):
    if dtype is not None and dtype is not input._dtype:
        input = input.to(dtype)
    return (input,), {"dim": axes(input, dim), "keepdim": bool(keepdim)}


@operator(node=numbered("Sum"), result=_sum_dtype, autocast="fp32", samples=samples.dims)
class sum:
    """The sum over all dimensions, or over those in dim.  Integers and bools add up in int64.  (D1 1.3)"""

    arguments = _reduction

    def kernel(xp, a, /, dim=None, keepdim=False):
        return xp.sum(a, axis=dim, keepdims=keepdim)

    def grad_a(g, a_shape, dim, keepdim):
        return over(g, a_shape, dim, keepdim)


@operator(node=numbered("Mean"), autocast="fp32", samples=samples.dims)
class mean:
    """The mean over all dimensions, or over those in dim.  Of floating point tensors only.  (D1 1.3)"""

    def arguments(input, dim=None, keepdim=False, *, dtype=None):
        inputs, options = _reduction(input, dim, keepdim, dtype=dtype)
        if not inputs[0]._dtype.is_floating_point:
            raise errors.mean_of_integers(inputs[0]._dtype)
        return inputs, options

    def kernel(xp, a, /, dim, keepdim):
        return xp.sum(a, axis=dim, keepdims=keepdim) / a.dtype.type(count(a.shape, dim))

    def grad_a(g, a_shape, dim, keepdim):
        return over(g / count(a_shape, dim), a_shape, dim, keepdim)


def count(shape, dim) -> int:
    """How many elements each result is made of."""
    return shapes.numel(shape) if dim is None else math.prod(shape[d] for d in dim)


# Spread ---------------------------------------------------------------------------------------------------------------


def _spread(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):  # x.var(False): the legacy form
        dim, unbiased = None, dim
    if not input._dtype.is_floating_point:
        raise errors.wrong_dtype("std and var", "a floating point or complex dtype", input._dtype)
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return (input,), {"dim": axes(input, dim), "correction": correction, "keepdim": bool(keepdim)}


def _spread_samples(make):
    yield (make(3, 4),), {}
    yield (make(2, 3, 4),), {"dim": 1}
    yield (make(3, 4),), {"dim": 0, "unbiased": False, "keepdim": True}
    yield (make(3, 4),), {"dim": (0, 1), "correction": 2}


def _variance(xp, a, dim, correction, keepdim):
    n = count(a.shape, dim)
    centred = a - xp.sum(a, axis=dim, keepdims=True) / a.dtype.type(n)
    return xp.sum(centred * centred, axis=dim, keepdims=keepdim) / a.dtype.type(max(n - correction, 0))


@operator(node=lambda o: "VarBackward0", samples=_spread_samples)
class var:
    """The variance: the mean squared distance from the mean, over n - correction (1 unless said otherwise)."""

    arguments = _spread

    def kernel(xp, a, /, dim, correction, keepdim):
        return _variance(xp, a, dim, correction, keepdim)

    def grad_a(g, a, a_shape, dim, correction, keepdim):
        n = count(a_shape, dim)
        return (
            restored(g, a_shape, dim, keepdim)
            * (a - average(a, dim))
            * (2 / max(n - correction, 0) if n > correction else math.nan)
        )


def average(a, dim):
    """The mean with its dimensions kept; raw arrays and tensors alike."""
    return mean(a, dim=dim, keepdim=True)


@operator(samples=_spread_samples)
class std:
    """The standard deviation: the square root of the variance."""

    arguments = _spread

    def kernel(xp, a, /, dim, correction, keepdim):
        return xp.sqrt(_variance(xp, a, dim, correction, keepdim))

    def grad_a(g, a, result, a_shape, dim, correction, keepdim):
        n = count(a_shape, dim)
        scaled = where(
            result == 0, zeros_like(g), g / (result * max(n - correction, 0) if n > correction else result * math.nan)
        )
        return restored(scaled, a_shape, dim, keepdim) * (a - average(a, dim))


# Products -------------------------------------------------------------------------------------------------------------


def _prod_samples(make):
    yield (make(2, 3),), {}
    yield (make(2, 3),), {"dim": 1}
    yield (make(2, 3),), {"dim": 0, "keepdim": True}
    yield (make(),), {}


def _one_dim(name: str):
    def arguments(input, dim=None, keepdim=False, *, dtype=None):
        if dim is not None and not isinstance(dim, int):
            raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}.")
        return _reduction(input, dim, keepdim, dtype=dtype)

    return arguments


@operator(node=numbered("Prod"), result=_sum_dtype, samples=_prod_samples)
class prod:
    """The product over all dimensions, or along one.  With zeros among the factors the gradient is still right."""

    arguments = _one_dim("prod")

    def kernel(xp, a, /, dim, keepdim):
        return xp.prod(a, axis=dim, keepdims=keepdim)

    def grad_a(g, a, a_shape, dim, keepdim):
        if dim is None:
            return others(a.reshape((-1,)), 0).reshape(a_shape) * g
        return restored(g, a_shape, dim, keepdim) * others(a, dim[0])


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


# Extremes -------------------------------------------------------------------------------------------------------------


def _needs_elements(name: str, input, dim) -> None:
    shape = tuple(input.shape)
    if count(shape, dim) == 0:
        raise (RuntimeError if dim is None else IndexError)(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0, or to have non-zero size: the "
            f"shape is {shape}."
        )


def _amax(name: str, function: str, says: str):
    def arguments(input, dim=(), keepdim=False):
        dim = axes(input, dim)
        _needs_elements(name, input, dim)
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        return getattr(xp, function)(a, axis=dim, keepdims=keepdim)

    def grad_a(g, a, result, a_shape, dim, keepdim):
        hit = a == restored(result, a_shape, dim, keepdim)
        return hit * restored(g / sum(hit, dim=dim, keepdim=keepdim), a_shape, dim, keepdim)

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    return operator(samples=samples.dims)(type(name, (), block))


amax = _amax("amax", "max", "The largest element over dims; equal ones share the gradient.")
amin = _amax("amin", "min", "The smallest element over dims; equal ones share the gradient.")


def _extreme_at(name: str, function: str, result, says: str):
    """max and min along one dimension: values, and where they are; the gradient goes to that place."""

    def arguments(input, dim, keepdim=False):
        dim = shapes.wrap_dim(dim, input.dim())
        _needs_elements(name, input, (dim,) if input.shape else None)
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")
        where_ = xp.expand_dims(getattr(xp, function)(a, axis=dim), dim)
        values = xp.take_along_axis(a, where_, axis=dim)
        return (values, where_) if keepdim else (xp.squeeze(values, axis=dim), xp.squeeze(where_, axis=dim).copy())

    def grad_a(g, indices, a_shape, dim, keepdim):
        if not a_shape:
            return g
        place = restored(indices, a_shape, (dim,), keepdim)
        return scatter_zeros(restored(g, a_shape, (dim,), keepdim), place, a_shape, dim)

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    return operator(node=f"{name.title()}Backward0", outputs=result, public=(), samples=samples.one_dim)(
        type(f"{name}_at", (), block)
    )


max_at = _extreme_at("max", "argmax", max_result, "The largest element along one dimension, and its index.")
min_at = _extreme_at("min", "argmin", min_result, "The smallest element along one dimension, and its index.")


def _whole(name: str, function: str):
    """max() and min() without a dimension: equal elements share the gradient."""

    def arguments(input):
        _needs_elements(name, input, None)
        return (input,), NOTHING

    def kernel(xp, a, /):
        return getattr(xp, function)(a)

    def grad_a(g, a, result):
        hit = a == result
        return hit * (g / sum(hit))

    block = {"__doc__": f"The {name}imum of all elements.", "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    return operator(node=f"{name.title()}Backward1", public=(), samples=samples.unary_full)(
        type(f"{name}_all", (), block)
    )


max_all, min_all = _whole("max", "max"), _whole("min", "min")


def _extreme(name, at, whole, pairwise):
    def extreme(input, dim=None, keepdim=False, *, other=None, out=None):
        if isinstance(dim, Tensor) or other is not None:
            return pairwise.function(input, dim if other is None else other, out=out)
        return whole.function(input) if dim is None else at.function(input, dim, keepdim)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = (
        f"The {name}imum of all elements; with dim, (values, indices) along that dimension; with another tensor, "
        f"element by element."
    )
    return public(extreme, name, also_method=True)


_extreme("max", max_at, max_all, maximum)
_extreme("min", min_at, min_all, minimum)


def _arg(name: str, says: str):
    def arguments(input, dim=None, keepdim=False):
        dim = None if dim is None else shapes.wrap_dim(dim, input.dim())
        _needs_elements(name, input, None if dim is None or not input.shape else (dim,))
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if dim is None and keepdim:
            return getattr(xp, name)(a).reshape((1,) * a.ndim)
        if not a.ndim:
            return xp.zeros((), "int64")
        where_ = getattr(xp, name)(a, axis=dim)
        return xp.expand_dims(where_, dim) if keepdim else where_

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel}
    return operator(result=dtypes.int64, samples=samples.one_dim)(type(name, (), block))


argmax = _arg(
    "argmax",
    "The index of the largest element: the first, if there are several; in the flat tensor, or along a dimension.",
)
argmin = _arg(
    "argmin",
    "The index of the smallest element: the first, if there are several; in the flat tensor, or along a dimension.",
)


def _truth(name: str, says: str):
    def kernel(xp, a, /, dim, keepdim):
        return getattr(xp, name)(a != 0, axis=dim, keepdims=keepdim)

    block = {"__doc__": says, "arguments": _reduction, "kernel": kernel}
    return operator(result=dtypes.bool_, samples=samples.dims)(type(name, (), block))


any = _truth("any", "Whether at least one element is not zero.")
all = _truth("all", "Whether no element is zero.")


@operator(result=dtypes.int64, samples=samples.dims)
class count_nonzero:
    """How many elements are not zero."""

    arguments = lambda input, dim=None: _reduction(input, dim)  # noqa: E731

    def kernel(xp, a, /, dim, keepdim):
        return xp.sum(a != 0, axis=dim)


# Norms and logarithms of sums -----------------------------------------------------------------------------------------


def _norm_samples(make):
    yield (make(3, 4),), {}
    yield (make(3, 4), 1), {}
    yield (make(3, 4), 3.0), {"dim": 1}
    yield (make(3, 4), math.inf), {"dim": 0, "keepdim": True}


@operator(node=lambda o: "LinalgVectorNormBackward0", autocast="fp32", samples=_norm_samples)
class norm:
    """The p-norm of the elements (2 unless said otherwise), of all of them or over dim.  The derivative at 0 is 0."""

    def arguments(input, p=2, dim=None, keepdim=False, dtype=None):
        if p == "fro":
            p = 2
        inputs, options = _reduction(input, dim, keepdim, dtype=dtype)
        if not inputs[0]._dtype.is_floating_point:
            raise errors.wrong_dtype("norm", "a floating point or complex tensor", inputs[0]._dtype)
        return inputs, {"p": float(p), **options}

    def kernel(xp, a, /, p, dim, keepdim):
        size = xp.absolute(a)
        if p == math.inf or p == -math.inf:
            return (xp.max if p > 0 else xp.min)(size, axis=dim, keepdims=keepdim)
        if p == 0:
            return xp.sum(size != 0, axis=dim, keepdims=keepdim).astype(a.dtype)
        if p == 2:
            return xp.sqrt(xp.sum(a * a, axis=dim, keepdims=keepdim))
        return xp.sum(size**p, axis=dim, keepdims=keepdim) ** (1 / p)

    def grad_a(g, a, result, a_shape, p, dim, keepdim):
        g, result = restored(g, a_shape, dim, keepdim), restored(result, a_shape, dim, keepdim)
        if p == 0:
            return zeros_like(a)
        if p in (math.inf, -math.inf):
            hit = where(a < 0, -a, a) == result
            return sign(a) * hit * (g / sum(hit, dim=dim, keepdim=True))
        if p == 2:
            return where(result == 0, zeros_like(a), a * (g / result))
        steep = sign(a) if p == 1 else where(a == 0, zeros_like(a), sign(a) * where(a < 0, -a, a) ** (p - 1))
        return where(result == 0, zeros_like(a), steep * (g / result ** (p - 1)))


@operator(autocast="fp32", floats=True, samples=samples.one_dim)
class logsumexp:
    """log(sum(exp(x))) over dim, without overflow."""

    def arguments(input, dim, keepdim=False):
        return (input,), {"dim": axes(input, dim), "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        top = xp.max(a, axis=dim, keepdims=True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = xp.log(xp.sum(xp.exp(a - top), axis=dim, keepdims=True)) + top
        return total if keepdim or dim is None and not a.ndim else xp.squeeze(total, axis=dim)

    def grad_a(g, a, result, a_shape, dim, keepdim):
        return restored(g, a_shape, dim, keepdim) * exp(a - restored(result, a_shape, dim, keepdim))


# Running sums ---------------------------------------------------------------------------------------------------------


def _running_samples(make):
    yield (make(3, 4), 0), {}
    yield (make(3, 4), -1), {}


def _running(input, dim, *, dtype=None):
    if dtype is not None:
        input = input.to(dtype)
    return (input,), {"dim": shapes.wrap_dim(dim, input.dim())}


@operator(result=_sum_dtype, in_place=True, samples=_running_samples)
class cumsum:
    """The sum of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim):
        return xp.cumsum(a, axis=dim) if a.ndim else a.copy()

    def grad_a(g, dim):
        return flipped(cumsum(flipped(g, dim), dim=dim), dim) if g.ndim else g


@operator(result=_sum_dtype, in_place=True, samples=_running_samples)
class cumprod:
    """The product of all elements up to each one, along a dimension."""

    arguments = _running

    def kernel(xp, a, /, dim):
        return xp.cumprod(a, axis=dim) if a.ndim else a.copy()

    def grad_a(g, a, result, dim):
        return cumprod_backward(g, a, result, dim) if g.ndim else g


def cumprod_backward(g, a, result, dim):
    """The gradient of a running product; where factors are zero it is worked out row by row of partial products."""
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


method(lambda self, *size: sum_to_size(self, size), "sum_to_size")


def sum_to_size(self, size):
    """Summed down to a shape that broadcasts to this one."""
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
    dims = shapes.summed_dims(tuple(self.shape), size)
    if dims is None:
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(self.shape)}.")
    return call(sum, (self,), {"dim": dims, "keepdim": True}).reshape(size) if dims else self
