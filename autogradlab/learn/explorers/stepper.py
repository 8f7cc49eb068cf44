"""A backward pass, step by step: who runs, who is ready, who waits for how many gradients, and what is sent on.

Recorded from the engine while it really runs; going back and forth only looks at the record.  (D3 1.1, chapter 15)
"""

from __future__ import annotations

import asyncio
from html import escape

import autogradlab as torch
from autogradlab.graph import Node
from autogradlab.learn.panel import Panel, button, note, row, slid, whole
from autogradlab.observe import Trace
from autogradlab.viz.dot import dot_source, svg_of
from autogradlab.viz.picture import on_paper
from autogradlab.viz.walk import Drawing

MOST = 60  # nodes that a picture is made of
PAUSE = 1.2  # seconds between the steps that Play shows


class _Record(Trace):
    """A trace that knows the reader's names of leaves, and keeps short gradients as numbers."""

    def __init__(self, leaves: dict):
        super().__init__()
        self._leaves = {id(t): name for name, t in leaves.items()}
        self.numbers: list[list[str]] = []  # for each step the gradients that came in

    def name_of(self, place) -> str:
        return self._leaves.get(id(place)) or super().name_of(place)

    def _on_begin(self, task) -> None:
        super()._on_begin(task)
        self.numbers.append([])
        self.root = self.name_of(next(iter(sorted(task.ready))).at) if task.ready else ""

    def _on_node(self, node, grads, task) -> None:
        super()._on_node(node, grads, task)
        self.numbers.append([_short(g) for g in grads if g is not None])

    def _on_leaf(self, leaf, grad, task) -> None:
        super()._on_leaf(leaf, grad, task)
        self.numbers.append([_short(grad)])


class Backward:
    """A recorded backward pass.  Knows nothing of widgets.

    make_loss: computes a fresh loss of one element.  leaves: names for tensors that require gradients.  Their `.grad`
    is as before when this is done.
    """

    def __init__(self, make_loss, **leaves):
        if not callable(make_loss):
            raise TypeError(
                f"explore_backward: expected a function that computes the loss, such as lambda: (w * x).sum(), got "
                f"{type(make_loss).__name__}: backward uses a graph up, and a function can make a new one."
            )
        kept = {name: t.grad for name, t in leaves.items()}
        for t in leaves.values():
            t.grad = None
        try:
            loss = make_loss()
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or loss.grad_fn is None:
                raise ValueError(
                    "explore_backward: the function must return a loss of one element that was computed from tensors "
                    f"that require gradients, got {loss!r}."
                )
            self.edges = _edges(loss.grad_fn)
            record = _Record(leaves)
            with record:
                loss.backward()
            self.found = {name: _short(t.grad) for name, t in leaves.items() if t.grad is not None}
        finally:
            for name, t in leaves.items():
                t.grad = kept[name]
        self.steps, self.numbers = record.backward, record.numbers
        self.arrows = [(record.name_of(a), record.name_of(b)) for a, b in self.edges]
        self.names = list(dict.fromkeys(name for arrow in self.arrows for name in arrow))
        self.edges = None  # the graph may go

    def __len__(self) -> int:
        return len(self.steps)

    def state(self, i: int) -> dict[str, str]:
        """What each node and leaf is doing at step i: "runs now", "done", "ready" or "waits for 2"."""
        step = self.steps[i]
        before = {s.at for s in self.steps[1:i]}
        found = {}
        for name in self.names:
            waits = step.waiting.get(name, 0)
            arrived = waits and any(name in (n for n, _ in s.outgoing) for s in self.steps[1:i])
            found[name] = (
                "runs now" if name == step.at else "done" if name in before else "ready" if name in step.ready
                else f"waits for {waits}{' more' if arrived else ''}" if waits else "not reached"
            )  # fmt: skip
        return found

    def words(self, i: int) -> str:
        """Step i in one line, with the numbers that came in."""
        came = f" It got {' and '.join(self.numbers[i])}." if self.numbers[i] else ""
        return f"{self.steps[i].words()}.{came}"

    def text(self) -> str:
        """Every step, and what the leaves have at the end."""
        rows = [f"{i}. {self.words(i)}" for i in range(len(self.steps))]
        return "\n".join([*rows, *(f"{name}.grad = {value}" for name, value in self.found.items())])

    def table(self, i: int) -> str:
        """Step i as HTML: what happens, and who does what."""
        rows = "".join(
            f'<tr><td style="padding-right:16px">{escape(n)}</td><td>{escape(what)}</td></tr>'
            for n, what in self.state(i).items()
        )
        step = self.steps[i]
        formulas = f"<p>Formulas: {escape(', '.join(step.formulas))}</p>" if step.formulas else ""
        return f'<p>{escape(self.words(i))}</p>{formulas}<table aria-label="Who does what">{rows}</table>'

    def picture(self, i: int) -> str:
        """Step i as SVG: gradients run down, from the loss to the leaves."""
        if len(self.names) > MOST:
            return f"<p>A graph of {len(self.names)} nodes: the table below says what happens.</p>"
        drawing = Drawing()
        kinds = {"runs now": "output", "done": "saved", "ready": "leaf"}
        for name, what in self.state(i).items():
            drawing.add(name, kinds.get(what, "function"), name, what)
        drawing.arrows = [(a, b, "flow") for a, b in self.arrows]
        return on_paper(svg_of(dot_source(drawing, legend=False)), f"Step {i} of the backward pass. {self.words(i)}")


def _edges(root: Node) -> list[tuple]:
    """(node, node or leaf) for every edge behind the root, the nearest first."""
    found, todo, seen = [], [root], {id(root)}
    for node in todo:
        for edge in node.edges:
            target = edge[0] if isinstance(edge, tuple) else edge
            if target is not None:
                found.append((node, target))
                if isinstance(target, Node) and id(target) not in seen:
                    seen.add(id(target))
                    todo.append(target)
    return found


def _short(grad) -> str:
    """A gradient as numbers where there are few, else by dtype and shape."""
    array = grad.detach().cpu().numpy() if isinstance(grad, torch.Tensor) else torch.backends.to_host(grad)
    if array.size > 6:
        return f"{array.dtype} {array.shape}"
    return str(_rounded(array.tolist()))


def _rounded(value):
    """Numbers with five digits, in the lists they stand in."""
    return [_rounded(v) for v in value] if isinstance(value, list) else float(f"{value:.5g}")


def explore_backward(make_loss, **leaves) -> Panel:
    """Step through the backward pass of any loss: explore_backward(lambda: ((w * x) ** 2).sum(), w=w)."""
    run = Backward(make_loss, **leaves)
    last = len(run) - 1
    at = whole("step", 0, 0, last)
    back, forth, play = button("Back"), button("Step"), button("Play")
    picture, said = note(), note()
    playing = None

    def show(_=None) -> None:
        picture.value, said.value = run.picture(at.value), run.table(at.value)
        back.disabled, forth.disabled = at.value == 0, at.value == last

    def move(by: int):
        def clicked(_) -> None:
            at.value = min(max(at.value + by, 0), last)

        return clicked

    async def go_on() -> None:
        at.value = 0 if at.value == last else at.value
        while at.value < last:
            await asyncio.sleep(PAUSE)
            at.value += 1

    def play_or_stop(_) -> None:
        nonlocal playing
        if playing is not None and not playing.done():
            playing.cancel()
            return
        playing = asyncio.get_running_loop().create_task(go_on())
        play.description = "Stop"
        playing.add_done_callback(lambda _: setattr(play, "description", "Play"))

    back.on_click(move(-1))
    forth.on_click(move(1))
    play.on_click(play_or_stop)
    at.observe(show, "value")
    show()
    static = f"<pre>{escape(run.text())}</pre><p><i>(run this cell to go step by step)</i></p>"
    return Panel([row([back, forth, play]), slid(at), picture, said], text=run.text(), static=static)
