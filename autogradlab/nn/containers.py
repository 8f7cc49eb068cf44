"""Modules that hold modules or parameters: in a row, in a list, by name."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from operator import index

from autogradlab.tensor import Tensor

from .module import Module, indented, type_name
from .parameter import Parameter


class Numbered(Module):
    """What Sequential and ModuleList share: modules under the names "0", "1", ..."""

    def _key(self, i) -> str:
        i, n = index(i), len(self)
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of range")
        return list(self._modules)[i]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, i: int, module: Module) -> None:
        setattr(self, self._key(i), module)

    def __delitem__(self, i) -> None:
        for key in list(self._modules)[i] if isinstance(i, slice) else [self._key(i)]:
            del self._modules[key]
        self.__dict__["_modules"] = {str(k): m for k, m in enumerate(self._modules.values())}

    def append(self, module: Module):
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add several modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, i: int, module: Module):
        """Add a module before place i."""
        n = len(self)
        if not -n <= i <= n:
            raise IndexError(f"Index out of range: {i}")
        row = list(self)
        row.insert(i + n if i < 0 else i, module)
        self._modules.clear()
        return self.extend(row)

    def pop(self, key):
        """Take a module (or several) out."""
        taken = self[key]
        del self[key]
        return taken


class Sequential(Numbered):
    """Modules one after another: each gets what the one before it returned."""

    def __init__(self, *args):
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._key(i)]

    def _other(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return other

    def __add__(self, other):
        return Sequential(*self, *self._other(other))

    def __iadd__(self, other):
        return self.extend(self._other(other))

    def __mul__(self, times: int):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times: int):
        return self.extend(list(self * times)[len(self) :])


class ModuleList(Numbered):
    """Modules in a list that the module around it knows of.  It has no forward."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i):
        return type(self)(list(self)[i]) if isinstance(i, slice) else self._modules[self._key(i)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Add a module before a place."""
        super().insert(index, module)

    def __repr__(self) -> str:
        """Equal neighbours are written once."""
        runs = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [indented(f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}") for a, b, text in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self._get_name()}()"


def _pairs(given, owner: str) -> list:
    """(key, value) pairs of a mapping or of an iterable of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    pairs = list(given)
    for k, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{k} should be Iterable; is {type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{owner} update sequence element #{k} has length {len(pair)}; 2 is required")
    return pairs


class ModuleDict(Module):
    """Modules by name.  It has no forward."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take one out."""
        taken = self[key]
        del self[key]
        return taken

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules) -> None:
        """Add those of a mapping, or of (name, module) pairs."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


def _described(items, name=lambda p: p.dtype) -> str:
    """The lines of a ParameterList or ParameterDict."""
    lines = []
    for key, p in items:
        if isinstance(p, Tensor):
            sizes = "x".join(map(str, p.shape))
            where = f" ({p.device})" if p.is_cuda else ""
            kind = "Parameter" if isinstance(p, Parameter) else "Tensor"
            lines.append(f"  ({key}): {kind} containing: [{name(p)} of size {sizes}{where}]")
        else:
            lines.append(f"  ({key}): Object of type: {type(p).__name__}")
    return "\n".join(lines)


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """Parameters in a list; a tensor put in becomes a Parameter."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, i) -> str:
        i, n = index(i), len(self)
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of range")
        return str(i % n)

    def __getitem__(self, i):
        return type(self)(list(self)[i]) if isinstance(i, slice) else getattr(self, self._key(i))

    def __setitem__(self, i: int, param) -> None:
        setattr(self, self._key(i), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def append(self, value):
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add several values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return _described(enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name; a tensor put in becomes a Parameter."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str):
        return getattr(self, key)

    def __setitem__(self, key: str, value) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}')."
            )
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def values(self):
        return (self[key] for key in self._keys)

    def get(self, key: str, default=None):
        """The value under a key, or the default."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default=None):
        """The value under a key, which is put there if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str):
        """Take one out."""
        taken = self[key]
        del self[key]
        return taken

    def clear(self) -> None:
        """Remove all."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters) -> None:
        """Add those of a mapping, or of (name, value) pairs.  (A plain dict's in the order of its names.)"""
        pairs = _pairs(parameters, "ParametersDict")
        for key, value in sorted(pairs) if type(parameters) is dict else pairs:
            self[key] = value

    def copy(self):
        """Another ParameterDict of the same parameters."""
        return ParameterDict(self.items())

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return _described(self.items(), type_name)

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
