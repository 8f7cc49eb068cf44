"""A second right way to solve exercise 08, written differently wherever there is a choice."""

import math

import numpy as np


def loss_and_gradients(w, b, x, y):
    if np.shape(x) != np.shape(y):
        raise ValueError(f"{x.shape} against {y.shape}")
    points = list(zip(x.ravel().tolist(), y.ravel().tolist(), strict=True))
    errors = [w * p + b - q for p, q in points]
    n = len(points)
    along_w = 2 / n * sum(error * p for error, (p, _) in zip(errors, points, strict=True))
    return sum(e * e for e in errors) / n, along_w, 2 / n * sum(errors)


def step_and_clear(w, grad, lr):
    np.subtract(w, lr * grad, out=w)
    grad.fill(0)


def train(x, y, lr, epochs):
    line, losses = np.zeros(2), []
    while len(losses) < epochs:
        loss, *slopes = loss_and_gradients(*line, x, y)
        losses.append(float(loss))
        line = line - lr * np.array(slopes)
    return float(line[0]), float(line[1]), losses


def one_epoch(w, b, x, y, lr, size):
    cuts = range(size, len(x), size)
    pairs = list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))
    for some_x, some_y in pairs:
        _, along_w, along_b = loss_and_gradients(w, b, some_x, some_y)
        w, b = w - lr * along_w, b - lr * along_b
    return w, b, len(pairs)


def momentum_step(w, grad, velocity, lr, momentum):
    velocity[:] = momentum * velocity + grad
    w[:] = w - lr * velocity


def judge_rate(x, lr):
    left = 1 - 2 * lr * float(x @ x) / x.size
    names = {(False, False): "arrives", (False, True): "swings"}
    return left, names.get((abs(left) > 1, left < 0), "diverges")


def review_loop(steps):
    recorded = {what: flag for what, flag in steps}
    order = [what for what, _ in steps] * 2
    after = order[order.index("backward") :]
    first = next(what for what in after if what in ("step", "clear"))
    found = []
    if not recorded["forward"]:
        found += ["does not record the loss"]
    if "clear" not in recorded:
        found += ["never clears"]
    if first == "clear":
        found += ["clears before the step"]
    if recorded["step"]:
        found += ["records the step"]
    if recorded.get("validate"):
        found += ["records validation"]
    return tuple(found)


def find_fault(x, y, lr, seen):
    n = len(x)
    column = y.reshape(n, 1)
    gradients = {
        "none": lambda w: 2 * ((w * x - y) * x).mean(),
        "uphill": lambda w: -2 * ((w * x - y) * x).mean(),
        "never cleared": lambda w: 2 * ((w * x - y) * x).mean(),
        "sum": lambda w: 2 * ((w * x - y) * x).sum(),
        "column": lambda w: 2 * ((w * x - column) * x).mean(),
    }
    for fault, gradient in gradients.items():
        w, total = 0.0, 0.0
        for there in seen:
            total = gradient(w) + (total if fault == "never cleared" else 0.0)
            w -= lr * total
            if not math.isclose(w, there, rel_tol=1e-6, abs_tol=1e-6):
                break
        else:
            return fault


SECOND_WAY = (
    loss_and_gradients,
    step_and_clear,
    train,
    one_epoch,
    momentum_step,
    judge_rate,
    review_loop,
    find_fault,
)
