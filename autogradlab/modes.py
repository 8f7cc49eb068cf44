"""Modes: what is switched on in this thread.

`state.flags` is one integer, 0 in the usual case (gradients on, nothing else), so that a call asks one question.  Each
mode is a context manager and a decorator; a new thread starts with gradients on.
"""

import functools
import threading

NO_GRAD, INFERENCE, ANOMALY, PACKING, OBSERVED, AUTOCAST = 1, 2, 4, 8, 16, 32
GENERATOR = 0x20  # the flag of a generator's code (inspect.CO_GENERATOR; inspect itself is slow to import)


class State(threading.local):
    """One thread's modes.  The class attributes are what a new thread starts with."""

    flags = 0
    task = None  # the backward pass that runs now
    no_packing = None  # why saved-tensor hooks are refused
    packing = None  # (pack, unpack): saved-tensor hooks in force
    observer = None  # called with what happened; the one slot for trace and profiler
    tracer = None  # compile's, while a function is traced
    autocast = None  # amp's Casting, which changes operands before a call
    autocast_dtypes, autocast_cache = {}, True  # what later autocast blocks start from
    check_nan = True  # whether anomaly mode stops at a nan


state = State()


class Mode:
    """A change of `state` for the length of a `with` block or of a decorated function."""

    def __enter__(self):
        self.__dict__.setdefault("_before", []).append(state.__dict__.copy())
        self.change()
        return self

    def __exit__(self, *exc):
        state.__dict__.clear()
        state.__dict__.update(self._before.pop())

    def change(self):
        raise NotImplementedError(f"{type(self).__name__} does not say what it changes")

    def again(self) -> "Mode":
        """A fresh mode of the same kind: a decorated function may be called again while it runs."""
        return type(self)()

    def __call__(self, fn):
        if getattr(getattr(fn, "__code__", None), "co_flags", 0) & GENERATOR:
            return self._wrap_generator(fn)

        @functools.wraps(fn)
        def inside(*args, **kwargs):
            with self.again():
                return fn(*args, **kwargs)

        return inside

    def _wrap_generator(self, fn):
        """A generator runs under the mode only between its yields: whoever consumes it keeps his own."""

        @functools.wraps(fn)
        def generator(*args, **kwargs):
            inner = fn(*args, **kwargs)
            step, sent = inner.send, None
            try:
                while True:
                    try:
                        with self.again():
                            value = step(sent)
                    except StopIteration as stop:
                        return stop.value
                    try:
                        step, sent = inner.send, (yield value)
                    except GeneratorExit:
                        raise
                    except BaseException as exc:
                        step, sent = inner.throw, exc
            finally:
                with self.again():
                    inner.close()

        return generator


def _bare(args) -> bool:
    """`@no_grad` without parentheses: the decorated function is the only argument."""
    return len(args) == 1 and callable(args[0]) and not isinstance(args[0], bool)


class _GradMode(Mode):
    def __new__(cls, *args):
        self = super().__new__(cls)
        if _bare(args):
            return Mode.__call__(self, args[0])
        return self


class no_grad(_GradMode):
    """Record no graph: results do not require gradients.  (D1 6.6;
    https://pytorch.org/docs/stable/generated/torch.no_grad.html)
    """

    def change(self):
        state.flags |= NO_GRAD


class enable_grad(_GradMode):
    """Record graphs again inside no_grad."""

    def change(self):
        if not state.flags & INFERENCE:
            state.flags &= ~NO_GRAD


class set_grad_enabled(Mode):
    """Switch recording on or off: at once when called, and until the end of the block when used with `with`."""

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self._before = [state.__dict__.copy()]
        self.change()

    def __enter__(self):
        return self

    def __call__(self, fn):
        self.__exit__()  # as a decorator it must not change the mode of whoever decorates
        return super().__call__(fn)

    def again(self):
        return enable_grad() if self.mode else no_grad()

    def change(self):
        state.flags = state.flags & ~NO_GRAD if self.mode and not state.flags & INFERENCE else state.flags | NO_GRAD


class inference_mode(Mode):
    """No graph and no version counters: what is made here can never take part in a graph.  (D1 6.6)

    mode: False switches inference mode off inside a block that has it on.
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        return self(mode) if callable(mode) and not isinstance(mode, bool) else self

    def __init__(self, mode: bool = True):
        self.mode = bool(mode)

    def again(self):
        return inference_mode(self.__dict__.get("mode", True))

    def change(self):
        both = INFERENCE | NO_GRAD
        state.flags = state.flags | both if self.mode else state.flags & ~both


def is_grad_enabled() -> bool:
    """Whether operations record a graph now, in this thread."""
    return not state.flags & NO_GRAD


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on now, in this thread."""
    return bool(state.flags & INFERENCE)


class recording(Mode):
    """Gradients on or off, whatever they were: for the engine's own work, which is recorded only under create_graph."""

    def __init__(self, on: bool):
        self.on = on

    def change(self):
        state.flags = state.flags & ~NO_GRAD if self.on else state.flags | NO_GRAD


class observe(Mode):
    """Tell `observer(event, **facts)` about every call and every step of backward in this thread.

    Inside another observer's block both are told.
    """

    def __init__(self, observer):
        self.observer = observer

    def again(self):
        return observe(self.observer)

    def change(self):
        before, mine = state.observer, self.observer
        both = lambda event, **facts: (before(event, **facts), mine(event, **facts))  # noqa: E731
        state.observer = mine if before is None else both
        state.flags |= OBSERVED


def as_one(fn):
    """Mark a function that an observer may take for one step: what it does cannot be told from its calls alone.

    Factories, random numbers, custom Functions.  The observer is told "enter" and "leave".
    """

    @functools.wraps(fn)
    def face(*args, **kwargs):
        if not state.flags & OBSERVED:
            return fn(*args, **kwargs)
        state.observer("enter", fn=face, args=args, kwargs=kwargs)
        try:
            result = fn(*args, **kwargs)
        except BaseException:
            state.observer("failed", fn=face)
            raise
        state.observer("leave", fn=face, args=args, kwargs=kwargs, result=result)
        return result

    return face
