"""Right answers about polynomials of several inputs, in exact fractions, and about tolerances.

A function is a list of polynomials, one for each output; a polynomial is a list of terms (coefficient, powers).
"""

import math
from fractions import Fraction

Polynomials = list[list[tuple[float, tuple[int, ...]]]]


def outputs(f: Polynomials, x: list) -> list[Fraction]:
    """All outputs at x, exactly."""
    at = [Fraction(value) for value in x]
    return [
        sum(
            (Fraction(c) * math.prod(value**p for value, p in zip(at, powers, strict=True)) for c, powers in terms),
            Fraction(0),
        )
        for terms in f
    ]


def slope(f: Polynomials, x: list, v: list, j: int) -> Fraction:
    """The slope by input j of the outputs weighted with v: f at x0 + 1 * epsilon, with epsilon squared left out."""
    total = Fraction(0)
    for terms, weight in zip(f, v, strict=True):
        for c, powers in terms:
            rest = math.prod(Fraction(x[i]) ** p for i, p in enumerate(powers) if i != j)
            p = powers[j]
            own = p * Fraction(x[j]) ** (p - 1) if p else Fraction(0)
            total += Fraction(weight) * Fraction(c) * rest * own
    return total


def moved(x: list, j: int, by) -> list:
    """x with one input moved."""
    return [Fraction(value) + (by if i == j else 0) for i, value in enumerate(x)]


def jacobian(f: Polynomials, x: list, eps: float, up: int = 1, down: int = 1) -> list[list[Fraction]]:
    """By differences: input j goes up times eps up and down times eps down."""
    step = Fraction(eps)
    columns = []
    for j in range(len(x)):
        above, below = outputs(f, moved(x, j, up * step)), outputs(f, moved(x, j, -down * step))
        columns.append([(a - b) / ((up + down) * step) for a, b in zip(above, below, strict=True)])
    return [[column[k] for column in columns] for k in range(len(f))]


def floats(rows: list) -> list:
    """The same lists with floats."""
    return [floats(row) if isinstance(row, list) else float(row) for row in rows]


def agree(analytical: float, numerical: float, atol: float, rtol: float) -> bool:
    """By kinds of numbers first: nan with nan, an infinity with itself, the rest by the tolerance, exactly."""
    kinds = [
        "nan" if math.isnan(value) else str(value) if math.isinf(value) else "" for value in (analytical, numerical)
    ]
    if any(kinds):
        return kinds[0] == kinds[1]
    gap = abs(Fraction(analytical) - Fraction(numerical))
    return gap <= Fraction(atol) + Fraction(rtol) * abs(Fraction(numerical))
