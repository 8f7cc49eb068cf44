"""What operators of one kind have in common: flags for their blocks, and arguments."""

import functools
import math

import numpy

from autogradlab import dtypes
from autogradlab.convert import need_64_bits, number
from autogradlab.dispatch import NOTHING
from autogradlab.operators import numbers_to_tensors, pytorch_words
from autogradlab.table import explained
from autogradlab.tensor import Tensor

pointwise = {"pointwise": True, "in_place": True}
binary = {**pointwise}
function = {**pointwise, "floats": True}  # integers become floats first


def not_bool(dtype) -> bool:
    """Arithmetic that bools do not have."""
    return dtype is not dtypes.bool_


def floating(dtype) -> bool:
    """What integers and bools do not have."""
    return dtype.is_floating_point


def floating_or_bool(dtype) -> bool:
    """What integers do not have."""
    return dtype.is_floating_point or dtype is dtypes.bool_


def floating_or_long(dtype) -> bool:
    """What PyTorch has for floats and for int64 alone."""
    return dtype.is_floating_point or dtype is dtypes.int64


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


_PYTHON = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64}


def chosen(dtype, otherwise=None):
    """The dtype that a caller asks for, who may say Python's bool, int or float; `otherwise` for None."""
    if dtype is None or isinstance(dtype, dtypes.dtype):
        return dtype or otherwise
    if isinstance(dtype, type) and dtype in _PYTHON:
        return _PYTHON[dtype]
    raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}: got {dtype!r}.")


@functools.cache
def limits(dtype) -> tuple:
    """The smallest and largest number that is written into a dtype; negative ones wrap round in unsigned integers."""
    if dtype.is_floating_point:
        info = dtypes.finfo(dtype)
        return info.min, info.max
    info = dtypes.iinfo(dtype)
    return info.min if dtype.is_signed else -info.max, info.max


def held(value, dtype):
    """A number as a tensor of this dtype holds it; RuntimeError if it does not fit (infinity and nan fit floats)."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"expected a number, but got {type(value).__name__}.")
    need_64_bits(value)
    if dtype is dtypes.bool_:
        return bool(value)
    low, high = limits(dtype)
    if dtype.is_floating_point and (value != value or abs(value) == math.inf) or low <= value <= high:
        return value if dtype.is_floating_point else int(value) if dtype.is_signed else int(value) % (high + 1)
    raise RuntimeError(
        f"value cannot be converted to type {dtype.name} without overflow: it holds {low} to {high}, got {value}."
    )


def numbers(**options) -> dict:
    """Options that are numbers, as Python's: of NumPy's and of tensors without dimensions, what they stand for."""
    return {name: v if type(v) is float or type(v) is int else number(v, name) for name, v in options.items()}


def numpy_words(fn):
    """A function that also takes NumPy's words for dim and keepdim, as every operator does."""
    fn = explained(fn)

    @functools.wraps(fn)
    def face(*args, **kwargs):
        return fn(*args, **pytorch_words(kwargs))

    return face


def in_order(xp, out):
    """A reduction's result in row-major order, as PyTorch returns it; NumPy keeps the order of the input."""
    return out if out.ndim < 2 or out.flags.c_contiguous else xp.ascontiguousarray(out)


def like(xp, a, out):
    """A result laid out as the input is."""
    if a.flags.c_contiguous:
        return out if out.flags.c_contiguous else xp.ascontiguousarray(out)
    made = xp.empty_like(a, dtype=out.dtype)
    made[...] = out
    return made


def add_up(xp, whole, places, values) -> None:
    """Add values at places of an array, in place; places that repeat add up."""
    if whole.dtype.name == "bfloat16" and not isinstance(whole, numpy.ndarray):  # CuPy cannot: by way of float32
        wide = whole.astype("float32")
        xp.add.at(wide, places, values.astype("float32"))
        whole[...] = wide.astype(whole.dtype)
    else:
        xp.add.at(whole, places, values)
