"""Typical wrong solutions of exercise 25: WRONG lists each with its task and the words its check must answer with."""

import math

from .ch25_second_way import adapt as adapted
from .ch25_second_way import first_refused as refused
from .ch25_second_way import group_gradients as grouped
from .ch25_second_way import in_float16 as rounded
from .ch25_second_way import scale_walk as walked
from .ch25_second_way import training_step as stepped
from .ch25_second_way import unscale_and_clip as clipped


def divides_by_size(pieces, size):
    groups = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    return [sum(g for _, g in group) / size for group in groups]


def mean_of_pieces(pieces, size):
    groups = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    return [sum(g for _, g in group) / len(group) for group in groups]


def counts_to_size(pieces, size):
    found, held = [], []
    for piece in pieces:
        held.append(piece)
        if len(held) == size:
            found += grouped(held, size)
            held = []
    return found


def sum_of_rows(pieces, size):
    groups = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    return [float(sum(n * g for n, g in group)) for group in groups]


def one_group(pieces, size):
    return grouped(pieces, len(pieces) or 1)


def forgets_the_sign(gradient, scale):
    x = gradient * scale
    return "zero" if x <= 2**-25 else "subnormal" if x < 2**-14 else "normal" if x < 65520 else "inf"


def smallest_as_edge(gradient, scale):
    x = abs(gradient * scale)
    return "zero" if x < 2**-24 else "subnormal" if x < 2**-14 else "normal" if x < 65520 else "inf"


def largest_as_edge(gradient, scale):
    x = abs(gradient * scale)
    return "zero" if x <= 2**-25 else "subnormal" if x < 2**-14 else "normal" if x <= 65504 else "inf"


def divides(gradient, scale):
    x = abs(gradient / scale)
    return "zero" if x <= 2**-25 else "subnormal" if x < 2**-14 else "normal" if x < 65520 else "inf"


def no_subnormals(gradient, scale):
    x = abs(gradient * scale)
    return "zero" if x < 2**-14 else "normal" if x < 65520 else "inf"


def keeps_the_count(scale, good, overflow, interval):
    return (scale * 0.5, good) if overflow else adapted(scale, good, overflow, interval)


def grows_on(scale, good, overflow, interval):
    if overflow:
        return scale * 0.5, 0
    return (scale * 2 if good + 1 >= interval else scale), good + 1


def one_too_late(scale, good, overflow, interval):
    if overflow:
        return scale * 0.5, 0
    return (scale * 2, 0) if good == interval else (scale, good + 1)


def doubles_on_overflow(scale, good, overflow, interval):
    return (scale * 2, 0) if overflow else adapted(scale, good, overflow, interval)


def rate_by_step(overflows, scale, interval, rates):
    scales = [s for s, _ in walked(overflows, scale, interval, rates)]
    return [(s, None if o else r) for s, o, r in zip(scales, overflows, rates, strict=False)]


def notes_it_afterwards(overflows, scale, interval, rates):
    good, found, left = 0, [], iter(rates)
    for overflow in overflows:
        scale, good = adapted(scale, good, overflow, interval)
        found.append((scale, None if overflow else next(left)))
    return found


def rate_of_skipped(overflows, scale, interval, rates):
    good, k, found = 0, 0, []
    for overflow in overflows:
        found.append((scale, rates[k]))
        k += not overflow
        scale, good = adapted(scale, good, overflow, interval)
    return found


def never_adapts(overflows, scale, interval, rates):
    left = iter(rates)
    return [(scale, None if overflow else next(left)) for overflow in overflows]


def clips_first(grads, scale, max_norm):
    found = clipped(grads, 1.0, max_norm)
    return found and (found[0], [[g / scale for g in grad] for grad in found[1]])


def never_unscales(grads, scale, max_norm):
    return clipped(grads, 1.0, max_norm)


def one_by_one(grads, scale, max_norm):
    found = clipped(grads, scale, max_norm)
    return found and (found[0], [clipped([grad], scale, max_norm)[1][0] for grad in grads])


def always_of_length_one(grads, scale, max_norm):
    found = clipped(grads, scale, math.inf)
    return found and (found[0], [[g * max_norm / (found[0] + 1e-6) for g in grad] for grad in found[1]])


def looks_for_inf(grads, scale, max_norm):
    return None if any(g == math.inf for grad in grads for g in grad) else unchecked(grads, scale, max_norm)


def compares_sizes(grads, scale, max_norm):
    return None if any(abs(g) == math.inf for grad in grads for g in grad) else unchecked(grads, scale, max_norm)


def unchecked(grads, scale, max_norm):
    grads = [[g / scale for g in grad] for grad in grads]
    norm = sum(g * g for grad in grads for g in grad) ** 0.5
    factor = min(1.0, max_norm / (norm + 1e-6))
    return norm, [[g * factor for g in grad] for grad in grads]


def divides_by_nothing(grads, scale, max_norm):
    found = clipped(grads, scale, math.inf)
    return found and (found[0], [[g * min(1.0, max_norm / found[0]) for g in grad] for grad in found[1]])


def norm_afterwards(grads, scale, max_norm):
    found = clipped(grads, scale, max_norm)
    return found and (min(found[0], max_norm), found[1])


def one_state(calls):
    return refused([call if call[0] == "update" else (call[0], "a") for call in calls])


def only_unscale_unscales(calls):
    seen = set()
    for place, call in enumerate(calls):
        if call[0] == "update":
            if not seen:
                return place, "nothing to update"
            seen = set()
        elif call in seen:
            return place, "stepped twice" if call[0] == "step" else "unscaled twice"
        else:
            seen.add(call)
    return None


def update_is_always_right(calls):
    """Every round is looked at alone."""
    begin = 0
    for place, call in enumerate([*calls, ("update",)]):
        if call[0] == "update":
            found = refused(calls[begin:place])
            if found:
                return begin + found[0], found[1]
            begin = place + 1
    return None


def takes_apart(calls):
    for place, (what, who) in enumerate(calls):
        if what == "unscale" and (what, who) in calls[:place]:
            return place, "unscaled twice"
    return None


def counts_from_one(calls):
    found = refused(calls)
    return found and (found[0] + 1, found[1])


def weighs_pieces_alike(w, pieces, state, lr, max_norm, interval):
    scale, good = state
    mean = [sum(grad[k] for _, grad in pieces) / len(pieces) / scale for k in range(len(w))]
    factor = min(1.0, max_norm / (math.hypot(*mean) + 1e-6))
    return [v - lr * factor * g for v, g in zip(w, mean, strict=True)], (scale, good + 1), True


def mean_gradient(w, pieces):
    rows = sum(n for n, _ in pieces)
    return [sum(n * grad[k] for n, grad in pieces) / rows for k in range(len(w))]


def clips_scaled(w, pieces, state, lr, max_norm, interval):
    found = clips_first([mean_gradient(w, pieces)], state[0], max_norm)
    if found:
        w = [v - lr * g for v, g in zip(w, found[1][0], strict=True)]
    return w, adapted(*state, found is None, interval), found is not None


def unclipped(w, pieces, state, lr):
    return stepped(w, pieces, state, lr, math.inf, 5)[0]


def never_clips(w, pieces, state, lr, max_norm, interval):
    _, moved, taken = stepped(w, pieces, state, lr, max_norm, interval)
    return unclipped(w, pieces, state, lr), moved, taken


def steps_all_the_same(w, pieces, state, lr, max_norm, interval):
    after, moved, taken = stepped(w, pieces, state, lr, max_norm, interval)
    return (after if taken else [v - lr * math.nan for v in w]), moved, taken


def keeps_the_state(w, pieces, state, *rest):
    after, _, taken = stepped(w, pieces, state, *rest)
    return after, state, taken


def says_taken(w, pieces, *rest):
    return *stepped(w, pieces, *rest)[:2], True


def adapts_first(w, pieces, state, lr, max_norm, interval):
    _, moved, taken = stepped(w, pieces, state, lr, max_norm, interval)
    return stepped(w, pieces, (moved[0], state[1]), lr, max_norm, interval)[0], moved, taken


def takes_none_apart(w, pieces, state, lr, max_norm, interval):
    _, (grad,) = clipped([mean_gradient(w, pieces)], state[0], max_norm)
    return [v - lr * g for v, g in zip(w, grad, strict=True)], adapted(*state, False, interval), True


def half_way_up(gradient, scale):
    return "subnormal" if abs(gradient * scale) == 2**-25 else rounded(gradient, scale)


def smallest_normal_as_subnormal(gradient, scale):
    return "subnormal" if abs(gradient * scale) == 2**-14 else rounded(gradient, scale)


def clips_first_and_tells_the_norm(grads, scale, max_norm):
    found = clips_first(grads, scale, max_norm)
    return found and (clipped(grads, scale, max_norm)[0], found[1])


def update_needs_a_step(calls):
    stepped_in_round = False
    for place, call in enumerate(calls):
        if call[0] == "update" and not stepped_in_round:
            return place, "nothing to update"
        stepped_in_round = call[0] == "step" or (call[0] != "update" and stepped_in_round)
    return refused(calls)


def asks_for_unscale_first(calls):
    found = refused(calls)
    if found and ("unscale", calls[found[0]][-1]) in calls[: found[0]] and calls[found[0]][0] == "unscale":
        return found[0], "unscaled twice"
    return found


def reason_alone(calls):
    found = refused(calls)
    return found and found[1]


def clips_each_alone(w, pieces, state, lr, max_norm, interval):
    alone = [
        stepped([v], [(n, [grad[k]]) for n, grad in pieces], state, lr, max_norm, interval) for k, v in enumerate(w)
    ]
    if not all(taken for _, _, taken in alone):
        return stepped(w, pieces, state, lr, max_norm, interval)
    return [v for (v,), _, _ in alone], alone[0][1], True


WRONG = (
    ("group_gradients", divides_by_size, "Each gradient was divided by `size`"),
    ("group_gradients", mean_of_pieces, "That is the mean over pieces"),
    ("group_gradients", counts_to_size, "The last group is missing"),
    ("group_gradients", sum_of_rows, "That is a sum over rows"),
    ("group_gradients", one_group, "All pieces went into one step"),
    ("in_float16", forgets_the_sign, "A negative number is judged as if it were very small"),
    ("in_float16", smallest_as_edge, "is nearer to 2^-24 than to 0"),
    ("in_float16", largest_as_edge, "rounded down to the largest"),
    ("in_float16", half_way_up, "2^-25 itself lies half way"),
    ("in_float16", smallest_normal_as_subnormal, "2^-14 itself is normal"),
    ("in_float16", divides, "divided by the scale"),
    ("in_float16", no_subnormals, "down to 2^-24 it is kept with fewer bits"),
    ("adapt", keeps_the_count, "Good steps count only in a row"),
    ("adapt", grows_on, "After doubling the count begins anew"),
    ("adapt", one_too_late, "It doubles one step too late"),
    ("adapt", doubles_on_overflow, "halve it"),
    ("scale_walk", never_adapts, "The scale never changes"),
    ("scale_walk", rate_by_step, "The schedule moved at skipped steps too"),
    ("scale_walk", notes_it_afterwards, "Each tuple holds the scale after its step"),
    ("scale_walk", rate_of_skipped, "its rate is None"),
    ("unscale_and_clip", clips_first, "Clipped while they still carried the scale"),
    ("unscale_and_clip", clips_first_and_tells_the_norm, "The norm is right. The gradients were clipped"),
    ("unscale_and_clip", never_unscales, "The scale is still in them"),
    ("unscale_and_clip", one_by_one, "Each list was clipped by its own length"),
    ("unscale_and_clip", always_of_length_one, "Gradients shorter than max_norm were made longer"),
    ("unscale_and_clip", looks_for_inf, "Looking for inf misses -inf"),
    ("unscale_and_clip", compares_sizes, "A nan went unnoticed"),
    ("unscale_and_clip", unchecked, "With an inf among the gradients the answer is None"),
    ("unscale_and_clip", divides_by_nothing, "A norm of 0 cannot be divided by"),
    ("unscale_and_clip", norm_afterwards, "The norm that is wanted is the one before clipping"),
    ("first_refused", one_state, "Each optimizer has a state of its own"),
    ("first_refused", only_unscale_unscales, "After step the gradients are unscaled already"),
    ("first_refused", update_is_always_right, "update is refused if no optimizer"),
    ("first_refused", takes_apart, "An update has no optimizer"),
    ("first_refused", counts_from_one, "Places count from 0"),
    ("first_refused", update_needs_a_step, "unscale has looked for one"),
    ("first_refused", asks_for_unscale_first, "ask for its step first"),
    ("first_refused", reason_alone, "The reason alone came back"),
    ("training_step", weighs_pieces_alike, "The pieces were weighed alike"),
    ("training_step", clips_scaled, "Unscale before clipping"),
    ("training_step", clips_each_alone, "Each parameter was clipped by itself"),
    ("training_step", never_clips, "The gradients were not clipped"),
    ("training_step", steps_all_the_same, "it is lost for good"),
    ("training_step", keeps_the_state, "The state is as it was"),
    ("training_step", says_taken, "this step was not taken"),
    ("training_step", adapts_first, "Unscale by the scale that the loss was multiplied with"),
    ("training_step", takes_none_apart, "`unscale_and_clip` returns None for an overflow"),
)
