"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.
"""

from . import (
    activation,
    attention,
    choose,
    compare,
    contract,
    convolution,
    copy,
    create,
    dropout,
    elementary,
    embedding,
    extremes,
    gather,
    index,
    join,
    linalg,
    linear,
    loss,
    masks,
    normalization,
    order,
    padding,
    patches,
    pieces,
    pointwise,
    pooling,
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
    "activation", "attention", "choose", "compare", "contract", "convolution", "copy", "create", "dropout",
    "elementary", "embedding", "extremes", "gather", "index", "join", "linalg", "linear", "loss", "masks",
    "normalization", "order", "padding", "patches", "pieces", "pointwise", "pooling", "products", "random",
    "reduce", "rounding", "running", "scatter", "search", "shape", "slices", "softmax", "special", "statistics",
    "two_numbers",
]  # fmt: skip
