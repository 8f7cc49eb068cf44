"""Linear algebra that solves and decomposes: inverse, determinant, Cholesky, QR, SVD.  (torch.linalg)

The formulas follow Giles, "An extended collection of matrix derivative results" (2008), as PyTorch's do.
"""

from autogradlab import errors
from autogradlab.dispatch import NOTHING
from autogradlab.size import return_type
from autogradlab.table import operator

from .choose import where
from .create import eye
from .diagonals import tril
from .elementary import zeros_like
from .join import cat
from .kinds import need_tensors, wide
from .linalg import swapped
from .reduce import sum

slogdet_result = return_type("linalg_slogdet", "sign logabsdet")
qr_result = return_type("linalg_qr", "Q R")
svd_result = return_type("linalg_svd", "U S Vh")


def squares(name: str, input, *, square: bool = True) -> None:
    """Refuse what is no batch of (square) matrices of floating point numbers."""
    need_tensors(name, A=input)
    if input.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions: got {input.dim()}.")
    if square and input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {input.shape[-2]} by {input.shape[-1]}."
        )
    if not input._dtype.is_floating_point or input._dtype.is_half:
        raise errors.wrong_dtype(name, "a float32 or float64 tensor", input._dtype)


class LinAlgError(RuntimeError):
    """A matrix that an algorithm cannot work on: singular, or not positive definite."""


def _solved(name: str, what: str, compute):
    """Run a kernel of linear algebra; a matrix that it cannot work on is said in PyTorch's terms."""
    try:
        return compute()
    except Exception as exc:
        if type(exc).__name__ != "LinAlgError":
            raise
        raise LinAlgError(f"{name}: {what}.") from None


SINGULAR = "The diagonal of U has a zero: the matrix is singular, and has no inverse"


def column_major(xp, a):
    """Matrices laid out column by column, as the library behind PyTorch returns them."""
    return swapped_copy(xp, a) if a.ndim >= 2 else a


def swapped_copy(xp, a):
    return xp.swapaxes(xp.ascontiguousarray(xp.swapaxes(a, -1, -2)), -1, -2)


def _square_samples(make):
    yield (make(3, 3) + make(3, 3) * 0 + _identity(make, 3),), {}
    yield (make(2, 2, 2) * 0.3 + _identity(make, 2),), {}


def _identity(make, n):
    like = make(1)
    return eye(n, dtype=like._dtype, device=like._device) * 3


@operator(node="LinalgInvExBackward0", public=(), accepts=wide, samples=lambda make: _square_samples(make))
class linalg_inv:
    """The inverse of a square matrix (or of each of a batch)."""

    def arguments(input):
        squares("linalg.inv", input)
        return (input,), NOTHING

    def kernel(xp, a, /):
        return column_major(xp, _solved("linalg.inv", SINGULAR, lambda: xp.linalg.inv(a)))

    def grad_a(g, result):
        across = swapped(result)
        return -(across @ g @ across)


def _solve_samples(make):
    for (a,), _ in _square_samples(make):
        yield (a, make(*a.shape[:-1], 2)), {}


@operator(node="LinalgSolveExBackward0", public=(), accepts=wide, samples=_solve_samples)
class linalg_solve:
    """The X with A @ X = B."""

    def arguments(A, B):
        return (A, B), NOTHING

    def kernel(xp, a, b, /):
        return column_major(xp, _solved("linalg.solve", SINGULAR, lambda: xp.linalg.solve(a, b)))

    def grad_a(g, a, result):
        return -(linalg_solve(swapped(a), g) @ swapped(result))

    def grad_b(g, a):
        return linalg_solve(swapped(a), g)


@operator(node="LinalgDetBackward0", public=(), accepts=wide, samples=lambda make: _square_samples(make))
class linalg_det:
    """The determinant of a square matrix (or of each of a batch)."""

    def arguments(A):
        squares("linalg.det", A)
        return (A,), NOTHING

    def kernel(xp, a, /):
        return xp.linalg.det(a)

    def grad_a(g, a):
        return _wide(g) * cofactors(a)


def _wide(g):
    """A number for each matrix of a batch, to multiply the matrix with."""
    return g.reshape((*g.shape, 1, 1))


@operator(public=(), accepts=wide, samples=lambda make: _square_samples(make))
class cofactors:
    """The derivative of the determinant by each element: what det * inverse, transposed, is, and right for singular
    matrices too.
    """

    def kernel(xp, a, /):
        u, s, vh = xp.linalg.svd(a)
        n = a.shape[-1]
        sign = xp.linalg.det(xp.matmul(u, vh)) if n else xp.ones(a.shape[:-2], a.dtype)
        others = [xp.prod(xp.where(xp.arange(n) == i, xp.ones_like(s), s), axis=-1) for i in range(n)]
        scaled = xp.stack(others, axis=-1) * sign.reshape((*sign.shape, 1)) if n else s
        return xp.matmul(u * scaled.reshape((*scaled.shape[:-1], 1, n)), vh)

    def grad_a(g, a, result):  # of det(A) * inv(A).T
        inverse = linalg_inv(a)
        across = swapped(inverse)
        inner = sum(swapped(inverse) * 0 + g * result, dim=(-2, -1), keepdim=True)
        return inner * across - across @ swapped(g) @ result


@operator(
    outputs=slogdet_result, multi_output=True, public=(), accepts=wide, samples=lambda make: _square_samples(make)
)
class linalg_slogdet:
    """The sign of the determinant and the logarithm of its size: (sign, logabsdet)."""

    def arguments(A):
        squares("linalg.slogdet", A)
        return (A,), NOTHING

    def kernel(xp, a, /):
        return tuple(xp.linalg.slogdet(a))

    def grads(gs, a):
        g = gs[1]
        return [None if g is None else _wide(g) * swapped(linalg_inv(a))]


@operator(node="LinalgCholeskyExBackward0", public=(), accepts=wide, samples=lambda make: [])
class linalg_cholesky:
    """The lower triangle L with L @ L.T = A, for a symmetric positive definite A (upper: its transpose)."""

    def arguments(A, *, upper=False):
        squares("linalg.cholesky", A)
        return (A,), {"upper": upper}

    def kernel(xp, a, /, upper):
        a = xp.swapaxes(a, -1, -2) if upper else a
        what = "The factorization could not be completed because the input is not positive-definite"
        made = _solved("linalg.cholesky", what, lambda: xp.linalg.cholesky(a))
        return column_major(xp, xp.swapaxes(made, -1, -2) if upper else made)

    def grad_a(g, result, upper):
        low, g = (swapped(result), swapped(g)) if upper else (result, g)
        inner = tril(swapped(low) @ g, diagonal=0)
        inner = (inner + swapped(tril(inner, diagonal=-1))) * 0.5
        inverse = linalg_inv(low)
        return swapped(inverse) @ inner @ inverse


@operator(
    outputs=qr_result,
    multi_output=True,
    public=(),
    accepts=wide,
    samples=lambda make: [((make(3, 3),), {}), ((make(4, 2),), {})],
)
class linalg_qr:
    """Q with orthonormal columns and an upper triangle R with Q @ R = A: (Q, R)."""

    def arguments(A, mode="reduced"):
        squares("linalg.qr", A, square=False)
        if mode not in ("reduced", "complete"):
            raise RuntimeError(f"qr received unrecognized mode {mode!r} but expected 'reduced' or 'complete'.")
        return (A,), {"mode": mode}

    def kernel(xp, a, /, mode):
        q, r = xp.linalg.qr(a, mode)
        return column_major(xp, q), column_major(xp, r)

    def grads(gs, Q, R, a_shape, mode):
        rows, columns = a_shape[-2:]
        if mode == "complete" and rows > columns:
            raise RuntimeError("linalg.qr: The derivative for mode='complete' is for matrices with rows <= columns.")
        g_q = zeros_like(Q) if gs[0] is None else gs[0]
        g_r = zeros_like(R) if gs[1] is None else gs[1]
        if rows < columns:  # A = Q @ [R1 | R2]: what is right of the square part is Q @ R2
            more, right = g_r[..., rows:], R[..., rows:]
            first = _qr_square(g_q + Q @ right @ swapped(more), g_r[..., :rows], Q, R[..., :rows])
            return [cat([first, Q @ more], dim=len(a_shape) - 1)]
        return [_qr_square(g_q, g_r, Q, R)]


def _qr_square(g_q, g_r, q, r):
    m = r @ swapped(g_r) - swapped(g_q) @ q
    inner = g_q + q @ (tril(m, diagonal=0) + swapped(tril(m, diagonal=-1)))
    return swapped(linalg_solve(r, swapped(inner)))


@operator(
    outputs=svd_result,
    multi_output=True,
    public=(),
    accepts=wide,
    samples=lambda make: [((make(3, 2),), {}), ((make(2, 2),), {})],
)
class linalg_svd:
    """U, the singular values S from the largest down, and Vh with U @ diag(S) @ Vh = A.  Signs are the library's."""

    def arguments(A):
        squares("linalg.svd", A, square=False)
        return (A,), NOTHING

    def kernel(xp, a, /):
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        return column_major(xp, u), s, vh

    def grads(gs, U, S, Vh, a_shape):
        k = S.shape[-1]
        row, column = S.reshape((*S.shape[:-1], 1, k)), S.reshape((*S.shape, 1))
        made = zeros_like(U @ Vh) if gs[1] is None else (U * gs[1].reshape(tuple(row.shape))) @ Vh
        if gs[0] is None and gs[2] is None:
            return [made]
        gap = row * row - column * column
        gap = where(gap == 0, zeros_like(gap) + float("inf"), gap)
        if gs[0] is not None:
            turn = swapped(U) @ gs[0]
            made = made + U @ ((turn - swapped(turn)) / gap * row) @ Vh
            if a_shape[-2] > k:
                made = made + ((gs[0] - U @ turn) / row) @ Vh
        if gs[2] is not None:
            turn = Vh @ swapped(gs[2])
            made = made + U @ (column * (turn - swapped(turn)) / gap) @ Vh
            if a_shape[-1] > k:
                made = made + (U / row) @ (gs[2] - swapped(turn) @ Vh)
        return [made]
