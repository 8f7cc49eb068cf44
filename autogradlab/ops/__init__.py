"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.
"""

from . import (
    compare,
    copy,
    create,
    elementary,
    gather,
    index,
    join,
    linalg,
    order,
    pointwise,
    random,
    reduce,
    shape,
    slices,
    softmax,
)

__all__ = [
    "compare", "copy", "create", "elementary", "gather", "index", "join", "linalg", "order", "pointwise", "random",
    "reduce", "shape", "slices", "softmax",
]  # fmt: skip
