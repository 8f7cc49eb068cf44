"""Right answers about backward passes, found by looking at everything again at every step: no counts, no queue.

A graph is a list: for each node the numbers of the nodes that its gradients go to; a leaf has none.
"""

from fractions import Fraction

Graph = list[tuple[int, ...]]


def reached(graph: Graph, roots: list[int]) -> set[int]:
    """The nodes that a pass from these roots comes to."""
    found: set[int] = set()
    new = set(roots)
    while new:
        found |= new
        new = {following for node in new for following in graph[node]} - found
    return found


def needed(graph: Graph, root: int, wanted: list[int] | None) -> set[int]:
    """Those from which a wanted leaf can be reached; all of them if None."""
    return {n for n in reached(graph, [root]) if wanted is None or reached(graph, [n]) & set(wanted)}


def best(ready: set[int], sequence: list) -> int:
    """Whose turn it is: a leaf, else the node made last; of equals the smallest number."""
    leaves = [n for n in ready if sequence[n] is None]
    latest = max((sequence[n] for n in ready if sequence[n] is not None), default=None)
    return min(leaves or [n for n in ready if sequence[n] == latest])


def order(graph: Graph, sequence: list, root: int, wanted: list[int] | None = None) -> list[int]:
    """The order of the pass: at every step all nodes are asked whether somebody who hands them a gradient is left."""
    left, ran = needed(graph, root, wanted), []
    while left:
        waiting = {following for node in left for following in graph[node]}
        ran.append(best(left - waiting, sequence))
        left.remove(ran[-1])
    return ran


def runs(graph: Graph, root: int) -> int:
    """How often a depth-first walk runs a node: the ways from the root, wave by wave."""
    total, wave = 0, {root: 1}
    while wave:
        total += sum(wave.values())
        following_wave: dict[int, int] = {}
        for node, ways in wave.items():
            for following in graph[node]:
                following_wave[following] = following_wave.get(following, 0) + ways
        wave = following_wave
    return total


def held(graph: Graph, saved: list[int], sizes: list[int], root: int, ran: list[int]) -> list[int]:
    """The numbers held before the pass and after each of its steps, each time summed up anew."""
    history = []
    for step in range(len(ran) + 1):
        done, left = ran[:step], ran[step:]
        got = {root} | {following for node in done for following in graph[node]}
        gradients = {n for n in got if n in left or not graph[n]}
        history.append(sum(saved[n] for n in left) + sum(sizes[n] for n in gradients))
    return history


def gradients(graph: Graph, factors: list[tuple], roots: list[tuple[int, float]]) -> list[float | None]:
    """What arrives at the leaves, each root's gradient sent on alone, wave by wave, and exactly."""
    sums: dict[int, Fraction] = {}
    for root, g in roots:
        wave = {root: Fraction(g)}
        while wave:
            following_wave: dict[int, Fraction] = {}
            for node, part in wave.items():
                if not graph[node]:
                    sums[node] = sums.get(node, Fraction(0)) + part
                for following, factor in zip(graph[node], factors[node], strict=True):
                    following_wave[following] = following_wave.get(following, Fraction(0)) + part * Fraction(factor)
            wave = following_wave
    return [float(sums[n]) if n in sums else None for n in range(len(graph))]
