"""A second right way to solve exercise 25, written differently wherever there is a choice."""

import math


def group_gradients(pieces, size):
    found, rows, total, held = [], 0, 0.0, 0
    for place, (count, gradient) in enumerate(pieces, 1):
        rows, total, held = rows + count, total + count * gradient, held + 1
        if held == size or place == len(pieces):
            found.append(total / rows)
            rows, total, held = 0, 0.0, 0
    return found


def in_float16(gradient, scale):
    size = abs(gradient) * scale
    for bound, name in ((65520, "inf"), (2**-14, "normal")):
        if size >= bound:
            return name
    return "subnormal" if size > 2**-25 else "zero"


def adapt(scale, good, overflow, interval):
    good = 0 if overflow else good + 1
    if overflow:
        scale /= 2
    elif good == interval:
        scale, good = scale + scale, 0
    return scale, good


def scale_walk(overflows, scale, interval, rates):
    good, left, steps = 0, iter(rates), []
    for overflow in overflows:
        steps.append((scale, None if overflow else next(left)))
        scale, good = adapt(scale, good, overflow, interval)
    return steps


def unscale_and_clip(grads, scale, max_norm):
    total = 0.0
    for grad in grads:
        for g in grad:
            total += (g / scale) ** 2
    if not total < math.inf:
        return None
    norm = total**0.5
    if norm > max_norm:
        scale *= norm / max_norm
    return norm, [[g / scale for g in grad] for grad in grads]


def first_refused(calls):
    unscaled, stepped = set(), set()
    for place, call in enumerate(calls):
        if call[0] == "update":
            if not unscaled | stepped:
                return place, "nothing to update"
            unscaled, stepped = set(), set()
        elif call[0] == "step":
            if call[1] in stepped:
                return place, "stepped twice"
            stepped.add(call[1])
        elif call[1] in stepped:
            return place, "unscaled after step"
        elif call[1] in unscaled:
            return place, "unscaled twice"
        else:
            unscaled.add(call[1])


def training_step(w, pieces, state, lr, max_norm, interval):
    scale, good = state
    total = sum(rows for rows, _ in pieces)
    grad = [0.0] * len(w)
    for rows, part in pieces:
        grad = [g + rows / total * p for g, p in zip(grad, part, strict=True)]
    found = unscale_and_clip([grad], scale, max_norm)
    if found is not None:
        w = [v - lr * g for v, g in zip(w, found[1][0], strict=True)]
    return w, adapt(scale, good, found is None, interval), found is not None


SECOND_WAY = (
    group_gradients,
    in_float16,
    adapt,
    scale_walk,
    unscale_and_clip,
    first_refused,
    training_step,
)
