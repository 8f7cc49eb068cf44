"""What a learner did is kept: in one file, the first prediction, the best points, whatever happens to the file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import ipywidgets as widgets
import pytest
from panels import every, said

from autogradlab.files import Stop
from autogradlab.learn import ask, predict, progress, progress_table, quiz, show_progress

ROOT = Path(__file__).resolve().parents[1]
ASKED = "What is b.stride()?"
CELLS = [
    'predict.tuple(\n    "What is "\n    "b.stride()?", answer=(1, 4), why="...")',
    'quiz(ask("Which copies?", right=("a", "yes"), wrong={"b": "no"}))',
    "this is no Python (",
    "print(1)",
]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one chapter that asks two things."""
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in CELLS]
    for name in ("notebooks/part1/03_shapes.ipynb", "exercises/part1/03_shapes/03_shapes.ipynb"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"cells": cells}))
    (tmp_path / "notebooks" / "broken.ipynb").write_text("{")
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(tmp_path))
    progress.questions.cache_clear()
    yield tmp_path
    progress.questions.cache_clear()


def asked():
    return predict.tuple(ASKED, answer=(1, 4), why="Walking b's last dimension steps over four.")


def answer(panel, typed: str) -> None:
    (entry,) = every(panel, widgets.Text)
    entry.value = typed


def test_the_first_prediction_is_kept_and_said_again(course):
    answer(asked(), "(4, 1)")
    again = asked()
    assert "Your first answer was “(4, 1)”, which was not it." in said(again)
    answer(again, "(1, 4)")
    kept = json.loads((course / "work" / "progress.json").read_text())
    assert kept == {"03_shapes": {"predictions": {ASKED: {"said": "(4, 1)", "right": False}}}}


def test_unreadable_answers_and_a_learners_own_questions_are_not_kept(course):
    answer(asked(), "four")
    answer(predict.tuple("My own?", answer=(1,), why="So."), "(1,)")
    assert not progress.place().exists()


def test_the_best_points_of_a_quiz_count(course):
    assert progress.quiz_points("Which copies?", 0.5) == ""
    progress.quiz_points("Which copies?", 0.0)
    assert progress.load()["03_shapes"]["quiz"] == {"Which copies?": {"points": 0.5}}
    panel = quiz(ask("Which copies?", right=("a", "yes"), wrong={"b": "no"}))
    assert "Before: 0.5 of 1 points; the best count. 0 of 1 answered" in said(panel)
    (entry,), (press,) = every(panel, widgets.RadioButtons), every(panel, widgets.Button)
    entry.value = "b"
    press.click()
    entry.value = "a"
    press.click()
    assert progress.load()["03_shapes"]["quiz"] == {"Which copies?": {"points": 0.5}}


def test_the_table_in_text_and_in_a_notebook(course):
    assert "0 of 1, 0 right" in progress_table.text() and "not checked yet" in progress_table.text()
    panel = show_progress()
    progress.prediction(ASKED, "(1, 4)", True)
    progress.quiz_points("Which copies?", 1.0)
    progress.exercise("03_shapes", checked="5 of 7", submitted="2026-11-30 10:15")
    lines = progress_table.text().splitlines()
    assert lines[1].split("  ")[0] == "[##########]" and lines[-1].endswith("2 of 2 questions answered in all")
    assert "1 of 1, 1 point " in lines[1] and "5 of 7 pass, handed in 2026-11-30 10:15" in lines[1]
    assert "1 of 1, 1 right" not in said(panel)
    every(panel, widgets.Button)[0].click()
    assert "1 of 1, 1 right" in said(panel) and '<progress max="2" value="2" aria-label=' in said(panel)
    assert "1 of 1" not in repr(panel) + panel.static  # what is stored is the same for everybody


@pytest.mark.parametrize("content", ["{", "[]", '{"03_shapes": 1}', '{"03_shapes": {"quiz": []}}', "\udcff"])
def test_a_file_that_cannot_be_read_is_put_aside_and_never_lost(course, content):
    progress.place().parent.mkdir()
    progress.place().write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(Stop, match="cannot be read"):
        progress_table.text()
    assert "cannot be read" in said(show_progress())
    assert progress.prediction(ASKED, "(1, 4)", True) == ""
    (aside,) = progress.place().parent.glob("progress.unreadable-*.json")
    assert aside.read_bytes() == content.encode("utf-8", "surrogateescape")
    assert progress.load()["03_shapes"]["predictions"][ASKED]["right"] is True


def test_a_write_that_fails_halfway_leaves_the_old_file_and_is_said(course, monkeypatch):
    progress.prediction(ASKED, "(4, 1)", False)
    before = progress.place().read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    panel = quiz(ask("Which copies?", right=("a", "yes"), wrong={"b": "no"}))
    (entry,), (press,) = every(panel, widgets.RadioButtons), every(panel, widgets.Button)
    entry.value = "a"
    press.click()
    assert "✓ Right." in said(panel) and "(Not kept: " in said(panel) and "No space left" in said(panel)
    assert progress.place().read_bytes() == before


def test_several_notebooks_at_once_lose_nothing(course):
    """Five processes, each with facts of its own about one exercise."""
    program = """import sys; from autogradlab.learn import progress
for i in range(10): progress.exercise('03_shapes', **{f'{sys.argv[1]}{i}': 'x'})"""
    running = [subprocess.Popen([sys.executable, "-c", program, name], cwd=ROOT) for name in "abcde"]
    assert [process.wait() for process in running] == [0] * 5
    assert len(progress.load()["03_shapes"]["exercise"]) == 50


def test_no_question_is_asked_twice_in_the_course():
    found = progress.questions(ROOT)
    for kind in ("predictions", "quiz"):
        every_one = [question for asked in found.values() for question in asked[kind]]
        twice = {question for question in every_one if every_one.count(question) > 1}
        assert not twice, f"progress is kept by a question's text, so say these differently: {twice}"
    assert sum(len(asked["predictions"]) for asked in found.values()) > 100
