"""Tasks 1, 2, 3 and 7 of chapter 06's exercise: one node, what it saves, its formula, and how its values are freed."""

import math

from . import ch06_fresh
from . import enumerated_graph as enumerated
from .enumerated_graph import FORWARD, Node
from .task import Case, Check, Mistake, Raises, Task, same_but_for_rounding

WRITTEN = 'chapter 06, "What is written down"'
CHAIN = 'chapter 06, "The chain rule, run backwards"'
BY_HAND = 'chapter 06, "Checked by hand"'
SECOND = 'chapter 06, "A second time"'


def rounded(args: tuple, expected: object, value: object) -> bool:
    """Equal but for rounding, whatever the arguments."""
    return same_but_for_rounding(expected, value)


# 1. record ------------------------------------------------------------------------------------------------------------


def _record(name: str, inputs: tuple, next_nodes: tuple) -> tuple:
    asked = any(n is not None for n in next_nodes)
    return FORWARD[name](*inputs), ch06_fresh.node(name, inputs, next_nodes) if asked else None


def _always(name: str, inputs: tuple, next_nodes: tuple) -> tuple:
    return FORWARD[name](*inputs), ch06_fresh.node(name, inputs, next_nodes)


def _saving(saved):
    """Recording that saves what this function says."""

    def record(name: str, inputs: tuple, next_nodes: tuple) -> tuple:
        result, node = _record(name, inputs, next_nodes)
        return result, node and (name, saved(name, inputs, next_nodes, node[1]), next_nodes)

    return record


def _own(name: str, inputs: tuple, next_nodes: tuple, right: tuple) -> tuple:
    own = tuple(None if n is None else x for n, x in zip(next_nodes, inputs, strict=True))
    return own if name == "mul" else right


record = Check(
    Task(
        name="record",
        parameters=("name", "inputs", "next_nodes"),
        visible=(
            Case(("add", (2.0, 5.0), (0, 1)), (7.0, ("add", (), (0, 1))), "a sum needs nothing for its gradients"),
            Case(("mul", (2.0, 5.0), (0, 1)), (10.0, ("mul", (2.0, 5.0), (0, 1))), "each needs the other"),
            Case(("mul", (2.0, 5.0), (0, None)), (10.0, ("mul", (None, 5.0), (0, None))), "only a's gradient: needs b"),
            Case(("mul", (2.0, 5.0), (None, 4)), (10.0, ("mul", (2.0, None), (None, 4)))),
            Case(("exp", (0.5,), (3,)), (math.exp(0.5), ("exp", (math.exp(0.5),), (3,))), "exp saves its result"),
            Case(("mul", (3.0, 3.0), (0, 0)), (9.0, ("mul", (3.0, 3.0), (0, 0))), "x * x: two edges to one node"),
            Case(("mul", (2.0, 5.0), (None, None)), (10.0, None), "nobody asks: nothing is written down"),
        ),
        reference=_record,
        fresh=ch06_fresh.records,
        hidden="fresh numbers, inputs that ask and inputs that do not",
        mistakes=(
            Mistake(
                lambda name, inputs, next_nodes: (
                    _record(name, inputs, next_nodes) if any(next_nodes) else (FORWARD[name](*inputs), None)
                ),
                "Node number 0 was taken for nobody, since 0 is false in an `if` and in `any`. Compare with None.",
            ),
            Mistake(_always, "No input asks for a gradient, so there is nothing to go back to: the node is None."),
            Mistake(
                _saving(lambda name, inputs, next_nodes, right: inputs if name == "mul" else right),
                "The product saved both factors. A factor is needed for the gradient of the other one: if that is not "
                "asked for, put None in its place.",
            ),
            Mistake(
                _saving(_own),
                "Each factor was saved for its own gradient. The gradient of a factor needs the other factor.",
            ),
            Mistake(
                _saving(lambda name, inputs, next_nodes, right: inputs if name == "exp" else right),
                "exp saved its input. Its slope is its own result, which is there already: save that.",
            ),
            Mistake(
                _saving(lambda name, inputs, next_nodes, right: inputs),
                "All inputs were saved, needed or not. Saved values are what a graph costs: keep only what a gradient "
                "that is asked for needs. An addition needs nothing, exp its own result.",
            ),
        ),
        hint="Return (result, node). The node is (name, saved, next_nodes); only `saved` differs from name to name.",
        read=WRITTEN,
        same=rounded,
    )
)


# 2. node_gradients ----------------------------------------------------------------------------------------------------


def _node_gradients(node: Node, g: float) -> tuple:
    return tuple(None if f is None else enumerated.rounded(g * f) for f in enumerated.factors(node))


def _own_factor(node: Node, g: float) -> tuple:
    if node[0] != "mul":
        return _node_gradients(node, g)
    return tuple(None if n is None else g * x for n, x in zip(node[2], node[1], strict=True))


def _exp_of_result(node: Node, g: float) -> tuple:
    return (g * math.exp(node[1][0]),) if node[0] == "exp" else _node_gradients(node, g)


node_gradients = Check(
    Task(
        name="node_gradients",
        parameters=("node", "g"),
        visible=(
            Case((("add", (), (0, 1)), 3.0), (3.0, 3.0), "a sum hands g on to both"),
            Case((("mul", (2.0, 5.0), (0, 1)), 3.0), (15.0, 6.0), "g times the other factor"),
            Case((("mul", (None, 5.0), (0, None)), 3.0), (15.0, None), "nobody asks for the second"),
            Case((("exp", (2.5,), (4,)), 2.0), (5.0,), "g times the saved result"),
            Case((("add", (), (None, 7)), -1.0), (None, -1.0)),
            Case((("mul", (3.0, 3.0), (0, 0)), 1.0), (3.0, 3.0), "x * x: each edge brings its part"),
        ),
        reference=_node_gradients,
        fresh=ch06_fresh.arrivals_at_nodes,
        hidden="fresh nodes, compared with central differences",
        mistakes=(
            Mistake(
                lambda node, g: _node_gradients(node, 1.0),
                "g is missing. These are the node's own slopes; the chain rule multiplies each by what arrived.",
            ),
            Mistake(_own_factor, "Each factor was multiplied by its own value. The slope of a * b along a is b."),
            Mistake(
                _exp_of_result,
                "exp was applied to the saved number. What exp saved is its result already, and that is its slope.",
            ),
            Mistake(
                lambda node, g: tuple(0.0 if f is None else f for f in _node_gradients(node, g)),
                "0 came back for an input that asks for no gradient. None says that there is none to compute.",
            ),
            Mistake(
                lambda node, g: tuple(f for f in _node_gradients(node, g) if f is not None),
                "One result for each input, so that it is clear which is whose: None for one that asks for nothing.",
            ),
            Mistake(
                lambda node, g: (g, g) if node[0] == "mul" else _node_gradients(node, g),
                "That is the rule of a sum. A product hands on g times the other factor.",
            ),
        ),
        hint="One number for each entry of next_nodes, g times the slope along that input; None where there is None.",
        read=CHAIN,
        same=rounded,
        raised=(
            ("TypeError", "A factor that nobody needed was not saved: None stands there. Ask next_nodes[k] first."),
            ("IndexError", "An addition saved nothing: `saved` is empty. And exp has one input only."),
        ),
    )
)


# 3. central_difference ------------------------------------------------------------------------------------------------


def _one_side(name: str, inputs: tuple, k: int, h: float) -> float:
    moved = tuple(x + h if n == k else x for n, x in enumerate(inputs))
    return (FORWARD[name](*moved) - FORWARD[name](*inputs)) / h


def _all_moved(name: str, inputs: tuple, k: int, h: float) -> float:
    up, down = (tuple(x + side * h for x in inputs) for side in (1, -1))
    return (FORWARD[name](*up) - FORWARD[name](*down)) / (2 * h)


central_difference = Check(
    Task(
        name="central_difference",
        parameters=("name", "inputs", "k", "h"),
        visible=(
            Case(("mul", (2.0, 5.0), 0, 0.01), 5.0, "the other factor"),
            Case(("mul", (2.0, 5.0), 1, 0.01), 2.0),
            Case(("add", (2.0, 5.0), 1, 0.01), 1.0),
            Case(("exp", (0.0,), 0, 0.1), 1.001667500198441, "the slope is 1, and h = 0.1 is coarse"),
            Case(("exp", (1.0,), 0, 0.01), 2.718327133382692, "close to e"),
        ),
        reference=enumerated.slope,
        fresh=ch06_fresh.moves,
        hidden="fresh inputs and step sizes",
        mistakes=(
            Mistake(
                _one_side,
                "Only one side was moved. The slope between x and x + h lies at x + h/2; moving to both sides by the "
                "same h puts it at x, and the error falls with h * h instead of h.",
            ),
            Mistake(
                lambda *args: 2 * enumerated.slope(*args),
                "From x - h to x + h it is a way of 2 * h: divide by that.",
            ),
            Mistake(_all_moved, "All inputs were moved at once. Move input k alone; the others stay where they are."),
            Mistake(lambda *args: -enumerated.slope(*args), "The sign is wrong: the upper end minus the lower end."),
            Mistake(
                lambda name, inputs, k, h: enumerated.slope(name, inputs, k, h) * 2 * h,
                "This is how far the result moves. The slope is that, divided by how far the input moved.",
            ),
        ),
        hint="(result with input k moved up by h, minus result with it moved down by h) / (2 * h).",
        read=BY_HAND,
        same=rounded,
    )
)


# 7. run_node ----------------------------------------------------------------------------------------------------------

FREED = Raises("RuntimeError", "what the node saved was freed by an earlier pass", ("second time", "retain_graph"))


def is_freed(node: Node) -> bool:
    """Whether the node needs saved values and has them no more."""
    return node[1] is None


def _run_node(node: Node, g: float, retain_graph: bool) -> tuple | Raises:
    if is_freed(node):
        return FREED
    return _node_gradients(node, g), node if retain_graph or not node[1] else (node[0], None, node[2])


def _leaving(after):
    """Running a node that leaves behind what this function makes of it."""
    return lambda node, g, retain_graph: (_node_gradients(node, g), after(node, retain_graph))


run_node = Check(
    Task(
        name="run_node",
        parameters=("node", "g", "retain_graph"),
        visible=(
            Case((("mul", (2.0, 5.0), (0, 1)), 1.0, False), ((5.0, 2.0), ("mul", None, (0, 1))), "used and freed"),
            Case((("mul", (2.0, 5.0), (0, 1)), 1.0, True), ((5.0, 2.0), ("mul", (2.0, 5.0), (0, 1))), "kept"),
            Case(
                (("add", (), (0, 1)), 3.0, False), ((3.0, 3.0), ("add", (), (0, 1))), "nothing was saved, so it stays"
            ),
            Case((("exp", (2.5,), (4,)), 2.0, False), ((5.0,), ("exp", None, (4,)))),
            Case((("mul", None, (0, 1)), 1.0, False), FREED),
            Case((("exp", None, (4,)), 1.0, True), FREED, "too late to retain"),
        ),
        reference=_run_node,
        fresh=ch06_fresh.runs,
        hidden="fresh nodes, some of which ran before",
        mistakes=(
            Mistake(
                _leaving(lambda node, retain_graph: node),
                "Nothing was freed. Without retain_graph the node is left with None in place of what it had saved.",
            ),
            Mistake(
                _leaving(lambda node, retain_graph: node if retain_graph else (node[0], None, node[2])),
                "A node that saved nothing has nothing to free: it keeps its (), and a second pass goes through it.",
            ),
            Mistake(
                _leaving(lambda node, retain_graph: (node[0], None if node[1] else (), node[2])),
                "retain_graph=True asks to keep what was saved, for another pass.",
            ),
            Mistake(
                _leaving(lambda node, retain_graph: node if retain_graph else (node[0], (), node[2])),
                "An empty () says that nothing was ever saved, so the next pass could not know what it misses. "
                "None says that it was freed.",
            ),
            Mistake(
                _leaving(lambda node, retain_graph: node if retain_graph else (node[0], None, (None,) * len(node[2]))),
                "The edges were cut. Only saved values are freed; next_nodes stay, as chapter 06 showed.",
            ),
            Mistake(
                lambda *args: _run_node(*args)[::-1],
                "The pair is the other way round: first the gradients, then the node as it is left behind.",
            ),
        ),
        hint="If saved is None, raise; then the gradients (task 2), and the node with None for what it had saved.",
        read=SECOND,
        same=rounded,
        raised=(("TypeError", "None stands where saved values are expected: they were freed. Look at that first."),),
    )
)
