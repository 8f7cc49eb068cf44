"""What operators of one kind have in common: flags for their blocks, and arguments."""

from autogradlab import dtypes
from autogradlab.dispatch import NOTHING
from autogradlab.operators import numbers_to_tensors
from autogradlab.tensor import Tensor

pointwise = {"pointwise": True, "in_place": True}
binary = {**pointwise, "autocast": "promote"}
function = {**pointwise, "floats": True, "autocast": "fp32"}  # integers become floats first


def not_bool(dtype) -> bool:
    """Arithmetic that bools do not have."""
    return dtype is not dtypes.bool_


def floating(dtype) -> bool:
    """What integers and bools do not have."""
    return dtype.is_floating_point


def wide(dtype) -> bool:
    """What libraries of linear algebra work on."""
    return dtype.is_floating_point and not dtype.is_half


def both_tensors(input, other):
    """Two tensors, of which neither may be a number."""
    return (input, other), NOTHING


def number_second(input, other):
    """A tensor, and a tensor or a number."""
    return numbers_to_tensors(input, other) if isinstance(input, Tensor) else (input, other), NOTHING


def need_tensors(name: str, **given) -> None:
    """Refuse what is no tensor, by the names of the arguments."""
    for argument, value in given.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}.")
