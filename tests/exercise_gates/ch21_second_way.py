"""A second right way to solve exercise 21, written differently wherever there is a choice."""

import functools
import math
import operator


def value_of(term, x):
    coefficient, powers = term
    return functools.reduce(operator.mul, (v**p for v, p in zip(x, powers, strict=True)), coefficient)


def outputs_at(f, x):
    return [math.fsum(value_of(term, x) for term in terms) for terms in f]


def numerical_jacobian(f, x, eps):
    """Output by output, entry by entry."""

    def slope(terms, j):
        ends = ([v + way * eps if i == j else v for i, v in enumerate(x)] for way in (1, -1))
        above, below = (outputs_at([terms], end)[0] for end in ends)
        return (above - below) / eps / 2

    return [[slope(terms, j) for j in range(len(x))] for terms in f]


def derived(terms, j):
    """The polynomial that is the slope by input j."""
    return [(c * p[j], (*p[:j], p[j] - 1, *p[j + 1 :])) for c, p in terms if p[j] > 0]


def weighted_gradient(f, x, v):
    """Polynomials are derived first, and their values taken afterwards."""
    if len(f) != len(v):
        raise RuntimeError("mismatch in shape")
    slopes = [outputs_at([derived(terms, j) for terms in f], x) for j in range(len(x))]
    return [math.fsum(a * b for a, b in zip(v, column, strict=True)) for column in slopes]


def within_tolerance(analytical, numerical, atol, rtol):
    both = (analytical, numerical)
    if any(map(math.isnan, both)):
        return all(map(math.isnan, both))
    if analytical == numerical:
        return True
    gap = abs(analytical - numerical)
    return math.isfinite(gap) and gap - rtol * abs(numerical) <= atol


def worst_mismatch(analytical, numerical, atol, rtol):
    found = []
    for k, (ours, theirs) in enumerate(zip(analytical, numerical, strict=True)):
        for j, (a, n) in enumerate(zip(ours, theirs, strict=True)):
            if not within_tolerance(a, n, atol, rtol):
                found.append((abs(a - n) / (atol + rtol * abs(n)), (k, j, n, a)))
    return max(found, key=lambda entry: entry[0], default=(0, None))[1]


def best_step(way, u, f, curve, largest):
    order, rounding, left = {"central": (2, u * f, curve / 6), "forward": (1, 2 * u * f, curve / 2)}[way]
    eps = min(largest, (rounding / (order * left)) ** (1 / (order + 1))) if left else largest
    return eps, rounding / eps + left * eps**order


def judge_point(left, middle, right, eps, slope, tol):
    if any(math.isnan(v) or math.isinf(v) for v in (left, middle, right, slope)):
        return "edge"
    if abs(left - 2 * middle + right) > tol * eps:
        return "kink"
    return ["wrong", "right"][abs(right - left - 2 * eps * slope) <= 2 * eps * tol]


def first_wrong_order(orders, points, eps, atol, rtol):
    def fits(lower, upper):
        for point in points:
            ((measured,),) = numerical_jacobian(lower, [point], eps)
            (claimed,) = outputs_at(upper, [point])
            if not within_tolerance(claimed, measured, atol, rtol):
                return False
        return True

    pairs = enumerate(zip(orders, orders[1:], strict=False), 1)
    return next((number for number, pair in pairs if not fits(*pair)), None)


SECOND_WAY = (
    outputs_at,
    numerical_jacobian,
    weighted_gradient,
    within_tolerance,
    worst_mismatch,
    best_step,
    judge_point,
    first_wrong_order,
)
