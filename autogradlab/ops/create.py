"""Making tensors: from data, filled, counted.  (D1 1.1)"""

import math
import operator
import warnings

import numpy

from autogradlab import devices, dtypes, errors, shapes
from autogradlab.convert import number
from autogradlab.modes import INFERENCE, as_one, state
from autogradlab.storage import UntypedStorage
from autogradlab.table import method, public
from autogradlab.tensor import Tensor, view_of, wrap

from .kinds import chosen, held, limits
from .shape import sizes


def finish(array, dtype, device, requires_grad: bool) -> Tensor:
    """A tensor around a fresh host array, on its device."""
    device = devices.resolve(device)
    window = device.backend.from_host(array)
    made = wrap(window, dtype, device)
    return made.requires_grad_() if requires_grad else made


def _infer(data):
    """A host array of nested data, and the dtype it has by PyTorch's rules."""
    if isinstance(data, Tensor):
        return data.detach().host(), data._dtype
    if isinstance(data, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(data), dtypes.from_numpy(data.dtype)
    if isinstance(data, (list, tuple, range, bool, int, float)):
        return _from_lists(data)
    if hasattr(data, "__array__"):
        array = numpy.asarray(data)
        return array, dtypes.from_numpy(array.dtype)
    raise _no_number(type(data))


def _host_dtype(dtype):
    return numpy.float64 if dtype.is_floating_point else dtype.numpy


def _from_lists(data):
    leaves = []
    shape = _shape_of(data, leaves)
    found = {type(v) for v in leaves}
    if any(issubclass(kind, Tensor) for kind in found):
        kinds = [v._dtype if isinstance(v, Tensor) else dtypes.of_python(v) for v in leaves]
        leaves = [v.item() if isinstance(v, Tensor) else v for v in leaves]
    else:
        kinds = [_leaf_dtype(kind) for kind in found]
    dtype = dtypes.get_default_dtype() if not leaves else kinds[0]
    for kind in kinds[1:]:
        dtype = dtypes.promote_types(dtype, kind)
    try:
        return numpy.array(leaves, _host_dtype(dtype)).reshape(shape), dtype
    except OverflowError:
        raise ValueError("Overflow when unpacking long long: an integer does not fit 64 bits.") from None


def _leaf_dtype(kind) -> dtypes.dtype:
    if kind is bool:
        return dtypes.bool_
    if issubclass(kind, numpy.generic):
        return dtypes.from_numpy(kind)
    if issubclass(kind, float):
        return dtypes.get_default_dtype()
    if issubclass(kind, int):
        return dtypes.int64
    if issubclass(kind, str):
        raise ValueError("too many dimensions 'str': expected numbers or nested lists of them.")
    raise _no_number(kind)


def _no_number(kind) -> Exception:
    if issubclass(kind, complex):
        return TypeError("complex numbers are not offered: keep real and imaginary parts in two tensors.")
    what = TypeError if issubclass(kind, (str, bytes)) else RuntimeError
    return what(f"Could not infer dtype of {kind.__name__}: expected numbers, nested lists of them, or an array.")


def _shape_of(data, leaves: list, depth: int = 0):
    """The shape of nested lists, whose numbers are put into `leaves`; all lists of one level must be of one length."""
    if isinstance(data, Tensor) and depth and data.numel() != 1:
        raise ValueError(
            f"only one element tensors can be converted to Python scalars: an element of the list has shape "
            f"{tuple(data.shape)}; put tensors together with stack()."
        )
    if isinstance(data, numpy.ndarray):
        data = data.tolist()
    if not isinstance(data, (list, tuple, range)):
        leaves.append(data)
        return ()
    inner = None
    for i, item in enumerate(data):
        shape = _shape_of(item, leaves, depth + 1)
        if inner is not None and shape != inner:
            raise ValueError(
                f"expected sequence of length {inner[0] if inner else 1} at dim {depth + 1} (got "
                f"{shape[0] if shape else 'a number'}): "
                f"item {i} differs from the ones before; every row must have the same length."
            )
        inner = shape
    return (len(data), *(inner or ()))


@as_one
def tensor(data, *, dtype=None, device=None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists, or an array.  (D1 1.1)

    dtype: inferred if None: float -> the default dtype, int -> int64, bool -> bool, arrays keep theirs.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone().",
            UserWarning,
            stacklevel=2,
        )
        device = data._device if device is None else device
    array, own = _infer(data)
    dtype = chosen(dtype, own)
    if dtype in dtypes.FLOAT8:
        return (
            finish(numpy.array(array, "float32"), dtypes.float32, device, False).to(dtype).requires_grad_(requires_grad)
        )
    exact = not isinstance(data, numpy.ndarray)  # an array is converted as NumPy does it, wrapping round
    return finish(_exact(array, dtype) if exact else array.astype(dtype.numpy), dtype, device, requires_grad)


def _exact(array, dtype):
    """A fresh array of the dtype; numbers that do not fit integers are refused, as `held` says."""
    if dtype.category == dtypes.INT and array.dtype.kind in "iuf" and array.size:
        low, high = limits(dtype)
        least, most = array.min(), array.max()
        if not (low <= least and most <= high):  # nan is neither
            held((least if not low <= least else most).item(), dtype)
    return array.astype(dtype.numpy)


public(tensor)


# Filled ---------------------------------------------------------------------------------------------------------------


@as_one
def _filled(make, size, dtype, device, requires_grad, *args, named=None):
    size = size if named is None else (named,)
    dtype = chosen(dtype, dtypes.get_default_dtype())
    device = devices.resolve(device)
    size = sizes(size)
    if any(n < 0 for n in size):
        raise errors.negative_size(size)
    if dtype in dtypes.FLOAT8 and device.type != "cpu":  # kept as bytes there
        return _filled(make, size, dtypes.float32, device, False, *args).to(dtype).requires_grad_(requires_grad)
    out = wrap(getattr(device.backend.xp, make)(size, *args, dtype=dtype.numpy), dtype, device)
    return out.requires_grad_() if requires_grad else out


def zeros(*args, size=None, dtype=None, device=None, requires_grad=False) -> Tensor:
    """A tensor of zeros."""
    return _filled("zeros", args, dtype, device, requires_grad, named=size)


def ones(*args, size=None, dtype=None, device=None, requires_grad=False) -> Tensor:
    """A tensor of ones."""
    return _filled("ones", args, dtype, device, requires_grad, named=size)


def empty(*args, size=None, dtype=None, device=None, requires_grad=False, memory_format=None) -> Tensor:
    """A tensor whose elements are whatever the memory held."""
    return _filled("empty", args, dtype, device, requires_grad, named=size)


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False) -> Tensor:
    """A tensor of one number; its dtype is the number's unless given."""
    fill_value = number(fill_value, "fill_value")
    dtype = chosen(dtype, dtypes.of_python(fill_value))
    if isinstance(size, Tensor) or not hasattr(size, "__iter__"):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}.")
    return _filled("full", size, dtype, device, requires_grad,
                   held(fill_value, dtype))  # fmt: skip


@as_one
def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False) -> Tensor:
    """An empty tensor with these strides."""
    dtype = chosen(dtype, dtypes.get_default_dtype())
    device = devices.resolve(device)
    size, stride = sizes((size,)), sizes((stride,))
    version = None if state.flags & INFERENCE else 0
    storage = UntypedStorage(
        device, buffer=device.backend.allocate(shapes.extent(size, stride) * dtype.itemsize), version=version
    )
    return view_of(storage, size, stride, 0, dtype, device).requires_grad_(requires_grad)


for _fn in (zeros, ones, empty, full, empty_strided):
    public(_fn)


def _like(name: str, says: str):
    @as_one
    def like(input, *args, dtype=None, device=None, requires_grad=False, memory_format=None):
        out = empty_strided(
            tuple(input.shape), shapes.like_strides(tuple(input.shape), input.stride()),
            dtype=chosen(dtype, input._dtype), device=device or input._device,
        )  # fmt: skip
        if name != "empty":
            window = out.window
            window[...] = {"zeros": 0, "ones": 1}.get(name, args[0] if args else None)
        return out.requires_grad_() if requires_grad else out

    like.__doc__ = (
        f"{says} of the same shape, dtype, device and order of dimensions as the input, unless said otherwise.  (D1 "
        f"1.1)"
    )
    like.__name__ = like.__qualname__ = f"{name}_like"
    return public(like)


zeros_like = _like("zeros", "Zeros")
ones_like = _like("ones", "Ones")
empty_like = _like("empty", "Unset elements")


@as_one
def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False, memory_format=None) -> Tensor:
    """One number in the shape, dtype, device and order of dimensions of the input, unless said otherwise."""
    out = empty_like(input, dtype=dtype, device=device)
    out.window[...] = held(number(fill_value, "fill_value"), out._dtype)
    return out.requires_grad_() if requires_grad else out


public(full_like)


def _new(make):
    def new(self, *size, dtype=None, device=None, requires_grad=False):
        return make(*size, dtype=chosen(dtype, self._dtype), device=device or self._device, requires_grad=requires_grad)

    return new


for _fn in (zeros, ones, empty):
    method(_new(_fn), f"new_{_fn.__name__}")
method(
    lambda self, size, fill_value, **k: full(size, fill_value, **{"dtype": self._dtype, "device": self._device, **k}),
    "new_full",
)
method(
    lambda self, size, stride, **k: empty_strided(size, stride, **{"dtype": self._dtype, "device": self._device, **k}),
    "new_empty_strided",
)
method(lambda self, data, **k: tensor(data, **{"dtype": self._dtype, "device": self._device, **k}), "new_tensor")


# Counted --------------------------------------------------------------------------------------------------------------


def _number(value, name: str):
    """A number, or a 0-d tensor's."""
    if not isinstance(value, Tensor):
        return value
    if value.dim():
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got one with {value.dim()} dimension(s)."
        )
    return value.item()


@as_one
def arange(start=0, end=None, step=1, *, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """Numbers from start (0) to before end, `step` apart; int64 if all three are integers.  (D1 1.1)"""
    if end is None:
        start, end = 0, start
    start, end, step = (_number(v, "arange") for v in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero.")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}.")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: from {start} to {end} by {step}.")
    dtype = chosen(dtype)
    if dtype is None:
        dtype = dtypes.get_default_dtype() if any(isinstance(v, float) for v in (start, end, step)) else dtypes.int64
    first, stride = start, step
    if not dtype.is_floating_point:  # counted in integers
        first, stride = int(start), int(step)
        start, end, step = (int(v) if dtype is dtypes.int64 else v for v in (start, end, step))
    count = int(numpy.ceil((end - start) / step))
    return finish((first + numpy.arange(count) * stride).astype(dtype.numpy), dtype, device, requires_grad)


def _spaced(name, start, end, steps, dtype):
    """Evenly spaced numbers, counted from both ends, so that both are exact."""
    start, end, steps = _number(start, name), _number(end, name), operator.index(steps)
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative: got {steps}.")
    if not dtype.is_floating_point:
        start, end = int(start), int(end)
    step = (end - start) / (steps - 1) if steps > 1 else 0
    i = numpy.arange(steps)
    return numpy.where(i < steps // 2 + (steps == 1), start + step * i, end - step * (steps - 1 - i))


@as_one
def linspace(start, end, steps: int, *, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """`steps` numbers from start to end, both included, evenly spaced."""
    dtype = chosen(dtype, dtypes.get_default_dtype())
    return finish(_spaced("linspace", start, end, steps, dtype).astype(dtype.numpy), dtype, device, requires_grad)


@as_one
def logspace(start, end, steps: int, base=10.0, *, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """`steps` numbers from base ** start to base ** end, evenly spaced in their logarithms."""
    dtype = chosen(dtype, dtypes.get_default_dtype())
    powers = float(base) ** _spaced("logspace", start, end, steps, dtype)
    return finish(powers.astype(dtype.numpy), dtype, device, requires_grad)


@as_one
def eye(n: int, m: int | None = None, *, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere: (n, n), or (n, m)."""
    for name, size in (("n", n), ("m", n if m is None else m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}.")
    dtype = chosen(dtype, dtypes.get_default_dtype())
    return finish(numpy.eye(n, m).astype(dtype.numpy), dtype, device, requires_grad)


for _fn in (arange, linspace, logspace, eye):
    public(_fn)
