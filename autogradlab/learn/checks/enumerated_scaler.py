"""Right answers about one training step in half precision, in plain Python and in other ways than one would write them.

Shares are found by counting every row, float16 by packing bytes, a scale from the lengths of its good runs, and what is
refused from the calls before it, without keeping a state.
"""

import itertools
import math
import struct
from fractions import Fraction

Pieces = list[tuple[int, float]]
Call = tuple[str, ...]
UNSCALED_TWICE, AFTER_STEP, STEPPED_TWICE, NOTHING = (
    "unscaled twice",
    "unscaled after step",
    "stepped twice",
    "nothing to update",
)


def in_float16(gradient: float, scale: float) -> str:
    """What a scaled gradient becomes, read from the two bytes it is packed into."""
    try:
        (bits,) = struct.unpack("<H", struct.pack("<e", gradient * scale))
    except OverflowError:
        return "inf"
    exponent, fraction = bits >> 10 & 31, bits & 1023
    return "normal" if exponent else "subnormal" if fraction else "zero"


def mean_of_rows(pieces: Pieces) -> float:
    """Every row counted once."""
    rows = [Fraction(gradient) for count, gradient in pieces for _ in range(count)]
    return float(sum(rows) / len(rows))


def group_gradients(pieces: Pieces, size: int) -> list[float]:
    """A mean for each group of so many pieces, the last one too."""
    firsts = [i for i in range(len(pieces)) if i % size == 0]
    return [mean_of_rows(pieces[i : min(i + size, len(pieces))]) for i in firsts]


def scales(overflows: list[bool], scale: float, interval: int) -> list[float]:
    """The scale that each step ran with, and the one after the last."""
    found = []
    for overflowed, run in itertools.groupby(overflows):
        length = len(list(run))
        factors = [0.5**i if overflowed else 2.0 ** (i // interval) for i in range(length + 1)]
        found += [scale * factor for factor in factors[:-1]]
        scale *= factors[-1]
    return [*found, scale]


def adapt(scale: float, good: int, overflow: bool, interval: int) -> tuple[float, int]:
    """The scale and the count after one more step."""
    after = scales([False] * good + [overflow], scale, interval)[-1]
    return after, 0 if overflow else (good + 1) % interval


def scale_walk(overflows: list[bool], scale: float, interval: int, rates: list[float]) -> list[tuple]:
    """(scale, learning rate) of each step; the rate is None where the step is skipped."""
    taken = [k for k, overflow in enumerate(overflows) if not overflow]
    return [
        (scale, None if overflow else rates[taken.index(k)])
        for k, (scale, overflow) in enumerate(zip(scales(overflows, scale, interval), overflows, strict=False))
    ]


def unscale_and_clip(grads: list[list[float]], scale: float, max_norm: float) -> tuple[float, list] | None:
    """(norm, gradients) after division by the scale and clipping of all together; None with an inf or nan."""
    flat = [g / scale for grad in grads for g in grad]
    if not math.isfinite(sum(map(abs, flat))):
        return None
    norm = math.hypot(*flat)
    factor = max_norm / (norm + 1e-6) if norm + 1e-6 > max_norm else 1.0
    return norm, [[g / scale * factor for g in grad] for grad in grads]


def first_refused(calls: list[Call]) -> tuple[int, str] | None:
    """(place, reason) of the first call that a scaler refuses."""
    for place, (what, *who) in enumerate(calls):
        updates = [k for k, call in enumerate(calls[:place]) if call[0] == "update"]
        since = calls[updates[-1] + 1 if updates else 0 : place]
        mine = [call[0] for call in since if list(call[1:]) == who]
        if what == "update" and not since:
            return place, NOTHING
        if what == "unscale" and "step" in mine:
            return place, AFTER_STEP
        if what == "unscale" and "unscale" in mine:
            return place, UNSCALED_TWICE
        if what == "step" and "step" in mine:
            return place, STEPPED_TWICE
    return None


def training_step(
    w: list[float], pieces: list[tuple], state: tuple[float, int], lr: float, max_norm: float, interval: int
) -> tuple[list[float], tuple[float, int], bool]:
    """(w, (scale, good), taken) after one step of a group of pieces with scaled gradients."""
    columns = [[(rows, grad[k]) for rows, grad in pieces] for k in range(len(w))]
    finite = all(math.isfinite(g) for column in columns for _, g in column)
    if not finite:
        return list(w), adapt(*state, True, interval), False
    _, ((*grad,),) = unscale_and_clip([[mean_of_rows(column) for column in columns]], state[0], max_norm)
    return [v - lr * g for v, g in zip(w, grad, strict=True)], adapt(*state, False, interval), True
