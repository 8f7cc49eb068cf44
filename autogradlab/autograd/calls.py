"""Asking for gradients: backward and grad.  (https://pytorch.org/docs/stable/autograd.html, D1 6, D2 4)"""

from autogradlab import engine, errors, late, views
from autogradlab.tensor import Tensor


def _tuple(value) -> tuple:
    return (value,) if isinstance(value, Tensor) or value is None else tuple(value)


def _seeds(outputs, grads, lift: bool) -> list:
    """The gradients to start from: ones for outputs of one element, else what was given, checked."""
    made = []
    for i, (out, grad) in enumerate(zip(outputs, grads, strict=True)):
        if views.edge_of(out) is None:
            raise errors.nothing_to_differentiate(i)
        if grad is None:
            if out.numel() != 1:
                raise errors.not_a_scalar(out.shape)
            if not lift:
                made.append(out._device.backend.xp.ones(tuple(out.shape), out._dtype.numpy))
                continue
            grad = late.functions["ones_like"](out)
        elif not isinstance(grad, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}.")
        elif grad.shape != out.shape:
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
    outputs = _tuple(tensors)
    grads = (None,) * len(outputs) if grad_tensors is None else _tuple(grad_tensors)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients.")
    keep = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(outputs, grads, create_graph)
    edges = [views.edge_of(t) for t in outputs]
    if inputs is None:
        engine.backward(edges, seeds, keep, create_graph)
        return
    wanted = _tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    places = [_place(t, i) for i, t in enumerate(wanted)]
    caught = engine.backward(edges, seeds, keep, create_graph, dict.fromkeys(places))
    for t, place in zip(wanted, places, strict=True):
        if place in caught:
            engine.accumulate(t, caught[place], create_graph, steal=False)


def _place(tensor: Tensor, index: int):
    edge = views.edge_of(tensor)
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
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    grads = (None,) * len(outputs) if grad_outputs is None else _tuple(grad_outputs)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients.")
    keep = create_graph if retain_graph is None else retain_graph
    places = [_place(t, i) for i, t in enumerate(inputs)]
    seeds = _seeds(outputs, grads, create_graph)
    caught = engine.backward([views.edge_of(t) for t in outputs], seeds, keep, create_graph, dict.fromkeys(places))
    return tuple(
        _result(t, caught.get(place), i, create_graph, allow_unused, materialize_grads)
        for i, (t, place) in enumerate(zip(inputs, places, strict=True))
    )


def _result(tensor, found, index, lift, allow_unused, materialize):
    if found is None:
        if materialize:
            return late.functions["zeros_like"](tensor)
        if not allow_unused:
            raise RuntimeError(
                f"One of the differentiated Tensors appears to not have been used in the graph: input {index}, a "
                f"{errors.describe(tensor)}. Set allow_unused=True if this is the desired behavior."
            )
        return None
    return found if lift else engine.first_gradient(tensor, found, steal=False)


def _backward_method(self, gradient=None, retain_graph=None, create_graph: bool = False, inputs=None) -> None:
    """Add this tensor's gradients to the .grad of every leaf it was computed from.  (D1 6.3)

    gradient: what to start from, of this tensor's shape; may be left out for a tensor of one element.
    """
    backward(self, gradient, retain_graph, create_graph, inputs)


METHODS = {"backward": _backward_method}
