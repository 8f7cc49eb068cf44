"""Tasks 1 to 3 of chapter 03's exercise: where the elements of a tensor lie."""

import math

from . import ch03_fresh, enumerated
from .task import Case, Check, Mistake, Raises, Task

Ints = tuple[int, ...]
STRIDES = 'chapter 03, "One strip of memory"'


def running_products(sizes: list[int]) -> list[int]:
    """1, a, a*b, ... for sizes a, b, ..."""
    return [math.prod(sizes[:d]) for d in range(len(sizes))]


# 1. contiguous_strides ------------------------------------------------------------------------------------------------

contiguous_strides = Check(
    Task(
        name="contiguous_strides",
        parameters=("shape",),
        visible=(
            Case(((3, 4),), (4, 1), "four steps to the next row, one to the next column"),
            Case(((2, 3, 4),), (12, 4, 1)),
            Case(((5,),), (1,)),
            Case(((),), (), "a 0-d tensor has no dimension to walk along"),
            Case(((2, 1, 3),), (3, 3, 1)),
            Case(((3, 0, 2),), (2, 2, 1), "PyTorch counts a size of 0 as 1 here"),
        ),
        reference=enumerated.contiguous_strides,
        fresh=ch03_fresh.shapes,
        hidden="fresh shapes, sizes of 0 and 1",
        mistakes=(
            Mistake(
                lambda shape: tuple(running_products(list(shape))),
                "This is column-major: the first dimension varies fastest. In PyTorch the last one does; start there.",
            ),
            Mistake(
                lambda shape: tuple(running_products(list(shape[::-1]))),
                "The strides were collected from the last dimension on: put them back in the order of the shape.",
            ),
            Mistake(
                lambda shape: tuple(math.prod(shape[d:]) for d in range(len(shape))),
                "Each stride counts its own dimension too. A stride is the product of the sizes after it.",
            ),
            Mistake(
                lambda shape: tuple(math.prod(shape[d + 1 :]) for d in range(len(shape))),
                "A size of 0 made the strides before it 0. PyTorch counts a size of 0 as 1 when it lays out strides.",
            ),
            Mistake(
                lambda shape: tuple(4 * s for s in enumerated.contiguous_strides(shape)),
                "These are bytes of float32. PyTorch's strides count elements (NumPy's count bytes).",
            ),
            Mistake(
                lambda shape: tuple(8 * s for s in enumerated.contiguous_strides(shape)),
                "These are bytes of float64. PyTorch's strides count elements (NumPy's count bytes).",
            ),
        ),
        hint="The last dimension has stride 1; each other stride is the product of the sizes to its right.",
        read=STRIDES,
    )
)


# 2. storage_index -----------------------------------------------------------------------------------------------------


def _storage_index(index: Ints, shape: Ints, stride: Ints, offset: int) -> int | Raises:
    found = enumerated.storage_index(index, shape, stride, offset)
    return Raises("IndexError", "the index lies outside the shape") if found is None else found


storage_index = Check(
    Task(
        name="storage_index",
        parameters=("index", "shape", "stride", "offset"),
        visible=(
            Case(((1, 2), (3, 4), (4, 1), 0), 6, "1 * 4 + 2 * 1"),
            Case(((2, 1), (4, 3), (1, 4), 0), 6, "2 * 1 + 1 * 4: the transpose of the tensor above"),
            Case(((1, 1), (2, 2), (4, 2), 4), 10, "the walk starts at cell 4"),
            Case(((-1, -2), (3, 4), (4, 1), 0), 10, "row 2, column 2"),
            Case(((3, 0), (3, 4), (4, 1), 0), Raises("IndexError", "dimension 0 has the indices 0, 1, 2")),
            Case(((0, -5), (3, 4), (4, 1), 0), Raises("IndexError", "the lowest index of dimension 1 is -4")),
        ),
        reference=_storage_index,
        fresh=ch03_fresh.indices,
        hidden="fresh strides and offsets, negative and impossible indices",
        mistakes=(
            Mistake(
                lambda index, shape, stride, offset: sum(
                    i % n * s for i, n, s in zip(index, shape, stride, strict=True)
                ),
                "The storage offset is missing: the walk starts at cell `offset`.",
            ),
            Mistake(
                lambda index, shape, stride, offset: offset + sum(i * s for i, s in zip(index, stride, strict=True)),
                "A negative index counts from the end: -1 is size - 1. Add the size before multiplying.",
            ),
            Mistake(
                lambda index, shape, stride, offset: (
                    offset
                    + sum(i % n * s for i, n, s in zip(index, shape, enumerated.contiguous_strides(shape), strict=True))
                ),
                "This is the cell in a contiguous tensor. The given strides say how far apart neighbours really lie.",
            ),
        ),
        hint="Start at the offset and add index * stride for each dimension.",
        read=STRIDES,
    )
)


# 3. is_contiguous -----------------------------------------------------------------------------------------------------


is_contiguous = Check(
    Task(
        name="is_contiguous",
        parameters=("shape", "stride"),
        visible=(
            Case(((3, 4), (4, 1)), True),
            Case(((4, 3), (1, 4)), False, "a transpose: neighbours in a row are 4 cells apart"),
            Case(((2, 4), (8, 1)), False, "every other row: cells 4 to 7 are skipped"),
            Case(((3, 1), (1, 9)), True, "nobody takes a step along a dimension of size 1"),
            Case(((2, 0, 3), (5, 5, 5)), True, "no elements, so none is out of place"),
            Case(((2, 3), (0, 1)), False, "both rows are the same three cells"),
            Case(((), ()), True),
        ),
        reference=enumerated.is_contiguous,
        fresh=ch03_fresh.layouts,
        hidden="fresh strides, sizes of 0 and 1, repeated elements",
        mistakes=(
            Mistake(
                lambda shape, stride: True if 0 in shape else stride == enumerated.contiguous_strides(shape),
                "The stride of a dimension of size 1 counts here, and should not: nobody takes a step along it.",
            ),
            Mistake(
                lambda shape, stride: all(
                    n == 1 or s == c
                    for n, s, c in zip(shape, stride, enumerated.contiguous_strides(shape), strict=True)
                ),
                "A tensor without elements is contiguous whatever its strides are; that case comes first.",
            ),
            Mistake(
                lambda shape, stride: list(stride) == sorted(stride, reverse=True),
                "Falling strides that end in 1 are not enough: each must be size times stride of the dimension behind.",
            ),
        ),
        hint="Go from the last dimension to the first and compare each stride with the number of elements after it.",
        read=STRIDES,
    )
)
