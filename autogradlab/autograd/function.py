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

from autogradlab import errors, late, views
from autogradlab.graph import FREED, Node, PackedTensor, save
from autogradlab.modes import NO_GRAD, PACKING, no_grad, recording, state
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
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type(t).__name__}."
                )
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple:
        """What save_for_backward kept."""
        return self._node.unpack_all() if self._node is not None else self._to_save

    def mark_non_differentiable(self, *outputs) -> None:
        """Say that outputs have no gradient (indices, counts)."""
        self._constant = outputs

    def mark_dirty(self, *inputs) -> None:
        """Say that forward wrote to these inputs in place."""
        self._dirty = inputs

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None, not zeros, for outputs that nothing used."""
        self._materialize = value


class FunctionNode(Node):
    """The node of a Function: it calls backward with tensors, recorded or not."""

    __slots__ = ("ctx", "function", "kinds", "positions", "saved")

    def __init__(self, function, ctx, edges, positions, kinds):
        (shape, dtype, device), *more = kinds
        super().__init__(edges, shape, dtype, device, tuple(more))
        self.function, self.ctx, self.positions, self.kinds = function, ctx, positions, kinds
        self.saved = ()

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def keep(self, tensors, outputs) -> None:
        """Save what forward asked for; outputs without their node, which would be a cycle."""
        keep = PackedTensor if state.flags & PACKING else save
        own = {id(t) for t in outputs}
        self.saved = tuple(
            t if t is None else keep(t.alias(), True) if id(t) in own else keep(t) for t in tensors
        )  # fmt: skip

    def unpack_all(self) -> tuple:
        if self.saved is FREED:
            raise errors.backward_twice(self.name())
        return tuple(s if s is None else s.unpack(self) for s in self.saved)

    def run(self, grads, lift: bool, keep: bool):
        given = [self.as_tensor(g, kind, lift) for g, kind in zip(grads, self.kinds, strict=True)]
        with recording(lift):
            results = self.function.backward(self.ctx, *given)
        results = results if isinstance(results, tuple) else (results,)
        expected = len(self.ctx.needs_input_grad)
        if len(results) < expected or any(r is not None for r in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(results)}): backward returns one for each input of forward, None where there is none."
            )
        if not keep and self.saved:
            self.saved = FREED
        return [self.as_gradient(results[i], edge, lift) for i, edge in zip(self.positions, self.edges, strict=True)]

    def as_tensor(self, grad, kind, lift: bool):
        shape, dtype, device = kind
        if grad is None:
            return late.functions["zeros"](shape, dtype=dtype, device=device) if self.ctx._materialize else None
        return grad if lift else wrap(device.backend.as_array(grad, dtype), dtype, device)

    def as_gradient(self, value, edge, lift: bool):
        if value is None or edge is None:
            return None
        if not isinstance(value, Tensor):
            raise TypeError(
                f"function {self.name()} returned a {type(value).__name__} as gradient: expected a Tensor or None."
            )
        return value if lift else value.window

    def saved_fields(self) -> list[str]:
        return []


class Function:
    """Base class of custom operations: forward and backward as static methods, called through apply."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated: its methods are static. Call "
            f"{type(self).__name__}.apply(...)."
        )

    @staticmethod
    def forward(*args, **kwargs):
        """Compute.  forward(ctx, *inputs), or forward(*inputs) beside a setup_context(ctx, inputs, output)."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """From gradients of the outputs to gradients of the inputs, one each."""
        raise NotImplementedError(
            "You must implement the backward for your custom autograd.Function to use it with backward."
        )

    @classmethod
    def apply(cls, *args):
        """Run forward, and record a node if an input requires gradients."""
        ctx = FunctionCtx()
        tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        edges = [views.edge_of(t) for _, t in tensors]
        recorded = not state.flags & NO_GRAD and any(e is not None for e in edges)
        with no_grad():
            if "setup_context" in cls.__dict__ or hasattr(cls, "setup_context"):
                returned = cls.forward(*args)
                cls.setup_context(ctx, args, returned)
            else:
                returned = cls.forward(ctx, *args)
        several = isinstance(returned, tuple)
        outputs = list(returned) if several else [returned]
        inputs = {id(t) for _, t in tensors}
        dirty = {id(t) for t in ctx._dirty}
        for i, out in enumerate(outputs):
            if isinstance(out, Tensor) and id(out) in inputs and id(out) not in dirty:
                outputs[i] = out.alias()  # an input handed through is a result of its own
        if recorded:
            cls._record(ctx, edges, tuple(i for i, _ in tensors), outputs)
        else:
            ctx._to_save = ()
        return tuple(outputs) if several else outputs[0]

    @classmethod
    def _record(cls, ctx, edges, positions, outputs) -> None:
        constant = {id(t) for t in ctx._constant}
        made = [t for t in outputs if isinstance(t, Tensor)]
        node = FunctionNode(cls, ctx, edges, positions, [(tuple(t.shape), t._dtype, t._device) for t in made])
        node.keep(ctx._to_save, made)
        ctx._to_save, ctx._node = (), _Reference(node)
        for nr, t in enumerate(made):
            if id(t) in constant or not t._dtype.is_floating_point:
                continue
            if any(t is d for d in ctx._dirty):
                views.rebase(t, node)
            else:
                t._node, t._nr, t._view, t._requires = node, nr, None, False


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
