"""Right answers about indexing, found by visiting every element: which cells are read says what the view is.

Along each dimension the indices that are chosen are those that Python's own ranges and slices choose.
"""

import itertools
from typing import Any

from .enumerated import indices

Ints = tuple[int, ...]
Index = tuple[Any, ...]  # numbers, slices, None and at most one ...


def used(index: Index) -> int:
    """How many dimensions the index speaks of."""
    return sum(entry is not None and entry is not ... for entry in index)


def full(index: Index, ndim: int) -> Index:
    """The index with an entry for each dimension, and None where it has None."""
    missing = (slice(None),) * (ndim - used(index))
    index = index if ... in index else (*index, ...)
    place = next(n for n, entry in enumerate(index) if entry is ...)
    return (*index[:place], *missing, *index[place + 1 :])


def chosen(entry: Any, size: int) -> range | int:
    """The indices of a dimension that an entry chooses: several, or one."""
    return range(size)[entry]


def cells(index: Index, shape: Ints, stride: Ints, offset: int) -> tuple[Ints, list[int]]:
    """The result's shape, and the cell of each of its elements in reading order."""
    entries, ways, sizes = full(index, len(shape)), [], []
    dims = iter(zip(shape, stride, strict=True))
    for entry in entries:
        if entry is None:
            sizes.append(1)
            continue
        size, step = next(dims)
        picked = chosen(entry, size)
        sizes += [] if isinstance(picked, int) else [len(picked)]
        ways.append([i * step for i in ([picked] if isinstance(picked, int) else picked)])
    return tuple(sizes), [offset + sum(way) for way in itertools.product(*ways)]


def view(index: Index, shape: Ints, stride: Ints, offset: int) -> tuple[Ints, Ints, int]:
    """The shape, stride and offset of the view; a stride that nobody walks is 1."""
    sizes, visited = cells(index, shape, stride, offset)
    if 0 in sizes:
        return sizes, (1,) * len(sizes), offset
    at = dict(zip(indices(sizes), visited, strict=True))
    origin = (0,) * len(sizes)
    one_on = [origin[:d] + (1,) + origin[d + 1 :] for d in range(len(sizes))]
    steps = tuple(at[place] - visited[0] if place in at else 1 for place in one_on)
    return sizes, steps, visited[0]


def positions(mask: list[bool], shape: Ints) -> list[Ints]:
    """The indices of the elements at which the mask is True."""
    return [index for index, kept in zip(indices(shape), mask, strict=True) if kept]


def gather(values: list, shape: Ints, dim: int, index: list[int], index_shape: Ints) -> list:
    """For each place of the index, the element at that place but for dim, where it is the index's number."""
    at = dict(zip(indices(shape), values, strict=True))
    places = zip(indices(index_shape), index, strict=True)
    return [at[(*place[:dim], i, *place[dim + 1 :])] for place, i in places]


def put(values: list, where: list[int], new: list, accumulate: bool) -> list[list]:
    """For each place, what may stand there: the sum, or any of the values that were put."""
    new = new * len(where) if len(new) == 1 else new
    given = {n: [v for p, v in zip(where, new, strict=True) if p % len(values) == n] for n in range(len(values))}
    return [[old + sum(given[n])] if accumulate else given[n] or [old] for n, old in enumerate(values)]


def reaches(chain: list[Index]) -> bool:
    """Whether a write through this chain of brackets comes to the tensor."""
    return all(entry is None or type(entry) in (int, slice, type(...)) for index in chain[:-1] for entry in index)
