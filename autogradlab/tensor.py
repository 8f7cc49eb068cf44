"""Tensor: a storage, a way to read it (shape, stride, offset, dtype), and a place in the graph.

Two halves describe the same thing, and each is made from the other when asked for: the *window* (the backend's strided
array, which kernels work on) and the *geometry* (storage, shape, stride, offset, in elements).  A result starts as a
window, a view as geometry.
"""

import warnings
import weakref

from . import devices, dtypes, errors, late, printing, shapes
from .exchange import Exchange
from .graph import AccumulateGrad, Hooks, RemovableHandle
from .modes import INFERENCE, state
from .size import Size
from .storage import TypedStorage, UntypedStorage

new = object.__new__


class Tensor(Exchange):
    """An array of one dtype on one device that can take part in a graph.  (D1 1, D2 2.1)"""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_device",
        "_dtype",
        "_node",
        "_nr",
        "_offset",
        "_requires",
        "_shape",
        "_storage",
        "_stride",
        "_view",
        "_window",
    )

    _grad = _hooks = None  # few tensors have them: they are no slots, which every tensor pays for

    def __new__(cls, *args):
        """The old constructor: Tensor(2, 3) is an unset float tensor of that shape, Tensor([1, 2]) has these values."""
        if len(args) == 1 and not isinstance(args[0], int):
            return late.functions["tensor"](args[0], dtype=dtypes.get_default_dtype())
        return late.functions["empty"](*args or (0,))

    __array_priority__ = 1000  # NumPy scalars and arrays beside a tensor let the tensor decide

    # Geometry ---------------------------------------------------------------------------------------------------------

    @property
    def window(self):
        """The elements as the backend's strided array; a view's is made on first use and kept."""
        if self._window is None:
            self._window = self._device.backend.window(
                self._storage.buffer, self._dtype, self._shape, self._stride, self._offset
            )
        return self._window

    @property
    def memory(self) -> UntypedStorage:
        """The storage, made around a fresh result's array when first asked for."""
        if self._storage is None:
            self._storage = UntypedStorage(self._device, None, self._window)
        return self._storage

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions.  (D1 1.2)"""
        shape = self._shape
        if type(shape) is not Size:
            self._shape = shape = Size(self._window.shape if shape is None else shape)
        return shape

    def size(self, dim: int | None = None):
        """All sizes, or that of one dimension."""
        return self.shape if dim is None else self.shape[shapes.wrap_dim(dim, len(self.shape))]

    def stride(self, dim: int | None = None):
        """How far apart in storage neighbours along each dimension lie, in elements.  (D1 3.5)"""
        if self._stride is None:
            shape = self.shape
            if 0 in shape or self._window.flags.c_contiguous:
                self._stride = shapes.contiguous_strides(tuple(shape))
            else:
                self._stride = tuple(s // self._dtype.itemsize for s in self._window.strides)
        return self._stride if dim is None else self._stride[shapes.wrap_dim(dim, len(self._stride))]

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements.  (D2 2.2)"""
        return self._offset

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in the order of their indices."""
        return shapes.is_contiguous(self.shape, self.stride())

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def numel(self) -> int:
        """The number of elements."""
        return shapes.numel(self.shape)

    ndim = property(dim)
    ndimension = dim
    nelement = numel

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements (a view's storage may be larger, an expanded tensor's smaller)."""
        return self.numel() * self._dtype.itemsize

    @property
    def dtype(self) -> dtypes.dtype:
        return self._dtype

    @property
    def device(self) -> devices.device:
        return self._device

    def get_device(self) -> int:
        """The device's index; -1 for the CPU."""
        return -1 if self._device.index is None else self._device.index

    is_cuda = property(lambda self: self._device.type == "cuda")
    is_cpu = property(lambda self: self._device.type == "cpu")

    def untyped_storage(self) -> UntypedStorage:
        """The memory this tensor reads, shared with its views.  (D2 2.1)"""
        return self.memory

    def storage(self) -> TypedStorage:
        """The storage counted in elements (the old accessor)."""
        return TypedStorage(self.memory, self._dtype)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.memory.data_ptr() + self._offset * self._dtype.itemsize

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        return False

    def is_signed(self) -> bool:
        return self._dtype.is_signed

    def is_inference(self) -> bool:
        """Whether it was made in inference mode, and so can never take part in a graph."""
        return self._storage is not None and self._storage.version is None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor: it has one element and no dimensions; use .item().")
        return self.shape[0]

    # Its place in the graph -------------------------------------------------------------------------------------------

    @property
    def grad_fn(self):
        """The node that made this tensor; None for a leaf."""
        return self._node if self._view is None else self._view.node(self)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to or through it.  A view made under no_grad says what its base says."""
        if self._requires or self._node is not None:
            return True
        return self._view is not None and self._view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if not isinstance(flag, bool):
            raise RuntimeError(f"requires_grad must be a bool: got {flag!r}.")
        self.requires_grad_(flag)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Ask for gradients of this leaf (or no longer)."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                f"requires_grad_(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}."
            )
        flag = requires_grad
        if self.grad_fn is not None:
            if not flag:
                raise errors.requires_grad_of_non_leaf()
            return self
        if flag and not self._dtype.is_floating_point:
            raise errors.only_floats_require_grad(self._dtype)
        if flag and self.is_inference() and not state.flags & INFERENCE:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed: make a normal "
                "tensor of it with "
                "clone()."
            )
        self._requires = flag
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it is where gradients end: made by the user, or not part of a graph."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of its node it is."""
        return self._nr

    @property
    def grad(self) -> "Tensor | None":
        """The gradient that backward accumulated; None before."""
        if self._grad is None and self.grad_fn is not None and not self.retains_grad:
            warnings.warn(errors.GRAD_OF_NON_LEAF, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}."
                )
            for what in ("device", "dtype", "shape"):
                mine, given = getattr(self, what), getattr(value, what)
                if mine != given:
                    raise RuntimeError(
                        f"assigned grad has data of a different {'size' if what == 'shape' else what}: the tensor's "
                        f"{what} is "
                        f"{mine}, the gradient's {given}."
                    )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def _base(self) -> "Tensor | None":
        """The tensor this one is a view of."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    @property
    def _version(self) -> int:
        """How often the storage was written in place."""
        version = 0 if self._storage is None else self._storage.version
        if version is None:
            raise RuntimeError("Inference tensors do not track version counter: make a normal tensor with clone().")
        return version

    def register_hook(self, hook) -> RemovableHandle:
        """Call hook(grad) when the gradient of this tensor is known; a tensor it returns takes its place.  (D3 1.2,
        3.2)
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient.")
        node = self.grad_fn
        hooks = self.leaf_hooks() if node is None else node.get_hooks()
        return RemovableHandle(hooks.tensor, (self._nr, hook))

    def register_post_accumulate_grad_hook(self, hook) -> RemovableHandle:
        """Call hook(self) each time a gradient was added to this leaf's .grad."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient.")
        if self.grad_fn is not None:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors: gradients end in leaves only."
            )
        return RemovableHandle(self.leaf_hooks().post, hook)

    def retain_grad(self) -> None:
        """Keep this non-leaf's gradient in .grad.  (D2 3.3)"""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False.")
        if self._node is not None:
            self.grad_fn.get_hooks().retain[self._nr] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        node = self.grad_fn
        if node is None or node.hooks is None:
            return False
        kept = node.hooks.retain.get(self._nr)
        return kept is not None and kept() is self

    def leaf_hooks(self) -> Hooks:
        """The hooks of a leaf, which has no node to keep them."""
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def accumulator(self) -> AccumulateGrad:
        """The AccumulateGrad node of this leaf, the same one as long as someone holds it."""
        made = self.__dict__.get("_accumulator", lambda: None)()
        if made is None:
            made = AccumulateGrad(self)
            self.__dict__["_accumulator"] = weakref.ref(made)
        return made

    def attached(self, node) -> "Tensor":
        """The same elements as an output of `node`."""
        out = self.alias()
        out._node, out._nr = node, self._nr
        return out

    def alias(self) -> "Tensor":
        """The same elements, without a place in the graph.  Writes through either are seen by both."""
        out = fresh(self._window, self._dtype, self._device)
        out._storage, out._shape, out._stride, out._offset = self.memory, self._shape, self._stride, self._offset
        return out

    def detach(self) -> "Tensor":
        """The same elements, cut from the graph: no gradients flow through it.  (D1 6.7)"""
        return self.alias()

    @property
    def data(self) -> "Tensor":
        """The same elements, cut from the graph and from the version counter: writes through it go unseen by the
        checks.
        """
        out = self.alias()
        out._storage = UntypedStorage(self._device, buffer=self.memory.buffer)
        return out

    @data.setter
    def data(self, value: "Tensor") -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}.")
        if value._dtype.is_floating_point != self._dtype.is_floating_point:
            raise RuntimeError(
                f"data set to a tensor that is incompatible: expected a Tensor like {errors.describe(self)}, got "
                f"{errors.describe(value) if isinstance(value, Tensor) else type(value).__name__}."
            )
        version = self.memory.version  # its own goes on: what is written through either, the other does not count
        for field in ("_window", "_shape", "_stride", "_offset", "_dtype", "_device"):
            setattr(self, field, getattr(value, field))
        self._storage = type(value.memory)(self._device, value.memory.buffer, version=version)

    def __repr__(self) -> str:
        return printing.format_tensor(self.host(), self)

    __hash__ = object.__hash__


def fresh(window, dtype, device) -> Tensor:
    """A tensor around a fresh array that nothing else uses, in whatever mode."""
    t = new(Tensor)
    t._window, t._dtype, t._device = window, dtype, device
    t._storage = t._shape = t._stride = t._view = t._node = None
    t._offset = t._nr = 0
    t._requires = False
    return t


def wrap(window, dtype, device) -> Tensor:
    """A fresh tensor; one made in inference mode has no version counter."""
    t = fresh(window, dtype, device)
    if state.flags & INFERENCE:
        t._storage = UntypedStorage(device, array=window, version=None)
    return t


def view_of(storage, shape, stride, offset, dtype, device) -> Tensor:
    """A tensor that reads an existing storage."""
    t = new(Tensor)
    t._storage, t._shape, t._stride, t._offset = storage, shape, stride, offset
    t._dtype, t._device = dtype, device
    t._window = t._view = t._node = None
    t._nr = 0
    t._requires = False
    return t


def scalar(value, dtype, device) -> Tensor:
    """A Python number as a 0-d tensor for one call; never written to."""
    return wrap(device.backend.scalar(value, dtype), dtype, device)
