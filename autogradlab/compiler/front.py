"""torch.compile and what belongs to it, by PyTorch's names.

https://pytorch.org/docs/stable/generated/torch.compile.html
"""

import functools
import weakref

from autogradlab.modes import as_one, state
from autogradlab.nn import Module

from .compiled import CompiledFunction

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
BACKENDS = ("inductor", "aot_eager", "eager")
_made = weakref.WeakSet()


class InvalidBackend(RuntimeError):
    """A backend that there is not."""


def compile(model=None, *, fullgraph: bool = False, dynamic: bool | None = None, backend="inductor",
            mode: str | None = None, options: dict | None = None, disable: bool = False):  # fmt: skip
    """A function or module that is traced for each kind of arguments, and then runs as a fused program.

    fullgraph: an error where it cannot be traced as a whole; otherwise such a function runs as it is.  dynamic: False
    traces anew for every size; otherwise a program in which sizes do not matter serves any.  backend: "inductor" stands
    for ours; "eager" and "aot_eager" run the program without fusing.  mode, options: taken, and change nothing here:
    there is one way to fuse.  disable: give the function back.

    The function's Python runs once for each trace: what it prints or counts it does then only.
    """
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, disable=disable)  # fmt: skip
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}.")
    if backend not in BACKENDS:
        raise InvalidBackend(f"Invalid backend: {backend!r}; there are {', '.join(BACKENDS)}.")
    if not callable(model):
        raise RuntimeError(f"torch.compile requires a callable, but got {type(model).__name__}.")
    if disable or getattr(model, "_compile_disabled", False):
        return model
    kind = "eager" if backend != "inductor" else None
    if isinstance(model, Module):
        made = OptimizedModule(model, fullgraph, dynamic, kind)
        _made.add(made._compiled)
        return made
    made = CompiledFunction(model, fullgraph, dynamic, kind)
    _made.add(made)
    return made


class OptimizedModule(Module):
    """A compiled module: the module itself is `_orig_mod`, and everything it has can be asked of this one."""

    def __init__(self, module: Module, fullgraph: bool, dynamic, backend):
        super().__init__()
        self._orig_mod = module
        object.__setattr__(self, "_compiled", CompiledFunction(module, fullgraph, dynamic, backend))
        self.training = module.training

    def forward(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)

    def explain(self):
        """What was traced so far, and what was made of it."""
        return self._compiled.explain()


def disable(fn=None, recursive: bool = True):
    """Leave a function out of compiled programs: it is called as it is, at its place among the steps."""
    if fn is None:
        return disable
    made = as_one(fn)
    made._compile_disabled = True
    return made


def is_compiling() -> bool:
    """Whether a function is being traced now."""
    return state.tracer is not None


def reset() -> None:
    """Forget all traced programs."""
    for compiled in _made:
        compiled.reset()


def explain(fn):
    """explain(f)(*args): call f once, and say what its program is and what was fused."""

    def call(*args, **kwargs):
        compiled = fn if isinstance(fn, CompiledFunction) else getattr(fn, "_compiled", None) or CompiledFunction(fn)
        compiled(*args, **kwargs)
        return compiled.explain()

    return call
