"""trace(): write down what every call and every step of backward does.

Data first (`calls`, `backward`), then as text (print the trace) and in a notebook as a table; viz.trace draws it.
"""

import weakref
from html import escape

from autogradlab.graph import AccumulateGrad, Node
from autogradlab.modes import AUTOCAST, NO_GRAD, observe, state
from autogradlab.tensor import Tensor

from .record import BackwardStep, Call, described, place_of_code


class Trace(observe):
    """What happened inside a `with autogradlab.trace() as t:` block.

    calls: the operators called, in order; backward: the steps of backward passes.  A Trace keeps descriptions, no
    tensors, so that it changes nothing about what lives how long.
    """

    def __init__(self):
        self.calls: list[Call] = []
        self.backward: list[BackwardStep] = []
        self._open: list[tuple] = []  # calls that have begun: (operator, Call)
        self._names: dict[int, tuple] = {}  # id of a node or leaf -> (weak reference, name), in the order met
        self._numbers: dict[str, int] = {}  # how many of a kind were named

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        handler = getattr(self, f"_on_{event}", None)
        if handler is not None:
            handler(**facts)

    # Calls ------------------------------------------------------------------------------------------------------------

    def _on_call(self, op, inputs, options) -> None:
        if state.autocast is None or state.flags & AUTOCAST:  # not one of autocast's casts: what is open has failed
            self._open.clear()
        made = Call(op.name, [described(t) for t in inputs] + [f"{k}={v}" for k, v in options.items()])
        made.recording = not state.flags & NO_GRAD
        self._open.append((op, made))

    def _on_cast(self, op, inputs) -> None:
        self._open[-1][1].cast = [described(t) for t in inputs]

    def _on_result(self, op, outputs, dtype, written: bool = False) -> None:
        while self._open and self._open[-1][0] is not op:  # calls that ended in an error
            self._open.pop()
        if not self._open:
            return
        call = self._open.pop()[1]
        call.kind = "write" if written else "view" if dtype is None else "kernel"
        call.computed = None if dtype is None else dtype.name
        call.kernel = place_of_code(op.geometry if dtype is None else op.kernel)
        call.results = [described(t) for t in outputs]
        call.device = str(outputs[0].device) if outputs else "cpu"
        node = outputs[0].grad_fn if outputs else None
        if node is not None and (self._is_new(node) or written):
            call.node, call.saved = self.name_of(node), list(_saved(node))
        (self._open[-1][1].inner if self._open else self.calls).append(call)

    # Backward ---------------------------------------------------------------------------------------------------------

    def name_of(self, place) -> str:
        """A name for a node or leaf that stays the same through the trace: "MulBackward0#1", "leaf#2"."""
        known = self._names.get(id(place))
        if known is None or known[0]() is not place:  # an id may come again when its owner is gone
            kind = place.name() if isinstance(place, Node) else "leaf"
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
            known = self._names[id(place)] = weakref.ref(place), f"{kind}#{self._numbers[kind]}"
        return known[1]

    def _is_new(self, node) -> bool:
        known = self._names.get(id(node))
        return known is None or known[0]() is not node

    def _state(self, task) -> dict:
        ready = sorted(task.ready)
        waiting = {self.name_of(p.at): p.waits for p in task.places.values() if p.waits}
        return {"ready": [self.name_of(p.at) for p in ready], "waiting": waiting}

    def _on_begin(self, task) -> None:
        for place in task.places.values():
            self.name_of(place.at)
        self.backward.append(BackwardStep("begin", "", **self._state(task)))

    def _on_node(self, node, grads, task) -> None:
        step = BackwardStep("node", self.name_of(node), **self._state(task))
        step.incoming = [_gradient(g) for g in grads if g is not None]
        recipe = getattr(node, "recipe", None)
        step.formulas = [place_of_code(f) for f, _ in recipe.steps if f is not None] if recipe is not None else []
        step.freed = bool(getattr(node, "saved", None)) and not task.keep
        self.backward.append(step)

    def _on_ran(self, node, results, task) -> None:
        step, place = self.backward[-1], task.places[node]
        for target, grad in zip(place.targets, results, strict=False):
            if target is not None and grad is not None:
                at = target[0] if isinstance(target, tuple) else target
                name = self.name_of(at.at)
                if at.grad is not None or name in (n for n, _ in step.outgoing):
                    step.summed.append(name)
                step.outgoing.append((name, _gradient(grad)))

    def _on_leaf(self, leaf, grad, task) -> None:
        step = BackwardStep("leaf", self.name_of(leaf), **self._state(task))
        step.incoming = [_gradient(grad)]
        self.backward.append(step)

    # To be read -------------------------------------------------------------------------------------------------------

    def table(self) -> list[tuple[str, str]]:
        """(step, what happened) for everything, in order: calls first, then backward."""
        rows = []
        for i, call in enumerate(self.calls, 1):
            rows += [(str(i) if not k else "", words) for k, words in enumerate(call.steps())]
        rows += [(f"b{i}", step.words()) for i, step in enumerate(self.backward)]
        return rows

    def __repr__(self) -> str:
        if not self.calls and not self.backward:
            return "Trace: nothing was called"
        return "\n".join(f"{number:>4}  {words}" if number else f"        {words}" for number, words in self.table())

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><td style="text-align:right">{number}</td><td style="text-align:left">{escape(words)}</td></tr>'
            for number, words in self.table()
        )
        head = '<tr><th>step</th><th style="text-align:left">what happened</th></tr>'
        return f'<table aria-label="Trace">{head}{cells}</table>'


def trace() -> Trace:
    """Record what happens in a block: `with autogradlab.trace() as t:`, then print(t), t.calls, t.backward."""
    return Trace()


def _saved(node):
    """(name, description, bytes) of the tensors a node keeps."""
    if isinstance(node, AccumulateGrad):
        return
    for field in node.saved_fields() if hasattr(node, "saved_fields") else ():
        try:
            value = getattr(node, field)
        except RuntimeError:
            continue
        if isinstance(value, Tensor):
            yield field.removeprefix("_saved_"), described(value), value.nbytes


def _gradient(grad) -> str:
    """A gradient in words; passes that are not recorded hand raw arrays around."""
    return described(grad) if isinstance(grad, Tensor) else f"{grad.dtype} {tuple(grad.shape)}"
