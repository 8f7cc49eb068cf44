"""Copies and conversions: clone, to, copy_, fill_, and the methods named after dtypes."""

import numpy

from autogradlab import backends, devices, dtypes, shapes
from autogradlab.dispatch import NOTHING, call_into, record
from autogradlab.modes import NO_GRAD, as_one, state
from autogradlab.storage import PinnedStorage
from autogradlab.table import explained, method, operator, public
from autogradlab.tensor import Tensor, wrap

from . import samples
from .elementary import flat
from .float8 import decode, encode
from .kinds import chosen, held


def laid_out(a):
    """An array without repeated dimensions: a copy laid out as PyTorch lays out a new tensor like it."""
    if 0 not in a.strides or a.size < 2:
        return a
    strides = shapes.like_strides(a.shape, tuple(s // a.itemsize for s in a.strides))
    order = sorted(range(a.ndim), key=lambda d: -strides[d])
    return a.transpose(order).copy("C").transpose([order.index(d) for d in range(a.ndim)])


@operator(moves=True, samples=samples.unary)
class clone:
    """A copy with memory of its own, laid out as the original, through which gradients flow.  (D2 2.2)"""

    def arguments(input, *, memory_format="preserve_format"):
        return (input if memory_format != "contiguous_format" else contiguous(input),), NOTHING

    def kernel(xp, a, /):
        return laid_out(a).copy("K")

    def grad_a(g):
        return g


@operator(node="CloneBackward0", moves=True, public=(), samples=samples.unary)
class pack:
    """A copy in row-major order: what contiguous() does where it must."""

    def kernel(xp, a, /):
        return a.copy("C")

    def grad_a(g):
        return g


def contiguous(input, *, memory_format=None):
    """The tensor itself where its memory is in row-major order already, else a copy that is.  (D1 3.5)"""
    return input if input.is_contiguous() else pack.function(input)


method(contiguous)


@operator(node="ToCopyBackward0", moves=True, promote=False, public=(), result=lambda common, o: o["dtype"],
          samples=lambda make: [((make(2, 3),), {"dtype": d}) for d in (dtypes.float64, dtypes.float32)])  # fmt: skip
class cast:
    """The values in another dtype."""

    def arguments(input, dtype):
        stored = {"stored": input._dtype} if input._dtype in dtypes.FLOAT8 else {}
        return (input,), {"dtype": dtype, **stored}

    def kernel(xp, a, /, dtype, stored=None):
        return _convert(xp, a, dtype, stored)

    def grad_a(g):  # the engine's edge casts back
        return g


def _convert(xp, a, dtype, stored=None):
    """stored: the float8 dtype of the values, which accelerators keep as bytes."""
    a, as_bytes = laid_out(a), not isinstance(a, numpy.ndarray)
    if stored is not None and as_bytes:
        a = decode(xp, a, stored)
    if dtype in dtypes.FLOAT8:  # saturate at the largest finite value, as PyTorch: the narrow formats overflow at once
        limit = dtypes.finfo(dtype).max
        wide = a.astype("float32")
        held = xp.where(xp.isfinite(wide), xp.minimum(xp.maximum(wide, -limit), limit), wide)
        return encode(xp, held, dtype) if as_bytes else held.astype(dtype.numpy)
    if dtype.category == dtypes.INT and a.dtype.kind not in "iub":
        a = a.astype("float64") if a.dtype.kind != "f" else a
    return a.astype(dtype.numpy)


@operator(node="ToCopyBackward0", public=(), moves=True, promote=False, samples=lambda make: [])
class transfer:
    """The node of a copy to another device; `to_device` makes the copy."""

    def kernel(xp, a, /, device):
        return a

    def grad_a(g, a_device):
        return to_device(g, a_device)


@as_one
def to_device(value, device, non_blocking: bool = False):
    """A tensor's or raw array's copy on another device.

    non_blocking: the host need not wait, where the copy goes to the host or comes from pinned memory.
    """
    if not isinstance(value, Tensor):
        return _carried(value, device, True)
    here = value._device
    waits = not non_blocking or here.type == "cpu" and not value.is_pinned()
    array = _carried(value.window, device, waits)
    if value._dtype in dtypes.FLOAT8 and device.type == "cpu":
        array = array.view(value._dtype.numpy)  # accelerators keep it as bytes
    out = wrap(array, value._dtype, device)
    if not state.flags & NO_GRAD:
        record(transfer, (value,), {"device": device}, (out,), state.flags)
    return out


def _carried(array, device, waits: bool):
    """A raw array on another device: from one of its kind directly, else by way of the host."""
    there = device.backend
    if not isinstance(array, numpy.ndarray) and isinstance(array, there.array):
        return there.from_device(array)
    if isinstance(array, numpy.ndarray):
        return there.from_host(array, waits)
    return there.from_host(backends.to_host(array, waits))


@as_one
def pin_memory(self, device=None):
    """A copy in host memory that an accelerator can read by itself; itself if it lies there already.

    https://pytorch.org/docs/stable/generated/torch.Tensor.pin_memory.html
    """
    if self._device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self._device}': only memory of the CPU can be pinned.")
    if self.is_pinned():
        return self
    array = devices.accelerator().backend.pinned(self.window)
    made = wrap(array, self._dtype, devices.cpu)
    made._storage = PinnedStorage(devices.cpu, array=array)
    return made


def is_pinned(self, device=None) -> bool:
    """Whether it lies in pinned memory."""
    return isinstance(self.memory, PinnedStorage)


method(pin_memory)
method(is_pinned)


def to(input, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """The tensor in another dtype, on another device, or both; itself where nothing changes (unless copy=True).  (D1 5)

    x.to(dtype), x.to(device), x.to(device, dtype), x.to(other).
    """
    for arg in args:
        if isinstance(arg, dtypes.dtype):
            dtype = arg
        elif isinstance(arg, Tensor):
            dtype, device = arg._dtype, arg._device
        elif isinstance(arg, (str, devices.device, int)) and not isinstance(arg, bool):
            device = arg
        elif isinstance(arg, bool):
            non_blocking = arg
        elif isinstance(arg, type):
            dtype = arg
        elif arg is not None:
            raise TypeError(f"to(): expected a dtype, a device or a Tensor: got {type(arg).__name__}.")
    dtype = chosen(dtype, input._dtype)
    device = input._device if device is None else devices.resolve(device)
    out = input
    if device is not input._device:
        out = to_device(out, device, non_blocking)
    if dtype is not input._dtype:
        return cast.function(out, dtype)
    return clone.function(out) if copy and out is input else out


method(to)
for _name, _dtype in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "short": dtypes.int16,
    "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
}.items():  # fmt: skip
    method(lambda self, *, memory_format=None, _dtype=_dtype: to(self, _dtype), _name)
method(explained(lambda self, other: to(self, other._dtype), "type_as"), "type_as")
method(lambda self, memory_format=None: to(self, devices.cpu), "cpu")


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """A copy on a GPU (the first one unless said otherwise)."""
    where = devices.resolve("cuda" if device is None else device)
    if where.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device: got {where}.")
    return to(self, where, non_blocking=non_blocking)


def type_(self, dtype=None, non_blocking=False):
    """The legacy type's name without an argument; with one, the tensor in that dtype."""
    if dtype is None:
        return f"torch.{'cuda.' if self._device.type == 'cuda' else ''}{self._dtype.legacy_name}Tensor"
    if isinstance(dtype, str):  # the legacy name that type() gives
        name = dtype.removeprefix("torch.").removesuffix("Tensor")
        dtype = next((d for d in dtypes.ALL if d.legacy_name == name), None)
        if dtype is None:
            raise ValueError(f"invalid type: expected a dtype or a name like 'torch.FloatTensor', got {name!r}.")
    return to(self, dtype)


method(cuda)
method(type_, "type")


# Writes ---------------------------------------------------------------------------------------------------------------


@operator(node="CopyBackwards", moves=True, promote=False, pointwise=True, public=(), samples=lambda make: [])
class copy:
    """The values of b in the place of a's; gradients go to b alone."""

    def kernel(xp, a, b, /):
        return b

    grad_a = flat

    def grad_b(g):
        return g


def copy_(self, src, non_blocking=False):
    """Copy the values of `src` (any dtype and device, a shape that broadcasts; or a number) into this tensor."""
    if isinstance(src, (bool, int, float)):
        return fill_(self, src)
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' must be Tensor, not {type(src).__name__}.")
    if self._dtype in dtypes.FLOAT8 and src._dtype is not self._dtype:
        src = to(src, self._dtype)
    if src._device is not self._device:
        src = to_device(src, self._device, non_blocking)
    return call_into(copy, self, (self, src))


@operator(node="FillBackward2", moves=True, promote=False, uniform=True, public=(), samples=lambda make: [])
class fill:
    """One number everywhere."""

    def kernel(xp, a, /, value):
        return xp.full(a.shape, value, a.dtype)

    grad_a = flat


class fill_by(copy.block):
    """The value of a 0-d tensor everywhere."""


fill_by = operator(node="FillBackward3", moves=True, promote=False, pointwise=True, uniform=True, public=(),
                   samples=lambda make: [])(fill_by)  # fmt: skip


@operator(moves=True, promote=False, uniform=True, public=(), samples=lambda make: [])
class zero:
    """Zero everywhere."""

    def kernel(xp, a, /):
        return xp.zeros(a.shape, a.dtype)

    grad_a = flat


def fill_(self, value):
    """Write one number, or the value of a 0-d tensor, everywhere."""
    if isinstance(value, Tensor):
        if value.shape:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions: use "
                f"copy_()."
            )
        return call_into(
            fill_by, self, (self, value if value._device is self._device else to_device(value, self._device))
        )
    return call_into(fill, self, (self,), {"value": held(value, self._dtype)})


def zero_(self):
    """Write zero everywhere.  (D1 6.5)"""
    return call_into(zero, self, (self,))


def detach_(self):
    """Cut this tensor itself from its graph."""
    if self._view is not None:
        raise RuntimeError("Can't detach views in-place: use detach() instead.")
    self._node, self._nr, self._requires = None, 0, False
    return self


for _fn in (copy_, fill_, zero_, detach_):
    method(_fn)
public(lambda input: input.detach(), "detach")
public(zero_)
public(fill_)
