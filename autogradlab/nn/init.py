"""How parameters start: random numbers whose size keeps signals neither growing nor dying from layer to layer.

Source: https://pytorch.org/docs/stable/nn.init.html
"""

import math
import warnings

from autogradlab.late import functions as torch
from autogradlab.modes import no_grad
from autogradlab.tensor import Tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much an activation shrinks its input, to be made up for by the weights before it."""
    linear = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    if nonlinearity in linear or nonlinearity == "sigmoid":
        return 1
    fixed = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity in fixed:
        return fixed[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is None:
        param = 0.01
    if isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + param**2))


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = _fans


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator=None) -> Tensor:
    """Uniform between a and b."""
    return tensor.uniform_(a, b)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator=None) -> Tensor:
    """Normal with that mean and standard deviation."""
    return tensor.normal_(mean, std)


@no_grad()
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator=None
) -> Tensor:
    """Normal, drawn again as long as it lies outside a to b."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_: the distribution of values may be wrong.",
            stacklevel=2,
        )
    tensor.normal_(mean, std)
    for _ in range(100):
        outside = (tensor < a) | (tensor > b)
        if not bool(outside.any()):
            return tensor
        tensor.copy_(torch["where"](outside, torch["randn_like"](tensor) * std + mean, tensor))
    return tensor.clamp_(a, b)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(torch["eye"](*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution's weight that passes its input on, channel by channel."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    tensor.zero_()
    for g in range(groups):
        for d in range(min(each, tensor.shape[1])):
            tensor[(g * each + d, d, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator=None) -> Tensor:
    """Uniform, with variance 2 gain^2 / (fan_in + fan_out).  (Glorot and Bengio 2010)"""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator=None) -> Tensor:
    """Normal, with variance 2 gain^2 / (fan_in + fan_out).  (Glorot and Bengio 2010)"""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None
) -> Tensor:
    """Uniform, with variance gain^2 / fan.  (https://arxiv.org/abs/1502.01852)"""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None
) -> Tensor:
    """Normal, with variance gain^2 / fan.  (https://arxiv.org/abs/1502.01852)"""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator=None) -> Tensor:
    """Rows (or columns, if fewer) at right angles, of length gain.  (https://arxiv.org/abs/1312.6120)"""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    from numpy import linalg, sign  # NumPy's own; imported when first needed

    random = torch["randn"](max(rows, columns), min(rows, columns), dtype=torch["zeros"](0).double().dtype)
    q, r = linalg.qr(random.numpy())
    q = q * sign(r.diagonal()) * gain
    values = torch["from_numpy"](q.T.copy() if rows < columns else q.copy())
    return tensor.copy_(values.view(*tensor.shape))


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator=None) -> Tensor:
    """Normal, with that fraction of every column set to zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    tensor.normal_(0, std)
    for column in range(columns):
        tensor[torch["randperm"](rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor
