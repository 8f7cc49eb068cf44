"""A task of an exercise: its cases, its typical mistakes, and the sentence said about an answer."""

import math
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import arrays
from .arrays import Array
from .ask import Answer, ask


@dataclass(frozen=True)
class Raises:
    """The expected outcome is an error of this type, whose message holds all these words."""

    error: str
    why: str
    words: tuple[str, ...] = ()
    missed: str = ""  # the likely cause if nothing is raised, or something else


@dataclass(frozen=True)
class Case:
    """One call: the arguments, what must come back, and a few words on why."""

    args: tuple
    expected: Any
    note: str = ""


@dataclass(frozen=True)
class Mistake:
    """A typical wrong way to write the function. It is recognised by returning what the learner's returned."""

    function: Callable
    cause: str


@dataclass(frozen=True)
class Task:
    """Everything that a check of one function needs."""

    name: str
    parameters: tuple[str, ...]
    visible: tuple[Case, ...]
    reference: Callable[..., Any]  # the right answer, or a Raises
    fresh: Callable[[random.Random], list[tuple]]  # arguments of the hidden checks
    hidden: str  # what the hidden checks look at, in a few words
    mistakes: tuple[Mistake, ...]
    hint: str  # said when the mistake is not one of the typical ones
    read: str
    same: Callable[[tuple, Any, Any], bool] = lambda args, expected, value: identical(expected, value)
    shared: str = ""  # said if resulting arrays lie in the same memory or in an argument's; "" if they may
    explain: Callable[[tuple, Any], str | None] = lambda args, value: None  # what a wrong value itself gives away
    raised: tuple[tuple[str, str], ...] = ()  # the likely causes of errors, by type

    def hidden_cases(self, rng: random.Random) -> list[Case]:
        """Cases with fresh random arguments, the first of them asked twice."""
        cases = [Case(args, self.reference(*args)) for args in self.fresh(rng)]
        return [*cases, Case(cases[0].args, cases[0].expected, AGAIN)]

    def complaint(self, case: Case, answer: Answer, unsteady: bool = False, broken: tuple = ()) -> str | None:
        """What is wrong with the answer, in four or five lines; None if nothing is.

        unsteady: asked once more, the function answered something else.
        broken: functions of other tasks that this one calls and that do not pass their own checks.
        """
        if self._good(case, answer):
            return None
        lines = [
            self.call(case),
            *self._where(case),
            *_outcome(answer, bool(self.shared), self._written(case)),
            f"  expected  {_expected(case, self._written(case))}",
        ]
        unsteady = unsteady or case.note == AGAIN
        # A module that does the work may have another name the second time, once it is imported.
        cause = UNSTEADY if unsteady and answer.kind in ("value", "error") else self._cause(case, answer)
        below = (
            f"It calls your {' and '.join(broken)}, which {'fails' if len(broken) == 1 else 'fail'} too. Begin there."
        )
        told = [*textwrap.wrap(cause, 100), *textwrap.wrap(below if broken else "", 100)]
        return "\n".join([*lines, *told, f"Read: {self.read}."])

    def _good(self, case: Case, answer: Answer) -> bool:
        expected = case.expected
        if isinstance(expected, Raises):
            said = all(words in answer.text for words in expected.words)
            return answer.kind == "error" and answer.value == expected.error and said
        if answer.kind != "value" or (self.shared and answer.shared):
            return False
        return self.same(case.args, expected, answer.value)

    def call(self, case: Case) -> str:
        """The call as one would write it; arrays and long lists by the names of their parameters."""
        apart = self._apart(case)
        if any(isinstance(arg, Array) for arg in case.args):
            pairs = zip(self.parameters, case.args, strict=True)
            inside = ", ".join(name if name in apart else repr(value) for name, value in pairs)
        elif apart:
            pairs = zip(self.parameters, case.args, strict=True)
            inside = ", ".join(name if name in apart else f"{name}={value!r}" for name, value in pairs)
        elif len(case.args) < 3 or len(self.parameters) != len(case.args):
            inside = ", ".join(map(repr, case.args))
        else:
            inside = ", ".join(f"{name}={value!r}" for name, value in zip(self.parameters, case.args, strict=True))
        return f"{self.name}({inside})"

    def _apart(self, case: Case) -> dict[str, Any]:
        """The arguments that stand on lines of their own: arrays, and long ones of a long call."""
        if len(self.parameters) != len(case.args):
            return {}
        pairs = list(zip(self.parameters, case.args, strict=True))
        long = len(repr(case.args)) > LINE - 20
        return {
            name: value for name, value in pairs if isinstance(value, Array) or (long and len(repr(value)) > LINE // 4)
        }

    def _written(self, case: Case) -> list[str]:
        """The arguments that the function is to write into."""
        pairs = zip(self.parameters, case.args, strict=False)
        return [name for name, value in pairs if isinstance(value, Array) and value.written]

    def _where(self, case: Case) -> list[str]:
        """Those arguments, one after the other."""
        told = (_wrapped(f"{name} = {value!r}") for name, value in self._apart(case).items())
        return ["\n            ".join([f"  where     {lines[0]}", *lines[1:]]) for lines in told]

    def _cause(self, case: Case, answer: Answer) -> str:
        if answer.kind == "changed":
            name, arrays_given = answer.value, any(isinstance(arg, Array) for arg in case.args)
            how = f"{name}.copy()" if arrays_given else f"list({name})"
            return f"The function changed its argument {name}; work on a copy, such as {how}."
        if answer.kind == "borrowed":
            return f"The work is done by {answer.value}; the exercise asks for yours, in plain Python."
        if answer.kind == "error" and "not there while an exercise is graded" in answer.text:
            return "The work is done by a module that does not count; the exercise asks for yours, in plain Python."
        if answer.kind == "error" and answer.value == "NameError":
            return "A name is used that no cell above defines: run the cells from the top, or look for a typing error."
        expected = case.expected
        if answer.kind == "error" and isinstance(expected, Raises) and answer.value == expected.error:
            missing = " and ".join(f'"{words}"' for words in expected.words if words not in answer.text)
            return f"The error is right; its message must also say {missing}, so that its reader knows where to look."
        if answer.kind == "value":
            only_shared = answer.shared and self.same(case.args, expected, answer.value)
            return self.shared if only_shared else self._cause_of_value(case, answer.value)
        if isinstance(expected, Raises) and expected.missed:
            return expected.missed
        return {"RecursionError": RECURSION, **dict(self.raised)}.get(answer.value, self.hint)

    def _cause_of_value(self, case: Case, value: Any) -> str:
        expected = case.expected
        if told := self.explain(case.args, value):
            return told
        if value is None and not self._may_be_none:
            return "The function ends without a `return`."
        if isinstance(expected, Raises):
            return expected.missed or f"This must raise {expected.error}: {expected.why}."
        if identical(_as_tuples(expected), _as_tuples(value)):
            came, wanted = _other_type(expected, value)
            return (
                f"What is in it is right, but a {came} came back where a {wanted} is expected: {wanted}(...) makes one."
            )
        if expected is not None and _as_ints(value) == _as_ints(expected):
            came, wanted = _other_type(expected, value)
            return f"The value is right, its type is not: {came} where {wanted} is expected."
        if told := arrays.difference(expected, value):
            return told
        for mistake in self.mistakes:
            if self._mistaken(mistake.function, case.args, value):
                return mistake.cause
        return f"None came back. {self.hint}" if value is None else self.hint

    @property
    def _may_be_none(self) -> bool:
        return any(case.expected is None for case in self.visible)

    def _mistaken(self, function: Callable, args: tuple, value: Any) -> bool:
        try:
            wrong = function(*args)
            return identical(_as_tuples(wrong), _as_tuples(value)) or self.same(args, wrong, value)
        except Exception:  # the wrong way does not answer this call
            return False


WHEN = "follow when your instructor grades."
AGAIN = "asked a second time"
LINE = 100  # characters of a message's line
LINES = 5  # of one argument or result
RECURSION = (
    "The function calls itself once for every step of a long way, and Python stops at about 1,000 calls. Keep a list "
    "of what is still to be done, and take from it in a loop."
)
UNSTEADY = (
    "The same call gives different results: something outside the function, or a default argument, keeps a value."
)


def identical(a: Any, b: Any) -> bool:
    """Equal values of equal types, through and through: 1, 1.0 and True are three different answers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Array):
        return arrays.close(a, b)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(identical(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def same_strides(shape: tuple, a: tuple, b: tuple) -> bool:
    """Equal but for strides that nobody walks: those of dimensions of size 1, and all of them without elements."""
    if not identical([type(s) for s in a], [type(s) for s in b]):
        return False
    return 0 in shape or all(size == 1 or x == y for size, x, y in zip(shape, a, b, strict=True))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, tuple | list) else value


def _other_type(expected: Any, value: Any) -> tuple[str, str]:
    """The types of the first thing inside whose type is another, as (came, wanted)."""
    if type(expected) is not type(value):
        return type(value).__name__, type(expected).__name__
    pairs = zip(expected, value, strict=True) if isinstance(expected, tuple | list) else ()
    return next((found for pair in pairs if (found := _other_type(*pair))[0]), ("", ""))


def _as_ints(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_as_ints, value))
    whole = isinstance(value, int) or isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def _wrapped(text: str) -> list[str]:
    """The text on a few lines, or the beginning of a text that is too long for them."""
    lines = textwrap.wrap(text, LINE, subsequent_indent=" ") or [text]
    return lines if len(lines) <= LINES else [f"{lines[0]} ..."]


def same_but_for_rounding(expected: Any, value: Any) -> bool:
    """Equal types, and equal values but for the last digits of floats."""
    if type(expected) is not type(value):
        return False
    if isinstance(expected, tuple | list):
        pairs = zip(expected, value, strict=False)
        return len(expected) == len(value) and all(same_but_for_rounding(x, y) for x, y in pairs)
    if type(expected) is float:
        return expected == value or math.isclose(expected, value, rel_tol=1e-5, abs_tol=1e-6)
    return identical(expected, value)


def _shown(value: Any) -> list[str]:
    """A value in a message, on one line; several arrays on a line each, but for NumPy's single numbers."""
    value = arrays.scalars(value) if isinstance(value, tuple | list) else value
    if isinstance(value, tuple | list) and any(isinstance(item, Array) for item in value):
        return [line for item in value for line in _shown(item)]
    if isinstance(value, tuple) and len(repr(value)) > LINE and any(isinstance(item, list) for item in value):
        return [line for item in value for line in _wrapped(repr(item))]
    return [value.words()] if isinstance(value, Array) else _wrapped(repr(value))


def _left(value: tuple, written: list[str]) -> list[str]:
    """What came back, and what is in the arrays that were to be written into."""
    left = [
        f"{name} = {array.words() if array else 'no numbers'}" for name, array in zip(written, value[1:], strict=True)
    ]
    return [*_shown(value[0]), *(f"and left {line}" for line in left)]


def _outcome(answer: Answer, sharing: bool, written: list[str]) -> list[str]:
    if answer.kind == "error":
        lines = [f"  raised    {answer.value}: {textwrap.shorten(answer.text, 90, placeholder=' ...')}".rstrip(": ")]
        return lines + ([f"            {answer.where}"] if answer.where else [])
    if answer.kind == "changed":
        return [f"  changed   {answer.value} {answer.text}"]
    if answer.kind == "borrowed":
        return [f"  called    {answer.value}"]
    if answer.kind == "foreign":
        return [f"  returned  {answer.text}, of type {answer.value}"]
    shared = [f"  shared    {answer.shared} lie in the same memory"] if answer.shared and sharing else []
    whole = written and isinstance(answer.value, tuple) and len(answer.value) == len(written) + 1
    lines = _left(answer.value, written) if whole else _shown(answer.value)
    return ["  returned  " + "\n            ".join(lines), *shared]


def _expected(case: Case, written: list[str]) -> str:
    note = f", {case.note}" if case.note else ""
    if isinstance(case.expected, Raises):
        return f"{case.expected.error}: {case.expected.why}"
    lines = _left(case.expected, written) if written else _shown(case.expected)
    if note and isinstance(case.expected, Array) or len(lines) > 1 or len(lines[0] + note) > LINE:
        return "\n            ".join([*lines, *([case.note] if note else [])])
    return lines[0] + note


class CheckFailed(AssertionError):
    """A check that did not pass; in a notebook only its message is shown, not the way through this file."""

    def _render_traceback_(self) -> list[str]:  # IPython asks for this
        return str(self).splitlines()


def is_unwritten(answer: Answer) -> bool:
    """Whether the function itself raised NotImplementedError, not one that it calls."""
    return answer.kind == "error" and answer.value == "NotImplementedError" and "(" not in answer.where


def not_written(name: str) -> NotImplementedError:
    """The error of a function that still is as the exercise came; only its message is shown."""
    error = NotImplementedError(f"{name} is not written yet: replace the line that raises.")
    error._render_traceback_ = lambda: [str(error)]  # type: ignore[attr-defined]
    return error


CHECKS: dict[str, "Check"] = {}  # of all tasks, by name


def _names(code: Any) -> set[str]:
    """The names that a function's code uses, with those of the functions inside it."""
    inside = (part for part in code.co_consts if hasattr(part, "co_names"))
    return set(code.co_names).union(*map(_names, inside))


class Check:
    """The check of one task: call it with the function for the visible cases; `.hidden` for fresh ones."""

    def __init__(self, task: Task) -> None:
        self.task = task
        CHECKS[task.name] = self
        self.__doc__ = f"Check {task.name}({', '.join(task.parameters)})."

    def __call__(self, function: Callable) -> None:
        count = len(self.task.visible)
        self._run(function, [*self.task.visible, self._again()])
        print(f"{count} of {count} visible checks pass. Hidden checks ({self.task.hidden}) {WHEN}")

    def hidden(self, function: Callable) -> None:
        """The checks that grading adds: fresh random arguments."""
        cases = self.task.hidden_cases(random.Random())
        self._run(function, cases)
        print(f"{len(cases)} of {len(cases)} hidden checks pass ({self.task.hidden}).")

    def _again(self) -> Case:
        first = self.task.visible[0]
        return Case(first.args, first.expected, AGAIN)

    def _run(self, function: Callable, cases: list[Case]) -> None:
        for case in cases:
            answer = ask(function, case.args, self.task.parameters)
            if is_unwritten(answer):
                raise not_written(self.task.name)
            message = self.task.complaint(case, answer)
            if message:
                again = ask(function, case.args, self.task.parameters)
                unsteady = repr(again) != repr(answer)  # as text: nan is not equal to itself
                raise CheckFailed(self.task.complaint(case, answer, unsteady, self._broken_below(function)))

    def _broken_below(self, function: Callable) -> tuple[str, ...]:
        """The functions of other tasks that this one calls and that are wrong themselves."""
        code, space = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        called = [name for name in CHECKS if code and name != self.task.name and name in _names(code)]
        return tuple(name for name in called if callable(space.get(name)) and CHECKS[name].refuses(space[name]))

    def refuses(self, function: Callable) -> bool:
        """Whether a visible case fails."""
        task = self.task
        return any(task.complaint(case, ask(function, case.args, task.parameters)) for case in task.visible)
