"""What checkpointing saves and costs: a real model, run once for every number of segments.  (D5 4.1, chapter 26)

Peak bytes and recomputed operations are measured while the engine runs, never worked out from a formula.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from html import escape

import autogradlab as torch
from autogradlab import nn
from autogradlab.learn.panel import Panel, note, slid, whole
from autogradlab.modes import observe
from autogradlab.utils.checkpoint import checkpoint_sequential
from autogradlab.viz.picture import FILLS, LINE, on_paper, sheet

MOST = 32  # layers: each number of segments is run
WIDTH, HEIGHT, LEFT, TOP = 700, 130, 70, 22


@dataclass(frozen=True)
class Plan:
    """One way to run the model, as measured.  segments: 0 is without checkpoints.

    lengths: layers of each segment, the last one not checkpointed; peak: bytes; again: forward operations that backward
    computed a second time; history: bytes held after each step; same: gradients are those without checkpoints.
    """

    segments: int
    lengths: tuple[int, ...]
    peak: int
    forward: int
    again: int
    history: tuple[int, ...]
    same: bool

    def layout(self) -> str:
        """The lengths in short: "4 x 3", "2 x 5, then 6"."""
        *first, last = self.lengths
        if not first:
            return f"{last}, none checkpointed"
        return f"{len(first)} x {first[0]}, then {last}"


class _Operations(observe):
    """Counts operators that computed something and were recorded; not the engine's own, such as a detach."""

    def __init__(self):
        self.count = 0

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        if event == "result" and facts["dtype"] is not None:
            self.count += any(t.grad_fn is not None for t in facts["outputs"])


class Checkpoints:
    """A model with every number of segments.  Knows nothing of widgets.

    layers: an nn.Sequential, copied; x: its input.  Without them sixteen layers of 32 features and a batch of 256.
    """

    def __init__(self, layers=None, x=None):
        if (layers is None) != (x is None):
            raise ValueError("explore_checkpoints: give the layers and their input x, or neither.")
        if layers is None:
            layers, x = sixteen_layers()
        if not isinstance(layers, nn.Sequential):
            raise TypeError(
                f"explore_checkpoints: expected an nn.Sequential, which can be cut into segments, got "
                f"{type(layers).__name__}."
            )
        if not 2 <= len(layers) <= MOST:
            raise ValueError(f"explore_checkpoints: expected from 2 to {MOST} layers, got {len(layers)}.")
        if next(layers.parameters(), None) is None:
            raise ValueError("explore_checkpoints: the layers have no parameters, so backward has nothing to do.")
        self.layers, self.x = copy.deepcopy(layers), x
        self._gradients = None
        with torch.random.fork_rng():
            self.plans = [self._measured(segments) for segments in range(len(layers) + 1)]
        self._gradients = None

    def __len__(self) -> int:
        return len(self.layers)

    def _measured(self, segments: int) -> Plan:
        """Run forward and backward once."""
        torch.manual_seed(0)  # dropout must draw the same numbers each time
        for p in self.layers.parameters():
            p.grad = None
        with torch.observe.memory() as memory, _Operations() as operations:
            result = checkpoint_sequential(self.layers, segments, self.x) if segments else self.layers(self.x)
            forward, loss = operations.count, result.sum()
            before = operations.count
            loss.backward()
        again = operations.count - before
        found = [p.grad for p in self.layers.parameters()]
        if self._gradients is None:
            self._gradients = found
        length = len(self) // max(segments, 1)
        lengths = (*[length] * (segments - 1), len(self) - length * max(segments - 1, 0))
        return Plan(segments, lengths, memory.peak, forward, again, tuple(b for _, b in memory.history),
                    all(_equal(a, b) for a, b in zip(found, self._gradients, strict=True)))  # fmt: skip

    @property
    def best(self) -> Plan:
        """The plan with the lowest peak; of several, the one with the fewest operations."""
        return min(self.plans, key=lambda plan: (plan.peak, plan.again))

    def words(self, segments: int) -> str:
        """One plan in two lines."""
        plan, plain = self.plans[segments], self.plans[0]
        if not segments:
            return f"without checkpoints: peak {plan.peak:,} bytes\n{plan.forward} forward operations, none repeated"
        same = "the gradients are equal" if plan.same else "the gradients DIFFER"
        return (
            f"{segments} {'segment' if segments == 1 else 'segments'} ({plan.layout()}): peak {plan.peak:,} bytes, "
            f"{plan.peak / plain.peak:.0%} of what it is without\n{plan.again} of {plain.forward} forward operations "
            f"computed again, {plan.again / plain.forward:.0%}; {same}"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """The table twin: all plans, with headings first."""
        rows = [("segments", "layers of each", "peak bytes", "computed again", "gradients")]
        for p in self.plans:
            name = str(p.segments) if p.segments else "no checkpoints"
            rows.append((name, p.layout(), f"{p.peak:,}", str(p.again), "equal" if p.same else "differ"))
        return rows

    def text(self, segments: int) -> str:
        """The chosen plan in words, then the table with an arrow at it."""
        rows = self.rows()
        wide = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
        lines = [self.words(segments)]
        for i, cells in enumerate(rows, -1):
            first, second, *numbers = (c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in
                                       enumerate(zip(cells, wide, strict=True)))  # fmt: skip
            lines.append("  ".join([">" if i == segments else " ", first, second, *numbers]).rstrip())
        return "\n".join(lines)

    # Pictures ---------------------------------------------------------------------------------------------------------

    def curve(self, segments: int) -> str:
        """Peak bytes over the number of segments; the chosen point is a square."""
        most, across = self.plans[0].peak, (WIDTH - LEFT - 20) / max(len(self), 1)

        def at(plan: Plan) -> tuple[float, float]:
            return LEFT + plan.segments * across, TOP + HEIGHT * (1 - plan.peak / most)

        places = [at(p) for p in self.plans]
        parts = _axes(most, "peak")
        parts.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places[1:])}" fill="none" stroke="{LINE}"/>'
        )
        for plan, (x, y) in zip(self.plans, places, strict=True):
            if plan.segments == segments:
                parts.append(
                    f'<rect x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16" fill="{FILLS["output"]}" '
                    f'stroke="{LINE}" stroke-width="2"/>'
                )
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{FILLS["leaf"]}" stroke="{LINE}"><title>'
                f"{escape(self.words(plan.segments))}</title></circle>"
                f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle" fill="{LINE}">'
                f"{plan.segments or 'none'}</text>"
            )
        return _framed(parts, f"Peak bytes over the number of segments. {self.words(segments)}", "segments")

    def history(self, segments: int) -> str:
        """Bytes held while forward and backward run: the plan as an area, without checkpoints as a line."""
        plan, plain = self.plans[segments], self.plans[0]
        parts = _axes(plain.peak, "held")
        parts.append(
            f'<polygon points="{LEFT},{TOP + HEIGHT} {_trace(plan.history, plain.peak)} {WIDTH - 20},{TOP + HEIGHT}" '
            f'fill="{FILLS["leaf"]}" stroke="{LINE}"/>'
            f'<polyline points="{_trace(plain.history, plain.peak)}" fill="none" stroke="{LINE}" stroke-width="2" '
            'stroke-dasharray="6 4"/>'
            f'<text x="{LEFT}" y="{TOP + HEIGHT + 33}" fill="{LINE}">begin of forward</text>'
        )
        alt = f"Bytes held during forward and backward, at most {plan.peak:,}; without checkpoints {plain.peak:,}"
        return _framed(parts, alt, "end of backward")


def _equal(a, b) -> bool:
    return a is b if a is None or b is None else torch.equal(a, b)


def _trace(history, most: int) -> str:
    across = (WIDTH - LEFT - 20) / max(len(history) - 1, 1)
    return " ".join(f"{LEFT + i * across:.1f},{TOP + HEIGHT * (1 - b / most):.1f}" for i, b in enumerate(history))


def _axes(most: int, what: str) -> list[str]:
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - 20}" height="{HEIGHT}" fill="none" stroke="{LINE}"/>']
    for part, y in ((1.0, TOP + 4), (0.5, TOP + 4 + HEIGHT / 2), (0.0, TOP + 4 + HEIGHT)):
        parts.append(f'<text x="{LEFT - 6}" y="{y}" text-anchor="end" fill="{LINE}">{_bytes(most * part)}</text>')
    return [*parts, f'<text x="{LEFT}" y="{TOP - 8}" fill="{LINE}">bytes, {what}</text>']


def _bytes(n: float) -> str:
    return f"{n / 1e6:.2f} MB" if n >= 1e6 else f"{n / 1e3:.0f} kB"


def _framed(parts: list[str], alt: str, below: str) -> str:
    parts.append(f'<text x="{WIDTH - 20}" y="{TOP + HEIGHT + 33}" text-anchor="end" fill="{LINE}">{below}</text>')
    return on_paper(sheet(WIDTH, TOP + HEIGHT + 40, "".join(parts)), alt)


def sixteen_layers():
    """(layers, x): each layer a Linear, a LayerNorm and a GELU."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = [nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.GELU()) for _ in range(16)]
        return nn.Sequential(*layers), torch.randn(256, 32)


def explore_checkpoints(layers=None, x=None, segments: int = 4) -> Panel:
    """Choose a number of segments; see the peak of memory and what is computed again, both measured.

    layers, x: an nn.Sequential and its input, or nothing for sixteen small layers.
    """
    model = Checkpoints(layers, x)
    if segments not in range(len(model) + 1):
        raise ValueError(f"explore_checkpoints: segments must be from 0 to {len(model)}, but it is {segments}.")
    chosen = whole("segments (0: none)", segments, 0, len(model))
    curve, history, words = note(), note(), note()
    legend = (
        "square: chosen; dots: every plan, measured; area: bytes held by the chosen one; dashed: without checkpoints"
    )

    def show(_=None) -> None:
        curve.value, history.value = model.curve(chosen.value), model.history(chosen.value)
        words.value = f"<pre>{escape(model.text(chosen.value))}</pre>"

    chosen.observe(show, "value")
    show()
    text = model.text(segments)
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose a number of segments)</i></p>"
    return Panel([slid(chosen), curve, history, note(f"<small>{legend}</small>"), words], text=text, static=static)
