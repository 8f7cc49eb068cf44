"""Tracing: the function runs once as it is, and a Tracer writes down which operators it calls.

Nothing is guessed.  Where the function needs to know a number that a tensor holds, or does what calls do not show, the
trace ends in a Break, and the function runs uncompiled: its results are right, and the Break says why and where.
"""

import functools
import linecache
import os
import sys
import threading
from dataclasses import dataclass

from autogradlab import late
from autogradlab.graph import Node
from autogradlab.modes import INFERENCE, NO_GRAD, observe, state
from autogradlab.tensor import Tensor

from .program import Program, Ref, Step, rebuilt

NOT_FOR_PROGRAMS = {"masked_select": "its shape depends on values", "nonzero": "its shape depends on values"}
PLAIN = (type(None), bool, int, float, str, bytes)


class Unsupported(RuntimeError):
    """fullgraph=True, and the function cannot be traced in one piece."""


@dataclass(frozen=True)
class Break:
    """Why a trace ended, and at which line of the user's program."""

    why: str
    line: str

    def __str__(self) -> str:
        return f"{self.why}, at {self.line}" if self.line else self.why


def _is_engine(filename: str) -> bool:
    return filename.startswith(_ENGINE)


_ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_line() -> str:
    """The line of the program outside the engine that is running now: "train.py:12: loss.item()"."""
    frame = sys._getframe(1)
    while frame is not None and _is_engine(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    name = frame.f_code.co_filename
    return f"{name}:{frame.f_lineno}: {linecache.getline(name, frame.f_lineno).strip()}"


class Tracer(observe):
    """Writes a Program while its block runs.

    outside: id -> tensor of what the function may use besides its arguments, because it is watched for changes.
    """

    def __init__(self, program: Program, arguments: list[Tensor], outside: dict, fullgraph: bool):
        self.program, self.outside, self.fullgraph = program, outside, fullgraph
        self.numbers: dict[int, int] = {}  # id of a tensor -> its number
        self.alive: list[Tensor] = []  # so that no id comes twice
        self.listened: set[int] = set()  # ids of the tensors that tell what they are asked besides operators
        self.open: list[tuple] = []  # calls that have begun
        self.functions = 0  # how deep in functions that are one step
        self.storages: dict[int, list[int]] = {}  # which values share memory
        self.entry_flags = state.flags & (NO_GRAD | INFERENCE)
        self.listened.update(map(id, outside.values()))
        for t in arguments:
            if id(t) not in self.numbers:
                program.arguments.append(self.give_number(t, "argument"))

    def __enter__(self):
        _listen(True)
        return super().__enter__()

    def change(self):
        super().change()
        state.tracer = self

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        handler = getattr(self, f"_on_{event}", None)
        if handler is not None and self.program.break_ is None:
            handler(**facts)

    def __exit__(self, *exc):
        super().__exit__(*exc)
        _listen(False)
        if state.flags & (NO_GRAD | INFERENCE) != self.entry_flags:
            self.break_off("it changes the grad mode for what comes after it")

    def break_off(self, why: str) -> None:
        """End the trace; an error if the whole function was to be one program."""
        if self.program.break_ is None:
            self.program.break_ = Break(why, user_line())
            if self.fullgraph:
                raise Unsupported(
                    f"compile(fullgraph=True): {self.program.name} cannot be traced as a whole: "
                    f"{self.program.break_}. Take that out of the function, or leave fullgraph at False: the function "
                    f"then runs uncompiled."
                )

    # Values -----------------------------------------------------------------------------------------------------------

    def give_number(self, t: Tensor, origin: str) -> int:
        number = self.numbers[id(t)] = self.program.add(t, origin)
        self.alive.append(t)
        if origin != "number":
            self.storages.setdefault(id(t.memory), []).append(number)
            self.listened.add(id(t))
        return number

    def number_of(self, t: Tensor) -> int | None:
        """The number of a tensor; the trace ends at one whose origin is not known."""
        found = self.numbers.get(id(t))
        if found is None:
            if is_written_number(t):
                found = self.give_number(t, "number")
            elif id(t) in self.outside:
                found = self.give_number(t, "outside")
            else:
                self.break_off("it uses a tensor that was made in a way that cannot be traced")
                return None
            self.program.constants[found] = t
        return found

    def _given(self, t: Tensor) -> bool:
        """Whether a tensor reads an argument's memory."""
        return any(self.program.values[n].origin == "argument" for n in self.storages.get(id(t.memory), ()))

    # Events -----------------------------------------------------------------------------------------------------------

    def _on_call(self, op, inputs, options) -> None:
        if not self.functions:
            self.open.append((op, inputs, options))

    def _on_cast(self, op, inputs) -> None:
        if not self.functions:
            self.open[-1] = (op, inputs, self.open[-1][2])

    def _on_result(self, op, outputs, dtype, written: bool = False) -> None:
        if self.functions:
            return
        while self.open and self.open[-1][0] is not op:  # calls that ended in an error
            self.open.pop()
        _, inputs, options = self.open.pop()
        if op.name in NOT_FOR_PROGRAMS:
            return self.break_off(f"{op.name}(): {NOT_FOR_PROGRAMS[op.name]}")
        numbers = tuple(self.number_of(t) for t in inputs)
        if op.name == "as_strided" and self._given(inputs[0]):
            self.break_off("as_strided() counts from where the storage begins, which may differ from call to call")
        if self.program.break_ is not None:
            return
        kind = "write" if written else "kernel" if dtype is not None else "views" if op.multi_output else "view"
        made = () if written else tuple(self.give_number(t, "made") for t in outputs)
        if written:
            self.wrote(outputs[0])
        self.step(Step(kind, op, numbers, made, dict(options), computing=dtype))

    def _on_enter(self, fn, args, kwargs) -> None:
        self.functions += 1
        if self.functions == 1:
            self.versions = []
            rebuilt((args, kwargs), lambda v: self.versions.append((v, v._version)) if isinstance(v, Tensor) else v)

    def _on_leave(self, fn, args, kwargs, result) -> None:
        self.functions -= 1
        if self.functions:
            return
        for t, before in self.versions:
            if t._version != before:
                self.wrote(t)
        used, made = [], []

        def take(value):
            if isinstance(value, Tensor):
                used.append(self.number_of(value))
                return Ref(used[-1])
            return value

        def give(value):
            if isinstance(value, Tensor):
                known = self.numbers.get(id(value))
                made.append(self.give_number(value, "made") if known is None else known)
                return Ref(made[-1])
            return value

        given = rebuilt(args, take), rebuilt(kwargs, take)
        if self.program.break_ is None:
            rebuilt(result, give)
            self.step(Step("function", fn, tuple(used), tuple(made), arguments=given))

    def _on_failed(self, fn) -> None:
        self.functions -= 1
        self.break_off(f"{getattr(fn, '__name__', fn)} raised an error")

    def _on_begin(self, task) -> None:
        if not self.functions:
            self.break_off("it runs a backward pass")

    def drew(self) -> None:
        """Told of random numbers: their draw must be a step, or they would be the same at every call."""
        if not self.functions:
            self.break_off("it draws random numbers in a way that cannot be traced")

    def wrote(self, target: Tensor) -> None:
        """Remember every value that reads this memory: what was written may not be moved about."""
        self.program.written.update(self.storages.get(id(target.memory), ()))

    def step(self, step: Step) -> None:
        step.recorded = not state.flags & NO_GRAD
        step.line = user_line()
        self.program.steps.append(step)

    def finish(self, result) -> None:
        """The result, with Refs in place of tensors."""

        def take(value):
            if isinstance(value, Tensor):
                return Ref(self.number_of(value))
            if not isinstance(value, PLAIN) and type(value).__module__.partition(".")[0] != "autogradlab":
                self.break_off(f"it returns a {type(value).__name__}")
            return value

        self.program.result = rebuilt(result, take)
        for numbers in self.storages.values():  # views made after a write are of written memory too
            if not self.program.written.isdisjoint(numbers):
                self.program.written.update(numbers)


def is_written_number(t: Tensor) -> bool:
    """Whether this is a number written in the program, which dispatch made a 0-d tensor of: nobody can write to it."""
    return t._window is not None and t._window.shape == () and not t._window.flags.writeable


# What tensors tell while they are traced ------------------------------------------------------------------------------
#
# While any thread traces, members of Tensor say what they are asked.  The class itself changes, and not the tensors':
# type(x) must answer as it always does.

METHODS = {
    "backward": "it runs a backward pass",
    "register_hook": "it registers a hook",
    "register_post_accumulate_grad_hook": "it registers a hook",
    "retain_grad": "it asks to keep a gradient",
    "requires_grad_": "it changes what requires gradients",
    "data_ptr": "it asks for an address",
}
PROPERTIES = {
    "grad": "it reads .grad, which changes from call to call",
    "data": "it uses .data, which hides writes",
    "window": "it needs the values of a tensor",
}
ASKED = ("storage_offset", "_is_view", "is_leaf", "grad_fn", "output_nr", "_version", "_base")  # of no program's key
SIZES = ("shape", "nbytes", "size", "numel", "nelement", "stride", "__len__")
_lock, _tracing, _own = threading.Lock(), 0, {}  # what the classes have while nothing is traced


def _listen(on: bool) -> None:
    """Change the members at the first trace that begins; change them back at the last that ends."""
    global _tracing
    with _lock:
        if on and not _tracing:
            telling = (*METHODS, *PROPERTIES, *ASKED, *SIZES, "detach")
            _own[Tensor] = late.exchange(Tensor, {name: _telling(name, late.own(Tensor, name)) for name in telling})
            hooking = ("register_hook", "register_prehook")
            _own[Node] = late.exchange(Node, {name: _hooking(late.own(Node, name)) for name in hooking})
        _tracing += 1 if on else -1
        if not _tracing:
            for cls, own in _own.items():
                late.exchange(cls, own)


def _telling(name: str, plain):
    """A member of Tensor that tells the tracer before it does what it always does."""
    if name == "detach":
        return _detach(plain)
    if name in METHODS:
        tell = functools.partial(_tell, why=f"{METHODS[name]} ({name})")
    elif name in PROPERTIES:
        tell = functools.partial(_tell, why=PROPERTIES[name], values=name == "window")
    else:
        tell = functools.partial(_tell_size if name in SIZES else _tell_asked, name=name)
    if not isinstance(plain, property):

        @functools.wraps(plain)
        def method(self, *args, **kwargs):
            tell(self)
            return plain(self, *args, **kwargs)

        return method

    def get(self):
        tell(self)
        return plain.fget(self)

    def put(self, value):
        tell(self)
        plain.fset(self, value)

    return property(get, put if plain.fset else None, plain.fdel)


def _tell(t: Tensor, why: str, values: bool = False) -> None:
    tracer = state.tracer
    if tracer is not None and not tracer.functions and id(t) in tracer.listened and not (values and tracer.open):
        tracer.break_off(why)


def _hooking(plain):
    """A node's hook, such as of a module with backward hooks, is of this pass alone."""

    @functools.wraps(plain)
    def register(self, hook):
        if state.tracer is not None:
            state.tracer.break_off("it registers a hook on a node of the graph")
        return plain(self, hook)

    return register


def _tell_size(t: Tensor, name: str) -> None:
    """The program depends on sizes once the user's own code has asked for one."""
    if state.tracer is not None:
        asking = sys._getframe(2).f_code
        if not _is_engine(asking.co_filename) or name == "numel" and asking.co_name == "<lambda>":  # torch.numel
            state.tracer.program.sized = True


def _tell_asked(t: Tensor, name: str) -> None:
    """Where an argument lies or what it belongs to may be otherwise at the next call."""
    if state.tracer is not None and not _is_engine(sys._getframe(2).f_code.co_filename):
        _tell(t, f"it asks for {name}, which may differ from call to call")


def _detach(plain):
    """detach as one step."""

    @functools.wraps(plain)
    def detach(self):
        tracer = state.tracer
        if tracer is None or tracer.functions or tracer.program.break_ is not None or id(self) not in tracer.listened:
            return plain(self)
        tracer.observer("enter", fn=plain, args=(self,), kwargs={})
        made = plain(self)
        tracer.observer("leave", fn=plain, args=(self,), kwargs={}, result=made)
        return made

    return detach
