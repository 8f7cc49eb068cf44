"""Module: parameters, buffers and further modules in a tree, with a forward.

Assigning a Parameter or Module to an attribute registers it; everything else (moving, saving, freezing, printing) walks
the tree.  What happens around a call is in hooks.py, state_dict() and its reading in state.py.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from autogradlab import devices, dtypes
from autogradlab.modes import no_grad
from autogradlab.tensor import Tensor

from .hooks import Hooked
from .parameter import Buffer, Parameter
from .state import Stateful


def type_name(value) -> str:
    """A value's type as PyTorch's messages write it."""
    kind = type(value)
    if isinstance(value, Tensor):
        return f"torch.{value._device.type + '.' if value.is_cuda else ''}{value._dtype.legacy_name}Tensor"
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"


def indented(text: str, spaces: int = 2) -> str:
    """All lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


class Module(Hooked, Stateful):
    """The base of every layer and network: say in __init__ what it is made of, in forward what it does."""

    _version = 1
    training: bool
    call_super_init = False

    def __init__(self, *args, **kwargs):
        if kwargs and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if args and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        put = self.__dict__.__setitem__
        put("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            put(name, {})
        put("_non_persistent_buffers_set", set())
        self._no_hooks()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input):
        """What the module does; a subclass says it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Registering ------------------------------------------------------------------------------------------------------

    def _new_name(self, kind: str, name, table: str) -> None:
        """Check a name for a new parameter, buffer or module."""
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (None keeps the name for one)."""
        self._new_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be leaves: to express it "
                "as a function of another Tensor, compute the value in forward()."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but not learned.  persistent: whether state_dict() has it."""
        self._new_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a module under a name (None keeps the name for one)."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._new_name("module", name, "_modules")
        self._modules[name] = module

    def register_module(self, name: str, module: "Module | None") -> None:
        """Another name of add_module."""
        self.add_module(name, module)

    def __setattr__(self, name: str, value) -> None:
        tables = self.__dict__
        for kind, plural, table, cls in (
            ("parameter", "parameters", "_parameters", Parameter), ("child module", "module", "_modules", Module)
        ):  # fmt: skip
            known = tables.get(table)
            if isinstance(value, cls):
                if known is None:
                    raise AttributeError(f"cannot assign {plural} before Module.__init__() call")
                self._forget(name, table)
                if cls is Parameter:
                    self.register_parameter(name, value)
                else:
                    known[name] = value
                return
            if known is not None and name in known:
                if value is not None:
                    raise TypeError(
                        f"cannot assign '{type_name(value)}' as {kind} '{name}' (torch.nn.{cls.__name__} or None "
                        "expected)"
                    )
                known[name] = None
                return
        if isinstance(value, Buffer) or name in tables.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None "
                    "expected)"
                )
            keeps = getattr(value, "persistent", name not in tables.get("_non_persistent_buffers_set", ()))
            self.register_buffer(name, value, keeps)
            return
        object.__setattr__(self, name, value)

    def _forget(self, name: str, keep: str) -> None:
        """Take a name away from wherever it stood before."""
        self.__dict__.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep:
                self.__dict__[table].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str):
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, ())
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    # Looking things up ------------------------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> "Module":
        """The module at a dotted path; "" is this one."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Put a module at a dotted path.  strict: only in the place of another."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def _at(self, target: str):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        _, name, found = self._at(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        module, name, found = self._at(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def named_modules(self, memo=None, prefix: str = "", remove_duplicate: bool = True):
        """(dotted name, module) for this module and all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        """(dotted name, parameter) for each parameter of the tree, or of this module alone."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        """(dotted name, buffer) for each buffer of the tree, or of this module alone."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def named_children(self):
        """(name, module) for the modules directly below."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def parameters(self, recurse: bool = True):
        """The parameters of the tree: what an optimizer is given."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def buffers(self, recurse: bool = True):
        """The buffers of the tree."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def children(self):
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def modules(self, remove_duplicate: bool = True):
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    # Changing the whole tree ------------------------------------------------------------------------------------------

    def train(self, mode: bool = True):
        """Training or evaluation mode, for layers that tell them apart (dropout, batch norm)."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Evaluation mode: train(False)."""
        return self.train(False)

    def apply(self, fn):
        """Call fn on every module of the tree, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse: bool = True):
        """Replace what every parameter, gradient and buffer holds by fn of it; parameters stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with no_grad():
                param.data = fn(param)
                if param._grad is not None:
                    param._grad.data = fn(param._grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move and convert in place: to(device), to(dtype), to(device, dtype), to(tensor).  Integers keep their
        dtype.
        """
        dtype, device = kwargs.pop("dtype", None), kwargs.pop("device", None)
        for word in ("non_blocking", "memory_format"):
            kwargs.pop(word, None)
        if kwargs:
            raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
        for arg in args:
            if isinstance(arg, dtypes.dtype):
                dtype = arg
            elif isinstance(arg, Tensor):
                dtype, device = arg._dtype, arg._device
            elif arg is not None and not isinstance(arg, bool):
                device = devices.device(arg)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype=dtype if t.is_floating_point() else None, device=device))

    def cuda(self, device=None):
        """Move to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self):
        """Move to the CPU."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type):
        """Convert every parameter and buffer."""
        return self._apply(lambda t: t.type(dst_type))

    def _floats_to(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        """Floating point parameters and buffers in float32."""
        return self._floats_to(dtypes.float32)

    def double(self):
        """Floating point parameters and buffers in float64."""
        return self._floats_to(dtypes.float64)

    def half(self):
        """Floating point parameters and buffers in float16."""
        return self._floats_to(dtypes.float16)

    def bfloat16(self):
        """Floating point parameters and buffers in bfloat16."""
        return self._floats_to(dtypes.bfloat16)

    def requires_grad_(self, requires_grad: bool = True):
        """Freeze all parameters (False), or let them learn."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero.  (D1 6.5)"""
        for param in self.parameters():
            if param._grad is not None:
                if set_to_none:
                    param._grad = None
                else:
                    param._grad = param._grad.detach()
                    param._grad.zero_()

    # Printing ---------------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the module's text."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        inside = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {inside}\n)" if inside else f"{self._get_name()}()"

    def __dir__(self):
        names = {*super().__dir__(), *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())
