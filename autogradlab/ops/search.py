"""Looking things up: unique, isin, searchsorted, bucketize, unravel_index.  None of these has a gradient."""

import numpy

from autogradlab import dtypes
from autogradlab.table import public
from autogradlab.tensor import Tensor

from .copy import to
from .create import finish, tensor
from .join import stack
from .out import call_out, out_


def _int64(array, beside) -> Tensor:
    return finish(numpy.array(array, "int64", order="C"), dtypes.int64, beside._device, False)


def _packed(values, inverse, counts, wanted):
    extras = [t for t, want in zip((inverse, counts), wanted, strict=True) if want]
    return (values, *extras) if extras else values


def _values(array, beside, order="C") -> Tensor:
    return finish(array.copy(order), beside._dtype, beside._device, False)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along dim) in order; with return_inverse where each went, with return_counts how
    often it occurs.  Every nan is distinct.
    """
    host = numpy.array(input.detach().host())
    wide = host.astype("float32") if input._dtype.is_half else host
    if dim is None:
        found, inverse, counts = numpy.unique(wide, return_inverse=True, return_counts=True, equal_nan=False)
        inverse = inverse.reshape(host.shape)
    else:
        if wide.ndim and 0 in wide.shape and wide.shape[dim] != 0:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied.")
        wide = wide if wide.ndim else wide.reshape(1)
        found, inverse, counts = numpy.unique(wide, return_inverse=True, return_counts=True, axis=dim)
        inverse = inverse.reshape(-1)
    made = _values(found.astype(host.dtype), input)
    return _packed(made, _int64(inverse, input), _int64(counts, input), (return_inverse, return_counts))


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along dim) without those that equal the one just before."""
    host = numpy.array(input.detach().host())
    line = host.reshape(-1) if dim is None or not host.ndim else numpy.moveaxis(host, dim, 0)
    n = line.shape[0]
    changes = (line[1:] != line[:-1]).any(tuple(range(1, line.ndim)))
    first = numpy.concatenate([numpy.ones(min(n, 1), bool), changes])
    starts = numpy.flatnonzero(first)
    found = line[starts]
    inverse = numpy.cumsum(first) - 1
    counts = numpy.diff(numpy.append(starts, n))
    if dim is None:
        inverse = inverse.reshape(host.shape)
    elif host.ndim:
        found = numpy.moveaxis(found, 0, dim)
    extras = (_int64(inverse, input), _int64(counts, input))
    return _packed(_values(found, input, "K"), *extras, (return_inverse, return_counts))


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Where an element is among the test elements."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin(): one of elements and test_elements must be a Tensor.")
    beside = elements if isinstance(elements, Tensor) else test_elements
    a, b = (t if isinstance(t, Tensor) else tensor(t, device=beside._device) for t in (elements, test_elements))
    found = (a.unsqueeze(-1) == b.reshape(-1)).any(-1)
    return ~found if invert else found


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None):
    """Where in a sorted sequence (or each row of several) values would have to stand: before equal ones, or behind
    them (right).
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}.")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites.")
    beside = sorted_sequence
    values = input if isinstance(input, Tensor) else tensor(input, device=beside._device)
    if not beside.dim():
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension.")
    if beside.dim() > 1 and (values.dim() != beside.dim() or values.shape[:-1] != beside.shape[:-1]):
        raise RuntimeError(
            f"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match: got {tuple(beside.shape)} and {tuple(values.shape)}."
        )
    if isinstance(input, Tensor) and beside._dtype is not values._dtype:
        raise RuntimeError(
            f"torch.searchsorted(): boundary and input value tensors should have same dtype, but got {beside._dtype} "
            f"and {values._dtype}."
        )
    if sorter is not None:
        if sorter._dtype is not dtypes.int64 or sorter.shape != beside.shape:
            raise RuntimeError("torch.searchsorted(): sorter must be a long tensor of the boundaries' shape.")
        beside = beside.gather(-1, sorter)
    side = "right" if right or side == "right" else "left"
    table, wanted = (t.detach().cpu() for t in (beside, values))
    table, wanted = (t.float().host() if t._dtype.is_half else t.host() for t in (table, wanted))
    if table.ndim == 1:
        where = numpy.searchsorted(table, wanted, side)
    else:
        rows = zip(table.reshape(-1, table.shape[-1]), wanted.reshape(-1, wanted.shape[-1]), strict=True)
        where = numpy.array([numpy.searchsorted(t, v, side) for t, v in rows]).reshape(wanted.shape)
    dtype = dtypes.int32 if out_int32 else dtypes.int64
    if out is not None and out._dtype is not dtype:
        raise RuntimeError(f"torch.searchsorted(): output tensor's dtype is wrong: expected {dtype}, got {out._dtype}.")
    made = finish(numpy.asarray(where).astype(dtype.numpy), dtype, beside._device, False)
    return made if out is None else call_out(out_, out, (made,))


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """Which of the intervals between sorted boundaries each element falls into."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()}).")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


def unravel_index(indices, shape):
    """The coordinates of flat positions in a tensor of a shape: one tensor a dimension."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    out, indices = [], to(indices, dtypes.int64)
    for n in reversed(shape):
        out.append(indices % n)
        indices = indices // n
    return stack.function(out[::-1], -1).unbind(-1) if out else ()


public(unique, also_method=True)
public(unique_consecutive, also_method=True)
for _fn in (searchsorted, bucketize, isin, unravel_index):
    public(_fn)
