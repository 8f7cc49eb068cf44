"""Putting together and taking apart, made of views, cat and indexing: the stack and split families, atleast, rot90."""

import itertools

import numpy

from autogradlab import dtypes, shapes
from autogradlab.convert import common_dtype
from autogradlab.table import alias, method, public
from autogradlab.tensor import Tensor

from .copy import to
from .create import finish, zeros
from .gather import index_select
from .join import _meshgrid, cat, flip, stack
from .kinds import numpy_words
from .out import takes_out
from .shape import reshape, transpose
from .slices import narrow, split


def _each(fn):
    """A function of tensors one by one, or of several in one list or row."""

    def face(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return fn(tensors[0])
        tensors = tensors[0] if len(tensors) == 1 else tensors
        return tuple(fn(t) for t in tensors)

    face.__name__ = face.__qualname__ = fn.__name__.lstrip("_")
    face.__doc__ = fn.__doc__
    return public(face)


def _atleast_1d(t):
    """A number as a vector of one element."""
    return t if t.dim() else reshape(t, (1,))


def _atleast_2d(t):
    """A number or vector as a matrix of one row."""
    return t if t.dim() >= 2 else reshape(t, (1, -1) if t.numel() or not t.dim() else (1, 0))


def _atleast_3d(t):
    """A matrix or less with dimensions of size 1 added: behind, and for vectors one in front too."""
    return t if t.dim() >= 3 else _atleast_2d(t).unsqueeze(-1) if t.dim() < 2 else t.unsqueeze(-1)


for _fn in (_atleast_1d, _atleast_2d, _atleast_3d):
    _each(_fn)


def _some(name: str, tensors) -> list:
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList.")
    return tensors


def hstack(tensors):
    """Tensors side by side: along dimension 1, or 0 for vectors."""
    tensors = [_atleast_1d(t) for t in _some("hstack", tensors)]
    return cat.function(tensors, 0 if tensors[0].dim() == 1 else 1)


def vstack(tensors):
    """Tensors one below the other: along dimension 0, vectors as rows."""
    return cat.function([_atleast_2d(t) for t in _some("vstack", tensors)], 0)


def dstack(tensors):
    """Tensors one behind the other: along dimension 2."""
    return cat.function([_atleast_3d(t) for t in _some("dstack", tensors)], 2)


def column_stack(tensors):
    """Tensors side by side, vectors as columns."""
    tensors = _some("column_stack", tensors)
    return hstack([reshape(t, (t.numel(), 1)) if t.dim() <= 1 else t for t in tensors])


def block_diag(*tensors):
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(f"block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()}.")
    if not tensors:
        return zeros(1, 0)
    blocks = [_atleast_2d(t) for t in tensors]
    common, width = common_dtype(blocks), sum(t.shape[1] for t in blocks)
    rows, start = [], 0
    for t in blocks:
        height, columns = t.shape
        pads = [t.new_zeros(height, start, dtype=common), t.new_zeros(height, width - start - columns, dtype=common)]
        rows.append(cat.function([pads[0], to(t, common), pads[1]], 1))
        start += columns
    return cat.function(rows, 0)


for _fn in (hstack, vstack, dstack, column_stack):
    public(_fn, around=takes_out)
public(block_diag)
alias("row_stack", "vstack")


# Taking apart ---------------------------------------------------------------------------------------------------------


@numpy_words
def tensor_split(input, indices_or_sections, dim=0):
    """The tensor cut along a dimension into n parts (the first ones longer by one), or before the given indices."""
    if not input.dim():
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims.")
    dim = shapes.wrap_dim(dim, input.dim())
    size, cuts = input.shape[dim], indices_or_sections
    if isinstance(cuts, Tensor):
        if cuts.dim() > 1 or cuts._dtype is not dtypes.int64:
            raise RuntimeError(
                "tensor_split: tensor_indices_or_sections must be a long tensor of at most one dimension."
            )
        cuts = cuts.tolist()
    if isinstance(cuts, int):
        if cuts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cuts}.")
        lengths = [size // cuts + (i < size % cuts) for i in range(cuts)]
        return split.function(input, lengths, dim)
    edges = [0, *[slice(None, c).indices(size)[1] for c in cuts], size]
    return tuple(narrow(input, dim, min(a, size), max(b - a, 0)) for a, b in itertools.pairwise(edges))


def _splitter(name: str, least: int, dim: int, says: str):
    def splits(input, indices_or_sections):
        if input.dim() < least:
            raise RuntimeError(f"{name} requires a tensor with at least {least} dimensions, but got {input.dim()}.")
        d = 0 if name == "hsplit" and input.dim() == 1 else dim
        if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or input.shape[d] % indices_or_sections):
            raise RuntimeError(
                f"{name} attempted to split along dimension {d}, but the size of the dimension {input.shape[d]} is not "
                f"divisible by the split_size {indices_or_sections}."
            )
        return tensor_split(input, indices_or_sections, d)

    splits.__name__ = splits.__qualname__ = name
    splits.__doc__ = says
    return public(splits, also_method=True)


_splitter("hsplit", 1, 1, "tensor_split() into equal parts along dimension 1 (0 for vectors).")
_splitter("vsplit", 2, 0, "tensor_split() into equal parts along dimension 0.")
_splitter("dsplit", 3, 2, "tensor_split() into equal parts along dimension 2.")
public(tensor_split, also_method=True)
method(lambda self, split_sizes, dim=0: split.function(self, list(split_sizes), dim), "split_with_sizes")
public(lambda input, split_sizes, dim=0: split.function(input, list(split_sizes), dim), "split_with_sizes")


# Turned and mirrored --------------------------------------------------------------------------------------------------


def fliplr(input):
    """The columns in reverse order."""
    if input.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip.function(input, (1,))


def flipud(input):
    """The rows in reverse order."""
    if input.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip.function(input, (0,))


def rot90(input, k=1, dims=(0, 1)):
    """Turned by k quarters from the first of two dimensions towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}.")
    if input.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.dim()}.")
    a, b = (shapes.wrap_dim(d, input.dim()) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}.")
    k %= 4
    if k == 2:
        return flip.function(input, (a, b))
    if k == 0:
        return input.clone()
    return transpose.function(flip.function(input, ((b,) if k == 1 else (a,))), a, b)


for _fn in (fliplr, flipud, rot90):
    public(_fn, also_method=True)


# Repeated and combined ------------------------------------------------------------------------------------------------


@numpy_words
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each slice repeated (all as often, or as listed) along a dimension; without dim the tensor counts as flat."""
    if repeats is None:
        return repeat_interleave(input.new_tensor(numpy.arange(input.numel()), dtype=dtypes.int64), input)
    line = reshape(input, (-1,)) if dim is None or not input.dim() else input
    dim = 0 if dim is None else shapes.wrap_dim(dim, line.dim())
    size = line.shape[dim]
    if isinstance(repeats, Tensor):
        if repeats._dtype not in (dtypes.int64, dtypes.int32):
            raise RuntimeError(f"repeats has to be Long or Int tensor: got {repeats._dtype}.")
        if repeats.dim() > 1:
            raise RuntimeError(f"repeat_interleave only accepts 1D vector as repeat: got {repeats.dim()} dimensions.")
        repeats = repeats.tolist()
    counts = [repeats] * size if isinstance(repeats, int) else repeats if len(repeats) != 1 else repeats * size
    if len(counts) != size:
        raise RuntimeError(f"repeats must have the same size as input along dim, but got {len(counts)} and {size}.")
    if any(c < 0 for c in counts):
        raise RuntimeError("repeats can not be negative.")
    where = finish(numpy.repeat(numpy.arange(size), counts), dtypes.int64, input._device, False)
    if output_size is not None and output_size != where.numel():
        raise RuntimeError(f"allocated size does not match required size: {output_size} != {where.numel()}.")
    return index_select.function(line, dim, where)


public(repeat_interleave, also_method=True)


def cartesian_prod(*tensors):
    """All combinations of one element from each vector, a row each."""
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {tuple(t.shape)}.")
    if len(tensors) == 1:
        return tensors[0]
    return stack.function([reshape(t, (-1,)) for t in _meshgrid(tensors, "ij")], 1)


def combinations(input, r=2, with_replacement=False):
    """All choices of r elements of a vector, in order, a row each."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {tuple(input.shape)}.")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}.")
    if r == 0:
        return input.new_zeros(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = numpy.array(list(choose(range(input.numel()), r)), "int64").reshape(-1, r)
    return input[finish(rows, dtypes.int64, input._device, False)]


public(cartesian_prod)
public(combinations, also_method=True)


def _triangle(name: str, function):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
        if row < 0 or col < 0:
            raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}.")
        dtype = dtypes.int64 if dtype is None else dtype
        return finish(numpy.stack(function(row, offset, col)).astype(dtype.numpy), dtype, device, False)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = f"The row and column indices of the {'lower' if name == 'tril_indices' else 'upper'} triangle."
    return public(indices)


_triangle("tril_indices", numpy.tril_indices)
_triangle("triu_indices", numpy.triu_indices)
