"""Sums of products, which the gradients of softmax and of normalisation are made of."""

from autogradlab.backends import namespace
from autogradlab.tensor import Tensor

from .reduce import sum as total


def dot(x, y, axes):
    """The sum of x * y over axes, which are kept as size 1: without a temporary on raw arrays."""
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return total(x * y, dim=axes, keepdim=True)
    letters = "abcdefghijklmnop"[: x.ndim]
    kept = "".join(c for d, c in enumerate(letters) if d not in axes)
    out = namespace((x,)).einsum(f"{letters},{letters}->{kept}", x, y)
    return out.reshape(tuple(1 if d in axes else n for d, n in enumerate(x.shape)))
