"""gather, scatter and their kin: an index tensor names a place along one dimension for every element.

The arguments trip everybody once: index has as many dimensions as the input; for dim 1, gather reads
input[i][index[i][j]] and scatter writes there.  Indices are bounds-checked before any kernel.  (D1 2.2)
"""

from autogradlab import dtypes, late, shapes
from autogradlab.modes import as_one
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor

from .copy import to
from .create import tensor
from .index import add_at, bounds, checked, index_backward
from .index import index as at_positions
from .kinds import add_up, need_tensors, numpy_words
from .out import takes_out
from .shape import expand


@as_one
def _along(name: str, input, dim, where, source=None):
    """The checks gather and scatter share; returns the dimension and the checked index."""
    need_tensors(name, index=where)
    if where.numel() and where._dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index: got {where._dtype}.")
    dim = shapes.wrap_dim(dim, input.dim())
    if max(where.dim(), 1) != max(input.dim(), 1) and (where.numel() or name != "gather"):
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as input tensor: index has shape "
            f"{tuple(where.shape)}, "
            f"input {tuple(input.shape)}."
        )
    for d, n in enumerate(where.shape):
        if (
            input.dim() > d
            and d != dim
            and n > input.shape[d]
            or source is not None
            and source.dim()
            and n > source.shape[d]
        ):
            raise RuntimeError(
                f"{name}(): Size does not match at dimension {d}: expected index {list(where.shape)} to be no larger "
                f"than self "
                f"{list(input.shape)} apart from dimension {dim}"
                + (f" and no larger than src {list(source.shape)}." if source is not None else ".")
            )
    if source is not None and source._dtype is not input._dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype: got {input._dtype} and {source._dtype}."
        )
    size = input.shape[dim] if input.dim() else 1
    if where.numel():
        low, high = bounds(where)
        if low < 0 or high >= size:
            bad = high if high >= size else low
            raise (IndexError if name == "index_select" else RuntimeError)(
                f"{name}(): index {bad} is out of bounds for dimension {dim} with size {size}."
            )
    return dim, to(where, dtypes.int64)


def _gather_samples(make):
    yield (make(3, 4), 1, make.ints(0, 4, (3, 2))), {}
    yield (make(3, 4), 0, make.ints(0, 3, (2, 3))), {}


@operator(moves=True, promote=False, samples=_gather_samples)
class gather:
    """out[i][j] = input[i][index[i][j]] for dim 1: one element for each element of the index.  (D1 2.2)"""

    def arguments(input, dim, index, *, sparse_grad=False):
        dim, index = _along("gather", input, dim, index)
        return (input, index), {"dim": dim}

    def kernel(xp, a, index, /, dim):
        if not index.size:
            return xp.zeros(index.shape, a.dtype)
        if not a.ndim:
            return xp.full(index.shape, 0, a.dtype) + a
        rows = a[tuple(slice(None) if d == dim else slice(0, n) for d, n in enumerate(index.shape))]
        return xp.take_along_axis(rows, index, axis=dim)

    def grad_a(g, index, a_shape, dim):
        return scatter_zeros(g, index, a_shape, dim)


@operator(promote=False, public=(), samples=lambda make: [((make(3, 2), make.ints(0, 4, (3, 2)), (3, 4), 1), {})])
class scatter_zeros:
    """Zeros, with g added at the places gather took from."""

    def arguments(input, index, shape, dim):
        return (input, index), {"shape": shape, "dim": dim}

    def kernel(xp, a, index, /, shape, dim):
        whole = xp.zeros(shape, a.dtype)
        if not shape:
            return whole + xp.sum(a)
        if index.size:
            add_up(xp, whole, _coordinates(xp, index, dim), a)
        return whole

    def grad_a(g, index, dim):
        return gathered(g, index, dim)


def gathered(g, index, dim):
    """gather for formulas: its public order of arguments is PyTorch's, a kernel's puts arrays first."""
    return gather(g, dim, index) if isinstance(g, Tensor) else gather(g, index, dim=dim)


def corner(a, shape):
    """The part of that shape that begins at index 0; raw arrays and tensors alike."""
    return a[tuple(slice(0, n) for n in shape)]


def _coordinates(xp, index, dim):
    """For each element of a gather or scatter index, its coordinates in the array it points into."""
    n = index.ndim
    return tuple(
        index if d == dim else xp.arange(index.shape[d]).reshape((1,) * d + (-1,) + (1,) * (n - d - 1))
        for d in range(n)
    )


def _scatter_samples(make):
    yield (make(3, 4), 1, make.permutations(4, 3), make(3, 4)), {}


@operator(moves=True, promote=False, public=(), samples=_scatter_samples)
class scatter:
    """A copy with src[i][j] written at [i][index[i][j]] (for dim 1)."""

    def arguments(input, dim, index, src):
        dim, index = _along("scatter", input, dim, index, src)
        index, src = (t if input.dim() else t.reshape(()) for t in (index, src))
        return (input, src, index), {"dim": dim}

    def kernel(xp, a, b, index, /, dim):
        out = a.copy()
        out[_coordinates(xp, index, dim)] = corner(b, index.shape)
        return out

    def grad_a(g, index, dim):
        return blanked(g, index, dim)

    def grad_b(g, index, b_shape, dim):
        return padded(gathered(g, index, dim), b_shape)


@operator(moves=True, promote=False, public=(), samples=lambda make: [])
class blanked:
    """A copy with zeros where an index points."""

    def arguments(input, index, dim):
        return (input, index), {"dim": dim}

    def kernel(xp, a, index, /, dim):
        out = xp.array(a)
        out[_coordinates(xp, index, dim)] = 0
        return out

    def grad_a(g, index, dim):
        return blanked(g, index, dim)


@operator(moves=True, promote=False, public=(), samples=lambda make: [((make(2, 2), (3, 2)), {})])
class padded:
    """Zeros of a larger shape, with the elements in the corner that begins at index 0."""

    def arguments(input, shape):
        return (input,), {"shape": tuple(shape)}

    def kernel(xp, a, /, shape):
        out = xp.zeros(shape, a.dtype)
        out[tuple(slice(0, n) for n in a.shape)] = a
        return out

    def grad_a(g, a_shape):
        return corner(g, a_shape)


@operator(promote=False, in_place=True, samples=_scatter_samples)
class scatter_add:
    """A copy with src[i][j] added at [i][index[i][j]] (for dim 1); places that repeat add up."""

    def arguments(input, dim, index, src):
        dim, index = _along("scatter_add", input, dim, index, src)
        return (input, src, index), {"dim": dim}

    def kernel(xp, a, b, index, /, dim):
        out = a.copy()
        add_up(xp, out, _coordinates(xp, index, dim), corner(b, index.shape).astype(a.dtype))
        return out

    def grad_a(g):
        return g

    def grad_b(g, index, b_shape, dim):
        return padded(gathered(g, index, dim), b_shape)


def _source(self, src, index, value):
    need_tensors("scatter", index=index)
    src = value if src is None else src
    return src if isinstance(src, Tensor) else tensor(src, dtype=self._dtype, device=self._device).expand(*index.shape)


_REDUCE = {"add": "sum", "multiply": "prod"}


def _reducing(reduce: str):
    if reduce not in _REDUCE:
        raise RuntimeError(f"reduce argument must be either add or multiply: got {reduce!r}.")
    return late.operators["scatter_reduce"]


def _scatter(self, dim, index, src=None, *, value=None, reduce=None):
    """src written (or added, multiplied: reduce) along a dimension at the places an index gives; a copy."""
    if reduce is not None:
        return _reducing(reduce).function(self, dim, index, _source(self, src, index, value), _REDUCE[reduce])
    return scatter.function(self, dim, index, _source(self, src, index, value))


def _scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """src written (or added, multiplied: reduce) along a dimension at the places an index gives."""
    if reduce is not None:
        return _reducing(reduce).write(self, dim, index, _source(self, src, index, value), _REDUCE[reduce])
    return scatter.write(self, dim, index, _source(self, src, index, value))


public(_scatter, "scatter", also_method=True)
method(_scatter_, "scatter_")


@operator(moves=True, promote=False, samples=lambda make: [((make(3, 4), 1, make.ints(0, 4, (3,))), {})])
class index_select:
    """The slices along a dimension that a 1-D index names; a copy."""

    def arguments(input, dim, index):
        dim = shapes.wrap_dim(dim, input.dim())
        if index.dim() > 1:
            raise IndexError(f"index_select(): Index is supposed to be a vector, but got dim: {index.dim()}.")
        if index._dtype not in (dtypes.int64, dtypes.int32):
            raise RuntimeError(f"index_select(): Expected dtype int32 or int64 for index: got {index._dtype}.")
        if not input.dim() and index.numel() != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s).")
        if input.dim() and index.numel() and not input.shape[dim]:
            raise RuntimeError(f"index_select(): dimension {dim} of self is empty: its size should be positive.")
        return (input, checked(index.reshape(-1), input.shape[dim] if input.dim() else 1, dim)), {"dim": dim}

    def kernel(xp, a, index, /, dim):
        return xp.take(a.reshape(a.shape or (1,)), index, axis=dim).reshape(
            a.shape if not a.ndim else a.shape[:dim] + index.shape + a.shape[dim + 1 :]
        )

    def grad_a(g, index, a_shape, dim):
        return index_backward(g, index, a_shape, (dim,)) if a_shape else g


@operator(promote=False, in_place=True,
          samples=lambda make: [((make(3, 4), 0, make.ints(0, 3, (2,)), make(2, 4)), {})])  # fmt: skip
class index_add:
    """A copy with the slices of `source` added to those that a 1-D index names; slices that repeat add up."""

    def arguments(input, dim, index, source, *, alpha=1):
        dim = shapes.wrap_dim(dim, input.dim())
        expected = (*input.shape[:dim], index.numel(), *input.shape[dim + 1 :]) if input.dim() else source.shape
        if tuple(source.shape) != tuple(expected):
            raise RuntimeError(
                f"index_add_(): source tensor shape must match self's, excluding the specified dimension: got "
                f"{tuple(source.shape)}, expected {tuple(expected)}."
            )
        if source._dtype is not input._dtype:
            raise RuntimeError(
                f"index_add_(): self ({input._dtype}) and source ({source._dtype}) must have the same scalar type."
            )
        where = checked(index, input.shape[dim] if input.dim() else 1, dim)
        source = source if alpha == 1 else source * alpha
        return (input, source, where if input.dim() else where.reshape(-1)), {"dim": dim}

    def kernel(xp, a, b, index, /, dim):
        if not a.ndim:
            return a + xp.sum(b, dtype=a.dtype)
        out = a.copy()
        add_at(xp, out, index, b, (dim,))
        return out

    def grad_a(g):
        return g

    def grad_b(g, index, b_shape, dim):
        return at_positions(g, index, (dim,)) if g.ndim else expand(g, size=b_shape)


@numpy_words
def take_along_dim(input, indices, dim=None):
    """gather() whose index broadcasts with the input; without dim both count as flat."""
    need_tensors("take_along_dim", input=input, indices=indices)
    if dim is None:
        return gather.function(input.reshape(-1), 0, indices.reshape(-1))
    if input.dim() != indices.dim():
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.dim()} dimensions for input, and {indices.dim()} dimensions for indices."
        )
    dim = shapes.wrap_dim(dim, input.dim())
    indices = checked(indices, input.shape[dim] if input.dim() else 1, dim)
    common = shapes.broadcast_shapes(*[(*t.shape[:dim], 1, *t.shape[dim + 1 :]) for t in (input, indices)])
    spread = [t.expand(*common[:dim], t.shape[dim], *common[dim + 1 :]) for t in (input, indices)]
    return gather.function(spread[0], dim, spread[1])


public(take_along_dim, also_method=True, around=takes_out)
