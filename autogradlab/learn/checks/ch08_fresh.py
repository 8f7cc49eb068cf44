"""Fresh random arguments for the hidden checks of chapter 08's exercise."""

import dataclasses
import random

from . import enumerated_descent as descent
from .arrays import Array


def floats(*values: float, shape: tuple[int, ...] | None = None) -> Array:
    """A float64 array of these numbers; a vector unless a shape is given."""
    return Array("float64", (len(values),) if shape is None else shape, tuple(map(float, values)))


def written(array: Array) -> Array:
    """The same, to be written into."""
    return dataclasses.replace(array, written=True)


def number(rng: random.Random, largest: int = 20) -> float:
    """A number with one decimal, not 0."""
    return rng.choice([-1, 1]) * rng.randint(1, largest) / 10


def some(rng: random.Random, n: int) -> Array:
    """So many numbers."""
    return floats(*(number(rng) for _ in range(n)))


def lines(rng: random.Random) -> list[tuple]:
    """For loss_and_gradients: every fourth pair of shapes would broadcast."""
    calls = []
    for k in range(24):
        n = rng.randint(2, 6)
        shape = (n, 1) if k % 3 == 2 else (n,)
        other = rng.choice([s for s in ((n,), (n, 1), (1,), (1, n)) if s != shape]) if k % 4 == 3 else shape
        x, y = some(rng, n), some(rng, n if other != (1,) else 1)
        calls.append((number(rng), number(rng), floats(*x.values, shape=shape), floats(*y.values, shape=other)))
    return calls


def steps(rng: random.Random) -> list[tuple]:
    """For step_and_clear."""
    calls = []
    for _ in range(22):
        n = rng.randint(1, 5)
        calls.append((written(some(rng, n)), written(some(rng, n)), rng.choice([0.1, 0.5, 0.01])))
    return calls


def trainings(rng: random.Random) -> list[tuple]:
    """For train."""
    calls = []
    for _ in range(20):
        n = rng.randint(2, 6)
        calls.append((some(rng, n), some(rng, n), rng.choice([0.1, 0.05, 0.02]), rng.randint(2, 8)))
    return calls


def epochs(rng: random.Random) -> list[tuple]:
    """For one_epoch: sizes that leave an incomplete last batch, and sizes that do not."""
    calls = []
    for _ in range(24):
        n = rng.randint(2, 9)
        line = (number(rng), number(rng))
        calls.append((*line, some(rng, n), some(rng, n), rng.choice([0.1, 0.05]), rng.randint(1, n + 1)))
    return calls


def momenta(rng: random.Random) -> list[tuple]:
    """For momentum_step."""
    calls = []
    for _ in range(22):
        n = rng.randint(1, 4)
        w, grad, velocity = (some(rng, n) for _ in range(3))
        calls.append((written(w), grad, written(velocity), rng.choice([0.1, 0.5]), rng.choice([0.9, 0.5, 0.8])))
    return calls


def rates(rng: random.Random) -> list[tuple]:
    """For judge_rate: factors in and outside of -1 to 1, never close to an edge."""
    calls = []
    while len(calls) < 24:
        x, lr = some(rng, rng.randint(1, 5)), round(rng.choice([0.01, 0.1, 0.4, 1.0]) * rng.uniform(0.5, 2), 3)
        factor = descent.factor(x.values, lr)
        if min(abs(factor - edge) for edge in (-1, 0, 1)) > 0.01 and abs(factor) < 50:
            calls.append((x, lr))
    return calls


def reviews(rng: random.Random) -> list[tuple]:
    """For review_loop: rounds in any order, with and without their faults."""
    calls = []
    for _ in range(40):
        names = [descent.FORWARD, descent.BACKWARD, descent.STEP]
        start = rng.randrange(3)
        names = names[start:] + names[:start]  # a round may begin anywhere
        for name, chance in ((descent.CLEAR, 0.8), (descent.VALIDATE, 0.6)):
            if rng.random() < chance:
                names.insert(rng.randint(0, len(names)), name)
        usual = (descent.FORWARD, descent.BACKWARD)
        calls.append(([(name, (name in usual) != (rng.random() < 0.2)) for name in names],))
    return calls


def traces(rng: random.Random) -> list[tuple]:
    """For find_fault: paths that only one of the loops takes."""
    calls: list[tuple] = []
    while len(calls) < 25:
        fault = descent.FAULTS[len(calls) % len(descent.FAULTS)]
        n, steps = rng.randint(3, 6), rng.randint(3, 6)
        x, y = some(rng, n), some(rng, n)
        lr = rng.choice([0.01, 0.02, 0.05])
        paths = {name: descent.path(x.values, y.values, lr, steps, name) for name in descent.FAULTS}
        apart = [
            max(abs(p - q) for p, q in zip(paths[a], paths[b], strict=True)) for a in paths for b in paths if a != b
        ]
        if min(apart) > 0.001 and all(abs(w) < 100 for path in paths.values() for w in path):
            calls.append((x, y, lr, paths[fault]))
    return calls
