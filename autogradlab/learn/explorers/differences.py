"""How far a slope measured with differences is off, at every step size, and why.  (D4 2.3, chapter 21)

Every error is computed, in the chosen dtype. The functions use only operations that IEEE 754 rounds correctly, so that
the same digits come out on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, one_of, row, slid
from autogradlab.viz.picture import BLUE, FILLS, GREEN, INK, LINE, ORANGE, on_paper, sheet

WIDTH, HEIGHT, LEFT, TOP = 620, 300, 60, 10
POWERS = range(0, -15, -1)  # of ten: the step sizes
HIGHEST, LOWEST = 1, -15  # powers of ten of the error that are drawn
DTYPES = {"float64": torch.float64, "float32": torch.float32}
WAYS = ("central", "forward")


@dataclass(frozen=True)
class Curve:
    """A function, the place where its slope is measured, and its second and third derivative there."""

    f: Callable
    x: float
    second: float
    third: float
    kink: float = math.inf  # how far away the nearest one is


CURVES = {
    "x * x * x at 1.3": Curve(lambda x: x * x * x, 1.3, 7.8, 6.0),
    "1 / x at 0.7": Curve(lambda x: 1 / x, 0.7, 2 / 0.7**3, -6 / 0.7**4),
    "x * x at 1.3": Curve(lambda x: x * x, 1.3, 2.0, 0.0),
    "|x| at 0.001": Curve(lambda x: x.abs(), 0.001, 0.0, 0.0, kink=0.001),
}


class Differences:
    """One curve in one dtype, its slope measured in one way.  Knows nothing of widgets."""

    def __init__(self, curve: str = "x * x * x at 1.3", dtype: str = "float64", way: str = "central"):
        for name, given, known in (("curve", curve, CURVES), ("dtype", dtype, DTYPES), ("way", way, WAYS)):
            if given not in known:
                raise ValueError(f"explore_differences: {name} must be one of {tuple(known)}, got {given!r}.")
        self.name, self.curve, self.dtype, self.way = curve, CURVES[curve], DTYPES[dtype], way
        x = torch.tensor(self.curve.x, dtype=torch.float64, requires_grad=True)
        self.curve.f(x).backward()
        self.slope = x.grad.item()

    def value(self, moved: float) -> float:
        """f(x + moved), all of it in the dtype."""
        return self.curve.f(torch.tensor(self.curve.x + moved, dtype=self.dtype)).item()

    def sides(self, eps: float) -> tuple[float, float]:
        """The two values whose difference is taken."""
        return self.value(eps), self.value(-eps if self.way == "central" else 0.0)

    def measured(self, eps: float) -> float:
        high, low = self.sides(eps)
        return (high - low) / (2 * eps if self.way == "central" else eps)

    def error(self, eps: float) -> float:
        return abs(self.measured(eps) - self.slope)

    def from_curve(self, eps: float) -> float:
        """What the next term of Taylor's series leaves."""
        if self.way == "central":
            return abs(self.curve.third) * eps**2 / 6
        return abs(self.curve.second) * eps / 2

    def from_rounding(self, eps: float) -> float:
        """About one rounding of f, divided by the step."""
        return torch.finfo(self.dtype).eps / 2 * abs(self.value(0.0)) / eps

    def best(self) -> int:
        """The step whose error is smallest, as a power of ten; of equals the largest."""
        return min(POWERS, key=lambda power: self.error(10.0**power))

    def text(self, power: int) -> str:
        """The text twin: the two values, the slope from them, and where its error comes from."""
        eps, digits = 10.0**power, 17 if self.dtype is torch.float64 else 9
        high, low = self.sides(eps)
        other, over = ("f(x - eps)", "2 eps") if self.way == "central" else ("f(x)      ", "1 eps")
        lines = [
            f"{self.name}, {self.dtype.name}, {self.way} differences, eps 1e{power}",
            f"  f(x + eps)  {high:.{digits}g}",
            f"  {other}  {low:.{digits}g}",
            f"  difference / ({over}) = {self.measured(eps):.12g}, off by {self.error(eps):.1e}",
            f"  from the curve {self.from_curve(eps):.1e}, from rounding about {self.from_rounding(eps):.1e}",
            f"  best of all these steps: eps 1e{self.best()}, off by {self.error(10.0 ** self.best()):.1e}",
        ]
        if eps > self.curve.kink:
            lines.insert(5, f"  a kink lies {self.curve.kink:g} away, inside the step: this is no slope")
        return "\n".join(lines)

    def svg(self, power: int) -> str:
        """The error against the step, both on scales of powers of ten."""
        across, down = (WIDTH - LEFT - 20) / len(POWERS), (HEIGHT - TOP - 40) / (HIGHEST - LOWEST)

        def at(eps: float, error: float) -> tuple[float, float]:
            height = min(max(math.log10(error) if error > 0 else LOWEST, LOWEST), HIGHEST)
            return LEFT + (math.log10(eps) - min(POWERS)) * across, TOP + (HIGHEST - height) * down

        parts = []
        for power_of_error in range(0, LOWEST, -2):
            _, y = at(1.0, 10.0**power_of_error)
            parts.append(
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{INK}">1e{power_of_error}</text>'
            )
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 8}" y2="{y:.1f}" stroke="{FILLS["base"]}"/>')
        for p in POWERS[::2]:
            x, _ = at(10.0**p, 1.0)
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 20}" text-anchor="middle" fill="{INK}">1e{p}</text>')
        parts.append(f'<text x="{WIDTH // 2}" y="{HEIGHT - 4}" text-anchor="middle" fill="{LINE}">eps</text>')
        for part, colour, dashes in ((self.from_curve, BLUE, "7 4"), (self.from_rounding, GREEN, "2 4")):
            points = [at(10.0**p, part(10.0**p)) for p in POWERS if 10**LOWEST < part(10.0**p) < 10**HIGHEST]
            said = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{said}" fill="none" stroke="{colour}" stroke-dasharray="{dashes}"/>')
        for quarter in range(4 * min(POWERS), 1):
            x, y = at(10 ** (quarter / 4), self.error(10 ** (quarter / 4)))
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{INK}"/>')
        x, y = at(10.0**power, self.error(10.0**power))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="{ORANGE}" stroke-width="3"/>')
        alt = f"Error of the slope against eps, {self.name}: at eps 1e{power} it is {self.error(10.0**power):.1e}."
        return on_paper(sheet(WIDTH, HEIGHT, "".join(parts)), alt)


def explore_differences(curve: str = "x * x * x at 1.3", dtype: str = "float64", power: int = -1) -> Panel:
    """Choose a step, a curve and a dtype; see how far the slope measured with differences is off, and why.

    power: the step begins at 10**power.
    """
    if power not in POWERS:
        raise ValueError(f"explore_differences: power must be from {min(POWERS)} to {max(POWERS)}, got {power!r}.")
    first = Differences(curve, dtype)
    eps = one_of("eps", [(f"1e{p}", p) for p in POWERS], power)
    which, kind, way = one_of("curve", CURVES, curve), one_of("dtype", DTYPES, dtype), one_of("differences", WAYS)
    picture, words = note(), note()

    def show(_=None) -> None:
        model = Differences(which.value, kind.value, way.value)
        picture.value = model.svg(eps.value)
        words.value = f"<pre>{escape(model.text(eps.value))}</pre>"

    for entry in (eps, which, kind, way):
        entry.observe(show, "value")
    show()
    legend = note(
        "<small>dots: the error at a step; ring: the step chosen; dashed: what the curve alone would leave; dotted: "
        "what rounding alone would leave. Errors below 1e-15 lie on the lowest line.</small>"
    )
    text = first.text(power)
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose a step)</i></p>"
    return Panel([slid(eps), row([which, kind, way]), picture, legend, words], text=text, static=static)
