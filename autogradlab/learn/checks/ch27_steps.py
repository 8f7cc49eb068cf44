"""Tasks 5 to 7 of chapter 27's exercise: uneven rows, clipping, and what no_sync leaves out."""

from . import ch27_fresh
from . import enumerated_ranks as enumerated
from .ch27_ring import close
from .task import Case, Check, Mistake, Task

UNEVEN = 'chapter 27, "A step with uneven rows"'
CLIP = 'chapter 27, "Clip before, clip after"'
NO_SYNC = 'chapter 27, "Leaving a sum out: no_sync"'

# 5. loss_factors ------------------------------------------------------------------------------------------------------

loss_factors = Check(
    Task(
        name="loss_factors",
        parameters=("rows",),
        visible=(
            Case(([3, 1],), [1.5, 0.5], "3 * 2 / 4 and 1 * 2 / 4"),
            Case(([8, 8, 8, 8],), [1.0, 1.0, 1.0, 1.0], "equal shares need no factor"),
            Case(([30, 10],), [1.5, 0.5]),
            Case(([4, 0],), [2.0, 0.0], "a rank without rows does not count"),
            Case(([5],), [1.0], "one rank"),
        ),
        reference=enumerated.loss_factors,
        fresh=ch27_fresh.shards,
        hidden="fresh numbers of rows on 1 to 6 ranks",
        mistakes=(
            Mistake(
                lambda rows: [n / sum(rows) for n in rows],
                "Those are shares. DDP divides by the number of ranks as well: multiply by it.",
            ),
            Mistake(
                lambda rows: [sum(rows) / (n * len(rows)) if n else 0.0 for n in rows],
                "Turned over: a rank with more rows counts more.",
            ),
            Mistake(lambda rows: [1.0 for _ in rows], "Then each rank counts alike, whatever rows it has."),
            Mistake(lambda rows: [float(n) for n in rows], "Divide by the mean number of rows, sum(rows) / ranks."),
        ),
        hint="A row must count 1 / total; its loss divided by n, and DDP divides by the number of ranks.",
        explain=lambda args, value: (
            "Numbers as expected, but not all of them are floats: a rank without rows has 0.0, not 0."
            if isinstance(value, list) and value == enumerated.loss_factors(*args)
            else None
        ),
        read=UNEVEN,
        same=close,
    )
)


# 6. clipped_step ------------------------------------------------------------------------------------------------------


def _added(grads: list) -> list[float]:
    return [g * len(grads) for g in enumerated.mean(grads)]


def _sum(grads: list, max_norm: float, when: str) -> list[float]:
    parts = [enumerated.shortened(grad, max_norm) for grad in grads] if when == "before" else grads
    return enumerated.shortened(_added(parts), max_norm if when == "after" else float("inf"))


def _each_number(grads: list, max_norm: float, when: str) -> list[float]:
    def cut(grad: list) -> list[float]:
        return [max(-max_norm, min(max_norm, g)) for g in grad]

    return enumerated.mean([cut(grad) for grad in grads]) if when == "before" else cut(enumerated.mean(grads))


def _to_length(grads: list, max_norm: float, when: str) -> list[float]:
    def cut(grad: list) -> list[float]:
        norm = sum(g * g for g in grad) ** 0.5
        return [g * max_norm / (norm + 1e-6) for g in grad]

    return enumerated.mean([cut(grad) for grad in grads]) if when == "before" else cut(enumerated.mean(grads))


SIX_EIGHT = [[6.0, 8.0], [0.0, 0.0]]

clipped_step = Check(
    Task(
        name="clipped_step",
        parameters=("grads", "max_norm", "when"),
        visible=(
            Case(([[0.3], [0.5]], 1.0, "after"), [0.4], "short gradients stay"),
            Case((SIX_EIGHT, 1.0, "after"), [0.6, 0.8], "the mean is (3, 4), its norm 5"),
            Case((SIX_EIGHT, 1.0, "before"), [0.3, 0.4], "(0.6, 0.8) and (0, 0), averaged"),
            Case(([[8.0], [-6.0]], 1.0, "before"), [0.0], "cut to 1 and -1: nothing is left"),
            Case(([[8.0], [-6.0]], 1.0, "after"), [1.0]),
            Case(([[0.3], [0.5]], 1.0, "before"), [0.4]),
        ),
        reference=enumerated.clipped_step,
        fresh=ch27_fresh.gradients,
        hidden="fresh gradients of 2 to 4 ranks, clipped before and after",
        mistakes=(
            Mistake(
                lambda grads, max_norm, when: enumerated.clipped_step(grads, max_norm, "before"),
                'Each rank was clipped by itself. "after" clips the mean, which all ranks share.',
            ),
            Mistake(
                lambda grads, max_norm, when: enumerated.clipped_step(grads, max_norm, "after"),
                'The mean was clipped. "before" clips each rank\'s own gradient, and averages then.',
            ),
            Mistake(_each_number, "Each number was cut by itself. Clipping shortens a gradient as a whole."),
            Mistake(_sum, "The ranks' gradients were added. DDP averages."),
            Mistake(_to_length, "A gradient that is short enough stays as it is: the factor is at most 1."),
            Mistake(lambda grads, max_norm, when: enumerated.mean(grads), "Nothing was clipped."),
        ),
        hint="A helper that clips one list; apply it to each rank's list before the mean, or to the mean.",
        read=CLIP,
        same=close,
    )
)


# 7. accumulated -------------------------------------------------------------------------------------------------------


def _kept(by: str = "forward", whole: bool = True, mean: bool = True, add: bool = True, outside: bool = True):
    """The bookkeeping, with a part of it changed."""

    def accumulated(calls: list, ranks: int) -> tuple[list[float], int]:
        grad, sums, inside, ready = [0.0] * ranks, 0, False, {}
        for call in calls:
            if call[0] in ("enter", "exit"):
                inside = call[0] == "enter"
            elif call[0] == "forward":
                ready[call[1]] = not inside
            else:
                summed = (ready[call[1]] if by == "forward" else not inside) == outside
                new = call[2]
                after = [a + b if add else b for a, b in zip(grad, new, strict=True)]
                if summed:
                    share = sum(after if whole else new) / (ranks if mean else 1)
                    after = [share] * ranks if whole else [g + share for g in grad]
                grad, sums = after, sums + summed
        return grad, sums

    return accumulated


def _backward(*grads: float, name: str = "a") -> tuple:
    return ("backward", name, list(grads))


IN, OUT, A, B = ("enter",), ("exit",), ("forward", "a"), ("forward", "b")

accumulated = Check(
    Task(
        name="accumulated",
        parameters=("calls", "ranks"),
        visible=(
            Case(([A, _backward(1.0, 2.0)], 2), ([1.5, 1.5], 1), "no no_sync: the mean"),
            Case(([IN, A, _backward(1.0, 2.0), OUT], 2), ([1.0, 2.0], 0), "left apart"),
            Case(([IN, A, OUT, _backward(1.0, 2.0)], 2), ([1.0, 2.0], 0), "forward ran inside: that decides"),
            Case(([A, IN, _backward(1.0, 2.0), OUT], 2), ([1.5, 1.5], 1), "only backward inside: summed"),
            Case(
                ([IN, A, _backward(1.0, 2.0), OUT, B, _backward(1.0, 4.0, name="b")], 2),
                ([4.0, 4.0], 1),
                "2 and 6, averaged: the first piece too",
            ),
            Case(
                ([A, _backward(1.0, 3.0), IN, B, OUT, _backward(1.0, 0.0, name="b")], 2),
                ([3.0, 2.0], 1),
                "the last piece stays apart: the ranks part",
            ),
            Case(([], 3), ([0.0, 0.0, 0.0], 0), "nothing happened"),
        ),
        reference=enumerated.accumulated,
        fresh=ch27_fresh.programs,
        hidden="fresh programs of 2 and 3 ranks",
        mistakes=(
            Mistake(
                _kept(by="backward"),
                "Judged by where backward ran. Forward makes ready for the sum: remember where each forward ran.",
            ),
            Mistake(
                _kept(whole=False),
                "Only the new gradient was averaged. DDP averages what is in .grad, earlier pieces included.",
            ),
            Mistake(_kept(mean=False), "The ranks' gradients were added. DDP averages them."),
            Mistake(_kept(add=False), "A backward replaced what was there. It adds to .grad."),
            Mistake(_kept(outside=False), "Turned over: inside no_sync nothing is summed."),
            Mistake(
                lambda calls, ranks: (enumerated.accumulated(calls, ranks)[0], sum(c[0] == "backward" for c in calls)),
                "The gradients are right. Count only the backward passes that were summed.",
            ),
        ),
        hint="Remember for each forward whether it ran inside; a backward adds, then averages if it ran outside.",
        read=NO_SYNC,
        same=close,
    )
)
