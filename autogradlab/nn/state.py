"""state_dict: a module's parameters and buffers by name, and back.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from autogradlab.graph import RemovableHandle
from autogradlab.modes import no_grad
from autogradlab.tensor import Tensor

from .hooks import registered
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns: the keys that did not fit, if strict=False let them pass."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class Stateful:
    """The part of Module that gives its state away and takes it back."""

    def state_dict(self, *, destination=None, prefix: str = "", keep_vars: bool = False):
        """Parameters and persistent buffers of the tree by dotted name: detached, but the same memory."""
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            if hook(self, destination, prefix, metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _own_state(self):
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if value is not None and name not in self._non_persistent_buffers_set:
                yield name, value

    def _save_to_state_dict(self, destination, prefix: str, keep_vars: bool) -> None:
        for name, value in self._own_state():
            destination[prefix + name] = value if keep_vars else value.detach()
        if hasattr(self, "get_extra_state"):
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def load_state_dict(self, state_dict, strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copy values into the parameters and buffers of the tree.

        strict: every name must be there, and no other.  assign: take the tensors themselves instead of copying.
        Raises RuntimeError with everything that does not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys, problems = _IncompatibleKeys([], []), []
        self._load(OrderedDict(state_dict), "", assign, keys, problems)
        if strict:
            for what, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
                if names:
                    listed = ", ".join(f'"{k}"' for k in names)
                    problems.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if problems:
            listed = "\n\t".join(problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return keys

    def _load(self, values, prefix: str, assign: bool, keys, problems) -> None:
        metadata = {"assign_to_params_buffers": True} if assign else {}
        self._load_from_state_dict(values, prefix, metadata, True, *keys, problems)
        for name, child in self._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                part = OrderedDict((k, v) for k, v in values.items() if k.startswith(inner))
                child._load(part, inner, assign, keys, problems)
        for hook in list(self._load_state_dict_post_hooks.values()):
            if hook(self, keys) is not None:
                raise AssertionError("load_state_dict post-hooks change the keys in place; they return nothing.")

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ) -> None:
        """This module's own part."""
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._own_state())
        for name, param in own.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
                continue
            problem = self._take(name, param, key, state_dict[key], bool(local_metadata))
            if problem:
                error_msgs.append(problem)
        extra = f"{prefix}_extra_state"
        if hasattr(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            else:
                missing_keys.append(extra)
        for key in state_dict:
            if key.startswith(prefix) and not (key == extra and hasattr(self, "set_extra_state")):
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (self._modules if dot else own):
                    unexpected_keys.append(key)

    def _take(self, name: str, param, key: str, given, assign: bool) -> str | None:
        """Take one value; what is wrong with it, if anything is."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
        if not param.shape and tuple(given.shape) == (1,):
            given = given[0]
        if given.shape != param.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {param.shape}."
            )
        with no_grad():
            if not assign:
                param.copy_(given)
                return None
            if isinstance(param, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(param.requires_grad)
                else:
                    given = Parameter(given, param.requires_grad)
            setattr(self, name, given)
        return None

    # Hooks ------------------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """hook(module, prefix, keep_vars) before state_dict() collects this module's part."""
        return registered(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata) after it; it changes state_dict in place."""
        return registered(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before
        this module takes its part.
        """
        return registered(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook) -> RemovableHandle:
        """hook(module, incompatible_keys) after it; it may change the keys in place."""
        return registered(self._load_state_dict_post_hooks, hook)
