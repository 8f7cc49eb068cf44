"""Typical wrong solutions of exercise 21: WRONG lists each with its task and the words its check must answer with."""

import math

from .ch21_second_way import best_step as stepped
from .ch21_second_way import derived as slope_of
from .ch21_second_way import first_wrong_order as ordered
from .ch21_second_way import judge_point as judged
from .ch21_second_way import numerical_jacobian as jacobian
from .ch21_second_way import outputs_at as values
from .ch21_second_way import weighted_gradient as row
from .ch21_second_way import within_tolerance as agrees
from .ch21_second_way import worst_mismatch as worst


def first_term_only(f, x):
    return [values([terms[:1]], x)[0] for terms in f]


def without_powers(f, x):
    found = []
    for terms in f:
        total = 0.0
        for c, powers in terms:
            for v, p in zip(x, powers, strict=True):
                c = c * v if p else c
            total += c
        found.append(total)
    return found


def one_output(f, x):
    return values(f, x)[:1]


def whole_numbers(f, x):
    """A sum of nothing is the integer 0."""
    return [sum(c * math.prod(v**p for v, p in zip(x, powers, strict=True)) for c, powers in terms) for terms in f]


def forward_only(f, x, eps):
    return _differences(f, x, eps, 1, 0, 1)


def over_one_step(f, x, eps):
    return _differences(f, x, eps, 1, 1, 1)


def _differences(f, x, eps, up, down, width):
    columns = []
    for j in range(len(x)):
        high, low = list(x), list(x)
        high[j] += up * eps
        low[j] -= down * eps
        pairs = zip(values(f, high), values(f, low), strict=True)
        columns.append([(a - b) / (width * eps) for a, b in pairs])
    return [[column[k] for column in columns] for k in range(len(f))]


def turned(f, x, eps):
    return [list(column) for column in zip(*jacobian(f, x, eps), strict=True)]


def moves_all(f, x, eps):
    above, below = values(f, [v + eps for v in x]), values(f, [v - eps for v in x])
    return [[(a - b) / (2 * eps)] * len(x) for a, b in zip(above, below, strict=True)]


def by_formula(f, x, eps):
    return [[values([slope_of(terms, j)], x)[0] for j in range(len(x))] for terms in f]


def moves_x_itself(f, x, eps):
    columns = []
    for j in range(len(x)):
        x[j] += eps
        above = values(f, x)
        x[j] -= 2 * eps
        below = values(f, x)
        columns.append([(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)])
    return [[column[k] for column in columns] for k in range(len(f))]


def without_weights(f, x, v):
    return row(f, x, [1.0] * len(f))


def takes_what_there_is(f, x, v):
    count = min(len(f), len(v))
    return row(f[:count], x, v[:count])


def from_the_right(f, x, v):
    matrix = [row([terms], x, [1.0]) for terms in f]
    return [sum(a * b for a, b in zip(entries, v, strict=False)) for entries in matrix]


def keeps_the_power(f, x, v):
    return [slope * value for slope, value in zip(row(f, x, v), x, strict=True)]


def divides_by_zero(f, x, v):
    row(f, x, v)
    total = [0.0] * len(x)
    for terms, weight in zip(f, v, strict=True):
        for c, powers in terms:
            for j, p in enumerate(powers):
                rest = math.prod(u**q for i, (u, q) in enumerate(zip(x, powers, strict=True)) if i != j)
                total[j] += weight * c * p * x[j] ** (p - 1) * rest
    return total


def formula_only(analytical, numerical, atol, rtol):
    return abs(analytical - numerical) <= atol + rtol * abs(numerical)


def by_the_analytical(analytical, numerical, atol, rtol):
    return agrees(numerical, analytical, atol, rtol)


def absolute_only(analytical, numerical, atol, rtol):
    return agrees(analytical, numerical, atol, 0.0)


def larger_of_two(analytical, numerical, atol, rtol):
    if math.isnan(numerical) or math.isinf(numerical) or not math.isfinite(analytical):
        return agrees(analytical, numerical, atol, rtol)
    return abs(analytical - numerical) <= max(atol, rtol * abs(numerical))


def wrong_entries(analytical, numerical, atol, rtol):
    for k in range(len(numerical)):
        for j in range(len(numerical[k])):
            if not agrees(analytical[k][j], numerical[k][j], atol, rtol):
                yield k, j, numerical[k][j], analytical[k][j]


def first_found(analytical, numerical, atol, rtol):
    return next(wrong_entries(analytical, numerical, atol, rtol), None)


def largest_difference(analytical, numerical, atol, rtol):
    found = wrong_entries(analytical, numerical, atol, rtol)
    return max(found, key=lambda entry: abs(entry[2] - entry[3]), default=None)


def last_of_equals(analytical, numerical, atol, rtol):
    found = None
    most = 1.0
    for k, j, n, a in wrong_entries(analytical, numerical, atol, rtol):
        times = abs(a - n) / (atol + rtol * abs(n))
        if times >= most:
            found, most = (k, j, n, a), times
    return found


def analytical_first(analytical, numerical, atol, rtol):
    found = worst(analytical, numerical, atol, rtol)
    return found and (*found[:2], found[3], found[2])


def yes_or_no(analytical, numerical, atol, rtol):
    return worst(analytical, numerical, atol, rtol) is None


def beyond_the_largest(way, u, f, curve, largest):
    return stepped(way, u, f, curve, 1e9 if curve else largest)


def rounding_only(way, u, f, curve, largest):
    eps = stepped(way, u, f, curve, largest)[0]
    return eps, (1 if way == "central" else 2) * u * f / eps


def error_first(way, u, f, curve, largest):
    return stepped(way, u, f, curve, largest)[::-1]


def without_factors(way, u, f, curve, largest):
    if not curve:
        return stepped(way, u, f, curve, largest)
    eps = min(largest, (u * f / curve) ** (1 / 3 if way == "central" else 1 / 2))
    return eps, u * f / eps + curve * eps**2 / 6 if way == "central" else 2 * u * f / eps + curve * eps / 2


def no_valley(way, u, f, curve, largest):
    eps = (3 * u * f / curve) ** (1 / 3) if way == "central" else 2 * (u * f / curve) ** 0.5
    return stepped(way, u, f, curve, min(eps, largest))


def agreement_before_kinks(left, middle, right, eps, slope, tol):
    found = judged(left, middle, right, eps, slope, tol)
    return "right" if found == "kink" and abs((right - left) / (2 * eps) - slope) <= tol else found


def no_kinks(left, middle, right, eps, slope, tol):
    if judged(left, middle, right, eps, slope, tol) == "edge":
        return "edge"
    return "right" if abs((right - left) / (2 * eps) - slope) <= tol else "wrong"


def no_edges(left, middle, right, eps, slope, tol):
    before, after = (middle - left) / eps, (right - middle) / eps
    if abs(after - before) > tol:
        return "kink"
    return "right" if abs((right - left) / (2 * eps) - slope) <= tol else "wrong"


def half_a_step(left, middle, right, eps, slope, tol):
    return judged(left, middle, right, eps, slope / 2, tol / 2) if _sides(left, middle, right, eps, tol) else "kink"


def _sides(left, middle, right, eps, tol):
    return not abs(left - 2 * middle + right) > tol * eps


def first_point_only(orders, points, eps, atol, rtol):
    return ordered(orders, points[:1], eps, atol, rtol)


def counted_from_the_slope(orders, points, eps, atol, rtol):
    found = ordered(orders, points, eps, atol, rtol)
    return found and found - 1


def first_derivative_only(orders, points, eps, atol, rtol):
    return ordered(orders[:2], points, eps, atol, rtol)


def every_point_must_fail(orders, points, eps, atol, rtol):
    for number in range(1, len(orders)):
        pair = orders[number - 1 : number + 1]
        if all(ordered(pair, [point], eps, atol, rtol) for point in points):
            return number
    return None


def less_than(analytical, numerical, atol, rtol):
    near = agrees(analytical, numerical, atol, rtol)
    return near and (analytical == numerical or abs(analytical - numerical) != atol + rtol * abs(numerical))


def error_of_the_uncut(way, u, f, curve, largest):
    step, error = stepped(way, u, f, curve, largest if curve == 0 else 1e9)
    return min(step, largest), error


def point_by_point(orders, points, eps, atol, rtol):
    for point in points:
        number = ordered(orders, [point], eps, atol, rtol)
        if number is not None:
            return number
    return None


def exact_slopes(orders, points, eps, atol, rtol):
    for number in range(1, len(orders)):
        for x in points:
            slope = sum(c * p * x ** (p - 1) for c, (p,) in orders[number - 1][0] if p)
            claimed = sum(c * x**p for c, (p,) in orders[number][0])
            if not agrees(claimed, slope, atol, rtol):
                return number
    return None


WRONG = (
    ("outputs_at", first_term_only, "Only the first term of each output counted"),
    ("outputs_at", without_powers, "The powers were left out"),
    ("outputs_at", one_output, "One output came back"),
    ("outputs_at", whole_numbers, "its type is not: int where float is expected"),
    ("numerical_jacobian", forward_only, "This is a forward difference"),
    ("numerical_jacobian", over_one_step, "Twice too large"),
    ("numerical_jacobian", turned, "Rows and columns are exchanged"),
    ("numerical_jacobian", moves_all, "All inputs moved together"),
    ("numerical_jacobian", by_formula, "These are the slopes by formula"),
    ("numerical_jacobian", moves_x_itself, "changed   x"),
    ("weighted_gradient", without_weights, "The weights were left out"),
    ("weighted_gradient", takes_what_there_is, "nothing is broadcast: raise a RuntimeError"),
    ("weighted_gradient", from_the_right, "This is J times v"),
    ("weighted_gradient", keeps_the_power, "the power was not made smaller by one"),
    ("weighted_gradient", divides_by_zero, "0.0 to the power -1"),
    ("within_tolerance", formula_only, "nan is never at most anything"),
    ("within_tolerance", by_the_analytical, "measured by the numerical slope"),
    ("within_tolerance", absolute_only, "rtol was left out"),
    ("within_tolerance", larger_of_two, "The two tolerances are added"),
    ("within_tolerance", less_than, "at most, not less than"),
    ("worst_mismatch", first_found, "The first entry that does not agree came back"),
    ("worst_mismatch", largest_difference, "The largest difference came back"),
    ("worst_mismatch", last_of_equals, "Of equals the first in reading order"),
    ("worst_mismatch", analytical_first, "The measured slope comes third"),
    ("worst_mismatch", yes_or_no, "Say where and what, not only whether"),
    ("best_step", beyond_the_largest, "The step is larger than the largest that is allowed"),
    ("best_step", rounding_only, "its error has two parts"),
    ("best_step", error_first, "The step comes first, then its error"),
    ("best_step", without_factors, "A factor is missing"),
    ("best_step", error_of_the_uncut, "before `largest` cut"),
    ("best_step", no_valley, "If curve is 0 there is no valley"),
    ("judge_point", agreement_before_kinks, "the two sides do not agree: ask that first"),
    ("judge_point", no_kinks, "Kinks were not looked for"),
    ("judge_point", no_edges, 'that is an "edge"'),
    ("judge_point", half_a_step, "lie 2 * eps apart"),
    ("first_wrong_order", first_point_only, "Only the first of the points was looked at"),
    ("first_wrong_order", counted_from_the_slope, "Orders are counted from 0 for f itself"),
    ("first_wrong_order", first_derivative_only, "Only the first derivative was checked"),
    ("first_wrong_order", every_point_must_fail, "One point where it does not agree is enough"),
    ("first_wrong_order", point_by_point, "Ask one order at all points"),
    ("first_wrong_order", exact_slopes, "Compared with the exact slope"),
)
