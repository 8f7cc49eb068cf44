"""torch.autograd.graph: looking into the graph, hooks on several tensors, and how saved tensors are kept."""

import threading
import weakref
from collections import namedtuple

from autogradlab import views
from autogradlab.engine import split
from autogradlab.graph import Node, RemovableHandle
from autogradlab.modes import PACKING, Mode, state
from autogradlab.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class saved_tensors_hooks(Mode):
    """Keep what nodes save in another form: pack(tensor) when it is saved, unpack(packed) when backward needs it.  (D5
    4.1)

    What unpack returns must equal what was packed; nobody checks.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def again(self):
        return saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def change(self):
        if state.no_packing:
            raise RuntimeError(state.no_packing)
        state.packing = self.pack_hook, self.unpack_hook
        state.flags |= PACKING


class save_on_cpu(saved_tensors_hooks):
    """Keep what nodes save in the host's memory, and bring it back for backward.

    pin_memory, device_type: accepted; copies are made one after the other here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(lambda t: (t.device, t.detach().cpu()), lambda packed: packed[1].to(packed[0]))


class disable_saved_tensors_hooks(Mode):
    """Inside the block, saved_tensors_hooks raises a RuntimeError with this message."""

    def __init__(self, error_message: str):
        self.error_message = error_message

    def again(self):
        return disable_saved_tensors_hooks(self.error_message)

    def change(self):
        if state.flags & PACKING:
            raise RuntimeError(
                f"saved_tensors_hooks are in force already, and cannot be disabled: {self.error_message}"
            )
        state.no_packing = self.error_message


class GradientEdge(namedtuple("GradientEdge", "node output_nr ownership_token", defaults=(None,))):
    """A place in the graph: a node, and which of its outputs.  backward() and grad() take it in place of a tensor."""

    __slots__ = ()


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of a tensor goes; it stays valid if the tensor is changed in place afterwards."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    return GradientEdge(tensor.grad_fn or tensor.accumulator(), tensor.output_nr)


def increment_version(tensor) -> None:
    """Count a write that the engine did not see, to one tensor or several: to memory reached by data_ptr()."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if t.memory.version is not None:
            t.memory.version += 1


class _Handles:
    """The handle of a hook on several tensors."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    __enter__, __exit__ = RemovableHandle.__enter__, RemovableHandle.__exit__


def register_multi_grad_hook(tensors, fn, *, mode: str = "all"):
    """Call fn once in a pass: fn(list of gradients) when all have arrived that will, or with mode="any" fn(gradient)
    at the first.

    A tensor that the pass does not reach counts for nothing; its gradient is None in the list.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}.")
    tensors = list(tensors)
    number = len(tensors)
    # Held strongly, nodes would be in a cycle with their hooks.
    places = [weakref.ref(split(edge)[0]) for edge in map(views.edge_of, tensors) if edge is not None]
    arrived = weakref.WeakKeyDictionary()  # pass -> gradients so far
    lock = threading.Lock()

    def hook_of(i: int):
        def hook(grad):
            with lock:
                grads = arrived.setdefault(state.task, {})
                grads[i] = grad
                count = len(grads)
            if mode == "any":
                if count == 1:
                    fn(grad)
            elif count == sum(state.task.reaches(place()) for place in places):
                fn([grads.get(k) for k in range(number)])

        return hook

    wanted = [(i, t) for i, t in enumerate(tensors) if mode == "all" or t.requires_grad]
    return _Handles(t.register_hook(hook_of(i)) for i, t in wanted)
