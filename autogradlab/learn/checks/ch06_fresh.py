"""Fresh random arguments for the hidden checks of chapter 06's exercise."""

import random

from .enumerated_graph import FORWARD, Graph, Node, freed

LONG = 10_000  # nodes of the chain in the visible checks
SHORTER = 2_000  # of that in the hidden ones: no recursion survives it either


def number(rng: random.Random) -> float:
    """A number with one decimal, not 0, so that no two formulas agree by accident."""
    return rng.choice([-1, 1]) * rng.randint(2, 29) / 10


def node(name: str, inputs: tuple, next_nodes: tuple) -> Node:
    """The node of an operation, with what its gradients need."""
    if name == "mul":
        a, b = inputs
        return name, (None if next_nodes[1] is None else a, None if next_nodes[0] is None else b), next_nodes
    return name, (FORWARD[name](*inputs),) if name == "exp" else (), next_nodes


def operation(rng: random.Random, wants: float = 0.7) -> tuple[str, tuple, tuple]:
    """A name, its inputs, and the nodes behind them."""
    name = rng.choice(["add", "mul", "mul", "exp"])
    count = 1 if name == "exp" else 2
    return (
        name,
        tuple(number(rng) for _ in range(count)),
        tuple(rng.randrange(9) if rng.random() < wants else None for _ in range(count)),
    )


def records(rng: random.Random) -> list[tuple]:
    """For record: now and then nobody asks for a gradient."""
    calls = [operation(rng) for _ in range(24)]
    return [*calls, ("mul", (number(rng), number(rng)), (None, None)), ("exp", (number(rng),), (None,))]


def single_nodes(rng: random.Random) -> list[Node]:
    """Nodes with at least one edge."""
    found: list[Node] = []
    while len(found) < 24:
        name, inputs, next_nodes = operation(rng)
        if any(n is not None for n in next_nodes):
            found.append(node(name, inputs, next_nodes))
    return found


def arrivals_at_nodes(rng: random.Random) -> list[tuple]:
    """For node_gradients."""
    return [(one, number(rng)) for one in single_nodes(rng)]


def runs(rng: random.Random) -> list[tuple]:
    """For run_node: every third node ran before."""
    calls = []
    for k, one in enumerate(single_nodes(rng)):
        one = (one[0], None, one[2]) if k % 3 == 0 and one[1] else one
        calls.append((one, number(rng), rng.random() < 0.4))
    used = ("mul", None, (rng.randrange(9), None))
    one_asks = ("add", (), (None, rng.randrange(9)))
    return [*calls, (one_asks, number(rng), False), (used, number(rng), True), (used, number(rng), False)]


def moves(rng: random.Random) -> list[tuple]:
    """For central_difference."""
    calls = []
    for _ in range(24):
        name, inputs, _ = operation(rng)
        calls.append((name, inputs, rng.randrange(len(inputs)), rng.choice([0.1, 0.01, 0.05])))
    return [*calls, *(("exp", (number(rng),), 0, 0.1) for _ in range(4))]


def graph(rng: random.Random, operations: int) -> tuple[Graph, int]:
    """A program of so many operations, recorded, its nodes numbered in no order; and the node of its last result."""
    leaves = rng.randint(1, 3)
    values, nodes = [number(rng) for _ in range(leaves)], [("leaf", (), ())] * leaves
    for _ in range(operations):
        name = rng.choice(["add", "add", "mul", "mul", "exp"])
        chosen = [rng.randrange(max(0, len(values) - 4), len(values)) for _ in range(1 if name == "exp" else 2)]
        inputs, next_nodes = tuple(values[n] for n in chosen), tuple(chosen)
        if name == "exp" and abs(inputs[0]) > 3 or name == "mul" and abs(inputs[0] * inputs[1]) > 20:
            name, inputs, next_nodes = "add", (inputs[0], number(rng)), (next_nodes[0], None)
        elif len(inputs) == 2 and rng.random() < 0.2:
            inputs, next_nodes = (inputs[0], number(rng)), (next_nodes[0], None)
        nodes.append(node(name, inputs, next_nodes))
        values.append(round(FORWARD[name](*inputs), 2))
    return shuffled(rng, nodes)


def shuffled(rng: random.Random, nodes: Graph) -> tuple[Graph, int]:
    """The same graph under new numbers; and the new number of its last node."""
    new = rng.sample(range(len(nodes)), len(nodes))
    renamed = {
        new[n]: (name, saved, tuple(None if k is None else new[k] for k in following))
        for n, (name, saved, following) in enumerate(nodes)
    }
    return [renamed[n] for n in range(len(nodes))], new[-1]


def ladder(rng: random.Random, steps: int) -> tuple[Graph, int]:
    """v = v + v, again and again: few nodes, very many paths."""
    return shuffled(rng, [("leaf", (), ()), *(("add", (), (n, n)) for n in range(steps))])


def chain(length: int, mul: bool = False) -> tuple[Graph, int]:
    """So many nodes in a row, the leaf last."""
    name, saved = ("mul", (None, -1.0)) if mul else ("add", ())
    return [*((name, saved, (n + 1, None)) for n in range(length - 1)), ("leaf", (), ())], 0


def graphs(rng: random.Random) -> list[tuple]:
    """For uses and backward_order."""
    calls = [graph(rng, rng.randint(1, 9)) for _ in range(22)]
    return [*calls, ladder(rng, 12), (calls[0][0], rng.randrange(len(calls[0][0]))), chain(SHORTER)]


def deliveries(rng: random.Random) -> list[tuple]:
    """For accumulate."""
    calls = []
    for _ in range(24):
        leaves = rng.randint(1, 4)
        grads = [None if rng.random() < 0.5 else number(rng) for _ in range(leaves)]
        calls.append((grads, [(rng.randrange(leaves), number(rng)) for _ in range(rng.randint(0, 5))]))
    return calls


def passes(rng: random.Random) -> list[tuple]:
    """For backward: fresh graphs, leaves that hold a gradient already, graphs that went backward once."""
    calls = []
    for k in range(24):
        nodes, root = graph(rng, rng.randint(1, 9))
        grads = [number(rng) if name == "leaf" and rng.random() < 0.4 else None for name, _, _ in nodes]
        if k % 6 == 5:
            nodes = freed(nodes, root)
        calls.append((nodes, root, number(rng), grads, rng.random() < 0.4))
    nodes, root = ladder(rng, 12)
    calls.append((nodes, root, 1.0, [None] * len(nodes), False))
    nodes, root = chain(SHORTER, mul=True)
    return [*calls, (nodes, root, number(rng), [None] * len(nodes), True)]
