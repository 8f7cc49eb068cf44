"""torch.linalg: what solves, decomposes and measures matrices.  The operators are in ops/decompose.py."""

import math

from . import errors, shapes
from .convert import autocasts
from .ops.decompose import (
    LinAlgError,
    linalg_cholesky,
    linalg_det,
    linalg_inv,
    linalg_qr,
    linalg_slogdet,
    linalg_solve,
    linalg_svd,
    squares,
)
from .ops.diagonals import diag_embed
from .ops.diagonals import diagonal as _diagonal
from .ops.linalg import matmul
from .ops.products import linalg_cross, multi_dot
from .ops.products import vander as _vander
from .ops.reduce import norm as _norm
from .table import public
from .tensor import Tensor

__all__ = [
    "LinAlgError", "cholesky", "cross", "det", "diagonal", "inv", "matmul", "matrix_norm", "matrix_power",
    "multi_dot", "norm", "qr", "slogdet", "solve", "svdvals", "vander", "vecdot", "vector_norm",
]  # fmt: skip


def _out(made, out):
    """The result, or the tensor given as out= with its values."""
    if out is None:
        return made
    if out.shape == made.shape:
        return out.copy_(made)
    out.data = made
    return out


# Solving and decomposing ----------------------------------------------------------------------------------------------


@autocasts("inv")
def inv(A, *, out=None):
    """The inverse of a square matrix, or of each of a batch."""
    return linalg_inv.function(A, out=out)


@autocasts("solve")
def solve(A, B, *, left=True, out=None):
    """The X with A @ X = B (X @ A = B if not left); B holds vectors if its shape is A's without the last dimension."""
    squares("linalg.solve", A)
    if not isinstance(B, Tensor):
        raise TypeError(f"linalg.solve(): argument 'B' must be Tensor, not {type(B).__name__}.")
    if A.dtype is not B.dtype:
        raise RuntimeError(f"linalg.solve: expected A and B to have the same dtype, but got {A.dtype} and {B.dtype}.")
    vector = B.dim() == 1 or A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1])
    if vector and not left:
        raise ValueError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.")
    right = B.unsqueeze(-1) if vector else B
    if not left:
        return solve(A.mT, right.mT).mT
    if right.dim() < 2 or A.shape[-1] != right.shape[-2]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B: {tuple(A.shape)}, {tuple(B.shape)}."
        )
    batch = shapes.broadcast_shapes(tuple(A.shape[:-2]), tuple(right.shape[:-2]))
    made = linalg_solve.function(A.expand(*batch, *A.shape[-2:]), right.expand(*batch, *right.shape[-2:]))
    return _out(made.squeeze(-1) if vector else made, out)


@autocasts("det")
def det(A, *, out=None):
    """The determinant."""
    return linalg_det.function(A, out=out)


@autocasts("slogdet")
def slogdet(A):
    """The determinant's sign and the logarithm of its size: (sign, logabsdet)."""
    return linalg_slogdet.function(A)


@autocasts("cholesky")
def cholesky(A, *, upper=False, out=None):
    """The lower triangle L with L @ L.T = A (upper: the upper one)."""
    return linalg_cholesky.function(A, upper=upper, out=out)


@autocasts("qr")
def qr(A, mode="reduced"):
    """Q with orthonormal columns and an upper triangle R with Q @ R = A."""
    return linalg_qr.function(A, mode)


@autocasts("svdvals")
def svdvals(A, *, driver=None):
    """The singular values, from the largest down."""
    return linalg_svd.function(A)[1]


def matrix_power(A, n, *, out=None):
    """A multiplied by itself n times; the inverse's power where n is negative."""
    squares("linalg.matrix_power", A)
    if n < 0:
        A, n = inv(A), -n
    made = None
    while n:  # by squares
        if n & 1:
            made = A if made is None else made @ A
        n >>= 1
        A = A @ A if n else A
    if made is None:
        return A.clone().copy_(diag_embed(A.new_ones(A.shape[:-1])))
    return made.clone() if made is A else made


# Measuring ------------------------------------------------------------------------------------------------------------


@autocasts("vector_norm")
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The p-norm of the elements, of all or over dim, as of one vector."""
    if not x.dtype.is_floating_point:
        raise errors.wrong_dtype("linalg.vector_norm", "a floating point or complex tensor", x.dtype)
    return _norm.function(x, float(ord), dim, keepdim, dtype=dtype)


@autocasts("matrix_norm")
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """A norm of matrices: "fro", "nuc" (the sum of the singular values), 1 and inf (the largest column or row sum), 2
    (the largest singular value); with a minus, the smallest.
    """
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not A.dtype.is_floating_point:
        raise errors.wrong_dtype("linalg.matrix_norm", "a floating point or complex tensor", A.dtype)
    A = A if dtype is None else A.to(dtype)
    rows, columns = (shapes.wrap_dim(d, A.dim()) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}.")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        along, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = A.abs().sum(along, keepdim=True)
        made = sums.amax(other, keepdim=True) if ord > 0 else sums.amin(other, keepdim=True)
    elif ord in ("nuc", 2, -2):
        s = svdvals(A.movedim((rows, columns), (-2, -1)))
        made = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord > 0 else s.amin(-1)
        for d in sorted((rows, columns)):
            made = made.unsqueeze(d)
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return made if keepdim else made.squeeze((rows, columns))


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """vector_norm, or matrix_norm where two dims, or a matrix with an order, are given."""
    if ord is not None and (
        dim is not None and not isinstance(dim, int) and len(dim) == 2 or dim is None and A.dim() == 2
    ):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: Order {ord!r} is for matrices: got a tensor of {A.dim()} dimensions.")
    if ord is not None and dim is None and A.dim() not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D.")
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of three elements."""
    return linalg_cross(input, other, dim=dim)


def vander(x, N=None):
    """The powers of the last dimension's elements, from 0 on, as a new last dimension."""
    x = x if x.dim() else x.unsqueeze(0)
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError(f"N must be greater than 1: got {n}.")
    flat = _vander(x.reshape(-1), n, increasing=True)
    return flat.reshape(*x.shape, n)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices, as a view."""
    return _diagonal.function(A, offset, dim1, dim2)


def vecdot(x, y, *, dim=-1, out=None):
    """The dot products along a dimension."""
    return (x * y).sum(dim)


# The old names, without "linalg." -------------------------------------------------------------------------------------

public(lambda input: inv(input), "inverse", also_method=True)
public(lambda input: det(input), "det", also_method=True)
public(lambda input: slogdet(input), "slogdet", also_method=True)
public(lambda input, n: matrix_power(input, n), "matrix_power", also_method=True)


def logdet(input):
    """The logarithm of the determinant; nan where it is negative."""
    sign, size = slogdet(input)
    return size.masked_fill(sign < 0, math.nan) if bool((sign < 0).any()) else size


public(logdet, also_method=True)


def _torch_norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of the elements, of all or over dim; "nuc" is the matrix norm."""
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return _norm.function(input, 2 if p is None else p, dim, keepdim, dtype=dtype, out=out)


public(_torch_norm, "norm", also_method=True)
