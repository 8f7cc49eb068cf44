"""Views by shape: the same storage, other sizes and strides.  Nothing here moves data but reshape, where it must."""

from operator import index as operator_index

from autogradlab import dtypes, errors, shapes, views
from autogradlab.dispatch import NOTHING, call_view_by, make_node
from autogradlab.modes import NO_GRAD, state
from autogradlab.size import Size
from autogradlab.table import alias, explained, method, operator, public
from autogradlab.tensor import Tensor, view_of

from .copy import pack
from .kinds import numpy_words


def sizes(args) -> tuple:
    """Sizes or dims given one by one or as one sequence."""
    if len(args) == 1 and hasattr(args[0], "__iter__") and not isinstance(args[0], (str, dict, Tensor)):
        args = args[0]
    try:
        return tuple(map(operator_index, args))
    except TypeError:
        wrong = next((n for n in args if isinstance(n, Tensor) or not hasattr(n, "__index__")), args)
        what = errors.describe(wrong) if isinstance(wrong, Tensor) else f"{type(wrong).__name__}: {wrong!r}"
        raise TypeError(f"a size must be an integer, but got {what}. (Of a tensor, give its .tolist().)") from None


def _view_samples(make):
    yield (make(3, 4), (2, 6)), {}
    yield (make(3, 4), (-1,)), {}
    yield (make(2, 3, 4), (6, 4)), {}
    yield (make(1), ()), {}
    yield (make(0, 3), (3, 0)), {}


@operator(public=(), samples=_view_samples)
class view:
    """The same elements under another shape, without a copy: an error where the strides do not allow it.  (D1 3.1, D2
    2.3)
    """

    def arguments(input, size):
        return (input,), {"size": size}

    def kernel(xp, a, /, size):
        return a.reshape(size)

    def geometry(shape, stride, offset, size):
        size = shapes.infer_size(size, shapes.numel(shape))
        new_stride = shapes.view_strides(tuple(shape), stride, size)
        if new_stride is None:
            raise errors.view_impossible(shape, stride, size, shapes.broken_pair(shape, stride))
        return size, new_stride, offset

    def grad_a(g, a_shape):
        return g.reshape(a_shape)


@operator(node="UnsafeViewBackward0", public=(), samples=_view_samples)
class unsafe_view:
    """A view of a copy that nobody else sees: what reshape returns where it had to copy."""

    def arguments(input, size):
        return (input,), {"size": size}

    kernel = view.block.kernel
    geometry = view.block.geometry
    grad_a = view.block.grad_a


def _view_method(self, *args, size=None, dtype=None):
    """The same elements under another shape, without a copy: an error where the strides do not allow it.  (D1 3.1, D2
    2.3)  With a dtype, the same bytes read as that dtype.
    """
    if dtype is not None or len(args) == 1 and isinstance(args[0], dtypes.dtype):
        return _bits(self, args[0] if dtype is None else dtype)
    return call_view_by(view, self, args if size is None else (size,), _place_view)


def _place_view(source, *args):
    return view.place(source, sizes(args))


def _bits(input, dtype):
    """The same bytes as elements of another dtype; the last dimension grows or shrinks with the element's size."""
    if dtype is input._dtype:
        return view.function(input, tuple(input.shape)) if input.shape else input.alias()
    shape, stride, offset = tuple(input.shape), input.stride(), input._offset
    old, new = input._dtype.itemsize, dtype.itemsize
    if old != new:
        if not shape:
            raise RuntimeError(f"self.dim() cannot be 0 to view {input._dtype} as {dtype} (different element sizes).")
        if stride[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 to view {input._dtype} as {dtype}, but got {stride[-1]}.")
        if new > old:
            ratio = new // old
            if any(n % ratio for n in (shape[-1], offset, *stride[:-1])):
                raise RuntimeError(
                    f"the last size, the offset and all other strides must be divisible by {ratio} to view "
                    f"{input._dtype} as {dtype}: got {shape}, {offset}, {stride}."
                )
            scale = lambda n: n // ratio  # noqa: E731
        else:
            scale = lambda n: n * (old // new)  # noqa: E731
        shape = (*shape[:-1], scale(shape[-1]))
        stride, offset = (*map(scale, stride[:-1]), 1), scale(offset)
    return view_of(input.memory, shape, stride, offset, dtype, input._device)


def reshape(input, *args, shape=None):
    """The elements under another shape: a view where the strides allow it, else a copy.  (D1 3.1, D2 2.3)"""
    args = args if shape is None else (shape,)
    out = call_view_by(view, input, args, _place_reshaped)
    if out is None:
        out = unsafe_view.function(pack.function(input), shapes.infer_size(sizes(args), input.numel()))
        out._view = None  # the copy is its own: nobody else reads that storage
    return out


def _place_reshaped(source, *args):
    size = shapes.infer_size(sizes(args), source.numel())
    stride = shapes.view_strides(tuple(source.shape), source.stride(), size)
    return None if stride is None else ({"size": size}, (size, stride, source._offset))


method(_view_method, "view")
method(reshape)
public(lambda input, shape: reshape(input, shape), "reshape")
method(explained(lambda self, other: view.function(self, tuple(other.shape)), "view_as"), "view_as")
method(explained(lambda self, other: reshape(self, tuple(other.shape)), "reshape_as"), "reshape_as")


def flatten(input, start_dim: int = 0, end_dim: int = -1):
    """Dimensions start_dim to end_dim (included) as one; a view where possible."""
    if not input.shape:
        return reshape(input, (1,))
    first, last = shapes.wrap_dim(start_dim, input.dim()), shapes.wrap_dim(end_dim, input.dim())
    if first > last:
        raise RuntimeError(
            f"flatten() has invalid args: start_dim ({start_dim}) cannot come after end_dim ({end_dim})."
        )
    if first == last:
        return input
    shape = tuple(input.shape)
    return reshape(input, shape[:first] + (shapes.numel(shape[first : last + 1]),) + shape[last + 1 :])


@numpy_words
def unflatten(input, dim: int, sizes):
    """One dimension as several; one of the sizes may be -1."""
    dim, shape = shapes.wrap_dim(dim, input.dim()), tuple(input.shape)
    if not shape or not len(sizes):
        raise RuntimeError(f"unflatten: a dimension is cut into sizes, at least one: got {shape} and {tuple(sizes)}.")
    return view.function(input, shape[:dim] + shapes.infer_size(sizes, shape[dim]) + shape[dim + 1 :])


def ravel(input):
    """All elements in one dimension; a view of a contiguous tensor, else of a copy."""
    return reshape(input if input.is_contiguous() else pack.function(input), (-1,))


public(flatten, also_method=True)
public(unflatten, also_method=True)
public(ravel, also_method=True)


# Order of the dimensions ----------------------------------------------------------------------------------------------


@operator(samples=lambda make: [((make(3, 4), 0, 1), {}), ((make(2, 3, 4), 0, -1), {}), ((make(), 0, -1), {})])
class transpose:
    """Two dimensions change places; only the strides move.  (D1 3.2)"""

    def arguments(input, dim0, dim1):
        return (input,), {"dim0": dim0, "dim1": dim1}

    def kernel(xp, a, /, dim0, dim1):
        return xp.swapaxes(a, dim0, dim1) if a.ndim else a

    def geometry(shape, stride, offset, dim0, dim1):
        n = len(shape)
        return (*shapes.transpose(shape, stride, shapes.wrap_dim(dim0, n), shapes.wrap_dim(dim1, n)), offset)

    def grad_a(g, dim0, dim1):
        return transpose(g, dim0=dim0, dim1=dim1)


alias("swapaxes", "transpose")
alias("swapdims", "transpose")


@operator(node="TBackward0", samples=lambda make: [((make(3, 4),), {}), ((make(3),), {})])
class t:
    """The transpose of a matrix; a vector stays as it is.  (D1 3.2)"""

    def kernel(xp, a, /):
        return a.T

    def geometry(shape, stride, offset):
        if len(shape) > 2:
            raise RuntimeError(
                f"t() expects a tensor with <= 2 dimensions, but self is {len(shape)}D: use transpose() or permute()."
            )
        return shape[::-1], stride[::-1], offset

    def grad_a(g):
        return t(g)


def _permute_samples(make):
    yield (make(2, 3, 4), (2, 0, 1)), {}
    yield (make(2, 3), (-1, 0)), {}


@operator(public=("function",), samples=_permute_samples)
class permute:
    """The dimensions in another order; only the strides move.  (D1 3.2)"""

    def arguments(input, dims):
        return (input,), {"dims": tuple(dims)}

    def kernel(xp, a, /, dims):
        return xp.transpose(a, dims)

    def geometry(shape, stride, offset, dims):
        wrapped = [shapes.wrap_dim(d, len(shape)) for d in dims]
        return (*shapes.permute(shape, stride, wrapped), offset)

    def grad_a(g, dims):
        back = [0] * len(dims)
        for i, d in enumerate(dims):
            back[d] = i
        return permute(g, dims=tuple(back))


method(lambda self, *args, dims=None: permute.function(self, sizes(args if dims is None else (dims,))), "permute")


def movedim(input, source, destination):
    """Move dimensions to other places; the rest keep their order."""
    n = input.dim()
    source, destination = (shapes.wrap_dims(d, n) for d in (source, destination))
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: source has {len(source)} dims, destination has {len(destination)}: they must be as many."
        )
    order = [d for d in range(n) if d not in source]
    if not n:
        return permute.function(input, ())
    for to, d in sorted(zip(destination, source, strict=True)):
        order.insert(to, d)
    return permute.function(input, order)


public(movedim, also_method=True)
alias("moveaxis", "movedim")
method(
    property(lambda self: permute.function(self, range(self.dim())[::-1]) if self.dim() != 2 else t.function(self)), "T"
)


def _matrix_transpose(self):
    """The last two dimensions swapped."""
    if not self.dim():
        return transpose.function(self, 0, 0)
    if self.dim() < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices: got a {self.dim()}-D tensor."
        )
    return transpose.function(self, -2, -1)


method(property(_matrix_transpose), "mT")


# Dimensions of size 1 -------------------------------------------------------------------------------------------------


def _squeeze_samples(make):
    yield (make(1, 3, 1),), {}
    yield (make(1, 3, 1), 0), {}
    yield (make(2, 3), 1), {}
    yield (make(),), {}


@operator(node=lambda o: "SqueezeBackward0" if o["dim"] is None else "SqueezeBackward1", samples=_squeeze_samples)
class squeeze:
    """Without its dimensions of size 1, or without those named in dim if they have size 1.  (D1 3.4)"""

    def arguments(input, dim=None):
        return (input,), {"dim": dim}

    def kernel(xp, a, /, dim):
        drop = range(a.ndim) if dim is None else shapes.wrap_dims(dim, a.ndim)
        return a.reshape([n for d, n in enumerate(a.shape) if n != 1 or d not in drop])

    def geometry(shape, stride, offset, dim):
        drop = range(len(shape)) if dim is None else shapes.wrap_dims(dim, len(shape))
        keep = [d for d, n in enumerate(shape) if n != 1 or d not in drop]
        return tuple(shape[d] for d in keep), tuple(stride[d] for d in keep), offset

    def grad_a(g, a_shape):
        return g.reshape(a_shape)


@operator(samples=lambda make: [((make(3, 4), d), {}) for d in (0, -1, 1)])
class unsqueeze:
    """With a new dimension of size 1 at `dim`.  (D1 3.4)"""

    def arguments(input, dim):
        return (input,), {"dim": dim}

    def kernel(xp, a, /, dim):
        return xp.expand_dims(a, dim)

    def geometry(shape, stride, offset, dim):
        dim = shapes.wrap_dim(dim, len(shape) + 1)
        step = shape[dim] * stride[dim] if dim < len(shape) else 1
        return (*shape[:dim], 1, *shape[dim:]), (*stride[:dim], step, *stride[dim:]), offset

    def grad_a(g, a_shape):
        return g.reshape(a_shape)


@operator(
    public=(), samples=lambda make: [((make(1, 4), (3, 4)), {}), ((make(3, 1), (2, -1, 4)), {}), ((make(), (2,)), {})]
)
class expand:
    """Dimensions of size 1 repeated by stride 0, without a copy; -1 keeps a size.  (D1 3.4)"""

    def arguments(input, size):
        return (input,), {"size": tuple(size)}

    def kernel(xp, a, /, size):
        return xp.broadcast_to(a, shapes.expand(a.shape, a.strides, size)[0])

    def geometry(shape, stride, offset, size):
        return (*shapes.expand(shape, stride, size), offset)

    def grad_a(g):  # the engine's edge sums over what was repeated
        return g


method(lambda self, *size, implicit=False: expand.function(self, sizes(size)), "expand")
method(explained(lambda self, other: expand.function(self, tuple(other.shape)), "expand_as"), "expand_as")


def broadcast_to(input, size):
    """The tensor seen under a larger shape it broadcasts to; no copy."""
    return expand.function(input, size)


def broadcast_tensors(*tensors):
    """All tensors seen under their common shape; no copies.  (D1 4.1)"""
    size = shapes.broadcast_shapes(*[tuple(t.shape) for t in tensors])
    return tuple(expand.function(t, size) for t in tensors)


def broadcast_shapes(*sizes) -> Size:
    """The shape several shapes have in common.  (D1 4.1)"""
    return Size(shapes.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in sizes]))


def relayout(op, target, options=NOTHING):
    """Give a tensor itself the geometry of a view of it: t_(), squeeze_(), ..."""
    recorded = not state.flags & NO_GRAD and target.requires_grad
    views.check_writable(target, recorded, overlap=True)
    geometry = op.geometry(tuple(target.shape), target.stride(), target._offset, **options)
    node = make_node(op, [views.edge_of(target)], 1, (target,), options, (target,), state.flags) if recorded else None
    target.memory  # noqa: B018 - made before the window goes
    target._window = None
    target._shape, target._stride, target._offset = geometry
    views.written(target)
    if node is not None:
        node.shape = tuple(geometry[0])
        if target._view is None:
            target._node, target._nr = node, 0
    return target


def in_place_view(name: str, op):
    """x.t_(), x.unsqueeze_(0), ...: the tensor itself gets another geometry."""

    def change(self, *args, **kwargs):
        (source,), options = op.arguments(self, *args, **kwargs)
        return relayout(op, source, options)

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"{name[:-1]}() in place: no data moves, the tensor itself gets the new shape and strides."
    return method(change)


for _name, _op in {"transpose_": transpose, "swapaxes_": transpose, "swapdims_": transpose, "t_": t,
                   "squeeze_": squeeze, "unsqueeze_": unsqueeze}.items():  # fmt: skip
    in_place_view(_name, _op)
public(broadcast_shapes)
public(broadcast_to, also_method=True)
public(broadcast_tensors)
