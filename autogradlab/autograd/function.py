"""Function: an operation with a backward of one's own.  (https://pytorch.org/docs/stable/notes/extending.html, D2 5.3)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    y = Square.apply(x)

backward gets one gradient for each output of forward and returns one for each input, None for those that need none.
What it keeps on `ctx` other than by save_for_backward is neither version-checked nor freed; an output kept so is a
cycle.
"""

import functools
import weakref

from autogradlab import devices, dtypes, errors, late, views
from autogradlab.graph import FREED, Node, keep, take_out
from autogradlab.modes import NO_GRAD, as_one, no_grad, recording, state
from autogradlab.tensor import Tensor, wrap


class FunctionCtx:
    """What forward leaves for backward."""

    def __init__(self):
        self._to_save, self._dirty, self._constant = (), (), ()
        self._materialize = True
        self._node = None
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors) -> None:
        """Keep tensors (or None) for backward: inputs and outputs of forward, version-checked and freed in time."""
        _only_tensors("save_for_backward can only save variables", tensors, TypeError)
        self._to_save = tensors

    def save_for_forward(self, *tensors) -> None:
        """For forward-mode derivatives, which are not offered: nothing is kept."""
        _only_tensors("save_for_forward can only save tensors", tensors, AssertionError)

    @property
    def saved_tensors(self) -> tuple:
        """What save_for_backward kept."""
        return () if self._node is None else self._node.unpack_all()

    def mark_non_differentiable(self, *outputs) -> None:
        """Say that outputs have no gradient (indices, counts)."""
        _only_tensors("mark_non_differentiable only accepts variable arguments", outputs, RuntimeError)
        self._constant = outputs

    def mark_dirty(self, *inputs) -> None:
        """Say that forward wrote to these inputs in place; it must return them."""
        _only_tensors("mark_dirty can only accept variables", inputs, RuntimeError)
        self._dirty = inputs

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None, not zeros, for outputs that nothing used."""
        self._materialize = value


def _only_tensors(text: str, values, kind: type) -> None:
    for v in values:
        if v is not None and not isinstance(v, Tensor):
            raise kind(f"{text}, but argument is of type {type(v).__name__}.")


class FunctionNode(Node):
    """The node of a Function: it calls backward with tensors, recorded or not.  Each Function has a subclass with its
    name.  What forward left on `ctx` can be read here.

    kinds: (shape, dtype, device) of each output, None for what is no tensor.  positions: of the tensors among the
    inputs.
    """

    __slots__ = ("ctx", "function", "kinds", "positions", "saved")

    def __init__(self, function, ctx, edges, positions, kinds):
        (shape, dtype, device), *more = [kind or _NOTHING for kind in kinds]
        super().__init__(edges, shape, dtype, device, tuple(more))
        self.function, self.ctx, self.positions, self.kinds = function, ctx, positions, kinds
        self.saved = ()

    def __getattr__(self, name: str):
        return getattr(object.__getattribute__(self, "ctx"), name)

    def keep(self, tensors, outputs) -> None:
        """Save what forward asked for; outputs without their node, which would be a cycle."""
        own = {id(t): nr for nr, t in enumerate(outputs)}
        kept = []
        for t in tensors:
            if id(t) in own and t is not None:
                t, nr = t.alias(), own[id(t)]
                t._nr = nr
                kept.append(keep(t, True))
            else:
                kept.append(t if t is None else keep(t))
        self.saved = tuple(kept)

    def unpack_all(self) -> tuple:
        if self.saved is FREED:
            raise errors.backward_twice(self.name())
        return tuple(s if s is None else take_out(s, self) for s in self.saved)

    def run(self, grads, lift: bool, keep: bool):
        given = [self.as_tensor(g, kind, lift) for g, kind in zip(grads, self.kinds, strict=True)]
        with recording(lift):
            results = self.function._backward()(self.ctx, *given)
        results = results if isinstance(results, tuple) else (results,)
        expected = len(self.ctx.needs_input_grad)
        if len(results) < expected or any(r is not None for r in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(results)}): backward returns one for each input of forward, None where there is none."
            )
        for i in range(expected):
            if results[i] is not None and i not in self.positions:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable: return None for what is no tensor."
                )
        if not keep and self.saved:
            self.saved = FREED
        return [self.as_gradient(results[i], edge, lift) for i, edge in zip(self.positions, self.edges, strict=True)]

    def as_tensor(self, grad, kind, lift: bool):
        if kind is None:
            return None
        shape, dtype, device = kind
        if grad is None:
            return late.functions["zeros"](shape, dtype=dtype, device=device) if self.ctx._materialize else None
        return grad if lift else wrap(device.backend.as_array(grad, dtype), dtype, device)

    def as_gradient(self, value, edge, lift: bool):
        if value is None or edge is None:
            return None
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"function {self.name()} returned a {type(value).__name__} as gradient: expected a Tensor or None."
            )
        return value if lift else value.window

    def saved_fields(self) -> list[str]:
        return []


_NOTHING = ((), dtypes.float32, devices.cpu)  # stands for an output that is no tensor


class Function:
    """Base class of custom operations: forward and backward as static methods, called through apply."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated: its methods are static. Call "
            f"{type(self).__name__}.apply(...)."
        )

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._node_kind = type(f"{cls.__name__}Backward", (FunctionNode,), {"__slots__": ()})

    @staticmethod
    def forward(*args, **kwargs):
        """Compute.  forward(ctx, *inputs), or forward(*inputs) beside a setup_context(ctx, inputs, output)."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """What forward(*inputs), which has no ctx, leaves for backward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """From gradients of the outputs to gradients of the inputs, one each.  `vjp` is another name for it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward-mode derivatives: not offered, never called."""
        raise NotImplementedError("Forward-mode derivatives (jvp) are not offered: use backward.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """For torch.vmap: not offered, never called."""
        raise NotImplementedError("vmap is not offered: write the batch dimension out.")

    @classmethod
    def _backward(cls):
        """The subclass's backward, by whichever name."""
        if cls.vjp is not Function.vjp:
            if cls.backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed: write one of them."
                )
            return cls.vjp
        return cls.backward

    @classmethod
    @as_one
    def apply(cls, *args, **kwargs):
        """Run forward, and record a node if an input requires gradients.  Keyword arguments have no gradients."""
        split = cls.setup_context is not Function.setup_context
        if split:
            import inspect  # slow to import, and needed here only

            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        ctx = FunctionCtx()
        tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        edges = [views.edge_of(t) for _, t in tensors]
        recorded = not state.flags & NO_GRAD and any(e is not None for e in edges)
        with no_grad():
            returned = cls.forward(*args, **kwargs) if split else cls.forward(ctx, *args, **kwargs)
            if split:
                cls.setup_context(ctx, args, returned)
        several = isinstance(returned, tuple)
        outputs = list(returned) if several else [returned]
        if any(not any(d is out for out in outputs) for d in ctx._dirty):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
        inputs = [t for _, t in tensors]
        for i, out in enumerate(outputs):
            if any(out is t for t in inputs) and not any(out is d for d in ctx._dirty):
                outputs[i] = out.alias()  # an input handed through is a result of its own
        for t in ctx._dirty:
            views.check_writable(t, recorded)
            views.written(t)
        if recorded and any(isinstance(t, Tensor) for t in outputs):
            cls._record(ctx, edges, inputs, tuple(i for i, _ in tensors), outputs)
        ctx._to_save = ()
        return tuple(outputs) if several else outputs[0]

    @classmethod
    def _record(cls, ctx, edges, inputs, positions, outputs) -> None:
        constant = {id(t) for t in ctx._constant}
        kinds = [(tuple(t.shape), t._dtype, t._device) if isinstance(t, Tensor) else None for t in outputs]
        node = cls._node_kind(cls, ctx, edges, positions, kinds)
        node.keep(ctx._to_save, outputs)
        ctx._node = _Reference(node)
        recorded = [
            (nr, t) for nr, t in enumerate(outputs)
            if isinstance(t, Tensor) and id(t) not in constant and t._dtype.is_floating_point
        ]  # fmt: skip
        for nr, t in recorded:
            if any(t is d for d in ctx._dirty):
                if t._view is not None and len(recorded) > 1:
                    raise RuntimeError(
                        "If your Function modifies inplace an input that is a view of another Tensor, it cannot return "
                        "more than one Tensor."
                    )
                views.rebase(t, node)
                t._nr = nr
                continue
            source = next((i for i in inputs if i._storage is not None and i._storage is t._storage), None)
            t._node, t._nr, t._view, t._requires = node, nr, None, False
            if source is not None:
                t._view = views.view_record(source, cls.__name__, "function" if len(recorded) == 1 else "multi_output")


class _Reference:
    """The node, seen from its ctx without keeping it alive: the node holds the ctx."""

    def __init__(self, node):
        self._node = weakref.ref(node)

    def unpack_all(self) -> tuple:
        return self._node().unpack_all()


def once_differentiable(backward):
    """For a backward whose own steps cannot be differentiated: it runs unrecorded, and a second derivative is refused.

    Used between @staticmethod and the backward of a Function.
    """

    @functools.wraps(backward)
    def wrapped(ctx, *grads):
        with no_grad():
            results = backward(ctx, *grads)
        if state.flags & NO_GRAD:  # the pass is not recorded: there is nothing to refuse
            return results
        return tuple(map(_refuse, results)) if isinstance(results, tuple) else _refuse(results)

    return wrapped


class _Refusal(Node):
    """The node of a result that must not be differentiated again."""

    __slots__ = ()

    def run(self, grads, lift: bool, keep: bool):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable.")


def _refuse(result):
    if not isinstance(result, Tensor):
        return result
    out = result.alias()
    out._node = _Refusal((), tuple(result.shape), result._dtype, result._device)
    return out
