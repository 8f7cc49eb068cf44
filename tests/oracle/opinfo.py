"""PyTorch's own sample inputs (OpInfo), run through every form of an operator on both engines."""

import functools
import warnings
from typing import NamedTuple

import both
import torch
from torch.testing._internal.common_methods_invocations import op_db

import autogradlab as ours

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)
MOST = 60  # samples of one dtype; few operators have more, which differ in size alone


class Case(NamedTuple):
    """One sample of one operator in one dtype."""

    op: object
    dtype: torch.dtype
    number: int
    sample: object

    @property
    def args(self):
        return (self.sample.input, *self.sample.args)

    def __str__(self) -> str:
        return f"{str(self.dtype)[6:]} {self.number}: {_short(self.args)} {_short(self.sample.kwargs)}"


def _short(value) -> str:
    if isinstance(value, torch.Tensor):
        return f"{'x'.join(map(str, value.shape)) or '0-d'}{'' if value.is_contiguous() else value.stride()}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_short, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{k}={_short(v)}" for k, v in value.items())
    return str(value)


def full_name(op) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


@functools.cache
def offered() -> dict:
    """The OpInfo entries autogradlab has a counterpart of, by name."""
    made = {}
    for op in op_db:
        if both.find(op.name) or hasattr(ours.Tensor, op.name):
            made[full_name(op)] = op
    return made


def cases(op, dtype):
    """The samples PyTorch has for a dtype, or (bool, integers) those of the nearest dtype that it has: what PyTorch
    refuses must be refused here too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wants = op.supports_autograd and dtype.is_floating_point
        samples = op.sample_inputs("cpu", dtype, requires_grad=wants)
        for number, sample in enumerate(samples):
            if number >= MOST:
                return
            yield Case(op, dtype, number, sample)


def carry(case, to_ours: bool, widen: bool = False):
    """(arguments, keywords, leaves) for one engine."""
    carrier = both.Carrier(to_ours, case.dtype if widen else None)
    args, kwargs = carrier(case.args), carrier(case.sample.kwargs)
    return args, kwargs, carrier.leaves()


def problems(case, random: bool):
    """How the two engines differ on a sample: (form, what).  NotOffered where the sample is none of ours."""
    mine = both.our_function(case.op)
    if mine is None:
        yield "function", "missing: there is no such function"
    else:
        yield from _function(case, mine, random)
    method = both.our_method(case.op.method_variant)
    if case.op.method_variant is not None and method is None and "nn.functional" not in case.op.name:
        yield "method", "missing: there is no such method"
    elif method is not None and not isinstance(case.sample.input, (list, tuple)):
        yield from _plain("method", case, case.op.method_variant, method, random)
    written = both.our_method(case.op.inplace_variant)
    if case.op.inplace_variant is not None and written is None and "nn.functional" not in case.op.name:
        yield "in-place", "missing: there is no such method"
    elif written is not None:
        yield from _in_place(case, written, random)


TIES = {"sort": 0, "argsort": 0, "topk": 1, "kthvalue": 1, "mode": 0, "median": 0, "nanmedian": 0}  # where dim stands


def settled(case, result, engine):
    """Where equal elements stand in no promised order: the elements that the indices name, in the indices' place."""
    position = TIES.get(case.op.name)
    if position is None or result is None:
        return result
    source = both.Carrier(engine is ours)(case.sample.input).detach()
    rest, words = case.sample.args, case.sample.kwargs
    dim = words.get("dim", rest[position] if len(rest) > position else -1)
    values, places = (
        (None, result) if case.op.name == "argsort" else result if isinstance(result, tuple) else (result, None)
    )
    if places is None:
        return result
    if source.dim():
        wide = places if places.dim() == source.dim() else places.unsqueeze(dim)
        places = engine.gather(source, dim, wide)
    return places if values is None else (values, places)


def _function(case, mine, random):
    one, kwargs, leaves = carry(case, False)
    two, words, own = carry(case, True)
    x, refused = both.attempt(lambda: case.op.op(*one, **kwargs))
    y, error = both.attempt(lambda: mine(*two, **words))
    said = _outcome(settled(case, x, torch), refused, settled(case, y, ours), error, random)
    if said and not (said.startswith("values") and _rounded_once(case, case.op.op, y)):
        yield "function", said
        return
    if refused or random:
        return
    wants = [getattr(t, "requires_grad", False) for t in both.flat(x)]
    if wants != [getattr(t, "requires_grad", False) for t in both.flat(y)]:
        yield "grad", f"requires_grad {[getattr(t, 'requires_grad', False) for t in both.flat(y)]} for {wants}"
        return
    if any(wants) and leaves:
        yield from _gradients(case, (x, leaves), (y, own))


def _wide(case, result, leaves):
    """A half-precision sample once more in float32: PyTorch rounds after every step of a gradient, autogradlab once, so
    both are compared with the true one.
    """
    if case.dtype not in both.HALVES:
        return result, leaves
    args, kwargs, leaves = carry(case, False, widen=True)
    return case.op.op(*args, **kwargs), leaves


def _gradients(case, theirs, mine):
    wide, error = both.attempt(lambda: _wide(case, *theirs))
    theirs = theirs if error else wide
    again = case.dtype is torch.float64 and case.op.supports_gradgrad and case.number < 12
    x, refused = both.attempt(lambda: both.gradients(torch, *theirs, again))
    if refused:
        x, refused = both.attempt(lambda: both.gradients(torch, *theirs, False))
        again = False
    y, error = both.attempt(lambda: both.gradients(ours, *mine, again))
    if refused or error:
        said = both.same_refusal(refused, error) if refused else f"gradient raises {type(error).__name__}: {error}"
        if said:
            yield "grad", said
        return
    for form, a, b in zip(("grad", "second"), x, y, strict=True):
        said = both.grads_differ(a, b)
        if said and not (case.dtype is torch.float32 and _no_worse(case, a, b)):
            yield form, said


def _no_worse(case, theirs, mine) -> bool:
    args, kwargs, leaves = carry(case, False, widen=True)
    true, error = both.attempt(lambda: both.gradients(torch, case.op.op(*args, **kwargs), leaves, False))
    return error is None and both.no_worse(theirs, mine, true[0])


def _rounded_once(case, call, y):
    """A half-precision result that differs from PyTorch's is right if it is the float32 result, rounded."""
    if case.dtype not in both.HALVES:
        return False
    args, kwargs, _ = carry(case, False, widen=True)
    with torch.no_grad():
        wide, error = both.attempt(lambda: call(*args, **kwargs))
    if error is not None:
        return False
    narrow = [t.to(case.dtype) if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in both.flat(wide)]
    return both.differ(narrow, both.flat(y), strides=False) is None


def _outcome(x, refused, y, error, random, strides=True):
    if refused is not None:
        return both.same_refusal(refused, error)
    if error is not None:
        return f"raises {type(error).__name__}: {str(error)[:150]}"
    return both.differ(x, y, strides=strides, values=not random)


def _plain(form, case, theirs, mine, random):
    one, kwargs, _ = carry(case, False)
    two, words, _ = carry(case, True)
    with torch.no_grad(), ours.no_grad():
        x, refused = both.attempt(lambda: theirs(*one, **kwargs))
        y, error = both.attempt(lambda: mine(*two, **words))
    said = _outcome(settled(case, x, torch), refused, settled(case, y, ours), error, random)
    if said and not (said.startswith("values") and _rounded_once(case, theirs, y)):
        yield form, said


def _in_place(case, mine, random):
    results = []
    for to_ours, write in ((False, case.op.inplace_variant), (True, mine)):
        args, kwargs, leaves = carry(case, to_ours)
        if isinstance(args[0], (list, tuple)) or not hasattr(args[0], "clone"):
            return
        target = args[0].clone()
        before = target._version
        y, error = both.attempt(lambda: write(target, *args[1:], **kwargs))  # noqa: B023 - called at once
        results.append((y, error, target, target._version - before, leaves))
    (x, refused, seen, count, leaves), (y, error, target, own, others) = results
    said = _outcome(x, refused, y, error, random)
    if said and not (said.startswith("values") and _rounded_once(case, case.op.inplace_variant, y)):
        yield "in-place", said
        return
    if refused:
        return
    if y is not target and x is seen:
        yield "in-place", "does not return the tensor written to"
    if (count > 0) != (own > 0):
        yield "in-place", f"counts {own} writes for {count}"
    if not random and leaves and x.requires_grad:
        x, leaves = _wide(case, x, leaves)
        first, refused = both.attempt(lambda: both.gradients(torch, x, leaves, False))
        second, error = both.attempt(lambda: both.gradients(ours, y, others, False))
        if refused or error:
            said = both.same_refusal(refused, error) if refused else f"gradient raises {type(error).__name__}: {error}"
        else:
            said = both.grads_differ(first[0], second[0])
        if said:
            yield "in-place", said


def error_problems(op):
    """PyTorch's samples of wrong calls: what it raises must be raised here."""
    if op.error_inputs_func is None:
        return
    for number, wrong in enumerate(op.error_inputs("cpu")):
        case = Case(op, torch.float32, number, wrong.sample_input)
        mine = both.our_function(op)
        try:
            one, kwargs, _ = carry(case, False)
            two, words, _ = carry(case, True)
        except both.NotOffered:
            continue
        _, refused = both.attempt(lambda: op.op(*one, **kwargs))  # noqa: B023 - called at once
        if refused is None:
            continue
        _, error = both.attempt(lambda: mine(*two, **words))  # noqa: B023
        yield case, both.same_refusal(refused, error)
