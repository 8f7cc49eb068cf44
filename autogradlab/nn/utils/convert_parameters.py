"""All parameters in one vector, and back."""

from autogradlab.late import functions as torch
from autogradlab.tensor import Tensor


def parameters_to_vector(parameters) -> Tensor:
    """The numbers of all parameters, one behind the other; gradients flow through it."""
    parameters = list(parameters)
    if any(p.device is not parameters[0].device for p in parameters):
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return torch["cat"]([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters) -> None:
    """Make the parameters parts of a vector: each takes as many of its numbers as it has."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for param in parameters:
        stop = start + param.numel()
        param.data = vec[start:stop].view_as(param).data
        start = stop
