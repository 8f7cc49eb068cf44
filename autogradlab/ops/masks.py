"""Masks: masked_fill, masked_select, nonzero.  A mask is a bool tensor that broadcasts.  (D1 2.2, 4.2)"""

from autogradlab import dtypes
from autogradlab.dispatch import operand
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, wrap

from .index import getitem
from .shape import broadcast_tensors


def _mask_samples(make):
    yield (make(2, 3), make.bools(2, 3)), {"value": 1.5}
    yield (make(2, 3), make.bools(3)), {"value": -1}


@operator(moves=True, promote=False, in_place=True, samples=_mask_samples)
class masked_fill:
    """One number where the mask is True.  (D1 4.2)"""

    def arguments(input, mask, value):
        if mask._dtype is not dtypes.bool_:
            raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask._dtype}.")
        if isinstance(value, Tensor):
            if value.dim():
                raise RuntimeError(
                    "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                    f"{value.dim()} dimension(s)."
                )
            value = value.item()
        operand(value, input)
        if input._dtype.category < dtypes.of_python(value).category:
            raise RuntimeError(f"value cannot be converted to type {input._dtype.name} without overflow: {value}.")
        return (input, mask), {"value": value}

    def kernel(xp, a, mask, /, value):
        return xp.where(mask, xp.full((), value, a.dtype), a)

    def grad_a(g, mask):
        return masked_fill(g, mask, 0)


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
    rows = xp.stack(places, axis=1)
    return _wrap_index(rows if input.dim() else rows[:, :0].copy(), input)


def _wrap_index(array, beside):
    return wrap(array.astype("int64"), dtypes.int64, beside._device)


public(nonzero, also_method=True)
public(lambda input: nonzero(input), "argwhere", also_method=True)


def _contains(self, element) -> bool:
    return bool((self == element).any())


method(_contains, "__contains__")
