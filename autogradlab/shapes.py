"""Integer geometry and nothing else: shapes, strides, offsets.  All counts are elements, never bytes.

A tensor's element at index (i, j, ...) lies in cell `offset + i * stride[0] + j * stride[1] + ...` of its storage.
Everything a view does is arithmetic on (shape, stride, offset); no data moves. Source: PyTorch's TensorUtils.cpp
(computeStride), D1 3.5, D2 2.
"""

from functools import lru_cache
from math import prod
from operator import index as as_int

from . import errors

Ints = tuple[int, ...]


def numel(shape: Ints) -> int:
    """How many elements a shape has; () has one."""
    return prod(shape)


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from 0; negative ones count from the end.  A 0-d tensor takes 0 and -1."""
    if type(dim) is int and 0 <= dim < ndim:  # the usual case
        return dim
    dim = as_int(dim)
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise errors.dim_out_of_range(dim, ndim)
    return dim + max(ndim, 1) if dim < 0 else dim


def wrap_dims(dims, ndim: int) -> Ints:
    """Several dimensions, each once; one may stand alone, and be whatever counts as an integer."""
    wrapped = tuple(wrap_dim(d, ndim) for d in ((dims,) if hasattr(dims, "__index__") else dims))
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(
            f"dim {next(d for d in wrapped if wrapped.count(d) > 1)} appears multiple times in the list of dims."
        )
    return wrapped


# Layout ---------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def contiguous_strides(shape: Ints) -> Ints:
    """Strides of row-major order: the last dimension is 1 apart, each other as far as all behind it are long."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Ints, stride: Ints) -> bool:
    """Whether walking the indices in order walks the cells in order.  Dimensions of size 1 do not matter, nor do empty
    tensors.
    """
    if stride == contiguous_strides(shape) or 0 in shape:
        return True
    step = 1
    for size, s in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1:
            if s != step:
                return False
            step *= size
    return True


def extent(shape: Ints, stride: Ints) -> int:
    """How many cells lie between the first and the last element, both included."""
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


def overlaps(shape: Ints, stride: Ints) -> bool:
    """Whether two indices surely share a cell: an expanded dimension does.  (As PyTorch, other overlaps are not looked
    for.)
    """
    return 0 not in shape and any(s == 0 and n > 1 for n, s in zip(shape, stride, strict=True))


def is_dense(shape: Ints, stride: Ints) -> bool:
    """Whether the elements fill their cells without gaps or overlaps, in whatever order of the dimensions."""
    step = 1
    for s, n in sorted((s, n) for n, s in zip(shape, stride, strict=True) if n != 1):
        if s != step:
            return 0 in shape
        step *= n
    return True


def like_strides(shape: Ints, stride: Ints) -> Ints:
    """The strides a new tensor gets that shall be laid out like this one: the same if dense, else contiguous in the
    same order of dimensions.
    """
    if is_dense(shape, stride):
        return stride
    order = list(reversed(range(len(shape))))  # from the innermost dimension outwards
    for i in range(1, len(order)):
        here = i
        for k in reversed(range(i)):
            inner, outer = stride[order[k]], stride[order[here]]
            if inner and outer and inner < outer:
                break
            if inner and outer and inner > outer:  # a repeated dimension (stride 0) stays where it is
                order[k], order[here] = order[here], order[k]
                here = k
    strides, step = [0] * len(shape), 1
    for d in order:
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


# Views ----------------------------------------------------------------------------------------------------------------


def infer_size(shape, count: int) -> Ints:
    """Replace the one -1 of a shape by what makes it hold `count` elements; check that it does."""
    shape = tuple(map(as_int, shape))
    if min(shape, default=0) >= 0 and prod(shape) == count:  # the usual case
        return shape
    if shape.count(-1) > 1:
        raise errors.two_sizes_inferred(shape)
    if any(n < -1 for n in shape):
        raise errors.negative_size(shape)
    if -1 in shape:
        known = prod(n for n in shape if n != -1)
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of {count} elements into shape {list(shape)}: with a size of 0 any value "
                f"would do for -1. "
                "Say which."
            )
        if count % known:
            raise errors.wrong_number_of_elements(shape, count)
        return tuple(count // known if n == -1 else n for n in shape)
    if prod(shape) != count:
        raise errors.wrong_number_of_elements(shape, count)
    return shape


@lru_cache(maxsize=4096)
def view_strides(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    """PyTorch's view rule: the strides that show the same cells under `new_shape`, or None where data would have to
    move.

    Neighbouring dimensions that lie one inside the other (stride[d] == shape[d+1] * stride[d+1]) form one block of
    memory.  A new shape fits if each block can be cut into some of its dimensions.
    """
    if 0 in shape:
        return stride if shape == new_shape else contiguous_strides(new_shape)
    new_stride = [1] * len(new_shape)
    d = len(new_shape) - 1  # the new dimension to be placed next, from the right
    for count, step in _blocks(shape, stride):
        placed = 1
        while d >= 0 and (placed < count or new_shape[d] == 1):
            new_stride[d] = placed * step
            placed *= new_shape[d]
            d -= 1
        if placed != count:
            return None
    return tuple(new_stride)


def _blocks(shape: Ints, stride: Ints):
    """The blocks of memory a tensor consists of, from the right: (elements, distance between neighbours)."""
    count, step = 1, stride[-1] if stride else 1
    for d in reversed(range(len(shape))):
        count *= shape[d]
        if d == 0 or (shape[d - 1] != 1 and stride[d - 1] != count * step):
            yield count, step
            count, step = 1, stride[d - 1]
    if not shape:
        yield 1, 1


def broken_pair(shape: Ints, stride: Ints) -> tuple[int, int] | None:
    """The last pair of dimensions (d, d + 1) that do not lie one inside the other, and the stride d would need."""
    for d in reversed(range(len(shape) - 1)):
        if shape[d] != 1 and stride[d] != shape[d + 1] * stride[d + 1]:
            return d, shape[d + 1] * stride[d + 1]
    return None


def expand(shape: Ints, stride: Ints, sizes) -> tuple[Ints, Ints]:
    """Repeat dimensions of size 1 (stride 0), add new ones in front; -1 keeps a size."""
    sizes = tuple(as_int(n) for n in sizes)
    added = len(sizes) - len(shape)
    if added < 0:
        raise errors.cannot_expand(shape, sizes, -1)
    new_shape, new_stride = list(sizes), [0] * len(sizes)
    for d in reversed(range(len(sizes))):
        size = sizes[d]
        if d < added:
            if size < 0:
                raise errors.cannot_expand(shape, sizes, d)
            if size == 1:  # PyTorch gives a new dimension of size 1 the stride it would have if contiguous
                new_stride[d] = new_shape[d + 1] * new_stride[d + 1] if d + 1 < len(sizes) else 1
            continue
        old = shape[d - added]
        new_shape[d] = size = old if size == -1 else size
        if size == old:
            new_stride[d] = stride[d - added]
        elif old != 1 or size < 0:
            raise errors.cannot_expand(shape, sizes, d)
    return tuple(new_shape), tuple(new_stride)


def transpose(shape: Ints, stride: Ints, dim0: int, dim1: int) -> tuple[Ints, Ints]:
    """Swap two dimensions: their sizes and strides change places."""
    if not shape:
        return shape, stride
    n, s = list(shape), list(stride)
    n[dim0], n[dim1] = n[dim1], n[dim0]
    s[dim0], s[dim1] = s[dim1], s[dim0]
    return tuple(n), tuple(s)


def permute(shape: Ints, stride: Ints, dims) -> tuple[Ints, Ints]:
    """Dimension d of the result is dimension dims[d] of the tensor."""
    if sorted(dims) != list(range(len(shape))):
        raise errors.bad_permutation(dims, len(shape))
    return tuple(shape[d] for d in dims), tuple(stride[d] for d in dims)


def select(shape: Ints, stride: Ints, offset: int, dim: int, i: int) -> tuple[Ints, Ints, int]:
    """Fix one index of one dimension; the dimension goes."""
    size = shape[dim]
    if not -size <= i < size:
        raise errors.index_out_of_range(i, dim, size)
    i = i + size if i < 0 else i
    return shape[:dim] + shape[dim + 1 :], stride[:dim] + stride[dim + 1 :], offset + i * stride[dim]


def slice_dim(shape: Ints, stride: Ints, offset: int, dim: int, start: int, stop: int, step: int):
    """Every `step`-th index of one dimension from `start` to before `stop` (both within 0..size)."""
    length = max(0, (stop - start + step - 1) // step)
    return (
        (*shape[:dim], length, *shape[dim + 1 :]),
        (*stride[:dim], stride[dim] * step, *stride[dim + 1 :]),
        offset + start * stride[dim],
    )


# Broadcasting ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def broadcast_shapes(*shapes: Ints) -> Ints:
    """The shape several shapes have in common: aligned at the right, sizes must be equal or 1.  (D1 4.1)"""
    ndim = max((len(s) for s in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for k in range(1, len(shape) + 1):
            size = shape[-k]
            if size != 1 and size != result[-k]:
                if result[-k] != 1:
                    raise errors.cannot_broadcast(shapes, ndim - k, (result[-k], size))
                result[-k] = size
    return tuple(result)


@lru_cache(maxsize=4096)
def summed_dims(shape: Ints, target: Ints) -> Ints | None:
    """The dimensions of `shape` that broadcasting added or repeated to get there from `target`; None if it cannot."""
    added = len(shape) - len(target)
    if added < 0:
        return None
    dims = list(range(added))
    for d, size in enumerate(target, start=added):
        if shape[d] != size:
            if size != 1:
                return None
            dims.append(d)
    return tuple(dims)
