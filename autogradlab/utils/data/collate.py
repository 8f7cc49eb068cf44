"""From a list of samples to one batch: tensors are stacked, numbers become a tensor, containers are kept."""

import collections.abc

import numpy

from autogradlab import dtypes
from autogradlab.late import functions
from autogradlab.tensor import Tensor


def default_convert(data):
    """NumPy arrays as tensors, in containers too; everything else as it is (for a DataLoader without batches)."""
    if isinstance(data, Tensor) or isinstance(data, (str, bytes)):
        return data
    if isinstance(data, (numpy.ndarray, numpy.generic)) and data.dtype.kind in "biuf":
        return functions["as_tensor"](data)
    return _rebuilt(data, lambda items: [default_convert(v) for v in items])


def _rebuilt(data, change):
    """A container of the same kind with other items; what is no container, as it is."""
    if isinstance(data, collections.abc.Mapping):
        values = dict(zip(data, change(data.values()), strict=True))
        try:
            return type(data)(values)
        except TypeError:
            return values
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*change(data))
    if isinstance(data, collections.abc.Sequence):
        return change(data) if isinstance(data, tuple) else _of_kind(data, change(data))
    return data


def _of_kind(data, items):
    try:
        return type(data)(items)
    except TypeError:
        return items


def default_collate(batch):
    """One batch out of a list of samples of the same form: each tensor gets a first dimension more.

    Numbers become a tensor, texts a list, and dicts, lists and tuples are gone into.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return functions["stack"](list(batch), 0)
    if isinstance(first, (numpy.ndarray, numpy.generic)):
        if first.dtype.kind not in "biuf":
            raise TypeError(f"default_collate: arrays of dtype {first.dtype} cannot become tensors.")
        return functions["stack"]([functions["as_tensor"](a) for a in batch], 0)
    if isinstance(first, float):
        return functions["tensor"](batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return functions["tensor"](batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(first, lambda _: [default_collate([d[key] for d in batch]) for key in first])
    if isinstance(first, collections.abc.Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError(f"each element in list of batch should be of equal size: got {[len(s) for s in batch]}.")
        return _rebuilt(first, lambda _: [default_collate(column) for column in zip(*batch, strict=True)])
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first).__name__}. Pass a collate_fn of your own."
    )
