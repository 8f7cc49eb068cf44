"""What is left out of the comparison with PyTorch's samples, each with its reason.

A reason is for an operator (by name, `*` for any), a form ("function", "grad", "second", "method", "in-place", "error",
or "*") and, where only some samples are meant, a condition.  At most a tenth of an operator's samples may be left out.
"""

from fnmatch import fnmatch
from typing import NamedTuple

# Values are drawn from another generator, so only shapes, dtypes and strides can agree.
RANDOM = {
    "bernoulli", "empty", "empty_like", "empty_strided", "exponential", "geometric", "multinomial", "new_empty",
    "new_empty_strided", "nn.functional.alpha_dropout", "nn.functional.dropout", "normal", "normal.in_place",
    "nn.functional.feature_alpha_dropout.with_train", "normal.number_mean", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "randperm", "uniform",
}  # fmt: skip


class Exclusion(NamedTuple):
    operator: str
    form: str
    reason: str
    when: object = lambda case: True


EXCLUDED = []


def reason(case, form: str) -> str | None:
    """Why a form of a case is left out; None if it is not."""
    name = f"{case.op.name}.{case.op.variant_test_name}".rstrip(".")
    for e in EXCLUDED:
        if fnmatch(name, e.operator) and e.form in (form, "*") and e.when(case):
            return e.reason
    return None
