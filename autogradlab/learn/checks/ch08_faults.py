"""Tasks 7 and 8 of chapter 08's exercise: loops with a fault, found by reading them and by what they did."""

from . import ch08_fresh
from . import enumerated_descent as descent
from .arrays import Array
from .ch08_fresh import floats
from .ch08_step import STEP
from .task import Case, Check, Mistake, Task

CLEARING = 'chapter 08, "Forgotten: the clearing"'

# 7. review_loop -------------------------------------------------------------------------------------------------------

GOOD = [("forward", True), ("backward", True), ("step", False), ("clear", False)]


def _changed(steps: list, **recorded: bool) -> list:
    return [(what, recorded.get(what, recording)) for what, recording in steps]


def _straight(steps: list) -> tuple[str, ...]:
    """Clearing counts as too early only between backward and step in the order of the list."""
    names = [what for what, _ in steps]
    rest = [fault for fault in descent.review(steps) if fault != "clears before the step"]
    if "clear" in names and names.index("backward") < names.index("clear") < names.index("step"):
        rest.insert(1 if "does not record the loss" in rest else 0, "clears before the step")
    return tuple(rest)


def _before_in_the_list(steps: list) -> tuple[str, ...]:
    """Clearing counts as too early wherever it stands before the step, as if backward came first of all."""
    return descent.review(sorted(steps, key=lambda pair: pair[0] != "backward"))


def _without(*faults: str):
    return lambda steps: tuple(fault for fault in descent.review(steps) if fault not in faults)


review_loop = Check(
    Task(
        name="review_loop",
        parameters=("steps",),
        visible=(
            Case((GOOD,), (), "as in the chapter"),
            Case((GOOD[3:] + GOOD[:3],), (), "clearing first is as good: the round before it has stepped"),
            Case((GOOD[:3],), ("never clears",), "gradients of all rounds add up"),
            Case(([GOOD[0], GOOD[1], GOOD[3], GOOD[2]],), ("clears before the step",), "the step finds nothing"),
            Case((_changed(GOOD, step=True),), ("records the step",), "writing into a leaf raises"),
            Case((_changed(GOOD, forward=False),), ("does not record the loss",), "backward raises"),
            Case(([*GOOD, ("validate", True)],), ("records validation",), "a graph that nobody needs"),
            Case(([GOOD[3], GOOD[2], GOOD[0], GOOD[1]],), ("clears before the step",), "after backward comes clear"),
            Case(
                ([("step", True), GOOD[0], GOOD[1], ("validate", True)],),
                ("never clears", "records the step", "records validation"),
            ),
        ),
        reference=descent.review,
        fresh=ch08_fresh.reviews,
        hidden="fresh rounds, begun anywhere, with none or several faults",
        mistakes=(
            Mistake(
                _before_in_the_list,
                "Clearing at the beginning of a round is no fault: the step of the round before it is done. Look which "
                "of the two comes first after backward.",
            ),
            Mistake(
                _straight,
                "A round is followed by the next: after the last line comes the first. Walk on from backward until you "
                "meet step or clear, over the end of the list if need be.",
            ),
            Mistake(
                lambda steps: descent.review(steps)[:1],
                "Only the first fault came back. A loop may have several: return all of them.",
            ),
            Mistake(
                lambda steps: tuple(sorted(descent.review(steps))),
                "These are the right faults; return them in the order of the table.",
            ),
            Mistake(_without("records validation"), "Validation is recorded, and nobody goes backward through it."),
            Mistake(
                _without("never clears"),
                "Nothing clears the gradients here, so every step uses the sum of all gradients so far.",
            ),
            Mistake(
                _without("clears before the step"),
                "Here the gradients are cleared after backward and before the step has used them.",
            ),
            Mistake(_without("records the step"), "The step is recorded here: it writes into a leaf, and that raises."),
            Mistake(
                _without("does not record the loss"),
                "The forward pass runs without recording here: backward has no graph to go through.",
            ),
        ),
        hint="Look for each fault of the table in turn, and put it on a list if it is there.",
        read=STEP,
        raised=(
            ("ValueError", "`list.index` raises where there is none: clear and validate may be missing."),
            ("KeyError", "clear and validate may be missing: ask whether they are there, with `in` or `.get`."),
        ),
    )
)


# 8. find_fault --------------------------------------------------------------------------------------------------------


def _find_fault(x: Array, y: Array, lr: float, seen: list) -> str:
    paths = {fault: descent.path(x.values, y.values, lr, len(seen), fault) for fault in descent.FAULTS}
    return min(paths, key=lambda fault: max(abs(a - b) for a, b in zip(paths[fault], seen, strict=True)))


def _confusing(one: str, other: str):
    return lambda *args: other if (found := _find_fault(*args)) == one else found


NOBODY = (
    "None came back: no `return`, or none of the loops agreed. Run one for each fault, and compare with a tolerance: "
    "`==` between floats fails for their last digits."
)
POINTS = (floats(1, 2), floats(2, 3))


def _seen(fault: str, note: str) -> Case:
    path = descent.path(POINTS[0].values, POINTS[1].values, 0.05, 3, fault)
    return Case((*POINTS, 0.05, [round(w, 9) for w in path]), fault, note)


find_fault = Check(
    Task(
        name="find_fault",
        parameters=("x", "y", "lr", "seen"),
        visible=(
            _seen("none", "these steps are right"),
            _seen("uphill", "away from the best w"),
            _seen("never cleared", "right at first, then too far"),
            _seen("sum", "twice the gradient, for two points"),
            _seen("column", "towards another w"),
        ),
        reference=_find_fault,
        fresh=ch08_fresh.traces,
        hidden="fresh points and paths of each of the five loops",
        mistakes=(
            Mistake(
                _confusing("never cleared", "none"),
                "The first step cannot tell: without clearing, gradients add up from the second step on. Compare the "
                "whole path.",
            ),
            Mistake(
                _confusing("column", "none"),
                "With a target of shape (n, 1) the difference is a table of shape (n, n); its mean is smallest at "
                "another w. Run that loop too.",
            ),
            Mistake(_confusing("sum", "none"), "These steps are as many times too long as there are points."),
            Mistake(_confusing("uphill", "none"), "This loop goes away from the best w: its step has the wrong sign."),
            Mistake(
                _confusing("sum", "never cleared"),
                "Steps that are too long from the first on come from a sum, not from gradients that were kept.",
            ),
            Mistake(lambda *args: "none", "A fault was overlooked: run the loop with each fault, and compare."),
        ),
        hint="Run a loop for each fault, and return the fault whose path is close to `seen`; compare with a tolerance.",
        read=CLEARING,
        explain=lambda args, value: NOBODY if value is None else None,
    )
)
