"""Pooling: the largest or the mean of every patch.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html
"""

from math import prod

from autogradlab import dtypes, errors
from autogradlab.size import return_type
from autogradlab.table import functions, nn_functions, operator
from autogradlab.tensor import Tensor

from .gather import scatter_zeros
from .kinds import floating, floating_or_long, not_bool
from .patches import places, spread
from .pointwise import trunc_divide

max_result = return_type("max_pool2d_with_indices", "values indices")


def pooled_size(shape, kernel, stride, padding, dilation, ceil_mode: bool) -> tuple:
    """How many patches each dimension has.  ceil_mode: one more for what is left over, if it starts inside."""
    sizes = []
    for n, k, s, p, d in zip(shape, kernel, stride, padding, dilation, strict=True):
        rest = n + 2 * p - d * (k - 1) - 1
        size = (rest + (s - 1 if ceil_mode else 0)) // s + 1
        sizes.append(size - 1 if ceil_mode and (size - 1) * s >= n + p else size)
    return tuple(sizes)


def _canvas(shape, size, kernel, stride, padding, dilation) -> tuple:
    """The length of each dimension with everything the patches reach."""
    return tuple(
        max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1)
        for n, o, k, s, p, d in zip(shape, size, kernel, stride, padding, dilation, strict=True)
    )


def _on_canvas(xp, a, size, kernel, stride, padding, dilation, value):
    """The input's planes as (1, planes, *spatial), surrounded by a value as far as the patches reach."""
    shape = a.shape[-len(kernel) :]
    planes = a.reshape((1, prod(a.shape[: -len(kernel)]), *shape))
    whole = _canvas(shape, size, kernel, stride, padding, dilation)
    if whole == shape:
        return planes
    out = xp.full((*planes.shape[:2], *whole), value, a.dtype)
    out[(..., *(slice(p, p + n) for p, n in zip(padding, shape, strict=True)))] = planes
    return out


def _checked(name: str, n: int, input, kernel_size, stride, padding, dilation=1):
    """The numbers of a pooling, checked, one for each dimension."""
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D input, but got input of size {list(input.shape)}.")
    if not all(input.shape[-n - 1 :]):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D tensor in which only the batch may be of size 0, but got "
            f"{list(input.shape)}."
        )
    kernel = spread(kernel_size, n, "kernel_size")
    stride = kernel if stride is None or stride == () or stride == [] else spread(stride, n, "stride")
    padding, dilation = spread(padding, n, "padding"), spread(dilation, n, "dilation")
    for what, values in (("kernel size", kernel), ("stride", stride), ("dilation", dilation)):
        if min(values) <= 0:
            raise RuntimeError(f"{name}: {what} should be greater than zero, but got {values}.")
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p < 0 or p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at least 0 and at most half of effective kernel size, but got pad={p}, kernel_size={k} "
                f"and dilation={d}"
            )
    return {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}


def _places_to_be(name: str, input, size) -> None:
    if min(size) <= 0:
        raise RuntimeError(
            f"{name}: given input size {tuple(input.shape)}, the calculated output size {size} is too small."
        )


# The largest ----------------------------------------------------------------------------------------------------------


def _max_samples(make):
    yield (make(2, 2, 4, 5), 2), {}
    yield (make(1, 5, 6), (3, 2)), {"stride": (2, 1), "padding": 1, "ceil_mode": True}
    yield (make(1, 1, 6, 5), 2), {"dilation": 2}


@operator(node="MaxPool2DWithIndicesBackward0", accepts=not_bool, outputs=max_result, public=(), samples=_max_samples)
class max_pool:
    """The largest of every patch, and where in its plane it was, counted along the rows."""

    def arguments(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        options = _checked("max_pool2d", 2, input, kernel_size, stride, padding, dilation)
        size = pooled_size(input.shape[-2:], *options.values(), ceil_mode)
        _places_to_be("max_pool2d", input, size)
        return (input,), {**options, "size": size}

    def kernel(xp, a, /, kernel_size, stride, padding, dilation, size):
        low = -xp.inf if a.dtype.kind == "f" else dtypes.iinfo(dtypes.from_numpy(a.dtype)).min
        canvas = _on_canvas(xp, a, size, kernel_size, stride, padding, dilation, low)
        starts = [xp.arange(o) * s - p for o, s, p in zip(size, stride, padding, strict=True)]
        shape = (1, canvas.shape[1], *size)
        best = xp.full(shape, low, a.dtype)
        inside = [at + (xp.maximum(-at, 0) + d - 1) // d * d for at, d in zip(starts, dilation, strict=True)]
        where = xp.zeros(shape, "int64") + (inside[0].reshape((-1, 1)) * a.shape[-1] + inside[1])
        for (_, _, row, column), seen in places(kernel_size, size, stride, dilation):
            flat = (starts[0] + row * dilation[0]).reshape((-1, 1)) * a.shape[-1] + (starts[1] + column * dilation[1])
            values = canvas[seen]
            better = (values > best) | (values != values)
            xp.copyto(best, values, where=better)
            xp.copyto(where, xp.broadcast_to(flat, where.shape), where=better)
        shape = (*a.shape[:-2], *size)
        return best.reshape(shape), where.reshape(shape)

    def grad_a(g, indices, a_shape):
        lead = a_shape[:-2]
        rows, where = g.reshape((*lead, -1)), indices.reshape((*lead, -1))
        return scatter_zeros(rows, where, (*lead, a_shape[-2] * a_shape[-1]), len(lead)).reshape(a_shape)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of every patch of (N, C, H, W) or (C, H, W).

    return_indices: also where in its plane each was.
    """
    found = max_pool.function(input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(found) if return_indices else found[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of every stretch of (N, C, L) or (C, L)."""
    one = _checked("max_pool1d", 1, input, kernel_size, stride, padding, dilation)
    if not return_indices and not input._dtype.is_floating_point:
        raise errors.not_implemented("max_pool1d", input._dtype)
    found = max_pool2d(
        input.unsqueeze(-2), (1, *one["kernel_size"]), (1, *one["stride"]), (0, *one["padding"]),
        (1, *one["dilation"]), ceil_mode, True,
    )  # fmt: skip
    return tuple(t.squeeze(-2) for t in found) if return_indices else found[0].squeeze(-2)


# The mean -------------------------------------------------------------------------------------------------------------


def _divisors(xp, dtype, shape, size, kernel, stride, padding, include: bool):
    """By how much the sum of each patch is divided: the cells it has, within the padding or within the input."""
    counts = []
    for n, o, k, s, p in zip(shape, size, kernel, stride, padding, strict=True):
        starts = [i * s - p for i in range(o)]
        low, high = (-p, n + p) if include else (0, n)
        counts.append([min(start + k, high) - max(start, low) for start in starts])
    if all(len(set(c)) == 1 for c in counts):
        return prod(c[0] for c in counts)
    rows, columns = (xp.array(c, dtype=dtype) for c in counts)
    return rows.reshape((-1, 1)) * columns


def _avg_samples(make):
    yield (make(2, 2, 4, 5), 2), {}
    yield (make(1, 5, 6), (3, 2)), {"stride": (2, 1), "padding": 1, "ceil_mode": True}
    yield (make(1, 1, 5, 5), 3), {"stride": 2, "padding": 1, "count_include_pad": False}
    yield (make(1, 1, 5, 5), 3), {"divisor_override": 2}


@operator(node="AvgPool2DBackward0", accepts=floating_or_long, public=(), samples=_avg_samples)
class avg_pool:
    """The mean of every patch."""

    def arguments(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        options = _checked("avg_pool2d", 2, input, kernel_size, stride, padding)
        if divisor_override == 0:
            raise RuntimeError("avg_pool2d: divisor must be not zero.")
        size = pooled_size(input.shape[-2:], *options.values(), ceil_mode)
        _places_to_be("avg_pool2d", input, size)
        return (input,), {**options, "size": size, "divisor": divisor_override, "include": count_include_pad}

    def kernel(xp, a, /, kernel_size, stride, padding, dilation, size, divisor, include):
        canvas, out = _on_canvas(xp, a, size, kernel_size, stride, padding, dilation, 0), None
        for _, seen in places(kernel_size, size, stride, dilation):
            if out is None:
                out = canvas[seen].copy()
            else:
                out += canvas[seen]
        count = divisor or _divisors(xp, a.dtype, a.shape[-2:], size, kernel_size, stride, padding, include)
        out = trunc_divide.kernel(xp, out, xp.array(count, dtype=a.dtype)) if a.dtype.kind == "i" else out / count
        return out.reshape((*a.shape[:-2], *size))

    def grad_a(g, a_shape, kernel_size, stride, padding, size, divisor, include):
        return avg_unpool(
            g, shape=a_shape, kernel_size=kernel_size, stride=stride, padding=padding, size=size, divisor=divisor,
            include=include,
        )  # fmt: skip


def _unpool_samples(make):
    for include in (True, False):
        options = {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "size": (3, 3), "divisor": None}
        yield (make(1, 1, 3, 3),), {"shape": (1, 1, 5, 5), "include": include, **options}


@operator(public=(), samples=_unpool_samples)
class avg_unpool:
    """The gradient of a mean of patches: each number's part, added to every cell of its patch."""

    def arguments(input, **options):
        return (input,), options

    def kernel(xp, a, /, shape, kernel_size, stride, padding, size, divisor, include):
        planes = prod(shape[:-2])
        each = a.reshape((1, planes, *size))
        each = each / (divisor or _divisors(xp, a.dtype, shape[-2:], size, kernel_size, stride, padding, include))
        out = xp.zeros((1, planes, *_canvas(shape[-2:], size, kernel_size, stride, padding, (1, 1))), a.dtype)
        for _, seen in places(kernel_size, size, stride, (1, 1)):
            out[seen] += each
        inside = tuple(slice(p, p + n) for p, n in zip(padding, shape[-2:], strict=True))
        return xp.ascontiguousarray(out[(..., *inside)]).reshape(shape)

    def grad_a(g, kernel_size, stride, padding, size, divisor, include):
        if not isinstance(g, Tensor):
            return avg_pool(
                g, kernel_size=kernel_size, stride=stride, padding=padding, dilation=(1, 1), size=size,
                divisor=divisor, include=include,
            )  # fmt: skip
        n = g.shape[-2:]
        ceil_mode = size != pooled_size(n, kernel_size, stride, padding, (1, 1), False)
        return avg_pool(g, kernel_size, stride, padding, ceil_mode, include, divisor)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of every patch of (N, C, H, W) or (C, H, W).

    count_include_pad: whether the padding's zeros count.  divisor_override: divide the sums by this instead.
    """
    return avg_pool.function(input, kernel_size, stride, padding, ceil_mode, bool(count_include_pad), divisor_override)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of every stretch of (N, C, L) or (C, L)."""
    one = _checked("avg_pool1d", 1, input, kernel_size, stride, padding)
    kernel, stride, padding = ((i, *one[w]) for i, w in ((1, "kernel_size"), (1, "stride"), (0, "padding")))
    return avg_pool2d(input.unsqueeze(-2), kernel, stride, padding, ceil_mode, count_include_pad).squeeze(-2)


# To a given size ------------------------------------------------------------------------------------------------------


def _averaging(xp, n: int, size: int, dtype):
    """The matrix that makes n numbers into `size` means of neighbours."""
    rows = []
    for i in range(size):
        start, stop = i * n // size, -(-(i + 1) * n // size)
        rows.append([1 / (stop - start) if start <= j < stop else 0 for j in range(n)])
    return xp.array(rows, dtype=dtype).reshape((size, n))


def _adaptive_samples(make):
    yield (make(2, 2, 4, 6), (2, 3)), {}
    yield (make(1, 5, 4), (3, 3)), {}


@operator(node="AdaptiveAvgPool2DBackward0", accepts=floating, public=(), samples=_adaptive_samples)
class adaptive_avg_pool:
    """Means over as many patches as asked for; where they do not divide the input, neighbours overlap."""

    def arguments(input, size):
        return (input,), {"size": tuple(size)}

    def kernel(xp, a, /, size):
        rows, columns = (_averaging(xp, n, o, a.dtype) for n, o in zip(a.shape[-2:], size, strict=True))
        return xp.matmul(xp.matmul(rows, a), columns.T)

    def grad_a(g, a_shape):
        return adaptive_spread(g, shape=a_shape)


@operator(public=(), samples=lambda make: [((make(1, 3, 3),), {"shape": (1, 5, 4)})])
class adaptive_spread:
    """The gradient of such means."""

    def arguments(input, shape):
        return (input,), {"shape": tuple(shape)}

    def kernel(xp, a, /, shape):
        rows, columns = (_averaging(xp, n, o, a.dtype) for n, o in zip(shape[-2:], a.shape[-2:], strict=True))
        return xp.matmul(xp.matmul(rows.T, a), columns)

    def grad_a(g, a_shape):
        return adaptive_avg_pool(g, size=a_shape[-2:])


def adaptive_avg_pool2d(input, output_size):
    """The mean of as many patches as output_size says (None keeps a size): (N, C, H, W) or (C, H, W)."""
    if isinstance(output_size, int) or output_size is None:
        output_size = (output_size, output_size)
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}: got {list(input.shape)}")
    if input.dim() not in (3, 4) or len(output_size) != 2:
        raise RuntimeError(
            f"adaptive_avg_pool2d(): Expected 3D or 4D tensor and an output_size of 2 numbers, but got "
            f"{list(input.shape)} and {tuple(output_size)}."
        )
    size = tuple(n if o is None else o for o, n in zip(output_size, input.shape[-2:], strict=True))
    if any(o < 0 for o in size):
        raise RuntimeError(f"adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0: {size}.")
    return input.mean((-1, -2), keepdim=True) if size == (1, 1) else adaptive_avg_pool.function(input, size)


def adaptive_avg_pool1d(input, output_size):
    """The mean of as many stretches as output_size says: (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"adaptive_avg_pool1d(): Expected 2D or 3D tensor, but got {list(input.shape)}")
    size = spread(output_size, 1, "output_size")
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, *size)).squeeze(-2)


for _fn in (max_pool1d, max_pool2d, avg_pool1d, avg_pool2d, adaptive_avg_pool1d, adaptive_avg_pool2d):
    nn_functions[_fn.__name__] = _fn
for _fn in (max_pool1d, max_pool2d, avg_pool1d, adaptive_avg_pool1d):
    functions[_fn.__name__] = _fn
