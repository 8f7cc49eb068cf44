"""Patches: what a window sees of an input at each of its places, laid out as columns, and back.

Convolution and pooling are made of them; nn.functional.unfold and fold show them.
"""

from functools import lru_cache
from itertools import product
from math import prod

from autogradlab.table import explained, nn_functions, operator

from .kinds import floating_or_bool
from .shape import sizes


def spread(value, n: int, name: str) -> tuple:
    """One number for all dimensions, or one for each."""
    values = sizes((value,))
    if len(values) == 1:
        values *= n
    if len(values) != n:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values, got {list(values)}.")
    return values


def result_size(shape, kernel, stride, padding, dilation) -> tuple:
    """How many places the kernel has in each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(shape, kernel, stride, padding, dilation, strict=True)
    )


def padded(xp, a, padding, value=0):
    """An array with `padding` cells more at both ends of its last dimensions."""
    if not any(padding):
        return a
    lead = a.shape[: a.ndim - len(padding)]
    out = xp.full((*lead, *(n + 2 * p for n, p in zip(a.shape[len(lead) :], padding, strict=True))), value, a.dtype)
    out[(..., *(slice(p, p + n) for n, p in zip(a.shape[len(lead) :], padding, strict=True)))] = a
    return out


@lru_cache(maxsize=256)
def places(kernel, size, stride, dilation) -> tuple:
    """For each cell of the kernel: its index among the columns, and that of what it sees of the padded input."""
    every = slice(None)
    return tuple(
        (
            (every, every, *cell),
            (
                every,
                every,
                *(
                    slice(c * d, c * d + (n - 1) * s + 1, s)
                    for c, d, n, s in zip(cell, dilation, size, stride, strict=True)
                ),
            ),
        )
        for cell in product(*map(range, kernel))
    )


def columns(xp, a, kernel, stride, padding, dilation):
    """im2col: (N, C, *kernel, *size), each patch under the kernel side by side."""
    size = result_size(a.shape[2:], kernel, stride, padding, dilation)
    a = padded(xp, a, padding)
    out = xp.empty((*a.shape[:2], *kernel, *size), a.dtype)
    for cell, where in places(kernel, size, stride, dilation):
        out[cell] = a[where]
    return out


def from_columns(xp, a, shape, kernel, stride, padding, dilation):
    """col2im: the sum of all patches (N, C, *kernel, *size), each where it was taken from."""
    size = a.shape[-len(kernel) :]
    out = xp.zeros((*a.shape[:2], *(n + 2 * p for n, p in zip(shape, padding, strict=True))), a.dtype)
    for cell, where in places(kernel, size, stride, dilation):
        out[where] += a[cell]
    if not any(padding):
        return out
    return xp.ascontiguousarray(out[(..., *(slice(p, p + n) for n, p in zip(shape, padding, strict=True)))])


def _patch_options(kernel_size, dilation, padding, stride):
    words = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return {what: spread(value, 2, what) for what, value in words.items()}


def _patch_samples(make):
    yield (make(2, 2, 4, 3), 2), {}
    yield (make(1, 1, 4, 5), (2, 3)), {"padding": 1, "stride": 2}


@operator(node="Im2ColBackward0", accepts=floating_or_bool, public=(), samples=_patch_samples)
class im2col:
    """All patches of images as columns: (N, C, H, W) gives (N, C * kernel, places)."""

    def arguments(input, kernel_size, dilation=1, padding=0, stride=1):
        return (input,), _patch_options(kernel_size, dilation, padding, stride)

    def kernel(xp, a, /, kernel_size, dilation, padding, stride):
        out = columns(xp, a.reshape((-1, *a.shape[-3:])), kernel_size, stride, padding, dilation)
        return out.reshape((*a.shape[:-3], a.shape[-3] * prod(kernel_size), prod(out.shape[4:])))

    def grad_a(g, a_shape, kernel_size, dilation, padding, stride):
        return col2im(
            g, output_size=a_shape[-2:], kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )


def _column_samples(make):
    yield (make(2, 8, 6), (4, 3), 2), {}
    yield (make(1, 6, 9), (4, 5), (2, 3)), {"padding": 1, "stride": 2}


@operator(node="Col2ImBackward0", accepts=floating_or_bool, public=(), samples=_column_samples)
class col2im:
    """The sum of patches in columns, each where it belongs: (N, C * kernel, places) gives (N, C, *output_size)."""

    def arguments(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
        options = _patch_options(kernel_size, dilation, padding, stride)
        return (input,), {"output_size": tuple(output_size), **options}

    def kernel(xp, a, /, output_size, kernel_size, dilation, padding, stride):
        grid = result_size(output_size, kernel_size, stride, padding, dilation)
        cols = a.reshape((-1, a.shape[-2] // prod(kernel_size), *kernel_size, *grid))
        out = from_columns(xp, cols, output_size, kernel_size, stride, padding, dilation)
        return out.reshape((*a.shape[:-2], *out.shape[1:]))

    def grad_a(g, kernel_size, dilation, padding, stride):
        return im2col(g, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """All patches of images as columns: (N, C, H, W) gives (N, C * kernel, places); (C, H, W) without N."""
    if input.dim() not in (3, 4):
        wrong = IndexError if input.dim() < 3 else RuntimeError
        raise wrong(
            f"unfold: expected 3D or 4D (batch mode) tensor with possibly 0 batch size, but got: {list(input.shape)}"
        )
    options = _patch_options(kernel_size, dilation, padding, stride)
    places = result_size(input.shape[-2:], *(options[w] for w in ("kernel_size", "stride", "padding", "dilation")))
    if min(places) < 1:
        raise RuntimeError(
            f"unfold: a kernel of {options['kernel_size']} has {places} places in an input of size "
            f"{list(input.shape)}: it must have at least one. Take a smaller kernel or dilation, or more padding."
        )
    return im2col.function(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of patches in columns: (N, C * kernel, places) gives (N, C, *output_size).  unfold's transpose."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"fold: expected 2D or 3D (batch mode) tensor, but got: {list(input.shape)}")
    output_size = spread(output_size, 2, "output_size")
    options = _patch_options(kernel_size, dilation, padding, stride)
    blocks = result_size(output_size, options["kernel_size"], *(options[w] for w in ("stride", "padding", "dilation")))
    rows, found = input.shape[-2:]
    if rows % prod(options["kernel_size"]) or found != prod(blocks):
        raise RuntimeError(
            f"fold: expected input of shape (N, C * {prod(options['kernel_size'])}, {prod(blocks)}), the places of the "
            f"kernel in {output_size} being {blocks}, but got: {list(input.shape)}"
        )
    return col2im.function(input, output_size, **options)


nn_functions["unfold"], nn_functions["fold"] = explained(unfold), explained(fold)
