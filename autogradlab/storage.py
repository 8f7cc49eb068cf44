"""Storage: the memory under one or more tensors, with the version counter they share.  (D2 2.1)"""

import warnings


class UntypedStorage:
    """A flat run of bytes on a device.  A tensor says how to read it; several tensors may read the same one.

    version: how often any of them was written in place.  None: made in inference mode, where nobody counts.
    """

    __slots__ = ("_array", "_buffer", "device", "version")

    def __init__(self, device, buffer=None, array=None, version: int | None = 0):
        self.device, self.version, self._buffer = device, version, buffer
        self._array = array  # of a fresh result we have the array; its bytes are looked up when asked for

    @property
    def buffer(self):
        """The bytes, in the backend's own form."""
        if self._buffer is None:
            self._buffer = self.device.backend.flat(self._array)
        return self._buffer

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self.device.backend.pointer(self.buffer)

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self.buffer.nbytes)

    size = __len__ = nbytes

    def tolist(self) -> list[int]:
        """The bytes as integers."""
        return self.device.backend.to_host(self.buffer).tolist()

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class PinnedStorage(UntypedStorage):
    """Host memory that an accelerator can read by itself, while the host goes on.  (tensor.pin_memory())"""

    __slots__ = ()


class TypedStorage:
    """The old accessor: a storage counted in elements of one dtype.  PyTorch keeps it for old programs; so do we."""

    def __init__(self, untyped: UntypedStorage, dtype):
        warnings.warn(
            "TypedStorage is deprecated: use tensor.untyped_storage() instead of tensor.storage().",
            UserWarning,
            stacklevel=3,
        )
        self._untyped, self.dtype = untyped, dtype

    def untyped(self) -> UntypedStorage:
        return self._untyped

    def data_ptr(self) -> int:
        return self._untyped.data_ptr()

    def size(self) -> int:
        return self._untyped.nbytes() // self.dtype.itemsize

    __len__ = size

    @property
    def device(self):
        return self._untyped.device

    def tolist(self) -> list:
        """The elements as Python numbers, in the order of memory."""
        return self._untyped.device.backend.to_host(self._untyped.buffer).view(self.dtype.numpy).tolist()

    def __getitem__(self, i: int):
        return self.tolist()[i]

    def __repr__(self) -> str:
        return f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"
