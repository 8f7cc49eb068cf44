"""Masks: masked_fill, masked_select, nonzero.  A mask is a bool tensor that broadcasts.  (D1 2.2, 4.2)"""

import numpy

from autogradlab import dtypes, shapes
from autogradlab.dispatch import NOTHING
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, wrap

from .kinds import held, in_order
from .out import takes_out


def _mask_samples(make):
    yield (make(2, 3), make.bools(2, 3)), {"value": 1.5}
    yield (make(2, 3), make.bools(3)), {"value": -1}


@operator(node="MaskedFillBackward0", moves=True, promote=False, public=(), samples=_mask_samples)
class masked_fill_:
    """One number where the mask is True."""

    def arguments(input, mask, value):
        if mask._dtype is not dtypes.bool_:
            raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask._dtype}.")
        return (input, mask), {"value": held(value, input._dtype)}

    def kernel(xp, a, mask, /, value):
        return in_order(xp, xp.where(mask, xp.full((), value, a.dtype), a))

    def grad_a(g, mask):
        return masked_fill_(g, mask, 0)


@operator(node="MaskedFillBackward1", moves=True, promote=False, public=(),
          samples=lambda make: [((make(2, 3), make.bools(3), make()), {})])  # fmt: skip
class masked_fill_by:
    """The value of a 0-d tensor, which gets its gradient, where the mask is True."""

    def arguments(input, mask, value):
        if value.dim():
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.dim()} dimension(s)."
            )
        return (input, mask, value.to(input._dtype)), NOTHING

    def kernel(xp, a, mask, value, /):
        return in_order(xp, xp.where(mask, value, a))

    def grad_a(g, mask):
        return masked_fill_(g, mask, value=0)

    def grad_value(g, mask):
        return masked_fill_(g, ~mask, value=0)


def masked_fill(input, mask, value):
    """One number, or the value of a 0-d tensor (which then gets its gradient), where the mask is True.  (D1 4.2)"""
    return (masked_fill_by if isinstance(value, Tensor) else masked_fill_).function(input, mask, value)


def masked_fill_in_place(self, mask, value):
    """Write one number, or the value of a 0-d tensor, where the mask is True."""
    return (masked_fill_by if isinstance(value, Tensor) else masked_fill_).write(self, mask, value)


public(masked_fill, also_method=True)
method(masked_fill_in_place, "masked_fill_")


@operator(moves=True, promote=False,
          samples=lambda make: [((make(2, 3), make.bools(2, 3)), {}), ((make(3), make.bools(2, 1)), {})])  # fmt: skip
class masked_select:
    """The elements where the mask is True, in one dimension."""

    def arguments(input, mask):
        if mask._dtype is not dtypes.bool_:
            raise RuntimeError(f"masked_select: expected BoolTensor for mask, but got {mask._dtype}.")
        return (input, mask), {"shape": shapes.broadcast_shapes(tuple(input.shape), tuple(mask.shape))}

    def kernel(xp, a, mask, /, shape):
        return xp.broadcast_to(a, shape)[xp.broadcast_to(mask, shape)]

    def grad_a(g, mask, shape):
        return masked_spread(g, mask, shape)


@operator(moves=True, promote=False, public=(),
          samples=lambda make: [((make(3), make.bools(3) | True, (3,)), {})])  # fmt: skip
class masked_spread:
    """Zeros, with g in order where the mask is True: the gradient of masked_select."""

    def arguments(input, mask, shape):
        return (input, mask), {"shape": shape}

    def kernel(xp, a, mask, /, shape):
        out = xp.zeros(shape, a.dtype)
        out[xp.broadcast_to(mask, shape)] = a
        return out

    def grad_a(g, mask):
        return masked_select(g, mask) if isinstance(g, Tensor) else masked_select(g, mask, shape=g.shape)


def nonzero(input, *, as_tuple: bool = False):
    """The indices of all elements that are not zero: one row each, or a tuple of one tensor a dimension.

    Waits for the device.
    """
    xp = input._device.backend.xp
    window = input.window
    places = xp.nonzero(window.reshape(window.shape or (1,)))
    if as_tuple:
        return tuple(_wrap_index(p, input) for p in places)
    rows = xp.stack(places, axis=0).T  # laid out one dimension after the other, as PyTorch does
    return _wrap_index(rows.copy("K") if input.dim() else rows[:, :0].copy(), input)


def _wrap_index(array, beside):
    return wrap(array.astype("int64"), dtypes.int64, beside._device)


public(nonzero, also_method=True, around=takes_out)
public(lambda input: nonzero(input), "argwhere", also_method=True)


def _contains(self, element) -> bool:
    if not isinstance(element, (Tensor, bool, int, float, numpy.generic)):
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element).__name__}: to look for several, use torch.isin()."
        )
    return bool((self == element).any())


method(_contains, "__contains__")
