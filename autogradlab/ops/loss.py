"""Losses: one number for how far predictions are from what they should be.  (nn.functional has them)

Definitions: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from math import prod

from autogradlab import dtypes
from autogradlab.modes import NO_GRAD, state
from autogradlab.table import operator
from autogradlab.tensor import Tensor

from .choose import clamp_, where
from .elementary import log, log1p, sigmoid
from .kinds import floating
from .reduce import sum as total
from .rounding import sign

REDUCTIONS = ("none", "mean", "sum")


def check_reduction(reduction: str) -> str:
    """mean, sum or none."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: expected one of {', '.join(REDUCTIONS)}.")
    return reduction


def reduced(xp, each, reduction: str):
    """The losses of all elements, or their mean or sum (a kernel's last step)."""
    if reduction == "none":
        return each
    out = xp.sum(each)
    return out if reduction == "sum" else out / each.dtype.type(each.size)


def shared(g, reduction: str, shape):
    """A loss's gradient for each of the elements it was made of."""
    return g / prod(shape) if reduction == "mean" else g


def constant(name: str, **given) -> None:
    """Refuse gradients for what a loss has none for."""
    for argument, t in given.items():
        if t is not None and t.requires_grad and not state.flags & NO_GRAD:
            raise RuntimeError(
                f"the function '{name}' is not differentiable with respect to argument '{argument}', which requires "
                "grad: give its .detach()."
            )


# The negative log likelihood ------------------------------------------------------------------------------------------


def _below(target: Tensor, classes: int) -> bool:
    """Whether all targets lie within 0..classes-1: seen as unsigned, negative ones are large.  Waits for the device."""
    window = target.window
    return window.dtype == "int64" and int(target._device.backend.xp.max(window.view("uint64"))) < classes


def check_classes(target: Tensor, classes: int, ignore_index: int) -> int | None:
    """Targets must be classes; the ignore_index if one of them is that, else None."""
    if not target.numel() or (ignore_index < 0 or not bool((target == ignore_index).any())) and _below(target, classes):
        return None
    wrong = target[((target < 0) | (target >= classes)) & (target != ignore_index)]
    if wrong.numel():
        raise IndexError(
            f"Target {wrong[0].item()} is out of bounds: there are {classes} classes, counted from 0 (ignore_index is "
            f"{ignore_index})."
        )
    return ignore_index


def _checked(input, target, ignore_index):
    if target._dtype is not dtypes.int64 and target._dtype is not dtypes.uint8:
        raise RuntimeError(f"nll_loss: expected target of dtype Long (class indices), but found {target._dtype}.")
    shape = tuple(input.shape)
    dim = 1 if len(shape) > 1 else 0
    if shape[:dim] + shape[dim + 1 :] != tuple(target.shape):
        raise ValueError(
            f"Expected input and target to agree apart from the class dimension: input has shape {tuple(input.shape)}, "
            f"target {tuple(target.shape)}."
        )
    return check_classes(target, shape[dim], ignore_index)


def _place(xp, target, ignore_index, ndim: int):
    """Where in the input each target's element lies: an index for `array[place]`."""
    if ignore_index is not None:
        target = target * (target != ignore_index)
    if ndim == 1:
        return (target,)
    if ndim == 2:
        return (xp.arange(target.shape[0]), target)
    grids = [xp.arange(n).reshape((1,) * d + (n,) + (1,) * (ndim - 2 - d)) for d, n in enumerate(target.shape)]
    return (grids[0], target, *grids[1:])


def _nll_samples(make):
    yield (make(3, 4), make.ints(0, 4, (3,))), {}
    yield (make(3, 4), make.ints(0, 4, (3,))), {"reduction": "sum", "ignore_index": 2}
    yield (make(2, 4, 3), make.ints(0, 4, (2, 3))), {"reduction": "none", "ignore_index": 0}
    yield (make(4), make.ints(0, 4, ())), {}


def _nll_node(options) -> str:
    return "NllLoss2DBackward0" if options.get("plane") else "NllLossBackward0"


@operator(node=_nll_node, accepts=floating, promote=False, public=(), samples=_nll_samples)
class nll_loss:
    """Minus the input (a logarithm of probabilities) at the class of each target."""

    asks = True

    def arguments(input, target, reduction="mean", ignore_index=-100):
        ignored = _checked(input, target, ignore_index)
        options = {"reduction": reduction, "ignore_index": ignored}
        return (input, target), {**options, "plane": True} if input.dim() > 2 else options

    def kernel(xp, a, target, /, reduction="mean", ignore_index=None, plane=False):
        each = a[_place(xp, target, ignore_index, a.ndim)]
        if ignore_index is None:
            return -reduced(xp, each, reduction)
        kept = target != ignore_index
        each = each * kept
        out = reduced(xp, each, "none" if reduction == "none" else "sum")
        return -out / xp.sum(kept, dtype=a.dtype) if reduction == "mean" else -out

    def grad_a(g, target, a_shape, reduction, ignore_index):
        if reduction == "mean":
            g = g / (prod(target.shape) if ignore_index is None else total(_as(g, target != ignore_index)))
        return nll_spread(g, target, size=a_shape, ignore_index=ignore_index)


def _as(g, mask):
    """A mask as numbers of a gradient's dtype."""
    return mask.to(g._dtype) if isinstance(mask, Tensor) else mask.astype(g.dtype)


@operator(public=(), promote=False, samples=lambda make: [((make(3), make.ints(0, 4, (3,)), (3, 4)), {})])
class nll_spread:
    """Zeros, with -g at the class of each target: the gradient of nll_loss."""

    def arguments(input, target, size, ignore_index=None):
        return (input, target), {"size": size, "ignore_index": ignore_index}

    def kernel(xp, a, target, /, size, ignore_index=None):
        out = xp.zeros(size, a.dtype)
        values = -a if ignore_index is None else xp.where(target != ignore_index, -a, a.dtype.type(0))
        place = _place(xp, target, ignore_index, len(size))
        out[place] = values
        return out

    def grad_a(g, target, ignore_index):
        return nll_loss(g, target, reduction="none", ignore_index=-100 if ignore_index is None else ignore_index)


@operator(node=_nll_node, accepts=floating, promote=False, public=(),
          samples=lambda make: [((make(3, 4), make.ints(0, 4, (3,)), _weights(make)), {"ignore_index": 1}),
                                ((make(2, 4, 3), make.ints(0, 4, (2, 3)), _weights(make)), {"reduction": "sum"}),
                                ((make(2, 4), make.ints(0, 4, (2,)), _weights(make)), {})])  # fmt: skip
class nll_loss_weighted:
    """nll_loss with a weight for each class; the mean is over the weights."""

    asks = True

    def arguments(input, target, weight, reduction="mean", ignore_index=-100):
        if weight.dim() != 1 or weight.numel() != input.shape[1 if input.dim() > 1 else 0]:
            raise RuntimeError(
                f"weight tensor should be defined either for all classes or no classes but got weight tensor of shape: "
                f"{list(weight.shape)} for an input of shape {list(input.shape)}."
            )
        constant("nll_loss", weight=weight)
        ignored = _checked(input, target, ignore_index)
        options = {"reduction": reduction, "ignore_index": ignored}
        return (input, target, weight), {**options, "plane": True} if input.dim() > 2 else options

    def kernel(xp, a, target, weight, /, reduction, ignore_index, plane=False):
        each = a[_place(xp, target, ignore_index, a.ndim)]
        scale = _scale(target, weight, ignore_index)
        out = reduced(xp, each * scale, "none" if reduction == "none" else "sum")
        return -out / xp.sum(scale) if reduction == "mean" else -out

    def grad_a(g, target, weight, a_shape, reduction, ignore_index):
        scale = _scale(target, weight, ignore_index)
        if reduction == "mean":
            g = g / total(scale)
        return nll_spread(g * scale, target, size=a_shape, ignore_index=ignore_index)


def _weights(make):
    return make(4, low=0.2, high=2.0).detach()


def _scale(target, weight, ignore_index):
    """The weight of each target's class; 0 where it is ignored."""
    if ignore_index is None:
        return weight[target]
    kept = target != ignore_index
    return weight[target * kept] * kept


# Distances ------------------------------------------------------------------------------------------------------------


def _distance(name: str, node: str, says: str, value, slope, option: str | None = None):
    """A loss of the differences a - b: `value(xp, d, option)`, and `slope(d, option)`, its derivative."""

    def arguments(input, target, reduction="mean", *values):
        return (input, target), {"reduction": check_reduction(reduction), **dict(zip((option,), values, strict=False))}

    def sample(make):
        for shape, reduction in (((3, 4), "mean"), ((3, 4), "sum"), ((2, 3), "none")):
            yield (make(*shape), make(*shape), reduction, *((0.7,) if option else ())), {}

    if option is None:

        def kernel(xp, a, b, /, reduction):
            return reduced(xp, value(xp, a - b), reduction)

        def grad_a(g, a, b, reduction):
            return shared(g, reduction, a.shape) * slope(a - b)

        def grad_b(g, a, b, reduction):
            return shared(g, reduction, a.shape) * slope(b - a)

    else:

        def kernel(xp, a, b, /, reduction, beta):
            return reduced(xp, value(xp, a - b, beta), reduction)

        def grad_a(g, a, b, reduction, beta):
            return shared(g, reduction, a.shape) * slope(a - b, beta)

        def grad_b(g, a, b, reduction, beta):
            return shared(g, reduction, a.shape) * slope(b - a, beta)

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": grad_a, "grad_b": grad_b}
    return operator(node=node, accepts=floating, public=(), samples=sample)(type(name, (), block))


def _squares(xp, d):
    d *= d
    return d


def _smooth(xp, d, beta):
    d = xp.absolute(d)
    return xp.where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta) if beta else d


def _huber(xp, d, delta):
    d = xp.absolute(d)
    return xp.where(d <= delta, d * d * 0.5, delta * (d - 0.5 * delta))


mse_loss = _distance("mse_loss", "MseLossBackward0", "The squared difference.", _squares, lambda d: d * 2)
smooth_l1_loss = _distance(
    "smooth_l1_loss", "SmoothL1LossBackward0", "The absolute difference, with a rounded corner of width beta.",
    _smooth, lambda d, beta: where((d < beta) & (d > -beta), d / beta, sign(d)) if beta else sign(d), "beta",
)  # fmt: skip
huber_loss = _distance(
    "huber_loss", "HuberLossBackward0", "Half the squared difference up to delta, a straight line beyond.",
    _huber, lambda d, delta: where((d <= delta) & (d >= -delta), d, sign(d) * delta), "beta",
)  # fmt: skip


# Binary cross entropy -------------------------------------------------------------------------------------------------


def _chances(make):
    for reduction in REDUCTIONS:
        yield (make(3, 4, low=0.1, high=0.9), make(3, 4, low=0.1, high=0.9), reduction), {}


@operator(node="BinaryCrossEntropyBackward0", accepts=floating, public=(), samples=_chances)
class binary_cross_entropy:
    """-(b * log(a) + (1 - b) * log(1 - a)), the logarithms held above -100."""

    asks = True

    def arguments(input, target, reduction="mean"):
        if input.numel():
            xp = input._device.backend.xp
            low, high = float(xp.min(input.window)), float(xp.max(input.window))
            if not (low >= 0 and high <= 1):
                raise RuntimeError(
                    f"all elements of input should be between 0 and 1: they reach from {low:.4g} to {high:.4g}. For "
                    "numbers before the sigmoid use binary_cross_entropy_with_logits."
                )
        return (input, target), {"reduction": check_reduction(reduction)}

    def kernel(xp, a, b, /, reduction):
        floor = a.dtype.type(-100)
        each = (b - 1) * xp.maximum(xp.log1p(-a), floor) - b * xp.maximum(xp.log(a), floor)
        return reduced(xp, each, reduction)

    def grad_a(g, a, b, reduction):
        return shared(g, reduction, a.shape) * (a - b) / clamp_(a * (1 - a), min=1e-12, max=None)

    def grad_b(g, a, reduction):
        slope = clamp_(log1p(-a), min=-100, max=None) - clamp_(log(a), min=-100, max=None)
        return shared(g, reduction, a.shape) * slope


@operator(node="BinaryCrossEntropyBackward0", accepts=floating, public=(),
          samples=lambda make: [((a, b, _weights(make), r), {}) for (a, b, r), _ in _chances(make)])  # fmt: skip
class binary_cross_entropy_weighted:
    """The same with a weight, which broadcasts, for each of the losses."""

    def arguments(input, target, weight, reduction="mean"):
        given, options = binary_cross_entropy.arguments(input, target, reduction)
        return (*given, weight), options

    def kernel(xp, a, b, weight, /, reduction):
        return reduced(xp, binary_cross_entropy.kernel(xp, a, b, "none") * weight, reduction)

    def grad_a(g, a, b, weight, reduction):
        return binary_cross_entropy.block.grad_a(shared(g, reduction, a.shape) * weight, a, b, "none")

    def grad_b(g, a, weight, reduction):
        return binary_cross_entropy.block.grad_b(shared(g, reduction, a.shape) * weight, a, "none")


def _logits(make):
    for reduction in REDUCTIONS:
        yield (make(3, 4), make(3, 4, low=0.1, high=0.9), reduction), {}


@operator(node="BinaryCrossEntropyWithLogitsBackward0", accepts=floating, public=(), samples=_logits)
class binary_cross_entropy_with_logits:
    """The binary cross entropy of sigmoid(a), without overflow.  (D4 2)"""

    def arguments(input, target, reduction="mean"):
        return (input, target), {"reduction": check_reduction(reduction)}

    def kernel(xp, a, b, /, reduction):
        each = xp.maximum(a, a.dtype.type(0)) - a * b + xp.log1p(xp.exp(-xp.absolute(a)))
        return reduced(xp, each, reduction)

    def grad_a(g, a, b, reduction):
        return shared(g, reduction, a.shape) * (sigmoid(a) - b)

    def grad_b(g, a, reduction):
        return shared(g, reduction, a.shape) * -a


def _weighted_logits(make):
    for (a, b, reduction), _ in _logits(make):
        yield (a, b, _weights(make), _weights(make), reduction), {}


@operator(node="BinaryCrossEntropyWithLogitsBackward0", accepts=floating, public=(), samples=_weighted_logits)
class binary_cross_entropy_with_logits_weighted:
    """The same with a weight for each of the losses, and a factor p for the positive targets; both broadcast."""

    def arguments(input, target, weight, factor, reduction="mean"):
        return (input, target, weight, factor), {"reduction": check_reduction(reduction)}

    def kernel(xp, a, b, weight, p, /, reduction):
        soft = xp.log1p(xp.exp(-xp.absolute(a))) + xp.maximum(-a, a.dtype.type(0))
        return reduced(xp, weight * ((1 - b) * a + (1 + (p - 1) * b) * soft), reduction)

    def grad_a(g, a, b, weight, p, reduction):
        return shared(g, reduction, a.shape) * weight * (1 - b - (1 + (p - 1) * b) * sigmoid(-a))

    def grad_b(g, a, weight, p, reduction):
        return shared(g, reduction, a.shape) * weight * ((1 - p) * log(sigmoid(a)) - a)


@operator(
    accepts=floating,
    public=(),
    samples=lambda make: [((make(3, 4), make(3, 4).detach().sign(), r), {}) for r in REDUCTIONS],
)
class soft_margin_loss:
    """log(1 + exp(-b * a)), for targets b of 1 and -1."""

    def arguments(input, target, reduction="mean"):
        constant("soft_margin_loss", target=target)
        return (input, target), {"reduction": check_reduction(reduction)}

    def kernel(xp, a, b, /, reduction):
        return reduced(xp, xp.log1p(xp.exp(-b * a)), reduction)

    def grad_a(g, a, b, reduction):
        return shared(g, reduction, a.shape) * -b * sigmoid(-b * a)
