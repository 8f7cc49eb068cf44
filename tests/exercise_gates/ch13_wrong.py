"""Typical wrong solutions of exercise 13: WRONG lists each with its task and the words its check must answer with."""

from .ch13_second_way import accounts_as_written as as_written
from .ch13_second_way import accounts_fused as as_fused
from .ch13_second_way import autocast_dtypes as casted
from .ch13_second_way import handed_back as handed
from .ch13_second_way import layers_at_work as at_work


def forgets_no_grad(operands, modes):
    return at_work(operands, [mode for mode in modes if mode == "autocast"])


def all_must_ask(operands, modes):
    every = all(asks for _, asks in operands)
    return at_work([(device, every) for device, _ in operands], modes)


def first_operand_only(operands, modes):
    return at_work(operands[:1], modes)


def moves_silently(operands, modes):
    return at_work([(operands[0][0], asks) for _, asks in operands], modes)


def no_grad_as_a_layer(operands, modes):
    return modes + at_work(operands, [mode for mode in modes if mode == "no_grad"])


def widest(dtypes):
    return max(dtypes, key=["bool", "int64", "float16", "bfloat16", "float32", "float64"].index)


def halves_first(dtypes):
    return "float32" if {"float16", "bfloat16"} <= set(dtypes) else widest(dtypes)


def first_dtype(dtypes):
    return dtypes[0]


def by_bits(dtypes):
    return max(dtypes, key=lambda name: int("".join(c for c in name if c.isdigit()) or "8"))


def casts_all(policy, dtypes, low):
    target = {"lower": low, "fp32": "float32", "promote": "float32" if "float32" in dtypes else low}
    return [target.get(policy, dtype) if dtype != "float64" else dtype for dtype in dtypes]


def casts_doubles(policy, dtypes, low):
    found = casted(policy, dtypes, low)
    target = {"lower": low, "fp32": "float32"}
    return [target.get(policy, dtype) if dtype == "float64" else dtype for dtype in found]


def lowers_float32_only(policy, dtypes, low):
    pairs = zip(casted(policy, dtypes, low), dtypes, strict=True)
    return [new if old == "float32" else old for new, old in pairs]


def promotes_to_float32(policy, dtypes, low):
    return casted("fp32" if policy == "promote" else policy, dtypes, low)


def reads_only(steps, nbytes):
    return len(steps), sum(len(set(inputs)) for inputs, _ in steps) * nbytes


def reads_twice(steps, nbytes):
    return len(steps), sum(len(inputs) + 1 for inputs, _ in steps) * nbytes


def each_tensor_once(steps, nbytes):
    return len(steps), len({name for inputs, output in steps for name in (*inputs, output)}) * nbytes


def in_tensors(steps, nbytes):
    return as_written(steps, 1)


def everything_counted(steps, needed, nbytes):
    """Nothing is left out."""
    made = {output for _, output in steps}
    read = {name for inputs, _ in steps for name in inputs} - made
    return int(bool(steps)), (len(read) + len(made & set(needed))) * nbytes


def writes_everything(steps, needed, nbytes):
    kernels, moved = as_fused(steps, needed, nbytes)
    alive = _alive(steps, needed)
    return kernels, moved + sum(output not in needed for _, output in alive) * nbytes


def reads_what_is_inside(steps, needed, nbytes):
    kernels, moved = as_fused(steps, needed, nbytes)
    alive = _alive(steps, needed)
    read = {name for inputs, _ in alive for name in inputs}
    return kernels, moved + len(read & {output for _, output in alive}) * nbytes


def _alive(steps, needed):
    wanted, kept = set(needed), []
    for inputs, output in reversed(steps):
        if output in wanted:
            kept.append((inputs, output))
            wanted |= set(inputs)
    return kept


def one_step_back(steps, needed, nbytes):
    kept = [step for step in steps if step[1] in needed]
    return everything_counted(kept, needed, nbytes)


def clocks(kernels, launch, shortest, rate, wrong):
    host = free = idle = 0.0
    for n, nbytes in enumerate(kernels):
        if wrong == "waits":
            host = max(host, free)
        host += launch
        begin = max(host, free)
        if n or wrong == "first":
            idle += begin - free
        free = begin + (nbytes / rate if wrong == "floor" else max(shortest, nbytes / rate))
    return (host if wrong == "host" else free), idle


def counts_the_first_wait(kernels, launch, shortest, rate):
    return clocks(kernels, launch, shortest, rate, "first")


def host_waits(kernels, launch, shortest, rate):
    return clocks(kernels, launch, shortest, rate, "waits")


def adds_both(kernels, launch, shortest, rate):
    return clocks([shortest * rate + nbytes for nbytes in kernels], launch, 0.0, rate, "")


def without_the_shortest(kernels, launch, shortest, rate):
    return clocks(kernels, launch, shortest, rate, "floor")


def ends_with_the_host(kernels, launch, shortest, rate):
    return clocks(kernels, launch, shortest, rate, "host")


def renamed(inputs, returned, old, new):
    return [new if word == old else word for word in handed(inputs, returned)]


def none_is_filled(inputs, returned):
    return renamed(inputs, returned, "missing", "filled")


def none_is_nothing(inputs, returned):
    return renamed(inputs, returned, "missing", "nothing")


def takes_too_few(inputs, returned):
    pairs = zip(inputs, returned, strict=False)
    return [word for pair in pairs for word in handed([pair[0]], [pair[1]])]


def no_shapes(inputs, returned):
    return handed([(None, False) if not needs else ((0,), True) for _, needs in inputs], _as_zero(inputs, returned))


def _as_zero(inputs, returned):
    return [got if got is None else (0,) for got in returned]


def looks_at_every_shape(inputs, returned):
    found = handed(inputs, returned)
    for (shape, _), got in zip(inputs, returned, strict=False):
        if got is not None and got != shape:
            raise RuntimeError("invalid gradient")
    return found


def counts_strictly(inputs, returned):
    if len(returned) != len(inputs):
        raise RuntimeError("incorrect number of gradients")
    return handed(inputs, returned)


WRONG = (
    ("layers_at_work", forgets_no_grad, "no_grad is on: autograd has nothing to do"),
    ("layers_at_work", all_must_ask, "One operand that requires gradients is enough"),
    ("layers_at_work", first_operand_only, "Only the first operand was looked at"),
    ("layers_at_work", moves_silently, "none is moved for you: raise a RuntimeError"),
    ("layers_at_work", no_grad_as_a_layer, "no layer itself"),
    ("common_dtype", widest, "float16 and bfloat16 together make float32"),
    ("common_dtype", halves_first, "float64 is wider than the float32"),
    ("common_dtype", first_dtype, "The order of the operands does not matter"),
    ("common_dtype", by_bits, "Bits alone do not decide"),
    ("autocast_dtypes", casts_all, "Integers were cast"),
    ("autocast_dtypes", casts_doubles, "float64 was cast"),
    ("autocast_dtypes", lowers_float32_only, "The halves are touched too"),
    ("autocast_dtypes", promotes_to_float32, "only if one of the operands is float32"),
    ("accounts_as_written", reads_only, "each step writes its output too"),
    ("accounts_as_written", reads_twice, "An operand that is named twice is read once"),
    ("accounts_as_written", each_tensor_once, "is counted in both"),
    ("accounts_as_written", in_tensors, "each has nbytes bytes"),
    ("accounts_fused", everything_counted, "is left out, with what only it reads"),
    ("accounts_fused", writes_everything, "A result was written that nobody needs"),
    ("accounts_fused", reads_what_is_inside, "is not read from memory"),
    ("accounts_fused", one_step_back, "what these are computed from is needed too"),
    ("who_waits", counts_the_first_wait, "lies before the kernels, not between them"),
    ("who_waits", host_waits, "The host does not wait for the device"),
    ("who_waits", adds_both, "the longer of its two times"),
    ("who_waits", without_the_shortest, "A kernel takes `shortest` at least"),
    ("who_waits", ends_with_the_host, "This is when the host is done"),
    ("handed_back", none_is_filled, "leaves its .grad None: missing"),
    ("handed_back", none_is_nothing, "None is a fault here"),
    ("handed_back", takes_too_few, "is not that of the inputs: raise a RuntimeError"),
    ("handed_back", no_shapes, "got one of another shape: raise a RuntimeError"),
    ("handed_back", looks_at_every_shape, "No error belongs here"),
    ("handed_back", counts_strictly, "No error belongs here"),
)
