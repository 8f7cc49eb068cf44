"""Right answers about graphs, found without a ready queue: gradients are sent on in waves.

A pass is linear: what arrives at a node may be sent on in parts, each as soon as it comes. So no order is needed, only
patience; and the formulas are not written down either, but measured: a node's factors are central differences.
"""

import functools
import math

Node = tuple[str, tuple | None, tuple]  # name, what it saved, the next nodes
Graph = list[Node]
FORWARD = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "exp": math.exp}
MOVED = 1e-3


def slope(name: str, inputs: tuple, k: int, h: float) -> float:
    """How fast the operation's result grows with input k: the central difference."""
    ends = [FORWARD[name](*(x + side * h if n == k else x for n, x in enumerate(inputs))) for side in (1, -1)]
    return (ends[0] - ends[1]) / (2 * h)


@functools.cache
def factors(node: Node) -> tuple:
    """The derivative along each edge, None where there is none: measured, and rounded to what can be measured.

    Two central differences, one over twice the way, put together so that the error falls with the fourth power.
    """
    name, saved, next_nodes = node
    if name == "exp":  # a point at which the result is what was saved
        inputs: tuple = (math.log(saved[0]),)
    elif name == "mul":  # what was not saved does not matter for the edges that are there
        inputs = tuple(1.0 if x is None else x for x in saved)
    else:
        inputs = (1.0,) * len(next_nodes)
    near, far = ([slope(name, inputs, k, h) for k in range(len(inputs))] for h in (MOVED, 2 * MOVED))
    measured = [(4 * a - b) / 3 for a, b in zip(near, far, strict=True)]
    return tuple(None if n is None else rounded(at) for at, n in zip(measured, next_nodes, strict=True))


def rounded(number: float) -> float:
    """Eleven digits: sums of gradients that nearly cancel lose some."""
    return float(f"{number:.11g}")


def reached(graph: Graph, root: int) -> set[int]:
    """The nodes that a pass from root comes to."""
    found, new = {root}, {root}
    while new:
        new = {n for node in new for n in graph[node][2] if n is not None} - found
        found |= new
    return found


def uses(graph: Graph, root: int) -> list[int]:
    """For each node, along how many edges of the pass a gradient comes to it."""
    counts = [0] * len(graph)
    for node in reached(graph, root):
        for following in graph[node][2]:
            if following is not None:
                counts[following] += 1
    return counts


def too_early(graph: Graph, root: int, order: list[int]) -> tuple[int, int] | None:
    """The first node of the order that runs before one that hands it a gradient, and that one; None if none does."""
    place = {node: k for k, node in enumerate(order)}
    early = [
        (place[node], node, giver)
        for giver in reached(graph, root)
        for node in graph[giver][2]
        if node in place and place.get(giver, len(order)) > place[node]
    ]
    return min(early)[1:] if early else None


def is_order(graph: Graph, root: int, order: list[int]) -> bool:
    """Whether every node of the pass runs once, and after all that hand it a gradient."""
    place = {node: k for k, node in enumerate(order)}
    if len(place) != len(order) or set(place) != reached(graph, root):
        return False
    edges = ((node, following) for node in order for following in graph[node][2] if following is not None)
    return all(place[node] < place[following] for node, following in edges)


def gradients(graph: Graph, root: int, g: float) -> dict[int, float]:
    """What arrives at each node, waves summed up."""
    wave, arrived = {root: g}, {}
    while wave:
        following_wave: dict[int, float] = {}
        for node, part in wave.items():
            arrived[node] = arrived.get(node, 0.0) + part
            for following, factor in zip(graph[node][2], factors(graph[node]), strict=True):
                if following is not None:
                    following_wave[following] = following_wave.get(following, 0.0) + part * factor
        wave = following_wave
    return arrived


def freed(graph: Graph, root: int) -> Graph:
    """The graph after a pass: None in place of what was saved, where something was."""
    wanted = reached(graph, root)
    return [
        (name, None if n in wanted and saved else saved, following) for n, (name, saved, following) in enumerate(graph)
    ]
