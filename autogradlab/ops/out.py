"""out= for functions that are made of several operators: the result is copied into the tensor given.

`public(fn, around=takes_out)` gives it to the function, and not to the method.
"""

from functools import wraps

from autogradlab.dispatch import call_out
from autogradlab.table import operator

from . import samples
from .copy import clone


@operator(moves=True, public=(), samples=samples.unary)
class out_:
    """What is written: a copy."""

    kernel, grad_a = clone.block.kernel, clone.block.grad_a


def takes_out(fn):
    """A function with out=, which takes the shape of the result and keeps its dtype, as an operator's."""

    @wraps(fn)
    def face(*args, out=None, **kwargs):
        made = fn(*args, **kwargs)
        return made if out is None else call_out(out_, out, (made,))

    return face
