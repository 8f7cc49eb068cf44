"""The course's notebooks keep to the rules; each rule sees what it is for; executing twice stores the same."""

import itertools
import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autogradlab.course import inventory, lint, mirror, notebooks
from autogradlab.course.notebook_text import Unreadable
from autogradlab.course.places import Stop

COURSE = notebooks.find()
NAME = "04_broadcasting.ipynb"
SENTENCE = "Sizes are compared from the last dimension on, and a size of one is repeated. "  # 15 words


# ------------------------------------------------------------------------------------------------------- the course's


def test_there_are_notebooks():
    assert COURSE, f"no notebook in {notebooks.FOLDER}"


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_course_s_notebooks_keep_to_the_rules(path):
    assert lint.lint(path) == []


def test_the_inventory_points_at_cells():
    assert inventory.lint(notebooks.FOLDER / "inventory.yml", COURSE) == []


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_stored_metadata_is_what_storing_would_write(path):
    """Else the next `course.py notebooks` changes files for no reason."""
    stored = notebooks.read(path)
    cleaned = notebooks.read(path)
    notebooks.clean(cleaned)
    assert cleaned == stored, f"run: python3 course.py notebooks {path.stem}"


def test_the_table_of_contents_names_each_section_once():
    places = [(chapter.document, section) for chapter in mirror.CHAPTERS.values() for section in chapter.sections]
    assert len(places) == len(set(places)) == 73
    assert list(mirror.CHAPTERS) == [f"{number:02}" for number in range(1, 29)]


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_readme_lists_the_chapters(path):
    chapter = mirror.chapter_of(path.stem)
    row = (
        f"| {chapter.number} {chapter.title} | {chapter.document} {' '.join(chapter.sections)} |"
        if chapter
        else "| 00 "
    )
    assert row in (notebooks.ROOT / "README.md").read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- each rule


def run(source: str, count: int, *outputs, tags=()):
    metadata = {"tags": list(tags)} if tags else {}
    if source.startswith("predict."):
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=metadata)


def text_result(text: str):
    return new_output("execute_result", data={"text/plain": text}, metadata={}, execution_count=1)


def good_chapter() -> nbformat.NotebookNode:
    """A chapter 04 that keeps to every rule."""
    count = itertools.count(1)
    cells = [new_markdown_cell("# Broadcasting"), run("from autogradlab.learn import predict", next(count))]
    for section in ("4.1", "4.2"):
        cells.append(new_markdown_cell(f"## Rows and columns  (D1 {section})\n\n" + SENTENCE * 6))
        for _ in range(2):
            cells += [new_markdown_cell(SENTENCE * 8), run("predict.number('rows')", next(count))]
            cells += [new_markdown_cell(SENTENCE * 8), new_markdown_cell(SENTENCE * 8), run("1 + 1", next(count))]
    cells += [run("predict.number('rows')", next(count)), run("1", next(count), text_result("1"), tags=[lint.IGNORED])]
    cells += [run("assert 1 < 2", next(count)), new_markdown_cell(SENTENCE)]
    return new_notebook(cells=cells, metadata={"autogradlab": {"document": "D1", "sections": ["4.1", "4.2"]}})


def problems_of(notebook, folder: Path, name: str = NAME) -> list[str]:
    path = folder / name
    nbformat.write(notebook, path)
    return lint.lint(path)


def test_a_good_chapter_has_no_problems(tmp_path):
    assert problems_of(good_chapter(), tmp_path) == []


def first(notebook, kind: str, containing: str = ""):
    return next(cell for cell in notebook.cells if cell.cell_type == kind and containing in cell.source)


def change_source(kind, containing, source):
    def change(notebook):
        first(notebook, kind, containing).source = source

    return change


def show(data, metadata=None):
    output = new_output("display_data", data=data, metadata=metadata or {})
    return lambda notebook: first(notebook, "code", "1 + 1").outputs.append(output)


def little_prose(notebook):
    for cell in notebook.cells:
        if cell.source == SENTENCE * 8:
            cell.source = SENTENCE


def ignore_twice(notebook):
    for cell in (first(notebook, "code", "predict.number"), first(notebook, "code", "1 + 1")):
        cell.metadata["tags"] = [lint.IGNORED]


def set_cell(containing, **values):
    return lambda notebook: first(notebook, "code", containing).update(values)


def drop(containing):
    return lambda notebook: notebook.cells.remove(first(notebook, "code", containing))


def no_asking(notebook):
    for cell in notebook.cells:
        if cell.source == "predict.number('rows')":
            cell.source = "show_source(predict)"


def without_a_section(notebook):
    first(notebook, "markdown", "(D1 4.2)").source = "## Rows\n\n" + SENTENCE * 6


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])
CHANGES = {
    "shows its answers": lambda notebook: first(notebook, "code", "predict.number").metadata.pop("jupyter"),
    "shows its answer in its first line": change_source("code", "predict.", "predict.number('rows', answer=3)"),
    "has a line of 93 columns; at most 88": change_source("code", "1 + 1", "1 + 1  # " + "x" * 84),
    "was never executed. Run: python3 course.py notebooks": set_cell("assert 1 < 2", execution_count=None),
    "was executed as number 40, not 12": set_cell("assert 1 < 2", execution_count=40),
    "is empty. Remove it": lambda notebook: notebook.cells.append(new_code_cell("  ")),
    "stored ValueError. Mend it": set_cell("assert 1 < 2", outputs=[ERROR]),
    "is tagged raises-exception, but raised nothing": set_cell("assert", metadata={"tags": ["raises-exception"]}),
    "has 16 lines of code; at most 15": change_source("code", "1 + 1", "1 + 1\n" * 16),
    "metadata[\"autogradlab\"] is {}; mirror.py says {'document': 'D1'": lambda notebook: notebook.metadata.clear(),
    'no heading names D1 4.2, as in "## Title  (D1 4.2)"': without_a_section,
    "a heading names D2 4.1, which this chapter does not mirror": lambda notebook: notebook.cells.append(
        new_markdown_cell("### Elsewhere  (D2 4.1)")
    ),
    "shows an SVG without <title>": show({"image/svg+xml": "<svg><path/></svg>"}),
    "shows a picture without alt text. Use display(figure, metadata=": show({"image/png": "aGk="}),
    'without alt="..."': show({"text/html": "<img src='data:image/png;base64,aGk='>"}),
    "has an <svg> without <title>": show({"text/html": "<p><svg width='1'><path/></svg></p>"}),
    "shows strip.png without alt text": change_source("markdown", "# Broadcasting", "![](strip.png)"),
    "shows lost.png, which is not there": change_source("markdown", "# Broadcasting", "![a strip](lost.png)"),
    "shows a picture from the network": change_source("markdown", "# Broad", "![a strip](https://example.org/a.png)"),
    "the next code cell does not assert what it showed": change_source("code", "assert 1 < 2", "1 < 2"),
    "3 of 12 code cells are tagged nbval-ignore-output; at most 15%": ignore_twice,
    "has 135 words; at most 120": change_source("markdown", SENTENCE * 8, SENTENCE * 9),
    "words of prose; a chapter has 1500 to 2500": little_prose,
    "ask nothing of the reader": no_asking,
    "says that chapter 03 is being written; it is there": lambda notebook: notebook.cells.append(
        new_markdown_cell("More in chapter 03 (being written).")
    ),
}


@pytest.mark.parametrize("message", CHANGES)
def test_each_rule_sees_what_it_is_for(tmp_path, message):
    (tmp_path / "strip.png").touch()
    notebook = good_chapter()
    CHANGES[message](notebook)
    found = problems_of(notebook, tmp_path)
    assert any(message in problem for problem in found), found
    assert all(problem.startswith(f"{NAME}: ") for problem in found)


@pytest.mark.parametrize(
    "change",
    [
        show({"image/svg+xml": "<svg><title>A strip of 12 cells</title></svg>"}),
        show({"image/svg+xml": '<svg role="img" aria-label="A strip of 12 cells"></svg>'}),
        show({"image/png": "aGk="}, {"image/png": {"alt": "A strip of 12 cells"}}),
        show({"text/html": '<img src="a" alt="A strip"><svg aria-hidden="true"></svg>'}),
        set_cell("assert 1 < 2", outputs=[ERROR], metadata={"tags": ["raises-exception"]}),
        lambda notebook: notebook.cells.append(new_markdown_cell("More in chapter 99 (being written).")),
        lambda notebook: (drop("assert 1 < 2")(notebook), notebook.cells.append(run("1 < 2", 12, text_result("True")))),
        lambda notebook: (no_asking(notebook), [c.metadata.update(tags=["your-turn"]) for c in notebook.cells[::3]]),
        change_source("code", "1 + 1", "%matplotlib inline\n1 + 1"),
        change_source("code", "predict.", "predict.number(\n    'rows',\n    answer=3,\n)"),
    ],
)
def test_what_the_rules_let_pass(tmp_path, change):
    notebook = good_chapter()
    change(notebook)
    assert problems_of(notebook, tmp_path) == []


def test_a_notebook_that_is_no_chapter_need_not_mirror_anything(tmp_path):
    notebook = new_notebook(cells=[new_markdown_cell("# Start here"), run("1 + 1", 1)])
    assert problems_of(notebook, tmp_path, "00_start_here.ipynb") == []
    notebook.cells[0].source = "# Start here  (D1 1.1)"
    assert "has no chapter 00_start_here" in problems_of(notebook, tmp_path, "00_start_here.ipynb")[0]


def test_words_are_those_a_reader_reads():
    text = "## One *two*\n\n```python\nnot + these\n```\n three [four](http://not/this) $a + b$ five<br> $$not$$ - six"
    assert lint.words(text) == 7  # a formula within a line is one


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', '{"nbformat": 4, "nbformat_minor": 5}'])
def test_a_broken_file_is_one_problem(tmp_path, content):
    (tmp_path / NAME).write_text(content)
    (problem,) = lint.lint(tmp_path / NAME)
    assert "is not a valid notebook" in problem and NAME in problem


# --------------------------------------------------------------------------------------------------------- inventory


@pytest.fixture
def tagged(tmp_path):
    notebook = good_chapter()
    first(notebook, "code", "1 + 1").metadata["tags"] = ["rows-and-columns"]
    nbformat.write(notebook, tmp_path / NAME)
    return tmp_path / NAME


GOOD_ENTRY = "[{says: a size of one is repeated, cell: rows-and-columns}]"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (f'D1: {{"4.1": {GOOD_ENTRY}, "4.2": {GOOD_ENTRY}, "1.1": [{{says: not yet, cell: none}}]}}', None),
        (f'D1: {{"4.1": {GOOD_ENTRY}, "4.2": []}}', "D1 4.2 has no entry, though chapter 04 exists"),
        (f'D1: {{"4.1": {GOOD_ENTRY}}}', "D1 4.2 has no entry"),
        (
            f'D1: {{"4.1": {GOOD_ENTRY}, "4.2": [{{says: x, cell: lost}}]}}',
            "04_broadcasting.ipynb is tagged 'lost' (x)",
        ),
        (f'D1: {{"4.1": {GOOD_ENTRY}, "4.2": [{{says: x}}]}}', "it needs `says` and `cell`"),
        (f'D1: {{"4.1": {GOOD_ENTRY}, "4.2": {GOOD_ENTRY}, "9.9": []}}', "no chapter mirrors D1 9.9"),
        ("D1: [", "is not valid YAML"),
        ("D1: 3", "must map documents to sections"),
        (None, "cannot be read"),
    ],
)
def test_the_inventory_rule(tagged, content, problem):
    path = tagged.with_name("inventory.yml")
    if content is not None:
        path.write_text(content)
    found = inventory.lint(path, [tagged])
    assert found == [] if problem is None else len(found) == 1 and problem in found[0], found


# ----------------------------------------------------------------------------------------------- execute and store


def stored(path: Path, *cells) -> nbformat.NotebookNode:
    nbformat.write(
        new_notebook(cells=list(cells), metadata={"language_info": {"name": "python", "version": "3.1"}}), path
    )
    notebooks.store(path)
    return notebooks.read(path)


def test_printed_text_is_stored_in_one_piece(tmp_path):
    flushing = new_code_cell(
        "import sys, time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.3)\n"
        "print('aside', file=sys.stderr, flush=True)\ntime.sleep(0.3)\nprint(3)"
    )
    (cell,) = stored(tmp_path / NAME, flushing).cells
    assert [(output.name, output.text) for output in cell.outputs] == [
        ("stdout", "0\n1\n2\n"),
        ("stderr", "aside\n"),
        ("stdout", "3\n"),
    ]


def test_storing_twice_gives_the_same_bytes_and_keeps_what_says_something(tmp_path):
    first_cell = new_code_cell(
        "import os, sys, warnings\nimport ipywidgets\nwarnings.warn('mind')\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['AUTOGRADLAB_ACCELERATOR'], os.path.basename(os.getcwd()))\n"
        "ipywidgets.IntSlider(description='n')",
        metadata={"tags": ["a-tag"], "collapsed": True, "execution": {"iopub.execute_input": "2026"}},
    )
    twin = first_cell.copy()
    fails = new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]})
    notebook = stored(tmp_path / NAME, first_cell, twin, fails)
    assert notebook.metadata == notebooks.NOTEBOOK_METADATA
    one, two, three = notebook.cells
    assert one.metadata == {"tags": ["a-tag"]} and [c.execution_count for c in notebook.cells] == [1, 2, 3]
    assert len({one.id, two.id, three.id}) == 3 and re.fullmatch("[0-9a-f]{8}", one.id)
    streams = {output.name: output.text for output in one.outputs if output.output_type == "stream"}
    assert streams["stdout"] == f"1 sim {tmp_path.name}\n"
    assert streams["stderr"].startswith("ipykernel_0/0.py:3: UserWarning: mind")
    assert [list(output.data) for output in one.outputs if "data" in output] == [["text/plain"]]
    assert three.outputs[0].ename == "ZeroDivisionError"
    before = (tmp_path / NAME).read_bytes()
    assert notebooks.store(tmp_path / NAME) is False
    assert (tmp_path / NAME).read_bytes() == before


def test_a_failing_notebook_is_reported_and_left_as_it_was(tmp_path, capsys):
    nbformat.write(new_notebook(cells=[new_code_cell("print('hello')"), new_code_cell("1 / 0")]), tmp_path / NAME)
    before = (tmp_path / NAME).read_bytes()
    assert notebooks.main([str(tmp_path / NAME)]) == 1
    said = capsys.readouterr()
    assert re.search(rf"{Path(NAME).stem} +[\d.]+ s of 30 s   FAILED", said.out)
    assert "ZeroDivisionError" in said.err and "The stored notebook is as it was" in said.err
    assert (tmp_path / NAME).read_bytes() == before


def test_notebooks_are_found_by_number_name_or_path(tmp_path):
    for name in ("00_start_here", "part1/01_tensors", "part1/03_shapes", "part1/.ipynb_checkpoints/01_tensors-copy"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.ipynb").write_text("{}")

    def find(*names):
        return [path.stem for path in notebooks.find(names, tmp_path)]

    assert find() == ["00_start_here", "01_tensors", "03_shapes"]
    assert find("03") == find("03_shapes.ipynb") == find(str(tmp_path / "part1" / "03_shapes.ipynb")) == ["03_shapes"]
    with pytest.raises(Stop, match="no notebook is named '09'. There are: 00_start_here, 01_tensors, 03_shapes"):
        find("09")


def test_an_unknown_name_and_a_broken_file_have_their_line(tmp_path, capsys):
    assert notebooks.main(["no_such_chapter"]) == 1
    assert "no notebook is named 'no_such_chapter'" in capsys.readouterr().err
    (tmp_path / NAME).write_text(json.dumps({"cells": []})[:-1])
    with pytest.raises(Unreadable, match="is not a valid notebook"):
        notebooks.read(tmp_path / NAME)


def test_paths_of_this_machine_are_not_stored():
    line = f"File {notebooks.ROOT}{os.sep}autogradlab/tensor.py:12, in view"
    assert notebooks._without_paths(line) == "File autogradlab/tensor.py:12, in view"
