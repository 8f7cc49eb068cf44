"""A second right way to solve exercise 15, written differently wherever there is a choice."""

import heapq
from collections import Counter, defaultdict


def behind(graph, roots):
    """All nodes that can be reached, breadth first."""
    found = list(dict.fromkeys(roots))
    for node in found:
        found += [n for n in dict.fromkeys(graph[node]) if n not in found]
    return found


def runs_depth_first(graph, root):
    """The ways to each node, added up as the counts of their givers are complete."""
    waiting = Counter(following for node in behind(graph, [root]) for following in graph[node])
    ways, ready = Counter({root: 1}), [root]
    for node in ready:
        for following in graph[node]:
            ways[following] += ways[node]
            waiting[following] -= 1
            if not waiting[following]:
                ready.append(following)
    return sum(ways.values())


def engine_order(graph, sequence, root):
    waiting = Counter(following for node in behind(graph, [root]) for following in graph[node])

    def entry(n):
        return (0, 0, n) if sequence[n] is None else (1, -sequence[n], n)

    heap, order = [entry(root)], []
    while heap:
        node = heapq.heappop(heap)[2]
        order.append(node)
        for following in graph[node]:
            waiting[following] -= 1
            if not waiting[following]:
                heapq.heappush(heap, entry(following))
    return order


def needed_nodes(graph, root, wanted):
    """Backwards from the wanted leaves, over the edges turned round."""
    givers = defaultdict(list)
    for node in behind(graph, [root]):
        for following in graph[node]:
            givers[following].append(node)
    found = [leaf for leaf in wanted if leaf == root or leaf in givers]
    for node in found:
        found += [giver for giver in dict.fromkeys(givers[node]) if giver not in found]
    return sorted(found)


def held_numbers(graph, saved, sizes, root, order):
    gradients, kept = {root: sizes[root]}, {n: saved[n] for n in order}
    history = [sum(gradients.values()) + sum(kept.values())]
    for node in order:
        gradients.update({following: sizes[following] for following in graph[node]})
        if graph[node]:
            del gradients[node], kept[node]
        history.append(sum(gradients.values()) + sum(kept.values()))
    return history


def step_with_hooks(g, factor, hooks):
    def through(g, kind):
        for what, x in (action for name, action in hooks if name == kind and action):
            g = {"mul": g * x, "add": g + x}[what]
        return g

    g = through(g, "tensor")
    kept = g if ("retain", None) in hooks else None
    g = through(through(g, "pre") * factor, "post")
    return kept, g, [kind for wanted in ("tensor", "retain", "pre", "post") for kind, _ in hooks if kind == wanted]


def several_roots(graph, factors, roots):
    """One root after the other: a pass is linear."""
    sums = {}
    for root, g in roots:
        arrived = Counter({root: g})
        for node in engine_order(graph, [n if graph[n] else None for n in range(len(graph))], root):
            if not graph[node]:
                sums[node] = sums.get(node, 0.0) + arrived[node]
            for following, factor in zip(graph[node], factors[node], strict=True):
                arrived[following] += arrived[node] * factor
    return [sums.get(n) for n in range(len(graph))]


def run_passes(graph, sequence, saves, passes):
    alive = list(saves)
    told = []
    for root, wanted, retain_graph in passes:
        part = behind(graph, [root]) if wanted is None else needed_nodes(graph, root, wanted)
        order = [node for node in engine_order(graph, sequence, root) if node in part]
        told.append(next((node for node in order if saves[node] and not alive[node]), None))
        ran = order if told[-1] is None else order[: order.index(told[-1])]
        for node in ran if not retain_graph else ():
            alive[node] = False
    return told


SECOND_WAY = (runs_depth_first, engine_order, needed_nodes, held_numbers, step_with_hooks, several_roots, run_passes)
