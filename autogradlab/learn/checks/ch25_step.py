"""Tasks 1, 5, 6 and 7 of chapter 25's exercise: pieces, clipping, the order of calls, and the whole step."""

import math

from . import ch25_fresh
from . import enumerated_scaler as enumerated
from .ch25_fresh import INF, NAN
from .ch25_scale import close
from .task import Case, Check, Mistake, Task

PIECES = 'chapter 25, "Pieces of a batch"'
ORDER = 'chapter 25, "In what order"'
CLASS = 'chapter 25, "All of it in one class"'

# 1. group_gradients ---------------------------------------------------------------------------------------------------


def _groups(mean, keep=lambda group, size: True):
    """A value for each group that is kept."""

    def group_gradients(pieces: list, size: int) -> list[float]:
        groups = [pieces[i : i + size] for i in range(0, len(pieces), size)]
        return [mean(group, size) for group in groups if keep(group, size)]

    return group_gradients


def _weighted(group: list, size: int) -> float:
    return enumerated.mean_of_rows(group)


group_gradients = Check(
    Task(
        name="group_gradients",
        parameters=("pieces", "size"),
        visible=(
            Case(([(4, 1.0), (4, 2.0), (2, 6.0)], 4), [2.4], "(4 * 1 + 4 * 2 + 2 * 6) / 10"),
            Case(([(4, 1.0), (4, 2.0), (2, 6.0)], 2), [1.5, 6.0], "the last group has one piece"),
            Case(([(3, 2.0), (1, 6.0)], 2), [3.0], "a large piece counts more"),
            Case(([(2, 1.0), (2, 3.0), (2, 5.0), (2, 7.0)], 2), [2.0, 6.0], "equal pieces: the plain mean"),
            Case(([(5, 3.0)], 4), [3.0], "one piece is a group"),
            Case(([], 4), [], "no data, no step"),
        ),
        reference=enumerated.group_gradients,
        fresh=ch25_fresh.pieces_of_a_batch,
        hidden="fresh pieces of unequal sizes, with last groups that are not full",
        mistakes=(
            Mistake(
                _groups(lambda group, size: sum(g for _, g in group) / size),
                "Each gradient was divided by `size`. Pieces differ in rows, and the last group may hold fewer.",
            ),
            Mistake(
                _groups(lambda group, size: sum(g for _, g in group) / len(group)),
                "That is the mean over pieces. A piece with more rows counts more: weigh it by its part of the rows.",
            ),
            Mistake(
                _groups(_weighted, lambda group, size: len(group) == size),
                "The last group is missing. It is smaller, and a step like any other.",
            ),
            Mistake(
                _groups(lambda group, size: sum(n * g for n, g in group)),
                "That is a sum over rows. Divide by the rows of the group.",
            ),
            Mistake(
                _groups(lambda group, size: sum(n * g for n, g in group) / len(group)),
                "The sum over rows was divided by the number of pieces, not of rows.",
            ),
            Mistake(
                lambda pieces, size: [enumerated.mean_of_rows(pieces)] if pieces else [],
                "All pieces went into one step. After `size` of them a group is complete.",
            ),
        ),
        hint="Cut the list into groups; of each, the sum of rows * gradient, divided by the sum of rows.",
        read=PIECES,
        same=close,
        raised=(("ZeroDivisionError", "Without pieces there is no group: return an empty list."),),
    )
)


# 5. unscale_and_clip --------------------------------------------------------------------------------------------------


def _clipping(norm_of=lambda flat: math.hypot(*flat), cap: bool = True):
    """Unscaling and clipping with another length, or without the cap."""

    def unscale_and_clip(grads: list, scale: float, max_norm: float):
        grads = [[g / scale for g in grad] for grad in grads]
        flat = [g for grad in grads for g in grad]
        if not all(map(math.isfinite, flat)):
            return None
        norm = norm_of(flat)
        factor = max_norm / (norm + 1e-6)
        factor = min(1.0, factor) if cap else factor
        return norm, [[g * factor for g in grad] for grad in grads]

    return unscale_and_clip


def _clipped_first(grads: list, scale: float, max_norm: float):
    found = enumerated.unscale_and_clip(grads, 1.0, max_norm)
    return found and (found[0], [[g / scale for g in grad] for grad in found[1]])


def _clipped_first_norm_right(grads: list, scale: float, max_norm: float):
    found = _clipped_first(grads, scale, max_norm)
    return found and (found[0] / scale, found[1])


def _one_by_one(grads: list, scale: float, max_norm: float):
    found = [enumerated.unscale_and_clip([grad], scale, max_norm) for grad in grads]
    whole = enumerated.unscale_and_clip(grads, scale, max_norm)
    return whole and (whole[0], [grad for _, (grad,) in found])


def _norm_afterwards(grads: list, scale: float, max_norm: float):
    found = enumerated.unscale_and_clip(grads, scale, max_norm)
    return found and (min(found[0], max_norm), found[1])


def _never_unscaled(grads: list, scale: float, max_norm: float):
    return enumerated.unscale_and_clip(grads, 1.0, max_norm)


def _unnoticed(args: tuple, value: object) -> str | None:
    """Said where an overflow went unnoticed."""
    found = {repr(g) for grad in args[0] for g in grad} & {"inf", "-inf", "nan"}
    if value is None or not found:
        return None
    if "nan" in found:
        return "A nan went unnoticed: it is not equal to anything, not even to itself. Ask `math.isfinite`."
    if "-inf" in found:
        return "Looking for inf misses -inf: ask `math.isfinite`."
    return "With an inf among the gradients the answer is None: the step is to be skipped."


unscale_and_clip = Check(
    Task(
        name="unscale_and_clip",
        parameters=("grads", "scale", "max_norm"),
        visible=(
            Case(([[24.0], [32.0]], 8.0, 10.0), (5.0, [[3.0], [4.0]]), "3 and 4 are 5 long: nothing to clip"),
            Case(([[24.0], [32.0]], 8.0, 1.0), (5.0, [[0.6], [0.8]]), "cut to length 1, all by one factor"),
            Case(([[0.8, 0.0], [0.0]], 8.0, 1.0), (0.1, [[0.1, 0.0], [0.0]]), "short ones are not made longer"),
            Case(([[24.0], [INF]], 8.0, 1.0), None, "an overflow: the step is to be skipped"),
            Case(([[24.0, -INF]], 8.0, 1.0), None),
            Case(([[NAN], [32.0]], 8.0, 1.0), None, "nan is no number either"),
            Case(([[0.0], [0.0]], 8.0, 1.0), (0.0, [[0.0], [0.0]]), "zeros have no length to divide by"),
        ),
        reference=enumerated.unscale_and_clip,
        fresh=ch25_fresh.gradients,
        hidden="fresh gradients, long and short, some with inf, -inf or nan",
        mistakes=(
            Mistake(
                _clipped_first,
                "Clipped while they still carried the scale, then divided by it: far too short. Unscale first.",
            ),
            Mistake(
                _clipped_first_norm_right,
                "The norm is right. The gradients were clipped while they still carried the scale: unscale first.",
            ),
            Mistake(_never_unscaled, "The scale is still in them: divide every gradient by it."),
            Mistake(
                _one_by_one,
                "Each list was clipped by its own length. Clipping looks at all gradients together, so that their "
                "direction stays.",
            ),
            Mistake(
                _clipping(cap=False),
                "Gradients shorter than max_norm were made longer. The factor is at most 1.",
            ),
            Mistake(_norm_afterwards, "The gradients are right. The norm that is wanted is the one before clipping."),
            Mistake(
                _clipping(lambda flat: sum(map(abs, flat))), "That is the sum of sizes; the norm is a root of squares."
            ),
            Mistake(
                _clipping(lambda flat: max(map(abs, flat))), "That is the largest size; the norm is a root of squares."
            ),
        ),
        hint="Divide by the scale; None if any is not finite; the root of all squares; multiply by min(1, max / norm).",
        read=ORDER,
        same=close,
        explain=_unnoticed,
        raised=(("ZeroDivisionError", "A norm of 0 cannot be divided by: add 1e-6 to it, as PyTorch does."),),
    )
)


# 6. first_refused -----------------------------------------------------------------------------------------------------


def _by_states(
    key=lambda who: who, step_unscales: bool = True, empty: bool = True, forgets: bool = True, counts: str = ""
):
    """Keeping a state for each optimizer, with a part of the rule left out."""

    def first_refused(calls: list) -> tuple[int, str] | None:
        states: dict = {}
        for place, (what, *who) in enumerate(calls):
            name = key(tuple(who))
            state = states.get(name, "ready")
            if what == "update":
                if empty and not [s for s in states.values() if counts in s]:
                    return place, enumerated.NOTHING
                states = {} if forgets else states
            elif what == "unscale":
                if state == "stepped" and step_unscales:
                    return place, enumerated.AFTER_STEP
                if state == "unscaled":
                    return place, enumerated.UNSCALED_TWICE
                states[name] = "unscaled"
            else:
                if state == "stepped":
                    return place, enumerated.STEPPED_TWICE
                states[name] = "stepped"
        return None

    return first_refused


def _last_refused(calls: list) -> tuple[int, str] | None:
    found = None
    for end in range(len(calls)):
        kept = [call for k, call in enumerate(calls[:end]) if found is None or k != found[0]]
        now = enumerated.first_refused([*kept, calls[end]])
        found = (end, now[1]) if now else found
    return found


def _changed(change):
    """The right answer, told wrongly."""

    def first_refused(calls: list):
        found = enumerated.first_refused(calls)
        return found and change(*found)

    return first_refused


U, S, UPDATE = ("unscale", "a"), ("step", "a"), ("update",)

first_refused = Check(
    Task(
        name="first_refused",
        parameters=("calls",),
        visible=(
            Case(([U, S, UPDATE, S, UPDATE],), None, "as in the chapter; without unscale, step does it"),
            Case(([U, U, S, UPDATE],), (1, "unscaled twice"), "divided by the scale twice"),
            Case(([S, U, UPDATE],), (1, "unscaled after step"), "step has unscaled by itself"),
            Case(([U, S, S, UPDATE],), (2, "stepped twice")),
            Case(([U, S, UPDATE, UPDATE],), (3, "nothing to update"), "nobody has looked for inf since"),
            Case(([U, S, U],), (2, "unscaled after step"), "update is missing"),
            Case(([UPDATE],), (0, "nothing to update")),
            Case(([U, ("unscale", "b"), S, ("step", "b"), UPDATE],), None, "each optimizer has its own state"),
            Case(([U, ("step", "b"), ("unscale", "b"), S],), (2, "unscaled after step"), "it is b that has stepped"),
            Case(([U, UPDATE, U, S],), None, "unscale has looked for inf, so update has something to go by"),
            Case(([],), None),
        ),
        reference=enumerated.first_refused,
        fresh=ch25_fresh.scaler_calls,
        hidden="fresh calls of two optimizers, some with a call too many or too few",
        mistakes=(
            Mistake(
                _by_states(key=lambda who: "all"),
                "Each optimizer has a state of its own: what one has done does not count for the other.",
            ),
            Mistake(
                _by_states(step_unscales=False),
                "After step the gradients are unscaled already, by step itself if by nobody else; unscale is refused.",
            ),
            Mistake(
                _by_states(empty=False),
                "update is refused if no optimizer has unscaled or stepped since the last one: nobody knows of an inf.",
            ),
            Mistake(
                _by_states(forgets=False),
                "update ends the round: afterwards every optimizer may unscale and step again.",
            ),
            Mistake(_last_refused, "Return the first call that is refused, not a later one."),
            Mistake(_changed(lambda place, reason: (place + 1, reason)), "Places count from 0."),
            Mistake(_changed(lambda place, reason: reason), "The reason alone came back. Return its place as well."),
            Mistake(_changed(lambda place, reason: place), "The place alone came back. Return the reason as well."),
            Mistake(
                _by_states(counts="stepped"),
                "update needs to know of an inf, and unscale has looked for one: a round of unscale alone is no fault.",
            ),
            Mistake(
                _changed(lambda place, reason: (place, enumerated.UNSCALED_TWICE)),
                "This optimizer has stepped in this round, so the reason is another one: ask for its step first.",
            ),
        ),
        hint="Keep a state for each optimizer, ready at first; unscale and step change it, update makes all ready.",
        read=ORDER,
        raised=(
            ("IndexError", 'An update has no optimizer: it is the tuple ("update",).'),
            ("ValueError", 'An update has no optimizer, so two names do not fit: it is the tuple ("update",).'),
            ("KeyError", "An optimizer that has done nothing yet is in no dict: `states.get(name, ...)`."),
        ),
    )
)


# 7. training_step -----------------------------------------------------------------------------------------------------


def _stepping(mean=enumerated.mean_of_rows, clip=enumerated.unscale_and_clip, adapted=enumerated.adapt, sign: int = 1):
    """A step with another part in it."""

    def training_step(w: list, pieces: list, state: tuple, lr: float, max_norm: float, interval: int) -> tuple:
        if not all(math.isfinite(g) for _, grad in pieces for g in grad):
            return list(w), adapted(*state, True, interval), False
        grad = [mean([(rows, g[k]) for rows, g in pieces]) for k in range(len(w))]
        _, (grad,) = clip([grad], state[0], max_norm)
        return [v - sign * lr * g for v, g in zip(w, grad, strict=True)], adapted(*state, False, interval), True

    return training_step


def _lost(args: tuple, value: object) -> str | None:
    """Said where w moved by an inf or nan."""
    if all(math.isfinite(g) for _, grad in args[1] for g in grad) or not isinstance(value, tuple) or not value:
        return None
    moved = value[0] != args[0] and isinstance(value[0], list)
    if moved:
        return "w took a step with an inf or nan: it is lost for good. Skip the step, and hand w back as it was."
    return "w is right, but this step was not taken: the last value is False." if value[2:] == (True,) else None


def _each_alone(grads: list, scale: float, max_norm: float):
    return 0.0, [[enumerated.unscale_and_clip([[g]], scale, max_norm)[1][0][0] for g in grad] for grad in grads]


def _unclipped(grads: list, scale: float, max_norm: float):
    return 0.0, [[g / scale for g in grad] for grad in grads]


def _new_scale(w: list, pieces: list, state: tuple, lr: float, max_norm: float, interval: int) -> tuple:
    right = enumerated.training_step(w, pieces, state, lr, max_norm, interval)
    if not right[2]:
        return right
    return enumerated.training_step(w, pieces, (right[1][0], 0), lr, max_norm, interval)[0], *right[1:]


ONE = ([1.0], [(3, [16.0]), (1, [32.0])], (8.0, 0), 0.1, 16.0, 2)

training_step = Check(
    Task(
        name="training_step",
        parameters=("w", "pieces", "state", "lr", "max_norm", "interval"),
        visible=(
            Case(ONE, ([0.75], (8.0, 1), True), "the mean is 20, unscaled 2.5"),
            Case((*ONE[:2], (8.0, 1), *ONE[3:]), ([0.75], (16.0, 0), True), "the second good step doubles the scale"),
            Case(
                ([1.0, 1.0], [(2, [24.0, 32.0])], (8.0, 0), 0.5, 1.0, 2), ([0.7, 0.6], (8.0, 1), True), "clipped to 1"
            ),
            Case(
                ([1.0], [(3, [16.0]), (1, [INF])], (8.0, 1), 0.1, 16.0, 2),
                ([1.0], (4.0, 0), False),
                "skipped: w stays, the scale is halved",
            ),
            Case(([1.0, 2.0], [(1, [NAN, 8.0])], (8.0, 0), 0.1, 16.0, 2), ([1.0, 2.0], (4.0, 0), False)),
        ),
        reference=enumerated.training_step,
        fresh=ch25_fresh.steps,
        hidden="fresh groups, some with an inf or nan",
        mistakes=(
            Mistake(
                _stepping(lambda column: sum(g for _, g in column) / len(column)),
                "The pieces were weighed alike. Weigh them by their rows, as in task 1.",
            ),
            Mistake(
                _stepping(lambda column: sum(g for _, g in column)),
                "The pieces were added up without shares. Weigh them by their rows, as in task 1.",
            ),
            Mistake(_stepping(clip=_clipped_first), "Unscale before clipping: w has hardly moved."),
            Mistake(
                _stepping(clip=_each_alone),
                "Each parameter was clipped by itself. The norm is over all of them: clip them in one call.",
            ),
            Mistake(_stepping(clip=_unclipped), "The gradients were not clipped to max_norm."),
            Mistake(
                _stepping(clip=_never_unscaled),
                "The gradients still carried the scale when they were clipped, and when w was moved.",
            ),
            Mistake(
                _stepping(adapted=lambda scale, good, overflow, interval: (scale, good)),
                "The state is as it was: adapt it after the step, also after one that is skipped.",
            ),
            Mistake(_new_scale, "Unscale by the scale that the loss was multiplied with; adapt it afterwards."),
            Mistake(_stepping(sign=-1), "w went uphill: a step is minus lr times the gradient."),
        ),
        hint="Shares, unscale and clip, a step or none, adapt: your functions of tasks 1, 3 and 5 do most of it.",
        read=CLASS,
        same=close,
        explain=_lost,
        raised=(
            ("TypeError", "`unscale_and_clip` returns None for an overflow: ask for that before you take it apart."),
        ),
    )
)
