"""Typical wrong solutions of exercise 02: WRONG lists each with its task and the words its check must answer with."""

import itertools

from .ch02_second_way import full_index as filled
from .ch02_second_way import gather as gathered
from .ch02_second_way import index_put as stored
from .ch02_second_way import index_view as viewed
from .ch02_second_way import mask_positions as found_at
from .ch02_second_way import slice_part as part_of


def never_cut(s, size):
    if s.step is not None and s.step < 1:
        raise ValueError("step")
    start, stop, step = s.start or 0, size if s.stop is None else s.stop, s.step or 1
    start, stop = start + size * (start < 0), stop + size * (stop < 0)
    return start, max(0, (stop - start + step - 1) // step), step


def below_zero(s, size):
    if s.step is not None and s.step < 1:
        raise ValueError("step")
    start, stop, step = s.indices(size)
    return start, (stop - start + step - 1) // step, step


def rounded_down(s, size):
    part_of(s, size)
    start, stop, step = s.indices(size)
    return start, max(0, stop - start) // step, step


def ignores_the_step(s, size):
    start, stop, step = s.indices(size)
    return start, max(0, stop - start), step


def negative_is_zero(s, size):
    start, stop, step = s.start or 0, size if s.stop is None else s.stop, s.step or 1
    start, stop = min(max(start, 0), size), min(max(stop, 0), size)
    return start, len(range(start, stop, step)), step


def allows_any_step(s, size):
    picked = range(size)[slice(s.start, s.stop, s.step or 1)]
    return picked.start, len(picked), picked.step


def compares_with_none(s, size):
    start = s.start if s.start >= 0 else s.start + size
    return start, s.stop - start, s.step or 1


def without_ellipsis_only(index, ndim):
    return filled(index, ndim) if ... in index else index


def one_whole_dimension(index, ndim):
    index = tuple(slice(None) if entry is ... else entry for entry in index)
    return index + (slice(None),) * (ndim - sum(entry is not None for entry in index))


def none_is_one_of_them(index, ndim):
    if len([entry for entry in index if entry is not None and entry is not ...]) > ndim:
        raise IndexError("too many indices")
    if ... not in index:
        index = (*index, ...)
    place = index.index(...)
    return index[:place] + (slice(None),) * (ndim - len(index) + 1) + index[place + 1 :]


def at_the_end(index, ndim):
    short = tuple(entry for entry in index if entry is not ...)
    return filled(short, ndim)


def never_too_many(index, ndim):
    index = index if ... in index else (*index, ...)
    place = index.index(...)
    missing = ndim - sum(entry is not None and entry is not ... for entry in index)
    return index[:place] + (slice(None),) * missing + index[place + 1 :]


def _with(change):
    """A view in which this function changes (sizes, steps, offset) of one dimension's entry."""

    def index_view(index, shape, stride, offset):
        viewed(index, shape, stride, offset)  # raises what has to be raised
        sizes, steps, dims = [], [], iter(zip(shape, stride, strict=True))
        for entry in filled(index, len(shape)):
            size, step = (1, 0) if entry is None else next(dims)
            kind = "none" if entry is None else "slice" if isinstance(entry, slice) else "number"
            part = part_of(entry, size) if kind == "slice" else (0, 1, 1) if kind == "none" else (entry % size, 1, 1)
            some, by, on = change(kind, entry, *part, step)
            sizes, steps, offset = sizes + some, steps + by, offset + on
        return tuple(sizes), tuple(steps), offset

    return index_view


def keeps_the_dimension(index, shape, stride, offset):
    return _with(lambda kind, entry, start, length, every, step: ([length], [step * every], start * step))(
        index, shape, stride, offset
    )


def _right(kind, start, length, every, step):
    return ([], [], start * step) if kind == "number" else ([length], [step * every], start * step)


def _once_changed(kind_changed, changed):
    def change(kind, entry, start, length, every, step):
        right = _right(kind, start, length, every, step)
        return changed(entry, start, length, every, step) if kind == kind_changed else right

    return _with(change)


def forgets_the_start(*args):
    return _once_changed("slice", lambda entry, start, length, every, step: ([length], [step * every], 0))(*args)


def counts_elements(*args):
    return _once_changed("slice", lambda entry, start, length, every, step: ([length], [step * every], start))(*args)


def forgets_the_step(*args):
    return _once_changed("slice", lambda entry, start, length, every, step: ([length], [step], start * step))(*args)


def negative_as_it_is(*args):
    return _once_changed("number", lambda entry, start, length, every, step: ([], [], entry * step))(*args)


def passes_over_none(*args):
    return _once_changed("none", lambda entry, start, length, every, step: ([], [], 0))(*args)


def begins_at_zero(index, shape, stride, offset):
    return viewed(index, shape, stride, 0)


def strides_of_a_copy(index, shape, stride, offset):
    sizes, _, first = viewed(index, shape, stride, offset)
    steps, count = [], 1
    for size in reversed(sizes):
        steps.insert(0, count)
        count *= size
    return sizes, tuple(steps), first


def never_out_of_range(index, shape, stride, offset):
    sizes, steps, dims = [], [], iter(zip(shape, stride, strict=True))
    for entry in filled(index, len(shape)):
        if entry is None:
            sizes, steps = [*sizes, 1], [*steps, 0]
            continue
        size, step = next(dims)
        if isinstance(entry, slice):
            start, length, every = part_of(entry, size)
            sizes, steps = [*sizes, length], [*steps, step * every]
        else:
            start = entry % size
        offset += start * step
    return tuple(sizes), tuple(steps), offset


def judges_the_write(chain):
    return not any(isinstance(entry, (list, bool)) for index in chain for entry in index)


def judges_only_the_write(chain):
    return not any(isinstance(entry, (list, bool)) for entry in chain[-1])


def only_the_first_brackets(chain):
    return len(chain) == 1 or not any(isinstance(entry, (list, bool)) for entry in chain[0])


def only_the_first_entry(chain):
    return not any(isinstance(index[0], (list, bool)) for index in chain[:-1])


def bool_is_a_number(chain):
    return not any(isinstance(entry, list) for index in chain[:-1] for entry in index)


def never_through_two(chain):
    return len(chain) == 1


def the_other_way_round(chain):
    return any(isinstance(entry, (list, bool)) for index in chain[:-1] for entry in index)


def places_in_the_list(mask, shape):
    return [n for n, kept in enumerate(mask) if kept]


def first_moves_fastest(mask, shape):
    turned = [index[::-1] for index in itertools.product(*map(range, shape[::-1]))]
    return list(itertools.compress(turned, mask))


def where_it_is_false(mask, shape):
    return found_at([not kept for kept in mask], shape)


def as_lists(mask, shape):
    return [list(index) for index in found_at(mask, shape)]


def as_one_tuple(mask, shape):
    return tuple(found_at(mask, shape))


def flat_list(values, shape, dim, index, index_shape):
    gathered(values, shape, dim, index, index_shape)
    return [values[i] for i in index]


def along_the_other(values, shape, dim, index, index_shape):
    gathered(values, shape, dim, index, index_shape)
    return gathered(values, shape, len(shape) - 1 - dim, index, index_shape)


def unchecked(values, shape, dim, index, index_shape):
    found = []
    for place, i in zip(itertools.product(*map(range, index_shape)), index, strict=True):
        place = (*place[:dim], i, *place[dim + 1 :])
        cell = 0
        for here, size in zip(place, shape, strict=False):
            cell = cell * size + here
        found.append(values[cell])
    return found


def counts_from_the_end(values, shape, dim, index, index_shape):
    return gathered(values, shape, dim, [i + shape[dim] * (i < 0) for i in index], index_shape)


def places_of_the_input(values, shape, dim, index, index_shape):
    gathered(values, shape, dim, index, index_shape)
    return gathered(values, shape, dim, index, (*shape[:dim], shape[dim], *shape[dim + 1 :]))


def raises_index_error(values, shape, dim, index, index_shape):
    if any(not 0 <= i < shape[dim] for i in index):
        raise IndexError("out of bounds")
    return gathered(values, shape, dim, index, index_shape)


def first_only(values, positions, new, accumulate):
    stored(values, positions, new, accumulate)
    return stored(values, positions[: len(new)], new, accumulate)


def reads_before_it_adds(values, positions, new, accumulate):
    result = stored(values, positions, new, False)
    if accumulate:
        for p, v in zip(positions, new * len(positions) if len(new) == 1 else new, strict=True):
            result[p] = values[p] + v
    return result


def always_overwrites(values, positions, new, accumulate):
    return stored(values, positions, new, False)


def writes_into_values(values, positions, new, accumulate):
    values[:] = stored(values, positions, new, accumulate)
    return values


def begins_with_zeros(values, positions, new, accumulate):
    return stored([0] * len(values), positions, new, accumulate)


def only_too_large(values, positions, new, accumulate):
    if max(positions) >= len(values):
        raise IndexError("out of bounds")
    return stored(values, [p % len(values) for p in positions], new, accumulate)


def a_step_of_0_is_1(s, size):
    step = s.step or 1
    if step < 1:
        raise ValueError("step")
    start, stop, step = slice(s.start, s.stop, step).indices(size)
    return start, len(range(start, stop, step)), step


def a_stop_of_0_is_none(s, size):
    if s.step is not None and s.step < 1:
        raise ValueError("step")
    start, stop, step = slice(s.start or None, s.stop or None, s.step).indices(size)
    return start, len(range(start, stop, step)), step


def none_uses_a_dimension(index, shape, stride, offset):
    entries = list(index) + [slice(None)] * (len(shape) - len(index))
    if ... in index:
        place = index.index(...)
        entries = [*index[:place], *[slice(None)] * (len(shape) - len(index) + 1), *index[place + 1 :]]
    sizes, steps = [], []
    for d, entry in enumerate(entries):
        if entry is None:
            sizes.append(1)
            steps.append(1)
        elif isinstance(entry, int):
            offset += entry % shape[d] * stride[d]
        else:
            start, stop, step = entry.indices(shape[d])
            sizes.append(len(range(start, stop, step)))
            steps.append(step * stride[d])
            offset += start * stride[d]
    return tuple(sizes), tuple(steps), offset


def another_number_of_dimensions(values, shape, dim, index, index_shape):
    if any(not 0 <= i < shape[dim] for i in index):
        raise RuntimeError("out of bounds")
    found = []
    for place, i in zip(itertools.product(*map(range, index_shape)), index, strict=True):
        place = list(place)
        place[dim] = i
        cell = 0
        for here, size in zip(place, shape, strict=True):
            cell = cell * size + here
        found.append(values[cell])
    return found


def a_larger_index(values, shape, dim, index, index_shape):
    if len(shape) != len(index_shape):
        raise RuntimeError("dimensions")
    return another_number_of_dimensions(values, shape, dim, index, index_shape)


WRONG = (
    ("slice_part", never_cut, "The ends are not cut to the dimension"),
    ("slice_part", below_zero, "a length is never below 0"),
    ("slice_part", rounded_down, "The length is rounded down"),
    ("slice_part", ignores_the_step, "The length does not know of the step"),
    ("slice_part", negative_is_zero, "A negative end counts from the end"),
    ("slice_part", allows_any_step, "This must raise ValueError: the step of a slice must be at least 1"),
    ("slice_part", compares_with_none, "start, stop and step of a slice may be None"),
    ("full_index", without_ellipsis_only, "Dimensions that are not mentioned stay whole"),
    ("full_index", one_whole_dimension, "`...` is not one whole dimension"),
    ("full_index", none_is_one_of_them, "None was counted as a dimension of x"),
    ("full_index", at_the_end, "The missing dimensions belong where `...` stands"),
    ("full_index", never_too_many, "This must raise IndexError"),
    ("index_view", keeps_the_dimension, "A number takes its dimension away"),
    ("index_view", forgets_the_start, "The slice's start is forgotten"),
    ("index_view", counts_elements, "The offset counts cells"),
    ("index_view", forgets_the_step, "The slice's step is forgotten in the stride"),
    ("index_view", negative_as_it_is, "A negative number counts from the end"),
    ("index_view", passes_over_none, "None puts a dimension of size 1 there"),
    ("index_view", begins_at_zero, "The tensor's own offset is forgotten"),
    ("index_view", strides_of_a_copy, "These are the strides of a copy"),
    ("index_view", never_out_of_range, "This must raise IndexError: index 3 in a dimension of size 3"),
    ("write_reaches", judges_the_write, "The last brackets were judged as well"),
    ("write_reaches", judges_only_the_write, "Only the last brackets were judged"),
    ("write_reaches", only_the_first_brackets, "Only the first brackets were looked at"),
    ("write_reaches", only_the_first_entry, "Only the first entry of each index was looked at"),
    ("write_reaches", bool_is_a_number, "A bool counts as a number here"),
    ("write_reaches", never_through_two, "A chain of two may write as well"),
    ("write_reaches", the_other_way_round, "The answer is the wrong way round"),
    ("mask_positions", places_in_the_list, "These are places in the flat list"),
    ("mask_positions", first_moves_fastest, "Here the first dimension moves fastest"),
    ("mask_positions", where_it_is_false, "These are the positions at which the mask is False"),
    ("mask_positions", as_lists, "a list came back where a tuple is expected"),
    ("mask_positions", as_one_tuple, "a tuple came back where a list is expected"),
    ("gather", flat_list, "The index was used as a place in the flat list"),
    ("gather", along_the_other, "The index was used along the other dimension"),
    ("gather", unchecked, "An index was used before it was checked: the largest is size - 1"),
    ("gather", counts_from_the_end, "Python's lists would count it from the end"),
    ("gather", places_of_the_input, "The places were counted as if the index had the input's shape"),
    ("gather", raises_index_error, "gather raises RuntimeError for one that is not there"),
    ("index_put", first_only, "here it was used for the first alone"),
    ("index_put", reads_before_it_adds, "A place that is named several times was read before anything was added"),
    ("index_put", always_overwrites, "accumulate=True adds to what is there"),
    ("index_put", writes_into_values, "The function changed its argument values"),
    ("index_put", begins_with_zeros, "The places that are not named keep their values"),
    ("index_put", only_too_large, "This must raise IndexError: index -4 in a dimension of size 3"),
    ("slice_part", a_step_of_0_is_1, "makes 1 of a step of 0, since 0 is false"),
    ("slice_part", a_stop_of_0_is_none, "A stop of 0 was taken for one that is missing"),
    ("index_view", none_uses_a_dimension, "None uses up none: count on only for the other entries"),
    ("gather", another_number_of_dimensions, "compare len(index_shape) with len(shape)"),
    ("gather", a_larger_index, "The index is larger than the input in a dimension other than dim"),
)
