"""Right answers about gradient descent on a line, in plain Python: gradients are measured, never derived.

The loss is a parabola along w and along b, and for a parabola the central difference is exact at any distance.
"""

from collections.abc import Callable

Floats = tuple[float, ...]
FAULTS = ("none", "uphill", "never cleared", "sum", "column")
FORWARD, BACKWARD, STEP, CLEAR, VALIDATE = "forward", "backward", "step", "clear", "validate"


def loss(w: float, b: float, x: Floats, y: Floats) -> float:
    """The mean of the squared distances of the line w * x + b."""
    return sum((w * p + b - q) ** 2 for p, q in zip(x, y, strict=True)) / len(x)


def slope(f: Callable[[float], float], at: float) -> float:
    """The slope of a parabola."""
    return f(at + 0.5) - f(at - 0.5)


def loss_and_gradients(w: float, b: float, x: Floats, y: Floats) -> tuple[float, float, float]:
    """The loss, and how fast it grows along w and along b."""
    return loss(w, b, x, y), slope(lambda v: loss(v, b, x, y), w), slope(lambda v: loss(w, v, x, y), b)


def step(w: float, b: float, x: Floats, y: Floats, lr: float) -> tuple[float, float]:
    """One step downhill along both."""
    _, along_w, along_b = loss_and_gradients(w, b, x, y)
    return w - lr * along_w, b - lr * along_b


def train(x: Floats, y: Floats, lr: float, epochs: int) -> tuple[float, float, list[float]]:
    """Where a line that begins flat arrives, and the loss before each step."""
    w, b, losses = 0.0, 0.0, []
    for _ in range(epochs):
        losses.append(loss(w, b, x, y))
        w, b = step(w, b, x, y, lr)
    return w, b, losses


def parts(n: int, size: int) -> list[slice]:
    """The batches: every row in one of them, in order."""
    firsts = [row for row in range(n) if row % size == 0]
    return [slice(first, min(first + size, n)) for first in firsts]


def one_epoch(w: float, b: float, x: Floats, y: Floats, lr: float, size: int) -> tuple[float, float, int]:
    """A step for each batch."""
    for rows in parts(len(x), size):
        w, b = step(w, b, x[rows], y[rows], lr)
    return w, b, len(parts(len(x), size))


def factor(x: Floats, lr: float) -> float:
    """By what a step multiplies the distance from the best w, for the line w * x: measured, at a distance of 1."""
    return 1.0 - lr * slope(lambda w: loss(w, 0.0, x, (0.0,) * len(x)), 1.0)


def path(x: Floats, y: Floats, lr: float, steps: int, fault: str) -> list[float]:
    """The values of w after each step of a loop for the line w * x that begins at 0 and has this fault."""
    w, held, seen = 0.0, 0.0, []

    def measured(v: float) -> float:
        if fault == "column":  # every prediction against every target
            return sum(loss(v, 0.0, x, (q,) * len(x)) for q in y) / len(y)
        return loss(v, 0.0, x, y) * (len(x) if fault == "sum" else 1)

    for _ in range(steps):
        held = slope(measured, w) + (held if fault == "never cleared" else 0.0)
        w = w + lr * held if fault == "uphill" else w - lr * held
        seen.append(w)
    return seen


def review(steps: list[tuple[str, bool]]) -> tuple[str, ...]:
    """What is wrong with a round of a loop, found by walking on from its backward pass, round and round."""
    names = [what for what, _ in steps]
    recorded = dict(steps)
    behind = names[names.index(BACKWARD) :] + names[: names.index(BACKWARD)]
    found = {
        "does not record the loss": not recorded[FORWARD],
        "never clears": CLEAR not in names,
        "clears before the step": CLEAR in names and behind.index(CLEAR) < behind.index(STEP),
        "records the step": recorded[STEP],
        "records validation": recorded.get(VALIDATE, False),
    }
    return tuple(fault for fault, there in found.items() if there)
