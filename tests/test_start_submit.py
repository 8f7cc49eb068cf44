"""start, check and submit: nothing of a learner's is overwritten or lost, and what is wrong is said."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from exercise_gates.submissions import cell_of, good, jumbled, untouched, with_cells, with_tasks

import course as door
from autogradlab import files
from autogradlab.course import check, places, start, submissions, submit
from autogradlab.course.structure import not_python

POSIX = os.name == "posix"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of the learner's own, with nothing begun."""
    shutil.copytree(places.course_root() / "exercises", tmp_path / "exercises")
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def exercise(course):
    return places.find_exercise("03")


def write(exercise, notebook) -> None:
    exercise.work.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, exercise.work)


def run(course: Path, command: str, *options: str, limit: int | None = None, before: str = ""):
    """A command in a process of its own, with a limit on the size of files or after other code."""
    code = f"{before}\nimport sys\nfrom autogradlab.course.{command} import main\nsys.exit(main(sys.argv[1:]))"
    line = [sys.executable, "-c", code, *options]
    if limit is not None:
        line = ["bash", "-c", f'ulimit -f {limit} && exec "$@"', "-", *line]
    env = {**os.environ, "AUTOGRADLAB_COURSE": str(course)}
    return subprocess.run(line, env=env, cwd=course, capture_output=True, text=True, timeout=120, check=False)


# A process that is killed once a file is written under its temporary name, and before it has its own.
KILLED = "import os\nos.fsync = lambda file: os.kill(os.getpid(), 9)"


# start ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["03", "3", "03_shapes_and_strides", "shapes_and_strides", "shapes-and-strides", "work/03_shapes_and_strides"],
)
def test_start_copies_the_exercise(course, exercise, capsys, name):
    assert start.main([name]) == 0
    assert exercise.work.read_bytes() == exercise.release.read_bytes()
    said = capsys.readouterr().out
    assert said.startswith(f"Copied exercise 03 to {Path('work/03_shapes_and_strides/03_shapes_and_strides.ipynb')}\n")
    assert "course.py check 03" in said


@pytest.mark.parametrize("content", [b"my own work", None])
def test_start_never_overwrites(course, exercise, capsys, content):
    start.main(["03"])
    mine = content or nbformat.writes(good()).encode()
    exercise.work.write_bytes(mine)
    assert start.main(["03"]) == (1 if content else 0)
    assert exercise.work.read_bytes() == mine
    assert "left as it i" in "".join(capsys.readouterr()).replace("was left", "left")


def test_start_lists_what_there_is(course, capsys):
    assert start.main([]) == 0
    assert capsys.readouterr().out.startswith("02  02_indexing  not started\n")
    assert start.main(["17"]) == 1
    assert "there is no exercise '17'. The exercises are:\n    02  02_indexing" in capsys.readouterr().err


def test_start_without_exercises(course, capsys):
    shutil.rmtree(course / "exercises")
    assert start.main(["03"]) == 1
    assert "there are no exercises in" in capsys.readouterr().err


def test_start_does_not_hand_out_a_damaged_exercise(course, exercise, capsys):
    exercise.release.write_bytes(exercise.release.read_bytes()[:3000])
    assert start.main(["03"]) == 1
    assert "the exercise itself cannot be read" in capsys.readouterr().err
    assert not exercise.work.exists()


@pytest.mark.skipif(not POSIX, reason="ulimit and SIGKILL")
def test_start_cut_short_leaves_nothing_that_looks_like_work(course, exercise):
    limited = run(course, "start", "03", limit=4)
    assert limited.returncode == 1
    assert limited.stderr.startswith("start: could not write") and "File too large" in limited.stderr
    killed = run(course, "start", "03", before=KILLED)
    assert killed.returncode == -9
    assert not exercise.work.exists() and list(exercise.work.parent.iterdir())
    assert run(course, "start", "03").returncode == 0
    assert [path.name for path in exercise.work.parent.iterdir()] == [exercise.filename]
    assert exercise.work.read_bytes() == exercise.release.read_bytes()


def test_a_slip_of_the_finger_gets_the_command_that_was_meant(capsys):
    with pytest.raises(SystemExit, match="there is no command 'strat'. Did you mean start[?] The commands are: lab"):
        door.main(["strat"])


def test_a_copy_never_wins_a_race(tmp_path):
    assert files.write_new(tmp_path / "a", b"first")
    assert not files.write_new(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"first" and len(list(tmp_path.iterdir())) == 1


# check ----------------------------------------------------------------------------------------------------------------


def checked(exercise, notebook, capsys) -> tuple[int, str]:
    write(exercise, notebook)
    before = exercise.work.read_bytes()
    status = check.main(["03"])
    assert exercise.work.read_bytes() == before  # check only looks
    out, err = capsys.readouterr()
    assert err == ""
    return status, out


def test_check_of_the_untouched_exercise(exercise, capsys):
    status, said = checked(exercise, untouched(), capsys)
    assert status == 1
    assert said.count("not written yet") == 8 and "0 of 8 tasks pass" in said


def test_check_of_a_solution(exercise, capsys):
    status, said = checked(exercise, good(), capsys)
    assert status == 0
    assert "8 of 8 tasks pass their visible checks. Hidden checks follow when your instructor grades." in said
    assert "To mend" not in said and "course.py submit 03" in said


def test_check_says_what_is_wrong_and_what_to_mend(exercise, capsys):
    notebook = with_tasks(jumbled, is_contiguous="def is_contiguous(shape, stride):\n    return stride[-1] == 1")
    notebook.cells = [c for c in notebook.cells if not c.source.startswith("def expand")]
    cell_of(notebook, "merge_heads").source = "def merge_heads(shape:"
    notebook.cells.append(nbformat.v4.new_code_cell("1 / 0"))
    status, said = checked(exercise, notebook, capsys)
    assert status == 1
    assert "cells stand in another order" in said
    assert "is_contiguous((2, 4), (8, 1))" in said and "Falling strides that end in 1 are not enough" in said
    assert "SyntaxError: '(' was never closed, in the cell of task 8, line 1: def merge_heads(shape:\n" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "view_stride         passes" in said


def test_check_stops_what_does_not_end_and_answers_in_time(exercise, capsys):
    loop = "def permute(*args):\n    while True:\n        pass"
    began = time.monotonic()
    status, said = checked(exercise, with_tasks(lambda: with_cells("exit()"), permute=loop), capsys)
    seconds = time.monotonic() - began
    print(f"check answered in {seconds:.1f} s of 10 s")
    assert seconds < 60, "an endless loop must not keep it"  # a loaded machine takes several times as long
    assert status == 1
    assert "ran longer than 2 s and was stopped: an endless loop?" in said
    assert "A cell of your own does not run through. It begins: exit()\n         This cell ended the Python" in said
    assert "infer_shape         passes" in said


def test_check_names_the_function_that_is_gone(exercise, capsys):
    status, said = checked(exercise, with_tasks(expand="def expnd(*args):\n    pass"), capsys)
    assert status == 1
    assert "Your cell of task 5 no longer defines expand" in said and "NameError" not in said


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "you have not started it: run python3 course.py start 03"),
        (b"", "cannot be read: the file is empty"),
        (b'{"cells": [', "is not valid JSON"),
        (b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "holds none of exercise 03's cells"),
    ],
)
@pytest.mark.parametrize("command", [check, submit])
def test_check_and_submit_of_what_cannot_be_read(course, exercise, capsys, command, data, words):
    if data is not None:
        exercise.work.parent.mkdir(parents=True)
        exercise.work.write_bytes(data)
    assert command.main(["03"]) == 1
    assert words in capsys.readouterr().err
    assert not (course / "grading").exists()


# submit ---------------------------------------------------------------------------------------------------------------


def handed_in(course: Path) -> list[Path]:
    return sorted((course / "grading" / "handed_in").glob("*/*/*"))


def test_submit_keeps_everything_and_the_newest_counts(course, exercise, capsys):
    texts = []
    for notebook in (untouched(), good(), untouched()):
        write(exercise, notebook)
        texts.append(exercise.work.read_bytes())
        assert submit.main(["03", "--name", "Ann Lee"]) == 0
    said = capsys.readouterr().out
    assert "Handed in exercise 03 as Ann_Lee" in said and "submission 3, and counts; the earlier ones are kept" in said
    assert "Not written yet: contiguous_strides, storage_index" in said
    kept = handed_in(course)
    assert [path.read_bytes() for path in kept] == texts
    newest = submissions.handed_in(exercise, course / "grading" / "handed_in")
    assert [(one.student, one.path) for one in newest] == [("Ann_Lee", kept[-1])]


def test_submit_twice_is_one_submission_and_the_name_is_remembered(course, exercise, capsys):
    write(exercise, good())
    submit.main(["03", "--name", "Zoë O'Neil"])
    assert submit.main(["03"]) == 0
    assert "As Zoë_O_Neil you have handed in exactly this before" in capsys.readouterr().out
    assert len(handed_in(course)) == 1


def test_a_clock_that_goes_backwards_does_not_hide_a_submission(course, exercise, monkeypatch):
    root = course / "grading" / "handed_in"
    later, earlier = submissions.datetime(2030, 1, 1, tzinfo=submissions.UTC), submissions.datetime.now(submissions.UTC)
    first, _ = submissions.keep("ann", exercise, b"first", later, root)
    second, _ = submissions.keep("ann", exercise, b"second", earlier, root)
    assert second.name > first.name
    assert submissions.earlier("ann", exercise, root) == [first, second]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("../../etc", "etc"),
        ("a/b\\c", "a_b_c"),
        ("x" * 200, "x" * 64),
        ("李雷", "李雷"),
        (".", ""),
        ("-@x", "x"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("\U00020000" * 64, "\U00020000" * 45),
    ],  # fmt: skip
)
def test_a_name_is_no_path(name, folder):
    assert submissions.student_id(name) == folder


def test_submit_without_a_usable_name(course, exercise, capsys):
    write(exercise, good())
    assert submit.main(["03", "--name", "/"]) == 1
    assert "Say who you are with --name" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["root", "Administrator"])
def test_root_is_nobody_s_name(course, exercise, capsys, monkeypatch, name):
    monkeypatch.setattr(submissions, "_git_name", lambda: "")
    monkeypatch.setattr(submissions.getpass, "getuser", lambda: name)
    write(exercise, good())
    assert submit.main(["03"]) == 1
    assert "once: python3 course.py submit 03 --name NAME" in capsys.readouterr().err
    assert not handed_in(course)


BROKEN = "def merge_heads(shape, stride):\n    x = 1\n      return x"


def test_submit_does_not_take_a_cell_that_python_cannot_read_unless_asked_to(course, exercise, capsys):
    write(exercise, good())
    submit.main(["03", "--name", "ann"])
    write(exercise, with_tasks(lambda: with_cells("x = = 1"), merge_heads=BROKEN))
    capsys.readouterr()
    assert submit.main(["03"]) == 1
    said = capsys.readouterr().err
    assert "the cell of task 8: IndentationError: unexpected indent, line 3: return x\n" in said
    assert "a cell that was added: SyntaxError: invalid syntax, line 1: x = = 1\n" in said
    assert "what you may have handed in before still counts" in said and "submit 03 --anyway" in said
    assert len(handed_in(course)) == 1
    assert submit.main(["03", "--anyway"]) == 0
    assert "Python cannot read the cell of task 8" in capsys.readouterr().out
    assert len(handed_in(course)) == 2


def test_what_only_a_notebook_can_read_is_no_broken_cell():
    notebook = with_cells("%time 1", "!ls", "x = %time 1", "permute?", "%%bash\nif", "await f()", "")
    assert not_python(notebook) == []
    assert "null" in not_python(with_cells("x\0"))[0]


def test_the_file_to_send_carries_the_name_to_the_instructor(course, exercise, capsys):
    write(exercise, good())
    assert submit.main(["03", "--name", "Ann Lee"]) == 0
    said = capsys.readouterr().out
    name = f"Ann_Lee_{exercise.filename}"
    assert str(Path("grading/to_send") / name) in said and "Hidden checks follow when your instructor grades." in said
    assert (course / "grading" / "to_send" / name).read_bytes() == exercise.work.read_bytes()
    collected = submissions.collect(course / "grading" / "to_send", exercise, course / "of_the_instructor")
    assert [one.student for one in collected] == ["Ann_Lee"]


def test_advice_can_be_typed_where_one_stands(course, exercise, capsys, monkeypatch):
    below = course / "work"
    below.mkdir()
    monkeypatch.chdir(below)
    assert start.main(["03"]) == 0
    assert f"python3 {os.path.join('..', 'course.py')} check 03" in capsys.readouterr().out
    monkeypatch.chdir(course)
    assert places.door() == "python3 course.py"


def test_submissions_of_the_same_moment_are_all_kept(course, exercise):
    root, when = course / "grading" / "handed_in", submissions.datetime.now(submissions.UTC)
    texts = [f"text {n}".encode() for n in range(20)]
    with ThreadPoolExecutor(10) as pool:
        kept = list(pool.map(lambda text: submissions.keep("ann", exercise, text, when, root), texts))
    assert sorted(path.read_bytes() for path in submissions.earlier("ann", exercise, root)) == sorted(texts)
    assert all(new for _, new in kept) and len({path for path, _ in kept}) == 20


def test_a_course_in_a_folder_with_spaces_and_letters_of_any_kind(tmp_path):
    course = tmp_path / "my course \u00fc \u674e"
    shutil.copytree(places.course_root() / "exercises", course / "exercises")
    for command in (("start", "03"), ("submit", "03", "--name", "\u674e \u96f7")):
        done = run(course, *command)
        assert (done.returncode, done.stderr) == (0, "")
    assert [path.parts[-3] for path in handed_in(course)] == ["\u674e_\u96f7"]


def test_an_exercise_that_cannot_be_read_is_told_in_a_line(exercise, capsys, monkeypatch):
    write(exercise, good())

    def refuse(*args):
        raise PermissionError(13, "Permission denied", str(exercise.release))

    monkeypatch.setattr(check, "load", refuse)
    assert check.main(["03"]) == 1
    said = capsys.readouterr().err
    assert said == f"check: {exercise.release} cannot be used: Permission denied. Mend that and run it again.\n"


def test_an_update_of_the_course_never_meets_what_learners_write():
    root = places.course_root()
    if not (root / ".git").exists():
        pytest.skip("this copy is no repository")
    for folder in ("work", "grading"):
        tracked = subprocess.run(["git", "ls-files", folder], cwd=root, capture_output=True, text=True, check=True)
        assert tracked.stdout == ""
    ignored = subprocess.run(["git", "check-ignore", "-q", "work/03/mine.ipynb"], cwd=root, check=False)
    assert ignored.returncode == 0


@pytest.mark.skipif(not POSIX, reason="ulimit and SIGKILL")
def test_submit_cut_short_loses_nothing(course, exercise):
    write(exercise, good())
    mine = exercise.work.read_bytes()
    assert run(course, "submit", "03", "--name", "ann").returncode == 0
    first = handed_in(course)
    exercise.work.write_bytes(mine + b"\n")
    limited = run(course, "submit", "03", limit=4)
    assert limited.returncode == 1 and "could not write" in limited.stderr and "File too large" in limited.stderr
    killed = run(course, "submit", "03", before=KILLED)
    assert killed.returncode == -9
    assert [path.read_bytes() for path in first] == [mine]
    assert submissions.earlier("ann", exercise, course / "grading" / "handed_in") == first
    done = run(course, "submit", "03")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.read_bytes() for path in handed_in(course)] == [mine, mine + b"\n"]
    assert exercise.work.read_bytes() == mine + b"\n"


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell")
def test_a_reader_that_has_read_enough_is_no_failure_of_the_disk():
    code = (
        "import sys; from autogradlab.course.places import says_why\n"
        "def main(argv):\n    [print('x' * 1000) for _ in range(1000)]\n    return 0\n"
        "sys.exit(says_why(main)([]))"
    )
    command = f'{sys.executable} -c "$CODE" | head -1; echo ${{PIPESTATUS[0]}}'
    environment = {**os.environ, "CODE": code}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == "141" and done.stderr == ""
