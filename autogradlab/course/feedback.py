"""What students get back: nbgrader's page for a graded notebook, a plain one where there was nothing to be graded."""

import html
import itertools
import re
from pathlib import Path

from . import files
from .gradebook import Book
from .nbgrader_api import run

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 40em; margin: 3em auto; line-height: 1.5">
<h1>{title}</h1><p>Your submission could not be graded: {reason}.</p>
<p>In a terminal, run <code>python3 course.py check {number}</code>: it looks at your own copy. If that is damaged too,
it says how to get the last good version back; if it is well, hand it in again with
<code>python3 course.py submit {number}</code>. Nothing that you handed in before is lost.</p></body></html>
"""


# nbgrader's style sheet takes the triangle from what folds, and its table of contents calls every task "Test cell".
STYLE = "<style>summary { display: list-item; cursor: pointer; font-weight: bold }</style>\n</head>"
ENTRY = re.compile(r'<a href="#check_(\w+)">Test cell</a>')


def generate(book: Book, student: str) -> None:
    """nbgrader's feedback page for a graded submission."""
    slug = book.exercise.slug
    run(book.api.generate_feedback(slug, student), f"write the feedback for {student} (the marks are stored)")
    path = _page(book, student)
    page = path.read_text("utf-8").replace("</head>", STYLE, 1)
    count = itertools.count(1)
    named = ENTRY.sub(lambda entry: f'<a href="#check_{entry[1]}">Task {next(count)}: {entry[1]}</a>', page)
    files.write_atomically(path, named.encode())


def explain(book: Book, student: str, reason: str) -> None:
    """A page that says why there are no marks."""
    exercise = book.exercise
    page = PAGE.format(title=html.escape(exercise.slug), reason=html.escape(reason), number=exercise.number)
    files.write_atomically(_page(book, student), page.encode())


def _page(book: Book, student: str) -> Path:
    slug = book.exercise.slug
    return book.folder / "feedback" / student / slug / f"{slug}.html"
