"""What students get back: nbgrader's page for a graded notebook, a plain one where there was nothing to be graded."""

import copy
import functools
import html
import itertools
import re
from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from .places import Exercise
from .structure import grade_id, is_check, is_solution

PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 40em; margin: 3em auto; line-height: 1.5">
<h1>{title}</h1><p>Your submission could not be graded: {reason}.</p>
<p>In a terminal, run <code>python3 course.py check {number}</code>: it looks at your own copy. If that is damaged too,
it says how to get the last good version back; if it is well, hand it in again with
<code>python3 course.py submit {number}</code>. Nothing that you handed in before is lost.</p></body></html>
"""

# A submission may print HTML: a page runs no script and asks for nothing from elsewhere.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'"
HEAD = f"""<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">"""
# nbgrader's style sheet takes the triangle from what folds; after it, this gives it back.
STYLE = "<style>summary { display: list-item; cursor: pointer; font-weight: bold }</style>\n</head>"
SCRIPT = re.compile(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->|<script\b[^>]*></script>", re.S)
ENTRY = re.compile(r'<a href="#check_(\w+)">Test cell</a>')  # its table of contents calls every task so
LABEL = re.compile(r"<span class=\"nbgrader-label\">[^<]*<code>(check_)?(\w+)</code></span>")
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS.*?^### END HIDDEN TESTS\n?", re.S | re.M)


def page(graded: NotebookNode, title: str, marks: dict, by_hand: dict) -> str:
    """nbgrader's feedback page for a graded notebook, without the hidden checks' calls."""
    shown = copy.deepcopy(graded)
    total = most = 0.0
    for cell in shown.cells:
        name, record = grade_id(cell), cell.metadata.get("nbgrader")
        if is_check(cell):
            cell.source = HIDDEN.sub("", cell.source).rstrip()
            record.score = _score(marks["scores"][name], record.points, by_hand.get(name, {}))
            total, most = total + record.score, most + record.points
        elif is_solution(cell):
            record.comment = by_hand.get(name, {}).get("comment") or marks["comments"].get(name)
    resources = {"nbgrader": {"notebook": title, "score": total, "max_score": most, "late_penalty": 0}}
    text = (
        SCRIPT.sub("", _exporter().from_notebook_node(shown, resources)[0])
        .replace("<head>", HEAD, 1)
        .replace("</head>", STYLE, 1)
    )
    count, numbers = itertools.count(1), {}
    text = ENTRY.sub(lambda entry: f'<a href="#check_{entry[1]}">Task {next(count)}: {entry[1]}</a>', text)
    numbers = {grade_id(cell): n for n, cell in enumerate(filter(is_check, shown.cells), 1)}
    return LABEL.sub(lambda label: _label(label, numbers), text)


def explain(exercise: Exercise, reason: str) -> str:
    """A page that says why there are no marks."""
    return PLAIN.format(title=html.escape(exercise.slug), reason=html.escape(reason), number=exercise.number)


def place(folder: Path, student: str, exercise: Exercise) -> Path:
    """Where the page lies: where nbgrader's own tools look for it."""
    return folder / "feedback" / student / exercise.slug / f"{exercise.slug}.html"


@functools.cache
def _exporter() -> HTMLExporter:
    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    css = formgrader / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    return HTMLExporter(
        template_name="feedback",
        extra_template_basedirs=[str(formgrader / "templates")],
        extra_template_paths=[str(css)],
    )


def _score(automatic: float, points: float, given: dict) -> float:
    manual = given.get("manual")
    return (min(automatic, points) if manual is None else manual) + (given.get("extra") or 0)


def _label(label: re.Match, numbers: dict) -> str:
    number = numbers.get(f"check_{label[2]}")
    what = ("Check of task" if label[1] else "Task") if number else "Cell"
    return f'<span class="nbgrader-label">{what} {number or ""}: <code>{label[2]}</code></span>'
