"""Arithmetic, element by element.  Operands broadcast; the engine sums gradients back to each operand's shape."""

import numpy

from autogradlab import dtypes
from autogradlab.convert import autocasts, need_64_bits, number, operand
from autogradlab.dispatch import NOTHING, call
from autogradlab.operators import numbers_to_tensors
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from . import samples
from .choose import where
from .elementary import flat, log, zeros_like
from .kinds import binary, held, need_tensors, not_bool, number_second, pointwise
from .rounding import floor, sign, trunc


def no_formula(name: str):
    raise RuntimeError(f"derivative for {name} is not implemented: its values are steps, flat almost everywhere.")


def _scaled_arguments(input, other, alpha):
    """The arguments of add and sub: two operands and a factor for the second."""
    inputs = numbers_to_tensors(input, other)
    alpha = alpha if type(alpha) is int else number(alpha, "alpha")
    if isinstance(alpha, float) and not any(isinstance(t, Tensor) and t._dtype.is_floating_point for t in inputs):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    unsigned = all(isinstance(t, Tensor) and t._dtype is dtypes.uint8 for t in inputs)
    return inputs, NOTHING if alpha == 1 else {"alpha": alpha % 256 if unsigned else alpha}


def _no_bools(*operands) -> None:
    if any(isinstance(t, bool) or isinstance(t, Tensor) and t._dtype is dtypes.bool_ for t in operands):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported: to invert a mask use `~` or "
            "logical_not()."
        )


@operator(**binary, symbols=("__add__", "__radd__", "__iadd__"), samples=samples.with_number)
class add:
    """Sum, element by element: input + alpha * other, over their broadcast shape.  (D1 1.3)"""

    def arguments(input, other, *, alpha=1):
        return _scaled_arguments(input, other, alpha)

    def kernel(xp, a, b, /, alpha=1, out=None):
        return xp.add(a, b if alpha == 1 else b * alpha, out=out)

    def grad_a(g):
        return g

    def grad_b(g, alpha=1):
        return g if alpha == 1 else g * alpha


@operator(**binary, samples=samples.with_number)
class sub:
    """Difference, element by element: input - alpha * other, over their broadcast shape.  (D1 1.3)"""

    def arguments(input, other, *, alpha=1):
        _no_bools(input, other)
        return _scaled_arguments(input, other, alpha)

    def kernel(xp, a, b, /, alpha=1, out=None):
        return xp.subtract(a, b if alpha == 1 else b * alpha, out=out)

    def grad_a(g):
        return g

    def grad_b(g, alpha=1):
        return -g if alpha == 1 else g * -alpha


@operator(node="RsubBackward1", pointwise=True, samples=samples.with_number)
class rsub:
    """other - alpha * input: subtraction the other way round, as 5 - x needs it."""

    def arguments(input, other, *, alpha=1):
        need_tensors("rsub", input=input)
        _no_bools(input, other)
        return _scaled_arguments(input, other, alpha)

    def kernel(xp, a, b, /, alpha=1, out=None):
        return xp.subtract(b, a if alpha == 1 else a * alpha, out=out)

    def grad_a(g, alpha=1):
        return -g if alpha == 1 else g * -alpha

    def grad_b(g):
        return g


def _minus(self, other):
    if type(other) is Tensor and other._dtype is self._dtype is not dtypes.bool_:
        return call(sub, (self, other))
    return sub.function(self, other) if _is_operand(other) else NotImplemented


def _is_operand(value) -> bool:
    return isinstance(value, (Tensor, int, float, numpy.ndarray, numpy.generic))


method(_minus, "__sub__")
method(lambda self, other: rsub.function(self, other) if _is_operand(other) else NotImplemented, "__rsub__")
method(lambda self, other: sub.write(self, other) if _is_operand(other) else NotImplemented, "__isub__")


@operator(**binary, symbols=("__mul__", "__rmul__", "__imul__"), samples=samples.with_number)
class mul:
    """Product, element by element, over the broadcast shape.  (D1 1.3, D3 2.2)"""

    def kernel(xp, a, b, /, out=None):
        return xp.multiply(a, b, out=out)

    def grad_a(g, b):  # needs b, so b is saved - when a wants a gradient
        return g * b

    def grad_b(g, a):
        return g * a


@operator(node="DivBackward0", **binary, floats=True, symbols=("__truediv__", "__itruediv__"),
          public=(), samples=samples.with_number)  # fmt: skip
class true_divide:
    """Quotient, element by element; integers become floats.  (D1 1.3)"""

    def arguments(input, other):
        return numbers_to_tensors(input, other, floats=True), NOTHING

    def kernel(xp, a, b, /, out=None):
        return xp.true_divide(a, b, out=out)

    def grad_a(g, b):
        return g / b

    def grad_b(g, a, b):
        return -g * ((a / b) / b)


def _no_zero(xp, b) -> None:
    """Integer division by zero has no value to return.  (NumPy would return 0 with a warning.)"""
    if b.dtype.kind in "iub" and bool(xp.any(b == 0)):
        raise RuntimeError("ZeroDivisionError: integer division or modulo by zero.")


@operator(node="FloorDivideBackward0", **binary, symbols=("__floordiv__", "__rfloordiv__", "__ifloordiv__"),
          accepts=not_bool, samples=samples.int_pairs)  # fmt: skip
class floor_divide:
    """Quotient rounded down.  Has no derivative."""

    def kernel(xp, a, b, /, out=None):
        _no_zero(xp, b)
        return xp.floor_divide(a, b, out=out)

    def grad_a(g):
        no_formula("floor_divide")

    def grad_b(g):
        no_formula("floor_divide")


@operator(node="DivBackward2", **binary, public=(), accepts=not_bool, samples=samples.positive_pairs)
class trunc_divide:
    """Quotient rounded towards zero; its derivative is zero."""

    def kernel(xp, a, b, /):
        _no_zero(xp, b)
        if a.dtype.kind in "iu":  # exact for int64, unlike a detour through floats
            q = xp.floor_divide(a, b)
            return q + ((q < 0) & (q * b != a)).astype(q.dtype)
        return xp.trunc(xp.true_divide(a, b))

    grad_a = grad_b = flat


def div(input, other, *, rounding_mode=None, out=None):
    """Quotient, element by element.  rounding_mode: None (true division), "trunc" (towards zero) or "floor"."""
    return _division(rounding_mode).function(input, other, out=out)


def div_(self, other, *, rounding_mode=None):
    return _division(rounding_mode).write(self, other)


@operator(node="DivBackward2", **binary, public=(), accepts=not_bool, samples=samples.positive_pairs)
class floor_quotient:
    """Quotient rounded down, as div(rounding_mode="floor") gives it: its derivative is zero."""

    kernel = floor_divide.block.kernel

    grad_a = grad_b = flat


def _division(rounding_mode):
    found = {None: true_divide, "trunc": trunc_divide, "floor": floor_quotient}.get(rounding_mode)
    if found is None:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}."
        )
    return found


public(div, also_method=True)
method(div_)
# As PyTorch: a number over a tensor is its reciprocal, scaled.
method(lambda self, other: reciprocal.function(self) * other if _is_operand(other) else NotImplemented, "__rtruediv__")
for _name in ("divide", "true_divide"):
    alias(_name, "div")


@operator(**binary, symbols=("__mod__", "__rmod__", "__imod__"), accepts=not_bool, samples=samples.positive_pairs)
class remainder:
    """What division leaves, with the sign of the divisor (Python's %)."""

    def kernel(xp, a, b, /, out=None):
        _no_zero(xp, b)
        return xp.remainder(a, b, out=out)

    def grad_a(g):
        return g

    def grad_b(g, a, b):
        return -g * floor(a / b)


@operator(**binary, accepts=not_bool, samples=samples.positive_pairs)
class fmod:
    """What division leaves, with the sign of the dividend (C's fmod)."""

    arguments = number_second

    def kernel(xp, a, b, /, out=None):
        _no_zero(xp, b)
        return xp.fmod(a, b, out=out)

    def grad_a(g):
        return g

    def grad_b(g, a, b):
        return -g * trunc(a / b)


@operator(node="PowBackward0", **pointwise, public=(),
          samples=lambda make: [((make(2, 3, low=0.2),), {"exponent": e}) for e in (2, 3.0, 0.5, 0, -1)])  # fmt: skip
class pow_scalar:
    """A power with a Python number as exponent.  (D2 3.1)"""

    def arguments(input, exponent):
        if type(exponent) not in (int, float):
            exponent = number(exponent, "exponent")
        need_64_bits(exponent)
        if isinstance(input, Tensor) and not input._dtype.is_floating_point:
            if isinstance(exponent, float):
                input = input.to(dtypes.get_default_dtype())
            elif exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed: convert to float first.")
            elif input._dtype is dtypes.bool_:
                input = input.to(dtypes.int64)
            else:
                held(exponent, input._dtype)
        return (input,), {"exponent": exponent}

    def kernel(xp, a, /, exponent, out=None):
        if exponent == 2:
            return xp.multiply(a, a, out=out)
        if exponent == 1 and out is None:
            return a.copy()
        if exponent == 0.5:
            return xp.sqrt(a, out=out)
        return xp.power(a, a.dtype.type(exponent), out=out)

    def grad_a(g, a, exponent):
        if exponent == 0:
            return zeros_like(g)
        return g * (exponent * pow_scalar(a, exponent=exponent - 1))


@operator(
    node="PowBackward1", **binary, public=(), symbols=("__rpow__",), accepts=not_bool, samples=samples.positive_pairs
)
class pow_tensor:
    """A power with a tensor as exponent.  The derivative at 0 ** b is 0 by the exponent where b is not negative."""

    def kernel(xp, a, b, /, out=None):
        if a.dtype.kind != "i" or not bool(xp.any(b < 0)):
            return xp.power(a, b, out=out)
        made = xp.power(a, xp.maximum(b, 0))  # 1 / a ** -b, rounded to an integer: 0, but for 1 and -1
        inverse = xp.where(a == 1, 1, xp.where(a == -1, 1 - 2 * (b % 2), 0))
        made = xp.where(b < 0, inverse, made).astype(a.dtype)
        if out is not None:
            out[...] = made
        return made

    def grad_a(g, a, b):
        return where(b == 0, zeros_like(g), g * (b * a ** (b - 1)))

    def grad_b(g, a, b, result):
        return where((a == 0) & (b >= 0), zeros_like(g), g * (result * log(a)))


@autocasts("pow")
def pow(input, exponent, *, out=None):
    """input ** exponent, element by element; either may be a Python number, but not both."""
    if isinstance(exponent, Tensor):
        if not isinstance(input, Tensor):
            input = operand(input, exponent)
        return pow_tensor.function(input, exponent, out=out)
    return pow_scalar.function(input, exponent, out=out)


def pow_(self, exponent):
    return (pow_tensor if isinstance(exponent, Tensor) else pow_scalar).write(self, exponent)


public(pow, also_method=True)
method(pow_)


def _to_the(self, other):
    if isinstance(other, (numpy.ndarray, numpy.generic)):
        other = operand(other, self) if other.shape else number(other)
    return pow(self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented


method(_to_the, "__pow__")
method(pow_, "__ipow__")


@operator(**pointwise, accepts=not_bool, symbols=("__neg__",), samples=samples.unary)
class neg:
    """-x, element by element.  Not of bools: to invert a mask use ~."""

    def kernel(xp, a, /, out=None):
        return xp.negative(a, out=out)

    def grad_a(g):
        return -g


@operator(**pointwise, accepts=not_bool, symbols=("__abs__",), samples=samples.unary)
class abs:
    """Absolute value.  The derivative at 0 is 0."""

    def kernel(xp, a, /, out=None):
        return xp.absolute(a, out=out)

    def grad_a(g, a):
        return g * sign(a)


@operator(**pointwise, floats=True, samples=samples.positive)
class reciprocal:
    """1 / x."""

    def kernel(xp, a, /, out=None):
        return xp.true_divide(a.dtype.type(1), a, out=out)

    def grad_a(g, result):
        return -g * (result * result)


@operator(node="PowBackward0", **pointwise, samples=samples.unary)
class square:
    """x * x."""

    def arguments(input):
        return (input.to(dtypes.int64) if input._dtype is dtypes.bool_ else input,), NOTHING

    def kernel(xp, a, /, out=None):
        return xp.multiply(a, a, out=out)

    def grad_a(g, a):
        return g * (a * 2)


method(lambda self: self, "__pos__")
for _name, _of in {"absolute": "abs", "negative": "neg", "multiply": "mul", "subtract": "sub"}.items():
    alias(_name, _of)
