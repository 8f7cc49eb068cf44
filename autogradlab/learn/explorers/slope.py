"""A curve, a point to move on it, and the tangent whose slope backward computed."""

from __future__ import annotations

import math
from collections.abc import Callable

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, number, slid
from autogradlab.viz.picture import FILLS, LINE, ORANGE, PALE, on_paper, sheet

WIDTH, HEIGHT, PAD = 460, 260, 14
LEFT, FOOT = 54, 18  # for the numbers beside and below the curve


class Slope:
    """A function of one number with its derivative, by backward and by central differences."""

    def __init__(self, f: Callable, low: float, high: float, name: str = "f(x)"):
        self.f, self.low, self.high, self.name = f, low, high, name

    def value(self, x: float) -> float:
        return self.f(torch.tensor(x, dtype=torch.float64)).item()

    def by_backward(self, x: float) -> float:
        leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        self.f(leaf).backward()
        return leaf.grad.item()

    def by_differences(self, x: float, step: float = 1e-5) -> float:
        return (self.value(x + step) - self.value(x - step)) / (2 * step)

    def text(self, x: float) -> str:
        """What the picture shows, in words."""
        return (
            f"x = {x:.2f}, {self.name} = {self.value(x):.4f}: slope by backward {self.by_backward(x):.4f}, "
            f"measured {self.by_differences(x):.4f}"
        )

    def svg(self, x: float) -> str:
        """The curve, the point and its tangent."""
        points = [self.low + (self.high - self.low) * i / 80 for i in range(81)]
        heights = {p: h for p in points if math.isfinite(h := self.value(p))}
        if not heights:
            raise ValueError(
                f"{self.name} is nowhere finite from {self.low:g} to {self.high:g}: give another low and high"
            )
        bottom, top = min(heights.values()), max(heights.values())

        def at(px: float, py: float) -> tuple[float, float]:
            across = LEFT + PAD + (px - self.low) / (self.high - self.low) * (WIDTH - LEFT - 2 * PAD)
            return across, HEIGHT - FOOT - PAD - (py - bottom) / (top - bottom or 1) * (HEIGHT - FOOT - 2 * PAD)

        curve = " ".join("{:.1f},{:.1f}".format(*at(p, h)) for p, h in heights.items())
        body = (
            f'<rect x="{LEFT}" width="{WIDTH - LEFT}" height="{HEIGHT - FOOT}" fill="none" stroke="{LINE}"/>'
            f"{self._numbers(at, bottom, top)}"
            f'<polyline points="{curve}" fill="none" stroke="{LINE}" stroke-width="2"/>'
            f"{self._tangent(at, x)}"
        )
        return on_paper(sheet(WIDTH, HEIGHT, body), self.text(x))

    def _tangent(self, at: Callable, x: float) -> str:
        slope, y, reach = self.by_backward(x), self.value(x), (self.high - self.low) / 6
        if not math.isfinite(slope + y):
            return ""
        (x1, y1), (x2, y2) = at(x - reach, y - slope * reach), at(x + reach, y + slope * reach)
        cx, cy = at(x, y)
        return (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{ORANGE}" stroke-width="3" '
            f'stroke-dasharray="7 4"/>'
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="6" fill="{FILLS["output"]}" stroke="{ORANGE}" stroke-width="2"/>'
        )

    def _numbers(self, at: Callable, bottom: float, top: float) -> str:
        """Both axes, told by their ends, and the lines x = 0 and f(x) = 0 where they are in sight."""
        drawn, digits = [], 1 - math.floor(math.log10(top - bottom or 1))
        for x in (self.low, self.high, *([0] if self.low < 0 < self.high else [])):
            across = at(x, bottom)[0]
            drawn.append(f'<text x="{across:.1f}" y="{HEIGHT - 4}" text-anchor="middle">{x:g}</text>')
            if x == 0:
                drawn.append(f'<line x1="{across:.1f}" y1="0" x2="{across:.1f}" y2="{HEIGHT - FOOT}" stroke="{PALE}"/>')
        for y in (bottom, top, *([0] if bottom < 0 < top else [])):
            down = at(self.low, y)[1]
            crowded = y == 0 and min(abs(down - at(self.low, end)[1]) for end in (bottom, top)) < 14
            said = f"{round(y, digits) + 0.0:,g}"
            if not crowded or y in (bottom, top):
                drawn.append(f'<text x="{LEFT - 4}" y="{down + 4:.1f}" text-anchor="end">{said}</text>')
            if y == 0:
                drawn.append(f'<line x1="{LEFT}" y1="{down:.1f}" x2="{WIDTH}" y2="{down:.1f}" stroke="{PALE}"/>')
        return "".join(drawn)


def explore_slope(f: Callable, low: float = -4.0, high: float = 3.0, start: float = 2.0, name: str = "f(x)") -> Panel:
    """Move a point along f; the dashed line is the tangent whose slope backward computed.

    f: takes and returns a tensor of one element.
    """
    model = Slope(f, low, high, name)
    entry = number("x", start, low, high, 0.05)
    picture, words = note(model.svg(start)), note(f"<code>{model.text(start)}</code>")

    def move(change) -> None:
        picture.value, words.value = model.svg(change["new"]), f"<code>{model.text(change['new'])}</code>"

    entry.observe(move, "value")
    static = f"<p>{model.text(start)} <i>(run this cell to move x)</i></p>"
    return Panel([slid(entry, f"{WIDTH - 110}px"), picture, words], text=model.text(start), static=static)
