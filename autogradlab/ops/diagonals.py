"""Diagonals and triangles of matrices: diagonal, diag, diag_embed, trace, tril, triu."""

from operator import index as operator_index

from autogradlab import dtypes, shapes
from autogradlab.dispatch import NOTHING
from autogradlab.table import operator, public
from autogradlab.tensor import Tensor

from .kinds import not_bool
from .out import takes_out
from .shape import expand, reshape


@operator(samples=lambda make: [((make(3, 4),), {}), ((make(3, 4), 1), {}), ((make(2, 3, 3), -1, 1, 2), {})])
class diagonal:
    """The elements whose indices in two dimensions differ by `offset`, as a new last dimension; a view."""

    def arguments(input, offset=0, dim1=0, dim2=1):
        return (input,), {"diagonal": operator_index(offset), "dim1": dim1, "dim2": dim2}

    def kernel(xp, a, /, diagonal, dim1, dim2):
        return xp.diagonal(a, offset=diagonal, axis1=dim1, axis2=dim2)

    def geometry(shape, stride, offset, diagonal, dim1, dim2):
        d1, d2 = shapes.wrap_dim(dim1, len(shape)), shapes.wrap_dim(dim2, len(shape))
        if d1 == d2:
            raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}.")
        length = max(0, min(shape[d1] + min(diagonal, 0), shape[d2] - max(diagonal, 0)))
        start = max(diagonal, 0) * stride[d2] - min(diagonal, 0) * stride[d1] if length else 0
        keep = [d for d in range(len(shape)) if d not in (d1, d2)]
        size = (*(shape[d] for d in keep), length)
        return size, (*(stride[d] for d in keep), stride[d1] + stride[d2]), offset + start

    def grad_a(g, a_shape, diagonal, dim1, dim2):
        return diagonal_backward(g, a_shape, diagonal, dim1, dim2)


@operator(moves=True, promote=False, public=(), samples=lambda make: [((make(3), (3, 4), 1, 0, 1), {})])
class diagonal_backward:
    """Zeros, with g on a diagonal."""

    def arguments(input, shape, offset, dim1, dim2):
        return (input,), {"shape": shape, "offset": offset, "dim1": dim1, "dim2": dim2}

    def kernel(xp, a, /, shape, offset, dim1, dim2):
        whole = xp.zeros(shape, a.dtype)
        n = a.shape[-1]
        rows, columns = xp.arange(n) - min(offset, 0), xp.arange(n) + max(offset, 0)
        last = whole.transpose(
            [d for d in range(len(shape)) if d not in (dim1 % len(shape), dim2 % len(shape))] + [dim1, dim2]
        )
        last[..., rows, columns] = a
        return whole

    def grad_a(g, offset, dim1, dim2):
        return diagonal(g, offset, dim1, dim2)


def _on_diagonals(make):
    yield (make(3),), {}
    yield (make(2, 3), -1, 0, 2), {}


@operator(moves=True, samples=_on_diagonals)
class diag_embed:
    """Matrices with the last dimension on their diagonals, zeros elsewhere."""

    def arguments(input, offset=0, dim1=-2, dim2=-1):
        n = input.dim() + 1
        first, second = shapes.wrap_dim(dim1, n), shapes.wrap_dim(dim2, n)
        if first == second:
            raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}.")
        shape = list(input.shape[:-1])
        for d in sorted((first, second)):
            shape.insert(d, input.shape[-1] + abs(offset))
        return (input,), {"shape": tuple(shape), "offset": offset, "dim1": first, "dim2": second}

    kernel = diagonal_backward.block.kernel

    def grad_a(g, offset, dim1, dim2):
        return (
            diagonal(g, offset, dim1, dim2)
            if isinstance(g, Tensor)
            else diagonal(g, diagonal=offset, dim1=dim1, dim2=dim2)
        )


@operator(node="DiagonalBackward0_copy", moves=True, public=(), samples=lambda make: [((make(3, 4), 1), {})])
class diagonal_copy:
    """A diagonal that is no view: what diag() returns."""

    arguments = diagonal.block.arguments

    def kernel(xp, a, /, diagonal, dim1, dim2):
        return xp.diagonal(a, offset=diagonal, axis1=dim1, axis2=dim2).copy()

    grad_a = diagonal.block.grad_a


def diagflat(input, offset=0):
    """A matrix with all elements on its diagonal."""
    return diag_embed.function(reshape(input, (-1,)), offset)


def diag(input, diagonal=0):
    """A matrix with a vector on its diagonal; or the diagonal of a matrix, copied."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D.")
    return (diag_embed if input.dim() == 1 else diagonal_copy).function(input, diagonal, 0, 1)


public(diag, also_method=True, around=takes_out)
public(diagflat, also_method=True)


def _triangle(name: str, says: str):
    """tril and triu: the gradient is zero where the result is."""

    def arguments(input, diagonal=0):
        return (_matrices(name, input),), {"diagonal": diagonal}

    def kernel(xp, a, /, diagonal=0):
        return xp.ascontiguousarray(getattr(xp, name)(a, diagonal))

    def grad_a(g, diagonal):
        return op(g, diagonal)

    def samples(make):
        yield (make(3, 4),), {}
        yield (make(3, 3), 1), {}
        yield (make(2, 3, 3), -1), {}

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": grad_a}
    op = operator(moves=True, in_place=True, samples=samples)(type(name, (), block))
    return op


tril = _triangle("tril", "The lower triangle of a matrix; zeros above the given diagonal.")
triu = _triangle("triu", "The upper triangle of a matrix; zeros below the given diagonal.")


def _matrices(name: str, input):
    if input.dim() < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions: it has {input.dim()}.")
    return input


@operator(result=dtypes.of_sum, accepts=not_bool, samples=lambda make: [((make(3, 4),), {}), ((make(2, 2),), {})])
class trace:
    """The sum of a matrix' diagonal."""

    def arguments(input):
        if input.dim() != 2:
            raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}.")
        return (input,), NOTHING

    def kernel(xp, a, /):
        return xp.sum(xp.diagonal(a))

    def grad_a(g, a_shape):
        return diagonal_backward(expand(g, size=(min(a_shape),)), a_shape, 0, 0, 1)
