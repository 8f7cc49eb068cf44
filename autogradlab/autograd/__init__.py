"""torch.autograd: asking for gradients, and operations of one's own.

Source: https://pytorch.org/docs/stable/autograd.html
"""

import importlib

from autogradlab.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

from . import function, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .calls import backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def __getattr__(name: str):
    """functional is loaded when first asked for."""
    if name != "functional":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.functional")
