"""Linear maps as layers have them: the weight's rows are outputs."""

from autogradlab.dispatch import call
from autogradlab.table import functions, nn_functions
from autogradlab.tensor import Tensor

from .linalg import addmm, matmul

PLAIN = {"beta": 1, "alpha": 1}


def linear(input, weight, bias=None):
    """input @ weight.T + bias.  input: (..., in); weight: (out, in); bias: (out,).  (D1 1.3)"""
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        wrong, name = (input, "input") if not isinstance(input, Tensor) else (weight, "weight")
        raise TypeError(f"linear(): argument '{name}' must be Tensor, not {type(wrong).__name__}.")
    transposed = weight.t()
    if bias is None:
        return matmul(input, transposed)
    shape = input.shape
    if len(shape) == 2:
        if weight.dim() == 2 and shape[1] == weight.shape[1] and tuple(bias.shape) == (weight.shape[0],):
            return call(addmm, (bias, input, transposed), PLAIN)
        return addmm.function(bias, input, transposed)  # which says what is wrong
    if not input.is_contiguous() or not shape:
        return matmul(input, transposed) + bias
    rows = input.view(shape.numel() // max(shape[-1], 1) if shape[-1] else -1, shape[-1])
    return addmm.function(bias, rows, transposed).view(*shape[:-1], weight.shape[0])


def bilinear(input1, input2, weight, bias=None):
    """input1 @ weight[k] @ input2 for every output k.  weight: (out, in1, in2)."""
    if input1.shape[:-1] != input2.shape[:-1] or (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise RuntimeError(
            f"bilinear(): expected inputs (..., in1) and (..., in2) for a weight (out, in1, in2), but got "
            f"{list(input1.shape)}, {list(input2.shape)} and {list(weight.shape)}."
        )
    lead, outputs = input1.shape[:-1], weight.shape[0]
    left = matmul(input1.reshape(-1, input1.shape[-1]), weight.permute(1, 0, 2).reshape(weight.shape[1], -1))
    out = (left.view(-1, outputs, weight.shape[2]) * input2.reshape(-1, 1, input2.shape[-1])).sum(-1)
    out = out.view(*lead, outputs)
    return out if bias is None else out + bias


nn_functions["linear"] = linear
functions["bilinear"] = nn_functions["bilinear"] = bilinear
