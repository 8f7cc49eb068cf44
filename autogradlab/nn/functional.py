"""torch.nn.functional: layers without state.

One-line faces for what the operators of ops/ compute; the losses are in functional_losses.py.

Source: https://pytorch.org/docs/stable/nn.functional.html
"""

from autogradlab import late
from autogradlab.ops import activation

_torch = late.functions
globals().update({name: late.nn_functions[name] for name in late.nn_functions.files})

sigmoid, tanh = _torch["sigmoid"], _torch["tanh"]


def _either(op, inplace: bool, *args, **kwargs):
    """The operator's result; written into its first tensor if inplace."""
    if not inplace:
        return op.function(*args, **kwargs)
    return late.operators.bound.get(f"{op.name}_in_place", op).write(*args, **kwargs)


# Activations ----------------------------------------------------------------------------------------------------------


def relu(input, inplace: bool = False):
    """max(x, 0).  (D2 5.3)"""
    return _either(late.operators["relu"], inplace, input)


def relu6(input, inplace: bool = False):
    """x held between 0 and 6."""
    return _either(activation.hardtanh, inplace, input, 0.0, 6.0)


def hardtanh(input, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
    """x held between min_val and max_val."""
    return _either(activation.hardtanh, inplace, input, min_val, max_val)


def elu(input, alpha: float = 1.0, inplace: bool = False):
    """x above 0, alpha * (exp(x) - 1) below."""
    return _either(activation.elu, inplace, input, alpha)


SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def selu(input, inplace: bool = False):
    """An elu whose outputs keep mean 0 and variance 1.  (https://arxiv.org/abs/1706.02515)"""
    return _either(activation.elu, inplace, input, SELU_ALPHA, SELU_SCALE)


def celu(input, alpha: float = 1.0, inplace: bool = False):
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    return _either(activation.celu, inplace, input, alpha)


def leaky_relu(input, negative_slope: float = 0.01, inplace: bool = False):
    """x above 0, negative_slope * x below."""
    return _either(activation.leaky_relu, inplace, input, negative_slope)


def silu(input, inplace: bool = False):
    """x * sigmoid(x)."""
    return _either(activation.silu, inplace, input)


def mish(input, inplace: bool = False):
    """x * tanh(softplus(x))."""
    return _either(activation.mish, inplace, input)


def hardsigmoid(input, inplace: bool = False):
    """relu6(x + 3) / 6."""
    return _either(activation.hardsigmoid, inplace, input)


def hardswish(input, inplace: bool = False):
    """x * relu6(x + 3) / 6."""
    return _either(activation.hardswish, inplace, input)


def threshold(input, threshold: float, value: float, inplace: bool = False):
    """x where it is above threshold, else value."""
    return _either(activation.threshold, inplace, input, threshold, value)


def _in_place(function, name: str):
    """The in-place twin of an activation."""

    def face(input, *args, **kwargs):
        return function(input, *args, **kwargs, inplace=True)

    face.__name__ = face.__qualname__ = name
    face.__doc__ = f"The in-place version of {function.__name__}()."
    return face


relu_, elu_, selu_, celu_ = (_in_place(f, f"{f.__name__}_") for f in (relu, elu, selu, celu))
leaky_relu_, hardtanh_, threshold_ = (_in_place(f, f"{f.__name__}_") for f in (leaky_relu, hardtanh, threshold))
for _fn in (selu, celu, threshold, selu_, celu_, threshold_):  # torch has these too
    _torch.bound[_fn.__name__] = _fn


def softsign(input):
    """x / (1 + abs(x))."""
    return input / (input.abs() + 1)


def tanhshrink(input):
    """x - tanh(x)."""
    return input - input.tanh()


def _softmax_dim(name: str, ndim: int) -> int:
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=4,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel: int = 3, dtype=None):
    """exp(x) over the sum of exp(x) along dim.  (D1 4.2)"""
    return _torch["softmax"](input, _softmax_dim("softmax", input.dim()) if dim is None else dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel: int = 3, dtype=None):
    """log(softmax(x)) along dim."""
    return _torch["log_softmax"](input, _softmax_dim("log_softmax", input.dim()) if dim is None else dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel: int = 3, dtype=None):
    """softmax(-x) along dim."""
    return _torch["softmax"](-input, _softmax_dim("softmin", input.dim()) if dim is None else dim, dtype=dtype)


from .functional_losses import *  # noqa: E402, F403
