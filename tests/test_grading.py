"""Grading: good, wrong, broken and hostile submissions in one run, and what is left when a run is cut short."""

import csv
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import psutil
import pytest
from exercise_gates.submissions import FULL, POINTS, Handed, good, one, untouched
from hostile_class import of_the_class
from nbgrader.api import Gradebook

from autogradlab import files
from autogradlab.course import cage, gradebook, places, submissions
from autogradlab.course.grade import _as_text
from autogradlab.course.grade import main as grade_main
from autogradlab.course.notebook_text import Unreadable, parse
from autogradlab.course.structure import grade_id, is_check

SLUG, ISOLATION = "03_shapes_and_strides", cage.strongest()
HANDED = of_the_class(ISOLATION)
POSIX = os.name == "posix"


def make_course(folder: Path) -> Path:
    """A copy of the part of the course that grading needs, with one exercise."""
    for kind in ("exercises", "solutions"):
        shutil.copytree(places.course_root() / kind, folder / kind, ignore=all_others)
    return folder


def all_others(folder: str, names: list[str]) -> list[str]:
    """The other exercises' folders."""
    return [name for name in names if name[:2].isdigit() and not name.startswith(SLUG)]


def grade(course: Path, *options: str, limit: int | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "autogradlab.course", "grade", *options]
    if limit is not None:
        command = ["bash", "-c", f'ulimit -f {limit} && exec "$@"', "-", *command]
    env = {**os.environ, "AUTOGRADLAB_COURSE": str(course)}
    return subprocess.run(command, env=env, cwd=course, capture_output=True, text=True, timeout=300, check=False)


def put(folder: Path, student: str, handed: Handed) -> None:
    for name, data in handed.files.items():
        path = folder / f"{student}{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def book(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}")


def marks(course: Path) -> dict[str, dict]:
    with open(course / "grading" / "marks.csv", encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course after one grading of everything, and what was printed."""
    course = make_course(tmp_path_factory.mktemp("graded"))
    for student, handed in HANDED.items():
        put(course / "class", student, handed)
    run = grade(course, "--from", "class", "--cell-seconds", "2", "--seconds", "20", "--disk", "20", "--jobs", "3")
    return course, run


@pytest.mark.parametrize("student", HANDED)
def test_each_submission_has_its_mark_and_its_reason(graded, student):
    course, _ = graded
    handed, row = HANDED[student], marks(course)[student]
    assert (float(row["score"]), float(row["max_score"])) == (handed.score, FULL)
    assert bool(row["reason"]) != handed.graded
    assert handed.words in row["reason"] + row["notes"]


@pytest.mark.parametrize("student", HANDED)
def test_each_student_gets_feedback(graded, student):
    course, _ = graded
    page = (course / "grading" / "feedback" / student / SLUG / f"{SLUG}.html").read_text("utf-8")
    assert "<script" not in page.lower() or "default-src 'none'" in page
    assert "HIDDEN" not in page and ".hidden(" not in page
    if HANDED[student].graded:
        assert "check_contiguous_strides" in page or "contiguous_strides" in page
        assert "Test cell" not in page and "Task 8: merge_heads</a>" in page and "summary { display: list-item" in page
    else:
        assert "could not be graded" in page and "course.py check 03" in page and "JupyterLab" not in page


def test_what_is_printed(graded):
    _, run = graded
    assert run.returncode == 1  # some could not be graded
    assert run.stderr == ""
    assert len(run.stdout.splitlines()) == len(HANDED) + 5
    assert cage.SAID[ISOLATION] in run.stdout
    assert all(char.isprintable() or char == "\n" for char in run.stdout)
    assert "Traceback" not in run.stdout
    assert [line.split(" of ")[0].strip() for line in run.stdout.splitlines()[1:-4]] == [
        str(n) for n in range(1, len(HANDED) + 1)
    ]
    assert max(map(len, run.stdout.splitlines())) < 190


def test_the_gradebook_is_nbgrader_s_and_agrees(graded):
    course, _ = graded
    with book(course) as gradebook_:
        assert {cell.name: cell.max_score for cell in gradebook_.find_notebook(SLUG, SLUG).grade_cells} == {
            f"check_{name}": points for name, points in POINTS.items()
        }
        for student, handed in HANDED.items():
            assert gradebook_.find_submission(SLUG, student).score == handed.score


def test_in_the_untouched_exercise_every_check_fails_for_not_implemented(graded):
    course, _ = graded
    cells = read_graded(course, "untouched").cells
    errors = [cell.outputs[0].ename for cell in cells if is_check(cell)]
    assert errors == ["NotImplementedError"] * len(POINTS)


def read_graded(course: Path, student: str):
    return nbformat.read(course / "grading" / "autograded" / student / SLUG / f"{SLUG}.ipynb", as_version=4)


def test_feedback_holds_the_message_of_the_check(graded):
    course, _ = graded
    page = (course / "grading" / "feedback" / "anything" / SLUG / f"{SLUG}.html").read_text("utf-8")
    assert "contiguous_strides((3, 4))" in page and "Read: chapter 03" in page


def test_no_process_is_left_behind(graded):
    course, _ = graded
    left = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        home = (process.info["environ"] or {}).get("PYTHONPATH", "")
        if "autogradlab-grading-" in home and process.is_running():
            left.append(process.info["cmdline"])
    assert left == []


def test_grading_again_changes_nothing(graded, monkeypatch, capsys):
    course, _ = graded
    before, folder = marks(course), course / "grading"
    for student in ("kills_its_grader", "spoils_its_gradebook"):
        if HANDED[student].graded:
            continue
        # it would be tried again
        shutil.rmtree(folder / "handed_in" / student)
    stamps = {path: path.stat().st_mtime_ns for path in folder.glob("*/*/*/*.ipynb")}
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course))
    grade_main([])
    assert capsys.readouterr().err == ""
    assert marks(course) == before
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/*/*/*.ipynb")} == stamps


def test_a_broken_file_later_does_not_take_the_mark_away(graded, monkeypatch, capsys):
    course, _ = graded
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course))
    put(course / "two", "good", Handed({".ipynb": b"{"}, 0))
    assert grade_main(["--from", str(course / "two")]) == 1
    row = marks(course)["good"]
    assert float(row["score"]) == FULL
    assert "not valid JSON" in row["reason"] and "an earlier submission" in row["notes"]
    assert len(marks(course)) == len(HANDED)  # the rows of the others are still there


# Cut short ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not POSIX, reason="ulimit and SIGKILL")
def test_a_grading_that_is_cut_short_is_told_and_goes_on_where_it_stopped(tmp_path):
    course = make_course(tmp_path)
    for student in ("ann", "bea"):
        put(course / "class", student, Handed(one(good()), FULL))
    for kilobytes, words in ((8, "could not write"), (100, "gradebook")):
        run = grade(course, "--from", "class", limit=kilobytes)
        assert run.returncode == 1 and run.stderr.startswith("grade: ") and words in run.stderr
        assert len(run.stderr.splitlines()) == 1
    command = [sys.executable, "-m", "autogradlab.course", "grade", "--from", "class", "--jobs", "1"]
    env = {**os.environ, "AUTOGRADLAB_COURSE": str(course)}
    with subprocess.Popen(command, env=env, cwd=course, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            if "ann" in line:
                break
        running.send_signal(signal.SIGKILL)
    records = {path.name: path.stat().st_mtime_ns for path in (course / "grading" / "results" / SLUG).iterdir()}
    assert list(records) == ["ann.json"]
    run = grade(course, "--from", "class")
    assert (run.returncode, run.stderr) == (0, "")
    assert {row["score"] for row in marks(course).values()} == {f"{FULL}.0"}
    assert (course / "grading" / "results" / SLUG / "ann.json").stat().st_mtime_ns == records["ann.json"]


def test_two_gradings_at_a_time_are_refused(tmp_path, monkeypatch, capsys):
    course = make_course(tmp_path)
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course))
    put(course / "class", "ann", Handed(one(good()), FULL))
    held = files.lock(course / "grading" / "grading.lock")
    os.write(held, str(os.getpid()).encode())
    assert grade_main(["--from", str(course / "class")]) == 1
    assert f"another grading runs here already (process {os.getpid()})" in capsys.readouterr().err
    os.close(held)
    assert files.lock(course / "grading" / "grading.lock") is not None  # whoever held it is gone


# What is kept apart ---------------------------------------------------------------------------------------------------


def test_without_isolation_a_grader_that_is_killed_costs_that_submission_alone(tmp_path):
    course = make_course(tmp_path)
    put(course / "class", "ann", Handed(one(good()), FULL))
    put(course / "class", "bob", of_the_class("none")["kills_its_grader"])
    run = grade(course, "--from", "class", "--isolation", "none")
    assert "Not apart: a submission runs as you do" in run.stdout
    assert float(marks(course)["ann"]["score"]) == FULL
    assert "grading it ended unexpectedly" in marks(course)["bob"]["reason"]


@pytest.mark.parametrize("level", ["bubblewrap", "namespaces"])
def test_a_level_that_does_not_work_here_is_refused(monkeypatch, level):
    monkeypatch.setenv("PATH", "/nowhere")
    assert cage.strongest() == "none"
    with pytest.raises(places.Stop, match=f"--isolation {level} does not work here"):
        cage.strongest(level)


@pytest.mark.skipif(ISOLATION == "none", reason="this system keeps nothing apart")
@pytest.mark.parametrize("level", cage.LEVELS[cage.LEVELS.index(ISOLATION) : 2])
def test_what_runs_apart_has_no_network_and_no_other_process(tmp_path, level):
    code = "import psutil; print(len(psutil.pids()), *psutil.net_io_counters(pernic=True))"
    done = subprocess.run(cage.command(level, [sys.executable, "-c", code], tmp_path, tmp_path), text=True,
                          capture_output=True, timeout=60, check=True)  # fmt: skip
    count, *interfaces = done.stdout.split()
    assert int(count) <= 2 and set(interfaces) <= {"lo"}


@pytest.mark.skipif(ISOLATION != "bubblewrap", reason="needs bubblewrap")
def test_under_bubblewrap_only_its_own_folder_can_be_written_to(tmp_path):
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir(), other.mkdir()
    code = f"""
import os
open("here", "w").write("x")
for path in ("/usr/x", {str(other / "x")!r}, {sys.prefix + "/x"!r}, {str(Path.home() / "x")!r}):
    try:
        open(path, "w")
        print("could write", path)
    except OSError:
        pass
print(os.path.exists({str(places.course_root() / "solutions")!r}), os.path.exists({str(other)!r}))
"""
    program = cage.command("bubblewrap", [sys.executable, "-c", code], own, tmp_path / "own")
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False False\n" and (own / "here").exists() and not list(other.iterdir())


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("99",), "there is no exercise '99'. The exercises are:\n    03  03_shapes_and_strides"),
        (("--from", "nowhere"), "there is no folder nowhere"),
        (("--jobs", "0", "03"), "are numbers above 0"),
        (("--memory", "-1", "03"), "are numbers above 0"),
        (("03", "--from", "class", "--db", "nonsense"), "'nonsense' is no database URL"),
        (("03", "--from", "class", "--db", "sqlite:////no/such/folder/x.db"), "cannot be used: unable to open"),
        (("03", "--from", "class", "--db", "postgresql+nodriver://me:secret@host/x"), "me:***@host/x cannot be used"),
    ],
)
def test_bad_input_is_told_in_one_line(tmp_path, monkeypatch, capsys, options, words):
    course = make_course(tmp_path)
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course))
    monkeypatch.chdir(course)
    put(course / "class", "ann", Handed({".ipynb": b""}, 0))
    assert grade_main(list(options)) == 1
    said = capsys.readouterr().err
    assert said.startswith("grade: ") and words in said and "secret" not in said


def test_nothing_handed_in(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(make_course(tmp_path)))
    assert grade_main([]) == 0
    assert capsys.readouterr().out == "Exercise 03: nothing was handed in.\n"


@pytest.fixture
def held(tmp_path, monkeypatch):
    """A gradebook with the exercise and ann's marks."""
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(make_course(tmp_path)))
    held = gradebook.Book(places.find_exercise("03"), submissions.grading_folder(), None)
    held.enter_exercise()
    held.store("ann", datetime.now(UTC), {"check_permute": 2.0}, {})
    return held


def test_an_exercise_whose_tasks_changed_under_its_marks(held):
    """nbgrader refuses to mix; the message says what to do, and the marks stay."""
    source = held.exercise.source
    source.write_text(source.read_text("utf-8").replace('"check_permute"', '"check_permutation"'), "utf-8")
    with pytest.raises(places.Stop, match="other tasks now than when this gradebook first saw it"):
        held.enter_exercise()
    assert held.marks("ann")[0] == 2.0


def test_a_manual_mark_stays_and_asks_for_another_look(held):
    with Gradebook(held.db_url) as gradebook_:
        gradebook_.find_grade("check_expand", SLUG, SLUG, "ann").manual_score = 1.5
        gradebook_.db.commit()
    held.store("ann", datetime.now(UTC), {"check_permute": 2.0, "check_expand": 3.0}, {})
    assert held.marks("ann")[0] == 3.5
    with Gradebook(held.db_url) as gradebook_:
        assert gradebook_.find_grade("check_expand", SLUG, SLUG, "ann").needs_manual_grade


def test_no_mark_exceeds_its_task(held):
    held.store("ann", datetime.now(UTC), {"check_permute": 1000.0}, {})
    assert held.marks("ann")[0] == 2.0


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b'{"cells": 5}', b'{"cells": [{"source": 5}]}', b"\xff"])
def test_what_is_no_notebook_has_a_sentence(data):
    with pytest.raises(Unreadable, match="^the file|^a cell"):
        parse(data)


def test_check_cells_are_named_after_their_functions():
    assert [grade_id(cell) for cell in untouched().cells if is_check(cell)] == [f"check_{name}" for name in POINTS]


def test_a_file_named_by_a_time_makes_no_student_up(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(make_course(tmp_path)))
    put(tmp_path / "class", "20261129T193334.061477Z", Handed(one(good()), FULL))
    assert grade_main(["03", "--from", str(tmp_path / "class")]) == 1
    out, err = capsys.readouterr()
    assert "Not taken: 20261129T193334.061477Z.ipynb. Its name is a time" in err and "nothing was handed in" in out


def test_what_is_collected_from_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(make_course(tmp_path)))
    exercise, folder = places.find_exercise("03"), tmp_path / "class"
    for name in (
        "Ann Lee.ipynb",
        "Ann_Lee.ipynb",
        f"{SLUG}_bob.ipynb",
        f"cy/{SLUG}/{SLUG}.ipynb",
        "list.csv",
        ".x.ipynb",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    (folder / "huge.ipynb").write_bytes(b" " * 21_000_000)
    found = {one.student: one for one in submissions.collect(folder, exercise, tmp_path / "kept")}
    assert sorted(found) == ["Ann_Lee", "Ann_Lee-2", "bob", "cy", "huge"]
    assert "graded as Ann_Lee-2" in found["Ann_Lee-2"].problem
    assert found["huge"].path is None and "it has 21 MB" in found["huge"].problem
    assert [found[name].path.read_bytes() for name in ("Ann_Lee", "cy")] == [
        b"Ann Lee.ipynb",
        f"cy/{SLUG}/{SLUG}.ipynb".encode(),
    ]


@pytest.mark.skipif(not POSIX, reason="links, pipes and devices")
def test_what_is_no_plain_file_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(make_course(tmp_path)))
    folder = tmp_path / "class"
    put(folder, "ann", Handed(one(good()), FULL))
    (folder / "link.ipynb").symlink_to(folder / "ann.ipynb")
    (folder / "broken.ipynb").symlink_to("nowhere")
    (folder / "endless.ipynb").symlink_to("/dev/zero")
    (folder / "linked_folder").symlink_to(tmp_path / "exercises")
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "folder.ipynb").mkdir()
    os.utime(folder / "ann.ipynb", (10**15, 10**15)) if sys.platform == "linux" else None
    found = {one.student: one for one in submissions.collect(folder, places.find_exercise("03"), tmp_path / "kept")}
    assert found.pop("ann").path is not None
    assert all(one.path is None for one in found.values())
    problems = {student: one.problem for student, one in found.items()}
    for student in ("link", "broken", "endless", "linked_folder"):
        assert "it is a link to somewhere else" in problems.pop(student)
    assert "it is no plain file" in problems.pop("pipe")
    assert problems == {"folder": "the folder holds no notebook"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1"])
def test_no_spreadsheet_takes_a_text_for_a_formula(text):
    assert _as_text(text) == f"'{text}"
    assert submissions.student_id(text)[:1] not in ("=", "+", "-", "@")
    assert (_as_text("a-b"), _as_text(-1.5)) == ("a-b", -1.5)
