"""compile: a function that is traced once for each kind of arguments, and then runs as its improved program."""

import copy
import functools
import operator
import threading
import warnings

from autogradlab.dispatch import call, call_into, call_view, call_views
from autogradlab.modes import ANOMALY, NO_GRAD, recording, state
from autogradlab.tensor import Tensor

from .guards import Watch, flatten, mode_key
from .passes import fused, results_of, without_dead, without_repeats
from .program import Program, Ref, Step, rebuilt
from .report import Report
from .tracing import Break, Tracer

LIMIT = 8  # programs of one function, as PyTorch's recompile_limit


class Entry:
    """One traced program, ready to run.

    traced: as the function did it; program: as it runs now, None where the trace broke off.  watch: what else must not
    have changed.  kept: arguments whose ids are in the key, so that no other object gets them.
    """

    def __init__(self, traced: Program, program: Program | None, watch: Watch, kept):
        self.traced, self.program, self.watch, self.kept = traced, program, watch, kept
        if program is None:
            return
        self.actions = [_action(step, state.flags & NO_GRAD) for step in program.steps]
        self.gone = _last_uses(program)

    def run(self, tensors: list):
        """The results for these arguments."""
        program = self.program
        values = [None] * len(program.values)
        for n, t in program.constants.items():
            values[n] = t
        for n, t in zip(program.arguments, tensors, strict=True):
            values[n] = t
        for action, gone in zip(self.actions, self.gone, strict=True):
            action(values)
            for n in gone:
                values[n] = None
        return rebuilt(program.result, lambda v: values[v.number] if isinstance(v, Ref) else v)


def _action(step: Step, no_grad: bool):
    """A step as a function of the values."""
    op, inputs, outputs, options = step.what, step.inputs, step.outputs, step.options
    recorded = step.recorded
    if step.kind == "kernel" and len(outputs) == 1:
        out = outputs[0]

        def act(values):
            values[out] = call(op, [values[n] for n in inputs], options)
    elif step.kind == "view":
        source, out, known = inputs[0], outputs[0], []

        def act(values):
            seen = values[source]
            if known and known[0] == seen._offset:
                values[out] = call_view(op, seen, options, *known[1])
                return
            made = values[out] = call_view(op, seen, options)
            if op.local:  # the same source at the same place in its storage, the same view: worked out once
                geometry = tuple(made.shape), made.stride(), made.storage_offset()
                known[:] = seen.storage_offset(), (geometry, op.remember((seen,), options))
    elif step.kind == "write":

        def act(values):
            given = [values[n] for n in inputs]
            call_into(op, given[0], given, options)
    else:
        run = _several(step)

        def act(values):
            made = run(values)
            for n, t in zip(outputs, made, strict=True):
                values[n] = t

    if recorded is not bool(no_grad):
        return act

    def switched(values):
        with recording(recorded):
            act(values)

    return switched


def _several(step: Step):
    """What makes the outputs of a step with several of them."""
    op, inputs, options = step.what, step.inputs, step.options
    if step.kind == "fused":
        return lambda values: op([values[n] for n in inputs], step.recorded)
    if step.kind == "kernel":
        return lambda values: call(op, [values[n] for n in inputs], options)
    if step.kind == "views":
        return lambda values: call_views(op, values[inputs[0]], options)

    def run(values):
        args, kwargs = rebuilt(step.arguments, lambda v: values[v.number] if isinstance(v, Ref) else v)
        found = []
        rebuilt(op(*args, **kwargs), lambda v: found.append(v) if isinstance(v, Tensor) else None)
        return found

    return run


def _last_uses(program: Program) -> list[list[int]]:
    """For each step the values that nothing after it needs: their memory is free again."""
    last = {}
    for i, step in enumerate(program.steps):
        last.update(dict.fromkeys((*step.inputs, *step.outputs), i))
    stay = results_of(program) | set(program.constants)
    return [[n for n in {*s.inputs, *s.outputs} - stay if last[n] == i] for i, s in enumerate(program.steps)]


def _containers(value):
    """The lists and dicts in a value."""
    if isinstance(value, (list, dict)):
        yield value
    if isinstance(value, (list, tuple, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from _containers(v)


class CompiledFunction:
    """What compile() makes of a function.

    Called, it looks for a program traced for such arguments, and runs it; where there is none it runs the function and
    traces it.  `print(f.explain())` shows the programs.
    """

    def __init__(self, fn, fullgraph: bool = False, dynamic: bool | None = None, backend=None):
        self.fn, self.fullgraph, self.dynamic, self.backend = fn, fullgraph, dynamic, backend
        self.reset()
        self._lock = threading.Lock()
        functools.update_wrapper(self, fn, updated=())

    def reset(self) -> None:
        """Forget what was traced."""
        self.entries: dict[tuple, list] = {}  # by what the arguments are
        self.loose: dict[tuple, list] = {}  # the same but for sizes, of programs that fit any
        self.traced: list[Entry] = []
        self.count = 0

    def __deepcopy__(self, memo):
        """A copy that has traced nothing yet."""
        return type(self)(copy.deepcopy(self.fn, memo), self.fullgraph, self.dynamic, self.backend)

    def __reduce__(self):
        return type(self), (self.fn, self.fullgraph, self.dynamic, self.backend)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        if state.tracer is not None or state.flags & ANOMALY:  # inside another compiled function: part of its program
            return self.fn(*args, **kwargs)
        tensors = []
        key = flatten((args, kwargs), tensors, {}, False), mode_key()
        for entry in self.entries.get(key, ()):
            if entry.watch.holds(tensors):
                return self.fn(*args, **kwargs) if entry.program is None else entry.run(tensors)
        loose = (flatten((args, kwargs), [], {}, True), key[1]) if self.dynamic is not False else None
        for entry in self.loose.get(loose, ()):
            if entry.watch.holds(tensors):
                self._keep(self.entries, key, entry)
                return entry.run(tensors)
        return self._trace(key, loose, tensors, args, kwargs)

    def _keep(self, table: dict, key, entry: Entry) -> None:
        with self._lock:
            if len(table) > 1000:  # sizes that differ at every call
                table.clear()
            table.setdefault(key, []).append(entry)

    def _trace(self, key, loose, tensors, args, kwargs):
        if self.count >= LIMIT:
            if self.count == LIMIT:
                self.count += 1
                warnings.warn(
                    f"{self.name} was traced {LIMIT} times, the recompile_limit: its arguments, or what else it reads, "
                    f"differ from call to call. It runs uncompiled from now on where no program fits.",
                    stacklevel=3,
                )
            return self.fn(*args, **kwargs)
        program = Program(self.name)
        others = []
        rebuilt((args, kwargs), lambda v: others.append(v) if not isinstance(v, Tensor) else None)
        watch = Watch(self.fn, others, tensors)
        tracer = Tracer(program, tensors, watch.tensors, self.fullgraph)
        with tracer:
            if watch.unfit is not None:
                tracer.break_off(watch.unfit)
            result = self.fn(*args, **kwargs)
            tracer.finish(result)
        after = []
        if flatten((args, kwargs), after, {}, False) != key[0] or not all(map(operator.is_, after, tensors)):
            tracer.break_off("it changes its arguments")
        elif not watch.holds(tensors):
            tracer.break_off("it changes what it reads besides its arguments")
        elif {id(c) for c in _containers(result)} & {
            id(c) for c in (*_containers((args, kwargs)), *watch.containers())
        }:
            tracer.break_off("it returns a list or dict that was there before, and not a new one")
        improved = None if program.break_ is not None else self._improved(program)
        entry = Entry(program, improved, watch, (args, kwargs) if others else None)
        self.count += 1
        self.traced.append(entry)
        self._keep(self.entries, key, entry)
        if loose is not None and entry.program is not None and entry.program.fits_any_size():
            for step in entry.program.steps:
                if step.kind == "fused":
                    step.what.any_size = True
            self._keep(self.loose, loose, entry)
        return result

    def _improved(self, program: Program) -> Program:
        return program if self.backend == "eager" else fused(without_repeats(without_dead(program)))

    @property
    def name(self) -> str:
        """The function's name, or its class's."""
        return getattr(self.fn, "__qualname__", None) or type(self.fn).__name__

    @property
    def graphs(self) -> list[Program]:
        """The programs as they run, in the order traced; of a function with a break, the steps up to it."""
        return [e.program or e.traced for e in self.traced]

    @property
    def breaks(self) -> list[Break]:
        """Why it runs uncompiled, for the arguments it was tried with."""
        return [e.traced.break_ for e in self.traced if e.traced.break_ is not None]

    def explain(self) -> Report:
        """What was traced so far, and what was made of it."""
        whole = [e for e in self.traced if e.program is not None]
        return Report([e.traced for e in whole], [e.program for e in whole], self.breaks)

    def __repr__(self) -> str:
        return f"<compiled {self.name}: {self.count} traced>"
