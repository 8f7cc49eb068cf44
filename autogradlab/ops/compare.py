"""Comparisons, tests and logic: results are bool and have no gradient."""

from autogradlab import dtypes
from autogradlab.convert import common_dtype, operand
from autogradlab.dispatch import call
from autogradlab.operators import _binary_arguments
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from . import samples
from .kinds import both_tensors, need_tensors, number_second

comparison = {"pointwise": True, "in_place": True, "result": dtypes.bool_, "samples": samples.with_number}


def _compare(name: str, symbol: str, function: str, says: str):
    """The six comparisons differ in one word."""

    def kernel(xp, a, b, /, out=None):
        return getattr(xp, function)(a, b, out=out)

    block = {"__doc__": says, "arguments": number_second, "kernel": kernel}
    return operator(symbols=(symbol,), **comparison)(type(name, (), block))


eq = _compare("eq", "__eq__", "equal", "Where the two are equal.")
ne = _compare("ne", "__ne__", "not_equal", "Where the two differ.")
lt = _compare("lt", "__lt__", "less", "Where input is less than other.")
le = _compare("le", "__le__", "less_equal", "Where input is less than or equal to other.")
gt = _compare("gt", "__gt__", "greater", "Where input is greater than other.")
ge = _compare("ge", "__ge__", "greater_equal", "Where input is greater than or equal to other.")
for _name, _of in {"not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}.items():
    alias(_name, _of)


def _logical(name: str, function: str, says: str):
    def kernel(xp, a, b, /):
        return getattr(xp, function)(a, b)

    block = {"__doc__": says, "arguments": both_tensors, "kernel": kernel}
    return operator(pointwise=True, in_place=True, result=dtypes.bool_, samples=samples.pairs)(type(name, (), block))


logical_and = _logical("logical_and", "logical_and", "Where both are non-zero.")
logical_or = _logical("logical_or", "logical_or", "Where at least one is non-zero.")
logical_xor = _logical("logical_xor", "logical_xor", "Where exactly one is non-zero.")


@operator(pointwise=True, in_place=True, result=dtypes.bool_, samples=samples.unary)
class logical_not:
    """Where it is zero."""

    def kernel(xp, a, /):
        return xp.logical_not(a)


def _whole(dtype) -> bool:
    return not dtype.is_floating_point


def _bitwise(name: str, function: str, symbols, says: str):
    def kernel(xp, a, b, /, out=None):
        return getattr(xp, function)(a, b, out=out)

    return operator(pointwise=True, in_place=True, accepts=_whole, symbols=symbols, samples=samples.int_pairs)(
        type(name, (), {"__doc__": says, "kernel": kernel})
    )


bitwise_and = _bitwise(
    "bitwise_and", "bitwise_and", ("__and__", "__rand__", "__iand__"), "Bits (or bools) set in both."
)
bitwise_or = _bitwise("bitwise_or", "bitwise_or", ("__or__", "__ror__", "__ior__"), "Bits (or bools) set in either.")
bitwise_xor = _bitwise("bitwise_xor", "bitwise_xor", ("__xor__", "__rxor__", "__ixor__"), "Bits (or bools) set in one.")


@operator(pointwise=True, in_place=True, accepts=_whole,
          samples=lambda make: [((make.bools(2, 3),), {}), ((make.ints(0, 9, (2, 3)),), {})])  # fmt: skip
class bitwise_not:
    """The other bits; for bools, the other value."""

    def kernel(xp, a, /):
        return xp.logical_not(a) if a.dtype.kind == "b" else ~a


def _invert(self):
    """~x: the other bits, or the other truth value."""
    if self._dtype.is_floating_point:
        raise TypeError(f"~ (operator.invert) is only implemented on integer and Boolean tensors: got {self._dtype}.")
    return call(bitwise_not, (self,))


method(_invert, "__invert__")


def _shift(name: str, function: str, symbols, says: str):
    """Shifts by more bits than the dtype has, or fewer than none, move every bit out."""

    def kernel(xp, a, b, /, out=None):
        bits = a.dtype.itemsize * 8
        fits = (b >= 0) & (b < bits)
        made = getattr(xp, function)(a, xp.where(fits, b, xp.zeros_like(b)))
        gone = xp.zeros_like(a) if function == "left_shift" else xp.where(a < 0, xp.zeros_like(a) - 1, xp.zeros_like(a))
        made = xp.where(fits, made, gone)
        if out is None:
            return made
        out[...] = made
        return out

    return operator(pointwise=True, in_place=True, accepts=lambda d: _whole(d) and d is not dtypes.bool_,
                    symbols=symbols, samples=samples.int_pairs)(
        type(name, (), {"__doc__": says, "kernel": kernel})
    )  # fmt: skip


bitwise_left_shift = _shift(
    "bitwise_left_shift", "left_shift", ("__lshift__", "__rlshift__", "__ilshift__"), "Bits moved up: times 2 ** other."
)
bitwise_right_shift = _shift(
    "bitwise_right_shift", "right_shift", ("__rshift__", "__rrshift__", "__irshift__"),
    "Bits moved down, the sign kept: over 2 ** other, rounded down.",
)  # fmt: skip


def _test(name: str, kernel, says: str):
    return operator(pointwise=True, result=dtypes.bool_, samples=samples.unary)(
        type(name, (), {"__doc__": says, "kernel": kernel})
    )


isnan = _test("isnan", lambda xp, a, /: a != a, "Where it is not a number.")
isinf = _test("isinf", lambda xp, a, /: xp.isinf(a), "Where it is plus or minus infinity.")
isfinite = _test("isfinite", lambda xp, a, /: xp.isfinite(a), "Where it is neither infinite nor not a number.")
isposinf = _test("isposinf", lambda xp, a, /: a == xp.inf, "Where it is plus infinity.")
isneginf = _test("isneginf", lambda xp, a, /: a == -xp.inf, "Where it is minus infinity.")
isreal = _test(
    "isreal", lambda xp, a, /: a == a if a.dtype.kind != "f" else xp.ones_like(a, dtype="bool"), "Everywhere."
)
signbit = _test(
    "signbit",
    lambda xp, a, /: xp.signbit(a) if a.dtype.kind == "f" else a < 0,
    "Where the sign is minus, that of -0.0 too.",
)


def _close_samples(make):
    a = make(2, 3)
    yield (a, a + 1e-9), {}
    yield (a, make(3)), {}


@operator(result=dtypes.bool_, pointwise=True, samples=_close_samples)
class isclose:
    """Where |input - other| <= atol + rtol * |other|."""

    def arguments(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        need_tensors("isclose", input=input, other=other)
        for word, value in (("rtol", rtol), ("atol", atol)):
            if not value >= 0:
                raise RuntimeError(f"{word} must be greater than or equal to zero, but got {value}.")
        if input._dtype is not other._dtype:
            raise RuntimeError(
                f"isclose: {input._dtype.name} did not match {other._dtype.name}: both must have the same dtype."
            )
        return _binary_arguments(input, other)[0], {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}

    def kernel(xp, a, b, /, rtol, atol, equal_nan):
        if a.dtype.kind != "f":
            a, b = a.astype("float64"), b.astype("float64")
        close = (a == b) | (xp.isfinite(b) & (xp.absolute(a - b) <= atol + rtol * xp.absolute(b)))
        return close | ((a != a) & (b != b)) if equal_nan else close


def allclose(input, other, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements of two tensors are close: |input - other| <= atol + rtol * |other|."""
    return bool(isclose.function(input, other, rtol, atol, equal_nan).all())


def equal(input, other) -> bool:
    """Whether two tensors have the same shape and equal elements."""
    need_tensors("equal", input=input, other=other)
    return tuple(input.shape) == tuple(other.shape) and bool(eq.function(input, other).all())


def result_type(a, b):
    """The dtype an operation on the two would have; numbers count as numbers."""
    beside = a if isinstance(a, Tensor) else b
    if not isinstance(beside, Tensor):
        return dtypes.promote_types(dtypes.of_python(a), dtypes.of_python(b))
    return common_dtype([t if isinstance(t, Tensor) else operand(t, beside) for t in (a, b)])


def is_nonzero(input) -> bool:
    """Whether a tensor of one element is not zero."""
    return bool(input)


public(allclose, also_method=True)
public(equal, also_method=True)
public(result_type)
public(is_nonzero, also_method=True)
public(dtypes.promote_types)
public(dtypes.can_cast)
public(lambda obj: isinstance(obj, Tensor), "is_tensor")
public(lambda input: input.is_floating_point(), "is_floating_point")
public(lambda input: input.numel(), "numel")
