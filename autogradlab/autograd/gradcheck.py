"""gradcheck: a function's gradients against central differences.
(https://pytorch.org/docs/stable/notes/gradcheck.html, D4 2.3)

For each input element the function is computed a little above and a little below; half the difference over the step is
a column of the Jacobian. Backward gives its rows, one for each output element. The two must agree. The error of the
differences is about eps squared from the curve and the rounding error over eps from the numbers, so it takes float64.
"""

import itertools
import warnings

from autogradlab import late, shapes
from autogradlab.modes import enable_grad, no_grad
from autogradlab.tensor import Tensor

from .calls import grad


class GradcheckError(RuntimeError):
    """A gradient that central differences contradict."""


def gradcheck(
    func, inputs, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
    check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether the gradients of `func` agree with central differences: |analytical - numerical| <= atol + rtol *
    |numerical|.

    func: takes `inputs` (tensors and others), returns a tensor or a tuple of them.  Every input that requires gradients
    is checked; it must be float64 for the default tolerances.  raise_exception: False returns False instead of raising
    GradcheckError.  nondet_tol: by how much two backward passes may differ.  fast_mode: one random direction in place
    of the whole Jacobian.  check_undefined_grad, check_grad_dtypes, masked: accepted; the engine sees to dtypes itself,
    and masks are for sparse tensors.
    """
    if check_forward_ad or check_batched_grad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: forward-mode and batched derivatives are not offered, so not checked.")
    if not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True.")
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    leaves = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
    _check_inputs(leaves)
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol)
    try:
        outputs = list(enumerate(_outputs(func, inputs)))
        outputs = [(k, o) for k, o in outputs if o.requires_grad] or outputs  # if none does, the slopes must be 0
        for k, out in outputs:
            for i, leaf in enumerate(leaves):
                (check.direction if fast_mode else check.jacobian)(out, leaf, (k, i))
        _check_zero(leaves, [o for _, o in outputs if o.requires_grad])
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False,
    masked: bool = False,
) -> bool:  # fmt: skip
    """gradcheck of the gradient itself: are the second derivatives right?  (What gradcheck alone misses.)

    grad_outputs: what the first backward starts from, by default random numbers (gen_non_contig_grad_outputs: not
    contiguous in memory).
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [o for o in _outputs(func, inputs) if o.requires_grad]
    if grad_outputs is None:
        seeds = tuple(late.functions["randn_like"](o.detach()) for o in outputs)
        if gen_non_contig_grad_outputs:
            seeds = tuple(late.functions["stack"]([g, g], -1)[..., 0] for g in seeds)
        seeds = tuple(g.requires_grad_() for g in seeds)
    else:
        seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def first(*given):
        own = given[: len(inputs)]
        wanted = [t for t in own if isinstance(t, Tensor) and t.requires_grad]
        with enable_grad():  # also while central differences are taken
            results = [o for o in _outputs(func, own) if o.requires_grad]
        if not results:
            return ()
        found = grad(results, wanted, given[len(inputs) :], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first, (*inputs, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
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
                "and rounding will hide the difference this check looks for.",
                stacklevel=3,
            )
        if shapes.overlaps(tuple(leaf.shape), leaf.stride()):
            raise RuntimeError(
                f"The {i}th input has elements that share memory (stride {leaf.stride()}, as after expand(), where a "
                "dimension with stride 0 repeats one element): moving one moves others. Pass clone()."
            )


def _check_zero(leaves, outputs) -> None:
    """Backward is linear: from zeros it must give zeros."""
    if not outputs:
        return
    zeros = [late.functions["zeros_like"](o) for o in outputs]
    for i, g in enumerate(grad(outputs, leaves, zeros, retain_graph=True, allow_unused=True)):
        if g is not None and bool((g != 0).any()):
            raise GradcheckError(f"backward not multiplied by grad_output: from zeros, input {i} got {g}.")


def _outputs(func, inputs) -> list:
    result = func(*inputs)
    result = result if isinstance(result, (tuple, list)) else (result,)
    return [o for o in result if isinstance(o, Tensor) and o.dtype.is_floating_point]


def _flat(tensor) -> list:
    return tensor.detach().reshape(-1).tolist()


def _rows(out, leaf) -> list:
    """The Jacobian from backward: for each output element, the gradient of the leaf."""
    rows = []
    for k in range(out.numel()):
        g = None
        if out.requires_grad:
            seed = late.functions["zeros"](out.numel(), dtype=out.dtype, device=out.device)
            seed[k] = 1.0
            (g,) = grad(out, leaf, seed.reshape(tuple(out.shape)), retain_graph=True, allow_unused=True)
        rows.append([0.0] * leaf.numel() if g is None else _flat(g))
    return rows


class _Check:
    """A function, its inputs, and how exactly its gradients must agree."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol):
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.nondet_tol = nondet_tol

    def moved(self, which: int, leaf, index, by: float) -> list:
        """An output as flat numbers, with one element of a leaf moved."""
        with no_grad():
            before = leaf[index].item()
            leaf.data[index] = before + by
            try:
                return _flat(_outputs(self.func, self.inputs)[which])
            finally:
                leaf.data[index] = before

    def jacobian(self, out, leaf, names) -> None:
        """The whole Jacobian of one output by one input, both ways."""
        rows, again = _rows(out, leaf), _rows(out, leaf)
        if any(
            abs(a - b) > self.nondet_tol for r, s in zip(rows, again, strict=True) for a, b in zip(r, s, strict=True)
        ):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                f"gives different values for input {names[1]}: the tolerance is nondet_tol={self.nondet_tol}."
            )
        for j, index in enumerate(itertools.product(*map(range, leaf.shape))):
            high, low = (self.moved(names[0], leaf, index, by) for by in (self.eps, -self.eps))
            for k, (a, b) in enumerate(zip(high, low, strict=True)):
                numerical = (a - b) / (2 * self.eps)
                if not self.agree(rows[k][j], numerical):
                    sides = [(a - (o := _flat(out)[k])) / self.eps, (o - b) / self.eps]
                    raise GradcheckError(_text(names, k, index, rows[k][j], numerical) + self.kink(*sides))

    def direction(self, out, leaf, names) -> None:
        """One random direction u in the input and one v in the output: v J u, both ways."""
        u = late.functions["randn_like"](leaf.detach())
        u = u / u.norm()
        v = late.functions["rand_like"](out.detach())
        g = grad(out, leaf, v, retain_graph=True, allow_unused=True)[0] if out.requires_grad else None
        analytical = 0.0 if g is None else float((g * u).sum())
        with no_grad():
            kept, found = leaf.detach().clone(), []
            try:
                for by in (self.eps, -self.eps):
                    leaf.data.copy_(kept + u * by)
                    found.append(float((_outputs(self.func, self.inputs)[names[0]].detach() * v).sum()))
            finally:
                leaf.data.copy_(kept)
        numerical = (found[0] - found[1]) / (2 * self.eps)
        if not self.agree(analytical, numerical):
            raise GradcheckError(_text(names, "a random direction", "a random direction", analytical, numerical) + ".")

    def agree(self, analytical: float, numerical: float) -> bool:
        """nan agrees with nan only; so log at 0 fails, as it should: check near the edge, not on it."""
        if analytical != analytical or numerical != numerical:
            return analytical != analytical and numerical != numerical
        return analytical == numerical or abs(analytical - numerical) <= self.atol + self.rtol * abs(numerical)

    def kink(self, right: float, left: float) -> str:
        """What the differences to either side say about the mismatch."""
        if abs(right - left) <= 100 * (self.atol + self.rtol * abs(left)):
            return ". The formula is wrong there."
        return f". The function has a kink there: its slope is {left:.6g} before and {right:.6g} after. Move the input."


def _text(names, element, index, analytical: float, numerical: float) -> str:
    return (
        f"Jacobian mismatch for output {names[0]} with respect to input {names[1]}, output element {element}, input "
        f"element {index}: numerical {numerical:.6g}, analytical {analytical:.6g}"
    )
