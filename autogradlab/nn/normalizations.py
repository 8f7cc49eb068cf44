"""Normalisation layers.  (D5 5)"""

from autogradlab import dtypes
from autogradlab.late import functions as torch

from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class _Affine(Module):
    """A layer with a weight that starts as ones and a bias that starts as zeros, if it has them."""

    def _make(self, size, weight: bool, bias: bool, device, dtype) -> None:
        for name, wanted in (("weight", weight), ("bias", weight and bias)):
            made = Parameter(torch["empty"](size, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)

    def reset_parameters(self) -> None:
        """Start from ones and zeros again."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class _BatchNorm(_Affine):
    """Each channel at mean 0 and variance 1: by the batch while training, by running statistics in evaluation.

    momentum: how fast the running statistics follow; None: they are the mean of all batches.
    """

    _version = 2
    ranks, instance = (2, 3), False

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make(num_features, affine, bias, device, dtype)
        tracked = track_running_stats
        self.register_buffer(
            "running_mean", torch["zeros"](num_features, device=device, dtype=dtype) if tracked else None
        )
        self.register_buffer(
            "running_var", torch["ones"](num_features, device=device, dtype=dtype) if tracked else None
        )
        count = torch["tensor"](0, dtype=dtypes.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was gathered."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Start anew, running statistics included."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input) -> None:
        if input.dim() not in self.ranks:
            wanted = " or ".join(f"{n}D" for n in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            momentum = 1.0 / float(self.num_batches_tracked) if self.momentum is None else momentum
        by_batch = self.training or self.running_mean is None and self.running_var is None
        running = (self.running_mean, self.running_var) if not self.training or tracking else (None, None)
        return F.batch_norm(input, *running, self.weight, self.bias, by_batch, momentum, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L)."""


class BatchNorm2d(_BatchNorm):
    """Batch norm of (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch norm of (N, C, D, H, W)."""

    ranks = (5,)


class _InstanceNorm(_BatchNorm):
    """Each channel of each sample at mean 0 and variance 1."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        self._check_input_dim(input)
        single = input.dim() == self.ranks[0]
        out = F.instance_norm(
            input.unsqueeze(0) if single else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return out.squeeze(0) if single else out


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of (N, C, L) or (C, L)."""


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, then weight and bias."""

    def __init__(
        self,
        normalized_shape,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make(self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """The last dimensions over the root of their mean square, then times weight."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine: bool = True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = Parameter(torch["empty"](self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", made if elementwise_affine else None)
        self.reset_parameters()

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Mean 0 and variance 1 of each group of channels of each sample, then weight and bias for each channel."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make(num_channels, affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
