"""Writing in place: who may be written to, and what a write through a view does to the graph.

Rules, as PyTorch's:

1. A refused write changes nothing: every check comes before the kernel. (One exception, which is PyTorch's too: that an
   inference tensor has no version counter is noticed after the write.)
2. A leaf that requires gradients, and its views, are written only while gradients are off.
3. A write to a tensor gives it a new node. A write to a view gives its *base* a new node, CopySlices, that replaces the
   written part; every other view of the base finds out by the version counter, and makes its node anew.

Source: https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks, D2 6.2, D5 4.2.
"""

from . import errors, late, shapes
from .graph import DeadEnd, Node
from .modes import INFERENCE, NO_GRAD, recording, state
from .tensor import Tensor, view_of, wrap


class View:
    """What a view knows of where it came from.

    base: the tensor that is no view itself.  version: the storage's when the view's node was made.  origin: "" for an
    ordinary view; "no_grad", "inference", "multi_output", "function" for those that may not be written to while
    gradients are on.  maker: the operator.
    """

    __slots__ = ("base", "maker", "origin", "version")

    def node(self, tensor: Tensor):
        """The view's node, made anew if the storage was written to since."""
        version = tensor._storage.version
        if version != self.version:
            base = self.base
            if tensor._node is not None or base._node is not None or base._requires:
                if self.origin:
                    raise errors.write_to_view(self.origin, self.maker)
                self.version = version
                keepers = tensor._node.hooks.retain if tensor._node is not None and tensor._node.hooks else {}
                kept = keepers.pop(tensor._nr, None)
                tensor._node, tensor._nr, tensor._requires = _as_strided_node(base, tensor), 0, False
                if kept is not None:
                    tensor._node.get_hooks().retain[0] = kept
        return tensor._node


def _as_strided_node(base: Tensor, tensor: Tensor) -> Node:
    options = {
        "size": tuple(tensor.shape), "stride": tensor.stride(), "storage_offset": tensor._offset,
        "a_shape": tuple(base.shape), "a_stride": base.stride(), "a_offset": base._offset,
    }  # fmt: skip
    op = late.operators["as_strided"]
    recipe = op.recipes.get(1) or op.recipe(1)
    return recipe.make(
        recipe.kind, (edge_of(base),), recipe, (), options, options["size"], tensor._dtype, tensor._device
    )


def make_view(source: Tensor, geometry, maker: str, flags: int, multi_output: bool = False) -> Tensor:
    """A tensor that reads the storage of `source` by another (shape, stride, offset)."""
    storage = source._storage
    if storage is None:
        storage = source.memory
    shape, stride, offset = geometry
    out = view_of(storage, shape, stride, offset, source._dtype, source._device)
    if storage.version is None:
        return out  # views of inference tensors need no record: nothing about them is ever recorded
    parent, made = source._view, View()
    made.base = source if parent is None else parent.base
    made.version, made.maker, made.origin = storage.version, maker, "" if parent is None else parent.origin
    if multi_output:
        made.origin = "multi_output"
    elif flags & NO_GRAD:
        made.origin = "inference" if flags & INFERENCE else "no_grad"
    out._view = made
    return out


def view_record(source: Tensor, maker: str, origin: str) -> View:
    """The record of a tensor that reads the memory of `source`."""
    made, parent = View(), source._view
    made.base = source if parent is None else parent.base
    made.version, made.maker, made.origin = source.memory.version, maker, origin
    return made


def edge_of(tensor: Tensor):
    """Where a gradient for this tensor goes: its node, (node, k) for output k of it, the leaf itself, or nowhere."""
    view = tensor._view
    node = tensor._node if view is None else view.node(tensor)
    if node is not None:
        return (node, tensor._nr) if tensor._nr else node
    if tensor._requires:
        return tensor
    if view is not None and view.base.requires_grad:
        return DeadEnd((), tuple(tensor.shape), tensor._dtype, tensor._device)
    return None


def check_writable(target: Tensor, recorded: bool, overlap: bool = False) -> None:
    """Refuse a write that would break a graph.

    recorded: gradients are on and one of the operands requires them.  overlap: cells written twice get the same value.
    """
    if not overlap and shapes.overlaps(tuple(target.shape), target.stride()):
        raise errors.overlapping_write()
    if not recorded:
        return
    view = target._view
    if view is not None:
        base = view.base
        if (base._requires or target._requires) and base.grad_fn is None:
            raise errors.write_to_view_of_leaf()
        if view.origin:
            raise errors.write_to_view(view.origin, view.maker)
    elif target._requires and target._node is None:
        raise errors.write_to_leaf()


def check_apart(target: Tensor, others, whole: bool = False) -> None:
    """Refuse a write that would change an operand while it is read: one that shares some of the written cells.

    whole: also one that is exactly what is written to, which operators that go element by element may read.
    """
    storage = target._storage
    for t in others:
        if storage is None or t._storage is not storage or not (t.numel() and target.numel()):
            continue
        places = [(t._offset, tuple(t.shape), t.stride()) for t in (target, t)]
        if not all(shapes.is_dense(shape, stride) for _, shape, stride in places):
            continue  # too hard to tell, as PyTorch finds too
        (a, *_), (b, *_) = places
        same = a == b and target.numel() == t.numel() and (target.stride() == t.stride() or t.dim() != target.dim())
        if (whole or not same) and a < b + t.numel() and b < a + target.numel():
            raise errors.overlapping_operand()


def written(target: Tensor) -> None:
    """Count a write.  An inference tensor has no counter: outside inference mode that is an error (PyTorch's comes here
    too).
    """
    storage = target.memory
    if storage.version is not None:
        storage.version += 1
    elif not state.flags & INFERENCE:
        raise errors.write_to_inference()


def rebase(target: Tensor, node: Node) -> None:
    """Give a tensor that was just written in place its new node (rule 3)."""
    if target._view is None:
        _move_retained(target, node)
        target._node, target._nr, target._requires = node, 0, False
        return
    base = target._view.base
    made = CopySlices(base, target, node)
    _move_retained(base, made)
    base._node, base._nr, base._requires = made, 0, False


def _move_retained(tensor: Tensor, node: Node) -> None:
    """retain_grad follows the tensor to its new node; other hooks stay with the value they were registered for."""
    old = tensor._node
    if old is not None and old.hooks is not None and tensor._nr in old.hooks.retain:
        node.get_hooks().retain[0] = old.hooks.retain.pop(tensor._nr)


class CopySlices(Node):
    """A write into part of a base: the gradient of the written cells goes through the write, that of the others past
    it.
    """

    __slots__ = ("base_geometry", "fn", "geometry")

    def __init__(self, base: Tensor, target: Tensor, fn: Node):
        edges = (edge_of(base), *fn.edges[1:])
        super().__init__(edges, tuple(base.shape), base._dtype, base._device)
        self.fn = fn
        self.base_geometry = tuple(base.shape), base.stride(), base._offset
        self.geometry = tuple(target.shape), target.stride(), target._offset

    def run(self, grads, lift: bool, keep: bool):
        with recording(lift):
            g = grads[0] if lift else wrap(grads[0], self.dtype, self.device)
            shape, stride, offset = self.base_geometry
            whole = late.functions["empty_strided"](shape, stride, dtype=self.dtype, device=self.device)
            whole.copy_(g)
            size, steps, start = self.geometry
            part = whole.as_strided(size, steps, start - offset)
            inner = part.clone()
            own, *others = self.fn.run([inner if lift else inner.window], lift, keep)
            if own is None:
                part.zero_()
            else:
                part.copy_(own if lift else wrap(own, self.dtype, self.device))
        return [whole if lift else whole.window, *others]

    def saved_fields(self) -> list[str]:
        return []
