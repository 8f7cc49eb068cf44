"""Arithmetic, element by element.  Operands broadcast; the engine sums gradients back to each operand's shape."""

from autogradlab import dtypes
from autogradlab.dispatch import NOTHING, operand
from autogradlab.operators import _binary_arguments
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from . import samples
from .choose import where
from .elementary import log, zeros_like
from .kinds import binary, not_bool, pointwise


def no_formula(name: str):
    raise RuntimeError(f"derivative for {name} is not implemented: it is a step function, flat almost everywhere.")


@operator(**binary, symbols=("__add__", "__radd__", "__iadd__"), samples=samples.with_number)
class add:
    """Sum, element by element: input + alpha * other, over their broadcast shape.  (D1 1.3)"""

    def arguments(input, other, *, alpha=1):
        inputs, _ = _binary_arguments(input, other)
        return inputs, NOTHING if alpha == 1 else {"alpha": alpha}

    def kernel(xp, a, b, /, alpha=1, out=None):
        return xp.add(a, b if alpha == 1 else b * alpha, out=out)

    def grad_a(g):
        return g

    def grad_b(g, alpha=1):
        return g if alpha == 1 else g * alpha


@operator(**binary, symbols=("__sub__", "__rsub__", "__isub__"), accepts=not_bool, samples=samples.with_number)
class sub:
    """Difference, element by element: input - alpha * other, over their broadcast shape.  (D1 1.3)"""

    def arguments(input, other, *, alpha=1):
        inputs, _ = _binary_arguments(input, other)
        return inputs, NOTHING if alpha == 1 else {"alpha": alpha}

    def kernel(xp, a, b, /, alpha=1, out=None):
        return xp.subtract(a, b if alpha == 1 else b * alpha, out=out)

    def grad_a(g):
        return g

    def grad_b(g, alpha=1):
        return -g if alpha == 1 else g * -alpha


def rsub(input, other, *, alpha=1):
    """other - alpha * input."""
    return sub.function(operand(other, input) if not isinstance(other, Tensor) else other, input, alpha=alpha)


public(rsub)


@operator(**binary, symbols=("__mul__", "__rmul__", "__imul__"), samples=samples.with_number)
class mul:
    """Product, element by element, over the broadcast shape.  (D1 1.3, D3 2.2)"""

    def kernel(xp, a, b, /, out=None):
        return xp.multiply(a, b, out=out)

    def grad_a(g, b):  # needs b, so b is saved - when a wants a gradient
        return g * b

    def grad_b(g, a):
        return g * a


@operator(node="DivBackward0", **binary, floats=True, symbols=("__truediv__", "__rtruediv__", "__itruediv__"),
          public=(), samples=samples.with_number)  # fmt: skip
class true_divide:
    """Quotient, element by element; integers become floats.  (D1 1.3)"""

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


@operator(node="DivBackward1", **binary, public=(), accepts=not_bool, samples=samples.positive_pairs)
class trunc_divide:
    """Quotient rounded towards zero; its derivative is zero."""

    def kernel(xp, a, b, /):
        _no_zero(xp, b)
        if a.dtype.kind in "iu":  # exact for int64, unlike a detour through floats
            q = xp.floor_divide(a, b)
            return q + ((q < 0) & (q * b != a)).astype(q.dtype)
        return xp.trunc(xp.true_divide(a, b))

    def grad_a(g):
        return zeros_like(g)

    def grad_b(g):
        return zeros_like(g)


def div(input, other, *, rounding_mode=None, out=None):
    """Quotient, element by element.  rounding_mode: None (true division), "trunc" (towards zero) or "floor"."""
    return _division(rounding_mode).function(input, other, out=out)


def div_(self, other, *, rounding_mode=None):
    return _division(rounding_mode).write(self, other)


def _division(rounding_mode):
    found = {None: true_divide, "trunc": trunc_divide, "floor": floor_divide}.get(rounding_mode)
    if found is None:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}."
        )
    return found


public(div, also_method=True)
method(div_)
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
        if isinstance(input, Tensor) and not input._dtype.is_floating_point:
            if isinstance(exponent, float):
                input = input.to(dtypes.get_default_dtype())
            elif exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed: convert to float first.")
            elif input._dtype is dtypes.bool_:
                input = input.to(dtypes.int64)
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
        if a.dtype.kind in "iu" and bool(xp.any(b < 0)):
            raise RuntimeError("Integers to negative integer powers are not allowed: convert to float first.")
        return xp.power(a, b, out=out)

    def grad_a(g, a, b):
        return where(b == 0, zeros_like(g), g * (b * a ** (b - 1)))

    def grad_b(g, a, b, result):
        return where((a == 0) & (b >= 0), zeros_like(g), g * (result * log(a)))


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
method(lambda self, other: pow(self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented, "__pow__")
method(pow_, "__ipow__")


@operator(**pointwise, accepts=not_bool, symbols=("__neg__",), samples=samples.unary)
class neg:
    """-x, element by element."""

    def kernel(xp, a, /, out=None):
        return xp.negative(a, out=out)

    def grad_a(g):
        return -g


@operator(**pointwise, symbols=("__abs__",), samples=samples.unary)
class abs:
    """Absolute value.  The derivative at 0 is 0."""

    def kernel(xp, a, /, out=None):
        return xp.absolute(a, out=out)

    def grad_a(g, a):
        return g * sign(a)


@operator(**pointwise, samples=samples.unary)
class sign:
    """-1, 0 or 1.  The derivative is 0."""

    def kernel(xp, a, /, out=None):
        return xp.sign(a, out=out) if a.dtype.kind != "b" else a.copy()

    def grad_a(g):
        return zeros_like(g)


@operator(**pointwise, accepts=not_bool, samples=samples.unary)
class floor:
    """The largest integer not above.  The derivative is 0."""

    def kernel(xp, a, /, out=None):
        return xp.floor(a, out=out)

    def grad_a(g):
        return zeros_like(g)


@operator(**pointwise, accepts=not_bool, samples=samples.unary)
class ceil:
    """The smallest integer not below.  The derivative is 0."""

    def kernel(xp, a, /, out=None):
        return xp.ceil(a, out=out)

    def grad_a(g):
        return zeros_like(g)


@operator(**pointwise, accepts=not_bool, samples=samples.unary)
class trunc:
    """The integer part.  The derivative is 0."""

    def kernel(xp, a, /, out=None):
        return xp.trunc(a, out=out)

    def grad_a(g):
        return zeros_like(g)


@operator(**pointwise, accepts=not_bool,
          samples=lambda make: [((make(2, 3),), {}), ((make(2, 3),), {"decimals": 1})])  # fmt: skip
class round:
    """To the nearest integer (or number of decimals), halves to the even one.  The derivative is 0."""

    def arguments(input, *, decimals=0):
        return (input,), {"decimals": decimals} if decimals else NOTHING

    def kernel(xp, a, /, decimals=0):
        return xp.round(a, decimals)

    def grad_a(g):
        return zeros_like(g)


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

    def kernel(xp, a, /, out=None):
        return xp.multiply(a, a, out=out)

    def grad_a(g, a):
        return g * (a * 2)
