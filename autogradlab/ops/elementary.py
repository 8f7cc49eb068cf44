"""Functions of one number, element by element: exp, log, sin, ..., and the activations built from them."""

from autogradlab.backends import host
from autogradlab.table import alias, operator

from . import samples
from .kinds import floating, function, not_bool

near = samples.between(-0.9, 0.9)


@operator(pointwise=True, public=(), samples=samples.unary)
class zeros_like:
    """Zeros of the same shape: the gradient of whatever is flat.  (The public zeros_like is in create.py.)"""

    def kernel(xp, a, /):
        return xp.zeros_like(a)


def flat(g):
    """The gradient of what moves in steps only: zero."""
    return zeros_like(g)


def _masked_samples(make):
    yield (make(3, 4), make.bools(3, 4)), {}
    yield (make(4), make.bools(2, 1)), {}


@operator(promote=False, moves=True, public=(), samples=_masked_samples)
class passed:
    """a where the mask b holds, and 0 elsewhere, even where a is inf or nan: of these a * b would make nan.

    On the CPU by the bits of each element, all of them or none: to choose one by one (where) takes up to ten times as
    long there.
    """

    def kernel(xp, a, b, /):
        if xp is not host:
            return xp.where(b, a, a.dtype.type(0))
        bits = f"i{a.dtype.itemsize}"
        return (-b.astype(bits) & a.view(bits)).view(a.dtype)

    def grad_a(g, b):
        return passed(g, b)


@operator(**function, samples=samples.unary)
class exp:
    """e ** x."""

    def kernel(xp, a, /, out=None):
        return xp.exp(a, out=out)

    def grad_a(g, result):
        return g * result


def named(name: str, says: str, grad_a, values=samples.unary, ufunc: str | None = None):
    """A function that differs from exp in a word and in its gradient."""
    word = ufunc or name

    def kernel(xp, a, /, out=None):
        return getattr(xp, word)(a, out=out)

    return operator(**function, samples=values)(type(name, (), {"__doc__": says, "kernel": kernel, "grad_a": grad_a}))


exp2 = named("exp2", "2 ** x.", lambda g, result: g * result * 0.6931471805599453)
expm1 = named("expm1", "e ** x - 1, exact near 0.", lambda g, result: g * (result + 1))


@operator(**function, samples=samples.positive)
class log:
    """The natural logarithm.  (D3 2.2)"""

    def kernel(xp, a, /, out=None):
        return xp.log(a, out=out)

    def grad_a(g, a):
        return g / a


log2 = named("log2", "The logarithm to base 2.", lambda g, a: g / (a * 0.6931471805599453), samples.positive)
log10 = named("log10", "The logarithm to base 10.", lambda g, a: g / (a * 2.302585092994046), samples.positive)
log1p = named("log1p", "log(1 + x), exact near 0.", lambda g, a: g / (a + 1), near)


@operator(**function, samples=samples.positive)
class sqrt:
    """The square root.  Its derivative at 0 is infinite."""

    def kernel(xp, a, /, out=None):
        return xp.sqrt(a, out=out)

    def grad_a(g, result):
        return g / (2 * result)


@operator(**function, samples=samples.positive)
class rsqrt:
    """1 / sqrt(x)."""

    def kernel(xp, a, /, out=None):
        return xp.true_divide(a.dtype.type(1), xp.sqrt(a, out=out), out=out)

    def grad_a(g, result):
        return -0.5 * g * (result * result * result)


sin = named("sin", "The sine of x in radians.", lambda g, a: g * cos(a))
cos = named("cos", "The cosine of x in radians.", lambda g, a: -g * sin(a))
tan = named("tan", "The tangent of x in radians.", lambda g, result: g * (1 + result * result), near)
asin = named("asin", "The angle whose sine is x.", lambda g, a: g * rsqrt(1 - a * a), near, ufunc="arcsin")
acos = named("acos", "The angle whose cosine is x.", lambda g, a: -g * rsqrt(1 - a * a), near, ufunc="arccos")
atan = named("atan", "The angle whose tangent is x.", lambda g, a: g / (a * a + 1), ufunc="arctan")
sinh = named("sinh", "The hyperbolic sine.", lambda g, a: g * cosh(a))
cosh = named("cosh", "The hyperbolic cosine.", lambda g, a: g * sinh(a))


@operator(**function, samples=samples.unary)
class tanh:
    """The hyperbolic tangent."""

    def kernel(xp, a, /, out=None):
        return xp.tanh(a, out=out)

    def grad_a(g, result):
        return tanh_backward(g, result)


@operator(node="TanhBackwardBackward0", pointwise=True, accepts=floating, public=(), samples=samples.alike)
class tanh_backward:
    """g * (1 - r * r), in one array: the gradient of tanh, of which r is the result."""

    def kernel(xp, a, b, /):
        if not b.ndim:
            return a * (1 - b * b)
        out = xp.multiply(b, b)
        xp.subtract(out.dtype.type(1), out, out=out)
        return xp.multiply(out, a, out=out)

    def grad_a(g, b):
        return tanh_backward(g, b)

    def grad_b(g, a, b):
        return g * a * b * -2


# Cephes' fractions for erf: x * T(x^2) / U(x^2) up to 1, and 1 - exp(-x^2) * P(x) / Q(x) beyond.
T = (9.60497373987051638749, 90.0260197203842689217, 2232.00534594684319226, 7003.32514112805075473,
      55592.3013010394962768)  # fmt: skip
U = (1.0, 33.5617141647503099647, 521.357949780152679795, 4594.32382970980127987, 22629.0000613890934246,
      49267.3942608635921086)  # fmt: skip
P = (2.46196981473530512524e-10, 0.564189564831068821977, 7.46321056442269912687, 48.6371970985681366614,
      196.520832956077098242, 526.445194995477358631, 934.528527171957607540, 1027.55188689515710272,
      557.535335369399327526)  # fmt: skip
Q = (1.0, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062, 975.708501743205489753,
      1823.90916687909736289, 2246.33760818710981792, 1656.66309194161350182, 557.535340817727675546)  # fmt: skip


def polynomial(x, coefficients):
    """The value at x, highest power first (Horner)."""
    out = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        out *= x
        out += c
    return out


@operator(**function, samples=samples.unary)
class erf:
    """The error function: the chance that a normal number lies within x * sqrt(2) standard deviations, signed."""

    def kernel(xp, a, /):
        size = xp.minimum(xp.absolute(a), a.dtype.type(6))
        square = size * size
        near = a * polynomial(square, T) / polynomial(square, U)
        far = 1 - xp.exp(-square) * (polynomial(size, P) / polynomial(size, Q))
        return xp.where(size <= 1, near, xp.copysign(far, a))

    def grad_a(g, a):
        return g * exp(-(a * a)) * 1.1283791670955126


@operator(**function, samples=samples.unary)
class sigmoid:
    """1 / (1 + e ** -x)."""

    def kernel(xp, a, /, out=None):
        t = xp.negative(a, out=out)
        t = xp.exp(t, out=out)
        t = xp.add(t, t.dtype.type(1), out=out)
        return xp.true_divide(t.dtype.type(1), t, out=out)

    def grad_a(g, result):
        return sigmoid_backward(g, result)


@operator(node="SigmoidBackwardBackward0", pointwise=True, accepts=floating, public=(), samples=samples.alike)
class sigmoid_backward:
    """g * (1 - r) * r, in one array: the gradient of sigmoid, of which r is the result."""

    def kernel(xp, a, b, /):
        if not b.ndim:
            return a * (1 - b) * b
        out = xp.subtract(b.dtype.type(1), b)
        xp.multiply(out, b, out=out)
        return xp.multiply(out, a, out=out)

    def grad_a(g, b):
        return sigmoid_backward(g, b)

    def grad_b(g, a, b):
        return g * a * (1 - 2 * b)


@operator(pointwise=True, in_place=True, accepts=not_bool, samples=samples.unary)
class relu:
    """max(x, 0).  The derivative at 0 is 0.  (D2 5.3, D3 2.2)"""

    def kernel(xp, a, /, out=None):
        return xp.maximum(a, a.dtype.type(0), out=out)

    def grad_a(g, result):
        return threshold_backward(g, result)


@operator(node="ThresholdBackwardBackward0", pointwise=True, public=(), samples=samples.pairs)
class threshold_backward:
    """g where the result was above 0 (or nan), else 0: relu's gradient, which depends on the result by steps only."""

    def kernel(xp, a, b, /):
        return passed.kernel(xp, a, ~(b <= 0))

    def grad_a(g, b):
        return passed(g, ~(b <= 0))

    grad_b = flat


for _new, _old in {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}.items():
    alias(_new, _old)
