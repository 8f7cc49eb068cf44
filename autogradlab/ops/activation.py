"""Activations: functions of one number that networks put between their layers.  (nn.functional has them)

Definitions: https://pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
"""

import math

from autogradlab import dtypes, shapes
from autogradlab.convert import autocasts
from autogradlab.dispatch import NOTHING
from autogradlab.table import functions, methods, nn_functions, operator
from autogradlab.tensor import Tensor

from . import samples
from .choose import where
from .elementary import erf, exp, flat, passed, sigmoid, tanh, zeros_like
from .join import cat
from .kinds import floating, not_bool, numbers

activation = {"pointwise": True, "accepts": floating, "public": ("nn",)}
ROOT_HALF, ROOT_2_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4),), {"approximate": "tanh"})])
class gelu:
    """x times the chance that a normal number is below x.  approximate="tanh": by a tanh, as GPT-2 has it.

    Source: https://arxiv.org/abs/1606.08415
    """

    def arguments(input, *, approximate="none"):
        if approximate not in ("none", "tanh"):
            raise RuntimeError(f"approximate argument must be either none or tanh: got {approximate!r}.")
        return (input,), {"approximate": approximate}

    def kernel(xp, a, /, approximate):
        if approximate == "none":
            out = erf.kernel(xp, a * ROOT_HALF)
        else:
            out = xp.tanh((a + 0.044715 * a * a * a) * ROOT_2_PI)
        out += 1
        out *= a
        out *= 0.5
        return out

    def grad_a(g, a, approximate):
        if approximate == "none":
            return g * ((erf(a * ROOT_HALF) + 1) * 0.5 + a * exp(a * a * -0.5) * (ROOT_2_PI / 2))
        t = tanh((a + 0.044715 * a * a * a) * ROOT_2_PI)
        return g * (0.5 * (t + 1) + 0.5 * a * (1 - t * t) * (ROOT_2_PI * (1 + 0.134145 * a * a)))


@operator(**activation, samples=samples.unary)
class silu:
    """x times sigmoid(x), also called swish.  (https://arxiv.org/abs/1702.03118)"""

    def kernel(xp, a, /):
        return a / (xp.exp(-a) + 1)

    def grad_a(g, a):
        s = sigmoid(a)
        return g * (s * (1 + a * (1 - s)))


@operator(**activation, samples=samples.unary)
class mish:
    """x times tanh(softplus(x)).  (https://arxiv.org/abs/1908.08681)"""

    def kernel(xp, a, /):
        return a * xp.tanh(_soft(xp, a))

    def grad_a(g, a):
        t = tanh(softplus(a, beta=1.0, threshold=20.0))
        return g * (t + a * sigmoid(a) * (1 - t * t))


def _soft(xp, a):
    """log(1 + exp(a)) without overflow."""
    return xp.maximum(a, a.dtype.type(0)) + xp.log1p(xp.exp(-xp.absolute(a)))


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 2.0, 1.0), {})])
class softplus:
    """log(1 + exp(beta * x)) / beta: a smooth relu.  Above beta * x = threshold it is x itself."""

    def arguments(input, beta=1.0, threshold=20.0):
        return (input,), numbers(beta=beta, threshold=threshold)

    def kernel(xp, a, /, beta, threshold):
        scaled = a * beta
        return xp.where(scaled > threshold, a, _soft(xp, scaled) / beta)

    def grad_a(g, a, beta, threshold):
        scaled = a * beta
        return where(scaled > threshold, g, g * sigmoid(scaled))


@operator(node="LogSigmoidBackward0", **activation, samples=samples.unary)
class logsigmoid:
    """The logarithm of the sigmoid, without overflow."""

    def kernel(xp, a, /):
        return -_soft(xp, -a)

    def grad_a(g, a):
        return g * sigmoid(-a)


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 0.5, 1.5), {})])
class elu:
    """scale * x above 0, scale * alpha * (exp(x) - 1) below.  (https://arxiv.org/abs/1511.07289)"""

    def arguments(input, alpha=1.0, scale=1.0):
        return (input,), numbers(alpha=alpha, scale=scale)

    def kernel(xp, a, /, alpha, scale):
        return xp.where(a > 0, a, xp.expm1(xp.minimum(a, a.dtype.type(0))) * alpha) * scale

    def grad_a(g, a, alpha, scale):
        return where(a > 0, g * scale, g * exp(a * (a < 0)) * (alpha * scale))


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 0.5), {})])
class celu:
    """x above 0, alpha * (exp(x / alpha) - 1) below.  (https://arxiv.org/abs/1704.07483)"""

    def arguments(input, alpha=1.0):
        options = numbers(alpha=alpha)
        if not options["alpha"]:
            raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU: give another alpha.")
        return (input,), options

    def kernel(xp, a, /, alpha):
        return xp.where(a > 0, a, xp.expm1(xp.minimum(a, a.dtype.type(0)) / alpha) * alpha)

    def grad_a(g, a, alpha):
        return where(a > 0, g, g * exp(a * (a < 0) / alpha))


def _by_steps(name: str, sloped=passed):
    """(g, input, slope) -> sloped(g, slope): the gradient of straight lines, which depends on the input by steps only.
    Most have a slope of 1 or of 0, a mask that lets g pass or not.

    Under create_graph it is an operator, from which 0 flows back to the input, as in PyTorch.
    """

    def arguments(input, other, slope):
        return (input, other, slope), NOTHING

    def kernel(xp, a, b, c, /):
        return sloped(a, c)

    def grad_a(g, c):
        return sloped(g, c)

    def by_three(make):
        yield (make(3, 4), make(3, 4), make.bools(3, 4) if sloped is passed else make(3, 4).detach()), {}

    block = {"arguments": arguments, "kernel": kernel, "grad_a": grad_a, "grad_b": flat}
    block = type(f"{name.lower()}_slopes", (), block)
    return operator(node=f"{name}BackwardBackward0", pointwise=True, public=(), samples=by_three)(block)


_leaky_relu = _by_steps("LeakyRelu", lambda g, slope: g * slope)
_hardtanh, _softshrink, _hardshrink, _threshold = map(_by_steps, ("Hardtanh", "Softshrink", "Hardshrink", "Threshold"))


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 0.2), {})])
class leaky_relu:
    """x above 0, negative_slope * x below."""

    def arguments(input, negative_slope=0.01):
        return (input,), numbers(negative_slope=negative_slope)

    def kernel(xp, a, /, negative_slope):
        return xp.where(a > 0, a, a * negative_slope)

    def grad_a(g, a, negative_slope):
        if isinstance(a, Tensor):
            return _leaky_relu(g, a, where(a > 0, zeros_like(a) + 1, negative_slope))
        return where(a > 0, g, g * negative_slope)


@operator(pointwise=True, public=("nn",),
          samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), -0.5, 0.75), {})])  # fmt: skip
class hardtanh:
    """x held between min_val and max_val.  The gradient passes strictly between them."""

    def arguments(input, min_val=-1.0, max_val=1.0):
        if min_val > max_val:
            raise ValueError(f"min_val cannot be greater than max_val: got {min_val} and {max_val}.")
        if input._dtype is dtypes.bool_ or input._dtype is dtypes.uint8 and int(min_val) < 0:
            raise RuntimeError(
                f"hardtanh: bool tensors are not supported, nor negative limits for unsigned ones: got {input._dtype}, "
                f"{min_val} and {max_val}."
            )
        return (input,), numbers(min_val=min_val, max_val=max_val)

    def kernel(xp, a, /, min_val, max_val):
        return xp.clip(a, a.dtype.type(min_val), a.dtype.type(max_val))

    def grad_a(g, a, min_val, max_val):
        return _hardtanh(g, a, (a > min_val) & (a < max_val))


@operator(**activation, samples=samples.unary)
class hardsigmoid:
    """A sigmoid of three straight lines: relu6(x + 3) / 6."""

    def kernel(xp, a, /):
        return xp.clip(a + 3, a.dtype.type(0), a.dtype.type(6)) / 6

    def grad_a(g, a):
        return passed(g, (a > -3) & (a < 3)) / 6


@operator(**activation, samples=lambda make: [((make(3, 4, low=-5, high=5),), {}), ((make(),), {})])
class hardswish:
    """x * relu6(x + 3) / 6.  (https://arxiv.org/abs/1905.02244)"""

    def kernel(xp, a, /):
        return a * xp.clip(a + 3, a.dtype.type(0), a.dtype.type(6)) / 6

    def grad_a(g, a):
        return passed(g, (a > -3) & (a < 3)) * (a / 3 + 0.5) + passed(g, a >= 3)


def _lambda(input, lambd=0.5):
    return (input,), numbers(lambd=lambd)


@operator(**activation, samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 0.3), {})])
class softshrink:
    """x moved towards 0 by lambd, and 0 where it would change its sign."""

    def arguments(input, lambd=0.5):
        if lambd < 0:
            raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
        return _lambda(input, lambd)

    def kernel(xp, a, /, lambd):
        return a - xp.clip(a, a.dtype.type(-lambd), a.dtype.type(lambd))

    def grad_a(g, a, lambd):
        return _softshrink(g, a, (a > lambd) | (a < -lambd))


@operator(pointwise=True, accepts=floating, public=("function", "method", "nn"),
          samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 0.3), {})])  # fmt: skip
class hardshrink:
    """x, and 0 between -lambd and lambd."""

    arguments = _lambda

    def kernel(xp, a, /, lambd):
        return passed.kernel(xp, a, ~((a >= -lambd) & (a <= lambd)))

    def grad_a(g, a, lambd):
        return _hardshrink(g, a, ~((a >= -lambd) & (a <= lambd)))


@operator(pointwise=True, accepts=not_bool, public=("nn",), samples=lambda make: [((make(3, 4), 0.3, -1), {})])
class threshold:
    """x where it is above threshold, else value."""

    def arguments(input, threshold, value):
        return (input,), numbers(threshold=threshold, value=value)

    def kernel(xp, a, /, threshold, value):
        limit, value = (xp.full((), number).astype(a.dtype) for number in (threshold, value))
        return xp.where(a <= limit, value, a)

    def grad_a(g, a, threshold):
        return _threshold(g, a, ~(a <= threshold))


@operator(node="PreluKernelBackward0", pointwise=True, accepts=floating, public=(),
          samples=lambda make: [((make(2, 3, 4), make(3, 1)), {}), ((make(3), make(1)), {})])  # fmt: skip
class prelu_kernel:
    """x above 0, weight * x below: leaky_relu with slopes that are learned, broadcast over the channels."""

    def arguments(input, weight):
        return (input, weight), NOTHING

    def kernel(xp, a, b, /):
        return xp.where(a > 0, a, a * b)

    def grad_a(g, a, b):
        return where(a > 0, g, g * b)

    def grad_b(g, a):
        return g * (a * ~(a > 0))


@autocasts("prelu")
def prelu(input, weight):
    """x above 0, weight * x below.  weight: one number, or one for each channel (dimension 1).

    Source: https://arxiv.org/abs/1502.01852
    """
    if not isinstance(weight, Tensor):
        raise TypeError(f"prelu(): argument 'weight' must be Tensor, not {type(weight).__name__}.")
    if weight._dtype is not input._dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input._dtype} and {weight._dtype}.")
    channels = input.shape[1] if input.dim() > 1 else 1
    if weight.dim() > 1 or weight.numel() not in (1, channels):
        raise RuntimeError(
            f"prelu: Mismatch of parameter numbers and input channel size: weight has shape {tuple(weight.shape)}, "
            f"input {channels} channels: give one number, or one for each channel."
        )
    shape = [1] * input.dim()
    if weight.numel() != 1:
        shape[1] = channels
    if tuple(weight.shape) != tuple(shape):
        weight = weight.view(*shape) if shape else weight.reshape(())
    return prelu_kernel.function(input, weight)


functions["prelu"] = methods["prelu"] = nn_functions["prelu"] = prelu


@operator(accepts=floating, public=("nn",), samples=lambda make: [((make(3, 4),), {}), ((make(4, 2, 3), 0), {})])
class glu:
    """The first half along dim times the sigmoid of the second.  (https://arxiv.org/abs/1612.08083)"""

    def arguments(input, dim=-1):
        if not input.dim():
            raise RuntimeError("glu does not support 0-dimensional tensors: there is no dimension to halve.")
        dim = shapes.wrap_dim(dim, input.dim())
        if input.shape[dim] % 2:
            raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}.")
        return (input,), {"dim": dim}

    def kernel(xp, a, /, dim):
        first, second = halves(a, dim)
        return first / (xp.exp(-second) + 1)

    def grad_a(g, a, dim):
        first, second = halves(a, dim)
        s = sigmoid(second)
        return cat([g * s, g * first * (s * (1 - s))], dim=dim)


def halves(a, dim):
    """The two halves along a dimension; raw arrays and tensors alike."""
    n, front = a.shape[dim] // 2, (slice(None),) * dim
    return a[(*front, slice(0, n))], a[(*front, slice(n, None))]


# Written in place, PyTorch's nodes of these have another number.
for _op in (elu, celu, leaky_relu, threshold):
    operator(node=f"{_op.name.title().replace('_', '')}Backward1", pointwise=True, public=(), samples=_op.samples,
             accepts=_op.accepts)(type(f"{_op.name}_in_place", (_op.block,), {}))  # fmt: skip
