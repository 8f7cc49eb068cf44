"""Guards: what must be as it was when a function was traced, so that its program may run in its place.

The arguments make a key: equal keys, same program.  What the function reads besides them - globals, closures, the
attributes of modules and objects - is watched: found once, and compared at every call.
"""

import builtins
import functools
import operator
import sys
import sysconfig
import types

import numpy

from autogradlab import dtypes
from autogradlab.modes import AUTOCAST, INFERENCE, NO_GRAD, state
from autogradlab.tensor import Tensor

PLAIN = {bool, int, str, bytes, type(None), float, slice, type(Ellipsis)}
OUTSIDE_WORLD = {builtins.print: "print", builtins.input: "input", builtins.open: "open"}
UNSTEADY = ("random", "time", "datetime", "secrets", "uuid")  # modules whose answers differ from call to call
MOST = 20_000  # things watched
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def flatten(value, tensors: list, known: dict, shapeless: bool):
    """A hashable description of arguments; the tensors among them are put into `tensors`.

    shapeless: sizes do not count, only which are 1 (for programs that fit any size).
    """
    kind = type(value)
    if isinstance(value, Tensor):
        if id(value) in known:
            return "again", known[id(value)]
        known[id(value)] = len(tensors)
        tensors.append(value)
        return (kind, *tensor_key(value, shapeless))
    if kind in PLAIN:
        return kind, value.hex() if kind is float else repr(value) if kind is slice else value
    if kind in (list, tuple):
        return kind, *[flatten(v, tensors, known, shapeless) for v in value]
    if kind is dict:
        return kind, *[(k, flatten(v, tensors, known, shapeless)) for k, v in value.items()]
    if isinstance(value, tuple):
        return kind, *[flatten(v, tensors, known, shapeless) for v in value]
    return "object", id(value)


def tensor_key(t: Tensor, shapeless: bool = False) -> tuple:
    """What of a tensor a program depends on."""
    shape, stride = t.shape, t.stride()
    if shapeless:
        shape, stride = tuple(n == 1 for n in shape), t.is_contiguous()
    storage = t._storage
    unversioned = storage is not None and storage.version is None
    return shape, stride, t._dtype, t._device, t.requires_grad, unversioned


def mode_key() -> tuple:
    """The modes a program depends on."""
    casting = state.autocast if state.flags & AUTOCAST else None
    chosen = tuple(casting.chosen.items()) if casting is not None else ()
    return state.flags & (NO_GRAD | INFERENCE), chosen, dtypes.get_default_dtype()


class Watch:
    """What a function reads besides its arguments, as it was found.

    tensors: id -> tensor.  unfit: why the function must run as it is, if anything it uses says so.
    """

    def __init__(self, fn, arguments=()):
        self.cells, self.empty, self.named, self.contents = [], [], [], []
        self.tensors: dict[int, Tensor] = {}
        self.keys: list[tuple] = []
        self.unfit: str | None = None
        self._seen: dict[int, object] = {}
        self._queue = [fn, *arguments]
        while self._queue:
            self._look(self._queue.pop())
            if len(self._seen) > MOST:
                self.unfit = f"it can reach more than {MOST:,} values, too many to watch"
                self._queue.clear()
        self._seen.clear()

    def holds(self) -> bool:
        """Whether everything is as it was found."""
        try:
            if any(self.empty):
                return False
            for container, before, kinds in self.contents:  # the same objects, or plain values that are equal
                held = container.values() if type(before) is dict else container
                if container != before or list(map(type, held)) != kinds:
                    return False
            for container, get, before in self.named:
                found = get(container)
                if found != before or list(map(type, found)) != list(map(type, before)):
                    return False
            for cell, before in self.cells:
                found = cell.cell_contents
                if found is not before and (type(found) is not type(before) or found != before):
                    return False
        except (KeyError, ValueError, RuntimeError, TypeError):  # a name or cell is gone; other arrays were compared
            return False
        return all(tensor_key(t) == key for t, key in self.keys)

    def _look(self, thing) -> None:
        if id(thing) in self._seen or type(thing) in PLAIN:
            return
        self._seen[id(thing)] = thing
        if isinstance(thing, Tensor):
            self.tensors[id(thing)] = thing
            self.keys.append((thing, tensor_key(thing)))
        elif isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(thing, types.MethodType):
            self._queue += [thing.__self__, thing.__func__]
        elif isinstance(thing, functools.partial):
            self._queue += [thing.func, thing.args, thing.keywords]
        elif isinstance(thing, (list, tuple, dict)):
            self._contents(thing)
        elif callable(thing) and isinstance(thing, types.BuiltinFunctionType):
            if thing in OUTSIDE_WORLD:
                self.unfit = f"it calls {OUTSIDE_WORLD[thing]}()"
        elif not isinstance(thing, (type, types.ModuleType, numpy.ndarray)) and hasattr(thing, "__dict__"):
            self._object(thing)

    def _contents(self, container) -> None:
        held = list(container.values() if isinstance(container, dict) else container)
        self._queue += held
        if not held and not isinstance(container, tuple):
            self.empty.append(container)
        elif isinstance(container, dict):
            self.contents.append((container, dict(container), list(map(type, held))))
        elif isinstance(container, list):
            self.contents.append((container, held, list(map(type, held))))

    def _object(self, thing) -> None:
        if type(thing).__module__.startswith("autogradlab.distributed.") and not hasattr(thing, "forward"):
            return  # what ranks share is no part of a program
        self._contents(vars(thing))
        kind = type(thing)
        for cls in kind.__mro__:
            if id(cls) not in self._seen and not _is_library(cls.__module__):
                self._seen[id(cls)] = cls
                plain = {k: v for k, v in vars(cls).items() if type(v) in PLAIN or isinstance(v, Tensor)}
                if plain:
                    get = operator.itemgetter(*plain, next(iter(plain)))
                    self.named.append((vars(cls), get, get(vars(cls))))
                    self._queue += plain.values()
        call = getattr(kind, "forward", None) or (kind.__call__ if callable(thing) else None)
        if isinstance(call, types.FunctionType):
            self._queue.append(call)

    def _module(self, module, names) -> None:
        """What a function may ask a module for, by the names it mentions."""
        if module.__name__ in UNSTEADY or module.__name__ == "numpy" and "random" in names:
            self.unfit = f"it uses {module.__name__}{'.random' if module.__name__ == 'numpy' else ''}"
        elif not _is_library(module.__name__):
            mine = [name for name in names if name in vars(module)]
            if mine:
                get = operator.itemgetter(*mine, mine[0])
                self.named.append((vars(module), get, get(vars(module))))
                self._queue += [vars(module)[name] for name in mine]

    def _function(self, fn) -> None:
        if fn.__module__ and fn.__module__.partition(".")[0] == "autogradlab":
            inner = getattr(fn, "__wrapped__", None)  # a user's function under a decorator of ours
            self._queue += [inner] if inner is not None else []
            if not fn.__closure__ or fn.__code__.co_name not in ("inside", "generator", "face"):
                return
        for cell in fn.__closure__ or ():
            try:
                self.cells.append((cell, cell.cell_contents))
            except ValueError:
                continue
            self._queue.append(cell.cell_contents)
        self._queue += [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
        names, known = names_of(fn.__code__), fn.__globals__
        mine = [name for name in names if name in known]
        if mine:
            get = operator.itemgetter(*mine, mine[0])  # with one name alone it would give no tuple
            self.named.append((known, get, get(known)))
        self._queue += [known[name] for name in mine]
        for module in [known[name] for name in mine if isinstance(known[name], types.ModuleType)]:
            self._module(module, names)
        self._queue += [vars(builtins)[name] for name in names if name not in known and name in vars(builtins)]


def _is_library(name: str) -> bool:
    """Whether a module is Python's, an installed one or ours: what it holds is taken for constant."""
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    return (
        module is not None
        and name != "__main__"
        and (path is None or name.partition(".")[0] == "autogradlab" or path.startswith(_LIBRARIES))
    )


def names_of(code) -> set[str]:
    """Every global name that a function's code, or a function inside it, mentions."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_of(constant)
    return found
