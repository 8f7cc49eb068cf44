"""The graph: nodes, the edges between them, and what they keep for backward.

A tensor that an operation made holds its node (`grad_fn`).  A node's edges say where the gradients of its inputs go: to
another node, to output k of one - `(node, k)` -, to a leaf (the tensor itself), or nowhere (None).  Nodes never hold
their own output, so a graph dies by reference counting as soon as nobody needs it.

Source: https://pytorch.org/docs/stable/notes/autograd.html, D2 3, D4 1.
"""

import itertools
import types
import weakref

from . import errors
from .modes import PACKING, recording, state

new = object.__new__
next_sequence = itertools.count().__next__  # later nodes run first in backward


def save(tensor, is_output: bool = False) -> tuple:
    """What a node keeps of a tensor for backward: (the tensor, the version it has, whether the node itself made it).

    The version is compared when the tensor is taken out, never before.
    """
    storage = tensor._storage
    version = 0 if storage is None else storage.version
    if version is None:
        raise errors.save_inference()
    return tensor, version, is_output


def keep(tensor, is_output: bool = False) -> tuple:
    """The same where saved_tensors_hooks may be in force: then a PackedTensor stands in the tensor's place."""
    return (PackedTensor(tensor, is_output), 0, is_output) if state.flags & PACKING else save(tensor, is_output)


def check_version(kept, node) -> None:
    """Refuse a saved tensor that was written to since."""
    tensor, version, is_output = kept
    found = 0 if tensor._storage is None else tensor._storage.version
    if found != version:
        maker = node if is_output else tensor._node
        raise errors.modified_in_place(tensor, node.name(), maker and maker.name(), found, version)


def take_out(kept, node):
    """A saved tensor, attached to the graph it came from."""
    check_version(kept, node)
    tensor, _, is_output = kept
    if type(tensor) is PackedTensor:
        return tensor.unpack(node)
    return tensor.attached(node) if is_output else tensor


def window_of(kept, node):
    """Its numbers, for a backward pass that is not recorded."""
    tensor, version, _ = kept
    storage = tensor._storage
    if (0 if storage is None else storage.version) != version:
        check_version(kept, node)
    window = tensor._window
    return tensor.window if window is None else window


class PackedTensor:
    """A tensor that saved_tensors_hooks put away in another form: whatever `pack` returned.

    Its place in the graph stays here, so that second derivatives do not depend on what the hooks do to it.  It has a
    tensor's `window`, and no storage: what it stands for can no longer be written to.
    """

    __slots__ = ("edge", "is_output", "nr", "packed", "unpacker")
    _window = _storage = None

    def __init__(self, tensor, is_output: bool = False):
        pack, self.unpacker = state.packing
        version = tensor.memory.version
        if version is None:
            raise errors.save_inference()
        self.is_output, self.nr, self.edge = is_output, tensor._nr, None
        if not is_output and tensor.requires_grad:
            self.edge = tensor.grad_fn or tensor
        with recording(False):
            self.packed = pack(tensor)
        if tensor.memory.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place: others still read it. Write to a clone()."
            )

    @property
    def window(self):
        return self.unpacked().window

    def unpacked(self):
        found = self.unpacker(self.packed)
        if not hasattr(found, "window"):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}."
            )
        return found

    def unpack(self, node):
        """The tensor, attached to the graph it came from."""
        found, edge = self.unpacked(), node if self.is_output else self.edge
        if edge is None or found is edge or found._node is edge and found._nr == self.nr:
            return found
        out = found.alias()
        out._node, out._nr = (edge, self.nr) if isinstance(edge, Node) else (StandIn(edge), 0)
        return out


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

    __slots__ = ("last", "post", "pre", "retain", "tensor")

    def __init__(self):
        self.tensor = HookDict()  # of tensors: (output number, fn(grad))
        # output number -> weak reference to the tensor that keeps its gradient; always after the others
        self.retain = {}
        self.pre = HookDict()  # of the node: fn(grad_outputs)
        self.last = HookDict()  # of a leaf's AccumulateGrad: fn((), (grad,)), after everything else
        self.post = HookDict()  # fn(grad_inputs, grad_outputs) of a node; fn(tensor) of a leaf, after accumulation


LATEST = 2**64 - 1  # the number of every AccumulateGrad: it runs as soon as it is ready
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

    def run(self, grads, lift: bool, keep: bool):
        """Gradients for each edge, from those of the outputs.

        lift: they are Tensors, and the pass is itself recorded.  keep: what was saved stays, for another pass; else it
        is freed, and a second pass must fail.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self, *grads):
        """The gradients of the inputs for these of the outputs, by hand: no hooks run, and what was saved stays.

        They are as the formulas make them, not yet summed to the inputs' shapes: that is a pass's work.
        """
        if len(grads) != 1 + len(self.more):
            raise TypeError(
                f"{self.name()} expected {1 + len(self.more)} gradients, one for each output; got {len(grads)}."
            )
        results = self.by_input(self.run(list(grads), True, True))
        return results[0] if len(results) == 1 else tuple(results)

    def by_input(self, of_edges) -> list:
        """What belongs to the edges, for those inputs that PyTorch counts."""
        return list(of_edges)

    def name(self) -> str:
        """The node's name as PyTorch prints it: MulBackward0."""
        return type(self).__name__

    def _sequence_nr(self) -> int:
        """When the node was made: of those that are ready, backward runs the latest first."""
        return self.sequence

    @property
    def metadata(self) -> dict:
        """A place for notes about the node; anomaly mode keeps the forward call here."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def next_functions(self) -> tuple:
        """Where the gradients of the inputs go: (node or None, output number) for each input."""
        return tuple(_next_function(edge) for edge in self.by_input(self.edges))

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


class DeadEnd(Node):
    """Where gradients of a view made under no_grad go: it says that it requires them, as its base does, and they get
    lost.
    """

    __slots__ = ()

    def run(self, grads, lift: bool, keep: bool):
        return ()


def _next_function(edge):
    if edge is None or isinstance(edge, DeadEnd):
        return (None, 0)
    if isinstance(edge, Node):
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

    def register_hook(self, fn) -> RemovableHandle:
        return RemovableHandle(self.get_hooks().last, fn)

    def _sequence_nr(self) -> int:
        return LATEST

    def __call__(self, grad):
        """Add a gradient to the leaf's, as the end of a pass does."""
        leaf = self.variable
        leaf.grad = grad.clone() if leaf.grad is None else leaf.grad + grad
        return ()


class StandIn(Node):
    """The node of what hooks unpacked in place of a leaf: the gradient goes on to the leaf."""

    __slots__ = ()

    def __init__(self, leaf):
        super().__init__((leaf,), tuple(leaf.shape), leaf.dtype, leaf.device)

    def run(self, grads, lift: bool, keep: bool):
        return grads


class OpNode(Node):
    """The node of an operator from the table.

    Each operator has a subclass with its own name, in which `op` is set.  The recipe says what was saved and which
    formulas to run; options and facts about inputs are kept as they are.
    """

    __slots__ = ("options", "recipe", "saved")
    op = None
    __init__ = object.__init__  # op_node fills it in: three times as fast

    def by_input(self, of_edges) -> list:
        """Without what belongs to inputs that never get a gradient (masks, indices), for which PyTorch has no edge."""
        kept = [one for i, one in enumerate(of_edges) if self.op.differentiable >> i & 1]
        return kept + [None] * (self.op.differentiable.bit_count() - len(kept)) if not self.op.variadic else kept

    def run(self, grads, lift: bool, keep: bool):
        recipe, values, results = self.recipe, [], []
        if self.saved:
            if self.saved is FREED:
                raise errors.backward_twice(self.name())
            for kept in self.saved:
                values.append(take_out(kept, self) if lift else window_of(kept, self))
        if recipe.options:
            values += [self.options[name] for name in recipe.options]
        g = grads if recipe.takes_list else grads[0]
        if self.dtype.is_half and not lift:
            g, values = self.op.widen(g, values)
        for formula, needs in recipe.steps:
            if formula is None:
                results.append(None)
            elif not needs:
                results.append(formula(g))
            elif len(needs) == 1:
                results.append(formula(g, values[needs[0]]))
            else:
                results.append(formula(g, *[values[i] for i in needs]))
        if recipe.joint:  # one formula for all inputs
            results = [None if e is None else v for e, v in zip(self.edges, results[0], strict=True)]
        if not keep and self.saved:
            self.saved = FREED
        return results

    def saved_fields(self) -> list[str]:
        """The `_saved_...` attributes this node has."""
        return [f"_saved_{self.op.public_name(n)}" for n in (*self.recipe.names, *self.options)]

    def __dir__(self):
        mine = self.saved_fields()
        return [n for n in super().__dir__() if not n.startswith("_saved_") or n in mine]


def saved_attribute(op, name: str) -> property:
    """_saved_self, _saved_result, _saved_dim ...: what the gradient formulas need, by PyTorch's names."""

    def get(node):
        if name in node.options:
            return node.options[name]
        names = node.recipe.names
        if name not in names:
            known = ", ".join(node.saved_fields()) or "nothing"
            raise AttributeError(f"{node.name()} did not save {op.public_name(name)!r}: it keeps {known}")
        if node.saved is FREED:
            raise errors.saved_freed(node.name(), f"_saved_{op.public_name(name)}")
        return take_out(node.saved[names.index(name)], node)

    return property(get)


def op_node(kind, edges, recipe, saved, options, shape, dtype, device) -> OpNode:
    """A node of that class."""
    node = kind()
    node.edges, node.recipe, node.saved, node.options = edges, recipe, saved, options
    node.shape, node.dtype, node.device = shape, dtype, device
    node.sequence = next_sequence()
    node.more = ()
    node.hooks = node._metadata = None
    return node


def own_copy(fn):
    """The same function with bytecode of its own.

    Python speeds attributes up where one piece of code meets one class.  There is a node class for each operator, so
    each gets its own copy of the functions that every call runs: a third off the time of backward.
    """
    return types.FunctionType(fn.__code__.replace(), fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
