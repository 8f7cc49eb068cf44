"""Typical wrong solutions of exercise 10: WRONG lists each with its task and the words its check must answer with."""

import math

from .ch10_second_way import cells_needed as needed
from .ch10_second_way import file_bytes as bytes_of
from .ch10_second_way import flatten as joined
from .ch10_second_way import reshape as reshaped
from .ch10_second_way import run_program as run
from .ch10_second_way import seen_in as seen
from .ch10_second_way import walk as walked


def number_of_the_last(shape, stride, offset):
    return needed(shape, stride, offset) - 1 if 0 not in shape else 0


def needs_cells_for_nothing(shape, stride, offset):
    return 1 + offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


def from_cell_0(shape, stride, offset):
    return needed(shape, stride, 0)


def counts_elements(shape, stride, offset):
    return offset + math.prod(shape) if 0 not in shape else 0


def a_step_too_many(shape, stride, offset):
    return 1 + offset + sum(n * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0


def walks_from_0(shape, stride, offset):
    return walked(shape, stride, 0)


def first_two_dimensions(shape, stride, offset):
    return walked(shape[:2], stride[:2], offset)


def first_index_fastest(shape, stride, offset):
    cells = [offset]
    for n, s in zip(shape, stride, strict=True):
        cells = [cell + i * s for i in range(n) for cell in cells]
    return cells


def one_after_the_other(shape, stride, offset):
    return list(range(offset, offset + math.prod(shape)))


def sorted_cells(shape, stride, offset):
    return sorted(walked(shape, stride, offset))


def each_cell_once(shape, stride, offset):
    return list(dict.fromkeys(walked(shape, stride, offset)))


def nothing_without_dimensions(shape, stride, offset):
    cells = [] if not shape else [offset]
    for n, s in zip(shape, stride, strict=True):
        cells = [cell + i * s for cell in cells for i in range(n)]
    return cells


def two_dimensions_only(shape, stride, offset):
    (m, n), (s, t) = shape, stride
    return [offset + i * s + j * t for i in range(m) for j in range(n)]


def compares_the_reach(shape, stride):
    return needed(shape, stride, 0) < math.prod(shape)


def looks_for_0(shape, stride):
    return 0 in stride and 0 not in shape


def looks_as_pytorch_does(shape, stride):
    return any(n > 1 and s == 0 for n, s in zip(shape, stride, strict=True)) and 0 not in shape


def not_contiguous(shape, stride):
    return 0 not in shape and walked(shape, stride, 0) != list(range(math.prod(shape)))


def the_wrong_way_round(shape, stride):
    cells = walked(shape, stride, 0)
    return len(set(cells)) == len(cells)


def common_cells(a, b):
    return sorted(set(walked(*a)) & set(walked(*b)))


def places_in_a(a, b):
    return seen(b, a)


def all_of_b(a, b):
    return list(range(math.prod(b[0])))


def places_for_cells(a, b):
    return [place for place in range(math.prod(b[0])) if place in walked(*a)]


def first_place_only(a, b):
    return [walked(*b).index(cell) for cell in common_cells(a, b)]


def joins_anything(shape, stride, start, end):
    start, end = start % len(shape), end % len(shape)
    new = (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])
    return new, (*stride[:start], *stride[end:])


def steps_like_the_outermost(shape, stride, start, end):
    start, end = start % len(shape), end % len(shape)
    found = joined(shape, stride, start, end)
    return found and (found[0], (*stride[: start + 1], *stride[end + 1 :]))


def wants_contiguity(shape, stride, start, end):
    return None if not_contiguous(shape, stride) else joined(shape, stride, start, end)


def leaves_out_the_end(shape, stride, start, end):
    start, end = start % len(shape), end % len(shape)
    return joined(shape, stride, start, end - 1) if end > start else (shape, stride)


def minds_sizes_of_1(shape, stride, start, end):
    start, end = start % len(shape), end % len(shape)
    for d in range(start, end):
        if stride[d] != shape[d + 1] * stride[d + 1]:
            return None
    return joined(shape, stride, start, end)


def laid_out(shape):
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


def always_copies(cells, shape, stride, offset, new_shape):
    return [cells[cell] for cell in walked(shape, stride, offset)], laid_out(new_shape), 0


def never_copies(cells, shape, stride, offset, new_shape):
    made, strides, _ = reshaped(cells, shape, stride, offset, new_shape)
    return cells, strides, offset


def copies_in_memory_order(cells, shape, stride, offset, new_shape):
    made, strides, start = reshaped(cells, shape, stride, offset, new_shape)
    return (made, strides, start) if made == cells else (
        [cells[cell] for cell in sorted(walked(shape, stride, offset))], strides, start
    )  # fmt: skip


def copies_what_is_not_contiguous(cells, shape, stride, offset, new_shape):
    if not_contiguous(shape, stride):
        return always_copies(cells, shape, stride, offset, new_shape)
    return cells, laid_out(new_shape), offset


def copy_with_an_offset(cells, shape, stride, offset, new_shape):
    return (*reshaped(cells, shape, stride, offset, new_shape)[:2], offset)


def view_without_its_offset(cells, shape, stride, offset, new_shape):
    return (*reshaped(cells, shape, stride, offset, new_shape)[:2], 0)


def once_a_tensor(storages, tensors, itemsize):
    return sum(storages[n] for n, _ in tensors) * itemsize, bytes_of(storages, tensors, itemsize)[1]


def all_storages(storages, tensors, itemsize):
    return sum(storages) * itemsize, bytes_of(storages, tensors, itemsize)[1]


def elements_only(storages, tensors, itemsize):
    return (bytes_of(storages, tensors, itemsize)[1],) * 2


def in_cells(storages, tensors, itemsize):
    return bytes_of(storages, tensors, 1)


def cloned_first(storages, tensors, itemsize):
    return bytes_of(storages, tensors, itemsize)[::-1]


def machine(cells, steps, view="", clone="", data="", check=True):
    """The program with one thing wrong."""
    memory, counter = list(cells), [0]
    tensors = [(memory, counter, list(range(len(memory))))]
    for name, source, *rest in steps:
        memory, counter, places = tensors[source]
        if name == "view":
            shape, stride, offset = rest
            offset += places[0] if view == "relative" and places else 0
            if check and needed(shape, stride, offset) > len(memory):
                raise RuntimeError("out of bounds")
            memory = list(memory) if view == "copies" else memory
            counter = [counter[0]] if view == "counts" else counter
            tensors.append((memory, counter, walked(shape, stride, offset)))
        elif name == "clone":
            version = [counter[0] if clone == "version" else 0]
            if clone == "shares":
                tensors.append((memory, version, places))
            else:
                tensors.append(([memory[p] for p in places], version, list(range(len(places)))))
        elif name == "data":
            tensors.append((memory, counter if data == "counts" else [0], places))
        else:
            if check and len(set(places)) < len(places):
                raise RuntimeError("overlap")
            for place in places:
                memory[place] += rest[0]
            counter[0] += 1
    return [([memory[p] for p in places], counter[0]) for memory, counter, places in tensors]


def views_that_copy(cells, steps):
    return machine(cells, steps, view="copies")


def views_that_count(cells, steps):
    return machine(cells, steps, view="counts")


def offsets_from_the_view(cells, steps):
    return machine(cells, steps, view="relative")


def clones_that_share(cells, steps):
    return machine(cells, steps, clone="shares")


def clones_with_a_past(cells, steps):
    return machine(cells, steps, clone="version")


def data_that_counts(cells, steps):
    return machine(cells, steps, data="counts")


def checks_nothing(cells, steps):
    return machine(cells, steps, check=False)


def writes_into_the_call(cells, steps):
    made = run(cells, steps)
    cells[:] = made[0][0]
    return made


WRONG = (
    ("cells_needed", number_of_the_last, "That is the number of the last cell"),
    ("cells_needed", needs_cells_for_nothing, "A size of 0 leaves no element"),
    ("cells_needed", from_cell_0, "The offset is missing"),
    ("cells_needed", counts_elements, "That counts elements"),
    ("cells_needed", a_step_too_many, "A dimension of size n is stepped along n - 1 times"),
    ("walk", first_two_dimensions, "Only the first two dimensions were walked"),
    ("walk", walks_from_0, "The walk begins at the offset"),
    ("walk", first_index_fastest, "The cells are right, their order is not"),
    ("walk", one_after_the_other, "that is a contiguous tensor"),
    ("walk", sorted_cells, "The cells were sorted"),
    ("walk", each_cell_once, "A cell that two elements share is visited twice"),
    ("walk", nothing_without_dimensions, "A tensor without dimensions has one element"),
    ("walk", two_dimensions_only, "let each dimension in turn make size steps"),
    ("overlaps", compares_the_reach, "The reach was compared with the number of elements"),
    ("overlaps", looks_for_0, "along a size of 1 nobody steps"),
    ("overlaps", looks_as_pytorch_does, "Windows overlap with strides that are not 0"),
    ("overlaps", not_contiguous, "Not contiguous is something else"),
    ("overlaps", the_wrong_way_round, "True and False are the wrong way round"),
    ("seen_in", common_cells, "These are the common cells"),
    ("seen_in", places_in_a, "These are places in a"),
    ("seen_in", all_of_b, "a write changes only the cells that a visits"),
    ("seen_in", places_for_cells, "A place in b was compared with a's cells"),
    ("seen_in", first_place_only, "Where a cell has several elements of b"),
    ("flatten", joins_anything, "The dimensions were joined without a look at their strides"),
    ("flatten", steps_like_the_outermost, "it has the stride of the innermost dimension"),
    ("flatten", wants_contiguity, "Contiguity was asked for"),
    ("flatten", leaves_out_the_end, "The dimension `end` was left out"),
    ("flatten", minds_sizes_of_1, "here none is: sizes of 1 and gaps outside"),
    ("reshape", always_copies, "A copy was made although a view exists"),
    ("reshape", never_copies, "The old cells came back where no strides lead through them"),
    ("reshape", copies_in_memory_order, "The copy holds the cells as they lie in memory"),
    ("reshape", copies_what_is_not_contiguous, "A copy was made because the tensor is not contiguous"),
    ("reshape", copy_with_an_offset, "A copy is a storage of its own, and begins at 0"),
    ("reshape", view_without_its_offset, "A view keeps its offset"),
    ("file_bytes", once_a_tensor, "A storage was counted for each tensor that reads it"),
    ("file_bytes", all_storages, "All storages were counted"),
    ("file_bytes", elements_only, "A storage is written whole, however little of it is read"),
    ("file_bytes", in_cells, "A cell has itemsize bytes"),
    ("file_bytes", cloned_first, "The two numbers are the wrong way round"),
    ("run_program", views_that_copy, "A view took a copy of the memory"),
    ("run_program", views_that_count, "A view counts writes for itself"),
    ("run_program", offsets_from_the_view, "as_strided counts from the storage's beginning"),
    ("run_program", clones_that_share, "A clone shares memory with its source"),
    ("run_program", clones_with_a_past, "A clone begins with the version of its source"),
    ("run_program", data_that_counts, "data shares the memory and not the counter"),
    ("run_program", checks_nothing, "An add was carried out although two elements lie in one cell"),
    ("run_program", writes_into_the_call, "The function changed its argument cells"),
)
