"""Tasks 1 to 4 of chapter 04's exercise: which shape comes out, and which element is read for it."""

from . import ch04_fresh, enumerated
from . import enumerated_broadcasting as broadcasting
from .task import Case, Check, Mistake, Raises, Task, identical, same_strides

Ints = tuple[int, ...]
RULE = 'chapter 04, "The rule"'
REPEATED = 'chapter 04, "What is repeated, and what is made"'


def filled(shape: Ints, ndim: int, left: bool = True) -> Ints:
    """The shape with ones in front (or behind) until it has ndim dimensions."""
    ones = (1,) * (ndim - len(shape))
    return ones + shape if left else shape + ones


def columns(shapes: tuple[Ints, ...], left: bool = True) -> list[Ints]:
    """The sizes that meet in each dimension."""
    ndim = max(map(len, shapes), default=0)
    return list(zip(*(filled(shape, ndim, left) for shape in shapes), strict=True))


def largest(*shapes: Ints) -> Ints:
    """The common shape, taken to be the largest size of each column."""
    return tuple(max(sizes) for sizes in columns(shapes))


def lined_up_left(*shapes: Ints) -> Ints:
    """The common shape of shapes filled up behind."""
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in columns(shapes, left=False))


def not_filled(*shapes: Ints) -> Ints:
    """The common shape of the dimensions that all shapes have."""
    least = min(map(len, shapes))
    return broadcasting.common(*(shape[len(shape) - least :] for shape in shapes))


LEFT = "Shapes are lined up at the left here. They are lined up at the right: ones are put in front, not behind."
SHORTEST = "The result is as short as the shortest shape: `zip` stops there. Put ones in front of the shorter shapes."
ZERO = "A 1 is repeated until it fits, also 0 times: 0 and 1 give 0. So the larger size is not always the right one."

# 1. broadcast_pair ----------------------------------------------------------------------------------------------------


def _broadcast_pair(a: Ints, b: Ints) -> Ints | Raises:
    wrong = broadcasting.misfit([a, b])
    if wrong is None:
        return broadcasting.common(a, b)
    sizes = " and ".join(map(str, columns((a, b))[wrong]))
    why = f"{sizes} meet in dimension {wrong}, counted from 0 at the left"
    return Raises("RuntimeError", why, (f"dimension {wrong}",))


broadcast_pair = Check(
    Task(
        name="broadcast_pair",
        parameters=("a", "b"),
        visible=(
            Case(((3, 4), (4,)), (3, 4), "(4,) counts as (1, 4)"),
            Case(((4,), (3, 1)), (3, 4), "both are repeated"),
            Case(((8, 1, 6, 1), (7, 1, 5)), (8, 7, 6, 5)),
            Case(((), (2, 3)), (2, 3), "a single number fits everything"),
            Case(((0, 4), (1,)), (0, 4)),
            Case(((0,), (1,)), (0,), "the 1 is repeated 0 times"),
            Case(((3, 4), (3,)), _broadcast_pair((3, 4), (3,))),
            Case(((2, 5, 4), (3, 4)), _broadcast_pair((2, 5, 4), (3, 4))),
        ),
        reference=_broadcast_pair,
        fresh=ch04_fresh.pairs,
        hidden="fresh shapes, sizes of 0 and 1, shapes that do not fit",
        mistakes=(
            Mistake(not_filled, SHORTEST),
            Mistake(largest, ZERO),
            Mistake(lined_up_left, LEFT),
            Mistake(lambda a, b: not_filled(a[::-1], b[::-1])[::-1], SHORTEST),
            Mistake(
                lambda a, b: broadcasting.common(a, b)[::-1],
                "The sizes were collected from the last dimension on: put them back in the order of the shape.",
            ),
        ),
        hint="Put ones in front of the shorter shape; then, in each dimension, keep the size that is not 1.",
        read=RULE,
    )
)


# 2. broadcast_shapes --------------------------------------------------------------------------------------------------


def _broadcast_shapes(*shapes: Ints) -> Ints | Raises:
    found = broadcasting.common(*shapes)
    if found is None:
        return Raises("RuntimeError", "in some dimension two sizes other than 1 meet")
    return found


broadcast_shapes = Check(
    Task(
        name="broadcast_shapes",
        parameters=("*shapes",),
        visible=(
            Case(((3, 4), (4,), (3, 1)), (3, 4)),
            Case(((1, 6), (5, 1, 1), (2, 1)), (5, 2, 6), "each shape brings one size"),
            Case(((2, 3),), (2, 3), "one shape is its own common shape"),
            Case((), (), "no shape at all"),
            Case(((1,), (1, 1), (0, 1)), (0, 1)),
            Case(((1, 1), (2, 1), (3, 1)), Raises("RuntimeError", "2 and 3 meet in dimension 0")),
            Case(((4, 1), (1, 5), (4, 6)), Raises("RuntimeError", "5 and 6 meet in dimension 1")),
        ),
        reference=_broadcast_shapes,
        fresh=ch04_fresh.several,
        hidden="two to five fresh shapes, some of which do not fit",
        mistakes=(
            Mistake(largest, ZERO),
            Mistake(
                lambda *shapes: broadcasting.common(*shapes[:2]),
                "Only the first two shapes were looked at: what they have in common meets the third, and so on.",
            ),
            Mistake(
                lambda *shapes: broadcasting.common(*shapes[-2:]),
                "Only the last two shapes count here: what was found before them has to take part too.",
            ),
            Mistake(not_filled, SHORTEST),
            Mistake(lined_up_left, LEFT),
        ),
        hint="Start with (), which fits everything, and let each shape meet what was found so far (task 1).",
        read=RULE,
    )
)


# 3. broadcast_strides -------------------------------------------------------------------------------------------------

broadcast_strides = Check(
    Task(
        name="broadcast_strides",
        parameters=("shape", "stride", "common"),
        visible=(
            Case(((4,), (1,), (3, 4)), (0, 1), "the next row is the same row"),
            Case(((3, 1), (1, 1), (3, 4)), (1, 0), "the next column is the same column"),
            Case(((4, 3), (1, 4), (2, 4, 3)), (0, 1, 4), "a transposed operand keeps its strides"),
            Case(((3,), (2,), (3,)), (2,), "nothing is repeated"),
            Case(((), (), (2, 2)), (0, 0), "one number everywhere"),
            Case(((2, 1, 3), (3, 3, 1), (2, 5, 3)), (3, 0, 1)),
            Case(((1,), (1,), (0, 4)), (0, 0)),
        ),
        reference=broadcasting.strides,
        fresh=ch04_fresh.readings,
        hidden="fresh shapes and layouts",
        mistakes=(
            Mistake(
                lambda shape, stride, common: enumerated.contiguous_strides(common),
                "These are the strides of a copy that holds every repeated number. Nothing is copied: where a "
                "number is repeated, the step is 0.",
            ),
            Mistake(
                lambda shape, stride, common: (0,) * (len(common) - len(shape)) + tuple(stride),
                "A dimension of size 1 that is repeated kept its stride: its next element is the same one, 0 cells on.",
            ),
            Mistake(
                lambda shape, stride, common: (
                    tuple(0 if size == 1 else step for size, step in zip(shape, stride, strict=True))
                    + (0,) * (len(common) - len(shape))
                ),
                LEFT,
            ),
            Mistake(
                lambda shape, stride, common: tuple(
                    0 if size == 1 else step for size, step in zip(shape, stride, strict=True)
                ),
                "A dimension that was put in front has a stride too, 0: the common shape needs one for each dimension.",
            ),
            Mistake(
                lambda shape, stride, common: broadcasting.strides(shape, enumerated.contiguous_strides(shape), common),
                "These strides belong to a contiguous operand. Where it is not repeated, it keeps the strides it has.",
            ),
        ),
        hint="Line up at the right: what is repeated or put in front has stride 0, any other dimension keeps its own.",
        read=REPEATED,
        same=lambda args, expected, value: (
            same_strides(args[2], expected, value)
            if type(value) is tuple and len(value) == len(expected)
            else identical(expected, value)
        ),
    )
)


# 4. add_lists ---------------------------------------------------------------------------------------------------------


def _in_order(a: list, a_shape: Ints, b: list, b_shape: Ints) -> tuple[Ints, list]:
    """Each list read on and on, from its beginning when it ends."""
    shape = broadcasting.common(a_shape, b_shape)
    count = len(enumerated.indices(shape))
    return shape, [a[n % len(a)] + b[n % len(b)] for n in range(count)]


add_lists = Check(
    Task(
        name="add_lists",
        parameters=("a", "a_shape", "b", "b_shape"),
        visible=(
            Case(([1, 2, 3, 4], (2, 2), [10, 20], (2,)), ((2, 2), [11, 22, 13, 24]), "the row twice"),
            Case(([1, 2, 3, 4], (2, 2), [10, 20], (2, 1)), ((2, 2), [11, 12, 23, 24]), "the column twice"),
            Case(([1, 2, 3], (3,), [10, 20], (2, 1)), ((2, 3), [11, 12, 13, 21, 22, 23]), "a table of all pairs"),
            Case(([5], (), [1, 2], (2,)), ((2,), [6, 7])),
            Case(([7], (1,), [], (0, 3)), ((0, 3), []), "no elements, so nothing is added"),
            Case(([1, 2], (2, 1, 1), [3, 4], (1, 2)), ((2, 1, 2), [4, 5, 5, 6])),
        ),
        reference=broadcasting.add_lists,
        fresh=ch04_fresh.sums,
        hidden="fresh numbers and shapes, empty ones among them",
        mistakes=(
            Mistake(
                _in_order,
                "The lists are read one after the other, from the beginning when they end. That is right for a row; a "
                "column must stay where it is while the row goes on. Use an index and your strides.",
            ),
            Mistake(
                lambda a, a_shape, b, b_shape: (
                    broadcasting.common(a_shape, b_shape),
                    [x + y for x, y in zip(a, b, strict=False)],
                ),
                "The lists are added as they lie, and the shorter one ends the sum. Visit every index of the common "
                "shape and find its cell in each list.",
            ),
            Mistake(
                lambda a, a_shape, b, b_shape: broadcasting.add_lists(a, a_shape, b, b_shape)[1],
                "The numbers are right; return the pair (shape, numbers): without the shape nobody can read them.",
            ),
        ),
        hint="For every index of the common shape: the cell is the sum of index * stride, with task 3's strides.",
        read=REPEATED,
        same=lambda args, expected, value: (
            type(value) is tuple
            and len(value) == 2
            and type(value[1]) in (list, tuple)
            and identical(expected, (value[0], list(value[1])))
        ),
    )
)
