"""Tensors over others' memory: from_numpy, from_dlpack, as_tensor.  Writes to either are seen by both.  (D1 1.1)"""

import warnings

import numpy

from autogradlab import devices, dtypes
from autogradlab.modes import as_one
from autogradlab.storage import UntypedStorage
from autogradlab.table import public
from autogradlab.tensor import Tensor, view_of, wrap

from .create import tensor


@as_one
def from_numpy(array) -> Tensor:
    """A tensor that shares the memory of a NumPy array: writes to either are seen by both.  (D1 1.1)"""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__}).")
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "supported: make a copy "
            "with array.copy()."
        )
    dtype = dtypes.from_numpy(array.dtype)
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order: convert it first.")
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and tensors cannot be marked so: copy it before writing.",
            UserWarning,
            stacklevel=2,
        )
    device = devices.cpu
    stride = tuple(s // dtype.itemsize for s in array.strides)
    if any(s % dtype.itemsize for s in array.strides):
        raise ValueError(
            "given numpy array strides are not a multiple of the element byte size: copy the array to reallocate it."
        )
    made = view_of(UntypedStorage(device, array=array), tuple(array.shape), stride, 0, dtype, device)
    made._window = array
    if 0 in array.shape:
        made._storage = UntypedStorage(device, buffer=device.backend.allocate(0))
    return made


def from_dlpack(ext_tensor, *, device=None, copy=None) -> Tensor:
    """A tensor over the memory of another library's array, on the CPU or a GPU.

    https://pytorch.org/docs/stable/generated/torch.from_dlpack.html
    """
    if not hasattr(ext_tensor, "__dlpack_device__"):
        raise TypeError(f"from_dlpack expects an object with __dlpack__, got {type(ext_tensor).__name__}.")
    kind, index = ext_tensor.__dlpack_device__()
    if kind == 1:
        made = from_numpy(numpy.from_dlpack(ext_tensor))
    elif kind == 2:
        place = devices.device("cuda", index)
        window = place.backend.from_dlpack(ext_tensor)
        made = wrap(window, dtypes.from_numpy(window.dtype), place)
    else:
        raise RuntimeError(
            f"from_dlpack: memory of DLPack's device type {kind} cannot be read here, only CPU and CUDA."
        )
    made = made if device is None else made.to(device)
    return made.clone() if copy else made


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """A tensor of the data: the same one, or one that shares an array's memory, where nothing has to change."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if isinstance(data, numpy.ndarray) and not any(s < 0 for s in data.strides):
        return from_numpy(data).to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


public(from_numpy)
public(from_dlpack)
public(as_tensor)
public(lambda data, dtype=None, device=None: as_tensor(data, dtype, device), "asarray")
