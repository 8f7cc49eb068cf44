"""Sums of products, which the gradients of softmax and of normalisation are made of."""

from functools import cache

from autogradlab.backends import namespace
from autogradlab.tensor import Tensor

from .reduce import sum as total


def dot(x, y, axes):
    """The sum of x * y over axes, which are kept as size 1: without a temporary on raw arrays."""
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return total(x * y, dim=axes, keepdim=True)
    out = namespace((x,)).einsum(_equation(x.ndim, axes), x, y)
    return out.reshape(tuple(1 if d in axes else n for d, n in enumerate(x.shape)))


@cache
def _equation(ndim: int, axes: tuple) -> str:
    letters = "abcdefghijklmnop"[:ndim]
    return f"{letters},{letters}->{''.join(c for d, c in enumerate(letters) if d not in axes)}"
