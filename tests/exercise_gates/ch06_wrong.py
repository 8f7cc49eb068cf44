"""Typical wrong solutions of exercise 06: WRONG lists each with its task and the words its check must answer with."""

import math

from .ch06_second_way import accumulate as added
from .ch06_second_way import backward as whole
from .ch06_second_way import backward_order as in_order
from .ch06_second_way import central_difference as measured
from .ch06_second_way import node_gradients as of_node
from .ch06_second_way import record as written
from .ch06_second_way import run_node as run


def saves_everything(name, inputs, next_nodes):
    result, node = written(name, inputs, next_nodes)
    return result, node and (name, inputs, next_nodes)


def saves_both_factors(name, inputs, next_nodes):
    result, node = written(name, inputs, next_nodes)
    return result, node and (name, inputs if name == "mul" else node[1], next_nodes)


def saves_its_own(name, inputs, next_nodes):
    result, node = written(name, inputs, next_nodes)
    own = tuple(None if n is None else x for n, x in zip(next_nodes, inputs, strict=True))
    return result, node and (name, own if name == "mul" else node[1], next_nodes)


def saves_the_exponent(name, inputs, next_nodes):
    result, node = written(name, inputs, next_nodes)
    return result, node and (name, inputs if name == "exp" else node[1], next_nodes)


def always_records(name, inputs, next_nodes):
    result, node = written(name, inputs, next_nodes)
    return result, node or (name, (None, None) if name == "mul" else (), next_nodes)


def node_alone(name, inputs, next_nodes):
    return written(name, inputs, next_nodes)[1]


def forgets_g(node, g):
    return of_node(node, 1.0)


def multiplies_its_own(node, g):
    name, saved, next_nodes = node
    if name != "mul":
        return of_node(node, g)
    return tuple(None if n is None else g * (x or 0.0) for n, x in zip(next_nodes, saved, strict=True))


def ignores_who_asks(node, g):
    name, saved, _ = node
    return {"add": lambda: (g, g), "mul": lambda: (g * saved[1], g * saved[0]), "exp": lambda: (g * saved[0],)}[name]()


def zero_for_none(node, g):
    return tuple(part or 0.0 for part in of_node(node, g))


def leaves_out_none(node, g):
    return tuple(part for part in of_node(node, g) if part is not None)


def exp_once_more(node, g):
    return (g * math.exp(node[1][0]),) if node[0] == "exp" else of_node(node, g)


def one_sided(name, inputs, k, h):
    moved = inputs[:k] + (inputs[k] + h,) + inputs[k + 1 :]
    nobody = (None,) * len(inputs)
    return (written(name, moved, nobody)[0] - written(name, inputs, nobody)[0]) / h


def divides_by_h(name, inputs, k, h):
    return 2 * measured(name, inputs, k, h)


def never_divides(name, inputs, k, h):
    return 2 * h * measured(name, inputs, k, h)


def moves_them_all(name, inputs, k, h):
    nobody = (None,) * len(inputs)
    up, down = (written(name, tuple(x + side * h for x in inputs), nobody)[0] for side in (1, -1))
    return (up - down) / (2 * h)


def counts_every_edge(graph, root):
    counts = [0] * len(graph)
    for _, _, next_nodes in graph:
        for n in next_nodes:
            if n is not None:
                counts[n] += 1
    return counts


def counts_users(graph, root):
    counts, seen, todo = [0] * len(graph), {root}, [root]
    while todo:
        for n in set(graph[todo.pop()][2]) - {None}:
            counts[n] += 1
            if n not in seen:
                seen.add(n)
                todo.append(n)
    return counts


def counts_paths(graph, root):
    counts, todo = [0] * len(graph), [root]
    while todo:
        for n in graph[todo.pop()][2]:
            if n is not None:
                counts[n] += 1
                todo.append(n)
    return counts


def counts_by_recursion(graph, root):
    counts, seen = [0] * len(graph), set()

    def visit(node):
        seen.add(node)
        for n in graph[node][2]:
            if n is not None:
                counts[n] += 1
                if n not in seen:
                    visit(n)

    visit(root)
    return counts


def depth_first(graph, root):
    order, seen = [], set()

    def visit(node):
        if node is not None and node not in seen:
            seen.add(node)
            order.append(node)
            for n in graph[node][2]:
                visit(n)

    visit(root)
    return order


def breadth_first(graph, root):
    order = [root]
    for node in order:
        order += [n for n in dict.fromkeys(graph[node][2]) if n is not None and n not in order]
    return order


def at_every_arrival(graph, root):
    order = [root]
    for node in order:
        order += [n for n in graph[node][2] if n is not None]
    return order


def without_leaves(graph, root):
    return [n for n in in_order(graph, root) if graph[n][0] != "leaf"]


def all_nodes(graph, root):
    order = in_order(graph, root)
    return order + [n for n in range(len(graph)) if n not in set(order)]


def post_order(graph, root):
    """Depth first and turned round is a right order; without the turning it is not. And it recurses."""
    order, seen = [], set()

    def visit(node):
        if node is not None and node not in seen:
            seen.add(node)
            for n in graph[node][2]:
                visit(n)
            order.append(node)

    visit(root)
    return order[::-1]


def overwrites(grads, arrivals):
    grads = list(grads)
    for leaf, g in arrivals:
        grads[leaf] = g
    return grads


def forgets_the_old(grads, arrivals):
    fresh = added([None] * len(grads), arrivals)
    return [old if new is None else new for old, new in zip(grads, fresh, strict=True)]


def zeros_at_first(grads, arrivals):
    return added([grad or 0.0 for grad in grads], arrivals)


def zero_is_none(grads, arrivals):
    return [grad or None for grad in added(grads, arrivals)]


def writes_into_grads(grads, arrivals):
    grads[:] = added(grads, arrivals)
    return grads


def adds_to_none(grads, arrivals):
    grads = list(grads)
    for leaf, g in arrivals:
        grads[leaf] += g
    return grads


def never_frees(node, g, retain_graph):
    return run(node, g, True)


def frees_everyone(node, g, retain_graph):
    handed, after = run(node, g, retain_graph)
    return handed, after if retain_graph else (node[0], None, node[2])


def never_retains(node, g, retain_graph):
    return run(node, g, False)


def cuts_the_edges(node, g, retain_graph):
    handed, after = run(node, g, retain_graph)
    return handed, after if retain_graph else (after[0], after[1], (None,) * len(node[2]))


def frees_to_empty(node, g, retain_graph):
    handed, after = run(node, g, retain_graph)
    return handed, after if retain_graph else (node[0], (), node[2])


def never_looks(node, g, retain_graph):
    name, saved, next_nodes = node
    if name == "mul":
        handed = tuple(None if n is None else g * saved[1 - k] for k, n in enumerate(next_nodes))
    else:
        handed = (g * saved[0],) if name == "exp" else of_node(node, g)
    return handed, node if retain_graph or not saved else (name, None, next_nodes)


def says_little(node, g, retain_graph):
    if node[1] is None:
        raise RuntimeError("already freed")
    return run(node, g, retain_graph)


def first_arrival_only(graph, root, g, grads, retain_graph):
    arrived, after, todo = {}, list(graph), [(root, g)]
    while todo:
        n, part = todo.pop()
        if n in arrived:
            continue
        arrived[n] = part
        if graph[n][0] != "leaf":
            handed, after[n] = run(graph[n], part, retain_graph)
            todo += [(m, p) for m, p in zip(graph[n][2], handed, strict=True) if m is not None][::-1]
    return added(grads, [(n, part) for n, part in arrived.items() if graph[n][0] == "leaf"]), after


def path_by_path(graph, root, g, grads, retain_graph):
    after, arrivals, todo = list(graph), [], [(root, g)]
    while todo:
        n, part = todo.pop()
        if graph[n][0] == "leaf":
            arrivals.append((n, part))
        else:
            handed, after[n] = run(after[n], part, retain_graph)
            todo += [(m, p) for m, p in zip(graph[n][2], handed, strict=True) if m is not None]
    return added(grads, arrivals), after


def overwrites_grads(graph, root, g, grads, retain_graph):
    fresh, after = whole(graph, root, g, [None] * len(grads), retain_graph)
    return [old if new is None else new for old, new in zip(grads, fresh, strict=True)], after


def keeps_them_all(graph, root, g, grads, retain_graph):
    arrived, after = {root: g}, list(graph)
    for n in in_order(graph, root):
        if graph[n][0] != "leaf":
            handed, after[n] = run(graph[n], arrived[n], retain_graph)
            for m, part in zip(graph[n][2], handed, strict=True):
                if m is not None:
                    arrived[m] = arrived.get(m, 0.0) + part
    return added(grads, list(arrived.items())), after


def begins_with_one(graph, root, g, grads, retain_graph):
    return whole(graph, root, 1.0, grads, retain_graph)


def hands_back_the_graph(graph, root, g, grads, retain_graph):
    return whole(graph, root, g, grads, retain_graph)[0], graph


def gradients_alone(graph, root, g, grads, retain_graph):
    return whole(graph, root, g, grads, retain_graph)[0]


def node_0_is_nobody(name, inputs, next_nodes):
    result = math.exp(inputs[0]) if name == "exp" else sum(inputs) if name == "add" else inputs[0] * inputs[1]
    saved = (result,) if name == "exp" else ()
    if name == "mul":
        saved = tuple(x if n is not None else None for x, n in zip(inputs, reversed(next_nodes), strict=True))
    return result, (name, saved, next_nodes) if any(next_nodes) else None


WRONG = (
    ("record", saves_everything, "All inputs were saved, needed or not"),
    ("record", saves_both_factors, "The product saved both factors"),
    ("record", saves_its_own, "Each factor was saved for its own gradient"),
    ("record", saves_the_exponent, "exp saved its input"),
    ("record", always_records, "so there is nothing to go back to: the node is None"),
    ("record", node_alone, "Return (result, node)"),
    ("node_gradients", forgets_g, "g is missing"),
    ("node_gradients", multiplies_its_own, "Each factor was multiplied by its own value"),
    ("node_gradients", ignores_who_asks, "A factor that nobody needed was not saved: None stands there"),
    ("node_gradients", zero_for_none, "0 came back for an input that asks for no gradient"),
    ("node_gradients", leaves_out_none, "One result for each input"),
    ("node_gradients", exp_once_more, "exp was applied to the saved number"),
    ("central_difference", one_sided, "Only one side was moved"),
    ("central_difference", divides_by_h, "it is a way of 2 * h: divide by that"),
    ("central_difference", never_divides, "This is how far the result moves"),
    ("central_difference", moves_them_all, "All inputs were moved at once"),
    ("uses", counts_every_edge, "Edges of nodes that this pass never comes to are counted too"),
    ("uses", counts_users, "x * x brings two gradients to one node"),
    ("uses", counts_paths, "These are the paths to each node"),
    ("uses", counts_by_recursion, "The function calls itself once for every step of a long way"),
    ("backward_order", depth_first, "Node 4 runs before node 2, which has yet to hand it a gradient"),
    ("backward_order", breadth_first, "Node 4 runs before node 2, which has yet to hand it a gradient"),
    ("backward_order", at_every_arrival, "Node 3 runs more than once"),
    ("backward_order", without_leaves, "Node 3 never runs, and leaves belong to the order too"),
    ("backward_order", all_nodes, "Node 2 has no part in this pass"),
    ("backward_order", post_order, "Keep a list of what is still to be done, and take from it in a loop"),
    ("accumulate", overwrites, "A gradient replaced what was there"),
    ("accumulate", forgets_the_old, "What .grad held before this pass is lost"),
    ("accumulate", zeros_at_first, "A leaf to which nothing came keeps None"),
    ("accumulate", zero_is_none, "0.0 became None: ask `is None`"),
    ("accumulate", writes_into_grads, "The function changed its argument grads; work on a copy, such as list(grads)"),
    ("accumulate", adds_to_none, "the first gradient of a leaf takes None's place"),
    ("run_node", never_frees, "Nothing was freed"),
    ("run_node", frees_everyone, "A node that saved nothing has nothing to free"),
    ("run_node", never_retains, "retain_graph=True asks to keep what was saved"),
    ("run_node", cuts_the_edges, "The edges were cut"),
    ("run_node", frees_to_empty, "None says that it was freed"),
    ("run_node", never_looks, "None stands where saved values are expected"),
    ("run_node", says_little, 'its message must also say "second time" and "retain_graph"'),
    ("backward", first_arrival_only, "A node sent on its first gradient and dropped those that came later"),
    ("backward", path_by_path, "A node was run twice in one pass"),
    ("backward", overwrites_grads, "What .grad held before this pass is lost"),
    ("backward", keeps_them_all, "Nodes between root and leaves keep a gradient too"),
    ("backward", begins_with_one, "The pass began with 1 and not with g"),
    ("backward", hands_back_the_graph, "What the nodes saved was not freed"),
    ("backward", gradients_alone, "Return two things"),
    ("record", node_0_is_nobody, "Node number 0 was taken for nobody"),
)
