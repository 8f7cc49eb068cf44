"""Tasks 1, 2, 3 and 6 of chapter 21's exercise: slopes measured, slopes from formulas, and the best step."""

import math
from fractions import Fraction

from . import ch21_fresh
from . import enumerated_polynomial as enumerated
from .enumerated_polynomial import Polynomials
from .task import Case, Check, Mistake, Raises, Task, same_but_for_rounding

GRAPH = 'chapter 21, "Step one: the graph"'
CHECKING = 'chapter 21, "Step three: check it"'
BUILD = 'chapter 21, "Build it"'
MANY = 'chapter 21, "More than one output"'

F: Polynomials = [[(3.0, (1, 1))], [(1.0, (0, 2)), (2.0, (0, 0))]]
CUBE: Polynomials = [[(1.0, (3,))]]


def _close(args: tuple, expected: object, value: object) -> bool:
    return same_but_for_rounding(expected, value)


# 1. outputs_at --------------------------------------------------------------------------------------------------------


def _values(f: Polynomials, x: list) -> list:
    return enumerated.floats(enumerated.outputs(f, x))


outputs_at = Check(
    Task(
        name="outputs_at",
        parameters=("f", "x"),
        visible=(
            Case((F, [2.0, 5.0]), [30.0, 27.0], "3 * 2 * 5 and 25 + 2"),
            Case((F, [0.0, -1.0]), [0.0, 3.0], "0 to the power 0 is 1"),
            Case(([[]], [7.0]), [0.0], "no term"),
            Case(([[(2.0, (0, 0, 0))]], [0.0, 0.0, 0.0]), [2.0], "a constant"),
            Case(([[(1.0, (2, 0, 1)), (-1.0, (2, 0, 1))]], [3.0, 9.0, 2.0]), [0.0], "two terms that cancel"),
        ),
        reference=_values,
        fresh=ch21_fresh.functions,
        hidden="fresh functions and points",
        mistakes=(
            Mistake(lambda f, x: _values([terms[:1] for terms in f], x), "Only the first term of each output counted."),
            Mistake(lambda f, x: _values([terms[-1:] for terms in f], x), "Only the last term of each output counted."),
            Mistake(
                lambda f, x: _values(f, x)[:1], "One output came back; the list has one value for each polynomial."
            ),
            Mistake(
                lambda f, x: _values([[(c, tuple(p > 0 for p in powers)) for c, powers in terms] for terms in f], x),
                "The powers were left out: each input counted once.",
            ),
            Mistake(
                lambda f, x: [math.prod([1.0, *_values([[term] for term in terms], x)]) for terms in f],
                "The terms of an output were multiplied; they are added.",
            ),
        ),
        hint="For each output add up its terms: coefficient times each input to its power.",
        read=GRAPH,
        same=_close,
    )
)


# 2. numerical_jacobian ------------------------------------------------------------------------------------------------


def _jacobian(f: Polynomials, x: list, eps: float) -> list:
    return enumerated.floats(enumerated.jacobian(f, x, eps))


def _turned(rows: list) -> list:
    return [list(column) for column in zip(*rows, strict=True)]


def _all_moved(f: Polynomials, x: list, eps: float) -> list:
    ends = [enumerated.outputs(f, [Fraction(value) + way * Fraction(eps) for value in x]) for way in (1, -1)]
    return [[float((a - b) / (2 * Fraction(eps)))] * len(x) for a, b in zip(*ends, strict=True)]


def _derived(f: Polynomials, x: list) -> list:
    ones = [[float(k == row) for k in range(len(f))] for row in range(len(f))]
    return [[float(enumerated.slope(f, x, v, j)) for j in range(len(x))] for v in ones]


numerical_jacobian = Check(
    Task(
        name="numerical_jacobian",
        parameters=("f", "x", "eps"),
        visible=(
            Case((F, [2.0, 5.0], 0.5), [[15.0, 6.0], [0.0, 10.0]], "a row for each output"),
            Case((CUBE, [1.0], 0.1), [[3.01]], "3 * x * x, plus eps * eps"),
            Case(([[(1.0, (1,))], [(2.0, (1,))]], [9.0], 0.1), [[1.0], [2.0]], "two outputs, one input"),
            Case(([[(1.0, (1, 1, 0))]], [4.0, 7.0, 1.0], 0.25), [[7.0, 4.0, 0.0]], "one output, three inputs"),
            Case(([[]], [1.0], 0.1), [[0.0]]),
        ),
        reference=_jacobian,
        fresh=ch21_fresh.points,
        hidden="fresh functions, points and large steps",
        mistakes=(
            Mistake(
                lambda f, x, eps: enumerated.floats(enumerated.jacobian(f, x, eps, up=1, down=0)),
                "This is a forward difference. Move the input both ways.",
            ),
            Mistake(
                lambda f, x, eps: enumerated.floats(enumerated.jacobian(f, x, eps, up=0, down=1)),
                "This is a backward difference. Move the input both ways.",
            ),
            Mistake(
                lambda f, x, eps: [[2 * value for value in row] for row in _jacobian(f, x, eps)],
                "Twice too large: the two points lie 2 * eps apart.",
            ),
            Mistake(
                lambda f, x, eps: _turned(_jacobian(f, x, eps)),
                "Rows and columns are exchanged: a row for each output, in it a slope for each input.",
            ),
            Mistake(_all_moved, "All inputs moved together. A column belongs to one input: move that one alone."),
            Mistake(
                lambda f, x, eps: _derived(f, x),
                "These are the slopes by formula. What central differences measure with this eps is asked for.",
            ),
        ),
        hint="For each input two calls of outputs_at, at x with that input moved up and moved down: a column.",
        read=BUILD,
        same=_close,
    )
)


# 3. weighted_gradient -------------------------------------------------------------------------------------------------

MISMATCH = Raises(
    "RuntimeError",
    "one weight for each output, no more and no fewer",
    ("shape",),
    missed="The number of weights is not that of the outputs, and nothing is broadcast: raise a RuntimeError.",
)


def _row(f: Polynomials, x: list, v: list) -> list | Raises:
    if len(v) != len(f):
        return MISMATCH
    return [float(enumerated.slope(f, x, v, j)) for j in range(len(x))]


def _other_side(f: Polynomials, x: list, v: list) -> list:
    return [sum(a * b for a, b in zip(row, v, strict=True)) for row in _derived(f, x)]


def _raised_once(f: Polynomials, x: list, v: list) -> list:
    """The slope of x**p taken as p * x**p."""
    here = enumerated.floats
    return here([enumerated.slope(f, x, v, j) * Fraction(x[j]) for j in range(len(x))])


def _without_power(f: Polynomials, x: list, v: list) -> list:
    cut = [[(c / math.prod(p or 1 for p in powers), powers) for c, powers in terms] for terms in f]
    return _row(cut, x, v)


weighted_gradient = Check(
    Task(
        name="weighted_gradient",
        parameters=("f", "x", "v"),
        visible=(
            Case((F, [2.0, 5.0], [1.0, 0.0]), [15.0, 6.0], "the first row of the Jacobian"),
            Case((F, [2.0, 5.0], [1.0, 0.5]), [15.0, 11.0], "6 + 0.5 * 10"),
            Case((F, [2.0, 5.0], [0.1]), MISMATCH),
            Case(([[(3.0, (1,))]], [2.0], [0.1, 0.2]), MISMATCH),
            Case(([[(1.0, (0,))]], [0.0], [1.0]), [0.0], "a constant, at 0"),
            Case((CUBE, [2.0], [10.0]), [120.0], "10 * 3 * 2 * 2"),
        ),
        reference=_row,
        fresh=ch21_fresh.weights,
        hidden="fresh functions, points at 0, wrong numbers of weights",
        mistakes=(
            Mistake(lambda f, x, v: _row(f, x, [1.0] * len(f)), "The weights were left out: each output counted once."),
            Mistake(
                _other_side,
                "This is J times v. The weights belong to the outputs: v from the left, one result for each input.",
            ),
            Mistake(_raised_once, "The slope of x**p is p * x**(p - 1): the power was not made smaller by one."),
            Mistake(_without_power, "The slope of x**p is p * x**(p - 1): the factor p is missing."),
            Mistake(
                lambda f, x, v: [float(enumerated.outputs(f, x)[0]) * v[0]] * len(x),
                "Values came back, not slopes.",
            ),
        ),
        hint="For each output, term and input, add weight times the term's slope to the place of that input.",
        read=MANY,
        same=_close,
        raised=(
            ("ZeroDivisionError", "0.0 to the power -1: a term without an input has slope 0 by it, without computing."),
        ),
    )
)


POWER = {"central": 1 / 3, "forward": 1 / 2}


# 6. best_step ---------------------------------------------------------------------------------------------------------


def _error(way: str, u: float, f: float, curve: float, eps: float) -> float:
    if way == "central":
        return u * f / eps + curve * eps**2 / 6
    return 2 * u * f / eps + curve * eps / 2


def _bottom(way: str, u: float, f: float, curve: float, largest: float) -> tuple[float, float]:
    """Found by walking: the valley has one bottom, so that a third of what is left can be thrown away each time."""
    low, high = math.log(largest) - 80.0, math.log(largest)
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if _error(way, u, f, curve, math.exp(left)) > _error(way, u, f, curve, math.exp(right)):
            low = left
        else:
            high = right
    eps = largest if _error(way, u, f, curve, largest) <= _error(way, u, f, curve, math.exp(high)) else math.exp(high)
    return eps, _error(way, u, f, curve, eps)


def _same_step(args: tuple, expected: tuple, value: object) -> bool:
    """To one part in a thousand, however small: the walk sees the flat bottom of the valley no sharper."""
    return (
        type(value) is tuple
        and len(value) == 2
        and all(type(b) is float and math.isclose(a, b, rel_tol=1e-3) for a, b in zip(expected, value, strict=True))
    )


def _with(step):
    """A step found in another way, with its own error."""
    return lambda *args: (step(*args), _error(*args[:4], step(*args)))


best_step = Check(
    Task(
        name="best_step",
        parameters=("way", "u", "f", "curve", "largest"),
        visible=(
            Case(("central", 1e-16, 1.0, 3.0, 1.0), (4.641589e-06, 3.231652e-11), "the cube root of 1e-16"),
            Case(("forward", 1e-16, 1.0, 4.0, 1.0), (1e-08, 4e-08)),
            Case(("forward", 6e-08, 2.0, 1.0, 1.0), (6.928203e-04, 6.928203e-04), "float32"),
            Case(("central", 1e-16, 2.0, 0.0, 0.5), (0.5, 4e-16), "no curve: the largest step"),
            Case(("central", 1e-16, 1.0, 3e-8, 1e-3), (1e-3, 1.05e-13), "the bottom lies beyond the largest"),
        ),
        reference=_bottom,
        fresh=ch21_fresh.valleys,
        hidden="fresh functions, ways and dtypes",
        mistakes=(
            Mistake(
                _with(lambda way, u, f, curve, largest: _bottom(way, u, f, curve, 1e9)[0]),
                "The step is larger than the largest that is allowed.",
            ),
            Mistake(
                _with(lambda way, u, f, curve, largest: _bottom("central", u, f, curve, largest)[0]),
                "This is the best step of central differences; the way is forward.",
            ),
            Mistake(
                lambda way, u, f, curve, largest: (
                    (eps := _bottom(way, u, f, curve, largest)[0]),
                    _error(way, u, f, 0.0, eps),
                ),
                "The step is right, but its error has two parts: rounding, and what the curve leaves.",
            ),
            Mistake(
                lambda way, u, f, curve, largest: (
                    _bottom(way, u, f, curve, largest)[0],
                    _bottom(way, u, f, curve, 1e9)[1],
                ),
                "The step is right. Its error is not: it was computed with the step as it was before `largest` cut it.",
            ),
            Mistake(
                lambda way, u, f, curve, largest: _bottom(way, u, f, curve, largest)[::-1],
                "The step comes first, then its error.",
            ),
            Mistake(
                _with(lambda way, u, f, curve, largest: min(largest, (u * f / curve) ** POWER[way])),
                "A factor is missing: set the error's own slope by eps to 0, with all its factors.",
            ),
            Mistake(
                _with(lambda way, u, f, curve, largest: _bottom(way, u, 1.0, curve, largest)[0]),
                "The size f of the values was left out: what rounding takes is u * f.",
            ),
        ),
        hint="Where the error is smallest, its slope by eps is 0: solve that for eps. Then add up both parts.",
        read=CHECKING,
        same=_same_step,
        raised=(("ZeroDivisionError", "If curve is 0 there is no valley: the error falls up to the largest step."),),
    )
)  # fmt: skip
