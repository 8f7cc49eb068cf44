"""Tasks 4, 5 and 7 of chapter 15's exercise: what a pass holds, shows to hooks, and leaves behind."""

from . import ch15_fresh
from . import enumerated_pass as enumerated
from .ch15_pass import DIAMOND, LAYERS, MADE
from .enumerated_pass import Graph
from .task import Case, Check, Mistake, Task, same_but_for_rounding

FREED = 'chapter 15, "What is freed, and when"'
HOOKS = 'chapter 15, "Hooks, in their places"'
PART = 'chapter 15, "A part of the pass"'


# 4. held_numbers ------------------------------------------------------------------------------------------------------


def _held_wrongly(wrong: str):
    """The history with one thing wrong."""

    def history(graph: Graph, saved: list, sizes: list, root: int, order: list) -> list[int]:
        got, all_saved = {root: 1}, sum(saved) if wrong == "others" else sum(saved[n] for n in order)
        counts = [all_saved + sizes[root]]
        for node in order:
            held = counts[-1]
            for following in graph[node]:
                if wrong == "edges" or following not in got:
                    held += sizes[following]
                got[following] = 1
            if graph[node] and wrong != "gradients" or not graph[node] and wrong == "leaves":
                held -= sizes[node]
            held -= 0 if wrong == "saved" else saved[node]
            counts.append(held)
        return counts[1:] if wrong == "start" else counts

    return history


FORK = [(), (0,), (1,), (), (3,), (4, 2)]  # two branches of two nodes each
FORK_SAVED, FORK_SIZES = [0, 10, 10, 0, 10, 0], [10, 40, 10, 10, 40, 1]

held_numbers = Check(
    Task(
        name="held_numbers",
        parameters=("graph", "saved", "sizes", "root", "order"),
        visible=(
            Case(([(), (0,)], [0, 5], [3, 3], 1, [1, 0]), [8, 3, 3], "5 saved and a gradient of 3; then w.grad"),
            Case((DIAMOND, [0, 5, 7, 0], [2, 2, 2, 2], 3, [3, 2, 1, 0]), [14, 16, 9, 2, 2], "node 0's two are summed"),
            Case(
                (FORK, FORK_SAVED, FORK_SIZES, 5, [5, 4, 3, 2, 1, 0]),
                [31, 80, 40, 40, 60, 20, 20],
                "one branch after the other: 80 at most",
            ),
            Case(
                (FORK, FORK_SAVED, FORK_SIZES, 5, [5, 2, 4, 1, 3, 0]),
                [31, 80, 100, 60, 20, 20, 20],
                "in turns: 100",
            ),
            Case((LAYERS, [0, 4, 0, 0, 0, 8, 16], [2] * 7, 5, [5, 0, 4]), [10, 4, 4, 4], "nodes 1 and 6 have no part"),
            Case(([()], [0], [6], 0, [0]), [6, 6], "a leaf alone"),
        ),
        reference=enumerated.held,
        fresh=ch15_fresh.memories,
        hidden="fresh graphs in any right order",
        mistakes=(
            Mistake(
                _held_wrongly("saved"), "What the nodes saved was never given back: it goes when the node has run."
            ),
            Mistake(
                _held_wrongly("edges"),
                "A second gradient for the same node is added into the first: no new numbers are held.",
            ),
            Mistake(
                _held_wrongly("gradients"), "A node's own gradient is dropped when it has run: nobody needs it further."
            ),
            Mistake(_held_wrongly("leaves"), "A leaf's gradient stays: it becomes .grad."),
            Mistake(_held_wrongly("start"), "The list begins with what is held before the first step."),
            Mistake(_held_wrongly("others"), "Nodes that have no part in the pass are not counted, before or after."),
        ),
        hint="For each node: new gradients come, its own goes (not a leaf's), and what it saved goes.",
        read=FREED,
    )
)


# 5. step_with_hooks ---------------------------------------------------------------------------------------------------

PLACES = {"tensor": 0, "retain": 1, "pre": 2, "post": 3}


def _applied(g: float, what: tuple | None) -> float:
    return g if what is None else g * what[1] if what[0] == "mul" else g + what[1]


def _step(g: float, factor: float, hooks: list, places: dict = PLACES) -> tuple:
    kept, called, times = None, sorted(hooks, key=lambda hook: places[hook[0]]), False
    for kind, what in called:
        if kind == "post" and not times:
            g, times = g * factor, True
        kept = g if kind == "retain" else kept
        g = _applied(g, what)
    return kept, g if times else g * factor, [kind for kind, _ in called]


def _as_registered(g: float, factor: float, hooks: list) -> tuple:
    return _step(g, factor, hooks, dict.fromkeys(PLACES, 0))


def _all_before(g: float, factor: float, hooks: list) -> tuple:
    kept, handed, log = _step(g, 1.0, hooks)
    return kept, handed * factor, log


def _each_sees_the_first(g: float, factor: float, hooks: list) -> tuple:
    """Of several tensor hooks only the last one's answer counts."""
    last = [hook for hook in hooks if hook[0] == "tensor" and hook[1] is not None][-1:]
    kept, handed, _ = _step(g, factor, [hook for hook in hooks if hook[0] != "tensor" or hook in last])
    return kept, handed, _step(g, factor, hooks)[2]


def _with(**places: int):
    return lambda g, factor, hooks: _step(g, factor, hooks, PLACES | places)


EVERY = [
    ("post", ("add", 1.0)),
    ("retain", None),
    ("tensor", ("mul", 10.0)),
    ("pre", ("mul", 2.0)),
    ("tensor", ("add", 1.0)),
]

step_with_hooks = Check(
    Task(
        name="step_with_hooks",
        parameters=("g", "factor", "hooks"),
        visible=(
            Case((2.0, 3.0, []), (None, 6.0, []), "no hooks"),
            Case((1.0, 3.0, EVERY), (11.0, 67.0, ["tensor", "tensor", "retain", "pre", "post"])),
            Case((1.0, 3.0, [("tensor", ("mul", 10.0)), ("tensor", ("add", 1.0))]), (None, 33.0, ["tensor", "tensor"])),
            Case(
                (1.0, 3.0, [("retain", None), ("tensor", ("mul", 10.0))]),
                (10.0, 30.0, ["tensor", "retain"]),
                "retain_grad looks last",
            ),
            Case((1.0, 3.0, [("post", ("add", 1.0))]), (None, 4.0, ["post"]), "after the node: 3 + 1"),
            Case((1.0, 3.0, [("pre", ("add", 1.0)), ("retain", None)]), (1.0, 6.0, ["retain", "pre"])),
            Case((5.0, 2.0, [("tensor", None), ("post", None)]), (None, 10.0, ["tensor", "post"]), "they only look"),
        ),
        reference=_step,
        fresh=ch15_fresh.hooked,
        hidden="fresh hooks in fresh orders",
        mistakes=(
            Mistake(
                _as_registered,
                "The hooks were called as they were registered. Their kinds come in a fixed order; only hooks of one "
                "kind keep theirs.",
            ),
            Mistake(_with(retain=-1), "retain_grad kept the gradient that arrived. It looks after all tensor hooks."),
            Mistake(_with(retain=3, post=4), "retain_grad comes before the node's own hooks."),
            Mistake(_with(pre=-1), "The node's pre-hooks come after the tensor's hooks."),
            Mistake(
                _all_before,
                "A post hook sees the gradient of the input, after the node has multiplied, and replaces that.",
            ),
            Mistake(_each_sees_the_first, "Each hook of a tensor sees what the one before returned."),
            Mistake(
                lambda *args: _step(*args)[:2],
                "Return three things: what is kept, what goes on, and the kinds in the order called.",
            ),
        ),
        hint="Four rounds over the hooks: tensor, retain, pre, then the factor, then post.",
        read=HOOKS,
        same=lambda args, expected, value: same_but_for_rounding(expected, value),
        raised=(("TypeError", "None instead of an action says that the hook returns None: the gradient stays."),),
    )
)


# 7. run_passes --------------------------------------------------------------------------------------------------------


def _run(graph: Graph, sequence: list, saves: list, passes: list, wrong: str = "") -> list:
    freed: set[int] = set()
    told: list = []
    for root, wanted, retain in passes:
        ran = enumerated.order(graph, sequence, root, None if wrong == "whole" else wanted)
        failing = next((n for n in ran if n in freed and (saves[n] or wrong == "empty")), None)
        told.append(failing)
        done = ran if failing is None or wrong == "all" else ran[: ran.index(failing)]
        if wrong == "nothing" and failing is not None:
            done = []
        if not retain or wrong == "never":
            freed |= {n for n in done if graph[n]}
    return told


def _wrongly(wrong: str):
    return lambda graph, sequence, saves, passes: _run(graph, sequence, saves, passes, wrong)


SAVES = [False, True, False, False, False, True, True]


def _visible(passes: list, note: str, saves: list = SAVES) -> Case:
    return Case((LAYERS, MADE, saves, passes), _run(LAYERS, MADE, saves, passes), note)


run_passes = Check(
    Task(
        name="run_passes",
        parameters=("graph", "sequence", "saves", "passes"),
        visible=(
            Case((LAYERS, MADE, SAVES, [(3, None, False), (3, None, False)]), [None, 6], "node 6 is the first to miss"),
            Case((LAYERS, MADE, SAVES, [(3, None, True), (3, None, False), (3, None, False)]), [None, None, 6]),
            Case((LAYERS, MADE, SAVES, [(3, [2], False), (1, None, False)]), [None, None], "y's part was left out"),
            Case((LAYERS, MADE, SAVES, [(3, [2], False), (3, None, False)]), [None, 6]),
            _visible([(1, None, False), (3, None, False), (3, [2], False)], "the second frees node 6 before it fails"),
            _visible([(3, None, False), (3, None, False)], "only node 1 saved something", [n == 1 for n in range(7)]),
            _visible([(3, None, False)] * 3, "nothing was saved", [False] * 7),
            Case(
                (DIAMOND, [None, 0, 1, 2], [False, True, True, True], [(n, None, False) for n in (2, 3, 1, 3)]),
                [None, 2, None, 3],
                "the second runs node 3, fails at node 2, and never comes to node 1",
            ),
        ),
        reference=_run,
        fresh=ch15_fresh.histories,
        hidden="fresh graphs and passes",
        mistakes=(
            Mistake(_wrongly("never"), "retain_graph=True keeps what was saved: that pass frees nothing."),
            Mistake(_wrongly("empty"), "A node that saved nothing has nothing to miss: it runs as often as you like."),
            Mistake(_wrongly("whole"), "A pass for some leaves runs, and frees, only what leads to them (task 3)."),
            Mistake(_wrongly("nothing"), "The nodes that ran before the failing one are freed all the same."),
            Mistake(_wrongly("all"), "The pass ends at the node that fails: those after it keep what they saved."),
            Mistake(
                lambda *args: [found is None for found in _run(*args)],
                "None says that a pass went through; otherwise name the node that failed.",
            ),
        ),
        hint="Keep a set of freed nodes. Go through each pass's order until a node is asked for what it no longer has.",
        read=PART,
    )
)
