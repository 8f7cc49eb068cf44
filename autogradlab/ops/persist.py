"""Tensors copied whole and pickled: copy.deepcopy and pickle.  What shares a storage shares its copy."""

import copy

from autogradlab import devices
from autogradlab.storage import UntypedStorage
from autogradlab.table import method
from autogradlab.tensor import view_of, wrap


def _storage_copy(storage: UntypedStorage, memo: dict) -> UntypedStorage:
    if id(storage) not in memo:
        backend = storage.device.backend
        memo[id(storage)] = UntypedStorage(storage.device, buffer=backend.xp.array(storage.buffer))
        memo[id(memo[id(storage)])] = storage  # kept alive as long as the memo: its id must not be used again
    return memo[id(storage)]


def deepcopy(self, memo):
    """A leaf with memory of its own, its gradient and attributes copied too.  Non-leaves are refused: their graph
    cannot be copied.
    """
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment: "
            "this one was made by an operation; detach() it first."
        )
    storage = _storage_copy(self.memory, memo)
    out = view_of(storage, tuple(self.shape), self.stride(), self._offset, self._dtype, self._device)
    out.__class__, out._requires = type(self), self.requires_grad
    memo[id(self)] = out
    if self._grad is not None:
        out._grad = copy.deepcopy(self._grad, memo)
    out.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != "_accumulator"})
    return out


def _rebuilt(kind, array, dtype, device, requires_grad, attributes):
    """A tensor out of its pickled parts."""
    where = devices.device(device)
    made = wrap(where.backend.from_host(array), dtype, where)
    made.__class__ = kind
    made.__dict__.update(attributes)
    return made.requires_grad_(requires_grad)


def reduce_ex(self, protocol):
    """For pickle: the values on the host, and what they were."""
    if self.grad_fn is not None:
        raise RuntimeError("Only leaf tensors can be pickled: detach() this one first.")
    attributes = {k: v for k, v in self.__dict__.items() if k != "_accumulator"}
    values = self.host().copy()
    return _rebuilt, (type(self), values, self._dtype, str(self._device), self.requires_grad, attributes)


method(deepcopy, "__deepcopy__")
method(reduce_ex, "__reduce_ex__")
