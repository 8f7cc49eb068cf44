"""course.py learner-tree: a copy of the course without solutions, written only where nothing is."""

import subprocess
import sys

import pytest

from autogradlab.course import learner_tree, places

ROOT = places.course_root()


def test_the_tree_has_the_exercises_and_no_solutions(tmp_path, capsys):
    target = tmp_path / "class"
    assert learner_tree.main([str(target)]) == 0
    assert "without solutions" in capsys.readouterr().out
    there = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    for needed in ("course.py", "README.md", "pyproject.toml", "requirements.lock", "autogradlab/tensor.py",
                   "notebooks/00_start_here.ipynb"):  # fmt: skip
        assert needed in there
    assert any(name.startswith("exercises/") for name in there)
    assert not any(name.split("/")[0] in ("solutions", "tests", "work", ".git", ".venv") for name in there)
    held = [path for path in target.rglob("*.ipynb") if "BEGIN SOLUTION" in path.read_text(encoding="utf-8")]
    assert held == [], "a solution got into the tree"


def test_a_copy_without_git_gives_the_same_tree(tmp_path, monkeypatch):
    learner_tree.main([str(tmp_path / "a")])
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(tmp_path / "a"))
    (tmp_path / "a" / "work").mkdir()
    (tmp_path / "a" / "work" / "mine.ipynb").write_text("{}")
    assert learner_tree.main([str(tmp_path / "b")]) == 0
    assert not (tmp_path / "b" / "work").exists()
    first, second = ({p.relative_to(tmp_path / n) for p in (tmp_path / n).rglob("*") if p.is_file()} for n in "ab")
    assert second == {p for p in first if p.parts[0] != "work"}


def test_nothing_is_written_over(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("precious")
    assert learner_tree.main([str(tmp_path)]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    assert learner_tree.main([str(ROOT / "work" / "class")]) == 1


def test_the_tree_can_be_used(tmp_path):
    target = tmp_path / "class"
    learner_tree.main([str(target)])
    code = "import sys; from autogradlab.course.start import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "03"], cwd=target, capture_output=True, text=True, timeout=60,
                          env={"PYTHONPATH": str(target), "AUTOGRADLAB_COURSE": str(target), "PATH": "/usr/bin"},
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (target / "work" / "03_shapes_and_strides" / "03_shapes_and_strides.ipynb").exists()


def test_tests_are_said_to_be_missing(tmp_path):
    target = tmp_path / "class"
    learner_tree.main([str(target)])
    suite = target / "autogradlab" / "course" / "suite.py"
    done = subprocess.run(
        [sys.executable, str(suite), "tests"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 and "is a learner's" in done.stdout


@pytest.mark.parametrize("argv", [[], ["a", "b"]])
def test_one_folder_is_asked_for(argv):
    with pytest.raises(SystemExit):
        learner_tree.main(argv)
