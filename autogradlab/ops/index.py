"""Indexing by tensors: x[index], gather, scatter, masks.  These copy; what shares memory is in slices.py.  (D1 2)

Index tensors are bounds-checked here, before any kernel: CuPy would wrap them silently.  Where an index repeats, values
are written in no promised order, and gradients add up.
"""

from autogradlab import dtypes, errors, shapes, views
from autogradlab.dispatch import call, call_into, call_view_by
from autogradlab.modes import NO_GRAD, as_one, state
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor

from .copy import to, to_device
from .create import tensor
from .elementary import zeros_like
from .kinds import add_up
from .shape import broadcast_tensors
from .slices import alias, select, slice_

INDEX_DTYPES = (dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8)


def bounds(index: Tensor) -> tuple[int, int]:
    """The smallest and the largest value of an index tensor.  Waits for the device."""
    xp = index._device.backend.xp
    return int(xp.min(index.window)), int(xp.max(index.window))


@as_one
def checked(index: Tensor, size: int, dim: int) -> Tensor:
    """An index tensor as int64, all its values within 0..size-1; negative ones count from the end."""
    if index._dtype is not dtypes.int64:
        index = to(index.detach(), dtypes.int64)
    if not index.numel():
        return index
    low, high = bounds(index)
    if low < -size or high >= size:
        raise errors.index_out_of_range(high if high >= size else low, dim, size)
    # A trace must not take the result for the index itself: the next index may have negative values.
    return index.remainder(size) if low < 0 or state.tracer is not None else index


# x[tensors] -----------------------------------------------------------------------------------------------------------
# The indices into several dimensions are combined into one, `where`: the position in those dimensions taken as flat.


def _lead(a, dims):
    """The array with its indexed dimensions as one, and where that one is: in place if they are neighbours, else in
    front.
    """
    first, n = dims[0], len(dims)
    if dims != tuple(range(first, first + n)):
        a = a.transpose([*dims, *(d for d in range(a.ndim) if d not in dims)])
        first = 0
    if n == 1:
        return a, first
    return a.reshape(a.shape[:first] + (shapes.numel(a.shape[first : first + n]),) + a.shape[first + n :]), first


def _index_samples(make):
    yield (make(4, 3), make.ints(0, 4, (5,)), (0,)), {}
    yield (make(4, 3), make.ints(0, 3, (2, 2)), (1,)), {}
    yield (make(2, 3, 2), make.ints(0, 6, (4,)), (0, 1)), {}
    yield (make(2, 3, 2), make.ints(0, 4, (3,)), (0, 2)), {}


@operator(moves=True, promote=False, public=(), samples=_index_samples)
class index:
    """The elements at given positions of some dimensions: what x[tensor] returns; a copy.  (D1 2.2)"""

    def arguments(input, where, dims):
        return (input, where), {"dims": dims}

    def kernel(xp, a, where, /, dims):
        lead, first = _lead(a, dims)
        return xp.take(lead, where, axis=first)

    def grad_a(g, where, a_shape, dims):
        return index_backward(g, where, a_shape, dims)


@operator(promote=False, public=(),
          samples=lambda make: [((make(5, 3), make.ints(0, 4, (5,)), (4, 3), (0,)), {})])  # fmt: skip
class index_backward:
    """Zeros with g added at given positions."""

    def arguments(input, where, shape, dims):
        return (input, where), {"shape": shape, "dims": dims}

    def kernel(xp, a, where, /, shape, dims):
        whole = xp.zeros(shape, a.dtype)
        add_at(xp, whole, where, a, dims)
        return whole

    def grad_a(g, where, dims):
        return index(g, where, dims)


def add_at(xp, whole, where, values, dims) -> None:
    """Add values at positions of an array; positions that repeat add up."""
    if len(dims) > 1:  # the flat position, undone: one array of indices for each dimension
        key, rest = [slice(None)] * whole.ndim, where
        for d in reversed(dims):
            key[d] = rest % whole.shape[d]
            rest = rest // whole.shape[d]
    else:
        key = [slice(None)] * dims[0] + [where]
    add_up(xp, whole, tuple(key), values)


def _put_samples(make):
    yield (make(4, 3), make(2, 3), make.ints(0, 4, (2,)), (0,), True), {}


@operator(moves=True, promote=False, public=(), samples=_put_samples)
class index_put:
    """A copy with values written (or added) at given positions: what x[tensor] = v does, in place."""

    def arguments(input, values, where, dims, accumulate):
        return (input, values, where), {"dims": dims, "accumulate": accumulate}

    def kernel(xp, a, b, where, /, dims, accumulate):
        out = a.copy()
        if accumulate:
            add_at(xp, out, where, b, dims)
            return out
        key, rest = [slice(None)] * out.ndim, where
        for d in reversed(dims):
            key[d] = rest % out.shape[d] if len(dims) > 1 else rest
            rest = rest // out.shape[d]
        out[tuple(key)] = b
        return out

    def grad_a(g, where, dims, accumulate):
        return g if accumulate else index_put(g, zeros_like(index(g, where, dims)), where, dims, False)

    def grad_b(g, where, dims):
        return index(g, where, dims)


def _positions(x: Tensor, indices) -> tuple[Tensor, tuple[int, ...]]:
    """Index tensors (None for a dimension without one) as one flat position and the dimensions it is for."""
    dims, found = [], []
    d = 0
    for given in indices:
        if given is None:
            d += 1
            continue
        if given._dtype is dtypes.bool_:
            part = tuple(x.shape[d : d + given.dim()])
            if tuple(given.shape) != part:
                raise errors.mask_mismatch(given.shape, x.shape, d)
            for i, where in enumerate(given.nonzero(as_tuple=True)):
                dims.append(d + i)
                found.append(where)
            d += given.dim()
            continue
        if given._dtype not in INDEX_DTYPES:
            raise errors.bad_index(f"a {given._dtype.name} tensor")
        if given._device is not x._device:
            if given._device.type != "cpu":
                raise errors.device_mismatch("indexing", (x, given))
            given = to_device(given, x._device)
        dims.append(d)
        found.append(checked(given, x.shape[d], d))
        d += 1
    try:
        found = broadcast_tensors(*found)
    except RuntimeError as exc:
        shapes_given = ", ".join(str(list(t.shape)) for t in found)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes_given}."
        ) from exc
    where = found[0]
    for d, more in zip(dims[1:], found[1:], strict=True):
        where = where * x.shape[d] + more
    return where, tuple(dims)


# x[...] ---------------------------------------------------------------------------------------------------------------


def _as_index(item, device):
    """One item of an index in the form the rest understands."""
    if isinstance(item, Tensor) and item._dtype is dtypes.uint8:
        return item != 0  # bytes served as masks before there was bool, and still do
    if item is None or item is Ellipsis or isinstance(item, (int, slice, Tensor)):
        return item
    if isinstance(item, (list, tuple, range)):
        made = tensor(list(item), device=device) if len(item) else tensor([], dtype=dtypes.int64, device=device)
        if made._dtype.is_floating_point:
            raise errors.bad_index("a list of floats")
        return made
    if hasattr(item, "__index__") and getattr(item, "shape", ()) == ():
        return item.__index__()
    if hasattr(item, "dtype") and hasattr(item, "shape"):
        return tensor(item, device=device)
    raise (TypeError if isinstance(item, str) else IndexError)(*errors.bad_index(f"a {type(item).__name__}").args)


_PARTS = (slice, list, tuple, range, Tensor)


def _views(x: Tensor, key):
    """Apply what shares memory (integers, slices, None, ...); return the view and the tensors left for its
    dimensions.
    """
    if (
        isinstance(key, list)
        and len(key) < 32
        and any(isinstance(k, _PARTS) or k is None or k is Ellipsis for k in key)
    ):
        key = tuple(key)  # as PyTorch and old NumPy: a list that holds slices or sequences stands for a tuple
    items = key if isinstance(key, tuple) else (key,)
    items = [_as_index(i, x._device) for i in items]
    used = sum(
        0
        if i is None or i is Ellipsis or isinstance(i, bool)
        else i.dim()
        if isinstance(i, Tensor) and i._dtype is dtypes.bool_
        else 1
        for i in items
    )
    if used > x.dim():
        raise errors.too_many_indices(x.dim(), used)
    left, dim = [], 0
    seen_ellipsis = False
    for item in items:
        if item is Ellipsis:
            skip = 0 if seen_ellipsis else x.dim() - dim - (used - _consumed(items, item))
            seen_ellipsis = True
            left += [None] * skip
            dim += skip
        elif item is None or isinstance(item, bool):
            x = x.unsqueeze(dim)
            left.append(None if item is None else tensor([item], device=x._device))
            dim += 1
        elif isinstance(item, int):
            x = select.function(x, dim, item)
        elif isinstance(item, slice):
            x = _sliced(x, dim, item)
            left.append(None)
            dim += 1
        elif item.dim() == 0 and item._dtype is not dtypes.bool_:
            x = select.function(x, dim, int(item.item()))
        else:
            if not item.dim():
                x, item = x.unsqueeze(dim), item.reshape(1)
            left.append(item)
            dim += max(item.dim(), 1) if item._dtype is dtypes.bool_ else 1
    return x, left


def _consumed(items, until) -> int:
    """How many dimensions the items before the first `...` use up."""
    total = 0
    for i in items:
        if i is until:
            return total
        if i is not None and not isinstance(i, bool):
            total += i.dim() if isinstance(i, Tensor) and i._dtype is dtypes.bool_ else 1
    return total


def _sliced(x: Tensor, dim: int, item: slice) -> Tensor:
    """A slice of one dimension; x itself where that is everything."""
    if item.step in (None, 1):
        ends = (None if v is None else v.__index__() for v in (item.start, item.stop))
        start, stop, _ = slice(*ends).indices(x.shape[dim])
        if start == 0 and stop == x.shape[dim]:
            return x
    return call_view_by(slice_, x, (dim, item.start, item.stop, item.step), _place_slice)


def _place_slice(x: Tensor, dim: int, start, stop, step):
    step = 1 if step is None else step.__index__()
    start, stop = (None if v is None else v.__index__() for v in (start, stop))
    return slice_.place(x, dim, start, stop, step)


def getitem(self, key):
    """x[key]: a view for integers, slices, None and ...; a copy where tensors or lists choose.  (D1 2.1 2.2 2.3)"""
    if type(key) is int:  # the common case
        return select.function(self, 0, key) if self.shape else _views(self, key)[0]
    if type(key) is slice and (self._shape or self.shape):
        return call_view_by(slice_, self, (0, key.start, key.stop, key.step), _place_slice)
    x, left = _views(self, key)
    if any(i is not None for i in left):
        return index.function(x, *_positions(x, left))
    return alias.function(x) if x is self else x


def setitem(self, key, value):
    """x[key] = value: written in place through the same views and positions.  (D1 2.2)"""
    x, left = _views(self, key)
    if not isinstance(value, Tensor):
        value = tensor(value, dtype=self._dtype, device=self._device)
    while value.dim() > 0 and value.shape[0] == 1 and value.dim() > x.dim():
        value = value.squeeze(0)
    if all(i is None for i in left):
        x.copy_(value) if value.dim() or not x.dim() else x.fill_(value)
        return
    _check_write(x, value)
    where, dims = _positions(x, left)
    _put(x, where, dims, value, False)


def _check_write(x, value) -> None:
    """What PyTorch refuses before it looks at the indices."""
    views.check_writable(x, not state.flags & NO_GRAD and (x.requires_grad or value.requires_grad))
    views.check_apart(x, (value,), whole=True)


def _put(x, where, dims, value, accumulate, write=True):
    if value._device is not x._device:
        if value.dim():
            raise errors.device_mismatch("index_put_", (x, value))
        value = to_device(value, x._device)
    if value._dtype is not x._dtype:
        if accumulate or value.dim():
            raise RuntimeError(
                f"Index put requires the source and destination dtypes match, got {x._dtype.legacy_name} for the "
                f"destination and {value._dtype.legacy_name} for the source."
            )
        value = to(value, x._dtype)
    lead = _lead_shape(tuple(x.shape), tuple(where.shape), dims)
    try:
        fits = shapes.broadcast_shapes(lead, tuple(value.shape)) == lead
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
            f"shape {list(lead)}."
        )
    options = {"dims": dims, "accumulate": accumulate}
    return call_into(index_put, x, (x, value, where), options) if write else call(index_put, (x, value, where), options)


def _lead_shape(shape, where, dims):
    """The shape of x[where]."""
    first = dims[0] if dims == tuple(range(dims[0], dims[0] + len(dims))) else 0
    rest = [n for d, n in enumerate(shape) if d not in dims]
    return (*rest[:first], *where, *rest[first:])


def index_put_(self, indices, values, accumulate=False):
    """Write values at the positions given by a tuple of index tensors; accumulate adds them instead."""
    _check_write(self, values)
    return _put(self, *_given_positions(self, indices), values, accumulate)


def _index_put(input, indices, values, accumulate=False):
    """A copy with values written (or added: accumulate) at the positions given by a tuple of index tensors."""
    return _put(input, *_given_positions(input, indices), values, accumulate, write=False)


def _given_positions(x, indices):
    return _positions(x, [i if i is None else _as_index(i, x._device) for i in indices])


method(getitem, "__getitem__")
method(setitem, "__setitem__")
method(index_put_)
public(_index_put, "index_put", also_method=True)
