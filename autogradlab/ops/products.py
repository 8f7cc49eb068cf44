"""Products of many kinds, made of matmul and views: einsum, tensordot, kron, cross, and the add... family."""

import math

from autogradlab import dtypes, shapes
from autogradlab.convert import autocasts, common_dtype
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from .copy import to
from .diagonals import diagonal
from .join import cat, roll, stack
from .kinds import need_tensors, numpy_words
from .linalg import bmm, dot, mm, refuse, swapped
from .out import takes_out
from .shape import broadcast_tensors, expand, permute, reshape

# The add... family ----------------------------------------------------------------------------------------------------


def _fused_sum(name: str, product, dims, grad_b, grad_c, says: str):
    """beta * input + alpha * product(a, b) as one operator.  A beta of 0 leaves the input out, nan and all."""

    def arguments(input, a, b, *, beta=1, alpha=1):
        if (a.dim(), b.dim()) != dims:
            raise RuntimeError(f"{name}: expected {dims[0]}D and {dims[1]}D tensors: got {a.dim()}D and {b.dim()}D.")
        if name != "addr" and (a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0] or dims[0] == 3 and len(a) != len(b)):
            refuse(name, "sizes that fit", a, b)
        whole = not input._dtype.is_floating_point
        if name == "addr" and whole and (isinstance(beta, float) or isinstance(alpha, float)):
            raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
        size = {"addmv": a.shape[:1], "addr": (*a.shape, *b.shape), "addbmm": (*a.shape[1:2], *b.shape[2:])}[name]
        shapes.expand(tuple(input.shape), input.stride(), size)
        number = bool if input._dtype is dtypes.bool_ else int if whole else float
        return (input, a, b), {"beta": number(beta), "alpha": number(alpha)}

    def kernel(xp, a, b, c, /, beta, alpha):
        out = product(xp, b, c) * a.dtype.type(alpha)
        return out + (a * a.dtype.type(beta) if beta else xp.zeros_like(a))

    def samples(make):
        sizes = {"addmv": (2, (2, 3), 3), "addr": ((2, 3), 2, 3), "addbmm": (4, (2, 2, 3), (2, 3, 4))}[name]
        yield tuple(make(*(n if isinstance(n, tuple) else (n,))) for n in sizes), {"beta": 0.5, "alpha": 2}

    block = {"__doc__": says, "arguments": arguments, "kernel": kernel, "grad_a": lambda g, beta: g * beta,
             "grad_b": grad_b, "grad_c": grad_c}  # fmt: skip
    return operator(promote=name == "addr", same_dtype=True, in_place=True, samples=samples)(type(name, (), block))


addmv = _fused_sum(
    "addmv", lambda xp, a, b: xp.matmul(a, b), (2, 1),
    lambda g, c, alpha: (g * alpha).reshape((-1, 1)) * c, lambda g, b, alpha: swapped(b) @ (g * alpha),
    "beta * input + alpha * (matrix @ vector).",
)  # fmt: skip
addr = _fused_sum(
    "addr", lambda xp, a, b: a.reshape((-1, 1)) * b, (1, 1),
    lambda g, c, alpha: g @ (c * alpha), lambda g, b, alpha: swapped(g) @ (b * alpha),
    "beta * input + alpha * outer(vector, vector).",
)  # fmt: skip
addbmm = _fused_sum(
    "addbmm", lambda xp, a, b: xp.sum(xp.matmul(a, b), axis=0, dtype=a.dtype), (3, 3),
    lambda g, c, alpha: (g * alpha) @ swapped(c), lambda g, b, alpha: swapped(b) @ (g * alpha),
    "beta * input + alpha * (batch1 @ batch2).sum(0).",
)  # fmt: skip
method(lambda self, *args, **kwargs: _resized(self, args, kwargs), "addbmm_")


def _resized(self, args, kwargs):
    """addbmm_ is the one in-place operation that gives the tensor its result's shape."""
    size = (args[0].shape[1], args[1].shape[2]) if args[0].dim() == args[1].dim() == 3 else self.shape
    if tuple(self.shape) != tuple(size):
        made = expand.function(self, size).clone()
        for field in ("_window", "_shape", "_stride", "_storage", "_offset", "_node", "_nr"):
            setattr(self, field, getattr(made, field))
    return addbmm.write(self, *args, **kwargs)


# By labels ------------------------------------------------------------------------------------------------------------


@autocasts("tensordot")
def tensordot(a, b, dims=2, out=None):
    """The products summed over pairs of dimensions: the last `dims` of a and the first of b, or as listed."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}.")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}.")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length.")
    left, right = shapes.wrap_dims(left, a.dim()), shapes.wrap_dims(right, b.dim())
    for i, k in zip(left, right, strict=True):
        if a.shape[i] != b.shape[k] and 1 not in (a.shape[i], b.shape[k]):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]}, second {b.shape[k]}."
            )
        if a.shape[i] != b.shape[k]:  # a size of 1 broadcasts
            a, b = (
                (a.sum(i, keepdim=True, dtype=a._dtype), b)
                if b.shape[k] == 1
                else (a, b.sum(k, keepdim=True, dtype=b._dtype))
            )
    free_a = [d for d in range(a.dim()) if d not in left]
    free_b = [d for d in range(b.dim()) if d not in right]
    size = [a.shape[d] for d in free_a] + [b.shape[d] for d in free_b]
    n = math.prod(a.shape[d] for d in left)
    rows = permute.function(a, [*free_a, *left]).reshape(math.prod(a.shape[d] for d in free_a), n)
    columns = permute.function(b, [*right, *free_b]).reshape(n, math.prod(b.shape[d] for d in free_b))
    return mm.function(rows, columns).reshape(size)


@autocasts("einsum")
def einsum(*args):
    """Einstein's summation: einsum("ij,jk->ik", a, b).  A label repeated in one operand takes its diagonal, labels that
    the output lacks are summed over, "..." stands for the dimensions that broadcast.
    """
    if not args:
        raise ValueError("einsum(): must specify the equation string and at least one operand.")
    if isinstance(args[0], str):
        equation, operands = args[0].replace(" ", ""), args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
    else:
        equation, operands = _equation_of(args), args[: len(args) // 2 * 2 : 2]
    terms, output = _terms(equation, operands)
    current, labels = _labelled(operands[0], terms[0], output)
    for i, (operand, term) in enumerate(zip(operands[1:], terms[1:], strict=True), start=1):
        later = set(output).union(*terms[i + 1 :])
        current, labels = _contract(current, labels, *_labelled(operand, term, output), later)
    gone = [d for d, name in enumerate(labels) if name not in output]
    current = current.sum(gone) if gone else current
    labels = [name for name in labels if name in output]
    return permute.function(current, [labels.index(name) for name in output])


def _equation_of(args) -> str:
    """The equation of the form with lists: einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    letter = lambda i: "..." if i is Ellipsis else chr(ord("A") + i if i < 26 else ord("a") + i - 26)  # noqa: E731
    parts = ["".join(map(letter, part)) for part in args[1::2]]
    return ",".join(parts) + ("->" + "".join(map(letter, args[-1])) if len(args) % 2 else "")


def _terms(equation: str, operands):
    """The labels of each operand's dimensions and of the output's; those of "..." are numbers from the last."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise RuntimeError(
            f"einsum(): the equation has {len(parts)} operands, but {len(operands)} were given: {equation!r}."
        )
    terms, widest = [], 0
    for part, operand in zip(parts, operands, strict=True):
        named = part.replace("...", "", 1)
        if not all(c.isalpha() for c in named):
            raise RuntimeError(f"einsum(): invalid subscript given in {part!r}: subscripts must be letters or '...'.")
        extra = operand.dim() - len(named)
        if extra < 0 or extra and "..." not in part:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of "
                f"dimensions ({operand.dim()}) of {part!r}."
            )
        widest = max(widest, extra)
        at = part.find("...")
        terms.append([*named[:at], *range(-extra, 0), *named[at:]] if at >= 0 else list(named))
    if arrow:
        named = right.replace("...", "", 1)
        seen = {name for term in terms for name in term}
        for c in named:
            if not c.isalpha() or c not in seen or named.count(c) > 1:
                raise RuntimeError(
                    f"einsum(): output subscript {c!r} must be a letter of an operand, and stand there once."
                )
        at = right.find("...")
        return terms, [*named[:at], *range(-widest, 0), *named[at:]] if at >= 0 else list(named)
    every = [name for term in terms for name in term if isinstance(name, str)]
    return terms, [*range(-widest, 0), *sorted(name for name in set(every) if every.count(name) == 1)]


def _labelled(operand, term, output):
    """An operand whose labels are each there once: repeated ones take the diagonal."""
    labels = list(term)
    for name in dict.fromkeys(term):
        while labels.count(name) > 1:
            first = labels.index(name)
            second = labels.index(name, first + 1)
            if operand.shape[first] != operand.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {name!r} is repeated for one operand but the sizes don't match: "
                    f"{operand.shape[first]} and {operand.shape[second]}."
                )
            operand = diagonal.function(operand, 0, first, second)
            labels = [n for d, n in enumerate(labels) if d not in (first, second)] + [name]
    return operand, labels


def _contract(a, a_labels, b, b_labels, later):
    """The product of two labelled operands, summed over what nobody needs later: one batched matrix product."""
    for name in set(a_labels) & set(b_labels):
        m, n = a.shape[a_labels.index(name)], b.shape[b_labels.index(name)]
        if m != n and 1 not in (m, n):
            raise RuntimeError(f"einsum(): subscript {name!r} has size {n}, which does not broadcast with size {m}.")
    sizes = dict(zip(b_labels, b.shape, strict=True))
    sizes |= {k: n for k, n in zip(a_labels, a.shape, strict=True) if sizes.get(k, 1) == 1}
    both = [n for n in a_labels if n in b_labels]
    batch, summed = [n for n in both if n in later], [n for n in both if n not in later]
    own_a, own_b = [n for n in a_labels if n not in both], [n for n in b_labels if n not in both]
    a, own_a = _drop(a, a_labels, own_a, later)
    b, own_b = _drop(b, b_labels, own_b, later)
    a_labels, b_labels = (
        [n for n in ls if n in both or n in own] for ls, own in ((a_labels, own_a), (b_labels, own_b))
    )
    a = permute.function(a, [a_labels.index(n) for n in (*batch, *own_a, *summed)])
    b = permute.function(b, [b_labels.index(n) for n in (*batch, *summed, *own_b)])
    size = lambda names: [sizes[n] for n in names]  # noqa: E731
    count = lambda names: math.prod(size(names))  # noqa: E731
    a = a.expand(*size(batch), *size(own_a), *size(summed)).reshape(count(batch), count(own_a), count(summed))
    b = b.expand(*size(batch), *size(summed), *size(own_b)).reshape(count(batch), count(summed), count(own_b))
    common = common_dtype((a, b))  # sums of integers are int64
    made = bmm.function(to(a, common), to(b, common)).reshape(size(batch) + size(own_a) + size(own_b))
    return made, [*batch, *own_a, *own_b]


def _drop(t, labels, own, later):
    """Sum over the dimensions that are this operand's alone and that nobody needs."""
    gone = [labels.index(n) for n in own if n not in later]
    return (t.sum(gone) if gone else t), [n for n in own if n in later]


public(tensordot)
public(einsum)


# Others ---------------------------------------------------------------------------------------------------------------


def kron(input, other):
    """Every element of one tensor times the whole other, block by block."""
    need_tensors("kron", input=input, other=other)
    n = max(input.dim(), other.dim())
    a, b = ([1] * (n - t.dim()) + list(t.shape) for t in (input, other))
    left = reshape(input, [k for size in a for k in (size, 1)])
    right = reshape(other, [k for size in b for k in (1, size)])
    return (left * right).reshape([i * k for i, k in zip(a, b, strict=True)])


@autocasts("vdot")
def vdot(input, other):
    """The sum of the products of two vectors' elements."""
    return dot.function(input, other)


@numpy_words
@autocasts("cross")
def cross(input, other, dim=None):
    """The cross product of vectors of three elements along a dimension (the first of size 3 unless said)."""
    need_tensors("cross", input=input, other=other)
    if dim is None:
        size = shapes.broadcast_shapes(tuple(input.shape), tuple(other.shape))
        dim = next((d for d, n in enumerate(size) if n == 3), None)
        if dim is None:
            raise RuntimeError(f"no dimension of size 3 in input: the shape is {size}.")
    return linalg_cross(input, other, dim=dim)


def linalg_cross(input, other, *, dim=-1):
    """The cross product of vectors of three elements along a dimension (the last unless said)."""
    if input.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions: {input.dim()} and {other.dim()}."
        )
    d = shapes.wrap_dim(dim, input.dim())
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[d]} and {other.shape[d]}."
        )
    a, b = broadcast_tensors(input, other)
    turn = lambda t, k: roll.function(t, -k, d)  # noqa: E731
    return turn(a, 1) * turn(b, 2) - turn(a, 2) * turn(b, 1)


def multi_dot(tensors):
    """The product of several matrices, in the order that takes the fewest multiplications."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors.")
    row, column = tensors[0].dim() == 1, tensors[-1].dim() == 1
    tensors[0] = tensors[0].unsqueeze(0) if row else tensors[0]
    tensors[-1] = tensors[-1].unsqueeze(1) if column else tensors[-1]
    for i, t in enumerate(tensors):
        if t.dim() != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D (the first and last may be 1D): got {t.dim()}D.")
    out = _best_order(tensors)(0, len(tensors) - 1)
    out = out.squeeze(0) if row else out
    return out.squeeze(-1) if column else out


def _best_order(tensors):
    """Multiply i to j by the cheapest split.  (Cormen et al., Introduction to Algorithms, matrix chains)"""
    n = len(tensors)
    sizes = [tensors[0].shape[0], *[t.shape[1] for t in tensors]]
    cost, cut = [[0] * n for _ in range(n)], [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            price = lambda k: cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]  # noqa: B023, E731
            cut[i][j] = min(range(i, j), key=price)
            cost[i][j] = price(cut[i][j])

    def product(i, j):
        return tensors[i] if i == j else mm.function(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    return product


def vander(x, N=None, increasing=False):
    """The powers of a vector's elements as columns, highest first unless increasing."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    x = x if x._dtype.is_floating_point else to(x, dtypes.int64)
    columns = [x.new_ones(x.shape[0])] if n else []
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    if not n:
        return x.new_empty(x.shape[0], 0)
    return stack.function(columns if increasing else columns[::-1], 1)


@numpy_words
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The integral of samples y at places x (or dx apart) along a dimension, by the trapezoidal rule."""
    return _strips(y, x, dx, dim).sum(dim) / 2


@numpy_words
def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """The integral up to each sample, by the trapezoidal rule."""
    return _strips(y, x, dx, dim).cumsum(dim) / 2


def _strips(y, x, dx, dim):
    """Twice the area between neighbouring samples."""
    if not y.dim():
        raise IndexError("Dimension specified as 0 but tensor has no dimensions.")
    n = y.shape[shapes.wrap_dim(dim, y.dim())]
    low, high = y.narrow(dim, 0, max(n - 1, 0)), y.narrow(dim, min(n, 1), max(n - 1, 0))
    if x is None:
        return (low + high) * (1 if dx is None else dx)
    if x.dim() == 1 and y.dim() > 1:
        if x.shape[0] != n:
            raise RuntimeError("There must be one `x` value for each sample point.")
        x = x.reshape((-1,) + (1,) * (y.dim() - 1 - shapes.wrap_dim(dim, y.dim())))
        along = 0
    else:
        along = dim
    m = x.shape[along]
    return (low + high) * (x.narrow(along, min(m, 1), max(m - 1, 0)) - x.narrow(along, 0, max(m - 1, 0)))


@numpy_words
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The differences of neighbours along a dimension, n times over."""
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional.")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}.")
    if not n:
        return input.clone()
    parts = [t for t in (prepend, input, append) if t is not None]
    out = cat.function(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = out.shape[shapes.wrap_dim(dim, out.dim())]
        high, low = out.narrow(dim, min(1, size), max(size - 1, 0)), out.narrow(dim, 0, max(size - 1, 0))
        out = high ^ low if out._dtype is dtypes.bool_ else high - low
    return out


for _fn in (kron, vdot, cross):
    public(_fn, also_method=True, around=takes_out)
public(diff, also_method=True)
for _fn in (vander, trapezoid, cumulative_trapezoid):
    public(_fn)
alias("trapz", "trapezoid")
public(lambda *matrices: multi_dot(matrices), "chain_matmul")
