"""Checkpointing: backward computes a region again instead of keeping what it saved.  (D4 3.3)

While the function runs, each tensor that a node wants to save is replaced by its number.  The first node of the region
that backward reaches asks for its tensor by number; the function then runs once more, with the random numbers and the
autocast of the first time, until every number has its tensor.  Each pass has results of its own, which go when it ends.

https://pytorch.org/docs/stable/checkpoint.html
"""

import contextlib
import copy
import weakref

from autogradlab import random
from autogradlab.autograd.graph import saved_tensors_hooks
from autogradlab.graph import keep, take_out
from autogradlab.modes import AUTOCAST, NO_GRAD, Mode, enable_grad, observe, state
from autogradlab.ops.random import _defaults
from autogradlab.tensor import Tensor


class CheckpointError(RuntimeError):
    """What was recomputed is not what the first run saved."""


class _Done(Exception):
    """Everything that was asked for is there: the rest of the function need not run again."""


class _Slot:
    """What a node keeps in place of a tensor: its number among those that the region saved."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int):
        self.number = number


class _Outside:
    """Stands for the pass when someone looks at `grad_fn._saved_...` outside of any."""


def _metadata(t: Tensor) -> dict:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def noop_context_fn():
    """No contexts: the default."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Region:
    """One call of checkpoint: how to run it again, and what it must give.

    slots: weak references, so that it is known which tensors nobody will ask for any more.  passes: what each backward
    pass recomputed, by slot number; a tensor leaves when it is taken, so that memory falls while the pass goes on.
    """

    def __init__(self, fn, args, kwargs, check: bool, early_stop: bool):
        self.fn, self.kwargs, self.check, self.early_stop = fn, kwargs, check, early_stop
        self.args = [None if isinstance(a, Tensor) else a for a in args]
        # under an enclosing checkpoint they are kept in its way
        self.kept = {i: keep(a) for i, a in enumerate(args) if isinstance(a, Tensor)}
        self.slots, self.expected, self.complete = [], [], False
        self.passes = weakref.WeakKeyDictionary()
        self.replay = self.logs = None

    def name(self) -> str:
        return "checkpoint"

    def pack(self, tensor: Tensor) -> _Slot:
        slot = _Slot(len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.expected.append(_metadata(tensor) if self.check else None)
        return slot

    def unpack(self, slot: _Slot) -> Tensor:
        task = state.task or _Outside()
        found = self.passes.get(task)
        if found is None:
            found = self.passes[task] = self.recompute()
        if slot.number not in found:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once in this "
                "pass: ask for ctx.saved_tensors only once in a backward."
            )
        return found.pop(slot.number)

    def recompute(self) -> dict:
        """Run the function again; the tensors it saves, by number."""
        args = [take_out(self.kept[i], self) if i in self.kept else a for i, a in enumerate(self.args)]
        recomputed = _Recomputed(self)
        with contextlib.suppress(_Done), saved_tensors_hooks(recomputed.pack, _as_it_is), enable_grad(), self.replay():
            self.fn(*args, **self.kwargs)
        recomputed.compare()
        return recomputed.tensors

    def mismatch(self, text: str) -> CheckpointError:
        text = (
            f"torch.utils.checkpoint: {text}\nThe function must do the same each time: look for conditions, global "
            "state and in-place changes."
        )
        if self.logs is None:
            return CheckpointError(f"{text} debug=True lists the operators of both runs.")
        first, second = (", ".join(log) or "none" for log in self.logs)
        return CheckpointError(f"{text}\nfirst run: {first}\nsecond run: {second}")


def _as_it_is(value):
    return value


class _Recomputed:
    """What the second run saves, checked against what the first one saved."""

    def __init__(self, region: _Region):
        self.region, self.tensors, self.count, self.free = region, {}, 0, False

    def pack(self, tensor: Tensor) -> Tensor:
        region, number = self.region, self.count
        kept = tensor.detach()
        self.count += 1
        if number >= len(region.slots):
            if region.complete:
                raise region.mismatch(
                    "trying to save more tensors during recomputation than during the original forward pass."
                )
            self.free = True  # backward was called inside the region, before it came to its end
            return kept
        if region.slots[number]() is not None:
            self.tensors[number] = kept
        if region.early_stop and self.count == len(region.slots):
            raise _Done
        return kept

    def compare(self) -> None:
        region = self.region
        if self.free:
            return
        if self.count != len(region.slots):
            raise region.mismatch(
                "A different number of tensors was saved during the original forward and recomputation.\nNumber of "
                f"tensors saved during forward: {len(region.slots)}\nNumber of tensors saved during recomputation: "
                f"{self.count}."
            )
        if not region.check:
            return
        other = [(n, region.expected[n], _metadata(t)) for n, t in self.tensors.items()]
        wrong = [
            f"tensor at position {n}:\nsaved metadata: {was}\nrecomputed metadata: {now}"
            for n, was, now in other if was != now
        ]  # fmt: skip
        if wrong:
            raise region.mismatch(
                "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                + "\n".join(wrong)
            )


# The world of the first run -------------------------------------------------------------------------------------------


class _Casting(Mode):
    """Autocast as it was, with a cache of its own: casts made in backward must not outlive it."""

    def __init__(self):
        self.flag, self.casting = state.flags & AUTOCAST, _without_casts(state.autocast)

    def change(self):
        state.flags = state.flags & ~AUTOCAST | self.flag
        state.autocast = _without_casts(self.casting)


def _without_casts(casting):
    casting = copy.copy(casting)
    if casting is not None and casting.cache is not None:
        casting.cache = {}
    return casting


@contextlib.contextmanager
def _replayed(casting: _Casting, numbers: dict | None, context):
    """Autocast and random numbers of the first run; the numbers go on afterwards as if nothing had been drawn."""
    with casting, random.fork_rng(enabled=numbers is not None):
        if numbers is not None:
            for generator in _defaults.values():
                if generator in numbers:
                    generator.set_state(numbers[generator])
                else:  # first used in the region: it started from its seed
                    generator.manual_seed(generator.initial_seed())
        with context:
            yield


def _logged(log: list):
    """Note the operators that run."""
    before = state.observer

    def note(event, **facts):
        if event == "call":
            log.append(facts["op"].name)
        if before is not None:
            before(event, **facts)

    return observe(note)


# Switches for whole programs ------------------------------------------------------------------------------------------

_settings = {"early_stop": None, "debug": None}


@contextlib.contextmanager
def _setting(name: str, value: bool):
    before = _settings[name]
    _settings[name] = value
    try:
        yield
    finally:
        _settings[name] = before


def set_checkpoint_early_stop(enable: bool):
    """Inside the block, recomputation stops (or not) as soon as all that is needed is there."""
    return _setting("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None):
    """Inside the block, every checkpoint runs with (or without) debug=True."""
    return _setting("debug", enabled)


# The functions --------------------------------------------------------------------------------------------------------


def _only_non_reentrant(use_reentrant) -> None:
    if use_reentrant:
        raise NotImplementedError(
            "checkpoint: only the non-reentrant form is offered. The reentrant one (use_reentrant=True, a backward "
            "inside backward) knows no keyword arguments, no autograd.grad and no nested structures, and PyTorch "
            "advises against it. Pass use_reentrant=False."
        )


def checkpoint(
    function, *args, use_reentrant: bool | None = None, context_fn=noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, preserve_rng_state: bool = True, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), which backward computes again instead of keeping what it saved.

    use_reentrant: False, here the default as well.  context_fn: returns two context managers, for the first run and the
    second.  determinism_check: "default" compares shape, dtype and device of what is recomputed, "none" does not.
    debug: errors list the operators of both runs.  early_stop: stop the second run once nothing more is needed.
    preserve_rng_state: draw the same random numbers again.  Raises CheckpointError from backward if the second run
    differs.
    """
    _only_non_reentrant(use_reentrant)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}.")
    debug = debug if _settings["debug"] is None else _settings["debug"]
    early_stop = early_stop if _settings["early_stop"] is None else _settings["early_stop"]
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn.")
    if state.flags & NO_GRAD:
        return function(*args, **kwargs)
    region = _Region(function, args, kwargs, determinism_check == "default", early_stop)
    first, second = context_fn()
    if debug:
        region.logs = [], []
        first, second = map(_logged, region.logs)
    numbers = {g: g.get_state() for g in _defaults.values()} if preserve_rng_state else None
    casting = _Casting()
    region.replay = lambda: _replayed(casting, numbers, second)
    with saved_tensors_hooks(region.pack, region.unpack), first:
        result = function(*args, **kwargs)
    region.complete = True
    return result


def _chain(functions):
    def run(input):
        for fn in functions:
            input = fn(input)
        return input

    return run


def checkpoint_sequential(functions, segments: int, input, use_reentrant: bool | None = None, **kwargs):
    """Run functions (or a Sequential) one after the other in segments, each but the last one checkpointed."""
    _only_non_reentrant(use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}.")
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    if not 1 <= segments <= max(1, len(functions)):
        raise ValueError(f"checkpoint_sequential: segments must be from 1 to {len(functions)}, but got {segments}.")
    length = len(functions) // segments
    for start in range(0, length * (segments - 1), length):
        part = _chain(functions[start : start + length])
        input = checkpoint(part, input, use_reentrant=False, preserve_rng_state=preserve)
    return _chain(functions[length * (segments - 1) :])(input)
