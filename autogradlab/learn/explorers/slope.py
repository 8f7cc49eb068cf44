"""A curve, a point to move on it, and the tangent whose slope backward computed."""

from __future__ import annotations

from collections.abc import Callable

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, number, slid
from autogradlab.viz.picture import FILLS, LINE, ORANGE, on_paper, sheet

WIDTH, HEIGHT, PAD = 460, 260, 14


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
        heights = [self.value(p) for p in points]
        bottom, top = min(heights), max(heights)

        def at(px: float, py: float) -> tuple[float, float]:
            across = PAD + (px - self.low) / (self.high - self.low) * (WIDTH - 2 * PAD)
            return across, HEIGHT - PAD - (py - bottom) / (top - bottom or 1) * (HEIGHT - 2 * PAD)

        curve = " ".join("{:.1f},{:.1f}".format(*at(p, h)) for p, h in zip(points, heights, strict=True))
        slope, y = self.by_backward(x), self.value(x)
        reach = (self.high - self.low) / 6
        (x1, y1), (x2, y2) = at(x - reach, y - slope * reach), at(x + reach, y + slope * reach)
        cx, cy = at(x, y)
        body = (
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="{LINE}"/>'
            f'<polyline points="{curve}" fill="none" stroke="{LINE}" stroke-width="2"/>'
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{ORANGE}" stroke-width="3" '
            f'stroke-dasharray="7 4"/>'
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="6" fill="{FILLS["output"]}" stroke="{ORANGE}" stroke-width="2"/>'
        )
        return on_paper(sheet(WIDTH, HEIGHT, body), self.text(x))


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
