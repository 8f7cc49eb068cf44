"""Chapters open cleared, what a learner saves is a copy of their own, and the course's files stay as they are."""

import asyncio
import json

import pytest
from tornado.web import HTTPError

from autogradlab.course.contents import CourseContents

CHAPTER = "notebooks/part1/01_tensors.ipynb"


def notebook(output: str):
    cell = {
        "cell_type": "code",
        "id": "a1",
        "metadata": {},
        "source": "1 + 1",
        "execution_count": 1,
        "outputs": [
            {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": output}}
        ],
    }
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def course(tmp_path):
    for path in (CHAPTER, "work/free.ipynb"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(notebook("2")))
    return tmp_path


@pytest.fixture
def contents(course):
    return CourseContents(root_dir=str(course))


def run(coroutine):
    return asyncio.run(coroutine)


def outputs(model):
    return model["content"]["cells"][0]["outputs"]


def test_a_chapter_opens_cleared_and_stays_as_it_is(course, contents):
    before = (course / CHAPTER).read_bytes()
    model = run(contents.get(CHAPTER))
    assert outputs(model) == [] and model["content"]["cells"][0]["execution_count"] is None
    assert (course / CHAPTER).read_bytes() == before and not (course / "work/notebooks").exists()


def test_saving_makes_a_copy_that_opens_from_then_on(course, contents):
    before = (course / CHAPTER).read_bytes()
    model = {"type": "notebook", "content": notebook("mine"), "format": "json"}
    for _ in range(2):
        run(contents.save(dict(model), CHAPTER))
    assert (course / CHAPTER).read_bytes() == before
    assert json.loads((course / "work/notebooks/part1/01_tensors.ipynb").read_text())["cells"][0]["source"] == ["1 + 1"]
    assert outputs(run(contents.get(CHAPTER)))[0]["data"]["text/plain"] == "mine"


def test_what_is_saved_has_the_words_of_a_widget_and_not_its_view(course, contents):
    """Its kernel is gone one day, and a view is then an error in place of the words."""
    shown = notebook("the words")
    view = {"model_id": "1", "version_major": 2, "version_minor": 0}
    shown["cells"][0]["outputs"][0]["data"]["application/vnd.jupyter.widget-view+json"] = view
    run(contents.save({"type": "notebook", "content": shown, "format": "json"}, CHAPTER))
    assert outputs(run(contents.get(CHAPTER)))[0]["data"] == {"text/plain": "the words"}
    assert len(shown["cells"][0]["outputs"][0]["data"]) == 2  # the page's own model stays


def test_a_failed_first_save_leaves_nothing_behind(course, contents):
    with pytest.raises(HTTPError):
        run(contents.save({"type": "notebook", "content": {"cells": "no"}}, CHAPTER))
    assert not (course / "work/notebooks/part1/01_tensors.ipynb").exists()
    assert outputs(run(contents.get(CHAPTER))) == []


def test_only_the_copy_can_be_deleted_and_then_the_chapter_begins_anew(course, contents):
    with pytest.raises(HTTPError, match="belongs to the course"):
        run(contents.delete_file(CHAPTER))
    run(contents.save({"type": "notebook", "content": notebook("mine"), "format": "json"}, CHAPTER))
    contents.delete_to_trash = False
    run(contents.delete_file(CHAPTER))
    assert (course / CHAPTER).exists() and outputs(run(contents.get(CHAPTER))) == []


def test_a_chapter_keeps_its_name(contents):
    with pytest.raises(HTTPError, match="keeps its name"):
        run(contents.rename_file(CHAPTER, "notebooks/part1/mine.ipynb"))


def test_other_notebooks_are_left_alone(course, contents):
    assert outputs(run(contents.get("work/free.ipynb")))[0]["data"]["text/plain"] == "2"
    run(contents.save({"type": "notebook", "content": notebook("3"), "format": "json"}, "work/free.ipynb"))
    assert outputs(run(contents.get("work/free.ipynb")))[0]["data"]["text/plain"] == "3"


def test_what_only_maintainers_need_is_not_listed(course, contents):
    (course / "notebooks" / "inventory.yml").write_text("a: 1")
    assert [entry["name"] for entry in asyncio.run(contents.get("notebooks"))["content"]] == ["part1"]
