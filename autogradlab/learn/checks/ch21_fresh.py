"""Fresh random arguments for the hidden checks of chapter 21's exercise."""

import random

from .enumerated_polynomial import Polynomials


def number(rng: random.Random, largest: int = 20) -> float:
    """A number with one decimal, not 0."""
    return rng.choice([-1, 1]) * rng.randint(2, largest) / 10


def polynomials(rng: random.Random, inputs: int, outputs: int, degree: int = 3) -> Polynomials:
    """Random terms, some of them constants."""
    return [
        [
            (number(rng), tuple(rng.choice([0, 0, 1, 1, 2, degree]) for _ in range(inputs)))
            for _ in range(rng.randint(0 if k else 1, 3))
        ]
        for k in range(outputs)
    ]


def functions(rng: random.Random) -> list[tuple]:
    """For outputs_at."""
    calls: list[tuple] = [([[], []], [1.5])]
    for _ in range(24):
        inputs = rng.randint(1, 3)
        x = [rng.choice([0.0, number(rng), number(rng)]) for _ in range(inputs)]
        calls.append((polynomials(rng, inputs, rng.randint(1, 3)), x))
    return calls


def points(rng: random.Random) -> list[tuple]:
    """For numerical_jacobian: steps so large that the curve shows."""
    calls = []
    for _ in range(24):
        inputs = rng.randint(1, 3)
        f = polynomials(rng, inputs, rng.randint(1, 3))
        f[0].append((number(rng), (3,) * inputs))
        calls.append((f, [number(rng) for _ in range(inputs)], rng.choice([0.5, 0.25, 0.1])))
    return calls


def weights(rng: random.Random) -> list[tuple]:
    """For weighted_gradient; every fourth with the wrong number of weights, and some points at 0."""
    calls = []
    for n in range(26):
        inputs, outputs = rng.randint(1, 3), rng.randint(1, 3)
        count = outputs + (rng.choice([-1, 1]) if n % 4 == 3 else 0)
        x = [rng.choice([0.0, number(rng), number(rng)]) for _ in range(inputs)]
        calls.append((polynomials(rng, inputs, outputs), x, [number(rng) for _ in range(count)]))
    return calls


def slopes(rng: random.Random) -> list[tuple]:
    """For within_tolerance: pairs on either side of what is allowed, and numbers that are none."""
    odd = [float("nan"), float("inf"), float("-inf"), 1.0, 0.0]
    calls = [(a, b, 1.0, 1.0) for a in odd[:3] for b in odd]
    for _ in range(20):
        numerical, atol, rtol = number(rng) * 10, rng.choice([0.0, 0.5, 1.0]), rng.choice([0.0, 0.1, 0.25])
        edge = atol + rtol * abs(numerical)
        off = rng.choice([0.0, 0.9, 1.1, 2.0]) * edge if edge else rng.choice([0.0, 1.0])
        calls.append((numerical + rng.choice([-1, 1]) * off, numerical, atol, rtol))
    rng.shuffle(calls)
    return calls


def jacobians(rng: random.Random) -> list[tuple]:
    """For worst_mismatch: some that agree, and entries of all sizes that do not, each by another multiple."""
    calls: list[tuple] = [([[2.0, 2.0], [2.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]], 0.25, 0.25)]
    for n in range(24):
        rows, columns = rng.randint(1, 3), rng.randint(1, 3)
        atol, rtol = rng.choice([0.125, 0.25]), rng.choice([0.0, 0.0625, 0.125])
        multiples = [0.0, 0.5, -0.5] * 3 if n % 4 == 0 else [0.5, 1.5, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, 0.0]
        rng.shuffle(multiples)
        numerical = [[number(rng) * 10 ** rng.randint(0, 3) for _ in range(columns)] for _ in range(rows)]
        analytical = [[value + (atol + rtol * abs(value)) * multiples.pop() for value in row] for row in numerical]
        calls.append((analytical, numerical, atol, rtol))
    return calls


def valleys(rng: random.Random) -> list[tuple]:
    """For best_step."""
    calls = []
    for n in range(26):
        u = rng.choice([1.1e-16, 6e-8])
        curve = 0.0 if n % 7 == 6 else abs(number(rng)) * 10 ** rng.randint(-2, 3)
        calls.append((rng.choice(["central", "forward"]), u, abs(number(rng)), curve, rng.choice([1.0, 0.25, 1e-6])))
    return calls


def places(rng: random.Random) -> list[tuple]:
    """For judge_point: every verdict, away from the edge between two."""
    calls = []
    for n in range(28):
        eps, tol, middle = rng.choice([0.5, 0.25, 0.125]), 0.125, rng.randint(-8, 8) / 4
        before = rng.randint(-6, 6) / 2
        after = before + (rng.choice([-2.0, 0.5, 1.0]) if n % 4 == 1 else rng.choice([0.0, 0.0625]))
        slope = (before + after) / 2 + (rng.choice([-1.0, 0.25, 2.0]) if n % 4 == 2 else rng.choice([0.0, 0.0625]))
        three = [middle - before * eps, middle, middle + after * eps, slope]
        if n % 4 == 3:
            three[rng.randrange(4)] = rng.choice([float("nan"), float("inf"), float("-inf")])
        calls.append((*three[:3], eps, three[3], tol))
    return calls


def ladders(rng: random.Random) -> list[tuple]:
    """For first_wrong_order: true derivatives, and one that is wrong from some order on."""
    calls = []
    for n in range(26):
        terms = [(number(rng), (p,)) for p in range(rng.randint(3, 5))]
        orders = [[terms]]
        for _ in range(3):
            terms = [(c * p[0], (p[0] - 1,)) for c, p in terms if p[0]]
            orders.append([terms])
        wrong = rng.randint(1, 3) if n % 3 else None
        if wrong:
            kept = orders[wrong][0]
            orders[wrong] = [rng.choice([[*kept, (1.0, (rng.randint(0, 2),))], [(-c, p) for c, p in kept]])]
        where = rng.sample([-1.5, -1.0, -0.5, 0.5, 1.0, 2.0], rng.randint(2, 3))
        calls.append((orders, where, 0.001, 0.01, 0.001))
    return calls
