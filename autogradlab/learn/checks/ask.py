"""Calling a learner's function, and writing down as plain data what it did.

An Answer holds nothing but None, bool, int, float, str, slice, tuple and list, each of exactly that type, and NumPy
arrays written down as numbers. So an object that claims to be equal to everything is never compared with anything,
and an answer can be sent to another process, where whoever judges it shares no memory with the code that gave it.
"""

import contextlib
import copy
import json
import linecache
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from . import arrays
from .arrays import Array

BORROWED = ("autogradlab", "torch", "numpy", "cupy", "jax")  # an exercise may not call what it grades
ATOMS = (bool, int, float, str)
LARGEST = 10_000  # elements of one answer: more is no shape, stride or index
MESSAGE = 400  # characters of an error's message that are kept


@dataclass(frozen=True)
class Answer:
    """What one call did: kind is value, error, foreign (not plain data), changed (an argument) or borrowed."""

    kind: str
    value: Any = None  # the value; for the other kinds a type, parameter or module name
    text: str = ""  # the error's message, the foreign object or the changed argument in words
    where: str = ""  # for an error: the learner's line that raised it
    shared: str = ""  # for a value: which arrays in it lie in the same memory, or in an argument's


class _Foreign(Exception):
    """The value holds something that is not plain data."""


def ask(function: Callable, args: tuple, parameters: tuple[str, ...] = ()) -> Answer:
    """Call function(*args) on copies of args and describe the outcome. Never raises what the function raised.

    An Array among args is handed in as a NumPy array; then NumPy counts as one's own code. If some of them are to be
    written into, the value is a tuple: what came back, and what is in each of them afterwards.
    """
    numeric = any(isinstance(arg, Array) for arg in args)
    given = tuple(arrays.make(arg) if isinstance(arg, Array) else copy.deepcopy(arg) for arg in args)
    home = getattr(function, "__module__", None)
    if _would_do_the_work(home, numeric):
        return Answer("borrowed", home)
    borrowed: list[str] = []
    try:
        # nbgrader scores a cell 0 as soon as something reaches stderr, be it only a warning of the learner's code.
        with contextlib.redirect_stderr(sys.stdout):
            value = _watched(function, given, borrowed, numeric)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: an exit() inside the function is an answer like any other
        return Answer("error", type(error).__name__, _short(str(error), MESSAGE), _where(error, function))
    if borrowed:
        return Answer("borrowed", borrowed[0])
    names = [*parameters[: len(args)], *(f"argument {n + 1}" for n in range(len(parameters), len(args)))]
    left = []
    for name, before, after in zip(names, args, given, strict=True):
        after = arrays.written_down(after) if isinstance(before, Array) else after
        if isinstance(before, Array) and before.written:
            left.append(after)
        elif repr(before) != repr(after):
            return Answer("changed", name, f"from {_short(repr(before), 44)} to {_short(repr(after), 44)}")
    try:
        told = plain(value, numeric=numeric)
    except _Foreign as error:
        return Answer("foreign", _type_name(error.args[0]), _describe(error.args[0]))
    if left:
        return Answer("value", (told, *left))
    return Answer("value", told, shared=arrays.shared(value, list(zip(names, given, strict=True))) if numeric else "")


def _watched(function: Callable, args: tuple, borrowed: list[str], numeric: bool) -> Any:
    """Call the function and note the modules it calls that would do its work for it."""

    def watch(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__")
        elif event == "c_call":
            module = getattr(arg, "__module__", None) or type(getattr(arg, "__self__", None)).__module__
        else:
            return
        if _would_do_the_work(module, numeric):
            borrowed.append(module)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        return function(*args)
    finally:
        sys.setprofile(before)


def _would_do_the_work(module: Any, numeric: bool) -> bool:
    name = module.partition(".")[0] if isinstance(module, str) else ""
    return name in BORROWED and not (numeric and name == "numpy")


def plain(value: Any, depth: int = 0, numeric: bool = False) -> Any:
    """The value itself if it is plain data through and through, by exact type; else _Foreign.

    numeric: NumPy arrays are welcome, and written down as Array.
    """
    kind = type(value)
    # `is`, never `==` or `in`: a metaclass may claim that its class equals int.
    if value is None or any(kind is atom for atom in ATOMS):
        if kind is int and value.bit_length() > 1000:
            raise _Foreign(value)
        return value
    if (kind is tuple or kind is list) and len(value) <= LARGEST and depth < 4:
        return kind([plain(item, depth + 1, numeric) for item in value])
    if kind is slice:
        return slice(*(plain(part, depth + 1, numeric) for part in (value.start, value.stop, value.step)))
    array = arrays.written_down(value) if numeric else None
    if array is not None:
        return array
    raise _Foreign(value)


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"


def _describe(value: Any) -> str:
    if type(value) is int:
        return f"an integer of {value.bit_length()} bits"
    if type(value) is tuple or type(value) is list:
        return f"a {type(value).__name__} of {len(value)} elements"
    try:
        return _short(str(repr(value)))
    except BaseException:  # a learner's __repr__ may do anything
        return f"a {_type_name(value)} that cannot be printed"


def _short(text: str, limit: int = 120) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def _where(error: BaseException, function: Callable) -> str:
    """The innermost line of the learner's own source, as "line 3: return stride[i + 1]"."""
    source = getattr(getattr(function, "__code__", None), "co_filename", None)
    found, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == source:
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            found = f"line {trace.tb_lineno}" + (f": {_short(line, 80)}" if line else "")
        trace = trace.tb_next
    return found


def calls(several: list[tuple]) -> str:
    """The arguments of several calls as one JSON text, for `answers` in another process."""
    return json.dumps([_pack(args) for args in several])


def answers(function: Callable, asked: str, parameters: tuple[str, ...] = ()) -> str:
    """The answers to the calls as one JSON text, for a judge in another process."""
    return json.dumps([_encode(ask(function, _unpack(args), parameters)) for args in json.loads(asked)])


def read_answers(text: str) -> list[Answer]:
    """Read what `answers` wrote; ValueError if it is anything else."""
    try:
        rows = json.loads(text)
        return [
            Answer(row["kind"], _unpack(row["value"]), *(str(row[key]) for key in ("text", "where", "shared")))
            for row in rows
        ]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a list of answers: {error}") from None


def _encode(answer: Answer) -> dict:
    return {**asdict(answer), "value": _pack(answer.value)}


def _pack(value: Any) -> Any:
    if type(value) is tuple:
        return {"tuple": [_pack(item) for item in value]}
    if isinstance(value, Array):
        return arrays.pack(value)
    if type(value) is slice:
        return {"slice": [_pack(part) for part in (value.start, value.stop, value.step)]}
    if value is ...:
        return {"ellipsis": True}
    return [_pack(item) for item in value] if type(value) is list else value


def _unpack(value: Any) -> Any:
    if isinstance(value, dict):
        if "array" in value:
            return arrays.unpack(value)
        if "slice" in value:
            start, stop, step = map(_unpack, value["slice"])
            return slice(start, stop, step)
        if "ellipsis" in value:
            return ...
        return tuple(_unpack(item) for item in value["tuple"])
    return [_unpack(item) for item in value] if isinstance(value, list) else value
