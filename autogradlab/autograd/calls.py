"""Asking for gradients: backward and grad.  (https://pytorch.org/docs/stable/autograd.html, D1 6, D2 4)"""

import functools
import math
import warnings

from autogradlab import engine, errors, late, views
from autogradlab.graph import AccumulateGrad, DeadEnd
from autogradlab.table import method
from autogradlab.tensor import Tensor, wrap


def _tuple(value) -> tuple:
    return (value,) if isinstance(value, Tensor) or value is None or _is_edge(value) else tuple(value)


def _is_edge(value) -> bool:
    """Whether it is a GradientEdge (of autograd.graph, which builds on this file)."""
    return hasattr(value, "output_nr") and hasattr(value, "node")


def _edge_of(tensor):
    """Where a tensor's gradient goes, or where a GradientEdge points."""
    if isinstance(tensor, Tensor):
        return views.edge_of(tensor)
    node, nr = tensor.node, tensor.output_nr
    return node.variable if isinstance(node, AccumulateGrad) else (node, nr) if nr else node


class _Described:
    """What a GradientEdge says of the tensor it stands for."""

    def __init__(self, edge):
        node, nr = edge.node, edge.output_nr
        self.shape, self._dtype, self._device = node.more[nr - 1] if nr else (node.shape, node.dtype, node.device)

    def numel(self) -> int:
        return math.prod(self.shape)


def _paired(outputs, grads) -> tuple:
    """Outputs, and for each the gradient to start from, or None."""
    outputs = _tuple(outputs)
    grads = (None,) * len(outputs) if grads is None else _tuple(grads)
    for g in grads:
        if not isinstance(g, Tensor) and g is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}.")
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients.")
    return outputs, grads


def _seeds(outputs, grads, lift: bool) -> list:
    """The gradients to start from: ones for outputs of one element, else what was given, checked."""
    made = []
    for i, (out, grad) in enumerate(zip(outputs, grads, strict=True)):
        if not isinstance(out, Tensor) and not _is_edge(out):
            raise TypeError(f"can only differentiate Tensors or GradientEdges, but output {i} is {type(out).__name__}.")
        if (edge := _edge_of(out)) is None or isinstance(edge, DeadEnd):
            raise errors.nothing_to_differentiate(i)
        out = out if isinstance(out, Tensor) else _Described(out)
        if grad is None:
            if out.numel() != 1:
                raise errors.not_a_scalar(out.shape)
            if not lift:
                made.append(out._device.backend.xp.ones(tuple(out.shape), out._dtype.numpy))
                continue
            grad = late.functions["ones"](tuple(out.shape), dtype=out._dtype, device=out._device)
        elif tuple(grad.shape) != tuple(out.shape):
            raise errors.gradient_shape(i, grad.shape, out.shape)
        elif grad._device is not out._device:
            raise errors.device_mismatch("backward", (out, grad))
        grad = grad if grad._dtype is out._dtype else grad.to(out._dtype)
        made.append(grad if lift else grad.window)
    return made


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph: bool = False, inputs=None) -> None:
    """Add the gradients of `tensors` to the .grad of every leaf they were computed from (or of `inputs` alone).

    tensors: outputs of one element each, or of any shape with a gradient of that shape in grad_tensors.  retain_graph:
    keep what was saved for another pass (by default only under create_graph).  create_graph: record the pass, for
    higher derivatives.
    """
    if create_graph:
        _warn_of_the_cycle()
    outputs, grads = _paired(tensors, grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(outputs, grads, create_graph)
    edges = [_edge_of(t) for t in outputs]
    if inputs is None:
        engine.backward(edges, seeds, keep, create_graph)
        return
    wanted = _tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    places = [_place(t, i) for i, t in enumerate(wanted)]
    for t in wanted:
        if isinstance(t, Tensor):
            t.retain_grad()  # as PyTorch: from now on, if it is no leaf
    engine.backward(edges, seeds, keep, create_graph, dict.fromkeys(places), accumulates=True)


@functools.cache
def _warn_of_the_cycle() -> None:
    """Once in a process, as PyTorch."""
    warnings.warn(
        "Using backward() with create_graph=True makes a reference cycle between a parameter and its gradient, whose "
        "graph leads back to it: the memory may stay. Use autograd.grad, or set the .grad fields to None afterwards.",
        UserWarning,
        stacklevel=4,
    )


def _place(tensor: Tensor, index: int):
    if not isinstance(tensor, Tensor) and not _is_edge(tensor):
        raise TypeError(f"expected Tensors or GradientEdges as inputs, but input {index} is {type(tensor).__name__}.")
    edge = _edge_of(tensor)
    if edge is None:
        raise RuntimeError(
            f"One of the differentiated Tensors does not require grad: input {index}, a {errors.describe(tensor)}."
        )
    return engine.split(edge)


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph: bool = False, allow_unused=None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple:  # fmt: skip
    """The gradients of `outputs` with respect to `inputs`, one each; nothing is accumulated.  (D2 4.3)

    allow_unused: None instead of an error for an input the outputs do not depend on; materialize_grads: zeros instead.
    """
    if is_grads_batched:
        raise RuntimeError("is_grads_batched is not supported: call grad() once for each gradient.")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    inputs = _tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    outputs, grads = _paired(outputs, grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    places = [_place(t, i) for i, t in enumerate(inputs)]
    seeds = _seeds(outputs, grads, create_graph)
    caught = engine.backward([_edge_of(t) for t in outputs], seeds, keep, create_graph, dict.fromkeys(places))
    return tuple(
        _result(t, caught.get(place), i, create_graph, allow_unused, materialize_grads)
        for i, (t, place) in enumerate(zip(inputs, places, strict=True))
    )


def _result(tensor, found, index, lift, allow_unused, materialize):
    if found is None:
        if materialize:
            like = tensor if isinstance(tensor, Tensor) else _Described(tensor)
            return late.functions["zeros"](tuple(like.shape), dtype=like._dtype, device=like._device)
        if not allow_unused:
            what = errors.describe(tensor) if isinstance(tensor, Tensor) else "GradientEdge"
            raise RuntimeError(
                f"One of the differentiated Tensors appears to not have been used in the graph: input {index}, a "
                f"{what}. Set allow_unused=True if this is the desired behavior."
            )
        return None
    if lift:
        return found
    if not isinstance(tensor, Tensor):
        like = _Described(tensor)
        return wrap(like._device.backend.as_array(found, like._dtype), like._dtype, like._device).clone()
    return engine.first_gradient(tensor, found, steal=False)


def _backward_method(self, gradient=None, retain_graph=None, create_graph: bool = False, inputs=None) -> None:
    """Add this tensor's gradients to the .grad of every leaf it was computed from.  (D1 6.3)

    gradient: what to start from, of this tensor's shape; may be left out for a tensor of one element.
    """
    backward(self, gradient, retain_graph, create_graph, inputs)


method(_backward_method, "backward")
