"""gradcheck: a function's gradients against central differences.
(https://pytorch.org/docs/stable/notes/gradcheck.html, D4 2.3)

For each input element the function is computed a little above and a little below; half the difference over the step is
a column of the Jacobian. Backward gives its rows, one for each output element. The two must agree. The error of the
differences is about eps squared from the curve and the rounding error over eps from the numbers, so it takes float64.
"""

import warnings

from autogradlab import late
from autogradlab.modes import enable_grad, no_grad
from autogradlab.tensor import Tensor

from .calls import grad


class GradcheckError(RuntimeError):
    """A gradient that central differences contradict."""


def gradcheck(
    func, inputs, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
    nondet_tol: float = 0.0, fast_mode: bool = False,
) -> bool:  # fmt: skip
    """Whether the gradients of `func` agree with central differences: |analytical - numerical| <= atol + rtol *
    |numerical|.

    func: takes `inputs` (tensors and others), returns a tensor or a tuple of them.  Every input that requires gradients
    is checked; it must be float64 for the default tolerances.  raise_exception: False returns False instead of raising
    GradcheckError.  nondet_tol: by how much two backward passes may differ.  fast_mode: one random direction in place
    of the whole Jacobian.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    leaves = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
    _check_inputs(leaves)
    try:
        outputs = [(k, o) for k, o in enumerate(_outputs(func, inputs)) if o.requires_grad]
        if not outputs:
            raise GradcheckError("no output of the function requires gradients, so there is nothing to check.")
        for k, out in outputs:
            for i, leaf in enumerate(leaves):
                if fast_mode:
                    _compare_direction(func, inputs, out, leaf, (k, i), eps, atol, rtol)
                else:
                    _compare(func, inputs, out, leaf, (k, i), eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, fast_mode: bool = False,
) -> bool:  # fmt: skip
    """gradcheck of the gradient itself: are the second derivatives right?  (What gradcheck alone misses.)"""
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    leaves = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
    outputs = [o for o in _outputs(func, inputs) if o.requires_grad]
    if grad_outputs is None:
        seeds = tuple(late.functions["randn_like"](o.detach()).requires_grad_() for o in outputs)
    else:
        seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def first(*given):
        own = given[: len(inputs)]
        wanted = [t for t in own if isinstance(t, Tensor) and t.requires_grad]
        with enable_grad():  # also while central differences are taken
            results = [o for o in _outputs(func, own) if o.requires_grad]
        found = grad(results, wanted, given[len(inputs) :], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    with_seeds = (*inputs, *seeds)
    if not leaves or not any(g.requires_grad for g in first(*with_seeds)):
        return True  # the gradient is constant
    return gradcheck(
        first, with_seeds, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        fast_mode=fast_mode,
    )  # fmt: skip


def _check_inputs(leaves) -> None:
    if not leaves:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i, leaf in enumerate(leaves):
        if leaf.dtype.name != "float64":
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point: it is {leaf.dtype.name}, "
                f"and rounding "
                "will hide the difference this check looks for.",
                stacklevel=3,
            )
        if any(s == 0 and n > 1 for n, s in zip(leaf.shape, leaf.stride(), strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0: its elements share memory, so moving one moves "
                f"others. Pass clone()."
            )


def _outputs(func, inputs) -> list:
    result = func(*inputs)
    result = result if isinstance(result, (tuple, list)) else (result,)
    return [o for o in result if isinstance(o, Tensor) and o.dtype.is_floating_point]


def _moved(func, inputs, which: int, leaf, index, by: float) -> list:
    """The output as flat numbers, with one element of a leaf moved."""
    with no_grad():
        before = leaf[index].item()
        leaf.data[index] = before + by
        try:
            return _flat(_outputs(func, inputs)[which])
        finally:
            leaf.data[index] = before


def _flat(tensor) -> list:
    return tensor.detach().reshape(-1).tolist()


def _indices(shape):
    places = [()]
    for n in shape:
        places = [(*p, i) for p in places for i in range(n)]
    return places


def _rows(out, leaf) -> list:
    """The Jacobian from backward: for each output element, the gradient of the leaf."""
    rows = []
    for k in range(out.numel()):
        seed = late.functions["zeros"](out.numel(), dtype=out.dtype, device=out.device)
        seed[k] = 1.0
        (g,) = grad(out, leaf, seed.reshape(tuple(out.shape)), retain_graph=True, allow_unused=True)
        rows.append([0.0] * leaf.numel() if g is None else _flat(g))
    return rows


def _compare(func, inputs, out, leaf, names, eps, atol, rtol, nondet_tol) -> None:
    """The whole Jacobian of one output by one input, both ways."""
    which = names[0]
    rows, again = _rows(out, leaf), _rows(out, leaf)
    for row, second in zip(rows, again, strict=True):
        if any(abs(a - b) > nondet_tol for a, b in zip(row, second, strict=True)):
            raise GradcheckError(
                f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                f"gives different values "
                f"for input {names[1]}."
            )
    for j, index in enumerate(_indices(tuple(leaf.shape))):
        high, low = (_moved(func, inputs, which, leaf, index, by) for by in (eps, -eps))
        for k, (a, b) in enumerate(zip(high, low, strict=True)):
            numerical = (a - b) / (2 * eps)
            if not _agree(rows[k][j], numerical, atol, rtol):
                raise GradcheckError(_text(names, k, index, rows[k][j], numerical))


def _compare_direction(func, inputs, out, leaf, names, eps, atol, rtol) -> None:
    """One random direction u in the input and one v in the output: v J u, both ways."""
    which = names[0]
    u = late.functions["randn_like"](leaf.detach())
    u = u / u.norm()
    v = late.functions["rand_like"](out.detach())
    (g,) = grad(out, leaf, v, retain_graph=True, allow_unused=True)
    analytical = 0.0 if g is None else float((g * u).sum())
    with no_grad():
        kept = leaf.detach().clone()
        found = []
        for by in (eps, -eps):
            leaf.data.copy_(kept + u * by)
            found.append(float((_outputs(func, inputs)[which].detach() * v).sum()))
        leaf.data.copy_(kept)
    numerical = (found[0] - found[1]) / (2 * eps)
    if not _agree(analytical, numerical, atol, rtol):
        raise GradcheckError(_text(names, "a random direction", "a random direction", analytical, numerical))


def _agree(analytical: float, numerical: float, atol: float, rtol: float) -> bool:
    """nan agrees with nan only; so log at 0 fails, as it should: check near the edge, not on it."""
    if analytical != analytical or numerical != numerical:
        return analytical != analytical and numerical != numerical
    return analytical == numerical or abs(analytical - numerical) <= atol + rtol * abs(numerical)


def _text(names, element, index, analytical: float, numerical: float) -> str:
    return (
        f"Jacobian mismatch for output {names[0]} with respect to input {names[1]}, output element {element}, input "
        f"element "
        f"{index}: numerical {numerical:.6g}, analytical {analytical:.6g}. The formula is wrong there, or the "
        f"function has a kink "
        "within eps of it."
    )
