"""The gates of the exercises: checks that are right, say the right thing, and cannot be passed by accident."""

import contextlib
import io
import random
import sys

import numpy as np
import pytest
from exercise_gates.ch03_second_way import SECOND_WAY
from exercise_gates.ch03_wrong import WRONG
from hypothesis import given, settings
from hypothesis import strategies as st

from autogradlab import shapes
from autogradlab.course import places
from autogradlab.course.exercises import generate
from autogradlab.course.notebook_text import read
from autogradlab.course.structure import grade_id, is_check, is_solution
from autogradlab.learn.checks import ask, ch03, ch03_fresh, enumerated
from autogradlab.learn.checks.task import Check, CheckFailed, Raises, identical

CHECKS = {check.task.name: check for check in ch03.CHECKS}
EXERCISES = places.exercises("solutions")


def solutions(exercise) -> dict:
    """The functions of the solution notebook."""
    space = {"__name__": "__main__"}
    for cell in read(exercise.source).cells:
        if is_solution(cell):
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
    said = passes(CHECKS[name], solutions(EXERCISES[0])[name])
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
    assert lines[-1].startswith("Read: chapter 03, ")
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


def test_what_to_read_is_there():
    chapter = next((places.course_root() / "notebooks").glob("*/03_*.ipynb"))
    headings = {
        line.lstrip("#").split("  (D1")[0].strip()
        for cell in read(chapter).cells
        for line in cell.source.splitlines()
        if cell.cell_type == "markdown" and line.startswith("#")
    }
    assert {check.task.read.split('"')[1] for check in CHECKS.values()} <= headings


@pytest.mark.parametrize("name", CHECKS)
def test_hidden_cases_are_fresh_and_varied(name):
    task = CHECKS[name].task
    first, second = (task.hidden_cases(random.Random(seed)) for seed in (1, 2))
    assert [case.args for case in first] != [case.args for case in second]
    assert len(first) >= 20
    kinds = {type(case.expected) for case in first} | {case.expected for case in first if case.expected is False}
    if any(isinstance(case.expected, Raises) or case.expected in (None, False) for case in task.visible):
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
    with pytest.raises(CheckFailed, match="of type"):
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
    def talks(shape):
        print("out")
        print("err", file=sys.stderr)
        return SECOND_WAY[0](shape)

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


# Answers as data ------------------------------------------------------------------------------------------------------

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(plain_values)
def test_answers_survive_the_way_to_another_process(value):
    told = ask.read_answers(ask.answers(lambda: value, [()]))[0]
    direct = ask.ask(lambda: value, ())
    assert told.kind == direct.kind and identical(told.value, direct.value)
    if told.kind == "value":
        assert identical(told.value, value)


@pytest.mark.parametrize("text", ["", "[", "5", "{}", '[{"kind": "value"}]', "[[[]]]", '"x"', "[null]"])
def test_an_answer_that_is_none_is_refused(text):
    with pytest.raises(ValueError):
        assert ask.read_answers(text) == []
        raise ValueError("an empty list of answers is told apart by its length")


def test_an_endless_or_huge_answer_is_cut_short():
    loop = []
    loop.append(loop)
    assert ask.ask(lambda: loop, ()).kind == "foreign"
    assert ask.ask(lambda: (0,) * 10**6, ()).kind == "foreign"
    assert len(ask.ask(lambda: 1 / len("x" * 0), ()).text) < 200


# The enumeration that all checks rest on, against NumPy ---------------------------------------------------------------

seeds = st.integers(0, 10**6).map(random.Random)


def array(shape, stride, offset=0):
    return np.lib.stride_tricks.as_strided(np.arange(offset, 5000), shape, [8 * s for s in stride])


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_the_enumeration_agrees_with_numpy(rng):
    shape = ch03_fresh.some_shape(rng)
    stride = ch03_fresh.some_layout(rng, shape)
    x = array(shape, stride)
    assert enumerated.cells(shape, stride) == x.ravel().tolist()
    assert enumerated.contiguous_strides(shape) == tuple(s // 8 for s in np.empty(shape).strides)
    assert enumerated.is_contiguous(shape, stride) == x.flags.c_contiguous
    dims = tuple(rng.sample(range(len(shape)), len(shape)))
    assert enumerated.permute(shape, stride, dims) == (
        x.transpose(dims).shape,
        tuple(s // 8 for s in x.transpose(dims).strides),
    )
    wanted = (2, *(size if size > 1 else 3 for size in shape))
    expanded, steps = enumerated.expand(shape, stride, wanted)
    assert enumerated.cells(expanded, steps) == np.broadcast_to(x, wanted).ravel().tolist()


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_the_enumeration_agrees_with_the_engine(rng):
    for shape, stride, new_shape in ch03_fresh.views(rng)[:6]:
        found = enumerated.view_stride(shape, stride, new_shape)
        engine = shapes.view_strides(shape, stride, new_shape)
        assert (found is None) == (engine is None)
        if found is not None:
            assert enumerated.cells(new_shape, found) == enumerated.cells(new_shape, engine)
