"""Tasks 4, 5, 6 and 8 of chapter 06's exercise: the pass from node to node, and what it leaves in the leaves."""

from collections import Counter

from . import ch06_fresh
from . import enumerated_graph as enumerated
from .ch06_node import FREED, is_freed, rounded
from .enumerated_graph import Graph
from .task import Case, Check, Mistake, Raises, Task

STEPPER = 'chapter 06, "Step through it"'
ADD_UP = 'chapter 06, "Gradients add up"'

# The graphs of the visible cases. DIAMOND: (x - 3) * x at x = 6; DETOUR: y + y * x with y = exp(x) = 4.
DIAMOND = [("mul", (3.0, 6.0), (1, 3)), ("add", (), (3, None)), ("exp", (403.4,), (3,)), ("leaf", (), ())]
SQUARE = [("leaf", (), ()), ("mul", (3.0, 3.0), (0, 0))]
DETOUR = [
    ("add", (), (4, 2)),
    ("leaf", (), ()),
    ("mul", (4.0, 1.386), (4, 1)),
    ("add", (), (0, 4)),
    ("exp", (4.0,), (1,)),
]
LONG_CHAIN = ch06_fresh.chain(ch06_fresh.LONG)
LONG_WAY = "a chain of 10,000 nodes"


# 4. uses --------------------------------------------------------------------------------------------------------------


def _all_edges(graph: Graph, root: int) -> list[int]:
    ends = Counter(following for node in graph for following in node[2])
    return [ends[n] for n in range(len(graph))]


def _users(graph: Graph, root: int) -> list[int]:
    ends = Counter(following for giver in enumerated.reached(graph, root) for following in set(graph[giver][2]))
    return [ends[n] for n in range(len(graph))]


def _paths(graph: Graph, root: int) -> list[int]:
    """How many ways lead to each node."""
    counts, wave = [0] * len(graph), {root: 1}
    while wave:
        following_wave: dict[int, int] = {}
        for node, ways in wave.items():
            for following in graph[node][2]:
                if following is not None:
                    counts[following] += ways
                    following_wave[following] = following_wave.get(following, 0) + ways
        wave = following_wave
    return counts


def _with_root(graph: Graph, root: int) -> list[int]:
    return [count + (n == root) for n, count in enumerate(enumerated.uses(graph, root))]


uses = Check(
    Task(
        name="uses",
        parameters=("graph", "root"),
        visible=(
            Case((DIAMOND, 0), [0, 1, 0, 2], "node 3 is waited for twice; node 2 has no part in this pass"),
            Case((SQUARE, 1), [2, 0], "x * x: both edges lead to x"),
            Case((DETOUR, 0), [0, 2, 1, 0, 2], "node 3 uses nodes 0 and 4, but no gradient comes from it"),
            Case((DETOUR, 4), [0, 1, 0, 0, 0], "another root, another pass"),
            Case((SQUARE, 0), [0, 0], "a leaf alone"),
            Case(LONG_CHAIN, [0] + [1] * (ch06_fresh.LONG - 1), LONG_WAY),
        ),
        reference=enumerated.uses,
        fresh=ch06_fresh.graphs,
        hidden="fresh graphs with parts that are not reached, a ladder, a long chain",
        mistakes=(
            Mistake(
                _all_edges,
                "Edges of nodes that this pass never comes to are counted too; whoever waits for them waits forever.",
            ),
            Mistake(_users, "x * x brings two gradients to one node: count the edges, not the nodes they come from."),
            Mistake(
                _paths,
                "These are the paths to each node. An edge counts once, however many paths lead over it: look at the "
                "edges of each node only the first time you come to it.",
            ),
            Mistake(_with_root, "The root is counted once too often: no edge of this pass leads to it."),
        ),
        hint="Start at the root, remember which nodes you have seen, and count every edge of every node that you see.",
        read=STEPPER,
    )
)


# 5. backward_order ----------------------------------------------------------------------------------------------------


def _some_order(graph: Graph, root: int) -> list[int]:
    """By how long the longest way from the root is."""
    depth, wave, step = {}, {root}, 0
    while wave:
        depth.update(dict.fromkeys(wave, step))
        wave, step = {n for node in wave for n in graph[node][2] if n is not None}, step + 1
    return sorted(depth, key=lambda node: (depth[node], node))


def _order_told(args: tuple, order: object) -> str | None:
    graph, root = args
    if order is None or type(order) is tuple:
        return None  # what is said of any task will do
    if type(order) is not list or any(type(node) is not int or not 0 <= node < len(graph) for node in order):
        return "Return a list of node numbers, in the order in which they run. None marks an edge that leads nowhere."
    wanted = enumerated.reached(graph, root)
    twice = next((node for node in order if order.count(node) > 1), None) if len(order) < 1000 else None
    if twice is not None:
        return f"Node {twice} runs more than once. It runs when the last of its gradients has arrived, and only then."
    if strange := set(order) - wanted:
        return f"Node {min(strange)} has no part in this pass: no edge leads to it from the root."
    if early := enumerated.too_early(graph, root, order):
        node, giver = early
        return (
            f"Node {node} runs before node {giver}, which has yet to hand it a gradient. A node is ready when as many "
            "gradients have arrived as it has uses (task 4), not as soon as the first one comes."
        )
    missing = wanted - set(order)
    return f"Node {min(missing)} never runs, and leaves belong to the order too." if missing else None


ORDER = "or another order in which none runs before its users"

backward_order = Check(
    Task(
        name="backward_order",
        parameters=("graph", "root"),
        visible=(
            Case((DIAMOND, 0), [0, 1, 3], "node 3 has to wait for node 1"),
            Case((SQUARE, 1), [1, 0]),
            Case((DETOUR, 0), [0, 2, 4, 1], "node 4 waits for node 2, node 1 for both"),
            Case((DETOUR, 2), [2, 4, 1]),
            Case((SQUARE, 0), [0], "a leaf alone"),
            Case(LONG_CHAIN, list(range(ch06_fresh.LONG)), LONG_WAY),
        ),
        reference=_some_order,
        fresh=ch06_fresh.graphs,
        hidden="fresh graphs, any right order counts",
        mistakes=(),
        hint="Count down the uses of each node as gradients arrive; at 0 it is ready. Begin with the root.",
        read=STEPPER,
        same=lambda args, expected, value: (
            type(value) is list and all(type(n) is int for n in value) and enumerated.is_order(*args, value)
        ),
        explain=_order_told,
    )
)


# 6. accumulate --------------------------------------------------------------------------------------------------------


def _accumulate(grads: list, arrivals: list) -> list:
    sums: list = [[] if grad is None else [grad] for grad in grads]
    for leaf, g in arrivals:
        sums[leaf].append(g)
    return [sum(parts) if parts else None for parts in sums]


def _last(grads: list, arrivals: list) -> list:
    latest = dict(arrivals)
    return [latest.get(n, grad) for n, grad in enumerate(grads)]


def _only_new(grads: list, arrivals: list) -> list:
    new = _accumulate([None] * len(grads), arrivals)
    return [old if fresh is None else fresh for old, fresh in zip(grads, new, strict=True)]


accumulate = Check(
    Task(
        name="accumulate",
        parameters=("grads", "arrivals"),
        visible=(
            Case(([None, None], [(0, 2.0)]), [2.0, None], "the first gradient becomes .grad; None stays None"),
            Case(([None], [(0, 2.0), (0, 3.0)]), [5.0], "two uses in one pass"),
            Case(([2.0, None], [(0, 3.0)]), [5.0, None], "a later one is added"),
            Case(([1.0, -1.0], [(1, 4.0), (0, 2.0), (1, 0.5)]), [3.0, 3.5]),
            Case(([0.0, 7.0], []), [0.0, 7.0], "nothing arrived, and 0.0 is not None"),
            Case(([None], [(0, 0.0)]), [0.0], "a gradient of zero is one"),
        ),
        reference=_accumulate,
        fresh=ch06_fresh.deliveries,
        hidden="fresh gradients, leaves to which none comes",
        mistakes=(
            Mistake(_only_new, "What .grad held before this pass is lost. Only zero_grad clears; a pass adds."),
            Mistake(_last, "A gradient replaced what was there. Gradients add up: two uses, or two passes, one sum."),
            Mistake(
                lambda grads, arrivals: _accumulate([grad or 0.0 for grad in grads], arrivals),
                "A leaf to which nothing came keeps None. None and 0.0 differ: an optimizer skips the first.",
            ),
            Mistake(
                lambda grads, arrivals: _accumulate([grad or None for grad in grads], arrivals),
                "0.0 became None: ask `is None`, as 0.0 is false too.",
            ),
        ),
        hint="For each arrival: if the leaf's grad is None it becomes g, otherwise g is added. Work on a copy.",
        read=ADD_UP,
        same=rounded,
        raised=(("TypeError", "None cannot be added to a number: the first gradient of a leaf takes None's place."),),
    )
)


# 8. backward ----------------------------------------------------------------------------------------------------------


def _backward(graph: Graph, root: int, g: float, grads: list, retain_graph: bool) -> tuple | Raises:
    if any(is_freed(graph[n]) for n in enumerated.reached(graph, root)):
        return FREED
    return _left_by(enumerated.gradients(graph, root, g), graph, root, grads, retain_graph)


def _left_by(arrived: dict, graph: Graph, root: int, grads: list, retain_graph: bool) -> tuple:
    leaves = [(n, arrived[n]) for n in arrived if graph[n][0] == "leaf"]
    return _accumulate(grads, leaves), graph if retain_graph else enumerated.freed(graph, root)


def _at_first_arrival(graph: Graph, root: int, g: float, grads: list, retain_graph: bool) -> tuple:
    """Each node sends on the first gradient that comes, depth first."""
    arrived, todo = {}, [(root, g)]
    while todo:
        node, part = todo.pop()
        if node not in arrived:
            arrived[node] = part
            pairs = zip(graph[node][2], enumerated.factors(graph[node]), strict=True)
            todo += [(following, part * factor) for following, factor in pairs if following is not None][::-1]
    return _left_by(arrived, graph, root, grads, retain_graph)


def _all_kept(graph: Graph, root: int, g: float, grads: list, retain_graph: bool) -> tuple:
    _, after = _backward(graph, root, g, grads, retain_graph)
    return _accumulate(grads, list(enumerated.gradients(graph, root, g).items())), after


def _overwritten(graph: Graph, root: int, g: float, grads: list, retain_graph: bool) -> tuple:
    fresh, after = _backward(graph, root, g, [None] * len(grads), retain_graph)
    return [old if new is None else new for old, new in zip(grads, fresh, strict=True)], after


FREED_SQUARE = [("leaf", (), ()), ("mul", None, (0, 0))]
SUM = [("leaf", (), ()), ("add", (), (0, None))]


def _visible(args: tuple, note: str = "") -> Case:
    return Case(args, _backward(*args), note)


backward = Check(
    Task(
        name="backward",
        parameters=("graph", "root", "g", "grads", "retain_graph"),
        visible=(
            Case((SQUARE, 1, 1.0, [None, None], False), ([6.0, None], FREED_SQUARE), "x * x at 3: 3 along each edge"),
            Case(
                (SQUARE, 1, 1.0, [6.0, None], True), ([12.0, None], SQUARE), "a second pass adds; the graph is retained"
            ),
            Case((FREED_SQUARE, 1, 1.0, [6.0, None], False), FREED),
            Case((SUM, 1, 3.0, [1.0, None], False), ([4.0, None], SUM), "nothing was saved: it goes through again"),
            _visible((DIAMOND, 0, 1.0, [None] * 4, False), "6 through node 1, 3 directly; node 2 keeps what it saved"),
            _visible((DETOUR, 0, 1.0, [None] * 5, False), "node 4 sends its sum on, once"),
            Case((SQUARE, 0, 5.0, [None, None], False), ([5.0, None], SQUARE), "a leaf alone"),
            _visible((*LONG_CHAIN, 1.0, [None] * ch06_fresh.LONG, False), LONG_WAY),
        ),
        reference=_backward,
        fresh=ch06_fresh.passes,
        hidden="fresh programs against central differences, second passes, a ladder, a long chain",
        mistakes=(
            Mistake(
                _at_first_arrival,
                "A node sent on its first gradient and dropped those that came later. It must wait until all have "
                "arrived, add them up, and then run once: take the nodes in the order of task 5.",
            ),
            Mistake(_overwritten, "What .grad held before this pass is lost. A pass adds to it (task 6)."),
            Mistake(
                _all_kept,
                "Nodes between root and leaves keep a gradient too. Only leaves do: elsewhere it is passed on and "
                "dropped.",
            ),
            Mistake(
                lambda graph, root, g, grads, retain_graph: _backward(graph, root, 1.0, grads, retain_graph),
                "The pass began with 1 and not with g: the root receives g.",
            ),
            Mistake(
                lambda graph, root, g, grads, retain_graph: (_backward(graph, root, g, grads, False)[0], graph),
                "What the nodes saved was not freed: put what run_node leaves behind back into the graph.",
            ),
            Mistake(
                lambda graph, root, g, grads, retain_graph: _backward(graph, root, g, grads, not retain_graph),
                "retain_graph works the wrong way round.",
            ),
            Mistake(
                lambda *args: _backward(*args)[0],
                "Return two things: the new list of gradients, and the graph as the pass leaves it.",
            ),
        ),
        hint="In the order of task 5: add what arrived; at a leaf accumulate it, elsewhere run the node and hand on.",
        read=ADD_UP,
        same=rounded,
        raised=(
            (
                "RuntimeError",
                "A node was run twice in one pass: its saved values were freed the first time. It runs once, when all "
                "its gradients have arrived: take the nodes in the order of task 5.",
            ),
            ("KeyError", "A gradient is asked for that has not arrived: take the nodes in the order of task 5."),
        ),
    )
)
