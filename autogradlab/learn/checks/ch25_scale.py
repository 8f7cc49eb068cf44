"""Tasks 2, 3 and 4 of chapter 25's exercise: what float16 makes of a gradient, and how a scale is found."""

from . import ch25_fresh
from . import enumerated_scaler as enumerated
from .task import Case, Check, Mistake, Task, same_but_for_rounding

BELOW = 'chapter 25, "Gradients below the smallest number"'


def close(args: tuple, expected: object, value: object) -> bool:
    """Equal but for rounding, whatever the arguments."""
    return same_but_for_rounding(expected, value)


# 2. in_float16 --------------------------------------------------------------------------------------------------------


def _bounds(zero: float = 2.0**-25, normal: float = 2.0**-14, inf: float = 65520.0, size=abs, times=lambda g, s: g * s):
    """Judging by these bounds, of this measure of the product."""

    def in_float16(gradient: float, scale: float) -> str:
        x = size(times(gradient, scale))
        return "zero" if x <= zero else "subnormal" if x < normal else "normal" if x < inf else "inf"

    return in_float16


in_float16 = Check(
    Task(
        name="in_float16",
        parameters=("gradient", "scale"),
        visible=(
            Case((1e-8, 1.0), "zero", "below half of the smallest number, 2^-24"),
            Case((1e-8, 65536.0), "normal", "a scale lifts it"),
            Case((1e-8, 1024.0), "subnormal", "a smaller scale lifts it less"),
            Case((2.0, 65536.0), "inf", "131,072 is above the largest number"),
            Case((-1e-8, 1.0), "zero", "the sign does not matter"),
            Case((-2.0, 65536.0), "inf"),
            Case((0.0, 1.0), "zero"),
            Case((2.0**-25, 1.0), "zero", "2^-25 lies half way, and is rounded to 0"),
            Case((1.5 * 2.0**-25, 1.0), "subnormal", "nearer to 2^-24 than to 0"),
            Case((2.0**-14, 1.0), "normal", "the first number with full fineness"),
            Case((65519.0, 1.0), "normal", "rounded down to 65,504"),
            Case((65520.0, 1.0), "inf"),
        ),
        reference=enumerated.in_float16,
        fresh=ch25_fresh.halves,
        hidden="fresh gradients and scales, with both signs and near the edges",
        mistakes=(
            Mistake(
                _bounds(size=float),
                "A negative number is judged as if it were very small. Its size decides: take abs first.",
            ),
            Mistake(
                _bounds(zero=2.0**-24 - 1e-30),
                "What lies between 2^-25 and 2^-24 is nearer to 2^-24 than to 0, and is rounded up to it.",
            ),
            Mistake(_bounds(inf=65504.000001), "Up to 65,520 numbers are rounded down to the largest, 65,504."),
            Mistake(
                _bounds(zero=2.0**-25 - 1e-20),
                "2^-25 itself lies half way between 0 and 2^-24, and goes to 0: up to 2^-25 it is zero.",
            ),
            Mistake(_bounds(normal=2.0**-14 + 1e-15), "2^-14 itself is normal: only what is below it is subnormal."),
            Mistake(_bounds(inf=65520.000001), "65,520 itself becomes inf: only what is below it is rounded down."),
            Mistake(
                _bounds(zero=2.0**-14),
                "Below 2^-14 a number is not lost at once: down to 2^-24 it is kept with fewer bits, as subnormal.",
            ),
            Mistake(
                _bounds(times=lambda g, s: g / s),
                "The gradient was divided by the scale. The loss is multiplied by it.",
            ),
            Mistake(_bounds(times=lambda g, s: g), "The scale is not used: judge gradient * scale."),
        ),
        hint="x = abs(gradient * scale), then four ranges: up to 2^-25, below 2^-14, below 65,520, the rest.",
        read=BELOW,
    )
)


# 3. adapt -------------------------------------------------------------------------------------------------------------


def _adapting(reset_on_overflow: bool = True, reset_on_growth: bool = True, late: int = 0, back: float = 0.5):
    """The rule with a part of it changed."""

    def adapt(scale: float, good: int, overflow: bool, interval: int) -> tuple[float, int]:
        if overflow:
            return scale * back, 0 if reset_on_overflow else good
        if good + 1 >= interval + late:
            return scale * 2.0, 0 if reset_on_growth else good + 1
        return scale, good + 1

    return adapt


adapt = Check(
    Task(
        name="adapt",
        parameters=("scale", "good", "overflow", "interval"),
        visible=(
            Case((8.0, 0, False, 3), (8.0, 1), "one good step"),
            Case((8.0, 2, False, 3), (16.0, 0), "the third in a row: doubled, and the count begins anew"),
            Case((8.0, 2, True, 3), (4.0, 0), "halved, and the count begins anew"),
            Case((8.0, 0, True, 3), (4.0, 0)),
            Case((8.0, 0, False, 1), (16.0, 0), "with an interval of 1 every good step doubles"),
            Case((1.0, 0, True, 3), (0.5, 0), "a scale may fall below 1"),
        ),
        reference=enumerated.adapt,
        fresh=ch25_fresh.adaptions,
        hidden="fresh scales, counts and intervals",
        mistakes=(
            Mistake(
                _adapting(reset_on_overflow=False),
                "The scale is right. Good steps count only in a row: an overflow sets the count to 0.",
            ),
            Mistake(
                _adapting(reset_on_growth=False),
                "The scale is right. After doubling the count begins anew; otherwise every further step doubles.",
            ),
            Mistake(_adapting(late=1), "It doubles one step too late: this step is a good one too, so count it first."),
            Mistake(_adapting(back=2.0), "An overflow means that the scale is too large: halve it."),
            Mistake(_adapting(back=1.0), "An overflow must shrink the scale, or the next step overflows as well."),
        ),
        hint="Overflow: half the scale, count 0. Else count one more; if that makes `interval`, double and count 0.",
        read=BELOW,
        same=close,
    )
)


# 4. scale_walk --------------------------------------------------------------------------------------------------------


def _walking(rates_of=lambda overflows, k: sum(not o for o in overflows[:k]), after: bool = False, skip: bool = True):
    """The walk with another way to find a step's learning rate, or with the scale after the step."""

    def scale_walk(overflows: list, scale: float, interval: int, rates: list) -> list[tuple]:
        found = enumerated.scales(overflows, scale, interval)[after:]
        return [
            (found[k], None if skip and overflow else rates[rates_of(overflows, k)])
            for k, overflow in enumerate(overflows)
        ]

    return scale_walk


RATES = [0.1, 0.2, 0.3, 0.4]

scale_walk = Check(
    Task(
        name="scale_walk",
        parameters=("overflows", "scale", "interval", "rates"),
        visible=(
            Case(
                ([False, True, False, False], 8.0, 2, RATES),
                [(8.0, 0.1), (8.0, None), (4.0, 0.2), (4.0, 0.3)],
                "the skipped step uses up no rate",
            ),
            Case(
                ([False, False, False, False], 8.0, 2, RATES),
                [(8.0, 0.1), (8.0, 0.2), (16.0, 0.3), (16.0, 0.4)],
                "doubled after two good steps",
            ),
            Case(([True, True, True], 8.0, 2, RATES), [(8.0, None), (4.0, None), (2.0, None)], "a high beginning"),
            Case(([], 8.0, 2, RATES), [], "no step"),
            Case(([True, False], 1.0, 1, RATES), [(1.0, None), (0.5, 0.1)]),
        ),
        reference=enumerated.scale_walk,
        fresh=ch25_fresh.walks,
        hidden="fresh runs with and without overflows",
        mistakes=(
            Mistake(
                _walking(lambda overflows, k: k),
                "The scales are right. The schedule moved at skipped steps too: take the next rate only where a step "
                "was taken.",
            ),
            Mistake(_walking(after=True), "Each tuple holds the scale after its step. Note it before you adapt it."),
            Mistake(_walking(skip=False), "A step that overflows is skipped: its rate is None."),
            Mistake(
                lambda overflows, scale, interval, rates: [
                    (scale, r) for _, r in enumerated.scale_walk(overflows, scale, interval, rates)
                ],
                "The scale never changes: keep what `adapt` returns for the next step.",
            ),
        ),
        hint="For each step: note the scale and the next unused rate (or None), then adapt. Count the steps taken.",
        read=BELOW,
        same=close,
    )
)
