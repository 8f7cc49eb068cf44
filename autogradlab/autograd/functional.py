"""Jacobians, Hessians and their products with vectors, for functions of tensors.

Each takes a tensor or a tuple of them, and so does the function: a result is nested as outputs are, then as inputs are.
create_graph: the results can be differentiated again.  strict: an error, not zeros, where an output does not depend on
an input.  https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api, D5 4.1
"""

from autogradlab import late
from autogradlab.modes import enable_grad, is_grad_enabled, set_grad_enabled
from autogradlab.tensor import Tensor

from .calls import grad

_OUTPUTS = "outputs of the user-provided function"


def _tuple(value, what: str, fn: str) -> tuple[bool, tuple]:
    """(whether it was a tuple, the tuple), checked."""
    nested = isinstance(value, tuple)
    values = value if nested else (value,)
    for i, v in enumerate(values):
        if not isinstance(v, Tensor):
            which = f"value at index {i}" if nested else f"given {what}"
            raise TypeError(
                f"The {what} given to {fn} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(v)}."
            )
    return nested, values


def _own(tensors, create_graph: bool, need_graph: bool = True) -> tuple:
    """New tensor objects: what the function uses of the same tensors by itself is not differentiated."""
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(need_graph) for t in tensors
    )


def _result(values, create_graph: bool, nested: bool):
    """What the caller gets: without history unless asked for, and a tuple only if he gave one."""
    values = tuple(values if create_graph else [v.detach() for v in values])
    return values if nested else values[0]


def _vector(v, like, nested: bool, create_graph: bool, fn: str, what: str):
    """v as a tuple that fits, or None where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what} is a single Tensor with a single element.")
        return None
    _, v = _tuple(v, "v", fn)
    if len(v) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            if nested
            else "The given v should contain a single Tensor."
        )
    for i, (given, wanted) in enumerate(zip(v, like, strict=True)):
        if given.shape != wanted.shape:
            which = f"Entry {i} in v" if nested else "v"
            raise RuntimeError(f"{which} has invalid size: should be {wanted.shape} but got {given.shape}.")
    return _own(v, create_graph, need_graph=False)


def _strict(tensors, strict: bool, text: str) -> None:
    """In strict mode, everything depends on what it should depend on."""
    for i, t in enumerate(tensors if strict else ()):
        if t is None or not t.requires_grad:
            raise RuntimeError(text.format(i=i) + " This is not allowed in strict mode.")


_NO_GRAPH = "Output {i} of the user-provided function does not require gradients."
_NO_INPUT = "The output of the user-provided function, or its gradient, is independent of input {i}."
_LINEAR = "The jacobian of the user-provided function with respect to input {i} is independent of the input."


def _grad(outputs, inputs, vectors, create_graph: bool) -> tuple:
    """autograd.grad that passes over what does not require gradients."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, vectors = zip(*pairs, strict=True)
    return grad(outputs, inputs, vectors, create_graph=create_graph, allow_unused=True)


def _filled(grads, like, strict: bool, create_graph: bool, what: str) -> tuple:
    """Zeros where nothing arrived; in strict mode an error."""
    for i, g in enumerate(grads if strict else ()):
        if g is None:
            raise RuntimeError(f"The {what} is independent of input {i}. This is not allowed in strict mode.")
        if create_graph and not g.requires_grad:
            raise RuntimeError(
                f"The {what}'s gradient is independent of input {i}. This is not allowed in strict mode when "
                "create_graph=True."
            )
    zeros = late.functions["zeros_like"]
    return tuple(zeros(t) if g is None else g for g, t in zip(grads, like, strict=True))


def _call(func, inputs, fn: str, strict: bool, scalar: bool = False):
    nested, outputs = _tuple(func(*inputs), _OUTPUTS, fn)
    _strict(outputs, strict, _NO_GRAPH)
    if scalar and nested:
        raise RuntimeError(f"The function given to {fn} should return a single Tensor.")
    if scalar and outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {fn} should contain a single element.")
    return nested, outputs


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(outputs, v times the Jacobian): one backward pass.  v: of the outputs' shape; 1 for a single element."""
    with enable_grad():
        nested, inputs = _tuple(inputs, "inputs", "vjp")
        inputs = _own(inputs, create_graph)
        several, outputs = _call(func, inputs, "vjp", strict)
        v = _vector(v, outputs, several, create_graph, "vjp", "result of the user-provided function")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(outputs, inputs, v, create_graph), inputs, strict, create_graph, "output")
    return _result(outputs, create_graph, several), _result(found, create_graph, nested)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(outputs, the Jacobian times v).  v: of the inputs' shape; 1 for a single element.

    By two backward passes: u J is linear in u, and its gradient by u, weighted with v, is J v.
    """
    with enable_grad():
        nested, inputs = _tuple(inputs, "inputs", "jvp")
        inputs = _own(inputs, create_graph)
        v = _vector(v, inputs, nested, create_graph, "jvp", "input to the user-provided function")
        several, outputs = _call(func, inputs, "jvp", strict)
        u = tuple(late.functions["zeros_like"](o).requires_grad_() for o in outputs)
        first = _grad(outputs, inputs, u, True)
        _strict(first, strict, _NO_INPUT)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(first, u, v, create_graph), outputs, strict, create_graph, "gradient by the input")
    return _result(outputs, create_graph, several), _result(found, create_graph, several)


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(output, v times the Hessian) of a function with one number as its result."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(output, the Hessian times v).  The same numbers as vhp, with one backward pass more."""
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(fn, func, inputs, v, create_graph, strict):
    with enable_grad():
        nested, inputs = _tuple(inputs, "inputs", fn)
        inputs = _own(inputs, create_graph)
        v = _vector(v, inputs, nested, create_graph, fn, "input to the user-provided function")
        several, outputs = _call(func, inputs, fn, strict, scalar=True)
        first, wanted = _grad(outputs, inputs, None, True), inputs
        _strict(first, strict, _LINEAR)
        if fn == "hvp":
            wanted = tuple(late.functions["zeros_like"](t).requires_grad_() for t in inputs)
            first = _grad(first, inputs, wanted, True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grad(first, wanted, v, create_graph), inputs, strict, create_graph, "jacobian")
    return _result(outputs, create_graph, several), _result(found, create_graph, nested)


def jacobian(
    func, inputs, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
):  # fmt: skip
    """Every output element by every input element, of shape (*output, *input): one backward pass a row.

    vectorize: accepted; the rows are computed one after the other all the same.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strategy == "forward-mode":
        raise NotImplementedError('jacobian: strategy="forward-mode" is not offered; use "reverse-mode".')
    if strict and vectorize:
        raise RuntimeError("jacobian: `strict=True` and `vectorize=True` are not supported together.")
    with enable_grad():
        nested, inputs = _tuple(inputs, "inputs", "jacobian")
        inputs = _own(inputs, create_graph)
        several, outputs = _call(func, inputs, "jacobian", strict)
        blocks = [_rows(k, out, inputs, create_graph, strict) for k, out in enumerate(outputs)]
    blocks = tuple(_result(block, create_graph, nested) for block in blocks)
    return blocks if several else blocks[0]


def _rows(k: int, out, inputs, create_graph, strict) -> list:
    """The Jacobian of one output by each input."""
    rows = []
    for element in out.reshape(-1):
        found = (None,) * len(inputs)
        if out.requires_grad:
            found = grad(element, inputs, retain_graph=True, create_graph=create_graph, allow_unused=True)
        rows.append(_filled(found, inputs, strict, create_graph, f"output {k} of the user-provided function"))
    stack, empty = late.functions["stack"], late.functions["zeros"]
    columns = [stack(column) for column in zip(*rows, strict=True)] if rows else [
        empty(0, dtype=t.dtype, device=t.device) for t in inputs
    ]  # fmt: skip
    return [c.reshape(tuple(out.shape) + tuple(t.shape)) for c, t in zip(columns, inputs, strict=True)]


def hessian(
    func, inputs, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):  # fmt: skip
    """The second derivatives of a function with one number as its result, of shape (*input, *input)."""
    nested, inputs = _tuple(inputs, "inputs", "hessian")

    def first(*given):
        def one_number(*own):
            return _call(func, own, "hessian", strict, scalar=True)[1][0].squeeze()

        found = jacobian(one_number, given, create_graph=True)
        _strict(found, strict, _LINEAR)
        return found

    found = jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if nested else found[0][0]
