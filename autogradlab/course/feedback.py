"""What students get back: nbgrader's page for a graded notebook, a plain one where there was nothing to be graded."""

import html

from . import files
from .gradebook import Book
from .nbgrader_api import run

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 40em; margin: 3em auto; line-height: 1.5">
<h1>{title}</h1><p>Your submission could not be graded: {reason}.</p>
<p>Open your notebook in JupyterLab, run <code>python3 course.py check {number}</code>, mend what it names, and hand it
in again. Nothing that you handed in before is lost.</p></body></html>
"""


def generate(book: Book, student: str) -> None:
    """nbgrader's feedback page for a graded submission."""
    slug = book.exercise.slug
    run(book.api.generate_feedback(slug, student), f"write the feedback for {student} (the marks are stored)")


def explain(book: Book, student: str, reason: str) -> None:
    """A page that says why there are no marks."""
    exercise = book.exercise
    page = PAGE.format(title=html.escape(exercise.slug), reason=html.escape(reason), number=exercise.number)
    path = book.folder / "feedback" / student / exercise.slug / f"{exercise.slug}.html"
    files.write_atomically(path, page.encode())
