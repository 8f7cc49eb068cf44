"""Softmax and its logarithm, computed without overflow: the largest element is taken off first."""

from autogradlab import shapes
from autogradlab.table import operator
from autogradlab.tensor import Tensor

from .contract import dot
from .elementary import exp
from .kinds import floating, in_order
from .reduce import sum


def _arguments(input, dim, dtype=None):
    return (input if dtype is None else input.to(dtype),), {"dim": shapes.wrap_dim(dim, input.dim())}


def _samples(make):
    yield (make(3, 4), 0), {}
    yield (make(2, 3, 4), 1), {}
    yield (make.strided(4, 3), -1), {}
    yield (make(), 0), {}


def _shifted(xp, a, dim):
    if not a.ndim:
        return xp.zeros_like(a)
    return a - xp.max(a, axis=dim, keepdims=True) if a.size else a.copy()


@operator(accepts=floating, samples=_samples)
class softmax:
    """exp(x) over the sum of exp(x) along dim: positive, and 1 in all.  A row of -inf gives nan.  (D1 4.2)"""

    arguments = _arguments

    def kernel(xp, a, /, dim):
        a = in_order(xp, a)
        out = _shifted(xp, a, dim)
        if not a.ndim:
            return out + 1
        out = xp.exp(out, out=out)
        out /= xp.sum(out, axis=dim, keepdims=True)
        return out

    def grad_a(g, result, dim):
        if not g.ndim:
            return g * 0
        out = g - dot(g, result, (dim,))
        if isinstance(out, Tensor):
            return out * result
        out *= result
        return out


@operator(accepts=floating, samples=_samples)
class log_softmax:
    """log(softmax(x)) along dim, exact where softmax itself would round to 0."""

    arguments = _arguments

    def kernel(xp, a, /, dim):
        a = in_order(xp, a)
        shifted = _shifted(xp, a, dim)
        return shifted - xp.log(xp.sum(xp.exp(shifted), axis=dim, keepdims=True)) if a.ndim else shifted

    def grad_a(g, result, dim):
        return g - exp(result) * (sum(g, dim=(dim,), keepdim=True) if g.ndim else g)
