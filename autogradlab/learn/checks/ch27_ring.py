"""Tasks 1 to 4 of chapter 27's exercise: a ring all-reduce and its bytes, buckets, and when they set out."""

import math

from . import ch27_fresh
from . import enumerated_ranks as enumerated
from .task import Case, Check, Mistake, Task, same_but_for_rounding

HAND = 'chapter 27, "By hand"'
BUCKETS = 'chapter 27, "Buckets, and what runs beside what"'


def close(args: tuple, expected: object, value: object) -> bool:
    """Equal but for rounding, whatever the arguments."""
    return same_but_for_rounding(expected, value)


# 1. ring_round --------------------------------------------------------------------------------------------------------


def _round(to: int = 1, sent=lambda r, t: r - t, adds=lambda t, n: t < n - 1):
    """A round with another neighbour, another chunk, or another rule of adding."""

    def ring_round(held: list, t: int) -> list:
        n = len(held)
        new = [list(chunks) for chunks in held]
        for r in range(n):
            chunk, there = sent(r, t) % n, (r + to) % n
            new[there][chunk] = held[r][chunk] + (held[there][chunk] if adds(t, n) else 0)
        return new

    return ring_round


THREE = [[1.0, 10.0, 100.0], [2.0, 20.0, 200.0], [4.0, 40.0, 400.0]]

ring_round = Check(
    Task(
        name="ring_round",
        parameters=("held", "t"),
        visible=(
            Case((THREE, 0), [[1.0, 10.0, 500.0], [3.0, 20.0, 200.0], [4.0, 60.0, 400.0]], "rank r sends chunk r"),
            Case((THREE, 1), [[1.0, 50.0, 100.0], [2.0, 20.0, 300.0], [6.0, 40.0, 400.0]], "then chunk r - 1"),
            Case((THREE, 2), [[4.0, 10.0, 100.0], [2.0, 10.0, 200.0], [4.0, 40.0, 200.0]], "passing on: not added"),
            Case((THREE, 3), [[1.0, 10.0, 400.0], [1.0, 20.0, 200.0], [4.0, 20.0, 400.0]]),
            Case(([[1.0, 10.0], [2.0, 20.0]], 0), [[1.0, 30.0], [3.0, 20.0]], "two ranks: one round of adding"),
            Case(([[1.0, 30.0], [3.0, 20.0]], 1), [[3.0, 30.0], [3.0, 30.0]], "and one of passing on"),
        ),
        reference=enumerated.ring_round,
        fresh=ch27_fresh.rounds,
        hidden="fresh numbers, 2 to 5 ranks, all rounds",
        mistakes=(
            Mistake(_round(to=-1), "The chunks went to the left. Rank r sends to rank r + 1, the last one to rank 0."),
            Mistake(
                _round(sent=lambda r, t: r),
                "Each round sent chunk r again. In round t rank r sends chunk r - t, the one it has just worked on.",
            ),
            Mistake(_round(sent=lambda r, t: r + t), "Chunks are counted down: rank r sends chunk r - t, modulo n."),
            Mistake(
                _round(adds=lambda t, n: True),
                "It is added in every round. From round n - 1 on, what comes is a finished sum and replaces.",
            ),
            Mistake(_round(adds=lambda t, n: False), "What came has replaced what was there. First it is added."),
            Mistake(
                _round(adds=lambda t, n: t < n),
                "One round too many adds: n ranks need n - 1 of them, t = 0 to n - 2.",
            ),
        ),
        hint="For each rank r: chunk (r - t) % n of held[r] goes to rank (r + 1) % n; add while t < n - 1.",
        read=HAND,
        same=close,
    )
)


# 2. ring_bytes --------------------------------------------------------------------------------------------------------


def _sent(rounds=lambda n: 2 * (n - 1), size=lambda n, c, ranks: n * (c + 1) // ranks - n * c // ranks, times=True):
    """Bytes with other rounds or other chunks."""

    def ring_bytes(n: int, ranks: int, itemsize: int) -> list[int]:
        counts = [sum(size(n, (r - t) % ranks, ranks) for t in range(rounds(ranks))) for r in range(ranks)]
        return [count * itemsize if times else count for count in counts]

    return ring_bytes


ring_bytes = Check(
    Task(
        name="ring_bytes",
        parameters=("n", "ranks", "itemsize"),
        visible=(
            Case((100, 4, 4), [600, 600, 600, 600], "six chunks of 25 numbers"),
            Case((9, 4, 4), [56, 52, 52, 56], "chunks of 2, 2, 2 and 3 numbers"),
            Case((10, 3, 8), [104, 104, 112], "chunks of 3, 3 and 4"),
            Case((10, 2, 4), [40, 40]),
            Case((10, 1, 4), [0], "nobody to send to"),
        ),
        reference=enumerated.ring_bytes,
        fresh=ch27_fresh.vectors,
        hidden="fresh lengths, ranks and sizes of a number",
        mistakes=(
            Mistake(_sent(rounds=lambda n: n - 1), "Half of the rounds: after adding, the sums are passed on."),
            Mistake(_sent(rounds=lambda n: 2 * n), "There are 2 * (ranks - 1) rounds: n - 1 of each kind."),
            Mistake(
                _sent(size=lambda n, c, ranks: n),
                "A whole vector was counted in each round. A rank sends one chunk a round.",
            ),
            Mistake(
                _sent(size=lambda n, c, ranks: n // ranks),
                "Chunks are not all alike: chunk c reaches from n * c // ranks to n * (c + 1) // ranks.",
            ),
            Mistake(_sent(times=False), "Those are numbers. Each has `itemsize` bytes."),
        ),
        hint="Rank r sends chunk (r - t) % ranks in round t; add up their lengths over 2 * (ranks - 1) rounds.",
        read=HAND,
    )
)


# 3. fill_buckets ------------------------------------------------------------------------------------------------------


def _filled(
    order=lambda n: range(n - 1, -1, -1),
    limits=lambda first, cap: (first, cap),
    rest=True,
    early=False,
    full=lambda size, limit: size >= limit,
):
    """Buckets in another order, with other limits, without the last, or closed before they are full."""

    def fill_buckets(sizes: list, first: int, cap: int) -> list[list[int]]:
        done, held = [], []
        limit, later = limits(first, cap)
        for i in order(len(sizes)):
            if early and held and sum(sizes[j] for j in held) + sizes[i] > limit:
                done, held, limit = [*done, held], [], later
            held = [*held, i]
            if not early and full(sum(sizes[j] for j in held), limit):
                done, held, limit = [*done, held], [], later
        return [*done, held] if held and rest else done

    return fill_buckets


fill_buckets = Check(
    Task(
        name="fill_buckets",
        parameters=("sizes", "first", "cap"),
        visible=(
            Case(([4, 4, 4], 8, 8), [[2, 1], [0]], "exactly the limit is enough"),
            Case(([8, 8, 8, 8], 8, 16), [[3], [2, 1], [0]], "the last parameter first; a small first bucket"),
            Case(([40, 4, 40, 4], 10, 50), [[3, 2], [1, 0]], "closed as soon as it holds at least the limit"),
            Case(([100, 100], 10, 50), [[1], [0]], "a parameter is never cut"),
            Case(([4, 4, 4], 100, 8), [[2, 1, 0]], "one bucket that is never full"),
            Case(([], 8, 16), [], "no parameters"),
        ),
        reference=enumerated.fill_buckets,
        fresh=ch27_fresh.models,
        hidden="fresh sizes and limits",
        mistakes=(
            Mistake(_filled(order=range), "Filled from the first parameter. Backward comes to the last one first."),
            Mistake(
                _filled(early=True),
                "Closed before the limit would be passed. A bucket is closed once it holds at least its limit.",
            ),
            Mistake(_filled(limits=lambda f, c: (c, c)), "The first bucket has a limit of its own, `first`."),
            Mistake(
                _filled(full=lambda size, limit: size > limit),
                "Exactly the limit is enough: a bucket is closed once it holds at least that.",
            ),
            Mistake(
                lambda sizes, first, cap: [*enumerated.fill_buckets(sizes, first, cap), []],
                "The last bucket is empty. Put what is left at the end there only if something is left.",
            ),
            Mistake(
                lambda sizes, first, cap: [sorted(bucket) for bucket in enumerated.fill_buckets(sizes, first, cap)],
                "The buckets are right. In each, too, the parameters stand as they were put in: the last one first.",
            ),
            Mistake(_filled(rest=False), "What is left at the end is a bucket too, full or not."),
            Mistake(_filled(limits=lambda f, c: (f, f)), "`first` holds for the first bucket only; then `cap`."),
        ),
        hint="Go through the parameters backwards; close the bucket when its sum reaches the limit, then limit = cap.",
        read=BUCKETS,
    )
)


# 4. set_out -----------------------------------------------------------------------------------------------------------


def _places(buckets: list, arrivals: list) -> list:
    place = {i: k + 1 for k, i in enumerate(arrivals)}
    return [max(place.get(i, math.inf) for i in bucket) for bucket in buckets]


def _alone(buckets: list, arrivals: list) -> list:
    return [None if at == math.inf else at for at in _places(buckets, arrivals)]


def _from_zero(buckets: list, arrivals: list) -> list:
    return [at and at - 1 for at in enumerated.set_out(buckets, arrivals)]


def _at_the_end(buckets: list, arrivals: list) -> list:
    return [len(arrivals) if at is None else at for at in enumerated.set_out(buckets, arrivals)]


def _with_the_first(buckets: list, arrivals: list) -> list:
    place = {i: k + 1 for k, i in enumerate(arrivals)}
    found, latest = [], 0
    for bucket in buckets:
        here = [place[i] for i in bucket if i in place]
        latest = max(latest, min(here)) if here else latest
        found.append(latest if here else None)
    return found


def _skips_the_held_up(buckets: list, arrivals: list) -> list:
    found, latest = [], 0
    for at in _places(buckets, arrivals):
        latest = latest if at == math.inf else max(latest, at)
        found.append(None if at == math.inf else latest)
    return found


set_out = Check(
    Task(
        name="set_out",
        parameters=("buckets", "arrivals"),
        visible=(
            Case(([[3], [2, 1], [0]], [3, 2, 1, 0]), [1, 3, 4], "a bucket sets out with its last gradient"),
            Case(([[3], [2, 1], [0]], [2, 1, 3, 0]), [3, 3, 4], "the second is full, and waits for the first"),
            Case(([[1], [0]], [0, 1]), [2, 2]),
            Case(([[3], [2, 1], [0]], [3, 2, 0]), [1, None, None], "1 never comes: its bucket holds up the next"),
            Case(([[1, 0]], [1, 0]), [2], "one bucket waits for everything"),
            Case(([[1], [0]], []), [None, None], "no backward"),
        ),
        reference=enumerated.set_out,
        fresh=ch27_fresh.backwards,
        hidden="fresh buckets and orders, with gradients that never come",
        mistakes=(
            Mistake(
                _skips_the_held_up,
                "A bucket set out although one before it never does. Sums start in the same order on every rank.",
            ),
            Mistake(
                _alone,
                "A bucket set out before the one in front of it. All ranks must start their sums in the same order.",
            ),
            Mistake(_from_zero, "One too few: say how many gradients have come, the last one included."),
            Mistake(_at_the_end, "A gradient that never comes is not there at the end either: None."),
            Mistake(_with_the_first, "A bucket sets out when all of its gradients are there, not the first of them."),
        ),
        hint="Note when each gradient comes; a bucket takes the latest of its own and of the buckets before it.",
        read=BUCKETS,
    )
)
