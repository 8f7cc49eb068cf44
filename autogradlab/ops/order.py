"""Sorting: sort, argsort, topk.  Values carry gradients back to where they came from; indices do not."""

from autogradlab import dtypes, shapes
from autogradlab.size import return_type
from autogradlab.table import operator, public

from . import samples
from .elementary import passed
from .extremes import equal_or_nan
from .gather import gather, scatter_zeros
from .kinds import like, not_bool, numpy_words
from .out import take_outs, takes_out
from .reduce import restored, sum

sort_result = return_type("sort", "values indices")
topk_result = return_type("topk", "values indices")


def order(xp, a, dim, descending):
    """The indices that sort; equal elements keep their order.  (CuPy's argsort is stable as it is.)"""
    key = a
    if descending:
        key = xp.invert(a) if a.dtype.kind in "bu" else -(a.astype("int64") if a.dtype.kind == "i" else a)
    where = xp.argsort(key, axis=dim, kind="stable")
    if descending and a.dtype.kind == "f" and bool(xp.any(a != a)):  # nan counts as the largest, above infinity
        numbers = xp.take_along_axis(a == a, where, axis=dim)
        where = xp.take_along_axis(where, xp.argsort(numbers, axis=dim, kind="stable"), axis=dim)
    return where


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
        return like(xp, a, xp.take_along_axis(a, where, axis=dim)), like(xp, a, where)

    def grad_a(g, indices, a_shape, dim):
        return scatter_zeros(g, indices, a_shape, dim) if a_shape else g


@operator(result=dtypes.int64, samples=_sort_samples)
class argsort:
    """The indices that would put the elements along a dimension in order."""

    def arguments(input, dim=-1, descending=False, *, stable=False):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim()), "descending": bool(descending)}

    def kernel(xp, a, /, dim, descending):
        return like(xp, a, order(xp, a, dim, descending)) if a.ndim else xp.zeros((), "int64")


@operator(
    outputs=topk_result,
    accepts=not_bool,
    samples=lambda make: [((make(3, 5), 2), {}), ((make(4, 3), 1), {"dim": 0, "largest": False})],
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


def _at_rank(xp, a, dim, rank, keepdim, nan_first=False):
    """The element of a rank in the order along a dimension, and where it stands."""
    if not a.ndim:
        return a.copy(), xp.zeros((), "int64")
    where = order(xp, a, dim, False)[(slice(None),) * dim + (slice(rank, rank + 1),)]
    if nan_first:  # one nan makes the result nan
        nan = a != a
        where = xp.where(xp.any(nan, axis=dim, keepdims=True), xp.expand_dims(xp.argmax(nan, axis=dim), dim), where)
    values = xp.take_along_axis(a, where, axis=dim)
    where = where.copy()
    return (values, where) if keepdim else (xp.squeeze(values, axis=dim).copy(), xp.squeeze(where, axis=dim).copy())


def to_its_place(g, indices, a_shape, dim, keepdim):
    """The gradient of an element chosen along a dimension goes to where it stood."""
    if not a_shape:
        return g
    g, indices = (restored(t, a_shape, (dim,), keepdim) for t in (g, indices))
    return scatter_zeros(g, indices, a_shape, dim)


median_result = return_type("median", "values indices")
kthvalue_result = return_type("kthvalue", "values indices")
mode_result = return_type("mode", "values indices")


@operator(node="MedianBackward1", outputs=median_result, accepts=not_bool, public=(),
          samples=lambda make: [((make(3, 5), 1), {}), ((make(4, 3), 0), {})])  # fmt: skip
class median_at:
    """The middle element along a dimension (of two, the lower; nan if there is one), and where: (values, indices)."""

    def arguments(input, dim, keepdim=False):
        dim = shapes.wrap_dim(dim, input.dim())
        if input.shape and not input.shape[dim]:
            raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        return _at_rank(xp, a, dim, (a.shape[dim] - 1) // 2 if a.ndim else 0, keepdim, nan_first=True)

    grad_a = to_its_place


@operator(outputs=kthvalue_result, accepts=not_bool,
          samples=lambda make: [((make(3, 5), 2), {}), ((make(4, 3), 1), {"dim": 0, "keepdim": True})])  # fmt: skip
class kthvalue:
    """The k-th smallest element along a dimension (counted from 1), and where: (values, indices)."""

    def arguments(input, k, dim=-1, keepdim=False):
        dim = shapes.wrap_dim(dim, input.dim())
        size = input.shape[dim] if input.shape else 1
        if not size:
            raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
        if not 1 <= k <= size:
            raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: {k} of {size}.")
        return (input,), {"k": int(k), "dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, k, dim, keepdim):
        return _at_rank(xp, a, dim, k - 1, keepdim)

    grad_a = to_its_place


@operator(outputs=mode_result, samples=samples.one_dim)
class mode:
    """The most frequent element along a dimension (of several, the smallest), and where: (values, indices)."""

    def arguments(input, dim=-1, keepdim=False):
        dim = shapes.wrap_dim(dim, input.dim())
        if input.shape and not input.shape[dim]:
            raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
        return (input,), {"dim": dim, "keepdim": bool(keepdim)}

    def kernel(xp, a, /, dim, keepdim):
        if not a.ndim:
            return a.copy(), xp.zeros((), "int64")
        place = order(xp, a, dim, False)
        line = xp.moveaxis(xp.take_along_axis(a, place, axis=dim), dim, -1)
        n = line.shape[-1]
        run = xp.zeros(line.shape, "int64")
        for i in range(1, n):  # how many equal elements stand before each, in order
            run[..., i] = (run[..., i - 1] + 1) * (line[..., i] == line[..., i - 1])
        last = xp.expand_dims(xp.argmax(run, axis=-1), -1)
        values = xp.take_along_axis(line, last, axis=-1)
        where = xp.take_along_axis(xp.moveaxis(place, dim, -1), last, axis=-1)
        values, where = (xp.moveaxis(t, -1, dim) for t in (values, where))
        return (
            (values.copy(), where.copy()) if keepdim else tuple(xp.squeeze(t, axis=dim).copy() for t in (values, where))
        )

    grad_a = to_its_place


@operator(
    node="MedianBackward0", accepts=not_bool, public=(), samples=lambda make: [((make(3, 3),), {}), ((make(),), {})]
)
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
        return passed(g / sum(hit), hit)


@numpy_words
def median(input, dim=None, keepdim=False):
    """The middle element (of two, the lower): of all, or with dim (values, indices) along that dimension."""
    return median_all.function(input) if dim is None else median_at.function(input, dim, keepdim)


@numpy_words
def nanmedian(input, dim=None, keepdim=False):
    """The median of the elements that are not nan."""
    if not input._dtype.is_floating_point or not bool(input.isnan().any()):
        return median(input, dim, keepdim)
    if dim is None:
        kept = input[~input.isnan()]
        return median(kept) if kept.numel() else median(input)
    ranks = ((~input.isnan()).sum(dim, keepdim=True) - 1).clamp(min=0) // 2
    values, where = sort.function(input, dim)
    out = [gather.function(t, dim, ranks) for t in (values, where)]
    return nanmedian_result(*(t if keepdim or not input.shape else t.squeeze(dim) for t in out))


nanmedian_result = return_type("nanmedian", "values indices")
public(median, also_method=True, around=takes_out)
public(nanmedian, also_method=True, around=takes_out)
take_outs(sort, topk, kthvalue, mode)


def msort(input):
    """The elements sorted along the first dimension."""
    return sort.function(input, 0)[0]


public(msort, also_method=True)
