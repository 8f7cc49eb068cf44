"""The backward pass: from the roots of a graph to its leaves, each node once, after all gradients for it have arrived.

Three phases (D3 1.2): count for every node how many gradients it waits for; run whatever waits for none, latest made
first; add up what arrives at the leaves.  Nothing is recursive, so a chain of 100,000 operations is no deeper than one
of two.

Gradients travel as raw arrays, and as Tensors only when the pass is itself recorded (`create_graph`, here `lift`).
Each edge makes a gradient fit what it arrives at: the sum over what broadcasting repeated, the dtype, and a check of
shape and device.
"""

import sys
import threading
from heapq import heappop, heappush

import numpy

from . import errors, late, shapes
from .backends import namespace
from .modes import ANOMALY, OBSERVED, recording, state
from .tensor import Tensor, wrap

LEAF = sys.maxsize  # leaves run as soon as they are ready
_accumulating = threading.Lock()  # NumPy lets other threads run while it adds


class Place:
    """One node or leaf in a pass: what it waits for, what has arrived, and where its own gradients go.

    at: the node or leaf.  waits: edges that still bring something.  grad: the sum of what has arrived for the first
    output; further: for the others, by number.  own: the first is a sum made here, and may be added to in place.
    targets: for each edge of a node, the Place it leads to, or (Place, output number), or None.
    """

    __slots__ = ("at", "dtype", "further", "grad", "own", "sequence", "shape", "targets", "waits")

    def __lt__(self, other):
        """Whose turn it is among those that are ready: leaves first, then the node that was made last."""
        return self.sequence > other.sequence

    def arrive(self, nr: int, grad, lift: bool) -> None:
        """Add a gradient to those received for output `nr`."""
        if not nr:
            if self.own and not lift:
                before = self.grad
                before += grad
            elif self.grad is None:
                self.grad = grad
            else:
                self.grad = self.grad + grad
                self.own = self.shape != ()  # NumPy's scalars cannot be added to in place
            return
        before = self.further[nr - 1]
        self.further[nr - 1] = grad if before is None else before + grad

    def take(self) -> list:
        """The gradients of all outputs, None where nothing arrived; they are let go of here."""
        grads = [self.grad]
        self.grad = None
        if self.further is not None:  # a node with several outputs
            grads += self.further
            self.further = [None] * len(self.further)
        return grads


def place_of(at) -> Place:
    """A place where nothing has arrived yet."""
    place = Place()
    place.at, place.shape, place.dtype = at, at.shape, at.dtype._numpy
    place.waits, place.grad, place.own, place.further, place.targets = 0, None, False, None, None
    place.sequence = LEAF if isinstance(at, Tensor) else at.sequence
    return place


class Task:
    """One backward pass.

    roots: edges to start from, with their gradients.  targets: edges whose gradients are wanted (autograd.grad); None:
    all leaves accumulate.
    """

    def __init__(self, roots, grads, keep: bool, lift: bool, targets=None, accumulates: bool = False):
        self.keep, self.lift, self.targets = keep, lift, targets
        self.observer = state.observer if state.flags & OBSERVED else None
        self.caught = {}  # target edge -> its gradient
        starts = [split(edge) for edge in roots]
        self.places = self.survey([at for at, _ in starts])
        self.needed = None if targets is None else self.reaching(targets)
        self.accumulates = accumulates
        if accumulates:  # the targets run, too
            self.needed |= {self.places[at] for at, _ in targets if at in self.places}
        for (at, nr), grad in zip(starts, grads, strict=True):
            self.places[at].arrive(nr, grad, lift)
        self.ready = []  # a heap
        for at in dict.fromkeys(at for at, _ in starts):
            if not self.places[at].waits:
                heappush(self.ready, self.places[at])
        if self.observer is not None:
            self.observer("begin", task=self)

    def survey(self, starts) -> dict:
        """A Place for each node and leaf of the graph below `starts`, with the number of edges that lead to it."""
        places = {at: place_of(at) for at in starts}
        stack = list(places.values())
        while stack:
            place = stack.pop()
            at = place.at
            if place.sequence is LEAF:
                continue
            if at.more:
                place.further = [None] * len(at.more)
            targets = place.targets = []
            for edge in at.edges:
                if edge is None:
                    targets.append(None)
                    continue
                nr = 0
                if type(edge) is tuple:
                    edge, nr = edge
                target = places.get(edge)
                if target is None:
                    target = places[edge] = place_of(edge)
                    stack.append(target)
                target.waits += 1
                targets.append((target, nr) if nr else target)
        return places

    def reaching(self, targets) -> set:
        """The places from which a target can be reached; no other needs to run."""
        parents = {}
        for place in self.places.values():
            for target in place.targets or ():
                if target is not None:
                    parents.setdefault(split(target)[0], []).append(place)
        needed, stack = set(), [self.places[at] for at, _ in map(split, targets) if at in self.places]
        while stack:
            for parent in parents.get(stack.pop(), ()):
                if parent not in needed:
                    needed.add(parent)
                    stack.append(parent)
        return needed

    def reaches(self, at) -> bool:
        """Whether this pass brings a gradient to that node or leaf."""
        place = self.places.get(at)
        return place is not None and (
            self.needed is None or place in self.needed or any(target[0] is at for target in self.targets)
        )

    def run(self) -> None:
        ready, keep, lift = self.ready, self.keep, self.lift
        plain = self.targets is None and self.observer is None and not state.flags & ANOMALY
        while ready:
            place = heappop(ready)
            node = place.at
            if place.sequence is LEAF:
                results = grad = None  # no longer held here, so that the leaf may take the array over
                self.finish(node, place.take()[0])
                continue
            if plain and place.grad is not None and node.hooks is None:  # the usual case: nobody looks on
                results = node.run(place.take(), lift, keep)
            else:
                results = self.step(place)
            for target, grad in zip(place.targets, results):  # noqa: B905 - as many, or Node.run is wrong
                if target is None:
                    continue
                if type(target) is tuple:  # a later output of a node
                    target, nr = target
                    if grad is not None:
                        target.arrive(nr, self.fit(grad, target, nr, node), lift)
                elif grad is not None:
                    if lift or grad.shape != target.shape or grad.dtype is not target.dtype:
                        grad = self.fit(grad, target, 0, node)
                    if target.grad is None:
                        target.grad = grad
                    else:
                        target.arrive(0, grad, lift)
                target.waits = left = target.waits - 1
                if not left:
                    heappush(ready, target)

    def step(self, place: Place):
        """Run one node while someone looks on: hooks before and after, in PyTorch's order."""
        node, grads = place.at, place.take()
        nothing = [None] * len(node.edges)
        further = self.needed is None or place in self.needed
        catches = self.targets is not None and not self.accumulates
        wanted = catches and any((node, nr) in self.targets for nr in range(1 + len(node.more)))
        if all(g is None for g in grads) or not further and not wanted:
            return nothing  # nothing arrived, or nothing wanted lies that way
        hooks = node.hooks
        if wanted and further:  # as PyTorch: seen before the hooks if the pass goes on from here, else after them
            self.catch(node, grads)
        if hooks is not None:
            self.before(node, hooks, grads, further)
        if not further:
            self.catch(node, grads)
            return nothing
        if self.observer is not None:
            self.observer("node", node=node, grads=grads, task=self)
        results = node.run(grads, self.lift, self.keep)
        if hooks is not None and hooks.post:
            results = self.after(node, hooks, grads, results)
        if state.flags & ANOMALY and state.check_nan:
            check_anomaly(node, results)
        if self.observer is not None:
            self.observer("ran", node=node, results=results, task=self)
        return results

    def catch(self, node, grads) -> None:
        """Keep the gradients of a node's outputs that were asked for."""
        for nr, grad in enumerate(grads):
            if (node, nr) in self.targets:
                self.caught[node, nr] = grad

    def fit(self, grad, place: Place, nr: int, node):
        """A gradient as what it arrives at needs it.  The one place where broadcasting is undone."""
        target = place.at
        shape, dtype, device = (place.shape, target.dtype, target.device) if not nr else target.more[nr - 1]
        if grad.shape != shape:
            dims = shapes.summed_dims(tuple(grad.shape), tuple(shape))
            if dims is None:
                what = f"got a gradient of shape {tuple(grad.shape)} for an input of shape {tuple(shape)}"
                raise errors.invalid_gradient(
                    node.name(), node.edges.index(target) if target in node.edges else 0, what
                )
            grad = late.operators["sum"](grad, dim=dims, keepdim=True)
            if len(grad.shape) != len(shape):
                grad = grad.reshape(tuple(shape))
        if self.lift:
            if grad._device is not device:
                raise errors.invalid_gradient(node.name(), 0, f"expected device {device} but got {grad._device}")
            return grad if grad._dtype is dtype else grad.to(dtype)
        return grad if grad.dtype is dtype._numpy else grad.astype(dtype.numpy)

    # Leaves -----------------------------------------------------------------------------------------------------------

    def finish(self, leaf: Tensor, grad) -> None:
        """What happens where a gradient ends: the leaf's hooks, then .grad."""
        if grad is None or not leaf.requires_grad:  # frozen since the graph was made
            return
        if self.targets is not None and (leaf, 0) not in self.targets:
            return
        kept = self.targets is None or self.accumulates
        hooks = leaf._hooks
        if hooks is not None:  # the leaf's hooks are asked first: what is accumulated is what they return
            for _, hook in list(hooks.tensor.values()):
                grad = self.replaced(hook(self.lifted(grad, leaf._dtype, leaf._device)), grad, leaf)
            for hook in list(hooks.pre.values()) if kept else ():
                given = hook((self.lifted(grad, leaf._dtype, leaf._device),))
                grad = grad if given is None else self.replaced(given[0], grad, leaf)
        if not kept:
            self.caught[leaf, 0] = grad
            return
        if self.observer is not None:
            self.observer("leaf", leaf=leaf, grad=grad, task=self)
        accumulate(leaf, grad, self.lift)
        if hooks is not None:
            for hook in list(hooks.post.values()):
                if hook(leaf) is not None:
                    raise RuntimeError(
                        "Tensor post accumulate grad hooks should return None: what they change is .grad itself."
                    )
            for hook in list(hooks.last.values()):
                hook((), (self.lifted(grad, leaf._dtype, leaf._device),))

    # Hooks ------------------------------------------------------------------------------------------------------------

    def lifted(self, grad, dtype, device) -> Tensor:
        return grad if grad is None or self.lift else wrap(device.backend.as_array(grad, dtype), dtype, device)

    def replaced(self, given, grad, place):
        """The gradient a hook returned in place of the one it was shown."""
        if given is None:
            return grad
        if not isinstance(given, Tensor):
            raise TypeError(f"expected a Tensor or None, but hook returned {type(given).__name__!r}.")
        if tuple(given.shape) != tuple(grad.shape):
            raise RuntimeError(
                f"a hook has changed the size of value: expected a Tensor of shape {tuple(grad.shape)}, got one of "
                f"shape {tuple(given.shape)}."
            )
        return given if self.lift else given.window

    def before(self, node, hooks, grads, runs: bool) -> None:
        """Tensor hooks in the order of registration, then those that keep gradients, then the node's own if it runs."""
        kinds = [(node.dtype, node.device), *((d, v) for _, d, v in node.more)]
        for nr, hook in list(hooks.tensor.values()):
            if grads[nr] is not None:
                grads[nr] = self.replaced(hook(self.lifted(grads[nr], *kinds[nr])), grads[nr], node)
        for nr, keeper in list(hooks.retain.items()):
            tensor = keeper()
            if tensor is not None and grads[nr] is not None:
                accumulate(tensor, grads[nr], self.lift, steal=False)
        for hook in list(hooks.pre.values()) if runs else ():
            given = hook(tuple(self.lifted(g, *kinds[i]) for i, g in enumerate(grads)))
            if given is not None:
                given = given if isinstance(given, tuple) else (given,)
                grads[:] = [g if h is None else self.replaced(h, g, node) for g, h in zip(grads, given, strict=True)]

    def after(self, node, hooks, grads, results):
        """Hooks that see what the node made of its gradients."""
        incoming = tuple(self.lifted(g, node.dtype, node.device) for g in grads)
        for hook in list(hooks.post.values()):
            shown = tuple(self.lifted(g, node.dtype, node.device) for g in results)
            given = hook(shown, incoming)
            if given is not None:
                given = given if isinstance(given, tuple) else (given,)
                results = [g if h is None else self.replaced(h, g, node) for g, h in zip(results, given, strict=True)]
        return results


def split(edge):
    """An edge as (node or leaf, output number)."""
    return edge if type(edge) is tuple else (edge, 0)


def accumulate(leaf: Tensor, grad, lift: bool, steal: bool = True) -> None:
    """Add a gradient to a tensor's .grad: in place if there is one, else as a tensor of its own."""
    with _accumulating:
        if leaf._grad is None:
            # A clone even of what is recorded: an expanded gradient could not be added to in place later.
            leaf._grad = grad.clone() if lift else first_gradient(leaf, grad, steal)
        elif lift:
            leaf._grad = leaf._grad + grad
        else:
            window = leaf._grad.window
            window += grad if grad.shape else grad[()]
            storage = leaf._grad.memory
            if storage.version is not None:
                storage.version += 1


def first_gradient(leaf: Tensor, grad, steal: bool) -> Tensor:
    """A tensor for a leaf's first gradient: the array itself where nobody else holds it, else a copy."""
    backend = leaf._device.backend
    if type(grad) is not backend.array:
        grad = backend.as_array(grad, leaf._dtype)
    # Whoever passed it down holds it too: this frame, accumulate and finish, and getrefcount's own argument.
    alone = steal and sys.getrefcount(grad) <= HOLDERS and backend.owns(grad) and grad.strides == leaf.window.strides
    if not alone:
        layout = shapes.like_strides(tuple(leaf.shape), leaf.stride())
        made = late.functions["empty_strided"](tuple(leaf.shape), layout, dtype=leaf._dtype, device=leaf._device)
        made.window[...] = grad
        return made
    return wrap(grad, leaf._dtype, leaf._device)


HOLDERS = 4


def check_anomaly(node, results) -> None:
    """Anomaly mode: stop at the first node that makes a nan, and show the forward call it comes from."""
    for i, grad in enumerate(results):
        if grad is None:
            continue
        raw = grad.window if isinstance(grad, Tensor) else grad
        if bool(namespace((raw,)).any(raw != raw)):
            where = "".join(
                node.metadata.get("traceback_", ["(made before anomaly detection was on: no forward call known)\n"])
            )
            print(
                f"{node.name()} made a nan. Traceback of forward call that caused the error:\n{where}", file=sys.stderr
            )
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def backward(edges, grads, keep: bool, lift: bool, targets=None, accumulates: bool = False) -> dict:
    """Run a pass; what was caught at targets, by edge."""
    task = Task(edges, grads, keep, lift, targets, accumulates)
    with recording(lift):
        state.task = task
        with numpy.errstate(all="ignore"):  # inf and nan are values here
            task.run()
    return task.caught
