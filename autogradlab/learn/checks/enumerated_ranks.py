"""Right answers about ranks, in other ways than one would write them: exact fractions, closed forms, and what a rank
receives in place of what it sends.
"""

import math
from fractions import Fraction
from itertools import accumulate

Held = list[list[float]]
Call = tuple


def ring_round(held: Held, t: int) -> Held:
    """[rank][chunk] after round t, asked from where a chunk comes."""
    n = len(held)
    new = [list(chunks) for chunks in held]
    for rank in range(n):
        chunk = (rank - 1 - t) % n
        new[rank][chunk] = held[rank - 1][chunk] + (held[rank][chunk] if t < n - 1 else 0)
    return new


def ring_bytes(n: int, ranks: int, itemsize: int) -> list[int]:
    """Each rank sends everything twice, but for the chunks of its right-hand neighbour and of the next one."""
    if ranks == 1:
        return [0]
    size = [n * (c + 1) // ranks - n * c // ranks for c in range(ranks)]
    return [(2 * n - size[(r + 1) % ranks] - size[(r + 2) % ranks]) * itemsize for r in range(ranks)]


def fill_buckets(sizes: list[int], first: int, cap: int) -> list[list[int]]:
    """Cut the reversed list where the running sum first reaches the limit."""
    order = list(range(len(sizes)))[::-1]
    found, limit = [], first
    while order:
        sums = list(accumulate(sizes[i] for i in order))
        count = next((k + 1 for k, total in enumerate(sums) if total >= limit), len(order))
        found.append(order[:count])
        order, limit = order[count:], cap
    return found


def set_out(buckets: list[list[int]], arrivals: list[int]) -> list[int | None]:
    """The latest place of any gradient of this bucket and of those before it."""
    place = {i: k + 1 for k, i in enumerate(arrivals)}
    full = [max(place.get(i, math.inf) for i in bucket) for bucket in buckets]
    return [None if at == math.inf else at for at in accumulate(full, max)]


def loss_factors(rows: list[int]) -> list[float]:
    """n * size / total, exactly."""
    return [float(Fraction(n, sum(rows)) * len(rows)) for n in rows]


def shortened(grad: list[float], max_norm: float) -> list[float]:
    norm = math.hypot(*grad) + 1e-6
    return [g * max_norm / norm for g in grad] if norm > max_norm else list(grad)


def mean(grads: list[list[float]]) -> list[float]:
    return [float(sum(map(Fraction, column)) / len(grads)) for column in zip(*grads, strict=True)]


def clipped_step(grads: list[list[float]], max_norm: float, when: str) -> list[float]:
    """What all ranks step with."""
    if when == "after":
        return shortened(mean(grads), max_norm)
    return mean([shortened(grad, max_norm) for grad in grads])


def accumulated(calls: list[Call], ranks: int) -> tuple[list[float], int]:
    """The gradients before the last sum count by their mean, those after it stay each rank's own."""
    inside, place = False, {}
    passes: list[tuple[bool, list[float]]] = []
    for call in calls:
        if call[0] in ("enter", "exit"):
            inside = call[0] == "enter"
        elif call[0] == "forward":
            place[call[1]] = not inside
        else:
            passes.append((place[call[1]], call[2]))
    last = max((k for k, (summed, _) in enumerate(passes) if summed), default=-1)
    shared = float(sum(Fraction(g) for _, grads in passes[: last + 1] for g in grads) / ranks)
    own = [sum(grads[r] for _, grads in passes[last + 1 :]) for r in range(ranks)]
    return [shared + g for g in own], sum(summed for summed, _ in passes)
