"""Tasks 1 to 4 of chapter 02's exercise: what an index says, the view it makes, and whether a write arrives."""

from dataclasses import replace
from typing import Any

from . import ch02_fresh
from . import enumerated_indexing as enumerated
from .enumerated import contiguous_strides
from .enumerated_indexing import Index, Ints
from .task import Case, Check, Mistake, Raises, Task, identical, same_strides

NUMBERS = 'chapter 02, "Numbers and slices"'
WRITING = 'chapter 02, "Reading and writing"'
STEP = Raises("ValueError", "the step of a slice must be at least 1", ("step",))
STEP_0 = replace(STEP, missed="`s.step or 1` makes 1 of a step of 0, since 0 is false. Only None means 1.")

# 1. slice_part --------------------------------------------------------------------------------------------------------


def _part(start: int, stop: int, step: int) -> tuple[int, int, int]:
    return start, len(range(start, stop, step)), step


def _slice_part(s: slice, size: int) -> tuple | Raises:
    if s.step is not None and s.step < 1:
        return STEP
    return _part(*s.indices(size))


def _plain(s: slice, size: int) -> tuple[int, int, int]:
    """The ends where they are given, the whole dimension where not."""
    return (0 if s.start is None else s.start), (size if s.stop is None else s.stop), s.step or 1


def _not_cut(s: slice, size: int) -> tuple:
    start, stop, step = _plain(s, size)
    start, stop = (end + size if end < 0 else end for end in (start, stop))
    return start, max(0, -((start - stop) // step)), step


def _from_the_front(s: slice, size: int) -> tuple:
    start, stop, step = _plain(s, size)
    start, stop = (min(max(end, 0), size) for end in (start, stop))
    return _part(start, stop, step)


def _step_ignored(s: slice, size: int) -> tuple:
    start, stop, step = s.indices(size)
    return start, max(0, stop - start), step


def _rounded_down(s: slice, size: int) -> tuple:
    start, stop, step = s.indices(size)
    return start, max(0, stop - start) // step, step


def _negative_length(s: slice, size: int) -> tuple:
    start, stop, step = s.indices(size)
    return start, -((start - stop) // step), step


slice_part = Check(
    Task(
        name="slice_part",
        parameters=("s", "size"),
        visible=(
            Case((slice(1, 3), 5), (1, 2, 1), "1:3 holds 1 and 2"),
            Case((slice(None), 4), (0, 4, 1), "the whole dimension"),
            Case((slice(1, None, 2), 6), (1, 3, 2), "1, 3 and 5"),
            Case((slice(0, 4, 3), 6), (0, 2, 3), "0 and 3: a step that does not come out even"),
            Case((slice(-2, None), 5), (3, 2, 1), "-2 counts from the end"),
            Case((slice(1, 99), 4), (1, 3, 1), "it takes what is there"),
            Case((slice(-99, 2), 4), (0, 2, 1)),
            Case((slice(7, None), 3), (3, 0, 1), "nothing: it begins at the end"),
            Case((slice(3, 1), 5), (3, 0, 1), "nothing"),
            Case((slice(None, 0), 3), (0, 0, 1), "nothing: it ends where it begins"),
            Case((slice(None, None, -1), 5), STEP),
            Case((slice(None, None, 0), 5), STEP_0),
        ),
        reference=_slice_part,
        fresh=ch02_fresh.slices,
        hidden="fresh slices, ends beyond the dimension, steps that are refused",
        mistakes=(
            Mistake(
                _negative_length,
                "A slice that ends before it begins has no elements: a length is never below 0.",
            ),
            Mistake(
                _rounded_down,
                "The length is rounded down. 0:4 with step 3 holds 0 and 3: each begun step brings an element.",
            ),
            Mistake(
                _step_ignored, "The length does not know of the step: with step 2 it is half of the way, rounded up."
            ),
            Mistake(
                _not_cut,
                "The ends are not cut to the dimension: beyond its end there is nothing, before its beginning neither.",
            ),
            Mistake(
                lambda s, size: _slice_part(slice(s.start or None, s.stop or None, s.step), size),
                "A stop of 0 was taken for one that is missing: 0 is false. Compare with None.",
            ),
            Mistake(
                _from_the_front,
                "A negative end counts from the end of the dimension: add the size first, then cut.",
            ),
        ),
        hint="Fill in what is None, add the size to negative ends, cut both to 0 ... size; then count the steps.",
        read=NUMBERS,
        same=lambda args, expected, value: (
            identical(expected, value)
            or (type(value) is tuple and len(value) == 3 and expected[1] == 0 and identical(expected[1:], value[1:]))
        ),
        raised=(("TypeError", "start, stop and step of a slice may be None: fill them in before you compare."),),
    )
)


# 2. full_index --------------------------------------------------------------------------------------------------------

WHOLE = slice(None)
TOO_MANY = Raises("IndexError", "the index speaks of more dimensions than there are", ("too many indices",))


def _full_index(index: Index, ndim: int) -> Index | Raises:
    return TOO_MANY if enumerated.used(index) > ndim else enumerated.full(index, ndim)


def _one_for_all(index: Index, ndim: int) -> Index:
    index = tuple(WHOLE if entry is ... else entry for entry in index)
    return index + (WHOLE,) * (ndim - enumerated.used(index))


def _none_counts(index: Index, ndim: int) -> Index:
    missing = (WHOLE,) * (ndim - sum(entry is not ... for entry in index))
    index = index if ... in index else (*index, ...)
    place = index.index(...)
    return (*index[:place], *missing, *index[place + 1 :])


def _only_ellipsis(index: Index, ndim: int) -> Index:
    return enumerated.full(index, ndim) if ... in index else index


def _at_the_end(index: Index, ndim: int) -> Index:
    missing = (WHOLE,) * (ndim - enumerated.used(index))
    return (*(entry for entry in index if entry is not ...), *missing)


full_index = Check(
    Task(
        name="full_index",
        parameters=("index", "ndim"),
        visible=(
            Case(((0, 1), 2), (0, 1), "nothing is missing"),
            Case(((0,), 3), (0, WHOLE, WHOLE), "x[0]: what is not mentioned stays whole"),
            Case(((..., 0), 3), (WHOLE, WHOLE, 0), "x[..., 0]"),
            Case(((0, ..., slice(1, 2)), 4), (0, WHOLE, WHOLE, slice(1, 2)), "x[0, ..., 1:2]"),
            Case(((None, 0), 2), (None, 0, WHOLE), "x[None, 0]: None speaks of no dimension of x"),
            Case(((None, ..., None), 1), (None, WHOLE, None)),
            Case(((0, ..., 1), 2), (0, 1), "... stands for no dimension here"),
            Case(((), 1), (WHOLE,), "x[()]"),
            Case(((0, 0, 0), 2), TOO_MANY),
            Case(((..., 0, 0), 1), TOO_MANY),
        ),
        reference=_full_index,
        fresh=ch02_fresh.fillings,
        hidden="fresh indices with and without ..., too many entries",
        mistakes=(
            Mistake(_none_counts, "None was counted as a dimension of x. It makes a new one and uses none up."),
            Mistake(_only_ellipsis, "Dimensions that are not mentioned stay whole, as if the index ended in `...`."),
            Mistake(
                _one_for_all,
                "`...` is not one whole dimension: it stands for as many as are missing, none at all if none is.",
            ),
            Mistake(_at_the_end, "The missing dimensions belong where `...` stands, and not at the end."),
        ),
        hint="Count the entries that are neither None nor ...; the rest of ndim are whole slices, where ... stands.",
        read=NUMBERS,
    )
)


# 3. index_view --------------------------------------------------------------------------------------------------------


def _index_view(index: Index, shape: Ints, stride: Ints, offset: int) -> tuple | Raises:
    if enumerated.used(index) > len(shape):
        return TOO_MANY
    entries = [entry for entry in enumerated.full(index, len(shape)) if entry is not None]
    for entry, size in zip(entries, shape, strict=True):
        if isinstance(entry, slice) and entry.step is not None and entry.step < 1:
            return STEP
        if isinstance(entry, int) and not -size <= entry < size:
            return Raises("IndexError", f"index {entry} in a dimension of size {size}", ("out of bounds",))
    return enumerated.view(index, shape, stride, offset)


def _walk(index: Index, shape: Ints, stride: Ints, offset: int, number, part) -> tuple:
    """The view in which a number and a slice add what these functions say."""
    sizes: list[int] = []
    steps: list[int] = []
    dims = iter(zip(shape, stride, strict=True))
    for entry in enumerated.full(index, len(shape)):
        size, step = (1, 1) if entry is None else next(dims)
        if entry is None:
            sizes.append(1)
            steps.append(1)
        elif isinstance(entry, int):
            offset += number(entry, size, step, sizes, steps)
        else:
            offset += part(_slice_part(entry, size), step, sizes, steps)
    return tuple(sizes), tuple(steps), offset


def _take(entry: int, size: int, step: int, sizes: list, steps: list) -> int:
    return entry % size * step


def _keep(entry: int, size: int, step: int, sizes: list, steps: list) -> int:
    sizes.append(1)
    steps.append(step)
    return _take(entry, size, step, sizes, steps)


def _cut(by_step: bool = True, moved: bool = True, strided: bool = True):
    def part(cut: tuple, step: int, sizes: list, steps: list) -> int:
        start, length, every = cut
        sizes.append(length)
        steps.append(step * every if by_step else step)
        return (start * step if strided else start) if moved else 0

    return part


CUT = _cut()


def _wrong(number=_take, part=CUT):
    return lambda *args: _walk(*args, number, part)


def _without_none(index: Index, shape: Ints, stride: Ints, offset: int) -> tuple:
    return _wrong()(tuple(entry for entry in index if entry is not None), shape, stride, offset)


def _as_contiguous(index: Index, shape: Ints, stride: Ints, offset: int) -> tuple:
    sizes, _, first = _wrong()(index, shape, stride, offset)
    return sizes, contiguous_strides(sizes), first


def _same_view(args: tuple, expected: tuple, value: Any) -> bool:
    if type(value) is not tuple or len(value) != 3 or not identical(expected[0], value[0]):
        return False
    shape, stride, offset = expected
    if type(value[1]) is not tuple or len(value[1]) != len(stride) or type(value[2]) is not int:
        return False
    return same_strides(shape, stride, value[1]) and (0 in shape or offset == value[2])


def _told(text: str, index: Index, *tensor: Any, expected: tuple) -> Case:
    return Case((index, *tensor), expected, text)


MATRIX = ((3, 4), (4, 1), 0)
TURNED = ((4, 3), (1, 4), 2)
index_view = Check(
    Task(
        name="index_view",
        parameters=("index", "shape", "stride", "offset"),
        visible=(
            _told("x[1]", (1,), *MATRIX, expected=((4,), (1,), 4)),
            _told("x[-1, 2]", (-1, 2), *MATRIX, expected=((), (), 10)),
            _told("x[0:2, 1:3]", (slice(0, 2), slice(1, 3)), *MATRIX, expected=((2, 2), (4, 1), 1)),
            _told("x[1:, ::3]", (slice(1, None), slice(None, None, 3)), *MATRIX, expected=((2, 2), (4, 3), 4)),
            _told("x[::2, 1]", (slice(None, None, 2), 1), *MATRIX, expected=((2,), (8,), 1)),
            _told("x[..., 1::2]", (..., slice(1, None, 2)), *MATRIX, expected=((3, 2), (4, 2), 1)),
            _told("x[1:, 2]", (slice(1, None), 2), *TURNED, expected=((3,), (1,), 11)),
            _told("x[:, None, 0]", (WHOLE, None, 0), *MATRIX, expected=((3, 1), (4, 1), 0)),
            _told("x[5:]", (slice(5, None),), *MATRIX, expected=((0, 4), (4, 1), 12)),
            _told("x[()]", (), *MATRIX, expected=MATRIX),
            Case(((3,), *MATRIX), Raises("IndexError", "index 3 in a dimension of size 3", ("out of bounds",))),
            Case(((0, -5), *MATRIX), Raises("IndexError", "index -5 in a dimension of size 4", ("out of bounds",))),
            Case(((0, 0, 0), *MATRIX), TOO_MANY),
            Case(((slice(None, None, -1),), *MATRIX), STEP),
        ),
        reference=_index_view,
        fresh=ch02_fresh.views,
        hidden="fresh indices on fresh layouts, entries that are refused",
        mistakes=(
            Mistake(
                _wrong(number=_keep),
                "A number takes its dimension away; only a slice keeps it, even with one element.",
            ),
            Mistake(
                _wrong(number=lambda entry, size, step, sizes, steps: entry * step),
                "A negative number counts from the end: add the size before you multiply by the stride.",
            ),
            Mistake(
                _wrong(number=lambda entry, size, step, sizes, steps: 0),
                "A number moves the beginning: by index * stride. The dimension goes, the way to it stays.",
            ),
            Mistake(
                _wrong(part=_cut(moved=False)),
                "The slice's start is forgotten: the view begins start * stride cells later.",
            ),
            Mistake(
                _wrong(part=_cut(strided=False)),
                "The offset counts cells: a start of 1 is as many cells as the stride of its dimension says.",
            ),
            Mistake(
                _wrong(part=_cut(by_step=False)),
                "The slice's step is forgotten in the stride: every second element is two strides further.",
            ),
            Mistake(_without_none, "None puts a dimension of size 1 there; here it was passed over."),
            Mistake(
                lambda index, shape, stride, offset: _wrong()(index, shape, stride, 0),
                "The tensor's own offset is forgotten: it may be a view already, which begins later.",
            ),
            Mistake(
                _as_contiguous,
                "These are the strides of a copy. A view walks the same memory: it keeps the tensor's strides, times "
                "the step.",
            ),
        ),
        hint="Go through full_index's entries; a number moves the offset, a slice also gives a size and stride * step.",
        read=NUMBERS,
        same=_same_view,
        raised=(
            ("StopIteration", "None uses up no dimension of x: take the next size and stride only for the others."),
            ("IndexError", "There is no such size or stride. None uses up none: count on only for the other entries."),
        ),
    )
)


# 4. write_reaches -----------------------------------------------------------------------------------------------------


def _last_too(chain: list[Index]) -> bool:
    return enumerated.reaches([*chain, ()])


def _bool_is_int(chain: list[Index]) -> bool:
    return enumerated.reaches([tuple(0 if entry is True or entry is False else entry for entry in i) for i in chain])


def _first_entry(chain: list[Index]) -> bool:
    return enumerated.reaches([index[:1] for index in chain])


def _first_bracket(chain: list[Index]) -> bool:
    return len(chain) == 1 or enumerated.reaches([chain[0], ()])


write_reaches = Check(
    Task(
        name="write_reaches",
        parameters=("chain",),
        visible=(
            Case(([(0, 1)],), True, "x[0, 1] = v"),
            Case(([([0, 1],), (0,)],), False, "x[[0, 1]][0] = v writes into a copy"),
            Case(([(0,), (1,)],), True, "x[0][1] = v: x[0] is a view"),
            Case(([([0, 1],)],), True, "x[[0, 1]] = v: one pair of brackets writes, whatever is in it"),
            Case(([(0,), ([0, 1],)],), True, "x[0][[0, 1]] = v writes through a view"),
            Case(([(slice(1, None), [0, 2]), (0,)],), False, "x[1:, [0, 2]][0] = v: one list is enough for a copy"),
            Case(([(..., None), (slice(None, None, 2),), (0,)],), True, "x[..., None][::2][0] = v"),
            Case(([(0,), ([1],), (0,)],), False, "x[0][[1]][0] = v"),
            Case(([(True,), (0,)],), False, "x[True][0] = v: a mask of one, so a copy"),
            Case(([([True, False],), (0,)],), False, "x[mask][0] = v"),
        ),
        reference=enumerated.reaches,
        fresh=ch02_fresh.chains,
        hidden="fresh chains of one to three brackets",
        mistakes=(
            Mistake(
                _bool_is_int,
                "A bool counts as a number here, since `isinstance(True, int)` is true. As an index it is a mask.",
            ),
            Mistake(
                _last_too,
                "The last brackets were judged as well. They are the write itself, and a write reaches what it is "
                "given, whatever kind of index it uses.",
            ),
            Mistake(_first_bracket, "Only the first brackets were looked at: each that reads may make a copy."),
            Mistake(_first_entry, "Only the first entry of each index was looked at. One list among them is enough."),
            Mistake(
                lambda chain: enumerated.reaches([chain[-1], ()]),
                "Only the last brackets were judged. They write; it is those before that read.",
            ),
            Mistake(
                lambda chain: len(chain) == 1,
                "A chain of two may write as well: x[0][1] = v does, as x[0] is a view.",
            ),
            Mistake(lambda chain: not enumerated.reaches(chain), "The answer is the wrong way round."),
        ),
        hint="All brackets but the last must be views: only numbers, slices, None and ... in them.",
        read=WRITING,
    )
)
