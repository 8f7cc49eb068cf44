"""Losses as modules."""

from autogradlab.tensor import Tensor

from . import functional as F
from .functional_losses import _old
from .module import Module


class _Loss(Module):
    """A loss of nn.functional; its further arguments are the module's attributes named in `extra`."""

    function = None
    extra = ()

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__()
        self.reduction = _old(size_average, reduce, reduction)

    def forward(self, input, target):
        extra = {name: getattr(self, name) for name in self.extra}
        return type(self).function(input, target, **extra, reduction=self.reduction)


class MSELoss(_Loss):
    """The squared differences.  (D1 6.4)"""

    function = F.mse_loss


class L1Loss(_Loss):
    """The absolute differences."""

    function = F.l1_loss


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), for targets 1 and -1."""

    function = F.soft_margin_loss


class SmoothL1Loss(_Loss):
    """The absolute differences, quadratic below beta."""

    function, extra = F.smooth_l1_loss, ("beta",)

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Loss):
    """Half the squared differences up to delta, straight lines beyond."""

    function, extra = F.huber_loss, ("delta",)

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction=reduction)
        self.delta = delta


class KLDivLoss(_Loss):
    """target * (log(target) - input)."""

    function, extra = F.kl_div, ("log_target",)

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class _WeightedLoss(_Loss):
    """A loss with weights, kept as a buffer so that they move with the module."""

    extra = ("weight",)

    def __init__(self, weight: Tensor | None = None, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class NLLLoss(_WeightedLoss):
    """Minus the input, a logarithm of probabilities, at each target's class."""

    function, extra = F.nll_loss, ("weight", "ignore_index")

    def __init__(self, weight=None, size_average=None, ignore_index: int = -100, reduce=None, reduction: str = "mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(_WeightedLoss):
    """How unlikely the targets are under softmax(input).  (D1 6.4)"""

    function, extra = F.cross_entropy, ("weight", "ignore_index", "label_smoothing")

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing


class BCELoss(_WeightedLoss):
    """The binary cross entropy of probabilities."""

    function = F.binary_cross_entropy


class BCEWithLogitsLoss(_WeightedLoss):
    """The binary cross entropy of sigmoid(input).  (D4 2)"""

    function, extra = F.binary_cross_entropy_with_logits, ("weight", "pos_weight")

    def __init__(self, weight=None, size_average=None, reduce=None, reduction: str = "mean", pos_weight=None):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(0, margin - input) where it is -1."""

    function, extra = F.hinge_embedding_loss, ("margin",)

    def __init__(self, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class PoissonNLLLoss(_Loss):
    """Counts under a Poisson distribution."""

    function, extra = F.poisson_nll_loss, ("log_input", "full", "eps")

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average=None,
        eps: float = 1e-8,
        reduce=None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps


class GaussianNLLLoss(_Loss):
    """Values under a normal distribution with given mean and variance."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -target * (input1 - input2) + margin)."""

    def __init__(self, margin: float = 0.0, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(MarginRankingLoss):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1."""

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, distance(anchor, positive) - distance(anchor, negative) + margin)."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along dim."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 along the last dimension."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
