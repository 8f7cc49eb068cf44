"""Each exercise through the whole of grading: the solution, a second right way, a wrong way, and as it came.

(Exercise 03 is graded so, among much else, in test_grading.py.)
"""

import csv
import importlib
import inspect
import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from autogradlab.course import places, submissions
from autogradlab.course.grade import main as grade_main
from autogradlab.course.notebook_text import read, to_bytes
from autogradlab.course.structure import grade_id, is_check, is_solution

EXERCISES = [exercise for exercise in places.exercises("solutions") if exercise.number != "03"]


def test_a_folder_with_files_of_several_exercises(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course_in(tmp_path)))
    folder = tmp_path / "02_class"
    for name in ("ann.ipynb", "Bob_02_indexing.ipynb", "Bob_04_broadcasting.ipynb", "cy/04_broadcasting.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")

    def collected(number, alone):
        exercise = places.find_exercise(number)
        return [one.student for one in submissions.collect(folder, exercise, tmp_path / "kept", alone)]

    assert collected("02", True) == ["Bob", "ann"] and collected("02", False) == ["Bob"]
    assert collected("04", False) == ["Bob", "cy"] and collected("06", False) == []
    (tmp_path / "one").mkdir()
    (folder / "ann.ipynb").rename(tmp_path / "one" / "ann.ipynb")
    assert grade_main(["06", "--from", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "named for other exercises: Bob_02_indexing.ipynb, Bob_04_broadcasting.ipynb, cy" in said
    assert grade_main(["--from", str(tmp_path / "one")]) == 1
    assert "Not taken: ann.ipynb. Its name says no exercise: grade 03 --from" in capsys.readouterr().err


def course_in(folder):
    """A copy of all exercises."""
    for kind in ("exercises", "solutions"):
        shutil.copytree(places.course_root() / kind, folder / kind)
    return folder


def gates(exercise, kind):
    return importlib.import_module(f"exercise_gates.ch{exercise.number}_{kind}")


def answered(exercise, sources):
    """The exercise with these sources in its cells, by the names of the functions."""
    notebook = read(exercise.release)
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = sources.get(grade_id(cell), cell.source)
    return notebook


def solved(exercise):
    return answered(
        exercise, {grade_id(cell): cell.source for cell in read(exercise.source).cells if is_solution(cell)}
    )


def in_a_second_way(exercise):
    module = gates(exercise, "second_way")
    notebook = answered(exercise, {f.__name__: inspect.getsource(f) for f in module.SECOND_WAY})
    notebook.cells.insert(3, nbformat.v4.new_code_cell(inspect.getsource(module)))  # helpers and imports
    return notebook


def in_a_wrong_way(exercise):
    """Every task solved by the first of its typical wrong ways."""
    module = gates(exercise, "wrong")
    way = {name: function for name, function, _ in module.WRONG[::-1]}
    notebook = answered(exercise, {name: f"{name} = {function.__name__}" for name, function in way.items()})
    source = inspect.getsource(module).split("WRONG = (")[0]
    if "from ." in source:  # what it borrows from the second way is pasted above it
        lines = [line for line in source.splitlines() if line.startswith("from .")]
        aliases = [line.split(" import ")[1].split(" as ") for line in lines]
        source = "\n".join(line for line in source.splitlines() if line not in lines)
        names = "\n".join(f"{alias} = {name}" for name, alias in aliases)
        source = f"{inspect.getsource(gates(exercise, 'second_way'))}\n{names}\n{source}"
    notebook.cells.insert(3, nbformat.v4.new_code_cell(source))
    return notebook


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda e: e.slug)
def graded(request, tmp_path_factory):
    """The exercise, the rows of the marks, and the folder of the graded notebooks."""
    exercise, course = request.param, course_in(tmp_path_factory.mktemp("each"))
    handed = {
        "solved": solved(exercise),
        "second": in_a_second_way(exercise),
        "untouched": read(exercise.release),
        "wrong": in_a_wrong_way(exercise),
    }
    (course / "class").mkdir()
    for student, notebook in handed.items():
        (course / "class" / f"{student}.ipynb").write_bytes(to_bytes(notebook))
    run = subprocess.run(
        [sys.executable, "-m", "autogradlab.course", "grade", exercise.number, "--from", "class"],
        env={**os.environ, "AUTOGRADLAB_COURSE": str(course)},
        cwd=course,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    with open(course / "grading" / "marks.csv", encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return exercise, rows, course / "grading" / "autograded"


def errors(graded, student):
    """The kind and words of the error in each check cell; None where there is none."""
    exercise, _, folder = graded
    notebook = nbformat.read(folder / student / exercise.slug / exercise.filename, as_version=4)
    found = {}
    for cell in notebook.cells:
        if is_check(cell):
            output = next((out for out in cell.outputs if out.output_type == "error"), None)
            found[grade_id(cell).removeprefix("check_")] = output and (output.ename, "\n".join(output.traceback))
    return found


@pytest.mark.parametrize("student", ["solved", "second"])
def test_what_is_right_gets_full_marks(graded, student):
    row = graded[1][student]
    assert float(row["score"]) == float(row["max_score"]) > 0, row
    assert set(errors(graded, student).values()) == {None}


def test_the_exercise_as_it_came_gets_nothing_and_says_so_in_every_check(graded):
    assert float(graded[1]["untouched"]["score"]) == 0
    assert {kind for kind, _ in errors(graded, "untouched").values()} == {"NotImplementedError"}


def test_what_is_wrong_gets_nothing_and_its_own_message(graded):
    assert float(graded[1]["wrong"]["score"]) == 0
    words = {name: words for name, _, words in gates(graded[0], "wrong").WRONG[::-1]}
    for name, (kind, message) in errors(graded, "wrong").items():
        assert kind == "CheckFailed" and words[name] in " ".join(message.split()), message
