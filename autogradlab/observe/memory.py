"""Memory, counted in storages: who holds how much, and what the most was.

Every storage counts once, however many tensors read it.  What kernels use for themselves while they run is not seen.
"""

import gc
import weakref
from dataclasses import dataclass

import numpy

from autogradlab import devices
from autogradlab.graph import Node, PackedTensor
from autogradlab.modes import observe
from autogradlab.tensor import Tensor

from .record import described


@dataclass
class Held:
    """One tensor kept for backward: by which node, under which name, and the bytes of its storage.

    counted: False where an earlier row holds the same storage.  is_leaf: the storage would be there anyway, as a
    parameter or an input of the user's.
    """

    node: str
    name: str
    what: str
    bytes: int
    counted: bool
    is_leaf: bool


class SavedMemory(list):
    """The rows of `saved`, and their sum: `total`, and `extra` without leaves, which live anyway."""

    @property
    def total(self) -> int:
        return sum(row.bytes for row in self if row.counted)

    @property
    def extra(self) -> int:
        return sum(row.bytes for row in self if row.counted and not row.is_leaf)

    def __repr__(self) -> str:
        rows = []
        for row in self:
            again, leaf = " " if row.counted else "=", " (a leaf)" if row.is_leaf else ""
            rows.append(f"{row.bytes:>14,}{again} {row.node}: {row.name}, {row.what}{leaf}")
        return "\n".join([*rows, f"{self.total:>14,}  bytes in all, {self.extra:,} without leaves (= counted above)"])


def saved(*outputs: Tensor) -> SavedMemory:
    """What the graphs behind these tensors keep for backward, node by node from the outputs."""
    rows, seen, nodes = SavedMemory(), set(), set()
    stack = [t.grad_fn for t in reversed(outputs) if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in nodes:
            continue
        nodes.add(node)
        for name, tensor in _kept(node):
            storage = tensor.untyped_storage()
            leaf = tensor.is_leaf and tensor.requires_grad
            rows.append(Held(node.name(), name, described(tensor), storage.nbytes(), storage not in seen, leaf))
            seen.add(storage)
        stack += [e for e, _ in reversed(node.next_functions) if isinstance(e, Node)]
    return rows


def _kept(node):
    """(name, tensor) of everything a node saved, without unpacking what hooks put away."""
    inner = getattr(node, "fn", None)
    if isinstance(inner, Node):  # a write through a view keeps what the write itself saved
        yield from _kept(inner)
    entries = getattr(node, "saved", None)
    names = node.recipe.names if hasattr(node, "recipe") else None
    for i, entry in enumerate(entries if isinstance(entries, (list, tuple)) else ()):
        if entry is None or isinstance(entry[0], PackedTensor):
            continue
        yield (node.op.public_name(names[i]) if names else f"tensor {i}"), entry[0]


def live_tensors(device=None) -> list[Tensor]:
    """Every tensor that is alive in this process, on one device or on all, the largest storages first."""
    device = device if device is None else devices.device(device)
    found = [t for t in gc.get_objects() if isinstance(t, Tensor) and (device is None or t.device is device)]
    return sorted(found, key=lambda t: -t.nbytes)


class MemoryMeter(observe):
    """Bytes of the arrays made in a `with memory() as m:` block: now, at most, and after each step.

    Counted are results of operators and gradients, from when they are made until nobody holds them.  history: (what
    was done, bytes then held).  reset_peak() starts the maximum anew.
    """

    def __init__(self):
        self.current = self.peak = 0
        self.history: list[tuple[str, int]] = []
        self._known = {}  # id of an array that owns its memory -> its finalizer

    def reset_peak(self) -> None:
        """Forget the maximum so far."""
        self.peak = self.current

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        if event == "result":
            self._note([t.window for t in facts["outputs"]], facts["op"].name)
        elif event == "ran":
            raw = [g.window if isinstance(g, Tensor) else g for g in facts["results"] if g is not None]
            self._note(raw, facts["node"].name())

    def _note(self, arrays, what: str) -> None:
        for array in arrays:
            owner = _owner(array)
            if owner is not None and id(owner) not in self._known:
                self._known[id(owner)] = weakref.finalize(owner, self._gone, id(owner), owner.nbytes)
                self.current += owner.nbytes
        self.peak = max(self.peak, self.current)
        self.history.append((what, self.current))

    def _gone(self, key: int, nbytes: int) -> None:
        if self._known.pop(key, None) is not None:
            self.current -= nbytes

    def __repr__(self) -> str:
        return f"MemoryMeter(current={self.current:,}, peak={self.peak:,} bytes, {len(self.history)} steps)"


def _owner(array):
    """The array that owns the memory this one reads; None for NumPy's scalars."""
    array = getattr(array, "_data", array)  # of the simulated accelerator
    while getattr(array, "base", None) is not None:
        array = array.base
    return array if hasattr(array, "nbytes") and not isinstance(array, numpy.generic) else None


def memory() -> MemoryMeter:
    """Measure a block: `with autogradlab.observe.memory() as m:`, then m.peak, m.current, m.history."""
    return MemoryMeter()
