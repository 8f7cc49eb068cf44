"""The gates of the exercises: checks that are right, say the right thing, and cannot be passed by accident."""

import contextlib
import functools
import importlib
import io
import random
import sys

import numpy as np
import pytest

from autogradlab import shapes
from autogradlab.course import places
from autogradlab.course.exercises import generate
from autogradlab.course.notebook_text import read
from autogradlab.course.structure import grade_id, is_check, is_solution
from autogradlab.learn.checks import ask, enumerated
from autogradlab.learn.checks.arrays import Array
from autogradlab.learn.checks.task import Check, CheckFailed, Raises

EXERCISES = places.exercises("solutions")


def of_every_exercise(module: str, name: str) -> list[tuple]:
    """(exercise, item) of the named tuple in each exercise's module."""
    found = []
    for exercise in EXERCISES:
        items = getattr(importlib.import_module(module.format(exercise.number)), name)
        found += [(exercise, item) for item in items]
    return found


ALL_CHECKS = of_every_exercise("autogradlab.learn.checks.ch{}", "CHECKS")
CHECKS = {check.task.name: check for _, check in ALL_CHECKS}
CHAPTER = {check.task.name: exercise.number for exercise, check in ALL_CHECKS}
SECOND_WAY = [function for _, function in of_every_exercise("exercise_gates.ch{}_second_way", "SECOND_WAY")]
WRONG = [entry for _, entry in of_every_exercise("exercise_gates.ch{}_wrong", "WRONG")]


def test_no_two_tasks_have_one_name():
    assert len(CHECKS) == len(ALL_CHECKS)
    assert {function.__name__ for function in SECOND_WAY} == set(CHECKS)


@functools.cache
def solutions(number: str) -> dict:
    """What the cells of a solution notebook define."""
    space: dict = {"__name__": "__main__"}
    for cell in read(places.find_exercise(number).source).cells:
        if cell.cell_type == "code" and not is_check(cell):
            exec(compile(cell.source, grade_id(cell), "exec"), space)
    return space


# The notebooks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.slug)
def test_the_committed_exercise_is_what_its_source_makes(exercise):
    assert exercise.release.read_bytes() == generate(exercise)
    beside = [path.name for path in (*exercise.source.parent.iterdir(), *exercise.release.parent.iterdir())]
    assert beside == [exercise.filename] * 2  # nbgrader hands out whatever lies beside the notebook


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.slug)
def test_the_exercise_holds_no_answer_and_every_task_has_its_parts(exercise):
    cells = read(exercise.release).cells
    text = exercise.release.read_text("utf-8")
    assert "SOLUTION" not in text and "HIDDEN" not in text and ".hidden(" not in text
    tasks = [cell for cell in cells if is_solution(cell)]
    assert 5 <= len(tasks) <= 8
    for task in tasks:
        place = cells.index(task)
        name, prose, ladder = grade_id(task), cells[place - 2].source, cells[place - 1].source
        assert task.source.rstrip().endswith("# Your code here\n    raise NotImplementedError")
        assert is_check(cells[place + 1]) and cells[place + 1].source == f"check.{name}({name})"
        assert "minutes" in prose and "point" in prose and any(w in prose for w in ("easy", "medium", "hard"))
        assert f"{name}(" in prose and "->" in prose  # an example
        steps = ("Symptom", "Idea", "Template")
        assert [ladder.count(f"<summary>{step}</summary>") for step in steps] == [1, 1, 1]
        assert all(len(part.split()) <= 130 for part in ladder.split("<details>"))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.slug)
def test_the_points_of_the_prose_are_those_of_the_cells(exercise):
    cells = read(exercise.source).cells
    points = [cell.metadata.nbgrader.points for cell in cells if is_check(cell)]
    told = [int(c.source.split(" points*")[0].split()[-1]) for c in cells if c.source.startswith("## Task")]
    assert told == points
    assert f"{sum(points)} points" in cells[0].source


# The checks -----------------------------------------------------------------------------------------------------------


def passes(check: Check, function) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        check(function)
        check.hidden(function)
    assert err.getvalue() == ""
    return out.getvalue()


@pytest.mark.parametrize("name", CHECKS)
def test_the_solution_passes(name):
    said = passes(CHECKS[name], solutions(CHAPTER[name])[name])
    count = len(CHECKS[name].task.visible)
    assert said.startswith(f"{count} of {count} visible checks pass. Hidden checks (")
    assert "follow when your instructor grades." in said and "hidden checks pass" in said


@pytest.mark.parametrize("function", SECOND_WAY, ids=lambda f: f.__name__)
def test_a_second_right_way_passes(function):
    for _ in range(5):
        passes(CHECKS[function.__name__], function)


@pytest.mark.parametrize(("name", "function", "words"), WRONG, ids=lambda value: getattr(value, "__name__", ""))
def test_a_typical_wrong_way_is_answered_with_its_cause(name, function, words):
    with pytest.raises(CheckFailed) as caught:
        for _ in range(20):  # what only the hidden checks see, one of them sees
            passes(CHECKS[name], function)
    message = str(caught.value)
    assert words in " ".join(message.split()) or words in message
    lines = message.splitlines()
    assert lines[0].startswith(f"{name}(")
    assert lines[-1].startswith(f"Read: chapter {CHAPTER[name]}, ")
    assert any(line.startswith("  expected  ") for line in lines)
    assert max(map(len, lines)) <= 120


def test_every_task_has_several_typical_mistakes():
    assert all(sum(name == task for name, _, _ in WRONG) >= 2 for task in CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_the_visible_cases_agree_with_the_enumeration(name):
    task = CHECKS[name].task
    for case in task.visible:
        right = task.reference(*case.args)
        if isinstance(case.expected, Raises):
            assert isinstance(right, Raises) and right.error == case.expected.error
        else:
            assert task.same(case.args, case.expected, right)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.slug)
def test_what_to_read_is_there(exercise):
    chapter = next((places.course_root() / "notebooks").glob(f"*/{exercise.number}_*.ipynb"))
    headings = {
        line.lstrip("#").split("  (D")[0].strip()
        for cell in read(chapter).cells
        for line in cell.source.splitlines()
        if cell.cell_type == "markdown" and line.startswith("#")
    }
    told = {check.task.read for name, check in CHECKS.items() if CHAPTER[name] == exercise.number}
    assert {text.split('"')[1] for text in told} <= headings


@pytest.mark.parametrize("name", CHECKS)
def test_hidden_cases_are_fresh_and_varied(name):
    task = CHECKS[name].task
    first, second = (task.hidden_cases(random.Random(seed)) for seed in (1, 2))
    assert [case.args for case in first] != [case.args for case in second]
    assert len(first) >= 20
    kinds = {type(case.expected) for case in first} | {case.expected for case in first if case.expected is False}
    if any(
        isinstance(case.expected, Raises) or case.expected is None or case.expected is False for case in task.visible
    ):
        assert len(kinds) > 1  # what must be refused is among them, as is what must not


class Anything:
    """Claims to be equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None


class AnyMeta(type):
    __eq__ = lambda cls, other: True  # noqa: E731
    __hash__ = type.__hash__


class Pretender(metaclass=AnyMeta):
    """Its class claims to be equal to tuple."""

    def __eq__(self, other):
        return True

    __hash__ = None


class LongTuple(tuple):
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("kind", [Anything, Pretender, LongTuple, lambda: np.int64(4), lambda: 10**5000])
def test_an_object_equal_to_everything_passes_nothing(name, kind):
    with pytest.raises(CheckFailed, match=r"of type|returned  shape \(\), int64: 4"):
        CHECKS[name](lambda *args: kind())


@pytest.mark.parametrize("value", [0, 1, 1.0, True, "", (), [], None, (None,), ((), ())])
@pytest.mark.parametrize("name", CHECKS)
def test_a_constant_passes_nothing(name, value):
    with pytest.raises(CheckFailed):
        CHECKS[name].hidden(lambda *args: value)


def test_the_engine_and_numpy_do_not_count_as_one_s_own_code():
    with pytest.raises(CheckFailed, match=r"called    autogradlab\.shapes"):
        CHECKS["contiguous_strides"](shapes.contiguous_strides)
    with pytest.raises(CheckFailed, match=r"called    autogradlab\.shapes"):
        CHECKS["is_contiguous"](lambda shape, stride: shapes.is_contiguous(shape, stride))
    with pytest.raises(CheckFailed, match="called    numpy"):
        CHECKS["contiguous_strides"](lambda shape: tuple(s // 8 for s in np.empty(shape).strides))
    with pytest.raises(CheckFailed, match="enumerated"):
        CHECKS["view_stride"](lambda *args: enumerated.view_stride(*args))


def test_what_is_imported_inside_the_function_is_found_too():
    """Its first call imports under one name, its second calls under another: that is no unsteadiness."""
    names = iter(["torch", "torch.late"])

    def contiguous_strides(shape):
        space = {"__name__": next(names)}
        exec("def strides(shape): return 1", space)
        return space["strides"](shape)

    with pytest.raises(CheckFailed, match="The work is done by torch; the exercise asks for yours"):
        CHECKS["contiguous_strides"](contiguous_strides)


def test_a_module_that_grading_keeps_away_is_named_as_the_cause():
    def permute(*args):
        raise ModuleNotFoundError("torch is not there while an exercise is graded: it asks for your own code")

    with pytest.raises(CheckFailed, match="a module that does not count; the exercise asks for yours"):
        CHECKS["permute"](permute)


def test_what_a_function_prints_reaches_no_stderr():
    reference = solutions("03")["contiguous_strides"]

    def talks(shape):
        print("out")
        print("err", file=sys.stderr)
        return reference(shape)

    assert "err" in passes(CHECKS["contiguous_strides"], talks)


def test_a_raised_error_is_told_with_its_line():
    def broken(shape):
        return shape[99]

    with pytest.raises(CheckFailed, match=r"raised    IndexError: tuple index out of range\n +line \d+: return shape"):
        CHECKS["contiguous_strides"](broken)


@pytest.mark.parametrize("name", CHECKS)
def test_an_unwritten_function_is_no_failure_but_not_implemented(name):
    def stub(*args):
        raise NotImplementedError

    with pytest.raises(NotImplementedError, match=f"{name} is not written yet"):
        CHECKS[name](stub)


@pytest.mark.parametrize("stop", [SystemExit, RecursionError, MemoryError, GeneratorExit])
def test_a_function_that_ends_python_is_an_answer_like_any_other(stop):
    def ends(shape):
        raise stop("bye")

    with pytest.raises(CheckFailed, match=f"raised    {stop.__name__}: bye"):
        CHECKS["contiguous_strides"](ends)


def test_numpy_counts_only_where_arrays_are_handed_in():
    with pytest.raises(CheckFailed, match="called    numpy"):
        CHECKS["broadcast_pair"](np.broadcast_shapes)
    with pytest.raises(CheckFailed, match=r"called    autogradlab\.shapes"):
        CHECKS["summed_dims"](lambda *args: shapes.summed_dims(*args))
    with pytest.raises(CheckFailed, match=r"called    autogradlab"):
        CHECKS["sum_to_shape"](lambda g, target: shapes.numel(target) and g)
    assert ask.ask(lambda g: g.sum(), (Array("float64", (2,), (1.0, 2.0)),)).value == Array("float64", (), (3.0,))


def test_a_message_shows_arrays_as_one_types_them():
    with pytest.raises(CheckFailed) as caught:
        CHECKS["sum_to_shape"](lambda g, target: g)
    assert str(caught.value).splitlines()[:4] == [
        "sum_to_shape(g, (3,))",
        "  where     g = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])",
        "  returned  shape (2, 3), float64: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
        "  expected  shape (3,), float64: [5.0, 7.0, 9.0]",
    ]


def test_the_functions_of_exercise_06_carry_numbers_that_go_backward():
    make = solutions("06")["Number"]
    x, w = make(2.0, requires_grad=True), make(0.5, requires_grad=True)
    y = (x * w).exp()
    loss = y * y + x
    loss.backward(retain_graph=True)
    right = (2 * w.value * y.value**2 + 1, 2 * x.value * y.value**2)
    assert (x.grad, w.grad) == pytest.approx(right)
    loss.backward()
    assert (x.grad, w.grad) == pytest.approx((2 * right[0], 2 * right[1]))
    assert y.grad is None
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.detach().backward()


def test_a_long_argument_is_told_apart_and_cut_short():
    task = CHECKS["backward"].task
    long = max(task.hidden_cases(random.Random()), key=lambda case: len(repr(case.args)))
    lines = task.complaint(long, ask.Answer("value", [])).splitlines()
    assert lines[0].startswith("backward(graph, root=") and lines[1].startswith("  where     graph = [(")
    assert len(lines) < 25 and max(map(len, lines)) <= 120


def test_what_is_written_into_an_argument_is_part_of_the_answer():
    def step_and_clear(w, grad, lr):
        grad[...] = 0
        return lr

    with pytest.raises(CheckFailed) as caught:
        CHECKS["step_and_clear"](step_and_clear)
    assert str(caught.value).splitlines()[3:6] == [
        "  returned  0.1",
        "            and left w = shape (2,), float64: [1.0, 2.0]",
        "            and left grad = shape (2,), float64: [0.0, 0.0]",
    ]
    given = Array("float64", (2,), (1.0, 2.0), written=True)
    told = ask.read_answers(ask.answers(lambda w: w.fill(7), ask.calls([(given,)]), ("w",)))[0]
    assert told.value == (None, Array("float64", (2,), (7.0, 7.0)))


def test_an_earlier_function_that_is_wrong_is_named():
    space = dict(solutions("02"))
    exec("def full_index(index, ndim):\n    return index", space)
    exec(compile("def index_view(*args):\n    return [full_index(i, 1) for i in args]", "cell", "exec"), space)
    below = r"\nIt calls your full_index, which fails too. Begin there.\nRead: "
    with pytest.raises(CheckFailed, match=below):
        CHECKS["index_view"](space["index_view"])
    space["full_index"] = solutions("02")["full_index"]
    with pytest.raises(CheckFailed) as caught:
        CHECKS["index_view"](space["index_view"])
    assert "Begin there" not in str(caught.value)
