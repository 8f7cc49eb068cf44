"""Right answers about strides, found by visiting every element one after the other.

Slow and without a single rule of its own: where the exercises (and the engine) reason with strides, this
file only asks "in which storage cell does element (i, j, ...) lie?". It is what the checks compare with.
"""

import itertools
import math

Ints = tuple[int, ...]


def indices(shape: Ints) -> list[Ints]:
    """All indices of a tensor of this shape, in reading order (the last dimension moves fastest)."""
    return list(itertools.product(*map(range, shape)))


def cells(shape: Ints, stride: Ints, offset: int = 0) -> list[int]:
    """The storage cells of the elements, in reading order."""
    return [offset + sum(i * s for i, s in zip(index, stride, strict=True)) for index in indices(shape)]


def contiguous_strides(shape: Ints) -> Ints:
    """Number the elements in reading order; a stride is the distance between two neighbours' numbers."""
    full = tuple(max(size, 1) for size in shape)  # PyTorch lays out a size of 0 as if it were 1
    return tuple(len(indices(full[d + 1 :])) for d in range(len(full)))


def storage_index(index: Ints, shape: Ints, stride: Ints, offset: int) -> int | None:
    """Look the index up among all of them, with -1 as another name of the last, or None if it is not there."""
    if len(index) != len(shape):
        return None
    names = [{**{i: i for i in range(size)}, **{i - size: i for i in range(size)}} for size in shape]
    if any(i not in name for i, name in zip(index, names, strict=True)):
        return None
    found = tuple(name[i] for i, name in zip(index, names, strict=True))
    return cells(shape, stride, offset)[indices(shape).index(found)]


def is_contiguous(shape: Ints, stride: Ints) -> bool:
    """Reading the elements in order visits the cells 0, 1, 2, ... in order."""
    visited = cells(shape, stride)
    return visited == list(range(len(visited)))


def permute(shape: Ints, stride: Ints, dims: Ints) -> tuple[Ints, Ints]:
    """Dimension d of the result is dimension dims[d] of the input, whatever its size and stride are."""
    pairs = list(zip(shape, stride, strict=True))
    moved = [pairs[d] for d in dims]
    return tuple(size for size, _ in moved), tuple(step for _, step in moved)


def expand(shape: Ints, stride: Ints, new_shape: Ints) -> tuple[Ints, Ints] | None:
    """Line the two shapes up at the right; None where they do not fit."""
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        return None
    sizes, steps = list(new_shape), [0] * added
    for d, (size, step) in enumerate(zip(shape, stride, strict=True)):
        wanted = size if new_shape[added + d] == -1 else new_shape[added + d]
        if wanted != size and size != 1:
            return None
        sizes[added + d] = wanted
        steps.append(step if wanted == size else 0)
    return tuple(sizes), tuple(steps)


def infer_shape(new_shape: Ints, numel: int) -> Ints | None:
    """Try every size in place of -1: right is the only one that fits; None if none fits, or several do."""
    if any(size < -1 for size in new_shape) or tuple(new_shape).count(-1) > 1:
        return None
    tried = {tuple(n if size == -1 else size for size in new_shape) for n in range(numel + 2)}
    fitting = [shape for shape in tried if math.prod(shape) == numel]
    return fitting[0] if len(fitting) == 1 else None


def view_stride(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    """If any strides make new_shape visit the same cells in the same order, those; else None."""
    wanted = cells(shape, stride)
    order = {index: k for k, index in enumerate(indices(new_shape))}
    steps = []
    for d, size in enumerate(new_shape):
        neighbour = tuple(int(e == d) for e in range(len(new_shape)))
        # The step along d can only be the distance from the first element to its neighbour along d.
        steps.append(wanted[order[neighbour]] - wanted[0] if wanted and size > 1 else 1)
    found = tuple(steps)
    return found if cells(new_shape, found) == [cell - wanted[0] for cell in wanted] else None


def merge_heads(shape: Ints, stride: Ints) -> tuple[Ints, Ints] | None:
    """(batch, heads, seq, head_dim) seen as (batch, seq, heads * head_dim), or None if that needs a copy."""
    moved, steps = permute(shape, stride, (0, 2, 1, 3))
    merged = (moved[0], moved[1], moved[2] * moved[3])
    found = view_stride(moved, steps, merged)
    return None if found is None else (merged, found)
