"""What a question knows, apart from how it is shown: the answer, why it is so, what to say to a particular mistake."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


class Unreadable(ValueError):
    """What was typed is not of the kind the question asks for; the text says what would be."""


@dataclass
class Reply:
    """What follows from an answer."""

    right: bool
    text: str


@dataclass
class Question:
    """A question with one right answer.

    parse: from what was typed to a value; replies: what to say to particular wrong values; why: the reason, shown after
    any answer.
    """

    text: str
    answer: object
    why: str
    replies: Mapping = field(default_factory=dict)
    parse: Callable[[str], object] = str
    shown: str = ""

    def reply(self, typed) -> Reply:
        """Right or wrong, with the words for it.  Raises Unreadable if `typed` is no answer at all."""
        value = self.parse(typed)
        if same(value, self.answer):
            return Reply(True, f"Right: {self.answer_text()}.")
        hint = next((said for wrong, said in self.replies.items() if same(value, wrong)), "")
        text = f"Not quite: you said {_quoted(value)}; the answer is {self.shown or _quoted(self.answer)}."
        return Reply(False, f"{text} {hint}".strip())

    def answer_text(self) -> str:
        return self.shown or _show(self.answer)


def _show(value) -> str:
    return value if isinstance(value, str) else repr(value)


def _quoted(value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def same(a, b) -> bool:
    """Equal, numbers to one part in a thousand, text whatever its case and spaces."""
    if isinstance(a, str) and isinstance(b, str):
        return " ".join(a.lower().split()) == " ".join(b.lower().split())
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-3 * abs(b)
    return a == b


def number_parser(unit: str = "") -> Callable[[str], float | int]:
    """A parser of numbers as people type them: 1,536 or 1 536 or 1.5e3, with the unit behind it or without."""

    def parse(typed) -> float | int:
        text = str(typed).strip().removesuffix(unit).replace(" ", "").replace("_", "")
        if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", text):
            text = text.replace(",", "")
        try:
            return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
        except ValueError:
            raise Unreadable(f"{typed!r} is not a number: type digits, such as 12 or 0.5.") from None

    return parse


def tuple_parser(length: int | None) -> Callable[[str], tuple[int, ...]]:
    """A parser of shapes and strides: (4, 1), with or without the brackets."""

    def parse(typed) -> tuple[int, ...]:
        if isinstance(typed, tuple):
            return typed
        inner = str(typed).strip().removeprefix("torch.Size").strip(" ()[]")
        parts = [p.strip() for p in inner.split(",") if p.strip()]
        if not all(re.fullmatch(r"-?\d+", p) for p in parts):
            raise Unreadable(f"{typed!r} is not a tuple of whole numbers: type something like (7, 5).")
        if length is not None and len(parts) != length:
            raise Unreadable(f"{typed!r} has {len(parts)} number{'s' * (len(parts) != 1)}; {length} are asked for.")
        return tuple(int(p) for p in parts)

    return parse
