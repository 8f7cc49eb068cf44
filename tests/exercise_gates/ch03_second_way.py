"""A second right way to solve exercise 03, written differently wherever there is a choice."""

import itertools
import math


def contiguous_strides(shape):
    return tuple(math.prod(max(size, 1) for size in shape[d + 1 :]) for d in range(len(shape)))


def storage_index(index, shape, stride, offset):
    try:
        return offset + sum(range(size)[i] * step for i, size, step in zip(index, shape, stride, strict=True))
    except IndexError as error:
        raise IndexError("index out of range") from error


def is_contiguous(shape, stride):
    wanted = contiguous_strides(shape)
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, stride, wanted, strict=True))


def permute(shape, stride, dims):
    try:
        pairs = [(shape[d], stride[d]) for d in dims]
    except IndexError as error:
        raise RuntimeError("no such dimension") from error
    if len({d % len(shape) for d in dims}) != len(shape) or len(dims) != len(shape):
        raise RuntimeError("each dimension once")
    return tuple(size for size, _ in pairs), tuple(step for _, step in pairs)


def expand(shape, stride, new_shape):
    sizes, steps = [], []
    pairs = itertools.zip_longest(reversed(new_shape), reversed(shape), reversed(stride))
    for wanted, size, step in pairs:
        if wanted is None or (size is None and wanted < 0) or (size not in (None, 1, wanted) and wanted != -1):
            raise RuntimeError("cannot expand")
        grown = size is None or (size == 1 and wanted not in (-1, 1))
        sizes.insert(0, wanted if grown else size)
        steps.insert(0, 0 if grown else step)
    return tuple(sizes), tuple(steps)


def infer_shape(new_shape, numel):
    sizes = list(new_shape)
    if -1 in sizes:
        place = sizes.index(-1)
        sizes[place] = 1
        others = math.prod(sizes)
        if others <= 0 or numel % others:
            raise RuntimeError("does not fit")
        sizes[place] = numel // others
    if min(sizes, default=1) < 0 or math.prod(sizes) != numel:
        raise RuntimeError("does not fit")
    return tuple(sizes)


def cell_of(number, shape, stride):
    """The cell of the element with this number in reading order."""
    cell = 0
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        number, i = divmod(number, size)
        cell += i * step
    return cell


def view_stride(shape, stride, new_shape):
    if 0 in shape:
        return (1,) * len(new_shape)
    inner = contiguous_strides(new_shape)
    # One step along a new dimension leads from element 0 to element inner[d]; then it must do so everywhere.
    steps = tuple(0 if n == 1 else cell_of(i, shape, stride) for n, i in zip(new_shape, inner, strict=True))
    same = all(cell_of(k, shape, stride) == cell_of(k, new_shape, steps) for k in range(math.prod(shape)))
    return steps if same else None


def merge_heads(shape, stride):
    (batch, heads, seq, dim), (b, h, s, d) = shape, stride
    found = view_stride((batch, seq, heads, dim), (b, s, h, d), (batch, seq, heads * dim))
    return found and ((batch, seq, heads * dim), found)


SECOND_WAY = (
    contiguous_strides,
    storage_index,
    is_contiguous,
    permute,
    expand,
    infer_shape,
    view_stride,
    merge_heads,
)
