"""Operands made alike before a kernel runs: one device and one dtype for all, numbers as tensors.  (D1 5.2)"""

import functools

import numpy

from . import dtypes, errors, late
from .modes import AUTOCAST, state
from .tensor import Tensor, fresh


def convert(op, inputs, options):
    """One device and one dtype for all operands: (device, computing dtype, windows, dtype of the result)."""
    device = common_device(op.name, inputs)
    if op.promote:
        common = common_dtype(inputs)
    else:
        common = inputs[0]._dtype
        if op.same_dtype and any(t._dtype is not common for t in inputs):
            names = " != ".join(t._dtype.name for t in inputs)
            raise RuntimeError(
                f"{op.name}: expected all operands to have the same dtype, but got: {names}. Convert one with "
                f".to(dtype)."
            )
    if op.floats and not common.is_floating_point:
        common = dtypes.get_default_dtype()
    op.check_dtype(common)
    computing = dtypes.float32 if common.is_half and not op.moves else common
    numpy_dtype, windows = computing.numpy, []
    for t in inputs:
        window = t.window if t._device is device else device.backend.scalar(t.item(), t._dtype)
        if (op.promote or t is inputs[0] or op.same_dtype) and window.dtype != numpy_dtype:
            window = device.backend.widen(window, numpy_dtype)
        windows.append(window)
    return device, computing, windows, op.result_dtype(common, options)


def common_device(name: str, tensors):
    """The device all operands are on; 0-d tensors of the CPU may stand beside an accelerator's."""
    device = tensors[0]._device
    for t in tensors:
        if t._device is not device:
            if t._device.type == "cpu" and not t.shape:
                continue
            if device.type != "cpu" or any(u.shape for u in tensors if u._device is device):
                raise errors.device_mismatch(name, tensors)
            device = t._device
    return device


class Number(Tensor):
    """A tensor made from a Python number: it gives way to every tensor of its category."""

    __slots__ = ()


def common_dtype(tensors) -> dtypes.dtype:
    """PyTorch's promotion over tensors with dimensions, 0-d tensors and Python numbers."""
    groups = [], [], []
    for t in tensors:
        groups[2 if type(t) is Number else 0 if t.shape else 1].append(t._dtype)
    return dtypes.combine(*groups)


def operand(value, beside: Tensor, floats: bool = False):
    """A Python or NumPy number beside a tensor, as a 0-d tensor (a NumPy array as a tensor); None for anything else.

    floats: the operation makes floats of integers, so a number must not be squeezed into the tensor's integer dtype.
    """
    mine, device = beside._dtype, beside._device
    if type(value) is float:  # it takes the dtype of floating point neighbours
        kind = mine if mine.is_floating_point else dtypes.get_default_dtype()
    else:
        kind = dtypes.PYTHON.get(type(value))
    if kind is None:
        if isinstance(value, numpy.ndarray) and value.shape:
            return late.functions["tensor"](value)
        plain = number(value)
        return operand(plain, beside, floats) if type(plain) in (bool, int, float) else None
    if floats and not mine.is_floating_point:
        kind = dtypes.get_default_dtype()
    key = value, kind, mine, device
    made = _numbers.get(key)
    if made is None:
        made = _number(*key)
        if value and value == value and len(_numbers) < 1000:  # not 0.0, which equals -0.0; not nan
            _numbers[key] = made
    return made


def number(value, name: str = "value"):
    """What stands for a number, as Python's own: NumPy's, or a tensor's without dimensions; others as they are."""
    if isinstance(value, Tensor):
        if value.shape:
            raise TypeError(
                f"argument '{name}' must be Number, not Tensor of shape {tuple(value.shape)}: take one of its elements."
            )
        return value.item()
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    if isinstance(value, (float, numpy.floating)):
        return float(value)
    if isinstance(value, numpy.ndarray):
        return number(value.item(), name)
    return value.__index__() if hasattr(type(value), "__index__") else value


def need_64_bits(value) -> None:
    """Refuse an integer that no dtype holds."""
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise OverflowError(f"int too big to convert: {value} does not fit 64 bits; a float has room for it.")


_numbers = {}  # those made lately: programs use few, over and over


def _number(value, kind, mine, device) -> Tensor:
    """A 0-d tensor of the neighbour's dtype where the number fits in, else of its own; never written to."""
    need_64_bits(value)
    gives_way = mine.is_half or mine.category < kind.category
    dtype = mine if not gives_way else dtypes.float32 if mine.is_half else kind
    if not gives_way and mine.category == dtypes.INT:  # what does not fit wraps round, as it does in the sum itself
        bits = mine.itemsize * 8
        value = value & (1 << bits) - 1
        value -= (value >> bits - 1 << bits) if mine.is_signed else 0
    made = fresh(device.backend.scalar(value, dtype), dtype, device)
    if gives_way:
        made.__class__ = Number
    return made


def fit(backend, array, dtype):
    """An array of the promised dtype: half precision is computed in float32 and rounded here, once."""
    if type(array) is not backend.array:
        return backend.as_array(array, dtype)
    return array if array.dtype == dtype.numpy else backend.narrow(array, dtype.numpy)


def autocasts(name: str):
    """Mark a function made of several operators as one that autocast lists, by this name.

    Its operands are cast before it begins, and autocast leaves alone what it does inside.
    """

    def mark(fn):
        @functools.wraps(fn)
        def face(*args, **kwargs):
            if not state.flags & AUTOCAST:
                return fn(*args, **kwargs)
            return state.autocast.run(name, fn, args, kwargs)

        return face

    return mark
