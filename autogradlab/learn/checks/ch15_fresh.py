"""Fresh random arguments for the hidden checks of chapter 15's exercise."""

import random

from . import enumerated_pass as enumerated
from .enumerated_pass import Graph


def number(rng: random.Random) -> float:
    """A number with one decimal, not 0."""
    return rng.choice([-1, 1]) * rng.randint(2, 29) / 10


def graph(rng: random.Random, operations: int, threads: int = 1) -> tuple[Graph, list, int]:
    """(graph, sequence numbers, node of the last result) of a random program, its nodes in no order.

    threads: each counts for itself, so that several nodes may have one number, and a later one a smaller.
    """
    leaves = rng.randint(1, 3)
    made: Graph = [()] * leaves
    sequence: list = [None] * leaves
    counters = [0] * threads
    for _ in range(operations):
        among = range(max(0, len(made) - 4), len(made))
        made.append(tuple(rng.choice(among) for _ in range(rng.choice([1, 2, 2, 3]))))
        thread = rng.randrange(threads)
        sequence.append(counters[thread])
        counters[thread] += 1
    new = rng.sample(range(len(made)), len(made))
    old = sorted(range(len(made)), key=lambda n: new[n])
    return [tuple(new[k] for k in made[n]) for n in old], [sequence[n] for n in old], new[-1]


def ladder(steps: int) -> Graph:
    """A leaf, and v + v again and again."""
    return [(), *((n, n) for n in range(steps))]


def walks(rng: random.Random) -> list[tuple]:
    """For runs_depth_first."""
    made = [graph(rng, rng.randint(1, 9)) for _ in range(20)]
    steps = rng.randint(30, 60)
    return [*((nodes, root) for nodes, _, root in made), (ladder(steps), steps), ([()], 0)]


def orders(rng: random.Random) -> list[tuple]:
    """For engine_order."""
    calls = [graph(rng, rng.randint(2, 10), threads=1 + n % 2) for n in range(24)]
    nodes, sequence, _ = calls[0]
    return [*calls, (nodes, sequence, rng.randrange(len(nodes)))]


def wishes(rng: random.Random) -> list[tuple]:
    """For needed_nodes."""
    calls = []
    for _ in range(26):
        nodes, _, root = graph(rng, rng.randint(2, 9))
        leaves = [n for n, following in enumerate(nodes) if not following]
        root = rng.randrange(len(nodes)) if rng.random() < 0.3 else root
        calls.append((nodes, root, rng.sample(leaves, rng.randint(1, len(leaves)))))
    return calls


def memories(rng: random.Random) -> list[tuple]:
    """For held_numbers: any right order, not only the engine's."""
    calls = []
    for _ in range(24):
        nodes, _, root = graph(rng, rng.randint(1, 8))
        saved = [rng.choice([0, 0, 10, 20, 50]) if following else 0 for following in nodes]
        sizes = [rng.choice([1, 5, 10, 30]) for _ in nodes]
        priorities = [rng.random() for _ in nodes]
        calls.append((nodes, saved, sizes, root, enumerated.order(nodes, priorities, root)))
    return calls


def hooked(rng: random.Random) -> list[tuple]:
    """For step_with_hooks."""
    calls = []
    for _ in range(26):
        hooks: list = []
        for kind in rng.choices(["tensor", "tensor", "pre", "post"], k=rng.randint(0, 5)):
            what = rng.choice([("mul", number(rng)), ("add", number(rng)), None])
            hooks.append((kind, what))
        if rng.random() < 0.5:
            hooks.insert(rng.randint(0, len(hooks)), ("retain", None))
        calls.append((number(rng), number(rng), hooks))
    return calls


def roots(rng: random.Random) -> list[tuple]:
    """For several_roots: roots behind one another, leaves, and one node twice."""
    calls = []
    for _ in range(24):
        nodes, _, root = graph(rng, rng.randint(2, 8))
        factors = [tuple(number(rng) for _ in following) for following in nodes]
        starts = [root, *(rng.randrange(len(nodes)) for _ in range(rng.randint(0, 3)))]
        rng.shuffle(starts)
        calls.append((nodes, factors, [(start, number(rng)) for start in starts]))
    return calls


def histories(rng: random.Random) -> list[tuple]:
    """For run_passes."""
    calls = []
    for _ in range(24):
        nodes, sequence, root = graph(rng, rng.randint(2, 8))
        saves = [bool(following) and rng.random() < 0.5 for following in nodes]
        leaves = [n for n, following in enumerate(nodes) if not following]
        passes = []
        for _ in range(rng.randint(2, 4)):
            wanted = rng.sample(leaves, rng.randint(1, len(leaves))) if rng.random() < 0.5 else None
            passes.append((rng.choice([root, root, rng.randrange(len(nodes))]), wanted, rng.random() < 0.3))
        calls.append((nodes, sequence, saves, passes))
    return calls
