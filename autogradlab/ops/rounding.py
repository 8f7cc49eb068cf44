"""Steps: sign, floor, ceil, trunc, round.  Flat almost everywhere, so their derivative is 0."""

from autogradlab.dispatch import NOTHING
from autogradlab.table import operator

from . import samples
from .elementary import flat
from .kinds import not_bool, pointwise


@operator(**pointwise, samples=samples.unary)
class sign:
    """-1, 0 or 1.  The derivative is 0."""

    def kernel(xp, a, /, out=None):
        if a.dtype.kind != "f":
            return xp.sign(a, out=out) if a.dtype.kind != "b" else a.copy()
        return xp.subtract((a > 0).astype(a.dtype), (a < 0).astype(a.dtype), out=out)  # 0 for nan

    grad_a = flat


def _step(name: str, says: str):
    """Three roundings differ in one word."""

    def kernel(xp, a, /, out=None):
        return getattr(xp, name)(a, out=out)

    block = {"__doc__": f"{says}  The derivative is 0.", "kernel": kernel, "grad_a": flat}
    return operator(**pointwise, accepts=not_bool, samples=samples.unary)(type(name, (), block))


floor = _step("floor", "The largest integer not above.")
ceil = _step("ceil", "The smallest integer not below.")
trunc = _step("trunc", "The integer part.")


@operator(**pointwise, accepts=not_bool,
          samples=lambda make: [((make(2, 3),), {}), ((make(2, 3),), {"decimals": 1})])  # fmt: skip
class round:
    """To the nearest integer (or number of decimals), halves to the even one.  The derivative is 0."""

    def arguments(input, *, decimals=0):
        return (input,), {"decimals": decimals} if decimals else NOTHING

    def kernel(xp, a, /, decimals=0):
        return xp.round(a, decimals)

    grad_a = flat
