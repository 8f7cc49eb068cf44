"""out= for functions that are made of several operators, or have several results: these are copied into what is given.

`public(fn, around=takes_out)` gives it to the function, and not to the method.
"""

from functools import wraps

from autogradlab.dispatch import call_out
from autogradlab.table import functions, operator
from autogradlab.tensor import Tensor

from . import samples
from .copy import clone


@operator(moves=True, public=(), samples=samples.unary)
class out_:
    """What is written: a copy."""

    kernel, grad_a = clone.block.kernel, clone.block.grad_a


def takes_out(fn):
    """A function with out=, which takes the shape of the result and keeps its dtype, as an operator's.

    Of several results each has a tensor of its own, of the result's dtype.
    """

    @wraps(fn)
    def face(*args, out=None, **kwargs):
        made = fn(*args, **kwargs)
        if out is None or isinstance(made, Tensor):
            return made if out is None else call_out(out_, out, (made,))
        if not isinstance(out, (tuple, list)) or len(out) != len(made):
            raise TypeError(f"{fn.__name__}(): argument 'out' must be tuple of {len(made)} Tensors, one a result.")
        for given, result in zip(out, made, strict=True):
            if given._dtype is not result._dtype:
                raise RuntimeError(f"Expected out tensor to have dtype {result._dtype}, but got {given._dtype}.")
        return type(made)(*(call_out(out_, given, (result,)) for given, result in zip(out, made, strict=True)))

    return face


def take_outs(*several) -> None:
    """out= for the functions of operators with several results."""
    for op in several:
        functions[op.name] = takes_out(functions.pop(op.name))
