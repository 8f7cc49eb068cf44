"""From a tensor to Python and NumPy: item, tolist, numpy, truth.  Each waits for the device the numbers are on."""

import numpy

from . import errors, late


class Exchange:
    """The part of Tensor that hands its numbers out."""

    __slots__ = ()

    def host(self):
        """The elements as a NumPy array: the window itself on the CPU, a copy from elsewhere."""
        array = self._device.backend.to_host(self.window)
        # Accelerators keep float8 as bytes.
        return array if array.dtype == self._dtype.numpy else array.view(self._dtype.numpy)

    def item(self):
        """The one element as a Python number.  Waits for the device.  (D1 6.7)"""
        if self.numel() != 1:
            raise errors.not_one_element(self.shape)
        return self.host().item() if self._dtype.in_numpy else self._python(self.host().reshape(()))

    def _python(self, array):
        if self._dtype.is_floating_point:
            array = array.astype(numpy.float64)
        return array.tolist()

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        return self._python(self.host())

    def numpy(self, *, force: bool = False):
        """The elements as a NumPy array that shares their memory.

        force: detach and copy to the host first if need be.
        """
        if force:
            return self.detach().host()
        if self._device.type != "cpu":
            raise errors.numpy_of_device(self._device)
        if self.requires_grad:
            raise errors.numpy_needs_detach()
        if not self._dtype.in_numpy:
            raise TypeError(
                f"Got unsupported ScalarType {self._dtype.legacy_name}: NumPy has no {self._dtype.name}; use .float()."
            )
        return self.window.view()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array.astype(dtype, copy=False) if dtype is not None else (array.copy() if copy else array)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """What a function of NumPy made of tensors, as a tensor; bools as uint8, which PyTorch gives here."""
        return late.functions["from_numpy"](array.view("uint8") if array.dtype == bool else array)

    def __dlpack__(self, *, stream=None, **options):
        """The memory, for another library's from_dlpack.  https://dmlc.github.io/dlpack"""
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach().")
        if self._device.type == "sim":
            raise BufferError("DLPack knows no simulated accelerator: export tensor.cpu().")
        options = {k: v for k, v in options.items() if v is not None}
        return self.window.__dlpack__(**({"stream": stream} if stream is not None else {}), **options)

    def __dlpack_device__(self):
        return self.window.__dlpack_device__() if self._device.type != "sim" else (12, self._device.index)

    @property
    def __cuda_array_interface__(self):
        """What cupy.asarray and others read of a tensor on a GPU."""
        if self._device.type != "cuda":
            raise AttributeError(
                f"Can't get __cuda_array_interface__ on a tensor on {self._device}: use .cuda() first."
            )
        if self.requires_grad:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad: use .detach().")
        return self.window.__cuda_array_interface__

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise errors.ambiguous_truth(self.shape)
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def _one(self):
        if self.numel() != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: use tolist() for all values."
            )
        return self.item()

    def __index__(self) -> int:
        if self._dtype.is_floating_point or self.numel() != 1:
            raise TypeError(
                f"only integer tensors of a single element can be converted to an index: got {errors.describe(self)}."
            )
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape else object.__format__(self, spec)
