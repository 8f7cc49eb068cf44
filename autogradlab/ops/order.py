"""Sorting: sort, argsort, topk.  Values carry gradients back to where they came from; indices do not."""

from autogradlab import dtypes, shapes
from autogradlab.size import return_type
from autogradlab.table import operator, public
from autogradlab.tensor import wrap

from .extremes import equal_or_nan
from .gather import scatter_zeros
from .reduce import restored, sum

sort_result = return_type("sort", "values indices")
topk_result = return_type("topk", "values indices")


def order(xp, a, dim, descending):
    """The indices that sort; equal elements keep their order.  (CuPy's argsort is stable as it is.)"""
    key = a
    if descending:
        key = xp.invert(a) if a.dtype.kind in "bu" else -(a.astype("int64") if a.dtype.kind == "i" else a)
    if a.dtype.kind == "f" and descending:  # nan counts as the largest
        key = xp.where(a != a, xp.full((), -xp.inf, a.dtype), key)
    return xp.argsort(key, axis=dim, kind="stable")


def _sort_samples(make):
    yield (make(3, 4),), {}
    yield (make(3, 4),), {"dim": 0, "descending": True}


@operator(outputs=sort_result, samples=_sort_samples)
class sort:
    """The elements along a dimension in order, and where they were: (values, indices)."""

    def arguments(input, dim=-1, descending=False, *, stable=False):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim()), "descending": bool(descending)}

    def kernel(xp, a, /, dim, descending):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")
        where = order(xp, a, dim, descending)
        return xp.take_along_axis(a, where, axis=dim), where

    def grad_a(g, indices, a_shape, dim):
        return scatter_zeros(g, indices, a_shape, dim) if a_shape else g


@operator(result=dtypes.int64, samples=_sort_samples)
class argsort:
    """The indices that would put the elements along a dimension in order."""

    def arguments(input, dim=-1, descending=False, *, stable=False):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim()), "descending": bool(descending)}

    def kernel(xp, a, /, dim, descending):
        return order(xp, a, dim, descending) if a.ndim else xp.zeros((), "int64")


@operator(
    outputs=topk_result, samples=lambda make: [((make(3, 5), 2), {}), ((make(4, 3), 1), {"dim": 0, "largest": False})]
)
class topk:
    """The k largest (or smallest) elements along a dimension in order, and where they were: (values, indices).  (D1
    2.2)
    """

    def arguments(input, k, dim=-1, largest=True, sorted=True):
        dim = shapes.wrap_dim(dim, input.dim())
        size = input.shape[dim] if input.dim() else 1
        if not 0 <= k <= size:
            raise RuntimeError(f"selected index k out of range: k is {k}, dimension {dim} has size {size}.")
        return (input,), {"k": int(k), "dim": dim, "largest": bool(largest)}

    def kernel(xp, a, /, k, dim, largest):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")
        where = order(xp, a, dim, largest)[(slice(None),) * dim + (slice(0, k),)].copy()
        return xp.take_along_axis(a, where, axis=dim), where

    def grad_a(g, indices, a_shape, dim):
        return scatter_zeros(g, indices, a_shape, dim) if a_shape else g


median_result = return_type("median", "values indices")


@operator(node="MedianBackward1", outputs=median_result, public=(),
          samples=lambda make: [((make(3, 5), 1), {}), ((make(4, 3), 0), {})])  # fmt: skip
class median_at:
    """The middle element along a dimension (of two, the lower; nan if there is one), and where: (values, indices)."""

    def arguments(input, dim, keepdim=False):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim()), "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")
        middle = (a.shape[dim] - 1) // 2
        where = order(xp, a, dim, False)[(slice(None),) * dim + (slice(middle, middle + 1),)]
        nan = a != a
        first = xp.expand_dims(xp.argmax(nan, axis=dim), dim)
        where = xp.where(xp.any(nan, axis=dim, keepdims=True), first, where)
        values = xp.take_along_axis(a, where, axis=dim)
        return (values, where) if keepdim else (xp.squeeze(values, axis=dim), xp.squeeze(where, axis=dim).copy())

    def grad_a(g, indices, a_shape, dim, keepdim):
        if not a_shape:
            return g
        g, indices = (restored(t, a_shape, (dim,), keepdim) for t in (g, indices))
        return scatter_zeros(g, indices, a_shape, dim)


@operator(node="MedianBackward0", public=(), samples=lambda make: [((make(3, 3),), {}), ((make(),), {})])
class median_all:
    """The middle of all elements (of two, the lower; nan if there is one); equal elements share the gradient."""

    def arguments(input):
        return (input,), {}

    def kernel(xp, a, /):
        if not a.size:
            return xp.full((), xp.nan, a.dtype)
        flat = a.reshape(-1)
        nan = flat[xp.argmax(flat != flat)]
        return xp.where(xp.any(flat != flat), nan, flat[order(xp, flat, 0, False)[(flat.size - 1) // 2]])

    def grad_a(g, a, result):
        hit = equal_or_nan(a, result)
        return hit * (g / sum(hit))


def median(input, dim=None, keepdim=False):
    """The middle element (of two, the lower): of all, or with dim (values, indices) along that dimension."""
    return median_all.function(input) if dim is None else median_at.function(input, dim, keepdim)


public(median, also_method=True)


def msort(input):
    """The elements sorted along the first dimension."""
    return sort.function(input, 0)[0]


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in order; with return_inverse where each went, with return_counts how often it occurs."""
    if dim is not None:
        raise RuntimeError("unique: dim is not supported; give no dim to look at single elements.")
    found = input._device.backend.xp.unique(input.detach().window, return_inverse=True, return_counts=True)
    values = wrap(found[0], input._dtype, input._device)
    inverse = wrap(found[1].reshape(tuple(input.shape)).astype("int64"), dtypes.int64, input._device)
    counts = wrap(found[2].astype("int64"), dtypes.int64, input._device)
    extras = [t for t, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *extras) if extras else values


public(msort, also_method=True)
public(unique, also_method=True)
