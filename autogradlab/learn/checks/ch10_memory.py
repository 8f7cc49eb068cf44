"""Tasks 5 to 8 of chapter 10's exercise: when memory is shared, copied and written."""

import math

from . import ch10_fresh, enumerated
from .ch03_views import same_view
from .task import Case, Check, Mistake, Raises, Task, identical, same_strides

Ints = tuple[int, ...]
RULE = 'chapter 10, "view, reshape, and the rule between"'
DECIDES = 'chapter 10, "reshape decides for you"'
FILE = 'chapter 10, "What a file holds"'
WRITE = 'chapter 10, "One write, three tensors"'


# 5. flatten -----------------------------------------------------------------------------------------------------------


def _joined(shape: Ints, start: int, end: int) -> Ints:
    dims = list(range(len(shape)))
    first, last = dims[start], dims[end]
    return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def _flatten(shape: Ints, stride: Ints, start: int, end: int) -> tuple[Ints, Ints] | None:
    new = _joined(shape, start, end)
    found = enumerated.view_stride(shape, stride, new)
    return None if found is None else (new, found)


def _with_last_stride(shape: Ints, stride: Ints, start: int, end: int) -> tuple[Ints, Ints]:
    dims = list(range(len(shape)))
    first, last = dims[start], dims[end]
    return _joined(shape, start, end), (*stride[:first], stride[last], *stride[last + 1 :])


def _with_first_stride(shape: Ints, stride: Ints, start: int, end: int) -> tuple[Ints, Ints] | None:
    dims = list(range(len(shape)))
    first, last = dims[start], dims[end]
    found = _flatten(shape, stride, start, end)
    return None if found is None else (found[0], (*stride[: first + 1], *stride[last + 1 :]))


flatten = Check(
    Task(
        name="flatten",
        parameters=("shape", "stride", "start", "end"),
        visible=(
            Case(((2, 3, 4), (12, 4, 1), 0, 1), ((6, 4), (4, 1)), "end is joined too"),
            Case(((2, 3, 4), (24, 4, 1), 1, 2), ((2, 12), (24, 1)), "not contiguous, and yet a view"),
            Case(((2, 3, 4), (24, 4, 1), 0, 2), None, "a gap after each block of 12"),
            Case(((4, 3), (1, 4), 0, -1), None, "a transpose"),
            Case(((3, 1, 4), (4, 99, 1), 0, 2), ((12,), (1,)), "nobody steps along a size of 1"),
            Case(((3, 4), (1, 3), 1, 1), ((3, 4), (1, 3)), "one dimension alone: nothing to join"),
            Case(((4, 3), (0, 0), 0, 1), ((12,), (0,)), "expanded along both"),
        ),
        reference=_flatten,
        fresh=ch10_fresh.flattenings,
        hidden="fresh layouts, sizes of 1, negative dimensions",
        mistakes=(
            Mistake(
                _with_last_stride,
                "The dimensions were joined without a look at their strides. Where they do not lie one inside the "
                "other, the answer is None.",
            ),
            Mistake(
                _with_first_stride,
                "A joined dimension steps from one element to the next: it has the stride of the innermost dimension "
                "(of those that are not of size 1).",
            ),
            Mistake(
                lambda shape, stride, start, end: (
                    _flatten(shape, stride, start, end) if enumerated.is_contiguous(shape, stride) else None
                ),
                "Contiguity was asked for. Only the dimensions that are joined must lie one inside the other.",
            ),
            Mistake(
                lambda shape, stride, start, end: (
                    _flatten(shape, stride, start, list(range(len(shape)))[end] - 1)
                    if list(range(len(shape)))[end] > list(range(len(shape)))[start]
                    else (shape, stride)
                ),
                "The dimension `end` was left out: it is joined too, unlike the end of a slice.",
            ),
            Mistake(
                lambda shape, stride, start, end: None,
                "None says that a copy is needed, and here none is: sizes of 1 and gaps outside of the joined "
                "dimensions do no harm.",
            ),
        ),
        hint="A dimension joins the one before it if that one's stride is its own size times its own stride.",
        read=RULE,
        same=same_view,
    )
)


# 6. reshape -----------------------------------------------------------------------------------------------------------


def _reshape(cells: list, shape: Ints, stride: Ints, offset: int, new_shape: Ints) -> tuple:
    found = enumerated.view_stride(shape, stride, new_shape)
    return _copied(cells, shape, stride, offset, new_shape) if found is None else (cells, found, offset)


def _copied(cells: list, shape: Ints, stride: Ints, offset: int, new_shape: Ints) -> tuple:
    read = [cells[cell] for cell in enumerated.cells(shape, stride, offset)]
    return read, enumerated.contiguous_strides(new_shape), 0


def _unmoved(cells: list, shape: Ints, stride: Ints, offset: int, new_shape: Ints) -> tuple:
    found = enumerated.view_stride(shape, stride, new_shape)
    return cells, enumerated.contiguous_strides(new_shape) if found is None else found, offset


def _in_memory_order(cells: list, shape: Ints, stride: Ints, offset: int, new_shape: Ints) -> tuple:
    made, steps, start = _reshape(cells, shape, stride, offset, new_shape)
    if enumerated.view_stride(shape, stride, new_shape) is None:
        made = [cells[cell] for cell in sorted(enumerated.cells(shape, stride, offset))]
    return made, steps, start


def _same_reshaped(args: tuple, expected: tuple, value: object) -> bool:
    """Strides that nobody walks may differ."""
    if type(value) is not tuple or len(value) != 3 or type(value[1]) is not tuple or len(value[1]) != len(expected[1]):
        return identical(expected, value)
    steps_agree = same_strides(args[4], expected[1], value[1])
    return steps_agree and identical((expected[0], expected[2]), (value[0], value[2]))


CELLS = list(range(100, 112))

reshape = Check(
    Task(
        name="reshape",
        parameters=("cells", "shape", "stride", "offset", "new_shape"),
        visible=(
            Case((CELLS, (3, 4), (4, 1), 0, (2, 6)), (CELLS, (6, 1), 0), "a view: the same cells"),
            Case((CELLS, (2, 4), (4, 1), 4, (8,)), (CELLS, (1,), 4), "the last two rows: a view from cell 4 on"),
            Case((CELLS, (2, 2), (1, 4), 5, (4,)), ([105, 109, 106, 110], (1,), 0), "a turned block: read in order"),
            Case((CELLS, (4, 3), (1, 4), 0, (2, 2, 3)), (CELLS, (2, 1, 4), 0), "a dimension is cut, none is joined"),
            Case((CELLS, (3, 2), (4, 2), 1, (6,)), (CELLS, (2,), 1), "every second cell: one block of step 2"),
            Case((CELLS, (2, 2), (4, 1), 5, (4,)), ([105, 106, 109, 110], (1,), 0), "a block in the middle has gaps"),
            Case((CELLS, (), (), 3, (1, 1)), (CELLS, (1, 1), 3), "one element"),
        ),
        reference=_reshape,
        fresh=ch10_fresh.reshapes,
        hidden="fresh layouts, as many views as copies",
        mistakes=(
            Mistake(
                lambda *args: _reshape(*args) if enumerated.is_contiguous(args[1], args[2]) else _copied(*args),
                "A copy was made because the tensor is not contiguous. Several blocks allow some views too.",
            ),
            Mistake(_copied, "A copy was made although a view exists. reshape copies only where it must."),
            Mistake(
                _unmoved,
                "The old cells came back where no strides lead through them in order: the elements must be copied, in "
                "reading order.",
            ),
            Mistake(
                _in_memory_order,
                "The copy holds the cells as they lie in memory. It must hold the elements in reading order: walk.",
            ),
            Mistake(
                lambda cells, shape, stride, offset, new_shape: (
                    *_reshape(cells, shape, stride, offset, new_shape)[:2],
                    offset,
                ),
                "A copy is a storage of its own, and begins at 0.",
            ),
            Mistake(
                lambda *args: (*_reshape(*args)[:2], 0), "A view keeps its offset: it begins where the tensor began."
            ),
        ),
        hint="Ask the view rule for strides. If there are some: the same cells and offset. If not: walk, and copy.",
        read=DECIDES,
        same=_same_reshaped,
    )
)


# 7. file_bytes --------------------------------------------------------------------------------------------------------


def _file_bytes(storages: list, tensors: list, itemsize: int) -> tuple[int, int]:
    whole = sum(length for n, length in enumerate(storages) if any(n == storage for storage, _ in tensors))
    return whole * itemsize, _cloned(tensors) * itemsize


def _cloned(tensors: list) -> int:
    return sum(len(enumerated.indices(shape)) for _, shape in tensors)


file_bytes = Check(
    Task(
        name="file_bytes",
        parameters=("storages", "tensors", "itemsize"),
        visible=(
            Case(([1000], [(0, (10,))], 4), (4000, 40), "a small slice of a large storage"),
            Case(([1000], [(0, (10,)), (0, (20, 2))], 4), (4000, 200), "one storage, written once"),
            Case(([12], [(0, (3, 4)), (0, (4, 3))], 8), (96, 192), "a matrix and its transpose: cloning doubles"),
            Case(([50, 7, 6], [(2, (6,)), (1, ())], 2), (26, 14), "nobody saves storage 0; one element has shape ()"),
            Case(([5], [(0, (2, 0))], 4), (20, 0), "no element, and yet the storage goes along"),
            Case(([5], [], 4), (0, 0)),
        ),
        reference=_file_bytes,
        fresh=ch10_fresh.files,
        hidden="fresh storages and tensors",
        mistakes=(
            Mistake(
                lambda storages, tensors, itemsize: (
                    sum(storages[n] for n, _ in tensors) * itemsize,
                    _cloned(tensors) * itemsize,
                ),
                "A storage was counted for each tensor that reads it. It is written once.",
            ),
            Mistake(
                lambda storages, tensors, itemsize: (sum(storages) * itemsize, _cloned(tensors) * itemsize),
                "All storages were counted. Only those that a saved tensor reads are written.",
            ),
            Mistake(
                lambda storages, tensors, itemsize: (_cloned(tensors) * itemsize,) * 2,
                "Elements were counted for the first number. A storage is written whole, however little of it is read.",
            ),
            Mistake(
                lambda storages, tensors, itemsize: tuple(
                    n // itemsize for n in _file_bytes(storages, tensors, itemsize)
                ),
                "These are cells. A cell has itemsize bytes.",
            ),
            Mistake(
                lambda storages, tensors, itemsize: _file_bytes(storages, tensors, itemsize)[::-1],
                "The two numbers are the wrong way round: first as they are, then cloned.",
            ),
        ),
        hint="First number: the storages that are read, each once, whole. Second: each tensor's own elements.",
        read=FILE,
    )
)


# 8. run_program -------------------------------------------------------------------------------------------------------


class _Refused(Exception):
    """A step that must raise."""


class _Machine:
    """A program run the long way: every tensor is a list of places in memory, each place a list with one number.

    own_counter: views do not share the counter; sharing_data: .data shares it; old_version: a clone begins with it.
    copying: views copy; shared_clone: clones do not; relative: offsets count from the view.
    """

    def __init__(self, cells: list, **wrong: bool) -> None:
        memory = [[cell] for cell in cells]
        self.wrong = wrong
        self.tensors = [(memory, memory, [0])]  # the storage's places, the tensor's, the counter

    def step(self, name: str, source: int, *rest) -> None:
        memory, places, counter = self.tensors[source]
        wrong = self.wrong
        if name == "view":
            if wrong.get("copying"):
                memory = [list(place) for place in memory]
            shape, stride, offset = rest
            if wrong.get("relative") and places:
                offset += next(n for n, place in enumerate(memory) if place is places[0])
            visited = enumerated.cells(shape, stride, offset)
            if max(visited, default=-1) >= len(memory):
                raise _Refused("the view reaches outside of its storage")
            fresh = [counter[0]] if wrong.get("own_counter") else counter
            self.tensors.append((memory, [memory[cell] for cell in visited], fresh))
        elif name == "clone":
            made = places if wrong.get("shared_clone") else [list(place) for place in places]
            self.tensors.append((made, made, [counter[0] if wrong.get("old_version") else 0]))
        elif name == "data":
            self.tensors.append((memory, places, counter if wrong.get("sharing_data") else [0]))
        else:
            if len({id(place) for place in places}) < len(places):
                raise _Refused("two elements lie in one cell: which would be written?")
            for place in places:
                place[0] += rest[0]
            counter[0] += 1

    def shown(self) -> list:
        return [([place[0] for place in places], counter[0]) for _, places, counter in self.tensors]


def _run(cells: list, steps: list, **wrong: bool) -> list | Raises:
    machine = _Machine(cells, **wrong)
    try:
        for step in steps:
            machine.step(*step)
    except _Refused as error:
        return Raises("RuntimeError", str(error), missed=MISSED[str(error).startswith("two")])
    return machine.shown()


MISSED = {
    True: "An add was carried out although two elements lie in one cell. It must raise RuntimeError: task 3.",
    False: "A view was made that needs more cells than its storage has. It must raise RuntimeError: task 1.",
}


def _visible(cells: list, steps: list, note: str = "") -> Case:
    return Case((cells, steps), _run(cells, steps), note)


def _wrongly(**wrong: bool):
    return lambda cells, steps: _run(cells, steps, **wrong)


TURN = ("view", 0, (2, 2), (1, 2), 0)

run_program = Check(
    Task(
        name="run_program",
        parameters=("cells", "steps"),
        visible=(
            Case(([1, 2, 3, 4], [TURN, ("add", 1, 10)]), [([11, 12, 13, 14], 1), ([11, 13, 12, 14], 1)]),
            Case(([1, 2], [("clone", 0), ("add", 1, 5)]), [([1, 2], 0), ([6, 7], 1)], "a clone has its own memory"),
            Case(([1, 2], [("data", 0), ("add", 1, 5)]), [([6, 7], 0), ([6, 7], 1)], "same memory, other counter"),
            _visible([1, 2, 3, 4], [("add", 0, 1), TURN, ("clone", 1), ("add", 0, 1)], "the clone is of that moment"),
            _visible(
                [1, 2, 3, 4],
                [("view", 0, (2,), (1,), 2), ("view", 1, (1,), (1,), 1), ("add", 2, 7)],
                "offsets count from the storage's beginning",
            ),
            Case(
                ([1, 2, 3], [("view", 0, (2, 2), (1, 1), 0), ("add", 1, 1)]),
                Raises("RuntimeError", "cell 1 has two elements", missed=MISSED[True]),
            ),
            Case(
                ([1, 2, 3], [("view", 0, (2,), (2,), 2)]),
                Raises("RuntimeError", "there is no cell 4", missed=MISSED[False]),
            ),
            _visible([1, 2, 3], [("view", 0, (2, 3), (0, 1), 0)], "reading twice is no harm"),
        ),
        reference=_run,
        fresh=ch10_fresh.programs,
        hidden="fresh programs",
        mistakes=(
            Mistake(_wrongly(copying=True), "A view took a copy of the memory: later writes do not reach it."),
            Mistake(_wrongly(shared_clone=True), "A clone shares memory with its source: it must copy the elements."),
            Mistake(
                _wrongly(own_counter=True),
                "A view counts writes for itself. The counter belongs to the memory: views share it.",
            ),
            Mistake(_wrongly(sharing_data=True), "data shares the memory and not the counter: a new one begins at 0."),
            Mistake(_wrongly(old_version=True), "A clone begins with the version of its source. It is new memory: 0."),
            Mistake(
                _wrongly(relative=True),
                "The offset was counted from where the view began. as_strided counts from the storage's beginning.",
            ),
        ),
        hint="Give each tensor five things: which memory, which counter, shape, stride, offset.",
        read=WRITE,
        raised=(
            ("IndexError", "A cell was read that does not exist: ask task 1 before a view is made."),
            (
                "RuntimeError",
                "A step was refused that can be done. An offset counts from the storage's beginning, and a clone's "
                "storage has the clone's elements, no more; only a write minds overlaps.",
            ),
        ),
    )
)
