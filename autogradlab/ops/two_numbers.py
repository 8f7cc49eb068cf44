"""Functions of two numbers, element by element: atan2, hypot, logaddexp, lerp."""

from autogradlab.dispatch import NOTHING, operand
from autogradlab.operators import numbers_to_tensors
from autogradlab.table import alias, operator
from autogradlab.tensor import Tensor

from . import samples
from .elementary import exp
from .kinds import binary, floating


@operator(**binary, floats=True, samples=samples.positive_pairs)
class atan2:
    """The angle of the point (other, input) seen from the origin, in radians, of the right quadrant."""

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

    def kernel(xp, a, b, /, out=None):
        return xp.hypot(a, b, out=out)

    def grad_a(g, a, result):
        return g * (a / result)

    def grad_b(g, b, result):
        return g * (b / result)


@operator(pointwise=True, floats=True, autocast="promote", samples=samples.pairs)
class logaddexp:
    """log(exp(input) + exp(other)), without overflow."""

    def kernel(xp, a, b, /, out=None):
        return xp.logaddexp(a, b, out=out)

    def grad_a(g, a, result):
        return g * exp(a - result)

    def grad_b(g, b, result):
        return g * exp(b - result)


def _lerp_samples(make):
    yield (make(2, 3), make(3), 0.25), {}
    yield (make(2, 3), make(2, 1), make(3)), {}


@operator(pointwise=True, in_place=True, autocast="promote", accepts=floating, samples=_lerp_samples)
class lerp:
    """input + weight * (end - input): from one to the other as the weight goes from 0 to 1."""

    def arguments(input, end, weight):
        if not isinstance(weight, Tensor):
            weight = operand(weight, input)
        return (*numbers_to_tensors(input, end), weight), NOTHING

    def kernel(xp, a, b, c, /):
        return a + c * (b - a)

    def grad_a(g, c):
        return g * (1 - c)

    def grad_b(g, c):
        return g * c

    def grad_c(g, a, b):
        return g * (b - a)
