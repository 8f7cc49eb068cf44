"""A second right way to solve exercise 06, written differently wherever there is a choice."""

import heapq
import math
from collections import Counter, defaultdict, deque


def record(name, inputs, next_nodes):
    if name == "exp":
        result = saved = math.e ** inputs[0]
        saved = (saved,)
    elif name == "mul":
        result = math.prod(inputs)
        needed = [next_nodes[1 - k] is not None for k in range(2)]
        saved = tuple(x if wanted else None for x, wanted in zip(inputs, needed, strict=True))
    else:
        result, saved = sum(inputs), ()
    return result, None if set(next_nodes) == {None} else (name, saved, next_nodes)


def node_gradients(node, g):
    name, saved, next_nodes = node
    slopes = {"add": (1.0, 1.0), "mul": saved[::-1], "exp": saved}[name]
    return tuple(None if n is None else slope * g for n, slope in zip(next_nodes, slopes, strict=True))


def central_difference(name, inputs, k, h):
    def at(x):
        return record(name, inputs[:k] + (x,) + inputs[k + 1 :], (None,) * len(inputs))[0]

    return at(inputs[k] + h) / (2 * h) - at(inputs[k] - h) / (2 * h)


def edges(graph, root):
    """Every edge of the pass, breadth first."""
    queue, seen = deque([root]), {root}
    while queue:
        node = queue.popleft()
        for following in graph[node][2]:
            if following is not None:
                yield node, following
                if following not in seen:
                    seen.add(following)
                    queue.append(following)


def uses(graph, root):
    counts = Counter(end for _, end in edges(graph, root))
    return [counts[n] for n in range(len(graph))]


def backward_order(graph, root):
    """The ready queue, the largest number first, as PyTorch orders nodes by their sequence number."""
    waiting, ready, order = uses(graph, root), [-root], []
    while ready:
        node = -heapq.heappop(ready)
        order.append(node)
        for following in filter(lambda n: n is not None, graph[node][2]):
            waiting[following] -= 1
            if not waiting[following]:
                heapq.heappush(ready, -following)
    return order


def accumulate(grads, arrivals):
    sums = defaultdict(list, {n: [grad] for n, grad in enumerate(grads) if grad is not None})
    for leaf, g in arrivals:
        sums[leaf].append(g)
    return [math.fsum(sums[n]) if n in sums else None for n in range(len(grads))]


def run_node(node, g, retain_graph):
    name, saved, next_nodes = node
    if saved is None:
        raise RuntimeError(f"{name} ran before: a second time needs retain_graph=True the first time")
    freed = bool(saved) and not retain_graph
    return node_gradients(node, g), (name, None if freed else saved, next_nodes)


def backward(graph, root, g, grads, retain_graph):
    """With the queue inside the pass, and leaves collected for the end."""
    waiting, arrived, ready = uses(graph, root), {root: [g]}, [root]
    after, arrivals = list(graph), []
    while ready:
        n = ready.pop()
        if graph[n][0] == "leaf":
            arrivals += [(n, part) for part in arrived[n]]
            continue
        handed, after[n] = run_node(graph[n], sum(arrived.pop(n)), retain_graph)
        for following, part in zip(graph[n][2], handed, strict=True):
            if following is not None:
                arrived.setdefault(following, []).append(part)
                waiting[following] -= 1
                if waiting[following] == 0:
                    ready.append(following)
    return accumulate(grads, arrivals), after


SECOND_WAY = (record, node_gradients, central_difference, uses, backward_order, accumulate, run_node, backward)
