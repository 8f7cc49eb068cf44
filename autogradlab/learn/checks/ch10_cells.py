"""Tasks 1 to 4 of chapter 10's exercise: which cells of a storage a tensor visits."""

import math

from . import ch10_fresh, enumerated
from .task import Case, Check, Mistake, Task

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, int]  # shape, stride, offset
REACH = 'chapter 10, "How far a view may reach"'
WRITE = 'chapter 10, "One write, three tensors"'


def _spans(shape: Ints, stride: Ints) -> int:
    return sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


# 1. cells_needed ------------------------------------------------------------------------------------------------------


def _needed(shape: Ints, stride: Ints, offset: int) -> int:
    return max(enumerated.cells(shape, stride, offset), default=-1) + 1


cells_needed = Check(
    Task(
        name="cells_needed",
        parameters=("shape", "stride", "offset"),
        visible=(
            Case(((3, 4), (4, 1), 0), 12, "a contiguous matrix"),
            Case(((2, 2), (4, 2), 4), 11, "x[1:, ::2]: the last cell is number 10"),
            Case(((4, 4), (3, 1), 0), 13, "rows that overlap need less than 16"),
            Case(((3, 4), (0, 1), 2), 6, "expanded: all rows are the same four cells"),
            Case(((), (), 7), 8, "one element, in cell 7"),
            Case(((0, 3), (3, 1), 5), 0, "no element, no cell"),
        ),
        reference=_needed,
        fresh=ch10_fresh.geometries,
        hidden="fresh layouts, sizes of 0 and 1",
        mistakes=(
            Mistake(
                lambda shape, stride, offset: offset + _spans(shape, stride),
                "That is the number of the last cell. Cells count from 0, so there must be one more.",
            ),
            Mistake(
                lambda shape, stride, offset: 1 + offset + _spans(shape, stride),
                "A size of 0 leaves no element, so no cell is needed, wherever the offset points.",
            ),
            Mistake(
                lambda shape, stride, offset: _needed(shape, stride, 0),
                "The offset is missing: the walk begins there.",
            ),
            Mistake(
                lambda shape, stride, offset: offset + math.prod(shape),
                "That counts elements. What matters is how far the walk gets: gaps make it longer, repeats shorter.",
            ),
            Mistake(
                lambda shape, stride, offset: (
                    1 + offset + sum(size * step for size, step in zip(shape, stride, strict=True))
                ),
                "A dimension of size n is stepped along n - 1 times.",
            ),
        ),
        hint="The last element has the largest index along every dimension: in which cell does it lie?",
        read=REACH,
    )
)


# 2. walk --------------------------------------------------------------------------------------------------------------


def _columns_first(shape: Ints, stride: Ints, offset: int) -> list[int]:
    return enumerated.cells(shape[::-1], stride[::-1], offset)


walk = Check(
    Task(
        name="walk",
        parameters=("shape", "stride", "offset"),
        visible=(
            Case(((2, 2), (4, 2), 4), [4, 6, 8, 10]),
            Case(((2, 2, 2), (2, 8, 1), 1), [1, 2, 9, 10, 3, 4, 11, 12], "three dimensions"),
            Case(((3, 2), (1, 3), 0), [0, 3, 1, 4, 2, 5], "a transpose, row after row"),
            Case(((3, 2), (1, 1), 0), [0, 1, 1, 2, 2, 3], "windows that overlap"),
            Case(((), (), 5), [5], "one element and no dimension"),
            Case(((2, 0), (1, 1), 5), [], "no element"),
        ),
        reference=enumerated.cells,
        fresh=ch10_fresh.geometries,
        hidden="fresh layouts of up to four dimensions",
        mistakes=(
            Mistake(lambda shape, stride, offset: enumerated.cells(shape, stride, 0), "The walk begins at the offset."),
            Mistake(
                lambda shape, stride, offset: enumerated.cells(shape[:2], stride[:2], offset),
                "Only the first two dimensions were walked. Every dimension multiplies the number of cells.",
            ),
            Mistake(
                _columns_first,
                "The cells are right, their order is not: the last dimension moves fastest, as when one reads.",
            ),
            Mistake(
                lambda shape, stride, offset: list(range(offset, offset + math.prod(shape))),
                "Cells one after the other: that is a contiguous tensor. Each step moves by its dimension's stride.",
            ),
            Mistake(
                lambda shape, stride, offset: sorted(enumerated.cells(shape, stride, offset)),
                "The cells were sorted. The walk goes in the order of the elements, back and forth in memory.",
            ),
            Mistake(
                lambda shape, stride, offset: list(dict.fromkeys(enumerated.cells(shape, stride, offset))),
                "A cell that two elements share is visited twice, and listed twice.",
            ),
            Mistake(
                lambda shape, stride, offset: enumerated.cells(shape, stride, offset) if shape else [],
                "A tensor without dimensions has one element: the product of no sizes is 1.",
            ),
        ),
        hint="Begin with the list [offset], and let each dimension in turn make size steps from every cell in it.",
        read=WRITE,
    )
)


# 3. overlaps ----------------------------------------------------------------------------------------------------------


def _overlaps(shape: Ints, stride: Ints) -> bool:
    visited = enumerated.cells(shape, stride)
    return any(visited.count(cell) > 1 for cell in visited)


overlaps = Check(
    Task(
        name="overlaps",
        parameters=("shape", "stride"),
        visible=(
            Case(((3, 4), (4, 1)), False),
            Case(((3, 4), (0, 1)), True, "expanded: all rows are the same cells"),
            Case(((4, 3), (1, 1)), True, "windows: element (0, 1) is element (1, 0)"),
            Case(((1, 4), (0, 1)), False, "nobody steps along a size of 1"),
            Case(((2, 2), (3, 3)), True, "(0, 1) and (1, 0)"),
            Case(((2, 3), (1, 2)), False, "0 2 4 and 1 3 5: interleaved, and apart"),
            Case(((0, 3), (0, 0)), False, "no element"),
        ),
        reference=_overlaps,
        fresh=ch10_fresh.layouts,
        hidden="fresh layouts, interleaved ones among them",
        mistakes=(
            Mistake(
                lambda shape, stride: _needed(shape, stride, 0) < math.prod(shape),
                "The reach was compared with the number of elements. A view can leave out one cell and visit another "
                "twice: look at the cells themselves.",
            ),
            Mistake(
                lambda shape, stride: 0 in stride and 0 not in shape,
                "Only strides of 0 were looked at. Windows overlap with strides that are not 0. And along a size of 1 "
                "nobody steps, whatever its stride is.",
            ),
            Mistake(
                lambda shape, stride: any(n > 1 and s == 0 for n, s in zip(shape, stride, strict=True)),
                "Only strides of 0 were looked at, as PyTorch does. Windows overlap with strides that are not 0.",
            ),
            Mistake(
                lambda shape, stride: not enumerated.is_contiguous(shape, stride),
                "Not contiguous is something else: a transpose is not, and each of its elements has its own cell.",
            ),
            Mistake(lambda shape, stride: not _overlaps(shape, stride), "True and False are the wrong way round."),
        ),
        hint="Is any cell twice in the walk? A set keeps each cell once.",
        read=REACH,
    )
)


# 4. seen_in -----------------------------------------------------------------------------------------------------------


def _seen_in(a: Geometry, b: Geometry) -> list[int]:
    return [place for place, cell in enumerate(enumerated.cells(*b)) if enumerated.cells(*a).count(cell)]


def _their_cells(a: Geometry, b: Geometry) -> list[int]:
    return sorted(set(enumerated.cells(*a)) & set(enumerated.cells(*b)))


X, ROW, TURNED, LEFT, RIGHT = (
    ((3, 4), (4, 1), 0),
    ((4,), (1,), 4),
    ((4, 3), (1, 4), 0),
    ((3, 2), (4, 1), 0),
    ((3, 2), (4, 1), 2),
)

seen_in = Check(
    Task(
        name="seen_in",
        parameters=("a", "b"),
        visible=(
            Case((ROW, RIGHT), [2, 3], "the right half has two elements of row 1"),
            Case((ROW, TURNED), [1, 4, 7, 10], "the row x[1] is column 1 of the transpose"),
            Case((TURNED, ROW), [0, 1, 2, 3]),
            Case((LEFT, RIGHT), [], "one storage, and no common cell"),
            Case((LEFT, X), [0, 1, 4, 5, 8, 9]),
            Case((((), (), 6), ((4, 3), (1, 1), 4)), [2, 4, 6], "one cell, three elements"),
        ),
        reference=_seen_in,
        fresh=ch10_fresh.pairs,
        hidden="fresh pairs of views",
        mistakes=(
            Mistake(
                _their_cells,
                "These are the common cells. Asked for are the places of b's elements in reading order, from 0.",
            ),
            Mistake(
                lambda a, b: _seen_in(b, a),
                "These are places in a. The write goes through a, and is looked for in b.",
            ),
            Mistake(
                lambda a, b: list(range(math.prod(b[0]))),
                "All of b came back. The two have one storage, but a write changes only the cells that a visits.",
            ),
            Mistake(
                lambda a, b: [
                    place for place, cell in enumerate(enumerated.cells(*b)) if place in enumerated.cells(*a)
                ],
                "A place in b was compared with a's cells. Compare b's cells: the place only says which to report.",
            ),
            Mistake(
                lambda a, b: [enumerated.cells(*b).index(cell) for cell in _their_cells(a, b)],
                "Where a cell has several elements of b, each of them sees the write; and the places go up.",
            ),
        ),
        hint="Walk through b, counting places, and ask of each cell whether a visits it.",
        read=WRITE,
    )
)
