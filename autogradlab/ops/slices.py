"""Views of a part: select, slice, as_strided, split.  Each has a partner that puts a gradient back into
zeros.
"""

from operator import index as operator_index

from autogradlab import dtypes, errors, shapes
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor

from .kinds import add_up, numpy_words
from .shape import in_place_view, sizes


@operator(public=(), samples=lambda make: [((make(2, 3),), {})])
class alias:
    """The whole tensor, as a view: what x[...] returns."""

    def kernel(xp, a, /):
        return a

    def geometry(shape, stride, offset):
        return shape, stride, offset

    def grad_a(g):
        return g


def _select_samples(make):
    yield (make(3, 4), 0, 1), {}
    yield (make(2, 3, 4), -1, -2), {}


@operator(samples=_select_samples)
class select:
    """One index of one dimension; the dimension goes.  x[1] is select(x, 0, 1).  (D1 2.1)"""

    def arguments(input, dim, index):
        return (input,), {"dim": dim, "index": index.__index__()}

    def kernel(xp, a, /, dim, index):
        return a[_at(a.ndim, dim, index)]

    def geometry(shape, stride, offset, dim, index):
        if not shape:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        return shapes.select(tuple(shape), stride, offset, shapes.wrap_dim(dim, len(shape)), index)

    def grad_a(g, a_shape, dim, index):
        return select_backward(g, a_shape, dim, index)


def _at(ndim: int, dim: int, key):
    """The index that has `key` at one dimension and everything at the others; raw arrays and tensors alike."""
    return (slice(None),) * shapes.wrap_dim(dim, ndim) + (key,)


@operator(moves=True, promote=False, public=(), samples=lambda make: [((make(4), (3, 4), 0, 1), {})])
class select_backward:
    """Zeros, with g at one index of one dimension."""

    def arguments(input, shape, dim, index):
        return (input,), {"shape": shape, "dim": dim, "index": index}

    def kernel(xp, a, /, shape, dim, index):
        whole = xp.zeros(shape, a.dtype)
        whole[_at(len(shape), dim, index)] = a
        return whole

    def grad_a(g, dim, index):
        return g[_at(g.ndim, dim, index)]


def _slice_samples(make):
    yield (make(5, 4), 0, 1, 4), {}
    yield (make(5, 4), 1, 0, 4, 2), {}
    yield (make(5, 4), 0, 3, 3), {}


@operator(public=(), samples=_slice_samples)
class slice_:
    """Every step-th index of one dimension from start to before stop.  (D1 2.1)"""

    def arguments(input, dim=0, start=None, stop=None, step=1):
        if step < 1:
            raise errors.negative_step(step)
        start, stop, step = slice(start, stop, step).indices(input.shape[dim])
        return (input,), {"dim": dim, "start": start, "stop": max(stop, start), "step": step}

    def kernel(xp, a, /, dim, start, stop, step):
        return a[_at(a.ndim, dim, slice(start, stop, step))]

    def geometry(shape, stride, offset, dim, start, stop, step):
        return shapes.slice_dim(tuple(shape), stride, offset, dim, start, stop, step)

    def grad_a(g, a_shape, dim, start, stop, step):
        return slice_backward(g, a_shape, dim, start, stop, step)


@operator(moves=True, promote=False, public=(), samples=lambda make: [((make(2, 4), (5, 4), 0, 1, 4, 2), {})])
class slice_backward:
    """Zeros, with g in a slice of one dimension."""

    def arguments(input, shape, dim, start, stop, step):
        return (input,), {"shape": shape, "dim": dim, "start": start, "stop": stop, "step": step}

    def kernel(xp, a, /, shape, dim, start, stop, step):
        whole = xp.zeros(shape, a.dtype)
        whole[_at(len(shape), dim, slice(start, stop, step))] = a
        return whole

    def grad_a(g, dim, start, stop, step):
        return g[_at(g.ndim, dim, slice(start, stop, step))]


@numpy_words
def narrow(input, dim: int, start: int, length: int):
    """`length` indices of one dimension from `start` on."""
    if not input.dim():
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.dim() or start.is_floating_point() or start.dtype is dtypes.bool_):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    dim = shapes.wrap_dim(dim, input.dim())
    start, size = int(start), input.shape[dim]
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start}).")
    start = start + size if start < 0 else start
    if length < 0 or not 0 <= start <= size - length:
        raise RuntimeError(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_.function(input, dim, start, start + length)


public(narrow, also_method=True)


# Any geometry at all --------------------------------------------------------------------------------------------------


def cells(xp, shape, stride, offset):
    """The storage cell of every index, as an integer array of that shape."""
    where = xp.full((1,) * len(shape), offset, "int64")
    for d, (n, s) in enumerate(zip(shape, stride, strict=True)):
        where = where + (xp.arange(n) * s).reshape((1,) * d + (n,) + (1,) * (len(shape) - d - 1))
    return where


def _strided_samples(make):
    yield (make(9), (4, 3), (2, 1)), {}
    yield (make(3, 4), (3,), (5,), 0), {}


@operator(samples=_strided_samples)
class as_strided:
    """The storage read by any sizes, strides and offset (in elements) that stay inside it.  (D1 3.5)"""

    remembered = False  # arguments() asks the storage, which is another one each time

    def arguments(input, size, stride, storage_offset=None):
        size, stride = sizes((size,)), sizes((stride,))
        start = input._offset if storage_offset is None else storage_offset
        if len(size) != len(stride):
            raise RuntimeError(f"mismatch in length of strides and shape: {len(stride)} strides for {len(size)} sizes.")
        if min((*size, *stride, start), default=0) < 0:
            raise RuntimeError(
                f"as_strided: sizes, strides and offset must not be negative: got {size}, {stride}, {start}."
            )
        available = input.memory.nbytes() // input._dtype.itemsize
        if start + shapes.extent(size, stride) > available and 0 not in size:
            raise errors.outside_storage(size, stride, start, available)
        return (input,), {"size": size, "stride": stride, "storage_offset": start}

    def geometry(shape, own_stride, offset, size, stride, storage_offset):
        return size, stride, storage_offset

    def grad_a(g, a_shape, a_stride, a_offset, size, stride, storage_offset):
        return strided_backward(g, (a_shape, a_stride, a_offset), (size, stride, storage_offset))


in_place_view("as_strided_", as_strided)


@operator(promote=False, public=(),
          samples=lambda make: [((make(4, 3), ((9,), (1,), 0), ((4, 3), (2, 1), 0)), {})])  # fmt: skip
class strided_backward:
    """The gradient of a storage, read by the source's geometry, from that of another geometry: what falls on one cell
    adds up.
    """

    def arguments(input, source, seen):
        return (input,), {"source": source, "seen": seen}

    def kernel(xp, a, /, source, seen):
        last = max(shapes.extent(n, s) + o for n, s, o in (source, seen))
        memory = xp.zeros(last, a.dtype)
        add_up(xp, memory, cells(xp, *seen).reshape(-1), a.reshape(-1))
        return memory[cells(xp, *source)]

    def grad_a(g, source, seen):
        return strided_gather(g, source, seen)


@operator(moves=True, promote=False, public=(),
          samples=lambda make: [((make(9), ((9,), (1,), 0), ((4, 3), (2, 1), 0)), {})])  # fmt: skip
class strided_gather:
    """A tensor laid out by one geometry, read by another: strided_backward turned round."""

    def arguments(input, source, seen):
        return (input,), {"source": source, "seen": seen}

    def kernel(xp, a, /, source, seen):
        last = max(shapes.extent(n, s) + o for n, s, o in (source, seen))
        memory = xp.zeros(last, a.dtype)
        memory[cells(xp, *source)] = a
        return memory[cells(xp, *seen)]

    def grad_a(g, source, seen):
        return strided_backward(g, source, seen)


# Several views at once ------------------------------------------------------------------------------------------------


def _split_sizes(size: int, parts):
    """The lengths of the pieces: equal ones, or as listed."""
    if hasattr(parts, "__index__"):
        parts = operator_index(parts)
        if parts == 0 == size:
            return [0]
        if parts <= 0:
            raise RuntimeError(f"split expects split_size be positive, got split_size={parts}.")
        return [min(parts, size - i) for i in range(0, max(size, 1), parts)]
    parts = list(sizes((parts,)))
    if sum(parts) != size or min(parts, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (the size of that dimension): got {parts}, "
            f"which sum to {sum(parts)}."
        )
    return parts


def _split_samples(make):
    yield (make(5, 3), 2), {}
    yield (make(5, 3), [1, 4]), {}
    yield (make(2, 3), 2), {"dim": 1}
    yield (make(4), 4), {}


@operator(public=("function", "method"), multi_output=True, outputs=tuple, samples=_split_samples)
class split:
    """The tensor cut along one dimension into views: of one length, or of the lengths listed."""

    def arguments(input, split_size_or_sections, dim=0):
        if not input.shape:
            raise RuntimeError("split expects at least a 1-dimensional tensor: this one has no dimensions.")
        dim = shapes.wrap_dim(dim, input.dim())
        return (input,), {"lengths": tuple(_split_sizes(input.shape[dim], split_size_or_sections)), "dim": dim}

    def geometry(shape, stride, offset, lengths, dim):
        out, start = [], 0
        for n in lengths:
            out.append(shapes.slice_dim(shape, stride, offset, dim, start, start + n, 1))
            start += n
        return out

    def grad_a(gs, a_shape, lengths, dim):
        whole, start = None, 0
        for g, n in zip(gs, lengths, strict=True):
            if g is not None:
                part = slice_backward(g, a_shape, dim, start, start + n, 1)
                whole = part if whole is None else whole + part
            start += n
        return whole


@numpy_words
def chunk(input, chunks: int, dim: int = 0):
    """The tensor cut along one dimension into at most `chunks` views of equal length (the last may be shorter)."""
    if not input.shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor: this one has no dimensions.")
    chunks = operator_index(chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}.")
    size = input.shape[shapes.wrap_dim(dim, input.dim())]
    return split.function(input, -(-size // chunks) if size else [0] * chunks, dim)


public(chunk, also_method=True)


@operator(multi_output=True, outputs=tuple, samples=lambda make: [((make(3, 2),), {}), ((make(3, 2), 1), {})])
class unbind:
    """The slices along one dimension, without that dimension; views."""

    def arguments(input, dim=0):
        return (input,), {"dim": shapes.wrap_dim(dim, input.dim())}

    def geometry(shape, stride, offset, dim):
        if not shape:
            raise IndexError("unbind: dimension specified as 0 but tensor has no dimensions.")
        return [shapes.select(shape, stride, offset, dim, i) for i in range(shape[dim])]

    def grad_a(gs, a_shape, dim):
        whole = None
        for i, g in enumerate(gs):
            if g is not None:
                part = select_backward(g, a_shape, dim, i)
                whole = part if whole is None else whole + part
        return whole


def _iterate(self):
    """The slices along the first dimension, one after the other."""
    if not self.shape:
        raise TypeError("iteration over a 0-d tensor: it has one element and no dimensions; use .item().")
    return iter(unbind.function(self, 0))


method(_iterate, "__iter__")


@operator(samples=lambda make: [((make(7), 0, 3, 2), {}), ((make(2, 5), 1, 2, 1), {})])
class unfold:
    """All windows of `size` along one dimension, `step` apart, as a new last dimension; a view."""

    def arguments(input, dimension, size, step):
        return (input,), {"dimension": dimension, "size": operator_index(size), "step": operator_index(step)}

    def geometry(shape, stride, offset, dimension, size, step):
        d = shapes.wrap_dim(dimension, len(shape))
        if not shape:  # a number counts as one element, and its window is the only one
            shape, stride = (1,), (1,)
            if size == 1 and step > 0:
                return (1,), (1,), offset
        if not 0 <= size <= shape[d] or step <= 0:
            raise RuntimeError(
                f"maximum size for tensor at dimension {d} is {shape[d]} but size is {size}, step {step} (must be > 0)."
            )
        windows = (shape[d] - size) // step + 1
        size_out = (*shape[:d], windows, *shape[d + 1 :], size)
        return size_out, (*stride[:d], stride[d] * step, *stride[d + 1 :], stride[d]), offset

    def grad_a(g, a_shape, dimension, size, step):
        source = a_shape, shapes.contiguous_strides(a_shape), 0
        return strided_backward(g, source, unfold.geometry(*source, dimension, size, step))
