"""Fresh random arguments for the hidden checks of chapter 25's exercise."""

import math
import random

INF, NAN = math.inf, math.nan


def number(rng: random.Random) -> float:
    """A number with one decimal, not 0."""
    return rng.choice([-1, 1]) * rng.randint(1, 40) / 10


def scale(rng: random.Random, low: int = 3, high: int = 12) -> float:
    """A power of two."""
    return 2.0 ** rng.randint(low, high)


def pieces_of_a_batch(rng: random.Random) -> list[tuple]:
    """For group_gradients: unequal pieces, most often with a last group that is not full."""
    calls = []
    for _ in range(26):
        pieces = [(rng.randint(1, 9), number(rng)) for _ in range(rng.randint(3, 9))]
        calls.append((pieces, rng.randint(2, 4)))
    return [*calls, ([], 3)]


def halves(rng: random.Random) -> list[tuple]:
    """For in_float16: of every kind, with both signs, never within a rounding of an edge but for the edges themselves.

    The edges: 2^-25 becomes 0, and 65,520 inf.
    """
    calls = [(0.0, 1024.0), (2.0**-35, 1024.0), (-(2.0**-24), 1024.0), (-65520.0 / 8, 8.0), (65519.0 / 8, 8.0)]
    ranges = ((-40, -26), (-24.9, -24.1), (-24, -14.1), (-14, 15.9), (16.1, 30))
    for k in range(25):
        times = scale(rng, 0, 16)
        size = 2.0 ** rng.uniform(*ranges[k % 5])
        calls.append((rng.choice([-1, 1]) * size / times, times))
    return calls


def adaptions(rng: random.Random) -> list[tuple]:
    """For adapt: overflows, counts that are full with this step, and others."""
    calls = []
    for k in range(24):
        interval = rng.randint(1, 6)
        good = interval - 1 if k % 3 == 0 else rng.randrange(interval)
        calls.append((scale(rng), good, k % 4 == 3, interval))
    return calls


def walks(rng: random.Random) -> list[tuple]:
    """For scale_walk."""
    calls = []
    for _ in range(22):
        overflows = [rng.random() < 0.3 for _ in range(rng.randint(4, 14))]
        rates = [round(0.1 / (k + 1), 4) for k in range(len(overflows))]
        calls.append((overflows, scale(rng), rng.randint(1, 4), rates))
    return calls


def gradients(rng: random.Random) -> list[tuple]:
    """For unscale_and_clip: long and short ones, now and then an inf, -inf or nan."""
    calls = []
    for k in range(26):
        times = scale(rng)
        grads = [[number(rng) * times / 4 for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(2, 3))]
        if k % 5 == 4:
            grads[rng.randrange(len(grads))][0] = rng.choice([INF, -INF, NAN])
        calls.append((grads, times, rng.choice([0.5, 1.0, 5.0])))
    return calls


def scaler_calls(rng: random.Random) -> list[tuple]:
    """For first_refused: steps of two optimizers, right ones and such with a call too many or one left out."""
    calls = []
    for k in range(40):
        lines: list[tuple] = []
        for _ in range(rng.randint(1, 3)):
            for who in rng.sample(["a", "b"], rng.randint(1, 2)):
                lines += [("unscale", who)] * rng.randint(0, 1) + [("step", who)]
            lines.append(("update",))
        if k % 4:
            place = rng.randrange(len(lines))
            what = rng.choice(["unscale", "step", "update"])
            lines.insert(place, (what,) if what == "update" else (what, rng.choice("ab")))
        if k % 5 == 4:
            del lines[rng.randrange(len(lines))]
        calls.append((lines,))
    return calls


def steps(rng: random.Random) -> list[tuple]:
    """For training_step: groups of unequal pieces, every fourth with an inf or nan."""
    calls = []
    for k in range(24):
        n, times, interval = rng.randint(1, 3), scale(rng), rng.randint(1, 4)
        pieces = [(rng.randint(1, 8), [number(rng) * times for _ in range(n)]) for _ in range(rng.randint(1, 4))]
        if k % 4 == 3:
            pieces[rng.randrange(len(pieces))][1][0] = rng.choice([INF, -INF, NAN])
        state = times, interval - 1 if k % 3 == 0 else rng.randrange(interval)
        calls.append(([number(rng) for _ in range(n)], pieces, state, 0.1, rng.choice([1.0, 2.0, 8.0]), interval))
    return calls
