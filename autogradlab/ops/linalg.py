"""Products of matrices and vectors.  Half precision goes through a float32 product and is rounded once."""

from autogradlab import shapes
from autogradlab.convert import autocasts
from autogradlab.dispatch import NOTHING, call_pair
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from .kinds import need_tensors, not_bool
from .out import takes_out
from .reduce import sum as total
from .shape import unsafe_view

product = {"promote": False, "same_dtype": True, "accepts": not_bool}


def refuse(name: str, wanted: str, *tensors):
    given = " and ".join(str(tuple(t.shape)) for t in tensors)
    raise RuntimeError(
        f"{name}: mat1 and mat2 shapes cannot be multiplied, or have the wrong size: got {given}, expected {wanted}."
    )


def summed(g, shape):
    """A product's gradient summed over the batch dimensions that broadcasting repeated."""
    dims = shapes.summed_dims(tuple(g.shape), tuple(shape))
    return total(g, dim=dims, keepdim=True).reshape(tuple(shape)) if dims else g


def swapped(a):
    """The last two dimensions swapped; raw arrays and tensors alike."""
    return a.swapaxes(-2, -1)


def laid_out_product(a, b, stride):
    """a @ b, the gradient of a matrix of that stride: column by column where that one is, so that the gradient of a
    transposed weight is contiguous behind the transpose.  (PyTorch does the same.)
    """
    return swapped(swapped(b) @ swapped(a)) if stride[0] == 1 and stride[1] != 1 else a @ b


@operator(
    node="MmBackward0",
    **product,
    samples=lambda make: [((make(2, 3), make(3, 4)), {}), ((make.strided(4, 2), make(2, 0)), {})],
)
class mm:
    """The product of two matrices: (n, k) by (k, m) gives (n, m).  (D1 1.3, D3 2.2)"""

    def arguments(input, mat2):
        if input.dim() != 2 or mat2.dim() != 2 or input.shape[1] != mat2.shape[0]:
            refuse("mm", "(n, k) and (k, m)", input, mat2)
        return (input, mat2), NOTHING

    def kernel(xp, a, b, /):
        return xp.matmul(a, b)

    def grad_a(g, b, a_stride):
        return laid_out_product(g, swapped(b), a_stride)

    def grad_b(g, a, b_stride):
        return laid_out_product(swapped(a), g, b_stride)


@operator(**product, samples=lambda make: [((make(2, 2, 3), make(2, 3, 4)), {})])
class bmm:
    """The products of two batches of matrices: (b, n, k) by (b, k, m) gives (b, n, m)."""

    def arguments(input, mat2):
        a, b = input.shape, mat2.shape
        if len(a) != 3 or len(b) != 3 or a[0] != b[0] or a[2] != b[1]:
            refuse("bmm", "batch1 and batch2 must be 3D tensors: (b, n, k) and (b, k, m)", input, mat2)
        return (input, mat2), NOTHING

    def kernel(xp, a, b, /):
        return xp.matmul(a, b)

    def grad_a(g, b):
        return g @ swapped(b)

    def grad_b(g, a):
        return swapped(a) @ g


@operator(**product, samples=lambda make: [((make(2, 3), make(3)), {})])
class mv:
    """A matrix by a vector: (n, k) by (k,) gives (n,)."""

    def arguments(input, vec):
        if input.dim() != 2 or vec.dim() != 1 or input.shape[1] != vec.shape[0]:
            refuse("mv", "(n, k) and (k,)", input, vec)
        return (input, vec), NOTHING

    def kernel(xp, a, b, /):
        return xp.matmul(a, b)

    def grad_a(g, b):
        return g.reshape((-1, 1)) * b

    def grad_b(g, a):
        return swapped(a) @ g


@operator(**product, samples=lambda make: [((make(3), make(3)), {})])
class dot:
    """The sum of the products of two vectors' elements."""

    def arguments(input, tensor):
        need_tensors("dot", input=input, tensor=tensor)
        if input.dim() != 1 or tensor.dim() != 1:
            raise RuntimeError(f"1D tensors expected, but got {input.dim()}D and {tensor.dim()}D tensors.")
        if input.shape != tensor.shape:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor {list(input.shape)} and src {list(tensor.shape)} to have "
                f"the same number of "
                "elements."
            )
        return (input, tensor), NOTHING

    def kernel(xp, a, b, /):
        return xp.matmul(a, b)

    def grad_a(g, b):
        return g * b

    def grad_b(g, a):
        return g * a


def _batched_samples(make):
    yield (make(5, 2, 3), make(3, 4)), {}
    yield (make(2, 3), make(5, 3, 4)), {}
    yield (make(5, 1, 2, 3), make(4, 3, 2)), {}
    yield (make(4, 2, 3), make(3)), {}
    yield (make(3), make(4, 3, 2)), {}


@operator(node="UnsafeViewBackward0", **product, public=(), samples=_batched_samples)
class matmul_batched:
    """matmul where one operand has more than two dimensions: the others broadcast."""

    def kernel(xp, a, b, /):
        return xp.matmul(a, b)

    def grad_a(g, b, a_shape, b_shape):
        g, a_rows = (g, a_shape) if len(a_shape) > 1 else (_row(g), (1, *a_shape))
        g, b = (g, b) if len(b_shape) > 1 else (_column(g), _column(b))
        return summed(g @ swapped(b), (*a_rows[:-2], *a_rows[-2:])).reshape(a_shape)

    def grad_b(g, a, a_shape, b_shape):
        g, a = (g, a) if len(a_shape) > 1 else (_row(g), _row(a))
        g, columns = (g, b_shape) if len(b_shape) > 1 else (_column(g), (*b_shape, 1))
        return summed(swapped(a) @ g, columns).reshape(b_shape)


def _row(a):
    """A vector (or batch of them) as matrices of one row."""
    return a.reshape((*a.shape[:-1], 1, a.shape[-1]))


def _column(a):
    """A vector (or batch of them) as matrices of one column."""
    return a.reshape((*a.shape, 1))


def matmul(input, other, *, out=None):
    """The matrix product: vectors, matrices, and batches of matrices that broadcast.  (D1 1.3)

    (n, k) @ (k, m) -> (n, m); (n, k) @ (k,) -> (n,); (k,) @ (k, m) -> (m,); (k,) @ (k,) -> ().
    """
    if not isinstance(other, Tensor) or not isinstance(input, Tensor):
        raise TypeError(f"matmul(): argument 'other' must be Tensor, not {type(other).__name__}.")
    a, b = tuple(input.shape), tuple(other.shape)
    if not a or not b:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D.")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        refuse("matmul", f"a second operand with {a[-1]} rows", input, other)
    if len(a) == 2 and len(b) == 2:
        return call_pair(mm, input, other) if out is None else mm.function(input, other, out=out)
    if len(b) == 1 and len(a) <= 2:
        return _times_vector(input, other, out=out)
    if len(a) == 1 and len(b) == 2:
        return mm.function(input.unsqueeze(0), other).squeeze(0)
    if len(a) >= 3 and len(b) <= 2 and (other.requires_grad or input.is_contiguous()):
        flat = input.reshape(shapes.numel(a[:-1]), a[-1])  # one large product instead of many small ones
        out = unsafe_view.function((mm if len(b) == 2 else mv).function(flat, other), (*a[:-1], *b[1:]))
        out._view = None  # nobody else reads that product
        return out
    shapes.broadcast_shapes(a[:-2], b[:-2])
    return call_pair(matmul_batched, input, other) if out is None else matmul_batched.function(input, other, out=out)


@autocasts("matmul")
def _times_vector(input, other, *, out=None):
    """A vector or matrix times a vector: under autocast a matmul, where mv and dot by name are left alone."""
    return (dot if input.dim() == 1 else mv).function(input, other, out=out)


public(matmul, also_method=True)
method(lambda self, other: matmul(self, other) if isinstance(other, Tensor) else NotImplemented, "__matmul__")


def _addmm_samples(make):
    yield (make(4), make(2, 3), make(3, 4)), {}
    yield (make(2, 4), make(2, 3), make(3, 4)), {"beta": 0.5, "alpha": 2}


@operator(**product, in_place=True, samples=_addmm_samples)
class addmm:
    """beta * input + alpha * (mat1 @ mat2), in one operation."""

    def arguments(input, mat1, mat2, *, beta=1, alpha=1):
        if mat1.dim() != 2 or mat2.dim() != 2 or mat1.shape[1] != mat2.shape[0]:
            refuse("addmm", "(n, k) and (k, m)", mat1, mat2)
        shapes.broadcast_shapes(tuple(input.shape), (mat1.shape[0], mat2.shape[1]))
        return (input, mat1, mat2), {"beta": beta, "alpha": alpha}

    def kernel(xp, a, b, c, /, beta, alpha):
        out = xp.matmul(b, c)
        if alpha != 1:
            out *= out.dtype.type(alpha)
        if beta != 0:
            out += a if beta == 1 else a * a.dtype.type(beta)
        return out

    def grad_a(g, beta):
        return g if beta == 1 else g * beta

    def grad_b(g, c, alpha, b_stride):
        return laid_out_product(g if alpha == 1 else g * alpha, swapped(c), b_stride)

    def grad_c(g, b, alpha, c_stride):
        return laid_out_product(swapped(b), g if alpha == 1 else g * alpha, c_stride)


@operator(**product, in_place=True,
          samples=lambda make: [((make(4), make(2, 2, 3), make(2, 3, 4)), {"beta": 0.5, "alpha": 2})])  # fmt: skip
class baddbmm:
    """beta * input + alpha * (batch1 @ batch2), batch by batch, in one operation."""

    def arguments(input, batch1, batch2, *, beta=1, alpha=1):
        if batch1.dim() != 3 or batch2.dim() != 3:
            raise RuntimeError(f"baddbmm: expected 3D tensors: got {batch1.dim()}D and {batch2.dim()}D.")
        if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
            refuse("baddbmm", "(b, n, k) and (b, k, m)", batch1, batch2)
        shapes.expand(tuple(input.shape), input.stride(), (*batch1.shape[:2], batch2.shape[2]))
        return (input, batch1, batch2), {"beta": beta, "alpha": alpha}

    kernel, grad_a, grad_b, grad_c = (vars(addmm.block)[n] for n in ("kernel", "grad_a", "grad_b", "grad_c"))


def outer(input, vec2):
    """All products of an element of one vector with one of the other: (n,) and (m,) give (n, m)."""
    need_tensors("outer", input=input, vec2=vec2)
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D.")
    return input.reshape(-1, 1) * vec2


def inner(input, other):
    """The dot products along the last dimensions."""
    need_tensors("inner", input=input, other=other)
    if not input.dim() or not other.dim():
        return input * other
    out = matmul(input.reshape(-1, input.shape[-1]), other.reshape(-1, other.shape[-1]).t())
    return out.reshape(*input.shape[:-1], *other.shape[:-1])


public(outer, also_method=True, around=takes_out)
alias("ger", "outer")
public(inner, also_method=True, around=takes_out)
