"""Linear maps as layers have them: the weight's rows are outputs."""

from autogradlab import shapes
from autogradlab.convert import autocasts
from autogradlab.dispatch import NOTHING, call
from autogradlab.table import explained, functions, nn_functions, operator
from autogradlab.tensor import Tensor

from .kinds import not_bool
from .linalg import addmm, matmul, swapped
from .shape import permute

PLAIN = {"beta": 1, "alpha": 1}


@autocasts("linear")
def linear(input, weight, bias=None):
    """input @ weight.T + bias.  input: (..., in); weight: (out, in); bias: (out,).  (D1 1.3)"""
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        wrong, name = (input, "input") if not isinstance(input, Tensor) else (weight, "weight")
        raise TypeError(f"linear(): argument '{name}' must be Tensor, not {type(wrong).__name__}.")
    transposed = weight.t()
    if bias is None:
        return matmul(input, transposed)
    shape = tuple(input.shape)
    if len(shape) == 2:
        if tuple(weight.shape) == (bias.numel(), shape[1]) and bias.dim() == 1:
            return call(addmm, (bias, input, transposed), PLAIN)
        return addmm.function(bias, input, transposed)  # which says what is wrong
    if not input.is_contiguous() or not shape:
        return matmul(input, transposed) + bias
    rows = input.view(input.numel() // max(shape[-1], 1) if shape[-1] else -1, shape[-1])
    return addmm.function(bias, rows, transposed).view(*shape[:-1], weight.shape[0])


@operator(node="TrilinearBackward0", promote=False, same_dtype=True, accepts=not_bool, public=(),
          samples=lambda make: [((make(3, 2), make(4, 2, 3), make(3, 3)), {})])  # fmt: skip
class trilinear:
    """a[n] @ b[k] @ c[n] for each n and k.  a: (N, in1); b: (out, in1, in2); c: (N, in2); result: (N, out)."""

    def arguments(input, weight, other):
        return (input, weight, other), NOTHING

    def kernel(xp, a, b, c, /):
        return xp.ascontiguousarray(xp.sum(xp.matmul(a, b) * c, axis=-1, dtype=a.dtype).T)

    def grad_a(g, b, c):
        return trilinear(g, permute(b, dims=(1, 0, 2)), c)

    def grad_b(g, a, c, b_shape):
        pairs = g.reshape((*g.shape, 1)) * a.reshape((a.shape[0], 1, a.shape[1]))
        return (swapped(pairs.reshape((a.shape[0], b_shape[0] * b_shape[1]))) @ c).reshape(b_shape)

    def grad_c(g, a, b):
        return trilinear(a, permute(b, dims=(2, 1, 0)), g)


@autocasts("bilinear")
def bilinear(input1, input2, weight, bias=None):
    """input1 @ weight[k] @ input2 for every output k.  weight: (out, in1, in2)."""
    if weight.dim() < 3:
        raise IndexError(f"bilinear(): expected a weight of 3 dimensions, (out, in1, in2), got {list(weight.shape)}.")
    if input1.shape[:-1] != input2.shape[:-1] or (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise RuntimeError(
            f"bilinear(): expected inputs (..., in1) and (..., in2) for a weight (out, in1, in2), but got "
            f"{list(input1.shape)}, {list(input2.shape)} and {list(weight.shape)}."
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {list(bias.shape)}, expected ({weight.shape[0]},)."
        )
    rows = (x.reshape(shapes.numel(x.shape[:-1]), x.shape[-1]) for x in (input1, input2))
    out = trilinear.function(next(rows), weight, next(rows)).reshape(*input1.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias


nn_functions["linear"] = linear
functions["bilinear"] = nn_functions["bilinear"] = explained(bilinear)
