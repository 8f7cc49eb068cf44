"""Clipping: gradients made shorter where they are too long.  (https://arxiv.org/abs/1211.5063, D5 5)"""

import warnings

from autogradlab.late import functions as torch
from autogradlab.modes import no_grad
from autogradlab.tensor import Tensor


def _grads(parameters) -> list:
    """The gradients there are, of one tensor or of several."""
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def get_total_norm(tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach=None) -> Tensor:
    """The norm of all tensors as if they were one vector."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return torch["tensor"](0.0)
    norms = [t.norm(norm_type) for t in tensors]
    total = torch["stack"]([n.to(norms[0].device) for n in norms]).norm(norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite ({total.item()}), so "
            "it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(parameters, max_norm: float, total_norm: Tensor, foreach=None) -> None:
    """Multiply all gradients by max_norm / total_norm where that is below 1."""
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for grad in _grads(parameters):
        grad.mul_(factor.to(grad.device))


@no_grad()
def clip_grad_norm_(
    parameters, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach=None
) -> Tensor:
    """Shorten the gradients of all parameters together to max_norm, if they are longer.  Returns their norm before."""
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        given = parameters
        parameters = list(parameters)
        if not parameters and iter(given) is given:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach=None
) -> Tensor:
    """The old name of clip_grad_norm_."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters, clip_value: float, foreach=None) -> None:
    """Hold every number of every gradient between -clip_value and clip_value."""
    clip_value = float(clip_value)
    for grad in _grads(parameters):
        grad.clamp_(-clip_value, clip_value)
