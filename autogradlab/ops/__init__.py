"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.
"""

from . import (
    activation,
    choose,
    compare,
    copy,
    create,
    elementary,
    extremes,
    gather,
    index,
    join,
    linalg,
    loss,
    masks,
    order,
    pointwise,
    random,
    reduce,
    rounding,
    running,
    shape,
    slices,
    softmax,
    two_numbers,
)

__all__ = [
    "activation", "choose", "compare", "copy", "create", "elementary", "extremes", "gather", "index", "join",
    "linalg", "loss", "masks", "order", "pointwise", "random", "reduce", "rounding", "running", "shape",
    "slices", "softmax", "two_numbers",
]  # fmt: skip
