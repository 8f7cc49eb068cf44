"""Writing at chosen places, beyond scatter and index_put: reductions, whole slices, masks, flat positions."""

from autogradlab import dtypes, shapes
from autogradlab.dispatch import NOTHING
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor

from .choose import where
from .elementary import zeros_like
from .gather import _along, _coordinates, blanked, corner, gathered, padded, scatter_zeros
from .index import checked, index_backward, index_put_, setitem
from .index import index as at_positions
from .kinds import held, need_tensors
from .shape import expand, reshape

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def counted(index, shape, dim, like):
    """How often an index names each place."""
    ones = zeros_like(gathered(like, index, dim)) + 1
    return scatter_zeros(ones, index, shape, dim)


def _reduce_samples(make):
    for reduce in REDUCTIONS:
        yield (make(3, 4), 1, make.ints(0, 4, (3, 5)), make(3, 5)), {"reduce": reduce}
        yield (make(3, 4), 0, make.ints(0, 3, (5, 4)), make(5, 4)), {"reduce": reduce, "include_self": False}


@operator(promote=False, in_place=True, samples=_reduce_samples)
class scatter_reduce:
    """A copy with src[i][j] added to, multiplied with, ... what stands at [i][index[i][j]] (for dim 1).

    reduce: "sum", "prod", "mean", "amax" or "amin"; include_self: whether the input's own element counts.
    """

    def arguments(input, dim, index, src, reduce, *, include_self=True):
        if reduce not in REDUCTIONS:
            raise RuntimeError(f"reduce argument must be either {', '.join(REDUCTIONS)}, got {reduce}.")
        dim, index = _along("scatter_reduce", input, dim, index, src)
        index, src = (t if input.dim() else t.reshape(()) for t in (index, src))
        return (input, src, index), {"dim": dim, "reduce": reduce, "include_self": include_self}

    def kernel(xp, a, b, index, /, dim, reduce, include_self):
        place = _coordinates(xp, index, dim) if a.ndim else ()
        values = corner(b, index.shape).astype(a.dtype)
        out = a.copy()
        if not include_self:
            out[place] = _start(a.dtype, reduce)
        at = {"prod": xp.multiply, "amax": xp.maximum, "amin": xp.minimum}.get(reduce, xp.add)
        if a.dtype.kind == "b" and reduce in ("sum", "mean"):
            at = xp.logical_or
        at.at(out, place, values)
        if reduce == "mean":
            count = xp.full(a.shape, int(include_self), "int64")
            xp.add.at(count, place, 1)
            count = xp.maximum(count, 1).astype(a.dtype)
            return out / count if a.dtype.kind == "f" else xp.floor_divide(out, count)
        return out

    def grad_a(g, a, b, index, result, dim, reduce, include_self):
        if reduce == "mean":
            g = g / _how_many(g, index, dim, include_self)
        elif reduce == "prod":
            ones = where(a == 0, zeros_like(a) + 1, a)
            g = g * scatter_reduce_(ones, b, index, dim, "prod", include_self) / ones
        elif reduce in ("amax", "amin"):
            g = _shared(g, a, b, index, result, dim, include_self) * (a == result)
        return g if include_self else blanked(g, index, dim=dim)

    def grad_b(g, a, b, index, result, b_shape, dim, reduce, include_self):
        if reduce == "mean":
            g = g / _how_many(g, index, dim, include_self)
        if reduce == "prod":
            made = _prod_grad(g, a, b, index, result, dim, include_self)
        elif reduce in ("amax", "amin"):
            hit = corner(b, index.shape) == gathered(result, index, dim)
            made = gathered(_shared(g, a, b, index, result, dim, include_self), index, dim) * hit
        else:
            made = gathered(g, index, dim)
        return padded(made, b_shape)


def _start(dtype, reduce: str):
    """What a reduction begins with where the input does not count."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.kind == "b":
        return reduce == "amin"
    low = float("-inf") if dtype.kind == "f" else dtypes.iinfo(dtypes.from_numpy(dtype)).min
    high = float("inf") if dtype.kind == "f" else dtypes.iinfo(dtypes.from_numpy(dtype)).max
    return high if reduce == "amin" else low


def scatter_reduce_(a, b, index, dim, reduce, include_self):
    """scatter_reduce for formulas: on raw arrays and on Tensors."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return scatter_reduce.function(a, dim, index, b, reduce, include_self=include_self)
    return scatter_reduce(a, b, index, dim=dim, reduce=reduce, include_self=include_self)


def _how_many(g, index, dim, include_self):
    """By how many elements each mean was divided."""
    count = counted(index, g.shape, dim, g) + int(include_self)
    return where(count == 0, zeros_like(count) + 1, count)


def _shared(g, a, b, index, result, dim, include_self):
    """The gradient of an extreme, shared by all that are equal to it."""
    values = corner(b, index.shape)
    hits = zeros_like(values) + (values == gathered(result, index, dim))
    own = zeros_like(a) + (a == result)
    own = own if include_self else blanked(own, index, dim=dim)
    count = own + scatter_zeros(hits, index, g.shape, dim)
    return g / where(count == 0, zeros_like(count) + 1, count)


def _prod_grad(g, a, b, index, result, dim, include_self):
    """The gradient of each factor: the product of the others, also where one factor is zero."""
    b = corner(b, index.shape)
    zero = b == 0
    zeros = gathered(scatter_zeros(zeros_like(b) + zero, index, g.shape, dim), index, dim)
    alone = zero & (zeros == 1)
    others = scatter_reduce_(a, where(alone, zeros_like(b) + 1, b), index, dim, "prod", include_self)
    usual = gathered(g * result, index, dim) / where(zero, zeros_like(b) + 1, b)
    return where(alone, gathered(g * others, index, dim), usual)


# Whole slices ---------------------------------------------------------------------------------------------------------


def _check_slices(name: str, input, dim, index, source) -> None:
    """What index_copy and index_reduce check."""
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0: got {index.dim()} dimensions.")
    expected = (*input.shape[:dim], index.numel(), *input.shape[dim + 1 :])
    if input.dim() and tuple(source.shape) != expected and (source.dim() or index.numel() != 1):
        kind = IndexError if name == "index_copy" and source.dim() == input.dim() else RuntimeError
        raise kind(f"{name}(): Source shape {tuple(source.shape)} does not fit: expected {expected}.")


def _spread_index(name: str, input, dim, index, source):
    """A 1-D index as an index of every element of its slices."""
    dim = shapes.wrap_dim(dim, input.dim())
    _check_slices(name, input, dim, index, source)
    index = checked(index.reshape(-1), input.shape[dim] if input.dim() else 1, dim)
    if not input.dim():
        return dim, index.reshape(()), source.reshape(())
    index = reshape(index, (1,) * dim + (-1,) + (1,) * (input.dim() - dim - 1))
    size = (*input.shape[:dim], index.numel(), *input.shape[dim + 1 :])
    return dim, expand.function(index, size), source.reshape(size)


def _written(a, index, values, dim):
    """A copy of an array with values in the slices that an index names."""
    out = a.copy()
    out.reshape(out.shape or (1,))[(*(slice(None),) * dim, index)] = values
    return out


@operator(moves=True, promote=False, in_place=True,
          samples=lambda make: [((make(3, 4), 1, make.ints(0, 4, (1,)), make(3, 1)), {})])  # fmt: skip
class index_copy:
    """A copy with the slices of `source` written where a 1-D index says."""

    def arguments(input, dim, index, source):
        _same_dtype("index_copy", input, source)
        dim = shapes.wrap_dim(dim, input.dim())
        _check_slices("index_copy", input, dim, index, source)
        return (input, source, checked(index.reshape(-1), input.shape[dim] if input.dim() else 1, dim)), {"dim": dim}

    def kernel(xp, a, b, index, /, dim):
        return _written(a, index, b, dim)

    def grad_a(g, index, dim):
        return index_fill_number(g, index, dim=dim, value=0)

    def grad_b(g, index, b_shape, dim):
        return at_positions(g, index, (dim,)) if g.ndim else g.reshape(b_shape)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy with the slices of `source` reduced into those that a 1-D index names: prod, mean, amax or amin."""
    _reducible(input, source, reduce)
    dim, places, source = _spread_index("index_reduce", input, dim, index, source)
    return scatter_reduce.function(input, dim, places, source, reduce, include_self=include_self)


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """Reduce the slices of `source` into those that a 1-D index names."""
    _reducible(self, source, reduce)
    dim, places, source = _spread_index("index_reduce", self, dim, index, source)
    return scatter_reduce.write(self, dim, places, source, reduce, include_self=include_self)


def _reducible(input, source, reduce):
    if reduce not in REDUCTIONS[1:]:
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _same_dtype("index_reduce", input, source)


def _same_dtype(name, input, source):
    if input._dtype is not source._dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got {input._dtype} and {source._dtype}."
        )


def _slices_named(input, dim, index):
    """The dimension and the checked index of index_fill."""
    if index._dtype not in (dtypes.int64, dtypes.int32):
        raise IndexError(f"index_fill_(): Expected dtype int64 for index: got {index._dtype}.")
    dim = shapes.wrap_dim(dim, input.dim())
    return dim, checked(index.reshape(-1), input.shape[dim] if input.dim() else 1, dim)


@operator(node="IndexFillBackward0", moves=True, promote=False, public=(),
          samples=lambda make: [((make(3, 4), make.ints(0, 4, (2,)), 1, 2.5), {})])  # fmt: skip
class index_fill_number:
    """A copy with one number in the slices that a 1-D index names."""

    def arguments(input, index, dim, value):
        return (input, index), {"dim": dim, "value": held(value, input._dtype)}

    def kernel(xp, a, index, /, dim, value):
        return _written(a, index, value, dim)

    def grad_a(g, index, dim):
        return index_fill_number(g, index, dim=dim, value=0)


@operator(node="IndexFillBackward1", moves=True, promote=False, public=(),
          samples=lambda make: [((make(3, 4), make.ints(0, 4, (2,)), make(), 1), {})])  # fmt: skip
class index_fill_by:
    """A copy with the value of a 0-d tensor in those slices."""

    def arguments(input, index, value, dim):
        if value.dim():
            raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got {value.dim()}D.")
        return (input, value.to(input._dtype), index), {"dim": dim}

    def kernel(xp, a, b, index, /, dim):
        return _written(a, index, b, dim)

    def grad_a(g, index, dim):
        return index_fill_number(g, index, dim=dim, value=0)

    def grad_b(g, index, dim):
        named = index_fill_number(zeros_like(g), index, dim=dim, value=1)
        return where(named == 1, g, zeros_like(g))


def index_fill(input, dim, index, value):
    """A copy with one number, or the value of a 0-d tensor, in the slices that a 1-D index names."""
    dim, index = _slices_named(input, dim, index)
    if isinstance(value, Tensor):
        return index_fill_by.function(input, index, value, dim)
    return index_fill_number.function(input, index, dim, value)


def index_fill_(self, dim, index, value):
    """Write one number, or the value of a 0-d tensor, into the slices that a 1-D index names."""
    dim, index = _slices_named(self, dim, index)
    if isinstance(value, Tensor):
        return index_fill_by.write(self, index, value, dim)
    return index_fill_number.write(self, index, dim, value)


# Masks and flat positions ---------------------------------------------------------------------------------------------


def masked_scatter(input, mask, source):
    """A copy with the elements of `source`, in order, where the mask is True."""
    size = shapes.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    return masked_scatter_(expand.function(input, size).clone(), mask, source)


def masked_scatter_(self, mask, source):
    """Write the elements of `source`, in order, where the mask is True."""
    if mask._dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask._dtype}.")
    if self._dtype is not source._dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {self._dtype} and {source._dtype}."
        )
    mask = expand.function(mask, tuple(self.shape))
    count = int(mask.sum())
    if source.numel() < count:
        raise RuntimeError(f"Number of elements of source < number of ones in mask: {source.numel()} < {count}.")
    setitem(self, mask, reshape(source, (-1,))[:count])
    return self


@operator(moves=True, promote=False, samples=lambda make: [((make(3, 4), make.ints(0, 12, (2, 3))), {})])
class take:
    """The elements at flat positions, in the shape of the index."""

    def arguments(input, index):
        if index._dtype is not dtypes.int64:
            raise RuntimeError(f"take(): Expected a long tensor for index, but got {index._dtype}.")
        if index.numel() and not input.numel():
            raise IndexError("take(): tried to take from an empty tensor.")
        return (input, checked(index, input.numel(), 0)), NOTHING

    def kernel(xp, a, index, /):
        return xp.take(a.reshape((-1,)), index)

    def grad_a(g, index, a_shape):
        size = (shapes.numel(a_shape),)
        return index_backward(g.reshape((-1,)), index.reshape((-1,)), size, (0,)).reshape(a_shape)


def put(input, index, source, accumulate=False):
    """A copy with the elements of `source` written (or added) at flat positions."""
    return put_(input.clone(), index, source, accumulate)


def put_(self, index, source, accumulate=False):
    """Write (or add) the elements of `source` at flat positions."""
    need_tensors("put_", index=index, source=source)
    if index._dtype is not dtypes.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index._dtype}.")
    if source.numel() != index.numel():
        raise RuntimeError(
            f"put_(): Expected as many elements in source as in index: got {source.numel()} and {index.numel()}."
        )
    _same_dtype("put_", self, source)
    flat = reshape(self, (-1,)).clone()
    index_put_(flat, (reshape(index, (-1,)),), reshape(source, (-1,)), accumulate)
    return self.copy_(flat.reshape(tuple(self.shape)))


for _fn in (index_reduce, index_fill, masked_scatter, put):
    public(_fn, also_method=True)
for _fn in (index_reduce_, index_fill_, masked_scatter_, put_):
    method(_fn)
