"""Functions of one number that are met less often: inverse hyperbolic ones, angles, erfc, logit, sinc, nan_to_num."""

import math

from autogradlab.dtypes import finfo
from autogradlab.table import alias, operator, public

from . import samples
from .choose import where
from .elementary import P, Q, cos, erf, exp, flat, named, near, polynomial, rsqrt, sin, zeros_like
from .kinds import floating, function, not_bool, pointwise
from .rounding import sign

asinh = named(
    "asinh", "The number whose hyperbolic sine is x.", lambda g, a: g * rsqrt(a * a + 1), ufunc="arcsinh"
)  # fmt: skip
acosh = named(
    "acosh", "The number, 0 or above, whose hyperbolic cosine is x.",
    lambda g, a: g * rsqrt(a * a - 1), samples.between(1.2, 3.0), "arccosh",
)  # fmt: skip
atanh = named("atanh", "The number whose hyperbolic tangent is x.", lambda g, a: g / (1 - a * a), near, "arctanh")
for _name in ("sinh", "cosh", "tanh"):
    alias(f"arc{_name}", f"a{_name}")


def _scaled(name: str, factor: float, says: str):
    """An angle in other units."""

    def kernel(xp, a, /, out=None):
        return xp.multiply(a, a.dtype.type(factor), out=out)

    block = {"__doc__": says, "kernel": kernel, "grad_a": lambda g: g * factor}
    return operator(**function, samples=samples.unary)(type(name, (), block))


deg2rad = _scaled("deg2rad", math.pi / 180, "Degrees as radians.")
rad2deg = _scaled("rad2deg", 180 / math.pi, "Radians as degrees.")


@operator(**function, samples=samples.unary)
class sinc:
    """sin(pi x) / (pi x), and 1 at 0."""

    def kernel(xp, a, /):
        angle = a * a.dtype.type(math.pi)
        return xp.where(a == 0, a.dtype.type(1), xp.sin(angle) / xp.where(a == 0, a.dtype.type(1), angle))

    def grad_a(g, a):
        angle = a * math.pi
        slope = (angle * cos(angle) - sin(angle)) / where(a == 0, zeros_like(a) + 1, a * angle)
        return g * where(a == 0, zeros_like(a), slope)


@operator(**function, samples=samples.unary)
class erfc:
    """1 - erf(x), exact where erf is nearly 1."""

    def kernel(xp, a, /):
        wide = a.astype("float64")
        x = xp.minimum(xp.absolute(wide), 28.0)  # beyond, it is 0
        return xp.where(x < 1, 1 - erf.kernel(xp, wide), xp.where(wide < 0, 2 - _tail(xp, x), _tail(xp, x))).astype(
            a.dtype
        )

    def grad_a(g, a):
        return g * (exp(-(a * a)) * (-2 / math.sqrt(math.pi)))


def _tail(xp, x):
    """erfc for x >= 1: Cephes' fraction, and far out exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + 1 / (x + ...)))."""
    near, inner = xp.maximum(xp.minimum(x, 8.0), 1.0), xp.maximum(x, 8.0)
    x = inner
    for k in range(20, 0, -1):
        inner = x + (k / 2) / inner
    far = xp.exp(-x * x) / (inner * math.sqrt(math.pi))
    return xp.where(x > 8, far, xp.exp(-near * near) * (polynomial(near, P) / polynomial(near, Q)))


@operator(**function, samples=near)
class erfinv:
    """The number whose erf is x: Giles' approximation, made exact by Newton's steps."""

    def kernel(xp, a, /):
        wide = a.astype("float64")
        inside = xp.where(xp.absolute(wide) < 1, wide, 0.0)
        w = -xp.log((1 - inside) * (1 + inside))
        r = 2 / (math.pi * 0.147) - w / 2  # Winitzki's first guess
        root = xp.sqrt(xp.sqrt(r * r + w / 0.147) - r)
        y = xp.where(inside < 0, -root, root)
        for _ in range(3):  # Halley's steps, each of which trebles the digits
            error = xp.where(inside < 0, erfc.kernel(xp, -y) - (1 + inside), (1 - inside) - erfc.kernel(xp, y))
            step = error * xp.exp(y * y) * (math.sqrt(math.pi) / 2)
            y = y - step / (1 + y * step)
        edge = xp.where(xp.absolute(wide) == 1, wide * xp.inf, xp.nan)
        return xp.where(xp.absolute(wide) < 1, y, edge).astype(a.dtype)

    def grad_a(g, result):
        return g * (exp(result * result) * (math.sqrt(math.pi) / 2))


@operator(**function,
          samples=lambda make: [((make(3, low=0.1, high=0.9),), {}), ((make(3, low=0, high=1), 0.2), {})])  # fmt: skip
class logit:
    """log(x / (1 - x)): sigmoid turned round.  With eps, x is held within eps and 1 - eps first."""

    def arguments(input, eps=None):
        return (input,), {"eps": eps}

    def kernel(xp, a, /, eps):
        if eps is not None:
            a = xp.minimum(xp.maximum(a, a.dtype.type(eps)), a.dtype.type(1 - eps))
        return xp.log(a / (1 - a))

    def grad_a(g, a, eps):
        low = 0 if eps is None else eps
        outside = zeros_like(g) + (math.nan if eps is None else 0)
        return where((a >= low) & (a <= 1 - low), g / (a * (1 - a)), outside)


@operator(**pointwise, accepts=floating, samples=samples.unary)
class frac:
    """What follows the decimal point, with the sign of x."""

    def kernel(xp, a, /):
        return a - xp.trunc(a)

    def grad_a(g):
        return g


@operator(**pointwise, samples=samples.unary)
class sgn:
    """-1, 0 or 1.  The derivative is 0."""

    kernel = sign.block.kernel

    grad_a = flat


@operator(**pointwise,
          samples=lambda make: [((make(2, 3),), {}), ((make(2, 3),), {"nan": 1.0, "posinf": 2.0})])  # fmt: skip
class nan_to_num:
    """Numbers in the place of nan (0), inf and -inf (the largest and the smallest of the dtype)."""

    def arguments(input, nan=0.0, posinf=None, neginf=None):
        return (input,), {"nan": nan, "posinf": posinf, "neginf": neginf, "dtype": input._dtype}

    def kernel(xp, a, /, nan, posinf, neginf, dtype):
        if a.dtype.kind != "f":
            return a.copy()
        limits = finfo(dtype)
        high = limits.max if posinf is None else posinf
        low = limits.min if neginf is None else neginf
        held = xp.where(a != a, a.dtype.type(nan or 0.0), a)
        return xp.where(held == xp.inf, a.dtype.type(high), xp.where(held == -xp.inf, a.dtype.type(low), held))

    def grad_a(g, a):
        return g * ((a - a) == 0)


def positive(input):
    """The tensor itself, as +x is.  Not of bools."""
    if not not_bool(input._dtype):
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


public(positive, also_method=True)
alias("fix", "trunc")
