"""One operand or the other, element by element: maximum, minimum, clamp, where."""

from autogradlab import dtypes, errors
from autogradlab.convert import common_dtype, number, operand
from autogradlab.dispatch import NOTHING
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from . import samples
from .elementary import passed, zeros_like
from .kinds import binary, both_tensors, held, need_tensors, pointwise
from .out import takes_out


@operator(**binary, samples=samples.pairs)
class maximum:
    """The larger of two, element by element; where they are equal, each gets half the gradient."""

    arguments = both_tensors

    def kernel(xp, a, b, /, out=None):
        return xp.maximum(a, b, out=out)

    def grad_a(g, a, b):
        return where(a == b, g / 2, where(a < b, zeros_like(g), g))

    def grad_b(g, a, b):
        return where(a == b, g / 2, where(a > b, zeros_like(g), g))


@operator(**binary, samples=samples.pairs)
class minimum:
    """The smaller of two, element by element; where they are equal, each gets half the gradient."""

    arguments = both_tensors

    def kernel(xp, a, b, /, out=None):
        return xp.minimum(a, b, out=out)

    def grad_a(g, a, b):
        return where(a == b, g / 2, where(a > b, zeros_like(g), g))

    def grad_b(g, a, b):
        return where(a == b, g / 2, where(a < b, zeros_like(g), g))


def _clamp_samples(make):
    for bounds in ({"min": -0.5}, {"max": 0.7}, {"min": -0.5, "max": 0.7}):
        yield (make(3, 4),), bounds


@operator(node="ClampBackward1", **pointwise, public=(), samples=_clamp_samples)
class clamp_:
    """Values held between two numbers.  The gradient passes where the value is within, bounds included."""

    def arguments(input, min=None, max=None):
        if min is None and max is None:
            raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None.")
        min, max = (b if b is None else number(b, n) for b, n in ((min, "min"), (max, "max")))
        if isinstance(input, Tensor) and input._dtype is dtypes.bool_:
            if isinstance(min, (bool, type(None))) and isinstance(max, (bool, type(None))):
                raise errors.not_implemented("clamp", input._dtype)
            input = input.to(dtypes.int64)
        for bound in (min, max):
            if isinstance(bound, float) and isinstance(input, Tensor) and not input._dtype.is_floating_point:
                input = input.to(dtypes.get_default_dtype())
        if isinstance(input, Tensor):
            min, max = (bound if bound is None else held(bound, input._dtype) for bound in (min, max))
        return (input,), {"min": min, "max": max}

    def kernel(xp, a, /, min=None, max=None, out=None):
        if min is not None:
            a = xp.maximum(a, a.dtype.type(min), out=out)
        return a if max is None else xp.minimum(a, a.dtype.type(max), out=out)

    def grad_a(g, a, min, max):
        inside = a <= max if min is None else a >= min if max is None else (a >= min) & (a <= max)
        return passed(g, inside)


def _clamp_one(name: str, side: str, says: str):
    """clamp_min and clamp_max: clamp by one number, by names of their own."""

    def arguments(input, bound):
        return clamp_.arguments(input, **{side: bound})

    def samples(make):
        yield (make(3, 4), 0.5), {}

    block = type(name, (), {**vars(clamp_.block), "__doc__": says, "arguments": arguments})
    return operator(**pointwise, public=(), samples=samples)(block)


clamp_min_ = _clamp_one("clamp_min", "min", "Values of at least a number.")
clamp_max_ = _clamp_one("clamp_max", "max", "Values of at most a number.")


def _bound(name: str, function: str, inside, says: str):
    """A clamp by a tensor: the gradient goes to the input where it lies within (or on the bound), else to the bound."""

    def kernel(xp, a, b, /, out=None):
        return getattr(xp, function)(a, b, out=out)

    def grad_a(g, a, b):
        return passed(g, inside(a, b))

    def grad_b(g, a, b):
        return passed(g, ~inside(a, b))

    block = {"__doc__": says, "kernel": kernel, "grad_a": grad_a, "grad_b": grad_b}
    return operator(node="ClampBackward0", pointwise=True, public=(), samples=samples.pairs)(type(name, (), block))


at_least = _bound("clamp_at_least", "maximum", lambda a, b: a >= b, "The input, or the bound where it is above.")
at_most = _bound("clamp_at_most", "minimum", lambda a, b: a <= b, "The input, or the bound where it is below.")


def clamp(input, min=None, max=None, *, out=None):
    """Values held between min and max: numbers, or tensors that broadcast."""
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return clamp_.function(input, min, max, out=out)
    out = input if min is None else at_least.function(input, min if isinstance(min, Tensor) else operand(min, input))
    return out if max is None else at_most.function(out, max if isinstance(max, Tensor) else operand(max, input))


public(clamp, also_method=True)


def clamp_in_place(self, min=None, max=None):
    """Hold the values between min and max: numbers, or tensors that broadcast."""
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return clamp_.write(self, min, max)
    if min is not None:
        at_least.write(self, min if isinstance(min, Tensor) else operand(min, self))
    return self if max is None else at_most.write(self, max if isinstance(max, Tensor) else operand(max, self))


def clamp_min(input, min):
    """Values of at least min."""
    need_tensors("clamp_min", input=input)
    return clamp(input, min=min) if isinstance(min, Tensor) else clamp_min_.function(input, min)


def clamp_max(input, max):
    """Values of at most max."""
    need_tensors("clamp_max", input=input)
    return clamp(input, max=max) if isinstance(max, Tensor) else clamp_max_.function(input, max)


method(clamp_in_place, "clamp_")
method(lambda self, min: (clamp_in_place if isinstance(min, Tensor) else clamp_min_.write)(self, min), "clamp_min_")
method(
    lambda self, max: clamp_in_place(self, None, max) if isinstance(max, Tensor) else clamp_max_.write(self, max),
    "clamp_max_",
)
public(clamp_min, also_method=True, around=takes_out)
public(clamp_max, also_method=True, around=takes_out)
alias("clip", "clamp")


@operator(node="WhereBackward0", public=(), promote=False, moves=True,
          samples=lambda make: [((make(2, 3), make(3), make.bools(2, 3)), {}),
                                ((make(3), make(), make.bools(2, 1)), {})])  # fmt: skip
class where_:
    """Elements of a where the condition holds, of b elsewhere, over the broadcast shape of all three."""

    def arguments(input, other, condition):
        return (input, other, condition), NOTHING

    def kernel(xp, a, b, condition, /):
        return xp.where(condition, a, b)

    def grad_a(g, condition):
        return where(condition, g, zeros_like(g))

    def grad_b(g, condition):
        return where(condition, zeros_like(g), g)


def where(condition, input=None, other=None):
    """Elements of `input` where `condition` holds, of `other` elsewhere; with the condition alone, the indices where it
    holds.

    condition: a bool tensor; input, other: tensors or numbers; all broadcast.
    """
    if not isinstance(condition, Tensor):
        return where_(input, other, condition)  # raw arrays, in a formula
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition._dtype not in (dtypes.bool_, dtypes.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition._dtype}."
        )
    beside = input if isinstance(input, Tensor) else other if isinstance(other, Tensor) else condition
    if beside is not condition and beside._dtype.category == dtypes.INT:
        input, other = (held(t, beside._dtype) if type(t) is int else t for t in (input, other))
    input, other = (t if isinstance(t, Tensor) else operand(t, beside) for t in (input, other))
    if input._dtype is not other._dtype:
        common = common_dtype((input, other))
        input, other = input.to(common), other.to(common)
    return where_.function(input, other, condition)


public(where, around=takes_out)
method(lambda self, condition, other: where(condition, self, other), "where")
