"""Gradients against the range of float16, and the scale that a GradScaler finds for them.  (D5 3, chapter 25)

Everything is run: gradients come from a backward pass, their fate from the engine's own rounding to float16, the scale
from GradScaler.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from html import escape

import numpy as np

import autogradlab as torch
from autogradlab import nn
from autogradlab.amp.lists import POLICIES
from autogradlab.learn.panel import Panel, note, one_of, slid
from autogradlab.modes import observe
from autogradlab.viz.picture import FILLS, INK, LINE, on_paper, sheet

POWERS = range(0, 33, 2)
INTERVALS = (2, 4, 8)
STEPS = 20
LOWEST, HIGHEST = -60, 34  # the powers of two that are drawn
FATES = {  # what becomes of a number: (lowest power of two, one above the highest, fill, what it is called)
    "becomes 0": (LOWEST, -25, FILLS["saved"], "rounded to 0"),
    "subnormal": (-25, -14, FILLS["output"], "subnormal"),
    "normal": (-14, 16, FILLS["base"], "normal"),
    "overflows": (16, HIGHEST + 1, FILLS["function"], "inf"),
}
WIDTH, HEIGHT, LEFT = 700, 150, 40


@dataclass(frozen=True)
class Step:
    """One training step: the scale it ran with, and whether the optimizer's step was skipped."""

    scale: float
    skipped: bool
    loss: float


class _Products(observe):
    """The gradients that come out of products: those that autocast computes in float16."""

    def __init__(self):
        self.arrays: list[np.ndarray] = []

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        op = getattr(facts.get("node"), "op", None)
        if event == "ran" and op is not None and POLICIES["cpu"].get(op.name) == "lower":
            self.arrays += [np.array(g, dtype="float32").ravel() for g in facts["results"] if g is not None]


class LossScaler:
    """A classifier whose gradients are looked at, scaled, and trained in float16.  Knows nothing of widgets.

    model, x, y: any model on the CPU with its inputs and classes; it is copied and stays as it is.  Without them a
    small network that has learned its 128 points for a while.
    """

    def __init__(self, model=None, x=None, y=None, lr: float = 0.1):
        given = [v is not None for v in (model, x, y)]
        if any(given) and not all(given):
            raise ValueError("explore_scaler: give a model, its inputs x and its classes y, or none of the three.")
        if not any(given):
            model, x, y = small_model()
        if not isinstance(model, nn.Module):
            raise TypeError(f"explore_scaler: expected a model (an nn.Module), got {type(model).__name__}.")
        self.model, self.x, self.y, self.lr = copy.deepcopy(model), x, y, lr
        with _Products() as products:
            self._loss(self.model).backward()
        if not products.arrays:
            raise ValueError(
                "explore_scaler: this model has no product (Linear, convolution, matmul) with a gradient, so autocast "
                "would compute none of its gradients in float16."
            )
        found = np.concatenate(products.arrays)
        self.zero = int((found == 0).sum())  # zero whatever the scale, as behind a ReLU
        self.gradients = torch.tensor(found[found != 0])
        self.exponents = np.frexp(np.abs(self.gradients.numpy()))[1] - 1
        self._seen: dict = {}

    def _loss(self, model):
        return nn.functional.cross_entropy(model(self.x), self.y)

    def _once(self, key, compute):
        """Computed the first time, remembered afterwards: a slider goes back and forth."""
        if key not in self._seen:
            self._seen[key] = compute()
        return self._seen[key]

    def fates(self, power: int) -> dict[str, int]:
        """How many gradients times 2**power become 0, subnormal, normal or inf when rounded to float16."""

        def compute():
            stored = (self.gradients * 2.0**power).to(torch.float16).float().abs().numpy()
            counts = {
                "becomes 0": stored == 0,
                "subnormal": (stored > 0) & (stored < 2.0**-14),
                "normal": (stored >= 2.0**-14) & np.isfinite(stored),
                "overflows": ~np.isfinite(stored),
            }
            return {name: int(which.sum()) for name, which in counts.items()}

        return self._once(("fates", power), compute)

    def share(self, fate: str, power: int) -> float:
        return self.fates(power)[fate] / self.gradients.numel()

    def run(self, power: int, interval: int) -> list[Step]:
        """STEPS training steps in float16 that start with the scale 2**power."""
        return self._once(("run", power, interval), lambda: self._train(power, interval))

    def _train(self, power: int, interval: int) -> list[Step]:
        model = copy.deepcopy(self.model)
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**power, growth_interval=interval)
        steps = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = self._loss(model)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            before = scaler.get_scale()
            scaler.update()
            steps.append(Step(before, scaler.get_scale() < before, loss.item()))
        return steps

    # Read and looked at -----------------------------------------------------------------------------------------------

    def table(self, power: int) -> list[tuple[str, str, int, float]]:
        """(fate, its range, how many, share) at a scale."""
        ranges = ("up to 2^-25", "2^-24 to 2^-14", "2^-14 to 65504", "above 65504")
        return [
            (name, where, n, self.share(name, power))
            for (name, n), where in zip(self.fates(power).items(), ranges, strict=True)
        ]

    def text(self, power: int, interval: int) -> str:
        """The text twin: the counts, what is lost without a scale, and the run."""
        lines = [f"scale 2^{power}, {self.gradients.numel()} gradients rounded to float16:"]
        lines += [f"  {name:10} {where:15} {n:6}  {part:6.1%}" for name, where, n, part in self.table(power)]
        lines.append(f"without a scale {self.share('becomes 0', 0):.1%} of them become 0")
        lines.append(f"GradScaler from there, growth_interval={interval}:")
        return "\n".join(lines + [f"  {words}" for words in self.story(power, interval)])

    def story(self, power: int, interval: int) -> list[str]:
        """The run in words: steps with one scale and one outcome together."""
        rows: list[list] = []
        for i, step in enumerate(self.run(power, interval), 1):
            if rows and rows[-1][2:] == [step.scale, step.skipped]:
                rows[-1][1] = i
            else:
                rows.append([i, i, step.scale, step.skipped])
        return [
            f"{'step ' + str(a) if a == b else f'steps {a} to {b}'}: scale 2^{math.log2(scale):g}, "
            f"{'skipped, the scale is halved' if skipped else 'taken'}"
            for a, b, scale, skipped in rows
        ]

    def svg(self, power: int) -> str:
        """The gradients by power of two, as they lie in float16's range at this scale."""
        across = (WIDTH - LEFT) / (HIGHEST + 1 - LOWEST)
        counts = np.bincount(np.clip(self.exponents + power, LOWEST, HIGHEST) - LOWEST, minlength=HIGHEST + 1 - LOWEST)
        parts = []
        for name, (low, high, fill, label) in FATES.items():
            x, width = LEFT + (low - LOWEST) * across, (high - low) * across
            parts.append(
                f'<rect x="{x:.1f}" y="34" width="{width:.1f}" height="{HEIGHT}" fill="{fill}" stroke="{LINE}" '
                f'stroke-dasharray="3 3"/><text x="{x + width / 2:.1f}" y="14" text-anchor="middle" fill="{LINE}">'
                f'{label}</text><text x="{x + width / 2:.1f}" y="29" text-anchor="middle" fill="{LINE}" '
                f'font-weight="bold">{self.share(name, power):.1%}</text>'
            )
        for i, n in enumerate(counts):
            if n:
                height = max(n / counts.max() * (HEIGHT - 10), 1.5)
                parts.append(
                    f'<rect x="{LEFT + i * across + 0.5:.1f}" y="{34 + HEIGHT - height:.1f}" '
                    f'width="{across - 1:.1f}" height="{height:.1f}" fill="{INK}"><title>{n} gradients from '
                    f"2^{i + LOWEST} on</title></rect>"
                )
        for mark in (-50, -40, -24, -14, 0, 16, 30):
            x = LEFT + (mark - LOWEST) * across
            parts.append(
                f'<line x1="{x:.1f}" y1="{34 + HEIGHT}" x2="{x:.1f}" y2="{40 + HEIGHT}" stroke="{LINE}"/>'
                f'<text x="{x:.1f}" y="{53 + HEIGHT}" text-anchor="middle" fill="{LINE}">2^{mark}</text>'
            )
        said = ", ".join(f"{part:.1%} {name}" for name, _, _, part in self.table(power))
        return _framed(
            parts, HEIGHT + 60, f"Histogram of gradients times 2 to the {power} over float16's range: {said}"
        )

    def run_svg(self, power: int, interval: int) -> str:
        """The scale over the steps: a dot for a step that was taken, a cross for one that was skipped."""
        steps = self.run(power, interval)
        powers = [math.log2(s.scale) for s in steps]
        low, high = min(powers), max(powers)
        across, up = (WIDTH - LEFT - 20) / STEPS, min(14, 110 / max(high - low, 1))
        places = [(LEFT + 14 + i * across, 18 + (high - p) * up) for i, p in enumerate(powers)]
        bottom = 18 + (high - low) * up
        parts = [f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{LINE}"/>']
        for p in sorted({low, high, powers[-1]}):
            parts.append(f'<text x="0" y="{22 + (high - p) * up:.1f}" fill="{LINE}">2^{p:g}</text>')
        for i, ((x, y), step) in enumerate(zip(places, steps, strict=True), 1):
            if step.skipped:
                shape = f'<path d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10" stroke="{LINE}" stroke-width="3"/>'
            else:
                shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{FILLS["leaf"]}" stroke="{LINE}"/>'
            parts.append(shape)
            if i in (1, *range(4, STEPS + 1, 4)):
                parts.append(f'<text x="{x:.1f}" y="{bottom + 24:.1f}" text-anchor="middle" fill="{LINE}">{i}</text>')
        skipped = sum(s.skipped for s in steps)
        alt = f"The scale over {STEPS} steps, from 2^{powers[0]:g} to 2^{powers[-1]:g}; {skipped} skipped"
        return _framed(parts, bottom + 30, alt)


def small_model():
    """(model, x, y): two hidden layers that have learned 128 points of four classes for some steps."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        y = torch.arange(128) % 4
        x = torch.randn(128, 8) + 4 * torch.eye(4).repeat(1, 2)[y]
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for _ in range(200):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model, x, y


def _framed(parts: list[str], height: float, alt: str) -> str:
    return on_paper(sheet(WIDTH, round(height), "".join(parts)), alt)


def explore_scaler(model=None, x=None, y=None, power: int = 0, interval: int = 4) -> Panel:
    """Choose a loss scale; see which gradients float16 can hold, and how GradScaler goes on from there.

    model, x, y: a classifier with a batch, or nothing for a small one.  power: the scale begins at 2**power.
    """
    if interval not in INTERVALS or power not in POWERS:
        raise ValueError(
            f"explore_scaler: power must be an even number from 0 to {POWERS[-1]} and interval one of {INTERVALS}, but "
            f"they are {power} and {interval}."
        )
    scaler = LossScaler(model, x, y)
    scale = one_of("scale of the loss", [(f"2^{p}", p) for p in POWERS], power)
    every = one_of("growth_interval", INTERVALS, interval)
    picture, run, words = note(), note(), note()
    legend = (
        "above: bars count gradients by power of two, the fields are float16's; below: the scale over the steps, "
        "dot: step taken, cross: skipped"
    )

    def show(_=None) -> None:
        picture.value = scaler.svg(scale.value)
        run.value = scaler.run_svg(scale.value, every.value)
        words.value = f"<pre>{escape(scaler.text(scale.value, every.value))}</pre>"

    scale.observe(show, "value")
    every.observe(show, "value")
    show()
    text = scaler.text(power, interval)
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose a scale)</i></p>"
    return Panel([slid(scale), every, picture, run, note(f"<small>{legend}</small>"), words], text=text, static=static)
