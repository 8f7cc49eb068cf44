"""Functions of two or three numbers, element by element: atan2, hypot, logaddexp, xlogy, fmax, lerp, addcmul."""

import functools

from autogradlab import dtypes, errors
from autogradlab.convert import operand
from autogradlab.dispatch import NOTHING
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from . import samples
from .choose import where
from .elementary import exp, exp2, flat, log, passed, zeros_like
from .kinds import binary, both_tensors, floating, need_tensors, not_bool, number_second
from .out import takes_out
from .pointwise import mul, pow


@operator(**binary, floats=True, samples=samples.positive_pairs)
class atan2:
    """The angle of the point (other, input) seen from the origin, in radians, of the right quadrant."""

    arguments = both_tensors

    def kernel(xp, a, b, /, out=None):
        return xp.arctan2(a, b, out=out)

    def grad_a(g, a, b):
        return g * (b / (a * a + b * b))

    def grad_b(g, a, b):
        return g * (-a / (a * a + b * b))


alias("arctan2", "atan2")


@operator(**binary, floats=True, samples=samples.positive_pairs)
class hypot:
    """sqrt(input ** 2 + other ** 2), without overflow."""

    arguments = both_tensors

    def kernel(xp, a, b, /, out=None):
        return xp.hypot(a, b, out=out)

    def grad_a(g, a, result):
        return g * (a / result)

    def grad_b(g, b, result):
        return g * (b / result)


def _log_of_sum(name: str, power, says: str):
    """logaddexp to base e and to base 2, without overflow."""

    def kernel(xp, a, b, /, out=None):
        return getattr(xp, name)(a, b, out=out)

    def grad_a(g, a, result):
        return g * power(a - result)

    def grad_b(g, b, result):
        return g * power(b - result)

    block = {"__doc__": says, "arguments": both_tensors, "kernel": kernel, "grad_a": grad_a, "grad_b": grad_b}
    return operator(pointwise=True, floats=True, samples=samples.pairs)(type(name, (), block))


logaddexp = _log_of_sum("logaddexp", exp, "log(exp(input) + exp(other)).")
logaddexp2 = _log_of_sum("logaddexp2", exp2, "log2(2 ** input + 2 ** other).")


@operator(**binary, floats=True, samples=samples.with_number)
class xlogy:
    """input * log(other), and 0 where input is 0 (and other is a number)."""

    def kernel(xp, a, b, /):
        zero = (a == 0) & (b == b)
        return xp.where(zero, xp.zeros_like(a), a * xp.log(xp.where(zero, xp.zeros_like(b) + 1, b)))

    def grad_a(g, a, b):
        return where((a == 0) & (b <= 0), zeros_like(g), g * log(b))

    def grad_b(g, a, b):
        return g * a / b


@operator(**binary, floats=True, samples=samples.with_number)
class copysign:
    """The size of input with the sign of other."""

    arguments = number_second

    def kernel(xp, a, b, /, out=None):
        return xp.copysign(a, b, out=out)

    def grad_a(g, a, result):
        return g * where(a == 0, zeros_like(a), result / where(a == 0, zeros_like(a) + 1, a))

    grad_b = flat


def _f_extreme(name: str, beats, says: str):
    """fmax and fmin: of a number and nan, the number; where both are equal, the first gets the gradient."""

    def kernel(xp, a, b, /, out=None):
        return getattr(xp, name)(a, b, out=out)

    def grad_a(g, a, b):
        return passed(g, beats(a, b) | (b != b))

    def grad_b(g, a, b):
        return passed(g, ~(beats(a, b) | (b != b)))

    block = {"__doc__": says, "arguments": both_tensors, "kernel": kernel, "grad_a": grad_a, "grad_b": grad_b}
    return operator(pointwise=True, samples=samples.pairs)(type(name, (), block))


fmax = _f_extreme("fmax", lambda a, b: a >= b, "The larger of two; of a number and nan, the number.")
fmin = _f_extreme("fmin", lambda a, b: a <= b, "The smaller of two; of a number and nan, the number.")


@operator(pointwise=True, in_place=True, same_dtype=True, promote=False, samples=samples.pairs)
class heaviside:
    """0 below 0, 1 above, and `values` at 0."""

    def arguments(input, values):
        need_tensors("heaviside", input=input, values=values)
        if input._dtype is not values._dtype:
            raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
        return (input, values), NOTHING

    def kernel(xp, a, b, /):
        return xp.where(a == 0, b, (a > 0).astype(a.dtype)) if a.dtype.kind != "b" else a | b


@operator(pointwise=True, in_place=True, accepts=floating, samples=samples.pairs)
class nextafter:
    """The next number that the dtype has, from input towards other."""

    arguments = both_tensors

    def kernel(xp, a, b, /, out=None):
        return xp.nextafter(a, b, out=out)

    def grad_a(g, a, b):
        return g * (a != b)

    grad_b = flat


def _of_integers(name: str, says: str):
    def kernel(xp, a, b, /, out=None):
        return getattr(xp, name)(a, b, out=out)

    return operator(pointwise=True, in_place=True, accepts=lambda d: not floating(d) and not_bool(d),
                    samples=samples.int_pairs)(
        type(name, (), {"__doc__": says, "arguments": both_tensors, "kernel": kernel})
    )  # fmt: skip


gcd = _of_integers("gcd", "The greatest common divisor.")
lcm = _of_integers("lcm", "The least common multiple.")


def _power_of_two(input, other):
    """2 ** other, in the dtype of the input where it is a float and the exponents are integers."""
    exact = input._dtype.is_floating_point and not other._dtype.is_floating_point
    return pow(2.0, other.to(input._dtype) if exact else other)


def ldexp(input, other):
    """input * 2 ** other."""
    need_tensors("ldexp", input=input, other=other)
    return mul.function(input, _power_of_two(input, other))


def float_power(input, exponent):
    """input ** exponent in float64."""
    double = [t.to(dtypes.float64) if isinstance(t, Tensor) else float(t) for t in (input, exponent)]
    return pow(*double)


def ldexp_(self, other):
    need_tensors("ldexp_", other=other)
    return mul.write(self, _power_of_two(self, other))


def float_power_(self, exponent):
    if self._dtype is not dtypes.float64:
        raise errors.cannot_cast("float_power_", dtypes.float64, self._dtype)
    return self.pow_(exponent.to(dtypes.float64) if isinstance(exponent, Tensor) else float(exponent))


public(ldexp, also_method=True, around=takes_out)
public(float_power, also_method=True, around=takes_out)
method(ldexp_)
method(float_power_)


def _lerp_samples(make):
    yield (make(2, 3), make(3), 0.25), {}
    yield (make(2, 3), make(2, 1), make(3)), {}


@operator(pointwise=True, in_place=True, accepts=floating, samples=_lerp_samples)
class lerp:
    """input + weight * (end - input): from one to the other as the weight goes from 0 to 1."""

    def arguments(input, end, weight):
        need_tensors("lerp", input=input, end=end)
        if not input._dtype.is_floating_point:
            raise errors.not_implemented("lerp", input._dtype)
        if any(t._dtype is not input._dtype for t in (end, weight) if isinstance(t, Tensor)):
            raise RuntimeError(f"lerp: expected dtype {input._dtype} for `end` and `weight`.")
        if not isinstance(weight, Tensor):
            weight = operand(weight, input)
        return (input, end, weight), NOTHING

    def kernel(xp, a, b, c, /):
        return a + c * (b - a)

    def grad_a(g, c):
        return g * (1 - c)

    def grad_b(g, c):
        return g * c

    def grad_c(g, a, b):
        return g * (b - a)


@functools.lru_cache(64)
def _one_kernel(xp, name: str, formula):
    """The formula as one generated kernel where the array library makes them; NumPy goes step by step."""
    fuse = getattr(xp, "fuse", None)
    if fuse is None:
        return formula
    fused = fuse(kernel_name=name)(formula)

    def run(*operands):
        try:
            return fused(*operands)
        except (TypeError, ValueError, AttributeError, NotImplementedError):  # what it cannot generate
            return formula(*operands)

    return run


def _fused(name: str, function, says: str, grads):
    """addcmul and addcdiv: a third operand added to a product or quotient, with one result written."""

    def arguments(input, tensor1, tensor2, *, value=1):
        need_tensors(name, input=input, tensor1=tensor1, tensor2=tensor2)
        floating = all(t._dtype.is_floating_point for t in (input, tensor1, tensor2))
        if not floating and (isinstance(value, float) or name == "addcdiv"):
            raise RuntimeError(
                f"{name}: for integral input tensors, argument value must not be a floating point number, and integers "
                "are not divided: convert the tensors with .float() first."
            )
        return (input, tensor1, tensor2), {"value": value}

    def formula(a, b, c, value):
        out = function(b, c)
        return a + (out if value == 1 else out * value)

    def kernel(xp, a, b, c, /, value):
        return _one_kernel(xp, name, formula)(a, b, c, value)

    def samples(make):
        yield (make(2, 3), make(3, low=0.5), make(2, 1, low=0.5)), {"value": 0.5}

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": lambda g: g, **grads}
    return operator(pointwise=True, in_place=True, accepts=not_bool, samples=samples)(type(name, (), block))


addcmul = _fused(
    "addcmul", lambda b, c: b * c, "input + value * tensor1 * tensor2.  (D2 5.2)",
    {"grad_b": lambda g, c, value: g * (c * value), "grad_c": lambda g, b, value: g * (b * value)},
)  # fmt: skip
addcdiv = _fused(
    "addcdiv", lambda b, c: b / c, "input + value * tensor1 / tensor2.",
    {"grad_b": lambda g, c, value: g * (value / c), "grad_c": lambda g, b, c, value: -g * (value * b / (c * c))},
)  # fmt: skip
