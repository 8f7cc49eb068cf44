"""Optimizer: parameters in groups, state per parameter, and the loop around an update rule.

A rule (`update`) sees raw arrays and works in place: no graph, no temporaries that it does not need.  Programs may also
write a rule of their own by overriding `step`, as in PyTorch.  https://pytorch.org/docs/stable/optim.html
"""

import collections
import functools
import warnings

import numpy

from autogradlab import late, views
from autogradlab.graph import HookDict, RemovableHandle
from autogradlab.modes import enable_grad, no_grad
from autogradlab.tensor import Tensor


class _Required:
    """Stands for a setting without a default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def non_negative(**settings) -> None:
    """Refuse negative settings, naming them as PyTorch does: non_negative(learning_rate=lr)."""
    for name, value in settings.items():
        if not 0.0 <= value:
            raise ValueError(f"Invalid {name.replace('_', ' ')}: {value} (expected 0 or more).")


class Optimizer:
    """Base class.  params: tensors, or dicts with a list of tensors under "params" and settings of that group.

    defaults: the settings of groups that do not say otherwise.
    """

    def __init__(self, params, defaults: dict):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__name__}: write [tensor]."
            )
        self.defaults = defaults
        self.state = collections.defaultdict(dict)  # parameter -> what the rule remembers of it
        self.param_groups = []
        self._before, self._after = HookDict(), HookDict()
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: if it came from a generator such as model.parameters(), that "
                "can be used once only."
            )
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _with_hooks(cls.step)

    # Groups -----------------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict) -> None:
        """Add parameters, with settings of their own: fine-tuning unfreezes layers this way."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}.")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections: a set has no order.")
        group = {**param_group, "params": [params] if isinstance(params, Tensor) else list(params)}
        named = [p for p in group["params"] if isinstance(p, tuple) and len(p) == 2]
        if named:
            if len(named) != len(group["params"]):
                raise ValueError("all optimizer params should be with/without names: some are pairs, some are not.")
            group["param_names"], group["params"] = [n for n, _ in named], [p for _, p in named]
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}.")
            if not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor: it is computed anew from its inputs each time.")
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}.")
            group.setdefault(name, default)
        if len({id(p) for p in group["params"]}) != len(group["params"]):
            warnings.warn("optimizer contains a parameter group with duplicate parameters: they are updated twice.",
                          stacklevel=3)  # fmt: skip
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group.")
        self.param_groups.append(group)

    # A step -----------------------------------------------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; with set_to_none=False they are set to 0 instead, in place."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.detach() if p.grad.grad_fn is not None else p.grad.requires_grad_(False)
                    p.grad.zero_()

    def update(self, p, grad, state: dict, group: dict, parameter: Tensor) -> None:
        """One step of the rule for one parameter: p and grad are raw arrays, p is changed in place."""
        raise NotImplementedError(f"{type(self).__name__} says neither update() nor step()")

    def step(self, closure=None):
        """Update all parameters that have a gradient.

        closure: a function that computes the loss anew, and backward; what it returns is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad(), numpy.errstate(all="ignore"):
            for group in self.param_groups:
                for parameter in group["params"]:
                    grad = parameter._grad
                    if grad is None:
                        continue
                    raw = -grad.window if group.get("maximize") else grad.window
                    state = self.state.get(parameter, {})
                    self.update(parameter.window, raw, state, group, parameter)
                    if state:
                        self.state[parameter] = state
                    views.written(parameter)
        return loss

    def register_step_pre_hook(self, hook) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step; new (args, kwargs) it returns are used instead."""
        return RemovableHandle(self._before, hook)

    def register_step_post_hook(self, hook) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle(self._after, hook)

    # Checkpoints ------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict:
        """State by the parameters' numbers (in the order of the groups), and the groups with these numbers."""
        numbers = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
        return {
            "state": {numbers[id(p)]: value for p, value in self.state.items()},
            "param_groups": [
                {
                    **{k: v for k, v in group.items() if k != "params"},
                    "params": [numbers[id(p)] for p in group["params"]],
                }
                for group in self.param_groups
            ],
        }

    @no_grad()
    def load_state_dict(self, state_dict: dict) -> None:
        """Go on where a checkpoint stopped: groups are matched by their order, parameters by theirs."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(saved)}, the optimizer has "
                f"{len(self.param_groups)}."
            )
        sizes = [(len(s["params"]), len(g["params"])) for s, g in zip(saved, self.param_groups, strict=True)]
        if any(a != b for a, b in sizes):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: sizes "
                f"(loaded, optimizer's) are {sizes}."
            )
        numbered = {
            n: p for s, g in zip(saved, self.param_groups, strict=True)
            for n, p in zip(s["params"], g["params"], strict=True)
        }  # fmt: skip
        self.state = collections.defaultdict(dict)
        for number, state in state_dict["state"].items():
            p = numbered.get(number)
            self.state[number if p is None else p] = {k: _for_parameter(k, v, p) for k, v in state.items()}
        self.param_groups = [
            {**s, "params": g["params"]} for s, g in zip(saved, self.param_groups, strict=True)
        ]  # fmt: skip

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"][not i :] + [
                *(f"    {k}: {group[k]}" for k in sorted(group) if k != "params")
            ]
        return "\n".join([*lines, ")"])


def _with_hooks(step):
    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        for hook in list(self._before.values()):
            given = hook(self, args, kwargs)
            if given is not None:
                args, kwargs = given
        if hasattr(self, "_opt_called"):  # a scheduler wants to know
            self._opt_called = True
        out = step(self, *args, **kwargs)
        for hook in list(self._after.values()):
            hook(self, args, kwargs)
        return out

    return hooked


Optimizer.step = _with_hooks(Optimizer.step)


def _for_parameter(key: str, value, parameter):
    """Loaded state on the parameter's device and, except counters, in its dtype."""
    if not isinstance(value, Tensor) or parameter is None:
        return value
    if key == "step":
        return value.clone()
    return value.detach().to(parameter.device, parameter.dtype, copy=True)


def zeros_like(parameter: Tensor) -> Tensor:
    """State that starts from 0, laid out like the parameter."""
    return late.functions["zeros_like"](parameter.detach())


def counted(state: dict) -> int:
    """Count one more step; the count is kept as a tensor, as PyTorch's."""
    if "step" not in state:
        state["step"] = late.functions["tensor"](0.0)
    state["step"].window[...] += 1
    return int(state["step"].item())


def refuse(name: str, **switches) -> None:
    """Switches that are accepted for PyTorch's signature but have no meaning here must be off."""
    for switch, value in switches.items():
        if value:
            raise NotImplementedError(f"{name}({switch}=True) is not offered: leave it out.")
