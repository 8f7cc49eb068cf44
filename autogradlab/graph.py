"""The graph: nodes, the edges between them, and what they keep for backward.

A tensor that an operation made holds its node (`grad_fn`).  A node's edges say where the gradients of its inputs go: to
another node, to output k of one - `(node, k)` -, to a leaf (the tensor itself), or nowhere (None).  Nodes never hold
their own output, so a graph dies by reference counting as soon as nobody needs it.

Source: https://pytorch.org/docs/stable/notes/autograd.html, D2 3, D4 1.
"""

import itertools
import weakref

from . import errors
from .modes import state

next_sequence = itertools.count().__next__  # later nodes run first in backward


class SavedTensor:
    """A tensor kept for backward, with the version it had.

    It is compared when the tensor is taken out, never before.
    """

    __slots__ = ("is_output", "tensor", "version")

    def __init__(self, tensor, is_output: bool = False):
        storage = tensor._storage
        self.tensor, self.is_output = tensor, is_output
        self.version = 0 if storage is None else storage.version
        if self.version is None:
            raise errors.save_inference()

    def check(self, node) -> None:
        storage = self.tensor._storage
        found = 0 if storage is None else storage.version
        if found != self.version:
            maker = node if self.is_output else self.tensor._node
            raise errors.modified_in_place(self.tensor, node.name(), maker and maker.name(), found, self.version)

    def window(self, node):
        """The numbers, for a backward pass that is not recorded."""
        tensor = self.tensor
        storage = tensor._storage
        if (0 if storage is None else storage.version) != self.version:
            self.check(node)
        window = tensor._window
        return tensor.window if window is None else window

    def unpack(self, node):
        """The tensor, attached to the graph it came from."""
        self.check(node)
        return self.tensor.attached(node) if self.is_output else self.tensor


class PackedTensor:
    """A tensor that saved_tensors_hooks put away in another form: whatever `pack` returned."""

    __slots__ = ("is_output", "packed", "unpacker")

    def __init__(self, tensor, is_output: bool = False):
        pack, self.unpacker = state.packing
        if tensor._storage is not None and tensor._storage.version is None:
            raise errors.save_inference()
        self.packed, self.is_output = pack(tensor), is_output

    def window(self, node):
        return self.unpack(node).window

    def unpack(self, node):
        return self.unpacker(self.packed)


class RemovableHandle:
    """What registering a hook returns; remove() takes the hook away again.  Also a context manager."""

    _ids = itertools.count().__next__

    def __init__(self, hooks: dict, hook):
        self.id = self._ids()
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class HookDict(dict):
    """Hooks by handle id, in the order of registration; a dict that can be referred to weakly."""

    __slots__ = ("__weakref__",)


class Hooks:
    """The hooks of one place in the graph, in the order in which they run."""

    __slots__ = ("post", "pre", "retain", "tensor")

    def __init__(self):
        self.tensor = HookDict()  # of tensors: (output number, fn(grad))
        # output number -> weak reference to the tensor that keeps its gradient; always after the others
        self.retain = {}
        self.pre = HookDict()  # of the node: fn(grad_outputs)
        self.post = HookDict()  # fn(grad_inputs, grad_outputs) of a node; fn(tensor) of a leaf, after accumulation


FREED = object()  # stands in place of saved tensors that backward has freed


class Node:
    """One step of a computation, seen from backward: it turns the gradient of its outputs into gradients of its inputs.

    shape, dtype, device: of its output; `more` describes further outputs, (shape, dtype, device) each.
    """

    __slots__ = ("__weakref__", "_metadata", "device", "dtype", "edges", "hooks", "more", "sequence", "shape")

    def __init__(self, edges, shape, dtype, device, more=()):
        self.edges, self.shape, self.dtype, self.device, self.more = edges, shape, dtype, device, more
        self.sequence = next_sequence()
        self.hooks = self._metadata = None

    def run(self, grads, lift: bool):
        """Gradients for each edge, from those of the outputs.

        lift: they are Tensors, and the pass is itself recorded.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def release(self) -> None:
        """Free what was saved; a second backward must fail."""

    def name(self) -> str:
        """The node's name as PyTorch prints it: MulBackward0."""
        return type(self).__name__

    @property
    def metadata(self) -> dict:
        """A place for notes about the node; anomaly mode keeps the forward call here."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def next_functions(self) -> tuple:
        """Where the gradients of the inputs go: (node or None, output number) for each input."""
        return tuple(_next_function(edge) for edge in self.edges)

    def get_hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def register_prehook(self, fn) -> RemovableHandle:
        """Call fn(grad_outputs) before this node runs; a tuple it returns replaces them."""
        return RemovableHandle(self.get_hooks().pre, fn)

    def register_hook(self, fn) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) after this node ran; a tuple it returns replaces grad_inputs."""
        return RemovableHandle(self.get_hooks().post, fn)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


def _next_function(edge):
    if edge is None or isinstance(edge, Node):
        return (edge, 0)
    return edge if isinstance(edge, tuple) else (edge.accumulator(), 0)


class AccumulateGrad(Node):
    """Where a gradient ends: it is added to the leaf's `.grad`.

    Made when someone looks; the engine goes to the leaf itself.
    """

    __slots__ = ("variable",)

    def __init__(self, variable):
        super().__init__((), tuple(variable.shape), variable.dtype, variable.device)
        self.variable = variable

    def get_hooks(self) -> Hooks:
        return self.variable.leaf_hooks()


class OpNode(Node):
    """The node of an operator from the table.

    Each operator has a subclass with its own name; `op` and `names` come from there.
    """

    __slots__ = ("names", "options", "saved")
    op = None

    def __init__(self, edges, names, saved, options, shape, dtype, device, more=()):
        self.edges, self.names, self.saved, self.options = edges, names, saved, options
        self.shape, self.dtype, self.device, self.more = shape, dtype, device, more
        self.sequence = next_sequence()
        self.hooks = self._metadata = None

    def run(self, grads, lift: bool):
        op, values = self.op, self.options
        if self.saved:
            if self.saved is FREED:
                raise errors.backward_twice(self.name())
            values = dict(values)
            for name, saved in zip(self.names, self.saved, strict=True):
                values[name] = saved.unpack(self) if lift else saved.window(self)
        g = grads if op.multi_output else grads[0]
        if self.dtype.is_half and not lift:
            g, values = op.widen(g, values)
        if op.joint is not None:
            formula, needs = op.joint
            given = formula(g, *[values[n] for n in needs])
            return [None if e is None else v for e, v in zip(self.edges, given, strict=True)]
        return [
            None if edge is None else formula(g, *[values[n] for n in needs]) if needs else formula(g)
            for edge, (formula, needs) in zip(self.edges, op.formulas, strict=False)  # last inputs may be absent
        ]

    def release(self) -> None:
        if self.saved:
            self.saved = FREED

    def __getattr__(self, field: str):
        """_saved_self, _saved_result, _saved_dim ...: what the gradient formulas need, by PyTorch's names."""
        if not field.startswith("_saved_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {field!r}")
        name = self.op.internal_name(field.removeprefix("_saved_"))
        if name in self.options:
            return self.options[name]
        if name in self.names:
            if self.saved is FREED:
                raise errors.saved_freed(self.name(), field)
            return self.saved[self.names.index(name)].unpack(self)
        known = ", ".join(self.saved_fields()) or "nothing"
        raise AttributeError(f"{self.name()} did not save {field.removeprefix('_saved_')!r}: it keeps {known}")

    def saved_fields(self) -> list[str]:
        """The `_saved_...` attributes this node has."""
        return [f"_saved_{self.op.public_name(n)}" for n in (*self.names, *self.options)]

    def __dir__(self):
        return [*super().__dir__(), *self.saved_fields()]
