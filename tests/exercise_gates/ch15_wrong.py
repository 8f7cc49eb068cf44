"""Typical wrong solutions of exercise 15: WRONG lists each with its task and the words its check must answer with."""

from collections import Counter

from .ch15_second_way import behind as reachable
from .ch15_second_way import engine_order as ordered
from .ch15_second_way import needed_nodes as needed
from .ch15_second_way import runs_depth_first as runs
from .ch15_second_way import several_roots as rooted
from .ch15_second_way import step_with_hooks as stepped


def once_each(graph, root):
    return len(reachable(graph, [root]))


def once_an_edge(graph, root):
    return 1 + sum(len(graph[node]) for node in reachable(graph, [root]))


def without_the_root(graph, root):
    return runs(graph, root) - 1


def leaves_only(graph, root):
    known = {}

    def count(n):
        if n not in known:
            known[n] = sum(count(following) for following in graph[n]) if graph[n] else 1
        return known[n]

    return count(root)


def chosen_by(key, counted=reachable):
    """The queue with another choice, or with the edges of other nodes counted."""

    def order(graph, sequence, root):
        waiting = Counter(following for node in counted(graph, [root]) for following in graph[node])
        ready, found = [root], []
        while ready:
            node = min(ready, key=lambda n: key(sequence[n], n))
            ready.remove(node)
            found.append(node)
            for following in graph[node]:
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
        return found

    return order


def oldest_first(graph, sequence, root):
    return chosen_by(lambda made, n: (made is not None, made or 0, n))(graph, sequence, root)


def leaves_last(graph, sequence, root):
    return chosen_by(lambda made, n: (made is None, -(made or 0), n))(graph, sequence, root)


def larger_of_equals(graph, sequence, root):
    return chosen_by(lambda made, n: (made is not None, -(made or 0), -n))(graph, sequence, root)


def by_place(graph, sequence, root):
    return chosen_by(lambda made, n: n)(graph, sequence, root)


def counts_every_edge(graph, sequence, root):
    """Edges from outside of the pass too, for which nobody comes."""
    everywhere = chosen_by(lambda made, n: (made is not None, -(made or 0), n), lambda graph, roots: range(len(graph)))
    return everywhere(graph, sequence, root)


def never_waits(graph, sequence, root):
    ready, order = [root], []
    while ready:
        node = min(ready, key=lambda n: (sequence[n] is not None, -(sequence[n] or 0), n))
        ready.remove(node)
        order.append(node)
        ready += [n for n in dict.fromkeys(graph[node]) if n not in order and n not in ready]
    return order


def at_every_arrival(graph, sequence, root):
    order = [root]
    for node in order:
        order += graph[node]
    return order


def without_leaves(graph, sequence, root):
    return [n for n in ordered(graph, sequence, root) if graph[n]]


def sorted_by_sequence(graph, sequence, root):
    return sorted(reachable(graph, [root]), key=lambda n: -1 if sequence[n] is None else -sequence[n])


def the_whole_pass(graph, root, wanted):
    return sorted(reachable(graph, [root]))


def from_anywhere(graph, root, wanted):
    return sorted(n for n in range(len(graph)) if set(reachable(graph, [n])) & set(wanted))


def without_the_wanted(graph, root, wanted):
    return [n for n in needed(graph, root, wanted) if n not in wanted]


def with_other_leaves(graph, root, wanted):
    found = set(needed(graph, root, wanted))
    return sorted(found | {n for node in found for n in graph[node] if not graph[n]})


def neighbours_only(graph, root, wanted):
    return sorted(n for n in reachable(graph, [root]) if n in wanted or set(graph[n]) & set(wanted))


def held(graph, saved, sizes, root, order, wrong):
    has, total = {root}, sum(saved) if wrong == "others" else sum(saved[n] for n in order)
    history = [total + sizes[root]]
    for node in order:
        now = history[-1]
        for following in graph[node]:
            if following not in has or wrong == "edges":
                now += sizes[following]
            has.add(following)
        if (graph[node] and wrong != "gradients") or (not graph[node] and wrong == "leaves"):
            now -= sizes[node]
        history.append(now - (0 if wrong == "saved" else saved[node]))
    return history[1:] if wrong == "start" else history


def frees_nothing(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "saved")


def counts_edges(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "edges")


def keeps_gradients(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "gradients")


def drops_leaves(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "leaves")


def begins_after_a_step(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "start")


def counts_everyone(graph, saved, sizes, root, order):
    return held(graph, saved, sizes, root, order, "others")


def as_registered(g, factor, hooks):
    kept, multiplied = None, False
    for kind, action in hooks:
        if kind == "post" and not multiplied:
            g, multiplied = g * factor, True
        if kind == "retain":
            kept = g
        elif action:
            g = g * action[1] if action[0] == "mul" else g + action[1]
    return kept, g if multiplied else g * factor, [kind for kind, _ in hooks]


def in_rounds(g, factor, hooks, kinds):
    kept, log = None, []
    for kind in kinds:
        if kind == "factor":
            g = g * factor
        for registered, action in hooks:
            if registered == kind:
                log.append(kind)
                kept = g if kind == "retain" else kept
                if action:
                    g = g * action[1] if action[0] == "mul" else g + action[1]
    return kept, g, log


def retains_at_once(g, factor, hooks):
    return in_rounds(g, factor, hooks, ("retain", "tensor", "pre", "factor", "post"))


def retains_after_pre(g, factor, hooks):
    return in_rounds(g, factor, hooks, ("tensor", "pre", "retain", "factor", "post"))


def node_before_tensor(g, factor, hooks):
    return in_rounds(g, factor, hooks, ("pre", "tensor", "retain", "factor", "post"))


def post_before_the_node(g, factor, hooks):
    return in_rounds(g, factor, hooks, ("tensor", "retain", "pre", "post", "factor"))


def each_sees_the_first(g, factor, hooks):
    after = [action for kind, action in hooks if kind == "tensor" and action][-1:]
    rest = [hook for hook in hooks if hook[0] != "tensor"] + [("tensor", action) for action in after]
    return (*stepped(g, factor, rest)[:2], stepped(g, factor, hooks)[2])


def two_things(g, factor, hooks):
    return stepped(g, factor, hooks)[:2]


def unpacks_none(g, factor, hooks):
    kept, log = None, []
    for kind in ("tensor", "retain", "pre", "post"):
        g = g * factor if kind == "post" else g
        for registered, action in hooks:
            if registered == kind:
                log.append(kind)
                what, x = action
                g = g * x if what == "mul" else g + x
    return kept, g, log


def first_root_only(graph, factors, roots):
    return rooted(graph, factors, roots[:1])


def last_of_each(graph, factors, roots):
    return rooted(graph, factors, list(dict(roots).items()))


def counts_a_root_twice(graph, factors, roots):
    """A node that is a root twice is counted twice, and whatever lies behind it waits for ever."""
    if len(dict(roots)) == len(roots):
        return rooted(graph, factors, roots)
    return [None] * len(graph)


def runs_roots_at_once(graph, factors, roots):
    """Every root is ready at the beginning, and runs once."""
    waiting = Counter(n for node in reachable(graph, [root for root, _ in roots]) for n in graph[node])
    arrived, grads = Counter(), [None] * len(graph)
    for root, g in roots:
        arrived[root] += g
    ready = list(arrived)
    ran = set()
    while ready:
        node = ready.pop(0)
        if node in ran:
            continue
        ran.add(node)
        grads[node] = None if graph[node] else arrived[node]
        for following, factor in zip(graph[node], factors[node], strict=True):
            arrived[following] += arrived[node] * factor
            waiting[following] -= 1
            if not waiting[following]:
                ready.append(following)
    return grads


def zeros_for_none(graph, factors, roots):
    return [g or 0.0 for g in rooted(graph, factors, roots)]


def passes_with(wrong):
    """The passes with one thing wrong."""

    def told(graph, sequence, saves, passes):
        freed, found = set(), []
        for root, wanted, retain_graph in passes:
            part = reachable(graph, [root]) if wanted is None or wrong == "whole" else needed(graph, root, wanted)
            order = [n for n in ordered(graph, sequence, root) if n in part]
            failed = next((n for n in order if n in freed and (saves[n] or wrong == "empty")), None)
            ran = order if failed is None or wrong == "all" else order[: order.index(failed)]
            if not (failed is not None and wrong == "nothing") and (not retain_graph or wrong == "never"):
                freed |= {n for n in ran if graph[n]}
            found.append(failed)
        return found

    return told


def never_retains(graph, sequence, saves, passes):
    return passes_with("never")(graph, sequence, saves, passes)


def fails_for_nothing(graph, sequence, saves, passes):
    return passes_with("empty")(graph, sequence, saves, passes)


def runs_everything(graph, sequence, saves, passes):
    return passes_with("whole")(graph, sequence, saves, passes)


def frees_at_the_end(graph, sequence, saves, passes):
    return passes_with("nothing")(graph, sequence, saves, passes)


def goes_on_after_failing(graph, sequence, saves, passes):
    return passes_with("all")(graph, sequence, saves, passes)


def true_or_false(graph, sequence, saves, passes):
    return [failed is None for failed in passes_with("")(graph, sequence, saves, passes)]


WRONG = (
    ("runs_depth_first", once_each, "Each node was counted once"),
    ("runs_depth_first", once_an_edge, "Each edge was counted once"),
    ("runs_depth_first", without_the_root, "The root is run too, once"),
    ("runs_depth_first", leaves_only, "Only the runs of leaves were counted"),
    ("engine_order", oldest_first, "The oldest of the ready nodes was chosen"),
    ("engine_order", leaves_last, "A leaf waited while a node was ready"),
    ("engine_order", larger_of_equals, "Of equals the one with the smallest number in the graph"),
    ("engine_order", by_place, "Ready nodes were taken by their place in the graph"),
    ("engine_order", counts_every_edge, "Does it wait for a node that has no part in this pass?"),
    ("engine_order", never_waits, "which has yet to hand it a gradient"),
    ("engine_order", at_every_arrival, "A node came twice"),
    ("engine_order", without_leaves, "leaves belong to the order too"),
    ("engine_order", sorted_by_sequence, "which has yet to hand it a gradient"),
    ("needed_nodes", the_whole_pass, "The whole pass came back"),
    ("needed_nodes", from_anywhere, "not all of them lie behind the root"),
    ("needed_nodes", without_the_wanted, "The wanted leaves belong to the answer"),
    ("needed_nodes", with_other_leaves, "A leaf that nobody asked for came back"),
    ("needed_nodes", neighbours_only, "Only nodes next to a wanted leaf came back"),
    ("held_numbers", frees_nothing, "What the nodes saved was never given back"),
    ("held_numbers", counts_edges, "A second gradient for the same node is added into the first"),
    ("held_numbers", keeps_gradients, "A node's own gradient is dropped when it has run"),
    ("held_numbers", drops_leaves, "A leaf's gradient stays"),
    ("held_numbers", begins_after_a_step, "The list begins with what is held before the first step"),
    ("held_numbers", counts_everyone, "Nodes that have no part in the pass are not counted"),
    ("step_with_hooks", as_registered, "The hooks were called as they were registered"),
    ("step_with_hooks", retains_at_once, "retain_grad kept the gradient that arrived"),
    ("step_with_hooks", retains_after_pre, "retain_grad comes before the node's own hooks"),
    ("step_with_hooks", node_before_tensor, "The node's pre-hooks come after the tensor's hooks"),
    ("step_with_hooks", post_before_the_node, "A post hook sees the gradient of the input"),
    ("step_with_hooks", each_sees_the_first, "Each hook of a tensor sees what the one before returned"),
    ("step_with_hooks", two_things, "Return three things"),
    ("step_with_hooks", unpacks_none, "None instead of an action says that the hook returns None"),
    ("several_roots", first_root_only, "Only the first root's gradient went on"),
    ("several_roots", last_of_each, "its two gradients add up"),
    ("several_roots", counts_a_root_twice, "No leaf was reached: a node waits for more gradients than come"),
    ("several_roots", runs_roots_at_once, "A root went on with its own gradient alone"),
    ("several_roots", zeros_for_none, "None stands for a leaf to which nothing came"),
    ("run_passes", never_retains, "retain_graph=True keeps what was saved"),
    ("run_passes", fails_for_nothing, "A node that saved nothing has nothing to miss"),
    ("run_passes", runs_everything, "A pass for some leaves runs, and frees, only what leads to them"),
    ("run_passes", frees_at_the_end, "The nodes that ran before the failing one are freed all the same"),
    ("run_passes", goes_on_after_failing, "The pass ends at the node that fails"),
    ("run_passes", true_or_false, "None says that a pass went through"),
)
