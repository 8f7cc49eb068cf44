"""Parameter and Buffer: tensors that a module takes for its own when they are assigned to it."""

from autogradlab import late
from autogradlab.tensor import Tensor, view_of

FIELDS = ("_storage", "_shape", "_stride", "_offset", "_dtype", "_device")


class Parameter(Tensor):
    """A leaf that a module learns: it requires gradients unless said otherwise, and shares the memory of `data`.

    Source: https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()

    def __new__(cls, data=None, requires_grad: bool = True):
        return _same_memory(cls, data).requires_grad_(requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return Parameter, (self.data, self.requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """State of a module that is not learned, such as a running mean.

    persistent: whether state_dict() has it.
    """

    __slots__ = ()

    def __new__(cls, data=None, *, persistent: bool = True):
        made = _same_memory(cls, data).requires_grad_(data is not None and data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), persistent=self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return _buffer, (self.data, self.persistent)


def _buffer(data, persistent):
    return Buffer(data, persistent=persistent)


def _same_memory(cls, data):
    """A leaf of that class over the memory of a tensor."""
    if data is None:
        data = late.functions["empty"](0)
    if not isinstance(data, Tensor):
        raise TypeError(f"{cls.__name__}: expected data to be a Tensor, but got {type(data).__name__}.")
    out = view_of(data.memory, *[getattr(data, name) for name in FIELDS[1:]])
    out._window = data._window
    out.__class__ = cls
    return out
