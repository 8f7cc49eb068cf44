"""NumPy arrays as plain data: how a check writes down those it hands in and those it gets back.

An Array compares, prints and travels to another process without NumPy, which is imported only where one is made.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

NUMBERS = "biuf"  # NumPy's kinds of number: bool, integer, unsigned, floating
LARGEST = 10_000  # elements of an array that is written down
LONGEST = 60  # characters of an array's numbers in a message


@dataclass(frozen=True)
class Array:
    """dtype, shape and the numbers in reading order; written: the function is judged by what it writes into it."""

    dtype: str
    shape: tuple[int, ...]
    values: tuple
    written: bool = False

    def __repr__(self) -> str:
        """As one would type it."""
        dtype = "" if self.dtype == "float64" else f", dtype={self.dtype!r}"
        if 0 in self.shape:
            return f"np.zeros({self.shape}{dtype})"
        if len(set(map(repr, self.values))) == 1 and len(self.values) > 8:
            return f"np.full({self.shape}, {self.values[0]!r}{dtype})"
        return f"np.array({self.numbers()}{dtype})"

    def numbers(self) -> str:
        """The numbers in nested brackets, cut short if they are many."""
        text = repr(_nested(self.shape, list(self.values)))
        return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."

    def words(self) -> str:
        """shape (2,), float64: [1.0, 2.0]"""
        return f"shape {self.shape}, {self.dtype}: {'no numbers' if 0 in self.shape else self.numbers()}"


def _nested(shape: tuple[int, ...], values: list) -> Any:
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(shape[1:], values[i * step : (i + 1) * step]) for i in range(shape[0])]


def make(array: Array) -> Any:
    """A fresh NumPy array."""
    import numpy as np

    return np.array(array.values, dtype=array.dtype).reshape(array.shape)


def written_down(value: Any) -> Array | None:
    """The Array of a NumPy array or NumPy scalar of numbers, by exact type; None for anything else, or too large."""
    import numpy as np

    kind = type(value)
    # NumPy gives a scalar where one would expect an array without dimensions: the two count as one.
    if kind is not np.ndarray and not any(kind is scalar for scalar in np.sctypeDict.values()):
        return None
    if value.dtype.kind not in NUMBERS or value.size > LARGEST:
        return None
    return Array(str(value.dtype), tuple(value.shape), tuple(np.asarray(value).reshape(-1).tolist()))


def scalars(value: Any) -> Any:
    """The same with NumPy's single numbers as Python's: whoever computes with arrays gets those."""
    if isinstance(value, tuple | list):
        return type(value)(map(scalars, value))
    return value.values[0] if isinstance(value, Array) and value.shape == () else value


def shared(results: Any, given: Iterable[tuple[str, Any]]) -> str:
    """In words, which of the resulting arrays lie in the same memory, or in an argument's; "" if none does."""
    import numpy as np

    several = type(results) is tuple or type(results) is list
    named = [(f"result[{n}]" if several else "the result", r) for n, r in enumerate(results if several else [results])]
    pairs = [*((one, other) for one in named for other in given), *combinations(named, 2)]
    for (name, one), (other_name, other) in pairs:
        if type(one) is np.ndarray and type(other) is np.ndarray and np.shares_memory(one, other):
            return f"{name} and {other_name}"
    return ""


def close(a: Array, b: Array) -> bool:
    """Same dtype and shape, and the same numbers but for rounding."""
    return a.dtype == b.dtype and a.shape == b.shape and _numbers_close(a, b)


def _numbers_close(a: Array, b: Array) -> bool:
    return len(a.values) == len(b.values) and all(
        x == y or math.isclose(x, y, rel_tol=1e-5) or (x != x and y != y)
        for x, y in zip(a.values, b.values, strict=True)
    )


def difference(expected: Any, value: Any) -> str | None:
    """The first thing that can be said of two answers with arrays in them without knowing the task; None if nothing."""
    if isinstance(expected, tuple) and isinstance(value, tuple | list) and len(value) == len(expected):
        told = (difference(x, y) for x, y in zip(expected, value, strict=True))
        return next((words for words in told if words), None)
    if not isinstance(expected, Array):
        return None
    if not isinstance(value, Array):
        return f"A {type(value).__name__} came back where a NumPy array is expected."
    if expected.shape == value.shape and expected.dtype != value.dtype and _numbers_close(expected, value):
        return f"The numbers are right, their dtype is not: {value.dtype} where {expected.dtype} is expected."
    return None


def pack(array: Array) -> dict:
    """As JSON can hold it."""
    packed = {"array": [array.dtype, list(array.shape), list(array.values)]}
    return {**packed, "written": True} if array.written else packed


def unpack(packed: dict) -> Array:
    """What pack packed; ValueError if it is anything else."""
    dtype, shape, values = packed["array"]
    plain = type(dtype) is str and type(shape) is list and type(values) is list
    if not plain or any(type(size) is not int or size < 0 for size in shape) or math.prod(shape) != len(values):
        raise ValueError("not an array")
    if any(type(number) is not bool and type(number) is not int and type(number) is not float for number in values):
        raise ValueError("not an array of numbers")
    return Array(dtype, tuple(shape), tuple(values), packed.get("written") is True)
