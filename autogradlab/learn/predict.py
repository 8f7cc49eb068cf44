"""Predict cells: the reader answers before running the next cell; the answer and its reason appear once one was given.

    predict.choice("Is b contiguous?", ["yes", "no"], answer="no", why="...")
    predict.number("How many bytes does making b copy?", answer=0, why="...")
    predict.tuple("What is b.stride()?", answer=(1, 4), why="...", replies={(4, 1): "Those are a's."})
    predict.text("What is the node called?", answer="MulBackward0", why="...")

The call holds the answer, so the notebooks store such cells with their source folded away ({"jupyter":
{"source_hidden": true}} in the cell's metadata; a lint holds them to it).

Without a kernel (a static page, a notebook just opened) the question stands there with its answer folded away.  What
is answered is kept in work/progress.json (see progress.py); nothing is sent anywhere.
"""

from __future__ import annotations

from html import escape

from . import progress
from .formulas import html
from .panel import Panel, button, field, note, radio, row
from .questions import Question, Unreadable, number_parser, tuple_parser


def choice(question: str, options: list[str], *, answer: str, why: str, replies: dict | None = None) -> Panel:
    """One of several options.  replies: what to say to a particular wrong one."""
    if answer not in options:
        raise ValueError(f"predict.choice: the answer {answer!r} is not among the options {options}.")
    asked = Question(question, answer, why, replies or {})
    return _ask(asked, radio(options, question), "choose: " + "; ".join(options), below=True)


def number(question: str, *, answer: float, why: str, replies: dict | None = None, unit: str = "") -> Panel:
    """A number; right to one part in a thousand.  unit: shown behind it."""
    shown = f"{answer:,}" + (f" {unit}" if unit else "")
    asked = Question(question, answer, why, replies or {}, number_parser(unit), shown)
    return _ask(asked, field("a number", question), f"a number{f' of {unit}' if unit else ''}")


def tuple(question: str, *, answer: tuple, why: str, replies: dict | None = None, length: int | None = None) -> Panel:
    """A shape, strides, or other whole numbers."""
    asked = Question(question, answer, why, replies or {}, tuple_parser(length))
    return _ask(asked, field("such as (7, 5)", question), "whole numbers in brackets")


def text(question: str, *, answer: str, why: str, replies: dict | None = None) -> Panel:
    """A word or two; capitals and spaces do not matter."""
    return _ask(Question(question, answer, why, replies or {}), field("a word or two", question), "a word or two")


def _ask(asked: Question, entry, kind: str, below: bool = False) -> Panel:
    """The question with its entry, a button beside or below it, and a place for the reply."""
    press, said = button("Check my prediction"), note()

    def answer(_=None):
        if entry.value in (None, ""):
            said.value = "Give an answer first: a wrong one teaches more than none."
            return
        try:
            reply = asked.reply(entry.value)
        except Unreadable as error:
            said.value = escape(str(error))
            return
        kept = progress.prediction(asked.text, str(entry.value), reply.right)
        said.value = (
            f"<b>{'✓' if reply.right else '✗'} {html(reply.text)}</b><br>{html(asked.why)}"
            f"{f'<br><small>{escape(kept)}</small>' if kept else ''}"
        )

    def changed(_) -> None:
        """Enter in a field asks for the reply; another choice takes back the reply to the last one."""
        said.value = ""
        if not below and entry.value:
            answer()

    press.on_click(answer)
    entry.observe(changed, "value")
    before = progress.earlier(asked.text)
    if before is not None:
        verdict = "which was right" if before["right"] else "which was not it"
        first = f"Your first answer was “{escape(before['said'])}”, {verdict}."
        said.value = f"<small>{first} Answer again to read why.</small>"
    title = note(f"<b>Predict.</b> {html(asked.text)}")
    folded = (
        f"<p><b>Predict.</b> {html(asked.text)} <i>({escape(kind)}; run this cell to answer here)</i></p>"
        f"<details><summary>Answer</summary>{html(asked.answer_text())}. {html(asked.why)}</details>"
    )
    middle = [entry, row([press])] if below else [row([entry, press])]
    return Panel([title, *middle, said], text=f"Predict. {asked.text}", static=folded)
