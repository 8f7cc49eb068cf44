"""Tasks 4, 5, 7 and 8 of chapter 21's exercise: what agrees, the report, kinks, and higher orders."""

from . import ch21_fresh
from . import enumerated_polynomial as enumerated
from .task import Case, Check, Mistake, Task, same_but_for_rounding

BUILD = 'chapter 21, "Build it"'
BLIND = 'chapter 21, "What it does not see"'
NAN, INF = float("nan"), float("inf")


# 4. within_tolerance --------------------------------------------------------------------------------------------------


def _formula(a: float, n: float, atol: float, rtol: float) -> bool:
    return abs(a - n) <= atol + rtol * abs(n)


within_tolerance = Check(
    Task(
        name="within_tolerance",
        parameters=("analytical", "numerical", "atol", "rtol"),
        visible=(
            Case((1.0, 1.05, 0.0, 0.1), True, "0.05 against 0.105"),
            Case((0.0, 0.1, 0.0, 0.5), False, "0.1 against 0.05"),
            Case((0.05, 0.0, 0.1, 0.1), True, "near 0 only atol counts"),
            Case((-1.0, -1.5, 0.25, 0.25), True, "0.5 against 0.25 + 0.375"),
            Case((0.5, 0.25, 0.125, 0.25), False, "0.25 against 0.125 + 0.0625, and not half of 0.5"),
            Case((2.0, 2.0, 0.0, 0.0), True, "0 is at most 0"),
            Case((1.5, 1.0, 0.5, 0.0), True, "0.5 against 0.5 + 0: at most"),
            Case((NAN, NAN, 0.0, 0.0), True, "nan with nan"),
            Case((NAN, 1.0, 1.0, 1.0), False),
            Case((1.0, INF, 1.0, 1.0), False, "everything is at most 1 + inf"),
            Case((-INF, INF, 1.0, 1.0), False),
            Case((INF, INF, 0.0, 0.0), True, "the same infinity"),
        ),
        reference=enumerated.agree,
        fresh=ch21_fresh.slopes,
        hidden="fresh slopes, nan and infinities",
        mistakes=(
            Mistake(
                _formula,
                "For finite numbers this is right. nan is never at most anything, and everything is at most inf.",
            ),
            Mistake(
                lambda a, n, atol, rtol: enumerated.agree(n, a, atol, rtol),
                "The tolerance is measured by the numerical slope: rtol * |numerical|.",
            ),
            Mistake(
                lambda a, n, atol, rtol: enumerated.agree(a, n, max(atol, rtol * abs(n)), 0.0),
                "The two tolerances are added, the larger one alone is not enough.",
            ),
            Mistake(
                lambda a, n, atol, rtol: abs(a - n) < atol + rtol * abs(n),
                "A difference exactly as large as what is allowed agrees: at most, not less than.",
            ),
            Mistake(
                lambda a, n, atol, rtol: enumerated.agree(a, n, atol, 0.0),
                "rtol was left out: the allowed difference grows with the slope.",
            ),
            Mistake(
                lambda a, n, atol, rtol: enumerated.agree(a, n, 0.0, rtol),
                "atol was left out: it is what is allowed near 0.",
            ),
            Mistake(
                lambda a, n, atol, rtol: a - n <= atol + rtol * abs(n),
                "The difference counts without its sign: a slope that is too small is wrong too.",
            ),
        ),
        hint="nan first, infinities second, and then |analytical - numerical| <= atol + rtol * |numerical|.",
        read=BUILD,
    )
)


# 5. worst_mismatch ----------------------------------------------------------------------------------------------------


def _entries(analytical: list, numerical: list, atol: float, rtol: float) -> list[tuple]:
    """(how many times too much, output, input, numerical, analytical) of what does not agree, in reading order."""
    return [
        (abs(a - n) / (atol + rtol * abs(n)), k, j, n, a)
        for k, rows in enumerate(zip(analytical, numerical, strict=True))
        for j, (a, n) in enumerate(zip(*rows, strict=True))
        if not enumerated.agree(a, n, atol, rtol)
    ]


def _worst(analytical: list, numerical: list, atol: float, rtol: float) -> tuple | None:
    found = sorted(_entries(analytical, numerical, atol, rtol), key=lambda entry: (-entry[0], entry[1:3]))
    return found[0][1:] if found else None


def _chosen(by):
    """The report about another of the entries that do not agree."""

    def report(analytical: list, numerical: list, atol: float, rtol: float) -> tuple | None:
        found = _entries(analytical, numerical, atol, rtol)
        return by(found)[1:] if found else None

    return report


def _changed(change):
    """The right report, told wrongly."""

    def report(*args):
        worst = _worst(*args)
        return worst and change(worst)

    return report


worst_mismatch = Check(
    Task(
        name="worst_mismatch",
        parameters=("analytical", "numerical", "atol", "rtol"),
        visible=(
            Case(([[1.0, 2.0]], [[1.0, 2.0]], 0.1, 0.0), None, "all agree"),
            Case(([[1.0, 9.0]], [[1.0, 2.0]], 0.1, 0.0), (0, 1, 2.0, 9.0)),
            Case(
                ([[1.5, 1300.0, 4.0]], [[1.0, 1000.0, 2.0]], 0.1, 0.1),
                (0, 2, 2.0, 4.0),
                "0.5, 300 and 2 against 0.2, 100.1 and 0.3",
            ),
            Case(([[110.0], [2.0]], [[100.0], [1.0]], 0.01, 0.01), (1, 0, 1.0, 2.0), "50 times what is allowed"),
            Case(([[1.25, 2.0], [4.0, 3.0]], [[1.0, 1.0], [3.0, 2.0]], 0.5, 0.0), (0, 1, 1.0, 2.0), "three are equal"),
            Case(([[1.0], [-8.0]], [[9.0], [1.0]], 1.0, 0.0), (1, 0, 1.0, -8.0)),
        ),
        reference=_worst,
        fresh=ch21_fresh.jacobians,
        hidden="fresh Jacobians of all sizes",
        mistakes=(
            Mistake(
                _chosen(lambda found: max(found, key=lambda e: abs(e[4] - e[3]))),
                "The largest difference came back. The worst is the largest as a multiple of what is allowed there.",
            ),
            Mistake(
                _chosen(lambda found: found[0]),
                "The first entry that does not agree came back, not the worst of them.",
            ),
            Mistake(
                _chosen(lambda found: max(reversed(found), key=lambda e: e[0])),
                "Of equals the first in reading order is reported: replace it only by a larger one.",
            ),
            Mistake(_changed(lambda w: (w[1], w[0], *w[2:])), "The output comes first, then the input."),
            Mistake(_changed(lambda w: (*w[:2], w[3], w[2])), "The measured slope comes third, that of backward last."),
            Mistake(lambda *args: _worst(*args) is None, "Say where and what, not only whether: None, or four things."),
        ),
        hint="In reading order, keep the entry with the largest |a - n| / (atol + rtol * |n|) that does not agree.",
        read=BUILD,
        same=lambda args, expected, value: same_but_for_rounding(expected, value),
    )
)  # fmt: skip


# 7. judge_point -------------------------------------------------------------------------------------------------------


def _judged(left: float, middle: float, right: float, eps: float, slope: float, tol: float) -> str:
    ways = {"before": (middle - left) / eps, "after": (right - middle) / eps, "both": (right - left) / eps / 2}
    if not all(abs(value) < INF for value in (left, middle, right, slope)):
        return "edge"
    return (
        "kink"
        if abs(ways["before"] - ways["after"]) > tol
        else "right"
        if abs(ways["both"] - slope) <= tol
        else "wrong"
    )


def _agreement_first(left, middle, right, eps, slope, tol):
    verdict = _judged(left, middle, right, eps, slope, tol)
    return "right" if verdict == "kink" and abs((right - left) / (2 * eps) - slope) <= tol else verdict


judge_point = Check(
    Task(
        name="judge_point",
        parameters=("left", "middle", "right", "eps", "slope", "tol"),
        visible=(
            Case((0.0, 0.0, 0.5, 0.5, 0.0, 0.1), "kink", "relu at 0: slopes 0 and 1"),
            Case((0.5, 0.0, 0.5, 0.5, 0.0, 0.1), "kink", "|x| at 0: -1 and 1"),
            Case((1.0, 2.0, 3.0, 0.5, 2.0, 0.1), "right"),
            Case((1.0, 2.0, 3.0, 0.5, 4.0, 0.1), "wrong"),
            Case((3.0, 2.0, 1.0, 0.5, 2.0, 0.1), "wrong", "the sign"),
            Case((-INF, -INF, 0.0, 0.5, INF, 0.1), "edge", "log at 0"),
            Case((1.0, 2.0, 3.0, 0.5, NAN, 0.1), "edge"),
        ),
        reference=_judged,
        fresh=ch21_fresh.places,
        hidden="fresh places of every kind",
        mistakes=(
            Mistake(
                _agreement_first,
                "The slope agrees with the central difference, but the two sides do not agree: ask that first.",
            ),
            Mistake(
                lambda left, middle, right, eps, slope, tol: _judged(left, middle, right, eps, slope / 2, tol),
                "The points of the central difference lie 2 * eps apart.",
            ),
            Mistake(
                lambda left, middle, right, eps, slope, tol: (
                    "edge" if _judged(left, middle, right, eps, slope, tol) == "edge"
                    else "right" if abs((right - left) / (2 * eps) - slope) <= tol else "wrong"
                ),
                "Kinks were not looked for: compare the slope to the left with that to the right.",
            ),
            Mistake(
                lambda left, middle, right, eps, slope, tol: _judged(left, middle, right, eps, abs(slope), tol)
                if slope < 0 else _judged(-abs(left), -abs(middle), -abs(right), eps, slope, tol),
                "Signs count: a slope of 2 is not one of -2.",
            ),
        ),
        hint='In this order: not finite is "edge", sides that differ "kink", then the central difference decides.',
        read=BLIND,
        explain=lambda args, value: (
            'One of the four numbers is nan or infinite: that is an "edge", whatever comes out of the formulas.'
            if _judged(*args) == "edge" and isinstance(value, str) else None
        ),
        raised=(("ValueError", "nan and infinities come first: ask math.isfinite before any formula."),),
    )
)  # fmt: skip


# 8. first_wrong_order -------------------------------------------------------------------------------------------------


def _orders(orders: list, points: list, eps: float, atol: float, rtol: float, every=any, gap: int = 1) -> int | None:
    for number in range(gap, len(orders)):
        wrong = []
        for point in points:
            measured = float(enumerated.jacobian(orders[number - gap], [point], eps)[0][0])
            claimed = float(enumerated.outputs(orders[number], [point])[0])
            wrong.append(not enumerated.agree(claimed, measured, atol, rtol))
        if every(wrong):
            return number
    return None


def _by_points(orders: list, points: list, *rest) -> int | None:
    return next((found for point in points if (found := _orders(orders, [point], *rest)) is not None), None)


def _by_formula(orders: list, points: list, eps: float, atol: float, rtol: float) -> int | None:
    return _orders(orders, points, 1e-6, atol, rtol)


CUBED = [[(1.0, (3,))]]
SQUARE = [[(3.0, (2,))]]
LINE = [[(3.0, (1,))]]
LADDER = [CUBED, SQUARE, [[(6.0, (1,))]], [[(6.0, (0,))]]]

first_wrong_order = Check(
    Task(
        name="first_wrong_order",
        parameters=("orders", "points", "eps", "atol", "rtol"),
        visible=(
            Case(([CUBED, SQUARE], [1.0, 2.0], 0.001, 0.01, 0.0), None, "3 * x * x"),
            Case(([CUBED, SQUARE, [[]]], [1.0, 2.0], 0.001, 0.01, 0.0), 2, "cut off: 0 where 6 * x belongs"),
            Case(([CUBED, SQUARE, [[]]], [0.0], 0.001, 0.01, 0.0), None, "at 0 nothing is seen"),
            Case(([CUBED, LINE], [2.0, 1.0], 0.001, 0.01, 0.0), 1, "wrong at 2, right at 1"),
            Case(([CUBED, LINE], [1.0, 2.0], 0.001, 0.01, 0.0), 1, "right at 1, wrong at 2"),
            Case(([CUBED, LINE, LINE, LINE], [1.0, 0.0, 2.0], 0.001, 0.01, 0.0), 1, "2 is wrong at 0, 1 at 2.0"),
            Case(([CUBED, SQUARE], [1.0], 0.5, 0.01, 0.0), 1, "3 against 3.25: so coarse a step is off itself"),
            Case((LADDER, [0.5, -1.0], 0.001, 0.01, 0.001), None, "right three times"),
            Case(([CUBED, SQUARE, LINE, [[(3.0, (0,))]]], [1.0], 0.001, 0.01, 0.001), 2, "order 3 fits order 2 again"),
            Case(([CUBED], [1.0], 0.001, 0.01, 0.0), None, "nothing is claimed"),
        ),
        reference=_orders,
        fresh=ch21_fresh.ladders,
        hidden="fresh functions, wrong from some order on",
        mistakes=(
            Mistake(
                lambda *args: _orders(*args, every=lambda wrong: wrong[0]),
                "Only the first of the points was looked at.",
            ),
            Mistake(
                lambda *args: _orders(*args, every=all),
                "One point where it does not agree is enough; all of them were required to disagree.",
            ),
            Mistake(
                lambda *args: (_orders(*args) or 1) - 1 if _orders(*args) else None,
                "Orders are counted from 0 for f itself: its slope is number 1.",
            ),
            Mistake(
                lambda orders, *rest: _orders(orders[:2], *rest),
                "Only the first derivative was checked. Go on to the second and further.",
            ),
            Mistake(
                _by_points,
                "The points were asked one after the other. Ask one order at all points before you go on to the next.",
            ),
            Mistake(
                _by_formula,
                "Compared with the exact slope. The central difference with this eps is asked for, its error included.",
            ),
            Mistake(
                lambda orders, *rest: next(
                    (n for n in range(len(orders) - 1, 0, -1) if _orders(orders[n - 1 : n + 1], *rest)), None
                ),
                "The last order that is wrong came back, not the first.",
            ),
        ),
        hint="For each order from 1 on and each point: does its value agree with the difference of the order before?",
        read=BLIND,
    )
)
