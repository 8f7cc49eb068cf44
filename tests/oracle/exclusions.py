"""What is left out of the comparison with PyTorch's samples, each with its reason.

A reason is for an operator (by name, `*` for any), a form ("function", "grad", "second", "method", "in-place", "error",
or "*") and, where only some samples are meant, a condition.  At most a tenth of an operator's samples may be left out.
"""

from fnmatch import fnmatch
from typing import NamedTuple

import torch

# Values are drawn from another generator, so only shapes, dtypes and strides can agree.
RANDOM = {
    "bernoulli", "empty", "empty_like", "empty_strided", "exponential", "geometric", "multinomial", "new_empty",
    "new_empty_strided", "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.multi_head_attention_forward", "normal", "normal.in_place",
    "nn.functional.feature_alpha_dropout.with_train", "normal.number_mean", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "randperm", "uniform",
}  # fmt: skip


def random(case) -> bool:
    """Whether a case draws random numbers."""
    name = f"{case.op.name}.{case.op.variant_test_name}".rstrip(".")
    return name in RANDOM or case.sample.kwargs.get("dropout_p", 0) > 0


class Exclusion(NamedTuple):
    operator: str
    form: str
    reason: str
    when: object = lambda case: True


def half(case) -> bool:
    return case.dtype in (torch.bfloat16, torch.float16)


def has_out(case) -> bool:
    return "out" in case.sample.kwargs


def many_dims(case) -> bool:
    return isinstance(case.sample.input, torch.Tensor) and case.sample.input.dim() > 64


EXCLUDED = [
    *(
        Exclusion(name, "error", "out= that shares memory with an input, or of several results", has_out)
        for name in "aminmax arange bernoulli cat gather kthvalue masked_select multinomial take".split()
    ),
    Exclusion("*", "error", "NumPy has no arrays of more than 64 dimensions, and says so", many_dims),
    Exclusion("__r*__", "error", "the message of Python's own method call", lambda case: True),
    Exclusion("sort", "grad", "equal elements: which of them gets the gradient is not promised", half),
    Exclusion("msort", "grad", "equal elements: which of them gets the gradient is not promised", half),
    Exclusion("topk", "grad", "equal elements: which of them gets the gradient is not promised", half),
    Exclusion("mode", "grad", "equal elements: which of them gets the gradient is not promised", half),
    Exclusion("linspace*", "function", "PyTorch counts in bfloat16, step by step", half),
    Exclusion("histc", "*", "PyTorch compares in bfloat16, autogradlab in float64", half),
    Exclusion("corrcoef", "grad", "the true gradient is 0: what is left is rounding", half),
    Exclusion("logcumsumexp", "grad", "values of 10,000 beside others, in bfloat16", half),
    Exclusion("nn.functional.hinge_embedding_loss", "function", "a sum that cancels, in bfloat16", half),
    Exclusion("as_strided.partial_views", "grad", "a storage read beyond the tensor is not widened", half),
    Exclusion(
        "linalg.solve", "function", "strides: PyTorch turns a batch of vectors over",
        lambda case: case.args[1].dim() == case.args[0].dim() - 1,
    ),
]  # fmt: skip


def reason(case, form: str) -> str | None:
    """Why a form of a case is left out; None if it is not."""
    name = f"{case.op.name}.{case.op.variant_test_name}".rstrip(".")
    for e in EXCLUDED:
        if fnmatch(name, e.operator) and e.form in (form, "*") and e.when(case):
            return e.reason
    return None
