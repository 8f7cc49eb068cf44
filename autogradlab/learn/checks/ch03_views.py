"""Tasks 4 to 8 of chapter 03's exercise: other shapes over the same elements."""

import math

from . import ch03_fresh, enumerated
from .task import Case, Check, Mistake, Raises, Task, identical, same_strides

Ints = tuple[int, ...]
SHAPES = 'chapter 03, "The same numbers under another shape"'
VIEW = 'chapter 03, "What view really asks for"'
PERMUTE = 'chapter 03, "Turning dimensions"'
HEADS = 'chapter 03, "The heads of attention"'
EXPAND = 'chapter 03, "Dimensions of size one"'


def same_view(args: tuple, expected: tuple | None, value: object) -> bool:
    """Compare two (shape, stride) pairs."""
    if expected is None or type(value) is not tuple or len(value) != 2 or not identical(expected[0], value[0]):
        return identical(expected, value)
    return type(value[1]) is tuple and same_strides(expected[0], expected[1], value[1])


# 4. permute -----------------------------------------------------------------------------------------------------------


def _permute(shape: Ints, stride: Ints, dims: Ints) -> tuple[Ints, Ints] | Raises:
    names = [d % len(shape) if -len(shape) <= d < len(shape) else None for d in dims] if shape else list(dims)
    if sorted(map(str, names)) != sorted(map(str, range(len(shape)))):
        return Raises("RuntimeError", f"dims must name each of the {len(shape)} dimensions once")
    return enumerated.permute(shape, stride, tuple(names))


permute = Check(
    Task(
        name="permute",
        parameters=("shape", "stride", "dims"),
        visible=(
            Case(((3, 4), (4, 1), (1, 0)), ((4, 3), (1, 4)), "the transpose"),
            Case(((2, 3, 4), (12, 4, 1), (2, 0, 1)), ((4, 2, 3), (1, 12, 4))),
            Case(((2, 128, 8, 64), (65536, 512, 64, 1), (0, 2, 1, 3)), ((2, 8, 128, 64), (65536, 64, 512, 1))),
            Case(((2, 3, 4), (12, 4, 1), (0, -1, -2)), ((2, 4, 3), (12, 1, 4)), "-1 is the last dimension"),
            Case(((2, 3), (3, 1), (0, 0)), Raises("RuntimeError", "dimension 0 is named twice, dimension 1 never")),
            Case(((2, 3), (3, 1), (0, -2)), Raises("RuntimeError", "-2 is dimension 0: it is named twice")),
        ),
        reference=_permute,
        fresh=ch03_fresh.permutations,
        hidden="fresh layouts, negative and repeated dimensions",
        mistakes=(
            Mistake(
                lambda shape, stride, dims: (
                    tuple(shape[d] for d in dims),
                    enumerated.contiguous_strides(tuple(shape[d] for d in dims)),
                ),
                "These are the strides of a copy. A permutation copies nothing: the old strides change places.",
            ),
            Mistake(
                lambda shape, stride, dims: (tuple(shape[d] for d in dims), tuple(stride)),
                "The shape was permuted and the strides were not: each stride goes where its size goes.",
            ),
            Mistake(
                lambda shape, stride, dims: tuple(
                    tuple(values[list(d % len(shape) for d in dims).index(k)] for k in range(len(shape)))
                    for values in (shape, stride)
                ),
                "This is the opposite permutation: dims[d] says where dimension d comes from, not where it goes.",
            ),
        ),
        hint="Dimension d of the result takes its size and its stride from dimension dims[d].",
        read=PERMUTE,
        same=same_view,
    )
)


# 5. expand ------------------------------------------------------------------------------------------------------------


NOT_1 = (
    "A size that is not 1 was changed. Only one number can be repeated without a copy: before a stride becomes 0, ask "
    "whether the old size is 1, and raise RuntimeError if not."
)


def _expand(shape: Ints, stride: Ints, new_shape: Ints) -> tuple[Ints, Ints] | Raises:
    found = enumerated.expand(shape, stride, new_shape)
    return Raises("RuntimeError", f"{shape} cannot be expanded to {new_shape}") if found is None else found


expand = Check(
    Task(
        name="expand",
        parameters=("shape", "stride", "new_shape"),
        visible=(
            Case(((3, 1), (1, 1), (3, 5)), ((3, 5), (1, 0)), "stride 0: the next column is the same column"),
            Case(((1, 4), (4, 1), (3, 4)), ((3, 4), (0, 1)), "stride 0: the next row is the same row"),
            Case(((4,), (1,), (2, 3, 4)), ((2, 3, 4), (0, 0, 1)), "new dimensions come in front"),
            Case(((3, 1), (2, 7), (-1, 6)), ((3, 6), (2, 0)), "-1 keeps the size"),
            Case(
                ((3, 4), (4, 1), (6, 4)),
                Raises("RuntimeError", "only a size of 1 can be expanded, not 3", missed=NOT_1),
            ),
            Case(((3, 4), (4, 1), (4,)), Raises("RuntimeError", "the new shape has fewer dimensions than the old one")),
        ),
        reference=_expand,
        fresh=ch03_fresh.expansions,
        hidden="fresh shapes, new dimensions, -1, shapes that do not fit",
        mistakes=(
            Mistake(
                lambda shape, stride, new_shape: (
                    _expand(shape, stride, new_shape)[0],
                    enumerated.contiguous_strides(_expand(shape, stride, new_shape)[0]),
                ),
                "These are the strides of a copy. Expanding copies nothing: where elements repeat, the step is 0.",
            ),
            Mistake(
                lambda shape, stride, new_shape: (
                    tuple(new_shape),
                    (0,) * (len(new_shape) - len(shape)) + tuple(stride),
                ),
                "A dimension that grew from 1 kept its stride. Its elements are all the same one: the step is 0.",
            ),
            Mistake(
                lambda shape, stride, new_shape: (tuple(new_shape), _expand(shape, stride, new_shape)[1]),
                "A -1 stayed in the shape: it means that the size stays as it is.",
            ),
            Mistake(
                lambda shape, stride, new_shape: (
                    tuple(new_shape),
                    (0,) * (len(new_shape) - len(shape))
                    + tuple(
                        s if n == m else 0 for n, m, s in zip(shape, new_shape[-len(shape) :], stride, strict=True)
                    ),
                ),
                "A -1 was taken for a size that grows. It means that size and stride stay as they are.",
            ),
            Mistake(
                lambda shape, stride, new_shape: (
                    tuple(new_shape),
                    tuple(s if n == m else 0 for n, m, s in zip(shape, new_shape, stride, strict=False))
                    + (0,) * (len(new_shape) - len(shape)),
                ),
                "Shapes are lined up at the left here. As in broadcasting, they are lined up at the right.",
            ),
        ),
        hint="Line the shapes up at the right: a dimension that keeps its size keeps its stride; one that grows has 0.",
        read=EXPAND,
        same=same_view,
    )
)


# 6. infer_shape -------------------------------------------------------------------------------------------------------


REMAINDER = "`//` drops the remainder: ask with `%` whether one is left, and raise RuntimeError."
ZERO = "The known sizes multiply to 0: look for that before you divide by their product, and raise RuntimeError."
NEGATIVE = (
    "Only -1 may stand for a size. Two other negative numbers can multiply to the right one: look for them first."
)


def _infer_shape(new_shape: list[int], numel: int) -> Ints | Raises:
    found = enumerated.infer_shape(tuple(new_shape), numel)
    return Raises("RuntimeError", f"{new_shape} does not fit {numel} elements in one way") if found is None else found


infer_shape = Check(
    Task(
        name="infer_shape",
        parameters=("new_shape", "numel"),
        visible=(
            Case(([3, 4], 12), (3, 4)),
            Case(([-1, 4], 12), (3, 4), "12 elements in rows of 4"),
            Case(([2, -1, 3], 12), (2, 2, 3)),
            Case(([-1], 0), (0,)),
            Case(([5, -1], 12), Raises("RuntimeError", "12 elements cannot be shared out in fives", missed=REMAINDER)),
            Case(([3, 5], 12), Raises("RuntimeError", "3 * 5 is not 12")),
            Case(([-1, -1], 12), Raises("RuntimeError", "only one size can be worked out")),
            Case(([0, -1], 0), Raises("RuntimeError", "every size would fit, so none can be worked out", missed=ZERO)),
            Case(([-2, -6], 12), Raises("RuntimeError", "-2 is no size, although -2 * -6 is 12", missed=NEGATIVE)),
        ),
        reference=_infer_shape,
        fresh=ch03_fresh.sizes,
        hidden="fresh shapes with and without -1, some of which do not fit",
        mistakes=(
            Mistake(
                lambda new_shape, numel: tuple(
                    numel // max(1, -math.prod(new_shape)) if size == -1 else size for size in new_shape
                ),
                "Nothing checks that the sizes multiply to the number of elements.",
            ),
            Mistake(lambda new_shape, numel: tuple(new_shape), "The -1 is still there: work its size out."),
        ),
        hint="Multiply the other sizes; the -1 is numel divided by that, if it divides without remainder.",
        read=SHAPES,
    )
)


# 7. view_stride -------------------------------------------------------------------------------------------------------


def _only_contiguous(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    return enumerated.contiguous_strides(new_shape) if enumerated.is_contiguous(shape, stride) else None


def _number_of_strides(args: tuple, value: object) -> str | None:
    if type(value) is not tuple or len(value) == len(args[2]):
        return None
    return (
        f"{len(args[2])} strides are needed, one for each size of new_shape, a size of 1 too; these are {len(value)}."
    )


view_stride = Check(
    Task(
        name="view_stride",
        parameters=("shape", "stride", "new_shape"),
        visible=(
            Case(((3, 4), (4, 1), (12,)), (1,)),
            Case(((4, 3), (1, 4), (12,)), None, "the transpose would need steps of 1 and of 4 in one dimension"),
            Case(((12,), (2,), (3, 4)), (8, 2), "every other cell, in rows of four"),
            Case(((3, 4), (8, 1), (3, 2, 2)), (8, 2, 1), "the last dimension of a slice can be split"),
            Case(((2, 3, 4), (24, 4, 1), (2, 12)), (24, 1), "the last two dimensions lie one inside the other"),
            Case(
                ((2, 3, 4), (24, 4, 1), (6, 4)), None, "stride 24 is not 3 * 4: there is a gap between the two blocks"
            ),
            Case(((2, 3), (0, 1), (6,)), None, "an expanded dimension repeats its cells"),
            Case(((6, 1), (1, 9), (2, 3)), (3, 1), "the stride of a dimension of size 1 does not matter"),
            Case(((2, 0), (1, 1), (0, 5, 2)), (10, 2, 1), "no elements: three strides, and any will do"),
        ),
        reference=enumerated.view_stride,
        explain=_number_of_strides,
        fresh=ch03_fresh.views,
        hidden="fresh layouts: permuted, sliced, expanded, empty",
        mistakes=(
            Mistake(
                _only_contiguous,
                "This asks whether the tensor is contiguous. A view needs less: "
                "only the dimensions it merges must lie one inside the other.",
            ),
            Mistake(
                lambda shape, stride, new_shape: enumerated.contiguous_strides(new_shape),
                "These are the strides of a contiguous tensor; the elements lie elsewhere. "
                "The old strides decide whether there is a view.",
            ),
            Mistake(
                lambda shape, stride, new_shape: (
                    tuple(stride[-1] * s for s in enumerated.contiguous_strides(new_shape)) if stride else ()
                ),
                "All strides were built from the last one. "
                "Each block of dimensions that lie one inside the other has its own.",
            ),
        ),
        hint="Find the blocks of dimensions that lie one inside the other (stride[d] == shape[d+1] * stride[d+1]); "
        "each block must be used up exactly by new dimensions.",
        read=VIEW,
        same=lambda args, expected, value: (
            same_strides(args[2], expected, value)
            if type(value) is tuple and expected is not None and len(value) == len(expected)
            else identical(expected, value)
        ),
    )
)


# 8. merge_heads -------------------------------------------------------------------------------------------------------


PAIR = "view_stride found no strides, and its None was put into the pair. Where there is no view, return None alone."

merge_heads = Check(
    Task(
        name="merge_heads",
        parameters=("shape", "stride"),
        visible=(
            Case(((2, 4, 6, 8), (192, 8, 32, 1)), ((2, 6, 32), (192, 32, 1)), "just split: a view undoes it"),
            Case(((2, 4, 6, 8), (192, 48, 8, 1)), None, "fresh from attention: heads and head_dim lie apart"),
            Case(((2, 1, 5, 3), (15, 15, 3, 1)), ((2, 5, 3), (15, 3, 1)), "one head: nothing to bring together"),
            Case(((2, 4, 1, 3), (12, 3, 3, 1)), ((2, 1, 12), (12, 12, 1)), "one position: the heads are neighbours"),
        ),
        reference=enumerated.merge_heads,
        fresh=ch03_fresh.heads,
        hidden="fresh sizes, split and contiguous heads",
        mistakes=(
            Mistake(
                lambda shape, stride: (
                    (shape[0], shape[2], shape[1] * shape[3]),
                    enumerated.contiguous_strides((shape[0], shape[2], shape[1] * shape[3])),
                ),
                "A view came back, but one head's numbers lie far from the next head's. "
                "Permute to (batch, seq, heads, head_dim) first; where there is no view then, return None.",
            ),
        ),
        explain=lambda args, value: PAIR if type(value) is tuple and value[1:] == (None,) else None,
        hint="merge_heads stands on your permute and view_stride: permute to (batch, seq, heads, head_dim), then view. "
        "If their checks pass, look at the new shape.",
        read=HEADS,
        same=same_view,
    )
)
