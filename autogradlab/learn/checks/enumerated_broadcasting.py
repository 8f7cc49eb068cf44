"""Right answers about broadcasting, found by visiting every element of the result.

The rule itself is one function, partner: which element of an operand takes part in which element of the result.
Shapes, sums and gradients follow from it by counting.
"""

from .arrays import Array
from .enumerated import expand, indices

Ints = tuple[int, ...]


def misfit(shapes: list[Ints]) -> int | None:
    """The last dimension of the common shape in which two sizes other than 1 meet; None if there is none."""
    ndim = max(map(len, shapes), default=0)
    columns = [{shape[len(shape) - ndim + d] for shape in shapes if len(shape) >= ndim - d} for d in range(ndim)]
    wrong = [d for d, sizes in enumerate(columns) if len(sizes - {1}) > 1]
    return wrong[-1] if wrong else None


def common(*shapes: Ints) -> Ints | None:
    """In each dimension the one size that is not 1, or 1; None if the shapes do not fit."""
    if misfit(list(shapes)) is not None:
        return None
    ndim = max(map(len, shapes), default=0)
    columns = [{shape[len(shape) - ndim + d] for shape in shapes if len(shape) >= ndim - d} for d in range(ndim)]
    return tuple(next(iter(sizes - {1}), 1) for sizes in columns)


def partner(index: Ints, shape: Ints) -> Ints:
    """The element of an operand of this shape that is used for this element of the result."""
    behind = index[len(index) - len(shape) :]
    return tuple(0 if size == 1 else i for i, size in zip(behind, shape, strict=True))


def strides(shape: Ints, stride: Ints, result: Ints) -> Ints:
    """The strides of an expanded view."""
    return expand(shape, stride, result)[1]


def elements(values: list | tuple, shape: Ints, result: Ints) -> list:
    """The operand's elements in the order in which the result reads them."""
    numbered = dict(zip(indices(shape), values, strict=True))
    return [numbered[partner(index, shape)] for index in indices(result)]


def add_lists(a: list, a_shape: Ints, b: list, b_shape: Ints) -> tuple[Ints, list]:
    """The common shape, and the sums in reading order."""
    result = common(a_shape, b_shape)
    pairs = zip(elements(a, a_shape, result), elements(b, b_shape, result), strict=True)
    return result, [x + y for x, y in pairs]


def summed_dims(shape: Ints, target: Ints) -> Ints:
    """The dimensions along which one element of the target is read for several of the result, or for none."""
    added = len(shape) - len(target)
    return tuple(d for d, size in enumerate(shape) if d < added or size != target[d - added])


def sum_to_shape(g: Array, target: Ints, dtype: str | None = None) -> Array:
    """Each element's gradient is the sum of the gradients of all elements it was read for."""
    sums = {index: 0.0 for index in indices(target)}
    for index, number in zip(indices(g.shape), g.values, strict=True):
        sums[partner(index, target)] += number
    return Array(dtype or g.dtype, target, tuple(sums.values()))


def add_and_backward(a: Array, b: Array, g: Array) -> tuple[Array, Array, Array]:
    """The sum of a and b, and what arrives at each when g arrives at the sum."""
    shape, values = add_lists(list(a.values), a.shape, list(b.values), b.shape)
    dtype = "float64" if "float64" in (a.dtype, b.dtype) else "float32"
    return Array(dtype, shape, tuple(values)), *(sum_to_shape(g, x.shape, x.dtype) for x in (a, b))


def mean_square(a: Array, b: Array) -> float:
    """The mean of (a - b)**2, broadcast."""
    shape, sums = add_lists(list(a.values), a.shape, [-y for y in b.values], b.shape)
    return sum(x * x for x in sums) / max(len(sums), 1)
