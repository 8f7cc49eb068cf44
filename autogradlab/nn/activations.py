"""Activations as modules."""

from autogradlab import late
from autogradlab.late import functions as torch

from . import functional as F
from .module import Module
from .parameter import Parameter


class Activation(Module):
    """A function of nn.functional whose further arguments are the module's own attributes, named by __init__."""

    function = None

    def _names(self):
        code = type(self).__init__.__code__
        return code.co_varnames[1 : code.co_argcount]

    def forward(self, input):
        return type(self).function(input, *[getattr(self, name) for name in self._names()])

    def extra_repr(self) -> str:
        shown = [f"{n}={getattr(self, n)!r}" for n in self._names() if n != "inplace"]
        return ", ".join(shown + ["inplace=True"] * getattr(self, "inplace", False))


class _Plain(Activation):
    """An activation without arguments."""

    def __init__(self):
        super().__init__()


class _InPlace(Activation):
    """An activation that may write into its input."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


class _Slope(Activation):
    """An activation with alpha."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class _Shrink(Activation):
    """An activation with a dead zone."""

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class _Along(Activation):
    """An activation along a dimension."""

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return type(self).function(input, self.dim, _stacklevel=5)


def _made(name: str, base, function):
    says = (function.__doc__ or "").split("\n")[0]
    return type(name, (base,), {"function": function, "__doc__": says, "__module__": __name__})


Tanh, Sigmoid = _made("Tanh", _Plain, torch["tanh"]), _made("Sigmoid", _Plain, torch["sigmoid"])
LogSigmoid = _made("LogSigmoid", _Plain, late.nn_functions["logsigmoid"])
Softsign, Tanhshrink = _made("Softsign", _Plain, F.softsign), _made("Tanhshrink", _Plain, F.tanhshrink)
ReLU, ReLU6 = _made("ReLU", _InPlace, F.relu), _made("ReLU6", _InPlace, F.relu6)
SiLU, Mish, SELU = _made("SiLU", _InPlace, F.silu), _made("Mish", _InPlace, F.mish), _made("SELU", _InPlace, F.selu)
Hardsigmoid, Hardswish = _made("Hardsigmoid", _InPlace, F.hardsigmoid), _made("Hardswish", _InPlace, F.hardswish)
Hardsigmoid.extra_repr = Hardswish.extra_repr = Module.extra_repr
ELU, CELU = _made("ELU", _Slope, F.elu), _made("CELU", _Slope, F.celu)
Hardshrink = _made("Hardshrink", _Shrink, torch["hardshrink"])
Softshrink = _made("Softshrink", _Shrink, late.nn_functions["softshrink"])
Softmax, LogSoftmax = _made("Softmax", _Along, F.softmax), _made("LogSoftmax", _Along, F.log_softmax)
Softmin = _made("Softmin", _Along, F.softmin)


class LeakyReLU(Activation):
    """x above 0, negative_slope * x below."""

    function = F.leaky_relu

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class Hardtanh(Activation):
    """x held between min_val and max_val."""

    function = F.hardtanh

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
        super().__init__()
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace


class Threshold(Activation):
    """x where it is above threshold, else value."""

    function = F.threshold

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class GELU(Activation):
    """x times the chance that a normal number is below x; approximate: "none" or "tanh"."""

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta."""

    function = late.nn_functions["softplus"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold


class GLU(Activation):
    """The first half along dim times the sigmoid of the second."""

    function = late.nn_functions["glu"]

    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim


class PReLU(Module):
    """x above 0, weight * x below; the weight is learned, one or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(torch["empty"](num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start from `init` again."""
        self.weight.data.fill_(self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
