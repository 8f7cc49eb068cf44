"""Sample inputs: what each operator is tested with, made when asked for.

A sample function takes `make`, which makes tensors, and yields (args, kwargs).  `make(3, 4)` is a float tensor of
random values between -2 and 2; `make(3, low=0.1, high=2)` narrows them; `make.ints(0, 3, (2,))` and `make.bools(2, 3)`
make others; `make.strided(3, 4)` is not contiguous.
"""


def unary(make):
    yield (make(3, 4),), {}
    yield (make(),), {}
    yield (make(0, 3),), {}
    yield (make.strided(4, 3),), {}


def between(low, high):
    """Unary samples with values in a range: for functions with an edge."""

    def samples(make):
        yield (make(3, 4, low=low, high=high),), {}
        yield (make(low=low, high=high),), {}
        yield (make(2, 0, low=low, high=high),), {}

    return samples


positive = between(0.2, 2.0)


def pairs(make, low=-2.0, high=2.0):
    """Two operands: same shape, broadcast both ways, 0-d, empty, not contiguous."""
    for a, b in (((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((0, 3), (3,))):
        yield (make(*a, low=low, high=high), make(*b, low=low, high=high)), {}
    yield (make.strided(4, 3, low=low, high=high), make(4, 3, low=low, high=high)), {}


def alike(make):
    """Two operands of one shape."""
    for shape in ((3, 4), (), (0, 2)):
        yield (make(*shape), make(*shape)), {}


def positive_pairs(make):
    yield from pairs(make, 0.3, 2.0)


def with_number(make):
    """Pairs, and a Python number as the second operand."""
    yield from positive_pairs(make)
    yield (make(2, 3), 1.5), {}
    yield (make(2, 3), 2), {}


def int_pairs(make):
    yield (make.ints(0, 7, (2, 3)), make.ints(1, 7, (3,))), {}


def dims(make):
    """Reductions: everything, one dimension, several, kept."""
    yield (make(3, 4),), {}
    yield (make(),), {}
    yield (make(2, 3, 4),), {"dim": 1}
    yield (make(2, 3, 4),), {"dim": -1, "keepdim": True}
    yield (make(2, 3, 4),), {"dim": (0, 2)}
    yield (make.strided(4, 3),), {"dim": 0}


def one_dim(make):
    """Reductions along one dimension only."""
    yield (make(3, 4),), {"dim": 0}
    yield (make(2, 3, 4),), {"dim": 1, "keepdim": True}
    yield (make.strided(4, 3),), {"dim": -1}


def unary_full(make):
    """Unary samples with at least one element."""
    yield (make(3, 4),), {}
    yield (make(),), {}
    yield (make.strided(4, 3),), {}
