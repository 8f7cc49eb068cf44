"""The quiz at a chapter's end: every wrong choice has its own explanation, one retry, a score.

quiz(
    ask("Which of these copies?", right=("x[[0, 1]]", "A list chooses, so the rows are copied."),
        wrong={"x[0:2]": "A slice is a view: only offset and sizes change."}),
    ...)
"""

import hashlib
from dataclasses import dataclass
from html import escape

from . import progress
from .formulas import FORMULA, html
from .panel import Panel, button, note, radio, row

RETRIES = 1


@dataclass
class Item:
    """One question of a quiz: the right choice with its reason, and a reason for each wrong one."""

    text: str
    right: str
    because: str
    wrong: dict[str, str]

    def options(self) -> list[str]:
        """The choices in an order that is the same every time and does not give the answer away."""
        return sorted([self.right, *self.wrong], key=lambda o: hashlib.sha256((self.text + o).encode()).digest())

    def explain(self, chosen: str) -> str:
        return self.because if chosen == self.right else self.wrong[chosen]


def ask(text: str, *, right: tuple[str, str], wrong: dict[str, str]) -> Item:
    """A question: right=(choice, why it is right), wrong={choice: why it is not}."""
    choice, because = right
    if not wrong or choice in wrong:
        raise ValueError(f"quiz: {text!r} needs wrong choices that differ from the right one.")
    if not all(said.strip() for said in [because, *wrong.values()]):
        raise ValueError(f"quiz: every choice of {text!r} needs its own explanation.")
    return Item(text, choice, because, dict(wrong))


class Attempt:
    """One reader's way through a quiz: answers, retries, score.  Knows nothing of widgets."""

    def __init__(self, items: list[Item]):
        self.items = items
        self.tries = [0] * len(items)
        self.done = [False] * len(items)
        self.points = [0.0] * len(items)

    def answer(self, index: int, chosen: str) -> tuple[bool, str]:
        """(right, what to say).  Full points at once, half after a retry; a finished question stays finished."""
        item = self.items[index]
        right = chosen == item.right
        if self.done[index]:
            return right, item.explain(chosen)
        self.tries[index] += 1
        if right:
            self.points[index] = 1.0 if self.tries[index] == 1 else 0.5
        self.done[index] = right or self.tries[index] > RETRIES
        said = item.explain(chosen)
        if not right:
            said += " Try once more." if not self.done[index] else f" The answer is: {item.right}. {item.because}"
        return right, said

    def score(self) -> str:
        total = sum(self.points)
        return (
            f"{sum(self.done)} of {len(self.items)} answered, {total:g} of {len(self.items)} points (half a point "
            f"after a retry)."
        )


def quiz(*items: Item) -> Panel:
    """Show a quiz; its static form lists the questions with their answers folded away."""
    if not items:
        raise ValueError("quiz: give at least one question, made with ask().")
    attempt = Attempt(list(items))
    total = note(attempt.score())
    if (before := progress.earlier_points([item.text for item in items])) is not None:
        total.value = f"Before: {before:g} of {len(items)} points; the best count. {attempt.score()}"
    parts = []
    for index, item in enumerate(items):
        parts += _question(attempt, index, item, total)
    text = "\n".join(
        f"{i}. {item.text}\n" + "\n".join(f"   - {o}" for o in item.options()) for i, item in enumerate(items, 1)
    )
    static = "".join(_static(i, item) for i, item in enumerate(items, 1))
    return Panel(
        [*parts, total],
        text=f"Quiz\n{text}",
        static=f"<p><b>Quiz</b> <i>(run this cell to answer here)</i></p>{static}",
    )


def _question(attempt: Attempt, index: int, item: Item, total) -> list:
    # A radio button's label is plain text: where a choice has a formula, letters stand for the choices.
    options, listed = item.options(), ""
    if any(FORMULA.search(option) for option in options):
        options = [(f"({letter})", option) for letter, option in zip("abcdefgh", options, strict=False)]
        listed = "".join(f"<br>{letter} {html(option)}" for letter, option in options)
    entry, press, said = radio(options, item.text), button("Answer"), note()

    def answer(_):
        if entry.value is None:
            said.value = "Choose one first."
            return
        right, words = attempt.answer(index, entry.value)
        kept = progress.quiz_points(item.text, attempt.points[index]) if attempt.done[index] else ""
        said.value = f"<b>{'✓ Right.' if right else '✗ Not this one.'}</b> {html(words)} <small>{escape(kept)}</small>"
        total.value = attempt.score()

    def changed(_) -> None:
        said.value = ""  # it was about another choice

    press.on_click(answer)
    entry.observe(changed, "value")
    return [note(f"<b>{index + 1}.</b> {html(item.text)}{listed}"), entry, row([press]), said]


def _static(number: int, item: Item) -> str:
    options = "".join(f"<li>{html(o)}</li>" for o in item.options())
    return (
        f"<p>{number}. {html(item.text)}</p><ul>{options}</ul>"
        f"<details><summary>Answer</summary>{html(item.right)}. {html(item.because)}</details>"
    )
