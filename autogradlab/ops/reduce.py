"""Reductions: sum, mean, spread, product, truth, norms.

A reduction drops dimensions; its gradient puts them back (`restored`) and is then as large as the input by
broadcasting. Sums of half precision run in float32, as everything in half precision does.
"""

import math
import warnings

from autogradlab import dtypes, errors, shapes
from autogradlab.convert import number
from autogradlab.dispatch import call
from autogradlab.table import method, operator

from . import samples
from .choose import where
from .elementary import exp, zeros_like
from .kinds import chosen, in_order
from .rounding import sign
from .running import has_zero, others
from .shape import expand


def axes(input, dim) -> tuple[int, ...] | None:
    """The dimensions to reduce, counted from 0; None for all of them."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return None
    wrapped = shapes.wrap_dims(dim, input.dim())
    return wrapped if input.shape else None


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


def _reduction(input, dim=None, keepdim=False, *, dtype=None):
    if keepdim and dim is None:
        raise TypeError("a reduction with keepdim=True needs dim: which dimensions to keep, with size 1.")
    options = {"dim": axes(input, dim), "keepdim": bool(keepdim)}
    if dtype is not None:
        dtype = chosen(dtype)
        input, options["dtype"] = input.to(dtype), dtype
    return (input,), options


@operator(node=numbered("Sum"), result=dtypes.of_sum, samples=samples.dims)
class sum:
    """The sum over all dimensions, or over those in dim.  Integers and bools add up in int64.  (D1 1.3)"""

    arguments = _reduction

    def kernel(xp, a, /, dim=None, keepdim=False, dtype=None):
        return in_order(xp, xp.sum(a, axis=dim, keepdims=keepdim))

    def grad_a(g, a_shape, dim, keepdim):
        return over(g, a_shape, dim, keepdim)


@operator(node=numbered("Mean"), samples=samples.dims)
class mean:
    """The mean over all dimensions, or over those in dim.  Of floating point tensors only.  (D1 1.3)"""

    def arguments(input, dim=None, keepdim=False, *, dtype=None):
        inputs, options = _reduction(input, dim, keepdim, dtype=dtype)
        if not inputs[0]._dtype.is_floating_point:
            raise errors.mean_of_integers(inputs[0]._dtype)
        return inputs, options

    def kernel(xp, a, /, dim, keepdim, dtype=None):
        return in_order(xp, xp.sum(a, axis=dim, keepdims=keepdim)) / a.dtype.type(count(a.shape, dim))

    def grad_a(g, a_shape, dim, keepdim):
        return over(g / count(a_shape, dim), a_shape, dim, keepdim)


def count(shape, dim) -> int:
    """How many elements each result is made of."""
    return shapes.numel(shape) if dim is None else math.prod(shape[d] for d in dim)


# Spread ---------------------------------------------------------------------------------------------------------------


def spread_arguments(name: str):
    """The arguments of var, std and what is made of them."""

    def arguments(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):  # x.var(False): the legacy form
            dim, unbiased = None, dim
        if not input._dtype.is_floating_point:
            raise errors.wrong_dtype("std and var", "a floating point or complex dtype", input._dtype)
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        dim = axes(input, dim)
        n = count(input.shape, dim)
        if n <= correction or not input.numel():
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0: the numbers ({n}) less the correction ({correction}).",
                UserWarning,
                stacklevel=3,
            )
        return (input,), {"dim": dim, "correction": correction, "keepdim": bool(keepdim)}

    return arguments


def _spread_samples(make):
    yield (make(3, 4),), {}
    yield (make(2, 3, 4),), {"dim": 1}
    yield (make(3, 4),), {"dim": 0, "unbiased": False, "keepdim": True}
    yield (make(3, 4),), {"dim": (0, 1), "correction": 2}


def _variance(xp, a, dim, correction, keepdim):
    n = count(a.shape, dim)
    centred = a - xp.sum(a, axis=dim, keepdims=True) / a.dtype.type(n)
    return in_order(xp, xp.sum(centred * centred, axis=dim, keepdims=keepdim)) / a.dtype.type(max(n - correction, 0))


@operator(node=lambda o: "VarBackward0", samples=_spread_samples)
class var:
    """The variance: the mean squared distance from the mean, over n - correction (1 unless said otherwise)."""

    arguments = spread_arguments("var")

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
    return mean(a, dim=every(a, dim), keepdim=True)


def every(a, dim):
    """The dimensions of a reduction, written out."""
    return tuple(range(a.ndim)) if dim is None else dim


@operator(samples=_spread_samples)
class std:
    """The standard deviation: the square root of the variance."""

    arguments = spread_arguments("std")

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
        if dim is not None and not hasattr(dim, "__index__"):
            raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}.")
        return _reduction(input, dim, keepdim, dtype=dtype)

    return arguments


@operator(node=numbered("Prod"), result=dtypes.of_sum, samples=_prod_samples)
class prod:
    """The product over all dimensions, or along one.  With zeros among the factors the gradient is still right."""

    arguments = _one_dim("prod")

    def kernel(xp, a, /, dim, keepdim, dtype=None):
        return in_order(xp, xp.prod(a, axis=dim, keepdims=keepdim))

    def grad_a(g, a, result, a_shape, dim, keepdim):
        if not has_zero(a):
            return restored(g * result, a_shape, dim, keepdim) / a
        if dim is None:
            return others(a.reshape((-1,)), 0).reshape(a_shape) * g
        return restored(g, a_shape, dim, keepdim) * others(a, dim[0])


# Truth ----------------------------------------------------------------------------------------------------------------


def _truth_dtype(common, options):
    """bool; but of uint8, which served for bool once, uint8."""
    return common if common is dtypes.uint8 else dtypes.bool_


def _truth(name: str, says: str):
    def kernel(xp, a, /, dim, keepdim):
        return in_order(xp, getattr(xp, name)(a != 0, axis=dim, keepdims=keepdim))

    def arguments(input, dim=None, keepdim=False):
        if isinstance(dim, (tuple, list)) and not dim:
            return (input,), {"dim": (), "keepdim": bool(keepdim)}  # over no dimension: element by element
        return (input,), {"dim": axes(input, dim), "keepdim": bool(keepdim)}

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel}
    return operator(result=_truth_dtype, samples=samples.dims)(type(name, (), block))


any = _truth("any", "Whether at least one element is not zero.")
all = _truth("all", "Whether no element is zero.")


@operator(result=dtypes.int64, samples=lambda make: [((make(3, 4),), {}), ((make(2, 3, 4),), {"dim": (0, 1)})])
class count_nonzero:
    """How many elements are not zero."""

    def arguments(input, dim=None):
        return (input,), {"dim": axes(input, dim)}

    def kernel(xp, a, /, dim):
        return in_order(xp, xp.sum(a != 0, axis=dim))


# Norms and logarithms of sums -----------------------------------------------------------------------------------------


def _norm_samples(make):
    yield (make(3, 4),), {}
    yield (make(3, 4), 1), {}
    yield (make(3, 4), 3.0), {"dim": 1}
    yield (make(3, 4), math.inf), {"dim": 0, "keepdim": True}


def _norm(xp, a, p, dim, keepdim):
    size = xp.absolute(a)
    if p == math.inf or p == -math.inf:
        return (xp.max if p > 0 else xp.min)(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return xp.sum(size != 0, axis=dim, keepdims=keepdim).astype(a.dtype)
    if p == 2:
        return xp.sqrt(xp.sum(a * a, axis=dim, keepdims=keepdim))
    return xp.sum(size**p, axis=dim, keepdims=keepdim) ** (1 / p)


@operator(node="LinalgVectorNormBackward0", public=(), samples=_norm_samples)
class norm:
    """The p-norm of the elements (2 unless said otherwise), of all of them or over dim.  The derivative at 0 is 0."""

    def arguments(input, p=2, dim=None, keepdim=False, dtype=None):
        if p == "fro":
            p = 2
        p = number(p, "p")
        if not isinstance(p, (int, float)):
            raise RuntimeError(f"norm: order {p!r} is not supported: give a number, math.inf or 'fro'.")
        inputs, options = _reduction(input, dim, dtype=dtype)
        options["keepdim"] = bool(keepdim)
        if not inputs[0]._dtype.is_floating_point:
            raise errors.wrong_dtype("norm", "a floating point or complex tensor", inputs[0]._dtype)
        return inputs, {"p": float(p), **options}

    def kernel(xp, a, /, p, dim, keepdim, dtype=None):
        return in_order(xp, _norm(xp, a, p, dim, keepdim))

    def grad_a(g, a, result, a_shape, p, dim, keepdim):
        g, result = restored(g, a_shape, dim, keepdim), restored(result, a_shape, dim, keepdim)
        if p == 0:
            return zeros_like(a)
        if p in (math.inf, -math.inf):
            hit = where(a < 0, -a, a) == result
            return sign(a) * hit * (g / sum(hit, dim=every(hit, dim), keepdim=True))
        if p == 2:
            return where(result == 0, zeros_like(a), a * (g / result))
        steep = sign(a) if p == 1 else where(a == 0, zeros_like(a), sign(a) * where(a < 0, -a, a) ** (p - 1))
        return where(result == 0, zeros_like(a), steep * (g / result ** (p - 1)))


@operator(floats=True, samples=samples.one_dim)
class logsumexp:
    """log(sum(exp(x))) over dim, without overflow."""

    def arguments(input, dim, keepdim=False):
        return (input,), {"dim": axes(input, dim), "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if not a.size:
            return xp.log(xp.sum(a, axis=dim, keepdims=keepdim))
        top = xp.max(a, axis=dim, keepdims=True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = xp.log(xp.sum(xp.exp(a - top), axis=dim, keepdims=True)) + top
        return in_order(xp, total if keepdim or dim is None and not a.ndim else xp.squeeze(total, axis=dim))

    def grad_a(g, a, result, a_shape, dim, keepdim):
        return restored(g, a_shape, dim, keepdim) * exp(a - restored(result, a_shape, dim, keepdim))


method(lambda self, *size: sum_to_size(self, size), "sum_to_size")


def sum_to_size(self, size):
    """Summed down to a shape that broadcasts to this one."""
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
    dims = shapes.summed_dims(tuple(self.shape), size)
    if dims is None:
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(self.shape)}.")
    if not self.shape:
        return sum.function(self)
    return call(sum, (self,), {"dim": dims, "keepdim": True}).reshape(size) if dims else self
