"""Guards: what must be as it was when a function was traced, so that its program may run in its place.

The arguments make a key: equal keys, same program.  What the function reads besides them - globals, closures, the
attributes of modules and objects - is watched: found once, and compared at every call.
"""

import builtins
import collections
import decimal
import fractions
import functools
import operator
import random
import sys
import sysconfig
import types

import numpy

from autogradlab import dtypes
from autogradlab.modes import AUTOCAST, INFERENCE, NO_GRAD, state
from autogradlab.tensor import Tensor

PLAIN = {bool, int, str, bytes, type(None), float, slice, type(Ellipsis)}
VALUES = PLAIN | {complex, range, frozenset, fractions.Fraction, decimal.Decimal}
OUTSIDE_WORLD = {builtins.print: "print", builtins.input: "input", builtins.open: "open"}
UNSTEADY = ("random", "time", "datetime", "secrets", "uuid")  # modules whose answers differ from call to call
DICE = (random.Random, numpy.random.Generator, numpy.random.RandomState)
SETTERS = {"manual_seed", "set_rng_state", "get_rng_state", "initial_seed", "fork_rng",
           "set_default_dtype", "set_default_device"}  # fmt: skip
CALLED_UNNAMED = {"__repr__", "__str__", "__init__", "__new__", "__post_init__", "__init_subclass__", "__del__"}
MOST = 20_000  # things watched
MOST_NUMBERS = 4096  # of a NumPy array
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def flatten(value, tensors: list, known: dict, shapeless: bool):
    """A hashable description of arguments; the tensors among them are put into `tensors`.

    shapeless: sizes do not count, only which are 1 (for programs that fit any size).  known: the tensors met before,
    and their memory: what is written to one changes the other.
    """
    kind = type(value)
    if isinstance(value, Tensor):
        if id(value) in known:
            return "again", known[id(value)]
        known[id(value)] = place = len(tensors)
        tensors.append(value)
        shared = place if value._storage is None else known.setdefault(id(value._storage), place)
        return (kind, shared, *tensor_key(value, shapeless))
    if kind in PLAIN:
        return kind, value.hex() if kind is float else repr(value) if kind is slice else value
    if kind in (list, dict):
        if id(value) in known:
            return "again", known[id(value)]
        known[id(value)] = len(known)
    if kind in (list, tuple):
        return kind, *[flatten(v, tensors, known, shapeless) for v in value]
    if kind is dict:
        return kind, *[(type(k), k, flatten(v, tensors, known, shapeless)) for k, v in value.items()]
    if isinstance(value, tuple):
        return kind, *[flatten(v, tensors, known, shapeless) for v in value]
    return "object", id(value)


def alike(a, b) -> bool:
    """Whether one value may stand for another: it is the same object, or an equal one that nobody can change."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is float:
        return a.hex() == b.hex()  # 0.0 is not -0.0
    if kind is tuple:
        return all_alike(a, b)
    return (kind in VALUES or issubclass(kind, numpy.generic)) and a == b


def all_alike(found, before) -> bool:
    """The same for what containers hold."""
    return len(found) == len(before) and (all(map(operator.is_, found, before)) or all(map(alike, found, before)))


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

    held: (container, how to read what it holds, what it held).  tensors: id -> tensor.  unfit: why the function must
    run as it is, if anything it uses says so.
    """

    def __init__(self, fn, arguments=(), given=()):
        self.cells, self.empty, self.held = [], [], []
        self.tensors: dict[int, Tensor] = {}
        self.keys: list[tuple] = []
        self.unfit: str | None = None
        self._seen: dict[int, object] = {}
        self._names: set[str] = set()  # every name that a function mentions: which methods may be called
        self._classes: dict[type, set[str]] = {}  # class -> which of its names are watched
        self._queue = [fn, *arguments]
        while self._queue or self._members():
            self._look(self._queue.pop())
            if len(self._seen) > MOST:
                self.unfit = f"it can reach more than {MOST:,} values, too many to watch"
                break
        self._seen.clear()
        self._queue.clear()
        self.shared = self._shared(given)

    def holds(self, given) -> bool:
        """Whether everything is as it was found.  given: the tensors among the arguments."""
        try:
            if any(self.empty):
                return False
            if not all([all_alike(read(container), before) for container, read, before in self.held]):
                return False
            if not all([alike(cell.cell_contents, before) for cell, before in self.cells]):
                return False
        except (KeyError, ValueError, RuntimeError, TypeError):  # a name or cell is gone; other arrays were compared
            return False
        return all([tensor_key(t) == key for t, key in self.keys]) and self._shared(given) == self.shared

    def containers(self) -> list:
        """What holds values outside."""
        return [*self.empty, *(container for container, _, _ in self.held)]

    def _shared(self, given) -> list[tuple]:
        """Which arguments are tensors that are read from outside too, or share memory with one."""
        found = []
        for place, t in enumerate(given):
            if id(t) in self.tensors:
                found.append((place, id(t)))
            elif t._storage is not None:
                found += [(place, n) for n, o in self.tensors.items() if o._storage is t._storage]
        return found

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
        elif isinstance(thing, (list, tuple, dict, set, collections.deque)):
            self._contents(thing)
        elif isinstance(thing, types.BuiltinFunctionType):
            self._builtin(thing)
        elif isinstance(thing, numpy.ndarray):
            if thing.size > MOST_NUMBERS:
                self.unfit = f"it can reach a NumPy array of {thing.size:,} numbers, too many to watch"
            self._keep(thing, _numbers)
        elif isinstance(thing, type):
            self._class(thing, made=True)
        elif isinstance(thing, DICE):
            self.unfit = f"it can reach a {type(thing).__name__}, which draws random numbers"
        elif hasattr(type(thing), "__next__"):
            self.unfit = f"it can reach a {type(thing).__name__}, which gives another value each time"
        elif not isinstance(thing, types.ModuleType):
            self._object(thing)

    def _keep(self, container, read) -> None:
        self.held.append((container, read, read(container)))

    def _contents(self, container) -> None:
        held = list(container.values() if isinstance(container, dict) else container)
        self._queue += held
        if isinstance(container, tuple):
            return
        if not held:
            self.empty.append(container)
        else:
            self._keep(container, _pairs if isinstance(container, dict) else list)

    def _builtin(self, thing) -> None:
        owner = getattr(thing, "__self__", None)
        if thing in OUTSIDE_WORLD:
            self.unfit = f"it calls {OUTSIDE_WORLD[thing]}()"
        elif isinstance(owner, DICE) or thing.__module__ in UNSTEADY:
            self.unfit = f"it calls {thing.__name__}(), which gives another value each time"
        elif not isinstance(owner, types.ModuleType):
            self._queue.append(owner)

    # Objects and classes ----------------------------------------------------------------------------------------------

    def _object(self, thing) -> None:
        kind = type(thing)
        if kind.__module__.startswith("autogradlab.distributed.") and not hasattr(thing, "forward"):
            return  # what ranks share is no part of a program
        if hasattr(thing, "__dict__"):
            self._contents(vars(thing))
        for cls in kind.__mro__:
            if not _is_library(cls.__module__):
                self._class(cls)
                slots = [n for n, member in vars(cls).items() if isinstance(member, types.MemberDescriptorType)]
                if slots:
                    read = functools.partial(_slots, names=slots)
                    self._keep(thing, read)
                    self._queue += read(thing)
        call = getattr(kind, "forward", None) or (kind.__call__ if callable(thing) else None)
        if isinstance(call, types.FunctionType):
            self._queue.append(call)

    def _class(self, cls: type, made: bool = False) -> None:
        """Watch a class's attributes, and the methods that are called.  made: the function may make objects of it."""
        if _is_library(cls.__module__):
            return
        if cls not in self._classes:
            self._keep(vars(cls), list)  # a new name may hide what a base has
        for base in cls.__mro__[1:] if made else ():
            self._look(base)
        unnamed = {n for n in vars(cls) if n[:2] == n[-2:] == "__" and (n not in CALLED_UNNAMED or made)}
        plain = {n for n, v in vars(cls).items() if n not in unnamed and (type(v) in PLAIN or isinstance(v, Tensor))}
        wanted = plain | {n for n in unnamed if isinstance(vars(cls)[n], types.FunctionType)}
        self._attributes(cls, wanted - self._classes.setdefault(cls, set()))

    def _members(self) -> bool:
        """Watch what classes have under names mentioned since; whether there is more to look at."""
        for cls, watched in list(self._classes.items()):
            special = {n for n in self._names if n[:2] == n[-2:] == "__"}
            self._attributes(cls, self._names.intersection(vars(cls)) - special - watched)
        return bool(self._queue)

    def _attributes(self, cls: type, names: set[str]) -> None:
        if names:
            self._classes[cls] |= names
            self._named(vars(cls), names)

    def _named(self, container, names) -> None:
        """Watch what a namespace has under these names."""
        get = operator.itemgetter(*names, next(iter(names)))  # with one name alone it would give no tuple
        self._keep(container, get)
        for found in get(container):
            self._queue += _behind(found)

    # Functions --------------------------------------------------------------------------------------------------------

    def _module(self, module, names) -> None:
        """What a function may ask a module for, by the names it mentions."""
        if module.__name__ in UNSTEADY or module.__name__ == "numpy" and "random" in names:
            self.unfit = f"it uses {module.__name__}{'.random' if module.__name__ == 'numpy' else ''}"
        elif not _is_library(module.__name__):
            mine = [name for name in names if name in vars(module)]
            if mine:
                self._named(vars(module), mine)

    def _function(self, fn) -> None:
        if fn.__module__ and fn.__module__.partition(".")[0] == "autogradlab":
            inner = getattr(fn, "__wrapped__", None)  # a user's function under a decorator of ours
            self._queue += [inner] if inner is not None else []
            if fn.__name__ in SETTERS:
                self.unfit = f"it calls {fn.__name__}()"
            if not fn.__closure__ or fn.__code__.co_name not in ("inside", "generator", "face"):
                return
        modules = []
        for cell in fn.__closure__ or ():
            try:
                self.cells.append((cell, cell.cell_contents))
            except ValueError:
                continue
            self._queue.append(cell.cell_contents)
            if isinstance(cell.cell_contents, types.ModuleType):
                modules.append(cell.cell_contents)
        if fn.__defaults__ or fn.__kwdefaults__:
            self._keep(fn, _defaults)
            self._queue += _defaults(fn)
        self._contents(vars(fn))
        names, known = names_of(fn.__code__), fn.__globals__
        self._names |= names
        if not SETTERS.isdisjoint(names):
            self.unfit = f"it calls {min(SETTERS & names)}()"
        mine = [name for name in names if name in known]
        if mine:
            self._named(known, mine)
        modules += [known[name] for name in mine if isinstance(known[name], types.ModuleType)]
        for module in modules:
            self._module(module, names)
        self._queue += [vars(builtins)[name] for name in names if name not in known and name in vars(builtins)]


# How to read what a thing holds ---------------------------------------------------------------------------------------


def _pairs(d: dict) -> list:
    return [*d, *d.values()]


def _numbers(array) -> list:
    return [array.tobytes()] if array.size <= MOST_NUMBERS and array.dtype != object else []


def _slots(thing, names) -> list:
    return [getattr(thing, name, None) for name in names]


def _defaults(fn) -> list:
    return [fn.__defaults__, fn.__kwdefaults__]


def _behind(found) -> list:
    """What runs when a member of a class is used: the functions of a property, of a static method."""
    if isinstance(found, property):
        return [f for f in (found.fget, found.fset) if f is not None]
    if isinstance(found, (staticmethod, classmethod)):
        return [found.__func__]
    return [found.func] if isinstance(found, functools.cached_property) else [found]


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
