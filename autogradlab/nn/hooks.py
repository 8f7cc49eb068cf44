"""What happens around a module's forward: the hooks, in PyTorch's order.

A call with hooks runs: forward pre-hooks, forward, forward hooks.  Backward hooks need a place in the graph: an
identity before the module's inputs and one behind its outputs, whose nodes see the gradients.
"""

import functools
import warnings

from autogradlab.autograd import Function
from autogradlab.graph import HookDict, RemovableHandle
from autogradlab.modes import NO_GRAD, state
from autogradlab.tensor import Tensor

TABLES = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks", "_last_node_hooks",
    "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip
CALLED = TABLES[:5]  # in a call


def registered(hooks: HookDict, entry, prepend: bool = False) -> RemovableHandle:
    """Add a hook at the end, or before all others."""
    before = dict(hooks)
    handle = RemovableHandle(hooks, entry)
    if prepend:
        hooks.clear()
        hooks.update({handle.id: entry, **before})
    return handle


def _one_kind(other: HookDict) -> None:
    if other:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
            "them."
        )


class Hooked:
    """The part of Module that is called, with whatever was registered to be called with it."""

    def _no_hooks(self) -> None:
        for table in TABLES:
            self.__dict__[table] = HookDict()

    def register_forward_pre_hook(self, hook, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """hook(module, args) before forward; what it returns replaces the arguments.

        with_kwargs: hook(module, args, kwargs), which returns None or (args, kwargs).
        """
        return registered(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """hook(module, args, output) after forward; what it returns replaces the output.

        with_kwargs: hook(module, args, kwargs, output).  always_call: also when forward failed.
        """
        return registered(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """hook(module, grad_output) before the module's backward; what it returns replaces grad_output."""
        return registered(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """hook(module, grad_input, grad_output) after the module's backward; what it returns replaces grad_input."""
        _one_kind(self._last_node_hooks)
        return registered(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook) -> RemovableHandle:
        """The old kind: hook(module, grad_input, grad_output) of the *last node* that forward made, and of no other."""
        _one_kind(self._backward_hooks)
        return registered(self._last_node_hooks, hook)

    def __call__(self, *args, **kwargs):
        if not any(self.__dict__[table] for table in CALLED):
            return self.forward(*args, **kwargs)
        called, result = set(), None
        try:
            args, kwargs = self._before_forward(args, kwargs)
            around = BackwardHook(self) if self._backward_hooks or self._backward_pre_hooks else None
            if around:
                args = around.inputs(args)
            result = self.forward(*args, **kwargs)
            for key, (hook, with_kwargs, _) in list(self._forward_hooks.items()):
                called.add(key)
                given = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                result = result if given is None else given
            if self._last_node_hooks:
                self._hook_last_node(args, result)
            return around.outputs(result) if around else result
        except Exception:
            self._always(called, args, kwargs, result)
            raise

    def _before_forward(self, args, kwargs):
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            given = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if given is None:
                continue
            if not with_kwargs:
                args = given if isinstance(given, tuple) else (given,)
            elif isinstance(given, tuple) and len(given) == 2:
                args, kwargs = given
            else:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
                )
        return args, kwargs

    def _hook_last_node(self, args, result) -> None:
        """The old backward hooks: hooks of the node that made the first output."""
        while not isinstance(result, Tensor):
            result = next(iter(result.values())) if isinstance(result, dict) else result[0]
        node = result.grad_fn
        if node is None:
            return
        behind = {a.grad_fn for a in args if isinstance(a, Tensor)} - {None}
        if behind != {following for following, _ in node.next_functions}:
            warnings.warn(
                "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and "
                "will be removed in future versions. This hook will be missing some grad_input. Please use "
                "register_full_backward_hook to get the documented behavior.",
                FutureWarning,
                stacklevel=4,
            )
        for hook in list(self._last_node_hooks.values()):
            node.register_hook(functools.partial(hook, self))

    def _always(self, called, args, kwargs, result) -> None:
        """After an error: the hooks that asked to be called even so."""
        for key, (hook, with_kwargs, always) in list(self._forward_hooks.items()):
            if not always or key in called:
                continue
            try:
                given = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                result = result if given is None else given
            except Exception as error:  # the first error is the one to be seen
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=3,
                )


class BackwardHookFunction(Function):
    """The identity, for the sake of its node: it sees the gradients of several tensors at once."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return tuple(a.view_as(a) for a in args)

    @staticmethod
    def backward(ctx, *grads):
        return grads


class BackwardHook:
    """One call of a module with backward hooks: what the node behind the outputs saw waits for the node before the
    inputs.
    """

    def __init__(self, module):
        self.module = module
        self.pre, self.hooks = list(module._backward_pre_hooks.values()), list(module._backward_hooks.values())
        self.grad_outputs = None

    def _through(self, values: tuple, hook):
        """The values with their tensors passed through an identity whose node calls `hook`; where they stand."""
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if state.flags & NO_GRAD or not any(values[i].requires_grad for i in places):
            return values, None
        made = BackwardHookFunction.apply(*[values[i] for i in places])
        node = next(t.grad_fn for t in made if t.grad_fn is not None)
        node.register_hook(hook)
        values = list(values)
        for i, tensor in zip(places, made, strict=True):
            values[i] = tensor
        return tuple(values), places

    def inputs(self, args: tuple) -> tuple:
        self.count = len(args)
        args, self.input_places = self._through(args, self._after)
        return args

    def outputs(self, result):
        values = result if isinstance(result, tuple) else (result,)
        if not all(isinstance(v, Tensor) for v in values[:1]):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=3,
            )
        self.output_count = len(values)
        values, self.output_places = self._through(values, self._seen)
        return values if isinstance(result, tuple) else values[0]

    @staticmethod
    def _spread(places, values, count) -> tuple:
        spread = [None] * count
        for i, value in zip(places, values, strict=True):
            spread[i] = value
        return tuple(spread)

    def _seen(self, grad_input, grad_output):
        """The node behind the outputs has its gradients."""
        grads = self._spread(self.output_places, grad_input, self.output_count)
        for hook in self.pre:
            grads = _replaced(hook(self.module, grads), grads, "Backward pre hook", "grad_output")
        self.grad_outputs = grads
        if self.input_places is None:
            if self.hooks:
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                    "inputs require gradients.",
                    stacklevel=2,
                )
            for hook in self.hooks:
                given = hook(self.module, (None,) * self.count, grads)
                if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
            self.grad_outputs = None
        return tuple(grads[i] for i in self.output_places)

    def _after(self, grad_input, _):
        """The node before the inputs has its gradients too."""
        if self.grad_outputs is None:
            return None
        grads = self._spread(self.input_places, grad_input, self.count)
        for hook in self.hooks:
            grads = _replaced(hook(self.module, grads, self.grad_outputs), grads, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.input_places)


def _replaced(given, grads: tuple, hook: str, what: str) -> tuple:
    """The gradients a hook returned in place of those it was shown."""
    if given is None:
        return grads
    given = given if isinstance(given, tuple) else (given,)
    if len(given) != len(grads):
        raise RuntimeError(f"{hook} returned an invalid number of {what}, got {len(given)}, but expected {len(grads)}.")
    return given
