"""Fresh random arguments for the hidden checks of chapter 27's exercise."""

import random


def number(rng: random.Random) -> float:
    """A number with one decimal, not 0."""
    return rng.choice([-1, 1]) * rng.randint(1, 60) / 10


def rounds(rng: random.Random) -> list[tuple]:
    """For ring_round: adding and passing on, 2 to 5 ranks."""
    calls = []
    for k in range(26):
        n = 2 + k % 4
        held = [[number(rng) for _ in range(n)] for _ in range(n)]
        calls.append((held, rng.randrange(2 * (n - 1))))
    return [*calls, ([[1.0] * 3, [2.0] * 3, [4.0] * 3], 2), ([[1.0] * 3, [2.0] * 3, [4.0] * 3], 1)]


def vectors(rng: random.Random) -> list[tuple]:
    """For ring_bytes: lengths that ranks do not divide, one rank, fewer numbers than ranks."""
    calls = [(rng.randint(1, 60), rng.randint(2, 7), rng.choice([2, 4, 8])) for _ in range(24)]
    return [*calls, (rng.randint(1, 9), 1, 4), (2, 5, 4), (0, 3, 4)]


def models(rng: random.Random) -> list[tuple]:
    """For fill_buckets: limits reached exactly, large parameters, none at all."""
    calls = []
    for k in range(26):
        sizes = [rng.choice([4, 8, 16, 32, 64]) for _ in range(rng.randint(1, 9))]
        first = sum(sizes[-2:]) if k % 4 == 0 else rng.choice([1, 10, 24, 40])
        calls.append((sizes, first, rng.choice([16, 48, 64, 100])))
    return [*calls, ([], 8, 16)]


def backwards(rng: random.Random) -> list[tuple]:
    """For set_out: gradients in any order, every third time with one that never comes."""
    calls = []
    for k in range(27):
        n = rng.randint(2, 8)
        order = list(range(n))[::-1]
        cuts = sorted(rng.sample(range(1, n), rng.randint(0, min(3, n - 1))))
        buckets = [order[a:b] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
        arrivals = rng.sample(order, n)
        calls.append((buckets, arrivals[:-1] if k % 3 == 2 else arrivals))
    return [*calls, ([[2], [1], [0]], [2, 0]), ([[1], [0]], [0, 1])]


def shards(rng: random.Random) -> list[tuple]:
    """For loss_factors: uneven rows, now and then a rank without any."""
    calls = [([rng.randint(1, 40) for _ in range(rng.randint(1, 6))],) for _ in range(22)]
    return [*calls, ([rng.randint(1, 9), 0, rng.randint(1, 9)],)]


def gradients(rng: random.Random) -> list[tuple]:
    """For clipped_step: long and short gradients of 2 to 4 ranks."""
    calls = []
    for k in range(28):
        size = rng.randint(1, 3)
        grads = [[number(rng) for _ in range(size)] for _ in range(rng.randint(2, 4))]
        calls.append((grads, rng.choice([0.5, 1.0, 2.0, 20.0]), ("before", "after")[k % 2]))
    return calls


def programs(rng: random.Random) -> list[tuple]:
    """For accumulated: forward and backward each inside or outside, sometimes several forwards first."""
    calls = []
    for k in range(30):
        ranks, lines, inside, waiting = rng.randint(2, 3), [], False, []
        for nr in range(rng.randint(1, 5)):
            waiting.append(f"loss {nr}")
            steps = [("forward", waiting[-1])]
            if k % 3 or nr % 2:
                steps += [("backward", name, [number(rng) for _ in range(ranks)]) for name in waiting]
                waiting = []
            for step in steps:
                if rng.random() < 0.5:
                    lines.append(("exit",) if inside else ("enter",))
                    inside = not inside
                lines.append(step)
        calls.append((lines, ranks))
    return [*calls, ([], 2)]
