"""The largest and the smallest: max, min, amax, amin, argmax, argmin.

Who gets the gradient where several elements are equal: amax and the whole-tensor max share it; max along a dimension
gives it to the element whose index it returns.  (As PyTorch.)
"""

from autogradlab import dtypes, shapes
from autogradlab.dispatch import NOTHING
from autogradlab.size import return_type
from autogradlab.table import operator, public
from autogradlab.tensor import Tensor

from . import samples
from .choose import maximum, minimum
from .elementary import passed
from .gather import scatter_zeros
from .kinds import in_order, need_tensors, not_bool, numpy_words
from .out import takes_out
from .reduce import axes, count, every, restored, sum

min_result = return_type("min", "values indices")
max_result = return_type("max", "values indices")


def equal_or_nan(a, b):
    """Where two are equal, or both nan: where the extreme was found."""
    return (a == b) | ((a != a) & (b != b))


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
        return in_order(xp, getattr(xp, function)(a, axis=dim, keepdims=keepdim))

    def grad_a(g, a, result, a_shape, dim, keepdim):
        hit = equal_or_nan(a, restored(result, a_shape, dim, keepdim))
        return hit * restored(g / sum(hit, dim=every(hit, dim), keepdim=keepdim), a_shape, dim, keepdim)

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
        hit = equal_or_nan(a, result)
        return passed(g / sum(hit), hit)

    block = {"__doc__": f"The {name}imum of all elements.", "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    return operator(node=f"{name.title()}Backward1", public=(), samples=samples.unary_full)(
        type(f"{name}_all", (), block)
    )


max_all, min_all = _whole("max", "max"), _whole("min", "min")


def _extreme(name, at, whole, pairwise):
    def extreme(input, dim=None, keepdim=False, *, other=None):
        need_tensors(name, input=input)
        if dim is None and other is None and keepdim:
            raise TypeError(f"{name}(): keepdim=True needs dim: which dimension to keep, with size 1.")
        if isinstance(dim, Tensor) or other is not None:
            return pairwise.function(input, dim if other is None else other)
        return whole.function(input) if dim is None else at.function(input, dim, keepdim)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = (
        f"The {name}imum of all elements; with dim, (values, indices) along that dimension; with another tensor, "
        f"element by element."
    )
    return public(numpy_words(extreme), name, also_method=True, around=takes_out)


_extreme("max", max_at, max_all, maximum)
_extreme("min", min_at, min_all, minimum)


def _arg(name: str, says: str):
    def arguments(input, dim=None, keepdim=False):
        dim = None if dim is None else shapes.wrap_dim(dim, input.dim())
        if not input.numel() and (dim is None or not input.shape[dim]):
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0, or to have non-"
                             f"zero size: the shape is {tuple(input.shape)}.")  # fmt: skip
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if dim is None and keepdim:
            return getattr(xp, name)(a).reshape((1,) * a.ndim)
        if not a.ndim:
            return xp.zeros((), "int64")
        where_ = getattr(xp, name)(a, axis=dim)
        return xp.expand_dims(where_, dim) if keepdim else where_

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel}
    return operator(result=dtypes.int64, accepts=not_bool, samples=samples.one_dim)(type(name, (), block))


argmax = _arg(
    "argmax",
    "The index of the largest element: the first, if there are several; in the flat tensor, or along a dimension.",
)
argmin = _arg(
    "argmin",
    "The index of the smallest element: the first, if there are several; in the flat tensor, or along a dimension.",
)
