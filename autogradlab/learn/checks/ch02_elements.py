"""Tasks 5 to 7 of chapter 02's exercise: elements chosen one by one, by a mask, by gather, and written by position."""

from typing import Any

from . import ch02_fresh
from . import enumerated_indexing as enumerated
from .enumerated import indices
from .enumerated_indexing import Ints
from .task import Case, Check, Mistake, Raises, Task, identical

MASKS = 'chapter 02, "Masks, lists, and gather"'
GATHER = 'chapter 02, "gather"'
WRITING = 'chapter 02, "Reading and writing"'

# 5. mask_positions ----------------------------------------------------------------------------------------------------


def _flat(mask: list, shape: Ints) -> list:
    return [n for n, kept in enumerate(mask) if kept]


def _columns_first(mask: list, shape: Ints) -> list:
    """The indices counted with the first dimension moving fastest."""
    turned = [index[::-1] for index in indices(shape[::-1])]
    return [index for index, kept in zip(turned, mask, strict=True) if kept]


mask_positions = Check(
    Task(
        name="mask_positions",
        parameters=("mask", "shape"),
        visible=(
            Case(([False, True, True, False, False, True], (2, 3)), [(0, 1), (0, 2), (1, 2)]),
            Case(([False, True, True], (3,)), [(1,), (2,)], "one dimension: tuples of one"),
            Case(([True] * 4, (2, 1, 2)), [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)]),
            Case(([False, False], (2,)), [], "nothing is chosen"),
            Case(([True], ()), [()], "a single number has one position, the empty one"),
            Case(([], (0, 3)), []),
        ),
        reference=enumerated.positions,
        fresh=ch02_fresh.masks,
        hidden="fresh masks of one to three dimensions, empty ones among them",
        mistakes=(
            Mistake(_flat, "These are places in the flat list. A position has a number for each dimension."),
            Mistake(
                _columns_first,
                "Here the first dimension moves fastest. In reading order it is the last one: (0, 0), (0, 1), ...",
            ),
            Mistake(
                lambda mask, shape: [index for index, kept in zip(indices(shape), mask, strict=True) if not kept],
                "These are the positions at which the mask is False.",
            ),
            Mistake(
                lambda mask, shape: indices(shape),
                "These are all positions. The mask says which of them are kept.",
            ),
        ),
        hint="Go through all indices of the shape in reading order, side by side with the mask.",
        read=MASKS,
    )
)


# 6. gather ------------------------------------------------------------------------------------------------------------


DIMENSIONS = (
    "The index has another number of dimensions than the input, and nobody looked: compare len(index_shape) with "
    "len(shape) before the index is used."
)
LARGER = (
    "The index is larger than the input in a dimension other than dim, and nobody looked: compare the two shapes, size "
    "by size, before the index is used."
)
OUTSIDE = (
    "An index was used before it was checked: the largest is size - 1. gather raises RuntimeError for one that is not "
    "there."
)
NEGATIVE = (
    "gather refuses a negative number: this must raise RuntimeError. Python's lists would count it from the end, so "
    "ask before you look."
)


def _gather(values: list, shape: Ints, dim: int, index: list, index_shape: Ints) -> list | Raises:
    if len(index_shape) != len(shape):
        why = f"the index has {len(index_shape)} dimensions, the input {len(shape)}"
        return Raises("RuntimeError", why, missed=DIMENSIONS)
    if any(d != dim and index_shape[d] > shape[d] for d in range(len(shape))):
        why = f"apart from dimension {dim} the index {index_shape} is larger than {shape}"
        return Raises("RuntimeError", why, missed=LARGER)
    if wrong := [i for i in index if not 0 <= i < shape[dim]]:
        why = f"index {wrong[0]} in a dimension of size {shape[dim]}"
        return Raises("RuntimeError", why, ("out of bounds",), missed=NEGATIVE if wrong[0] < 0 else OUTSIDE)
    return enumerated.gather(values, shape, dim, index, index_shape)


def _flat_gather(values: list, shape: Ints, dim: int, index: list, index_shape: Ints) -> list:
    return [values[i] for i in index]


def _other_dim(values: list, shape: Ints, dim: int, index: list, index_shape: Ints) -> list:
    return enumerated.gather(values, shape, len(shape) - 1 - dim, index, index_shape)


def _rows_of_index(values: list, shape: Ints, dim: int, index: list, index_shape: Ints) -> list:
    """The place counted as if the index had the input's sizes."""
    at = dict(zip(indices(shape), values, strict=True))
    places = indices(shape)
    return [at[(*places[n][:dim], i, *places[n][dim + 1 :])] for n, i in enumerate(index)]


def _in_rows(values: list, shape: Ints, dim: int, index: list, index_shape: Ints) -> list:
    return [_gather(values, shape, dim, index, index_shape)]


SCORES = ([10, 11, 12, 20, 21, 22], (2, 3))


def _refused(*args: Any) -> Case:
    return Case(args, _gather(*args))


gather = Check(
    Task(
        name="gather",
        parameters=("values", "shape", "dim", "index", "index_shape"),
        visible=(
            Case((*SCORES, 1, [0, 1, 1, 0], (2, 2)), [10, 11, 21, 20], "two of each row, in any order"),
            Case((*SCORES, 1, [2, 0], (2, 1)), [12, 20], "one of each row: column 2 of row 0, column 0 of row 1"),
            Case((*SCORES, 0, [1, 0, 1], (1, 3)), [20, 11, 22], "along dimension 0: a row for each column"),
            Case((*SCORES, 1, [2, 2, 0, 1], (1, 4)), [12, 12, 10, 11], "longer along dim, and the second row left out"),
            Case(([7, 8, 9], (3,), 0, [2, 2, 0, 1], (4,)), [9, 9, 7, 8]),
            _refused(*SCORES, 1, [3, 0], (2, 1)),
            _refused(*SCORES, 1, [-1, 0], (2, 1)),
            _refused(*SCORES, 1, [2, 0], (2,)),
            _refused(*SCORES, 1, [0, 0, 0], (3, 1)),
        ),
        reference=_gather,
        fresh=ch02_fresh.gathers,
        hidden="fresh inputs of one to three dimensions, indices and shapes that are refused",
        mistakes=(
            Mistake(
                _flat_gather,
                "The index was used as a place in the flat list. It names a position along dim; the other positions "
                "are those of the index's own place.",
            ),
            Mistake(
                _rows_of_index,
                "The places were counted as if the index had the input's shape. Go through the index's own shape.",
            ),
            Mistake(_other_dim, "The index was used along the other dimension."),
            Mistake(
                _in_rows,
                "Return the flat list of the elements, in the reading order of the index.",
            ),
        ),
        hint="For each place of index_shape: that place, with the index's number as its entry dim, and what is there.",
        read=GATHER,
        raised=(
            (
                "IndexError",
                "There is no such place. Put the index's number at entry dim of the place, and count the cell with the "
                "strides of `shape`.",
            ),
        ),
    )
)


# 7. index_put ---------------------------------------------------------------------------------------------------------


def _index_put(values: list, positions: list, new: list, accumulate: bool) -> list | Raises:
    wrong = [p for p in positions if not -len(values) <= p < len(values)]
    if wrong:
        why = f"index {wrong[0]} in a dimension of size {len(values)}"
        return Raises("IndexError", why, ("out of bounds",))
    return [allowed[-1] for allowed in enumerated.put(values, positions, new, accumulate)]


def _any_of_them(args: tuple, expected: list, value: Any) -> bool:
    if type(value) is not list or len(value) != len(expected):
        return False
    allowed = enumerated.put(*args)
    return all(any(identical(x, v) for x in some) for some, v in zip(allowed, value, strict=True))


def _once_each(values: list, positions: list, new: list, accumulate: bool) -> list:
    """values[positions] += new, as arrays do it: read all, add, write all."""
    new = new * len(positions) if len(new) == 1 else new
    result = list(values)
    for p, v in zip(positions, new, strict=True):
        result[p] = values[p] + v if accumulate else v
    return result


def _stops_early(values: list, positions: list, new: list, accumulate: bool) -> list:
    result = list(values)
    for p, v in zip(positions, new, strict=False):
        result[p] = result[p] + v if accumulate else v
    return result


index_put = Check(
    Task(
        name="index_put",
        parameters=("values", "positions", "new", "accumulate"),
        visible=(
            Case(([1, 2, 3], [0, 2], [10, 30], False), [10, 2, 30]),
            Case(([1, 2, 3], [-1], [30], False), [1, 2, 30], "-1 is the last place"),
            Case(([1, 2, 3], [0, 1], [9], False), [9, 9, 3], "one number for all positions"),
            Case(([1, 2, 3], [0, 2], [10, 30], True), [11, 2, 33], "added to what is there"),
            Case(([0, 0, 0], [2, 0, 2, 2], [1], True), [1, 0, 3], "a count: place 2 is named three times"),
            Case(([0, 0, 0], [1, -2, 1], [1, 2, 4], True), [0, 7, 0], "-2 is place 1 as well"),
            Case(([0, 0], [1, 1], [5, 6], False), [0, 6], "or [0, 5]: one of the two stays"),
            Case(([1, 2, 3], [3], [0], False), _index_put([1, 2, 3], [3], [0], False)),
            Case(([1, 2, 3], [0, -4], [0], True), _index_put([1, 2, 3], [0, -4], [0], True)),
        ),
        reference=_index_put,
        fresh=ch02_fresh.puts,
        hidden="fresh positions, named once or several times, and some that are not there",
        mistakes=(
            Mistake(
                _stops_early,
                "One new number is broadcast to all positions; here it was used for the first alone.",
            ),
            Mistake(
                _once_each,
                "A place that is named several times was read before anything was added, so all but one of its "
                "additions are lost. Add to what the additions before have left.",
            ),
            Mistake(
                lambda values, positions, new, accumulate: _index_put(values, positions, new, False),
                "accumulate=True adds to what is there; here it was overwritten.",
            ),
            Mistake(
                lambda values, positions, new, accumulate: _index_put([0] * len(values), positions, new, accumulate),
                "The places that are not named keep their values.",
            ),
        ),
        hint="On a copy of values, go through positions and new side by side, and set or add at each place.",
        read=WRITING,
        same=_any_of_them,
    )
)
