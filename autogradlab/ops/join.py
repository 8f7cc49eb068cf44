"""Operators that put tensors together or repeat them; they move data and compute nothing."""

from autogradlab import late, shapes
from autogradlab.convert import common_dtype
from autogradlab.modes import AUTOCAST, state
from autogradlab.table import alias, method, operator, public
from autogradlab.tensor import Tensor

from .copy import to
from .kinds import in_order, like
from .shape import expand, reshape, sizes, unsqueeze


def _tensors(name: str, tensors):
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' must be tuple of Tensors, not Tensor.")
    tensors = tuple(tensors)
    if not tensors:
        raise (ValueError if name == "cat" else RuntimeError)(f"torch.{name}(): expected a non-empty list of Tensors.")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}(): expected a list of Tensors: it holds a {type(t).__name__}.")
    if state.flags & AUTOCAST:  # which goes by the dtypes as they were given
        ((tensors,), _) = state.autocast.given(name, (tensors,), {})
    common = common_dtype(tensors)
    return tuple(t if t._dtype is common else to(t, common) for t in tensors)


def _cat_samples(make):
    yield ([make(2, 3), make(1, 3)],), {}
    yield ([make(2, 3), make(2, 2), make(2, 1)],), {"dim": 1}
    yield ([make.strided(3, 2)],), {"dim": -1}


@operator(moves=True, promote=False, public=("function",), samples=_cat_samples)
class cat:
    """Tensors one behind the other along an existing dimension.  (cat joins, stack piles up.)"""

    def arguments(tensors, dim=0):
        tensors = _tensors("cat", tensors)
        shape = next((t.shape for t in tensors if t.dim() != 1 or t.numel()), tensors[0].shape)
        tensors = tuple(t for t in tensors if t.dim() != 1 or t.numel() or len(shape) == 1) or tensors
        if not shape:
            raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated: use stack().")
        dim = shapes.wrap_dim(dim, len(shape))
        for i, t in enumerate(tensors):
            if t.dim() != len(shape) or any(d != dim and t.shape[d] != shape[d] for d in range(len(shape))):
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}: expected {tuple(shape)} apart from that, "
                    f"but tensor "
                    f"number {i} in the list has shape {tuple(t.shape)}."
                )
        return tensors, {"dim": dim}

    def kernel(xp, *arrays, dim):
        out = xp.concatenate(arrays, axis=dim)
        channels_last = out.ndim == 4 and all(  # pictures with their channels innermost stay so
            a.transpose(0, 2, 3, 1).flags.c_contiguous and not a.flags.c_contiguous for a in arrays
        )
        return out if channels_last else xp.ascontiguousarray(out)

    def grads(g, all_shapes, dim):
        out, start = [], 0
        for shape in all_shapes:
            stop = start + shape[dim]
            out.append(g[(slice(None),) * dim + (slice(start, stop),)])
            start = stop
        return out


for _name in ("concat", "concatenate"):
    alias(_name, "cat")


@operator(moves=True, promote=False, public=("function",),
          samples=lambda make: [(([make(2, 3), make(2, 3)],), {}), (([make(2), make(2)],), {"dim": -1})])  # fmt: skip
class stack:
    """Tensors of one shape piled up along a new dimension."""

    def arguments(tensors, dim=0):
        tensors = _tensors("stack", tensors)
        for i, t in enumerate(tensors):
            if t.shape != tensors[0].shape:
                raise RuntimeError(
                    f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                    f"{list(t.shape)} at entry {i}."
                )
        return tensors, {"dim": shapes.wrap_dim(dim, tensors[0].dim() + 1)}

    def kernel(xp, *arrays, dim):
        return xp.ascontiguousarray(xp.stack(arrays, axis=dim))

    def grads(g, all_shapes, dim):
        return [g[(slice(None),) * dim + (i,)] for i in range(len(all_shapes))]


@operator(moves=True, samples=lambda make: [((make(2, 3), 0), {}), ((make(2, 3), (0, 1)), {})])
class flip:
    """The order along the given dimensions reversed; a copy (strides cannot be negative)."""

    def arguments(input, *args, dims=None):
        return (input,), {"dims": shapes.wrap_dims(sizes(args) if dims is None else dims, input.dim())}

    def kernel(xp, a, /, dims):
        return like(xp, a, xp.flip(a, axis=dims)).copy("K") if a.ndim else a.copy()

    def grad_a(g, dims):
        return flip(g, dims=dims)


method(lambda self: flip.function(self, 0) if self.shape else self, "__reversed__")


@operator(
    moves=True,
    samples=lambda make: [((make(4, 3), 1, 0), {}), ((make(4, 3), 2), {}), ((make(4, 3), (1, -1), (0, 1)), {})],
)
class roll:
    """Elements moved along dimensions, coming back in at the other end.  Without dims the tensor counts as flat."""

    def arguments(input, shifts, dims=None):
        shifts = sizes((shifts,))
        if not shifts:
            raise RuntimeError("`shifts` required: got an empty tuple.")
        if dims is not None and dims != () and not input.shape:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions.")
        dims = None if dims is None or dims == () else shapes.wrap_dims(dims, input.dim())
        if dims is not None and len(dims) != len(shifts):
            raise RuntimeError(f"shifts and dimensions must align: {len(shifts)} shifts, {len(dims)} dims.")
        return (input,), {"shifts": shifts, "dims": dims}

    def kernel(xp, a, /, shifts, dims):
        return xp.roll(in_order(xp, a), shifts if dims is not None else shifts[0], axis=dims)

    def grad_a(g, shifts, dims):
        return roll(g, shifts=tuple(-s for s in shifts), dims=dims)


@operator(moves=True, public=(), samples=lambda make: [((make(2, 3), (2, 1, 2)), {}), ((make(3), (0,)), {})])
class repeat_:
    """A copy tiled `repeats` times along each dimension (new ones in front)."""

    def arguments(input, repeats):
        if len(repeats) < input.dim():
            raise RuntimeError(
                f"Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
                f"{len(repeats)} < {input.dim()}."
            )
        if min(repeats, default=0) < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension: repeats {tuple(repeats)}.")
        return (input,), {"repeats": tuple(repeats)}

    def kernel(xp, a, /, repeats):
        return xp.ascontiguousarray(xp.tile(a, repeats)).reshape(_tiled(a.shape, repeats)).copy()

    def grad_a(g, a_shape, repeats):
        shape = (1,) * (len(repeats) - len(a_shape)) + tuple(a_shape)
        apart = g.reshape(tuple(n for pair in zip(repeats, shape, strict=True) for n in pair))
        return late.operators["sum"](apart, dim=tuple(range(0, 2 * len(shape), 2)), keepdim=False).reshape(a_shape)


def _tiled(shape, repeats):
    shape = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    return tuple(n * r for n, r in zip(shape, repeats, strict=True))


def repeat(self, *repeats):
    """A copy tiled `repeats` times along each dimension (new ones in front)."""
    return repeat_.function(self, sizes(repeats))


def tile(input, *dims):
    """repeat(), with 1 for the dimensions not mentioned."""
    dims = sizes(dims)
    return repeat(input, (1,) * (input.dim() - len(dims)) + dims)


method(repeat)
public(tile, also_method=True)
public(lambda *tensors, indexing="ij": _meshgrid(tensors, indexing), "meshgrid")


def _meshgrid(tensors, indexing):
    tensors = tuple(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}.')
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"meshgrid(): expected tensors, but got {type(t).__name__}.")
        if t.dim() > 1:
            raise RuntimeError(f"meshgrid: Expected 0D or 1D tensor in the tensor list but got shape {tuple(t.shape)}.")
    swap = indexing == "xy" and len(tensors) > 1
    order = (tensors[1], tensors[0], *tensors[2:]) if swap else tensors
    size = tuple(t.numel() for t in order)
    grids = []
    for i, t in enumerate(order):
        out = reshape(t, (-1,))
        for d in range(len(size)):
            if d != i:
                out = unsqueeze.function(out, d)
        grids.append(expand.function(out, size))
    return (grids[1], grids[0], *grids[2:]) if swap else tuple(grids)
