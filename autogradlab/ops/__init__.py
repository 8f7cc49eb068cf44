"""The operators: one block each, in one place.  A block says what it computes, how it differentiates and what it is tested with."""

from . import elementary, pointwise, compare, copy, shape, create, slices, join, index, gather, reduce, order, linalg, softmax, random  # noqa: F401, I001
