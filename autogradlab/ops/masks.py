"""Masks: masked_fill, masked_select, nonzero.  A mask is a bool tensor that broadcasts.  (D1 2.2, 4.2)"""

from autogradlab import dtypes
from autogradlab.dispatch import operand
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, wrap

from .choose import where
from .index import getitem
from .kinds import in_order
from .shape import broadcast_tensors


def _mask_samples(make):
    yield (make(2, 3), make.bools(2, 3)), {"value": 1.5}
    yield (make(2, 3), make.bools(3)), {"value": -1}


@operator(node="MaskedFillBackward0", moves=True, promote=False, public=(), samples=_mask_samples)
class masked_fill_:
    """One number where the mask is True."""

    def arguments(input, mask, value):
        if mask._dtype is not dtypes.bool_:
            raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask._dtype}.")
        operand(value, input)
        return (input, mask), {"value": value if input._dtype.is_floating_point else int(value)}

    def kernel(xp, a, mask, /, value):
        return in_order(xp, xp.where(mask, xp.full((), value, a.dtype), a))

    def grad_a(g, mask):
        return masked_fill_(g, mask, 0)


def masked_fill(input, mask, value):
    """One number, or the value of a 0-d tensor (which then gets its gradient), where the mask is True.  (D1 4.2)"""
    if isinstance(value, Tensor):
        return where(mask, _single(value).to(input._dtype), input)
    return masked_fill_.function(input, mask, value)


def masked_fill_in_place(self, mask, value):
    """Write one number, or the value of a 0-d tensor, where the mask is True."""
    if isinstance(value, Tensor) and value.requires_grad:
        return self.copy_(where(mask, _single(value).to(self._dtype), self))
    return masked_fill_.write(self, mask, _single(value).item() if isinstance(value, Tensor) else value)


def _single(value: Tensor) -> Tensor:
    if value.dim():
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
        )
    return value


public(masked_fill, also_method=True)
method(masked_fill_in_place, "masked_fill_")


def masked_select(input, mask):
    """The elements where the mask is True, in one dimension."""
    if mask._dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, but got {mask._dtype}.")
    return getitem(*broadcast_tensors(input, mask))


public(masked_select, also_method=True)


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


public(nonzero, also_method=True)
public(lambda input: nonzero(input), "argwhere", also_method=True)


def _contains(self, element) -> bool:
    return bool((self == element).any())


method(_contains, "__contains__")
