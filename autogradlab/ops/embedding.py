"""Embedding: rows of a table, looked up by number.  And one_hot, which writes the numbers as rows of 0 and 1."""

from autogradlab import dtypes, late
from autogradlab.modes import as_one
from autogradlab.table import explained, functions, nn_functions, operator
from autogradlab.tensor import Tensor

from .index import bounds
from .kinds import add_up, floating


def _rows(make):
    yield (make(5, 3), make.ints(0, 5, (4,))), {}
    yield (make(4, 2), make.ints(0, 4, (2, 3))), {}


@operator(node="EmbeddingBackward0", accepts=floating, promote=False, public=(), samples=_rows)
class lookup:
    """The row of the table at each index.  padding_idx: a row that gets no gradient."""

    def arguments(weight, indices, padding_idx=-1, scale_grad_by_freq=False):
        return (weight, indices), {"padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq}

    def kernel(xp, a, index, /, padding_idx, scale_grad_by_freq):
        return xp.take(a, index, axis=0)

    def grad_a(g, index, a_shape, padding_idx, scale_grad_by_freq):
        return lookup_sum(g, index, rows=a_shape[0], skip=padding_idx, scale=scale_grad_by_freq)


@operator(public=(), promote=False,
          samples=lambda make: [((make(4, 3), make.ints(0, 5, (4,)), 5), {}),
                                ((make(2, 3, 2), make.ints(0, 4, (2, 3)), 4), {"skip": 2, "scale": True})])  # fmt: skip
class lookup_sum:
    """A table of zeros with the gradient of every row that was looked up added to it."""

    def arguments(input, index, rows, skip=-1, scale=False):
        return (input, index), {"rows": rows, "skip": skip, "scale": scale}

    def kernel(xp, a, index, /, rows, skip=-1, scale=False):
        out = xp.zeros((rows, a.shape[-1]), a.dtype)
        add_up(xp, out, index, _counted(xp, a, index, rows, skip, scale))
        return out

    def grad_a(g, index, skip, scale):
        return lookup_part(g, index, skip=skip, scale=scale)


@operator(public=(), promote=False,
          samples=lambda make: [((make(4, 2), make.ints(0, 4, (2, 3))), {"skip": 2, "scale": True})])  # fmt: skip
class lookup_part:
    """The rows a gradient by the table is made of: lookup, with the same weights as lookup_sum."""

    def arguments(input, index, skip=-1, scale=False):
        return (input, index), {"skip": skip, "scale": scale}

    def kernel(xp, a, index, /, skip, scale):
        return _counted(xp, xp.take(a, index, axis=0), index, a.shape[0], skip, scale)

    def grad_a(g, index, a_shape, skip, scale):
        return lookup_sum(g, index, rows=a_shape[0], skip=skip, scale=scale)


def _counted(xp, rows, index, n: int, skip: int, scale: bool):
    """Rows for each index: none for `skip`; with `scale`, over how often the index occurs."""
    if skip >= 0:
        rows = rows * (index != skip).astype(rows.dtype)[..., None]
    if scale:
        times = xp.bincount(index.reshape(-1), minlength=n).astype(rows.dtype)
        rows = rows / times[index][..., None]
    return rows


@as_one
def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type: float = 2.0, scale_grad_by_freq=False, sparse=False
):
    """The rows of `weight` (entries, size) at the integers `input` (any shape): (..., size).

    padding_idx: an entry that is not learned.  max_norm: rows longer than this are shortened first, in place.
    """
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        wrong = type(weight if isinstance(input, Tensor) else input).__name__
        raise TypeError(f"embedding(): arguments 'input' and 'weight' must be Tensor, not {wrong}.")
    if input._dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"Expected tensor for argument 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input._dtype.legacy_name}Tensor instead."
        )
    if weight.dim() != 2:
        raise RuntimeError(f"'weight' must be 2-D: got shape {tuple(weight.shape)}.")
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx = padding_idx % rows
    if input.numel():
        low, high = bounds(input)
        if low < 0 or high >= rows:
            raise IndexError(
                f"index out of range in self: index {low if low < 0 else high}, and the table has {rows} rows, counted "
                "from 0."
            )
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return lookup.function(weight, input, -1 if padding_idx is None else padding_idx, bool(scale_grad_by_freq))


def _shorten(weight, input, max_norm: float, norm_type: float) -> None:
    """Rows that are looked up and longer than max_norm, made that long."""
    table = weight.detach()
    chosen = input.reshape(-1).unique()
    rows = table[chosen]
    lengths = rows.norm(norm_type, dim=1, keepdim=True)
    table[chosen] = rows * late.functions["where"](lengths > max_norm, max_norm / (lengths + 1e-7), lengths * 0 + 1)


def one_hot(tensor, num_classes: int = -1):
    """A row of zeros for each integer, with 1 at the place it names."""
    if tensor._dtype is not dtypes.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, but got {tensor._dtype}.")
    if not tensor.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return tensor.new_zeros(*tensor.shape, num_classes)
    low, high = bounds(tensor)
    if low < 0:
        raise RuntimeError(f"Class values must be non-negative: got {low}.")
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes <= high:
        raise RuntimeError(f"Class values must be smaller than num_classes: got {high} and num_classes={num_classes}.")
    places = late.functions["arange"](num_classes, device=tensor._device)
    return (tensor.unsqueeze(-1) == places).to(dtypes.int64)


nn_functions["embedding"], nn_functions["one_hot"] = explained(embedding), explained(one_hot)


def _torch_embedding(weight, indices, padding_idx: int = -1, scale_grad_by_freq=False, sparse=False):
    """nn.functional.embedding, as torch has it: the table first."""
    return embedding(indices, weight, padding_idx if padding_idx >= 0 else None, None, 2.0, scale_grad_by_freq)


functions["embedding"] = _torch_embedding
