"""Tasks 1, 2, 3 and 6 of chapter 15's exercise: which nodes a pass runs, in which order, and from where."""

from . import ch15_fresh
from . import enumerated_pass as enumerated
from .enumerated_pass import Graph
from .task import Case, Check, Mistake, Task, same_but_for_rounding

COUNT = 'chapter 15, "Why count first"'
BUILD = 'chapter 15, "Build the pass"'
PART = 'chapter 15, "A part of the pass"'

DIAMOND = [(), (0,), (0,), (2, 1)]
LADDER = ch15_fresh.ladder(3)
# y = tanh(w * u); loss = y * v + y, numbered in no order: w 0, u 4, v 2; w * u 5, y 1, y * v 6, loss 3.
LAYERS = [(), (5,), (), (6, 1), (), (0, 4), (1, 2)]
MADE = [None, 1, None, 3, None, 0, 2]


# 1. runs_depth_first --------------------------------------------------------------------------------------------------


def _once_each(graph: Graph, root: int) -> int:
    return len(enumerated.reached(graph, [root]))


def _leaf_runs(graph: Graph, root: int) -> int:
    leaf_only = [following or (len(graph),) for following in graph] + [()]
    return enumerated.runs(leaf_only, root) - enumerated.runs(graph, root)


runs_depth_first = Check(
    Task(
        name="runs_depth_first",
        parameters=("graph", "root"),
        visible=(
            Case((LADDER, 3), 15, "1 + 2 + 4 + 8"),
            Case((DIAMOND, 3), 5, "node 0 is run twice"),
            Case((LAYERS, 3), 11, "y's node is run twice, and so are the three behind it"),
            Case((LAYERS, 5), 3, "from another root"),
            Case((LAYERS, 4), 1, "a leaf alone"),
            Case((ch15_fresh.ladder(50), 50), 2**51 - 1, "fifty steps: the walk itself would never end"),
        ),
        reference=enumerated.runs,
        fresh=ch15_fresh.walks,
        hidden="fresh graphs, a long ladder",
        mistakes=(
            Mistake(_once_each, "Each node was counted once. A depth-first walk comes again for every path."),
            Mistake(
                lambda graph, root: 1 + sum(len(graph[n]) for n in enumerated.reached(graph, [root])),
                "Each edge was counted once. An edge is walked as often as the node that it leaves is run.",
            ),
            Mistake(_leaf_runs, "Only the runs of leaves were counted."),
            Mistake(lambda graph, root: enumerated.runs(graph, root) - 1, "The root is run too, once."),
        ),
        hint="A walk from a node runs that node once, and then walks from each of its next nodes.",
        read=COUNT,
    )
)


# 2. engine_order ------------------------------------------------------------------------------------------------------


def _ordered_by(key):
    """The engine's order with another choice among the ready nodes."""

    def order(graph: Graph, sequence: list, root: int) -> list[int]:
        left, ran = enumerated.reached(graph, [root]), []
        while left:
            waiting = {following for node in left for following in graph[node]}
            ran.append(min(left - waiting, key=lambda n: key(sequence[n], n)))
            left.remove(ran[-1])
        return ran

    return order


def _without_waiting(graph: Graph, sequence: list, root: int) -> list[int]:
    found, ran = {root}, []
    while found:
        ran.append(enumerated.best(found, sequence))
        found = (found | set(graph[ran[-1]])) - set(ran)
    return ran


def _order_told(args: tuple, order: object) -> str | None:
    graph, _, root = args
    if type(order) is not list or any(type(n) is not int or not 0 <= n < len(graph) for n in order):
        return None
    wanted = enumerated.reached(graph, [root])
    if len(set(order)) < len(order):
        return "A node came twice. It becomes ready once: when the last gradient has arrived."
    if set(order) - wanted:
        return f"Node {min(set(order) - wanted)} has no part in this pass: no edge leads to it from the root."
    if stuck := [n for n in wanted - set(order) if graph[n]]:
        return (
            f"Node {min(stuck)} never runs. Does it wait for a node that has no part in this pass? Only edges of nodes "
            "behind the root count, each once."
        )
    if wanted - set(order):
        return f"Node {min(wanted - set(order))} never runs, and leaves belong to the order too."
    for place, node in enumerate(order):
        late = [n for n in order[place:] if node in graph[n]]
        if late:
            return f"Node {node} runs before node {late[0]}, which has yet to hand it a gradient."
    return None


engine_order = Check(
    Task(
        name="engine_order",
        parameters=("graph", "sequence", "root"),
        visible=(
            Case((LAYERS, MADE, 3), [3, 6, 2, 1, 5, 0, 4], "the leaf 2 before node 1"),
            Case((DIAMOND, [None, 0, 1, 2], 3), [3, 2, 1, 0], "node 2 was made after node 1"),
            Case((DIAMOND, [None, 1, 0, 2], 3), [3, 1, 2, 0], "now it was not"),
            Case((DIAMOND, [None, 0, 0, 1], 3), [3, 1, 2, 0], "made by two threads: equal numbers"),
            Case(([(), (0,), (1,), (2, 1)], [None, 9, 0, 1], 3), [3, 2, 1, 0], "node 1 waits, large as its number is"),
            Case(([(), (0,), (), (1, 2)], [None, 0, None, 1], 1), [1, 0], "another root"),
            Case((LAYERS, MADE, 6), [6, 2, 1, 5, 0, 4], "node 3 leads to node 1 too, and has no part"),
        ),
        reference=enumerated.order,
        fresh=ch15_fresh.orders,
        hidden="fresh graphs, made by one thread or by two",
        mistakes=(
            Mistake(
                _ordered_by(lambda made, n: (made is not None, made or 0, n)),
                "The oldest of the ready nodes was chosen. It is the one made last: the largest sequence number.",
            ),
            Mistake(
                _ordered_by(lambda made, n: (made is None, -(made or 0), n)),
                "A leaf waited while a node was ready. A leaf runs as soon as it is ready, before all nodes.",
            ),
            Mistake(
                _ordered_by(lambda made, n: (made is not None, -(made or 0), -n)),
                "Of equals the one with the smallest number in the graph runs first.",
            ),
            Mistake(
                _ordered_by(lambda made, n: n),
                "Ready nodes were taken by their place in the graph; `sequence` says when they were made.",
            ),
            Mistake(_without_waiting, "A node was taken before all of its gradients had arrived."),
        ),
        hint="Count first. Then, again and again, choose among the ready ones: leaves, else the latest made.",
        read=BUILD,
        explain=_order_told,
    )
)


# 3. needed_nodes ------------------------------------------------------------------------------------------------------


def _needed(graph: Graph, root: int, wanted: list[int]) -> list[int]:
    return sorted(enumerated.needed(graph, root, wanted))


def _with_all_leaves(graph: Graph, root: int, wanted: list[int]) -> list[int]:
    found = enumerated.needed(graph, root, wanted)
    return sorted(found | {n for node in found for n in graph[node] if not graph[n]})


needed_nodes = Check(
    Task(
        name="needed_nodes",
        parameters=("graph", "root", "wanted"),
        visible=(
            Case((LAYERS, 3, [2]), [2, 3, 6], "nothing behind y leads to v"),
            Case((LAYERS, 3, [0]), [0, 1, 3, 5, 6]),
            Case((LAYERS, 3, [0, 2]), [0, 1, 2, 3, 5, 6]),
            Case((LAYERS, 1, [0]), [0, 1, 5], "node 3 leads to w too, but this pass begins at node 1"),
            Case((LAYERS, 1, [2]), [], "v is not behind this root"),
            Case((LAYERS, 4, [4]), [4], "a leaf as root"),
        ),
        reference=_needed,
        fresh=ch15_fresh.wishes,
        hidden="fresh graphs, roots and leaves",
        mistakes=(
            Mistake(_with_all_leaves, "A leaf that nobody asked for came back."),
            Mistake(
                lambda graph, root, wanted: sorted(enumerated.reached(graph, [root])),
                "The whole pass came back. A node runs only if a wanted leaf lies behind it.",
            ),
            Mistake(
                lambda graph, root, wanted: sorted(
                    n for n in range(len(graph)) if enumerated.reached(graph, [n]) & set(wanted)
                ),
                "These lead to a wanted leaf, but not all of them lie behind the root.",
            ),
            Mistake(
                lambda graph, root, wanted: [n for n in _needed(graph, root, wanted) if n not in wanted],
                "The wanted leaves belong to the answer.",
            ),
            Mistake(
                lambda graph, root, wanted: sorted(
                    n for n in enumerated.reached(graph, [root]) if n in wanted or set(graph[n]) & set(wanted)
                ),
                "Only nodes next to a wanted leaf came back. Those on the way to them run too.",
            ),
        ),
        hint="Which nodes lie behind the root? Of these, from which can a wanted leaf be reached?",
        read=PART,
    )
)


# 6. several_roots -----------------------------------------------------------------------------------------------------


def _first_only(graph: Graph, factors: list, roots: list) -> list:
    return enumerated.gradients(graph, factors, roots[:1])


def _last_of_each(graph: Graph, factors: list, roots: list) -> list:
    return enumerated.gradients(graph, factors, list(dict(roots).items()))


def _roots_at_once(graph: Graph, factors: list, roots: list) -> list:
    """What reaches a root from another root is lost."""
    starts = {root for root, _ in roots}
    cut = [tuple(n for n in following if n not in starts) for following in graph]
    left = [
        tuple(f for n, f in zip(following, some, strict=True) if n not in starts)
        for following, some in zip(graph, factors, strict=True)
    ]
    own = [following and kept for following, kept in zip(graph, cut, strict=True)]
    found = enumerated.gradients(own, left, roots)
    return [g if not graph[n] else None for n, g in enumerate(found)]


CHAIN = [(), (0,), (1,)]

several_roots = Check(
    Task(
        name="several_roots",
        parameters=("graph", "factors", "roots"),
        visible=(
            Case((CHAIN, [(), (2.0,), (3.0,)], [(2, 1.0)]), [6.0, None, None], "one root"),
            Case((CHAIN, [(), (2.0,), (3.0,)], [(2, 1.0), (1, 1.0)]), [8.0, None, None], "node 1 gets 1 + 3, times 2"),
            Case((CHAIN, [(), (2.0,), (3.0,)], [(2, 1.0), (2, 10.0)]), [66.0, None, None], "one node twice"),
            Case((CHAIN, [(), (2.0,), (3.0,)], [(2, 1.0), (0, 5.0)]), [11.0, None, None], "a leaf as root"),
            Case(([(), (), (0, 1), (1,)], [(), (), (2.0, 4.0), (7.0,)], [(2, 1.0), (3, 0.5)]), [2.0, 7.5, None, None]),
            Case(([(), (), (0, 0), (1,)], [(), (), (2.0, 4.0), (7.0,)], [(2, 1.0)]), [6.0, None, None, None]),
        ),
        reference=enumerated.gradients,
        fresh=ch15_fresh.roots,
        hidden="fresh graphs, roots behind one another",
        mistakes=(
            Mistake(_first_only, "Only the first root's gradient went on."),
            Mistake(_last_of_each, "One node is a root twice: its two gradients add up."),
            Mistake(
                _roots_at_once,
                "A root went on with its own gradient alone. If another root leads to it, it waits for that.",
            ),
            Mistake(
                lambda graph, factors, roots: [g or 0.0 for g in enumerated.gradients(graph, factors, roots)],
                "None stands for a leaf to which nothing came, and for everything that is no leaf.",
            ),
            Mistake(
                lambda graph, factors, roots: [None] * len(graph),
                "No leaf was reached: a node waits for more gradients than come. A node that is a root twice runs "
                "once, so its edges are counted once.",
            ),
        ),
        hint="Put each root's gradient into `arrived` first, adding up. Then run nodes that wait for nobody any more.",
        read=BUILD,
        same=lambda args, expected, value: same_but_for_rounding(expected, value),
    )
)
