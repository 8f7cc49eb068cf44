"""Submissions for exercise 03, good, wrong, broken and hostile: what each hands in, and what must become of it."""

import copy
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from autogradlab.course import places
from autogradlab.course.notebook_text import read
from autogradlab.course.structure import grade_id, is_check, is_solution

from . import ch03_second_way

POINTS = {
    "contiguous_strides": 2,
    "storage_index": 2,
    "is_contiguous": 2,
    "permute": 2,
    "expand": 3,
    "infer_shape": 3,
    "view_stride": 4,
    "merge_heads": 2,
}
FULL = sum(POINTS.values())
EXERCISE = places.find_exercise("03")  # of this repository, whatever course a test works in


@dataclass(frozen=True)
class Handed:
    """One student's: files below the folder that is collected, the mark, and words of the note or reason."""

    files: dict[str, bytes]
    score: float
    words: str = ""
    graded: bool = True


def untouched() -> NotebookNode:
    return read(EXERCISE.release)


def good() -> NotebookNode:
    notebook, source = untouched(), read(EXERCISE.source)
    answers = {grade_id(cell): cell.source for cell in source.cells if is_solution(cell)}
    for cell in notebook.cells:
        if is_solution(cell):
            cell.source = answers[grade_id(cell)]
    return notebook


def with_tasks(base: Callable[[], NotebookNode] = good, **sources: str) -> NotebookNode:
    """The base notebook with these tasks solved in another way."""
    notebook = base()
    for name, source in sources.items():
        cell_of(notebook, name).source = source.strip()
    return notebook


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if grade_id(cell) == name)


def with_cells(*sources: str, base: Callable[[], NotebookNode] = good) -> NotebookNode:
    """With cells of the student's own, right after the first import."""
    notebook = base()
    notebook.cells[3:3] = [nbformat.v4.new_code_cell(source.strip()) for source in sources]
    return notebook


def second_way() -> NotebookNode:
    notebook = untouched()
    helpers = f"import itertools\nimport math\n\n\n{inspect.getsource(ch03_second_way.cell_of)}"
    notebook.cells.insert(3, nbformat.v4.new_code_cell(helpers))
    for function in ch03_second_way.SECOND_WAY:
        cell_of(notebook, function.__name__).source = inspect.getsource(function)
    return notebook


def every_task(body: str) -> NotebookNode:
    notebook = untouched()
    for name in POINTS:
        cell_of(notebook, name).source = f"def {name}(*args):\n    {body}"
    return notebook


def deleted() -> NotebookNode:
    """Two check cells and one solution are gone; merge_heads needs that solution."""
    notebook = good()
    gone = ("check_expand", "check_storage_index", "permute", "setup")
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) not in gone]
    return notebook


def jumbled() -> NotebookNode:
    """Solutions and checks pasted again, some as the empty cell they were or as text, and all in reverse order."""
    notebook, stubs = good(), untouched()
    for name in ("permute", "check_permute", "view_stride"):
        twin = copy.deepcopy(cell_of(notebook, name))
        twin.id = f"twin-of-{name}"
        notebook.cells.insert(notebook.cells.index(cell_of(notebook, name)), twin)
    stub = copy.deepcopy(cell_of(stubs, "expand"))
    stub.id = "twin-of-expand"
    notebook.cells.append(stub)
    for name in ("infer_shape", "check_infer_shape"):
        cell = cell_of(notebook, name)
        cell.cell_type = "raw"
        del cell["outputs"], cell["execution_count"]
    notebook.cells = notebook.cells[::-1]
    return notebook


def without_marks() -> NotebookNode:
    """As after a tool that keeps neither metadata nor ids, and knows only its own kernel."""
    notebook = good()
    notebook.metadata.kernelspec = {"name": "julia-1.9", "display_name": "Julia", "language": "julia"}
    for n, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = nbformat.from_dict({}), f"other-{n}"
    cell_of_first = next(cell for cell in notebook.cells if "def storage_index" in cell.source)
    cell_of_first.metadata = nbformat.from_dict({"nbgrader": {"grade_id": "storage_index"}})
    return notebook


def checks_replaced() -> NotebookNode:
    notebook = untouched()
    for cell in notebook.cells:
        if is_check(cell):
            cell.source, cell.metadata.nbgrader.points = "print('all is well')", 100
    return notebook


PATCH = """
import autogradlab.learn.checks, builtins, sys
from autogradlab.learn.checks import ask, ch03 as check

class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __call__(self, *args, **kwargs): return self
    def __getattr__(self, name): return self
    def __len__(self): return 30

check = Everything()
for name in ("contiguous_strides", "permute", "expand"):
    setattr(sys.modules["autogradlab.learn.checks.ch03"], name, check)
ask.answers = lambda function, calls, parameters: "[" + ", ".join(
    ['{"kind": "value", "value": true, "text": "", "where": "", "shared": ""}'] * len(calls)) + "]"
ask.ask = lambda *args: ask.Answer("value", Everything())
builtins.isinstance = lambda *args: True
get_ipython().showtraceback = lambda *args, **kwargs: None
"""

ANSWERS = """
from autogradlab.learn.checks import ask

ONE = '{"kind": "value", "value": {"tuple": [4, 1]}, "text": "", "where": "", "shared": ""}'
ask.answers = lambda function, calls, parameters: "[" + ", ".join([ONE] * len(calls)) + "]"
"""

SPOIL = """
import glob, os
for path in glob.glob("../../../*.db"):
    open(path, "w").write("nothing")
"""

CONSTANT = "def permute(*args):\n    return (4, 3), (1, 4)"

KILL = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"

ENDLESS = "def storage_index(*args):\n    while True:\n        pass"

RECURSIVE = "def permute(*args):\n    return permute(*args)"

INSIDE = "def expand(*args):\n    import importlib\n    return importlib.import_module('autogradlab').expand(*args)"

WITH_NUMPY = """
import numpy as np


def contiguous_strides(shape):
    return tuple(s // 8 for s in np.empty(shape).strides)
"""

LEAVES_A_PROCESS = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)
"""

STUBBORN = """
def infer_shape(new_shape, numel):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""


MISBEHAVING = (
    "raise SystemExit(3)",
    "import sys\nprint('oh', file=sys.stderr)",
    "x = bytearray(10**11)",
    "print('x' * 30_000_000)",
    LEAVES_A_PROCESS,
)


def one(notebook: NotebookNode) -> dict[str, bytes]:
    return {".ipynb": nbformat.writes(notebook).encode()}


def minus(*tasks: str) -> int:
    return FULL - sum(POINTS[task] for task in tasks)


def solved() -> dict[str, Handed]:
    """What gets all points, however it was named or kept."""
    name = EXERCISE.filename
    return {
        "good": Handed(one(good()), FULL),
        "second_way": Handed({f"/03_shapes_and_strides/{name}": one(second_way())[".ipynb"], "/n.txt": b"hello"}, FULL),
        "renamed": Handed({"/my homework.ipynb": one(without_marks())[".ipynb"]}, FULL, "lost their nbgrader metadata"),
        "jumbled": Handed(one(jumbled()), FULL, "cells are there more than once"),
        "odd_cells_of_its_own": Handed(one(with_cells(*MISBEHAVING)), FULL, "printed more than 100,000"),
    }


def wrong() -> dict[str, Handed]:
    """What is wrong, unfinished, or pretends."""
    everything = "return type('Any', (tuple,), {'__eq__': lambda a, b: True, '__repr__': lambda a: '(4, 1)'})()"
    return {
        "untouched": Handed(one(untouched()), 0, "not written: contiguous_strides, storage_index"),
        "anything": Handed(one(with_tasks(lambda: every_task(everything), permute=CONSTANT)), 0),
        "patches": Handed(one(with_cells(PATCH, base=untouched)), 0),
        "answers_for_itself": Handed(one(with_cells(ANSWERS, base=checks_replaced)), 0, "check cells were changed"),
        "deleted": Handed(one(deleted()), minus("permute", "merge_heads"), "above its check: permute"),
        "engine": Handed(
            one(with_tasks(contiguous_strides="from autogradlab.shapes import contiguous_strides", expand=INSIDE)),
            minus("contiguous_strides", "view_stride", "expand"),
            "autogradlab.shapes is not there while an exercise is graded",
        ),
        "another_name": Handed(
            one(with_tasks(permute="def permut(*args):\n    pass", expand="def expand(a):\n    x = 1\n      return x")),
            minus("permute", "merge_heads", "expand"),
            "permute: the cell of task 4 no longer defines permute; expand: IndentationError: unexpected indent, "
            "in the cell of task 5, line 3: return x",
        ),
        "several": Handed(
            one(with_tasks(contiguous_strides=WITH_NUMPY, permute=RECURSIVE, expand="def expand(a, b, c:\n    pass")),
            minus("contiguous_strides", "view_stride", "permute", "merge_heads", "expand"),
            "contiguous_strides: calls numpy",
        ),
    }


def running_away() -> dict[str, Handed]:
    """What does not come to an end, or brings down what it runs in."""
    return {
        "endless": Handed(
            one(with_tasks(storage_index=ENDLESS, infer_shape=STUBBORN)),
            minus("storage_index", "infer_shape"),
            "storage_index: A call ran longer than 2 s and was stopped",
        ),
        "exits": Handed(
            one(with_tasks(lambda: with_cells("exit()"), expand="def expand(*args):\n    __import__('os')._exit(0)")),
            minus("expand"),
            "expand: The function ended the Python process",
        ),
        "flood": Handed(one(with_cells("while True:\n    print('x' * 1000)")), FULL, "printed more than 100,000"),
        "kills_its_grader": Handed(one(with_cells(KILL)), 0, "ended unexpectedly", False),
        "spoils_its_gradebook": Handed(one(with_cells(SPOIL)), 0, "nbgrader could not grade it", False),
    }


def unreadable() -> dict[str, Handed]:
    """What is no notebook of this exercise."""
    whole = one(good())[".ipynb"]
    other = one(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")]))
    return {
        "empty": Handed({".ipynb": b""}, 0, "the file is empty", False),
        "cut_off": Handed({".ipynb": whole[:5000]}, 0, "not valid JSON", False),
        "binary": Handed({".ipynb": b"\x89PNG\r\n\x1a\n" + bytes(range(256))}, 0, "not text", False),
        "no_cells": Handed({".ipynb": json.dumps({"name": "x"}).encode()}, 0, "has no cells", False),
        "odd_cells": Handed({".ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "cells": [1]}'}, 0, "structure", False),
        "another": Handed(other, 0, "holds none of", False),
        "two_notebooks": Handed({"/a.ipynb": whole, "/b.ipynb": b"{}"}, 0, "the folder holds 2 notebooks", False),
        "wrong_place": Handed({"/readme.txt": b"it is on my other computer"}, 0, "holds no notebook", False),
    }


def handed_in() -> dict[str, Handed]:
    """All of them, by student. A file named ".ipynb" lies in the folder itself, under the student's name."""
    return {**solved(), **wrong(), **running_away(), **unreadable()}
