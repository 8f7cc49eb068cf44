"""The losses of nn.functional: PyTorch's signatures around the operators of ops/loss.py.

Source: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

import math
import warnings

from autogradlab import late
from autogradlab.convert import autocasts
from autogradlab.dispatch import call
from autogradlab.ops import loss
from autogradlab.ops.choose import clamp_min, where
from autogradlab.ops.kinds import need_tensors
from autogradlab.ops.loss import check_reduction
from autogradlab.ops.softmax import log_softmax
from autogradlab.ops.two_numbers import xlogy
from autogradlab.shapes import broadcast_shapes
from autogradlab.tensor import Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cosine_similarity",
    "cross_entropy", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss",
    "margin_ranking_loss", "mse_loss", "nll_loss", "normalize", "pairwise_distance",
    "poisson_nll_loss", "smooth_l1_loss",
    "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def _old(size_average, reduce, reduction: str) -> str:
    """The reduction that the two old arguments ask for."""
    if size_average is None and reduce is None:
        return reduction
    size_average, reduce = size_average is not False, reduce is not False
    meant = "none" if not reduce else "mean" if size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.", stacklevel=3
    )
    return meant


def _reduce(each, reduction: str):
    check_reduction(reduction)
    return each if reduction == "none" else each.mean() if reduction == "mean" else each.sum()


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index: int = -100, reduce=None, reduction: str = "mean"
):
    """Minus the input, a logarithm of probabilities, at each target's class.  input: (N, C, ...) or (C,); target:
    (N, ...) or ().
    """
    reduction = check_reduction(_old(size_average, reduce, reduction))
    return _nll(input, target, weight, reduction, ignore_index)


def _nll(input, target, weight, reduction: str, ignore_index: int):
    plane = None
    if input.dim() == 3 or input.dim() > 4:  # seen as an image, as PyTorch does
        plane = (input.shape[0], *input.shape[2:])
        if tuple(target.shape) == plane:
            count = math.prod(plane[1:])
            input, target = input.view(*input.shape[:2], 1, count), target.view(plane[0], 1, count)
    if weight is None:
        out = loss.nll_loss.function(input, target, reduction, ignore_index)
    else:
        out = loss.nll_loss_weighted.function(input, target, weight, reduction, ignore_index)
    return out.view(*plane) if plane and reduction == "none" else out


@autocasts("cross_entropy")
def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index: int = -100,
    reduce=None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
):
    """How unlikely the targets are under softmax(input).  (D1 6.4)

    input: (N, C, ...) or (C,), any numbers.  target: classes, (N, ...) or (); or probabilities, shaped as input.
    label_smoothing: how much of each target is spread evenly over all classes.
    """
    reduction = check_reduction(_old(size_average, reduce, reduction))
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        wrong, name = (input, "input") if not isinstance(input, Tensor) else (target, "target")
        raise TypeError(f"cross_entropy_loss(): argument '{name}' must be Tensor, not {type(wrong).__name__}.")
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 1 if input.dim() > 1 else 0
    if not input.dim():
        raise IndexError("cross_entropy: input has no dimension for the classes: expected (C,) or (N, C, ...).")
    logs = call(log_softmax, (input,), {"dim": dim})
    if target._dtype.is_floating_point:
        return _soft_cross_entropy(logs, input, target, weight, dim, reduction, ignore_index, label_smoothing)
    found = _nll(logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return found
    spread = -(logs if weight is None else logs * _classes(weight, logs, dim)).sum(dim)
    ignored = target == ignore_index
    spread = spread.masked_fill(ignored, 0.0)
    if reduction == "mean":
        kept = target[~ignored]
        count = kept.numel() if weight is None else weight[kept].sum()
        spread = spread.sum() / count if not isinstance(count, int) or count else spread.sum() / float("nan")
    elif reduction == "sum":
        spread = spread.sum()
    return found * (1 - label_smoothing) + spread * (label_smoothing / input.shape[dim])


def _classes(weight, logs, dim: int):
    return weight.view(*[-1 if d == dim else 1 for d in range(logs.dim())])


def _soft_cross_entropy(logs, input, target, weight, dim, reduction, ignore_index, smoothing):
    """Cross entropy with a probability for each class."""
    if target.shape != input.shape:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities to have the input's shape "
            f"{tuple(input.shape)}, got {tuple(target.shape)}. Class indices are integers: use .long()."
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target.")
    if smoothing:
        target = target * (1 - smoothing) + smoothing / input.shape[dim]
    each = logs * target if weight is None else logs * target * _classes(weight, logs, dim)
    if reduction == "none":
        return -each.sum(dim)
    out = -each.sum()
    return out / (input.numel() / input.shape[dim]) if reduction == "mean" else out


def _pair(name: str, input, target):
    """Both over their common shape; a warning if they differ, which is often a mistake."""
    if target.shape == input.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=4,
    )
    return _broadcast(input, target)


def _broadcast(*tensors):
    """Tensors over their common shape; those that have it stay as they are."""
    shape = broadcast_shapes(*[tuple(t.shape) for t in tensors])
    return [t if tuple(t.shape) == shape else t.expand(shape) for t in tensors]


def mse_loss(input, target, size_average=None, reduce=None, reduction: str = "mean", weight=None):
    """The squared differences.  (D1 6.4)"""
    reduction = _old(size_average, reduce, reduction)
    input, target = _pair("mse_loss", input, target)
    if weight is None:
        return loss.mse_loss.function(input, target, reduction)
    return _weighted(loss.mse_loss.function(input, target, "none"), weight, reduction)


def _weighted(each, weight, reduction: str):
    """Element-wise weights; the mean is over the weights."""
    if weight.shape != each.shape:
        raise ValueError("Inputs and weights must have the same size.")
    out = (each * weight) if reduction == "none" else (each * weight).sum()
    return out / weight.sum() if check_reduction(reduction) == "mean" else out


@autocasts("l1_loss")
def l1_loss(input, target, size_average=None, reduce=None, reduction: str = "mean", weight=None):
    """The absolute differences."""
    reduction = _old(size_average, reduce, reduction)
    input, target = _pair("l1_loss", input, target)
    each = (input - target).abs()
    return _reduce(each, reduction) if weight is None else _weighted(each, weight, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0):
    """The absolute differences, quadratic below beta."""
    reduction = _old(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair("smooth_l1_loss", input, target)
    if not beta:
        return _reduce((input - target).abs(), reduction)
    return loss.smooth_l1_loss.function(input, target, reduction, beta)


def huber_loss(input, target, reduction: str = "mean", delta: float = 1.0, weight=None):
    """Half the squared differences up to delta, straight lines beyond."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    input, target = _pair("huber_loss", input, target)
    if weight is None:
        return loss.huber_loss.function(input, target, reduction, delta)
    return _weighted(loss.huber_loss.function(input, target, "none", delta), weight, reduction)


@autocasts("kl_div")
def kl_div(input, target, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False):
    """target * (log(target) - input): how far the distribution exp(input) is from target.

    log_target: target holds logarithms too.  reduction "batchmean": the sum over the batch size, which is the
    mathematical definition.
    """
    reduction = _old(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"kl_div: Integral inputs not supported: got {input._dtype}.")
    if log_target:
        each = target.exp() * (target - input)
    else:
        each = xlogy.function(target, target) - target * input
    if reduction != "batchmean":
        return _reduce(each, reduction)
    return each.sum() / (input.shape[0] if input.dim() else 1)


def _same_size(input, target, error=ValueError):
    if target.shape != input.shape:
        raise error(
            f"Target size ({target.shape}) must be the same as input size ({input.shape}): nothing broadcasts here."
        )


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction: str = "mean"):
    """-(t * log(x) + (1 - t) * log(1 - x)) for probabilities x and targets t, both between 0 and 1."""
    reduction = check_reduction(_old(size_average, reduce, reduction))
    _same_size(input, target)
    if weight is None:
        return loss.binary_cross_entropy.function(input, target, reduction)
    loss.constant("binary_cross_entropy", weight=weight)
    broadcast_shapes(tuple(input.shape), tuple(weight.shape))
    return loss.binary_cross_entropy_weighted.function(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction: str = "mean", pos_weight=None
):
    """The binary cross entropy of sigmoid(input), without overflow.  pos_weight: a factor for the positive targets."""
    reduction = check_reduction(_old(size_average, reduce, reduction))
    _same_size(input, target)
    if weight is None and pos_weight is None:
        return loss.binary_cross_entropy_with_logits.function(input, target, reduction)
    loss.constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    weight, pos_weight = (input.new_ones(()) if w is None else w for w in (weight, pos_weight))
    return loss.binary_cross_entropy_with_logits_weighted.function(input, target, weight, pos_weight, reduction)


# Distances of vectors -------------------------------------------------------------------------------------------------


@autocasts("cosine_similarity")
def cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-8):
    """The cosine of the angle between vectors along dim: x1 * x2 over their lengths, each at least eps."""
    need_tensors("cosine_similarity", x1=x1, x2=x2)
    x1, x2 = _broadcast(x1, x2)
    lengths = [clamp_min(x.norm(dim=dim, keepdim=True), eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


def normalize(input, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out=None):
    """Vectors along dim over their p-norms, each at least eps."""
    lengths = clamp_min(input.norm(p, dim, keepdim=True), eps).expand_as(input)
    return late.functions["div"](input, lengths, out=out)


def pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, dim=-1, keepdim=keepdim)


def margin_ranking_loss(
    input1, input2, target, margin: float = 0, size_average=None, reduce=None, reduction: str = "mean"
):
    """max(0, -target * (input1 - input2) + margin): target 1 if input1 should rank higher, -1 if lower."""
    reduction = _old(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {input1.shape},"
            f" input2: {input2.shape}, target: {target.shape} "
        )
    return _reduce(clamp_min(-target * (input1 - input2) + float(margin), 0), reduction)


def hinge_embedding_loss(input, target, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = _old(size_average, reduce, reduction)
    zeros = late.functions["zeros_like"](input)
    margins = input.new_full((), margin)
    each = where(target != 1, clamp_min(margins - input, 0), zeros) + where(target != -1, input, zeros)
    return _reduce(each, reduction)


def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average=None,
    reduce=None,
    reduction: str = "mean",
):
    """max(0, distance(anchor, positive) - distance(anchor, negative) + margin)."""
    reduction = _old(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = late.functions["minimum"](far, pairwise_distance(positive, negative, p, eps))
    return _reduce(clamp_min(near - far + margin, 0), reduction)


@autocasts("cosine_embedding_loss")
def cosine_embedding_loss(
    input1, input2, target, margin: float = 0, size_average=None, reduce=None, reduction: str = "mean"
):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1."""
    reduction = _old(size_average, reduce, reduction)
    if target.dim() > 1 or input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(
            "cosine_embedding_loss: expected a 1D target with 2D inputs, or a 0D target with 1D inputs: got inputs of "
            f"{list(input1.shape)} and {list(input2.shape)} and a target of {list(target.shape)}."
        )
    squares = [(x * x).sum(-1) + 1e-12 for x in (input1, input2)]
    cosine = (input1 * input2).sum(-1) / (squares[0] * squares[1]).sqrt()
    zeros = late.functions["zeros_like"](cosine)
    each = where(target == 1, 1 - cosine, zeros) + where(target == -1, clamp_min(cosine - margin, 0), zeros)
    return _reduce(each, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction: str = "mean"):
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"soft_margin_loss: expected floating point input, got {input._dtype}.")
    return loss.soft_margin_loss.function(*_broadcast(input, target), _old(size_average, reduce, reduction))


def poisson_nll_loss(
    input,
    target,
    log_input: bool = True,
    full: bool = False,
    size_average=None,
    eps: float = 1e-8,
    reduce=None,
    reduction: str = "mean",
):
    """exp(input) - target * input: counts under a Poisson distribution.  full: with Stirling's term."""
    each = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        each = each + stirling.masked_fill(target <= 1, 0)
    return _reduce(each, _old(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
    """Minus the logarithm of the target's chance under a normal distribution with that mean and variance."""
    var = var if isinstance(var, Tensor) else input * 0 + var
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.dim() != var.dim() or sum(n for m, n in zip(input.shape, var.shape, strict=True) if m != n) != 1:
            raise ValueError(
                f"var is of incorrect size: {list(var.shape)} for input {list(input.shape)}: expected the same, or one "
                "dimension of size 1 or the last one absent."
            )
    var = var + (clamp_min(var.detach(), eps) - var.detach())  # held above eps, the gradient passing as it is
    each = 0.5 * (var.log() + (input - target) ** 2 / var)
    return _reduce(each + 0.5 * math.log(2 * math.pi) if full else each, reduction)
