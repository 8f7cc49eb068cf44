"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.  The operators of layers (attention,
convolution, dropout, embedding, linear, loss, normalization, padding, patches, pooling) are loaded with nn.functional.
"""

from . import (
    activation,
    choose,
    compare,
    contract,
    copy,
    create,
    elementary,
    extremes,
    gather,
    index,
    join,
    linalg,
    masks,
    order,
    persist,
    pieces,
    pointwise,
    products,
    random,
    reduce,
    rounding,
    running,
    scatter,
    search,
    shape,
    slices,
    softmax,
    special,
    statistics,
    two_numbers,
)

__all__ = [
    "activation", "choose", "compare", "contract", "copy", "create",
    "elementary", "extremes", "gather", "index", "join", "linalg", "masks",
    "order", "persist", "pieces", "pointwise", "products",
    "random", "reduce", "rounding", "running", "scatter", "search", "shape", "slices", "softmax", "special",
    "statistics", "two_numbers",
]  # fmt: skip
