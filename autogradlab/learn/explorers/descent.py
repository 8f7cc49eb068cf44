"""The loss of a line fit over its two parameters, as contour lines, and the way that gradient descent takes over it."""

from __future__ import annotations

import math
from html import escape

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, one_of, slid, whole
from autogradlab.viz.picture import LINE, ORANGE, on_paper, sheet

WIDTH, HEIGHT = 560, 320
RATES = (0.001, 0.003, 0.01, 0.03, 0.05, 0.08, 0.1, 0.105, 0.11, 0.12, 0.2)
LEVELS = (0.25, 1, 4, 16, 64)  # how far above the least loss a contour lies
MOMENTA = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
FAR = 20_000  # pixels: further out, a point's exact place does not matter


class Descent:
    """Fitting y = w * x + b by gradient descent on the mean squared error, from w = b = 0.

    x, y: tensors of shape (n,).  Losses and steps are the engine's own, in float32 as in the chapter; only the contour
    lines are drawn from the formula of the ellipses they are.
    """

    def __init__(self, x, y):
        if x.dim() != 1 or x.shape != y.shape or x.numel() < 2:
            raise ValueError(
                f"Descent: x and y must be of one shape (n,) with n at least 2, but they are {tuple(x.shape)} and "
                f"{tuple(y.shape)}."
            )
        self.x, self.y = x.detach(), y.detach()
        mean_x, mean_y = self.x.mean().item(), self.y.mean().item()
        self.xx, self.mean_x = (self.x**2).mean().item(), mean_x
        spread = self.xx - mean_x**2
        if spread <= 1e-6 * self.xx:
            raise ValueError(
                "Descent: every x is the same, so no single line fits best; give at least two that differ."
            )
        slope = ((self.x * self.y).mean().item() - mean_x * mean_y) / spread
        self.best = (slope, mean_y - slope * mean_x)
        self.least = self.loss(*self.best)
        self._walked: dict[tuple[float, float], list] = {}

    def loss(self, w: float, b: float) -> float:
        return ((w * self.x + b - self.y) ** 2).mean().item()

    def limit(self) -> float:
        """The learning rate from which on the steps grow: 2 over the surface's largest curvature."""
        return 2 / max(self._curvatures())

    def _curvatures(self) -> tuple[float, float]:
        """The eigenvalues of [[2 mean(x*x), 2 mean(x)], [2 mean(x), 2]], the second derivatives of the loss."""
        half, apart = self.xx + 1, math.hypot(self.xx - 1, 2 * self.mean_x)
        return half - apart, half + apart

    def path(self, lr: float, steps: int, momentum: float = 0.0) -> list[tuple[float, float, float]]:
        """(w, b, loss) at the start and after each step; it ends early where they are no longer numbers."""
        known = self._walked.get((lr, momentum), [])
        if len(known) <= steps and (not known or math.isfinite(known[-1][2])):
            known = self._walked[lr, momentum] = self._walk(lr, steps, momentum)
        return known[: steps + 1]

    def _walk(self, lr: float, steps: int, momentum: float) -> list[tuple[float, float, float]]:
        w = torch.zeros(1, requires_grad=True)
        b = torch.zeros(1, requires_grad=True)
        speed_w = speed_b = 0.0  # what momentum keeps of the steps before, as in torch.optim.SGD
        points = []
        for _ in range(steps + 1):
            loss = ((w * self.x + b - self.y) ** 2).mean()
            points.append((w.item(), b.item(), loss.item()))
            if not math.isfinite(points[-1][2]):
                break
            loss.backward()
            with torch.no_grad():
                speed_w, speed_b = momentum * speed_w + w.grad, momentum * speed_b + b.grad
                w -= lr * speed_w
                b -= lr * speed_b
            w.grad = b.grad = None
        return points

    def verdict(self, points) -> str:
        """What a path does, in words."""
        losses = [loss for _, _, loss in points]
        steps = len(points) - 1
        if steps == 0:
            return "no step taken yet"
        if not math.isfinite(losses[-1]):
            return f"diverges: after step {steps} the loss is {losses[-1]}, beyond what float32 holds"
        if losses[-1] > losses[0]:
            return "diverges: each step lands higher on the other side"
        turns = [(a[0] - b[0]) * (c[0] - b[0]) > 0 for a, b, c in zip(points, points[1:], points[2:], strict=False)]
        how = "walks downhill"
        if sum(turns) > len(turns) / 2:
            how = "jumps from side to side of the valley and closes in"
        elif sum(turns) > 1:
            how = "swings past the best line and back"
        return f"{how}; the loss is {losses[-1] - self.least:.4f} above the least"

    def text(self, lr: float, steps: int, momentum: float = 0.0) -> str:
        """The text twin: the verdict, then a few of the steps in numbers."""
        points = self.path(lr, steps, momentum)
        last = len(points) - 1
        shown = sorted({i for i in (0, 1, 2, 3, 10, 30, 100, last) if i <= last})
        held = f"momentum {momentum:g}, " if momentum else ""
        lines = [
            f"learning rate {lr:g}, {held}{last} steps: {self.verdict(points)}",
            f"best line: w = {self.best[0]:.4f}  b = {self.best[1]:.4f}  least loss {self.least:.4f}",
            *(f"step {i:3}  w {_number(points[i][0])}  b {_number(points[i][1])}  loss {_number(points[i][2])}"
              for i in shown),
        ]  # fmt: skip
        return "\n".join(lines)

    def svg(self, lr: float, steps: int, momentum: float = 0.0) -> str:
        """Contours, the best line's place, and the path."""
        points = self.path(lr, steps, momentum)
        across, up = self._window()

        def at(w: float, b: float) -> str:
            px = (w - across[0]) / (across[1] - across[0]) * WIDTH
            py = HEIGHT - (b - up[0]) / (up[1] - up[0]) * HEIGHT
            return f"{min(max(px, -FAR), FAR):.1f},{min(max(py, -FAR), FAR):.1f}"

        shapes = [_contour([at(*p) for p in self._ellipse(level)], self.least + level) for level in LEVELS]
        seen = [at(w, b) for w, b, _ in points if math.isfinite(w) and math.isfinite(b)]
        shapes.append(f'<polyline points="{" ".join(seen)}" fill="none" stroke="{ORANGE}"/>')
        for place in seen[1:-1]:
            shapes.append(_circle(place, 2.5, ORANGE))
        shapes += [_square(seen[0]), _cross(at(*self.best)), _circle(seen[-1], 7, "none")]
        alt = f"Contour lines of the loss over w and b with a path. {self.text(lr, steps, momentum).splitlines()[0]}"
        frame = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="{LINE}"/>'
        return on_paper(sheet(WIDTH, HEIGHT, f"{frame}{''.join(shapes)}{self._axes(across, up)}"), alt)

    def _window(self):
        """The ranges of w and b that are drawn: start and best line lie well inside."""
        reach_w, reach_b = max(abs(self.best[0]), 1.0), max(abs(self.best[1]), 1.0)
        return (
            (min(0, self.best[0]) - 0.6 * reach_w, max(0, self.best[0]) + 1.2 * reach_w),
            (min(0, self.best[1]) - 1.5 * reach_b, max(0, self.best[1]) + 1.5 * reach_b),
        )

    def _ellipse(self, level: float, corners: int = 90):
        """Where the loss is `level` above the least: xx dw^2 + 2 mean_x dw db + db^2 = level."""
        spread, radius = math.sqrt(self.xx - self.mean_x**2), math.sqrt(level)
        for i in range(corners + 1):
            turn = 2 * math.pi * i / corners
            dw = radius * math.cos(turn) / spread
            yield self.best[0] + dw, self.best[1] + radius * math.sin(turn) - self.mean_x * dw

    def _axes(self, across, up) -> str:
        return (
            f'<text x="8" y="{HEIGHT - 8}">w = {across[0]:.1f}</text>'
            f'<text x="{WIDTH - 8}" y="{HEIGHT - 8}" text-anchor="end">w = {across[1]:.1f}</text>'
            f'<text x="8" y="{HEIGHT - 26}">b = {up[0]:.1f}</text><text x="8" y="18">b = {up[1]:.1f}</text>'
        )


def _number(value: float) -> str:
    return f"{value:10.4f}" if abs(value) < 1e4 else f"{value:10.3g}"


def _contour(places: list[str], loss: float) -> str:
    """One contour line with its loss written where it crosses the picture."""
    label = ""
    for place in places:
        px, py = map(float, place.split(","))
        if 40 < px < WIDTH - 60 and 28 < py < HEIGHT - 40:
            label = f'<text x="{px + 4:.1f}" y="{py - 3:.1f}" font-size="11">{loss:.3g}</text>'
            break
    return f'<polyline points="{" ".join(places)}" fill="none" stroke="{LINE}"/>{label}'


def _circle(place: str, radius: float, fill: str) -> str:
    px, py = place.split(",")
    return f'<circle cx="{px}" cy="{py}" r="{radius}" fill="{fill}" stroke="{ORANGE}" stroke-width="1.5"/>'


def _square(place: str) -> str:
    px, py = map(float, place.split(","))
    return f'<rect x="{px - 5:.1f}" y="{py - 5:.1f}" width="10" height="10" fill="{ORANGE}"/>'


def _cross(place: str) -> str:
    px, py = map(float, place.split(","))
    return (
        f'<path d="M{px - 7:.1f} {py:.1f}h14M{px:.1f} {py - 7:.1f}v14" stroke="{LINE}" stroke-width="3" fill="none"/>'
    )


def explore_descent(x, y, lr: float = 0.01, steps: int = 20) -> Panel:
    """Choose learning rate, momentum and number of steps; see the path over the loss's contour lines, and read it."""
    model = Descent(x, y)
    rate, held = one_of("learning rate", sorted({*RATES, lr}), lr), one_of("momentum", MOMENTA)
    count = whole("steps", steps, 0, 200)
    legend = "filled square: start; plus: best line; dots: steps; ring: last step; grey lines: equal loss"
    picture, words = note(), note()

    def show(_=None) -> None:
        chosen = rate.value, count.value, held.value
        picture.value, words.value = model.svg(*chosen), f"<pre>{escape(model.text(*chosen))}</pre>"

    for entry in (rate, held, count):
        entry.observe(show, "value")
    show()
    text = model.text(lr, steps)
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose learning rate, momentum and steps)</i></p>"
    parts = [slid(rate), slid(held), slid(count), picture, note(f"<small>{legend}</small>"), words]
    return Panel(parts, text=text, static=static)
