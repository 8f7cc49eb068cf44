"""Padding: more cells at the ends of dimensions, with a constant or with what the input has near them.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
"""

from autogradlab import dtypes, errors
from autogradlab.table import explained, functions, nn_functions, operator


def ends(pad, ndim: int) -> list:
    """(cells before, cells after) of each dimension; `pad` names the last dimension's first."""
    pairs = [(0, 0)] * (ndim - len(pad) // 2)
    return pairs + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]


def _constant_samples(make):
    yield (make(2, 3), (1, 2)), {}
    yield (make(2, 3, 4), (1, 0, -1, 2), 1.5), {}


@operator(node="ConstantPadNdBackward0", moves=True, public=(), samples=_constant_samples)
class constant_pad:
    """More cells at the ends, all of one value; fewer where the padding is negative."""

    def arguments(input, pad, value=0):
        shape = [n + before + after for n, (before, after) in zip(input.shape, ends(pad, input.dim()), strict=True)]
        if any(n < 0 for n in shape):
            raise RuntimeError(
                f"The input size {list(input.shape)}, plus negative padding {tuple(pad)}, resulted in a negative "
                f"output size {shape}, which is invalid."
            )
        return (input,), {"pad": tuple(pad), "value": value}

    def kernel(xp, a, /, pad, value):
        pairs = ends(pad, a.ndim)
        out = xp.full([n + before + after for n, (before, after) in zip(a.shape, pairs, strict=True)], value, a.dtype)
        into = tuple(slice(max(before, 0), n + before + min(after, 0)) for n, (before, after) in _with(a, pairs))
        taken = tuple(slice(max(-before, 0), n + min(after, 0)) for n, (before, after) in _with(a, pairs))
        out[into] = a[taken]
        return out

    def grad_a(g, pad):
        return constant_pad(g, pad=tuple(-n for n in pad), value=0)


def _with(a, pairs):
    return zip(a.shape, pairs, strict=True)


def _source(n: int, before: int, after: int, mode: str) -> list[int]:
    """For each cell of a padded dimension: which cell of the input it repeats."""
    cells = range(-before, n + after)
    if mode == "circular":  # around what negative padding leaves
        first, left = max(-before, 0), n - max(-before, 0) - max(-after, 0)
        return [first + (i - first) % left for i in cells]
    if mode == "replicate":
        return [min(max(i, 0), n - 1) for i in cells]
    return [n - 1 - abs(n - 1 - abs(i)) for i in cells]


def _repeated_node(options) -> str:
    kind = {"reflect": "Reflection", "replicate": "Replication", "circular": "Circular"}[options["mode"]]
    return f"{kind}Pad{len(options['pad']) // 2}DBackward0"


def _repeated_samples(make):
    for mode in ("reflect", "replicate", "circular"):
        yield (make(2, 4), (2, 1), mode), {}
        yield (make(1, 3, 4), (1, 2, 2, 1), mode), {}
        yield (make(1, 5), (-1, 2), mode), {}


@operator(node=_repeated_node, public=(), samples=_repeated_samples)
class repeated_pad:
    """More cells at the ends, which repeat cells of the input."""

    def arguments(input, pad, mode):
        return (input,), {"pad": tuple(pad), "mode": mode}

    def kernel(xp, a, /, pad, mode):
        for dim, (before, after) in enumerate(ends(pad, a.ndim)):
            if before or after:
                a = xp.take(a, xp.array(_source(a.shape[dim], before, after, mode), dtype="int64"), axis=dim)
        return a.copy() if not any(pad) else a

    def grad_a(g, a_shape, pad, mode):
        return repeated_pad_sum(g, size=a_shape, pad=pad, mode=mode)


@operator(public=(), samples=lambda make: [((make(2, 7), (2, 4), (2, 1), "reflect"), {})])
class repeated_pad_sum:
    """The gradient of such a padding: every cell's, added to the cell it repeated."""

    def arguments(input, size, pad, mode):
        return (input,), {"size": tuple(size), "pad": tuple(pad), "mode": mode}

    def kernel(xp, a, /, size, pad, mode):
        a = a.copy()
        for dim, (before, after) in enumerate(ends(pad, a.ndim)):
            if not before and not after:
                continue
            n, lead = size[dim], (slice(None),) * dim
            source = _source(n, before, after, mode)
            low, high = max(before, 0), max(before, 0) + n - max(-before, 0) - max(-after, 0)
            out = xp.zeros((*a.shape[:dim], n, *a.shape[dim + 1 :]), a.dtype)
            out[(*lead, slice(max(-before, 0), n - max(-after, 0)))] = a[(*lead, slice(low, high))]
            for cell in (*range(low), *range(high, len(source))):
                out[(*lead, source[cell])] += a[(*lead, cell)]
            a = out
        return a

    def grad_a(g, pad, mode):
        return repeated_pad(g, pad=pad, mode=mode)


def pad(input, pad, mode: str = "constant", value=None):
    """More cells at the ends of the last dimensions: pad = (before, after) of the last, then of the one before, ...

    mode: constant (of `value`), reflect, replicate or circular.
    """
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.dim():
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.dim()}"
        )
    if mode == "constant":
        return constant_pad.function(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) not in (2, 4, 6) or input.dim() not in (len(pad) // 2 + 1, len(pad) // 2 + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: the padding names 1 to 3 "
            f"dimensions behind those of batch and channels; got {pad} for an input of dimension {input.dim()}"
        )
    if mode != "circular" and input._dtype is dtypes.bool_:
        raise errors.not_implemented(f"{mode} padding", input._dtype)
    for n, before, after in zip(reversed(input.shape), pad[::2], pad[1::2], strict=False):
        if mode == "reflect" and max(before, after) >= n or mode == "circular" and max(before, after) > n:
            raise RuntimeError(
                "Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) for a dimension of size {n} of input {list(input.shape)}"
            )
    return repeated_pad.function(input, pad, mode)


nn_functions["pad"] = explained(pad)
functions["constant_pad_nd"] = lambda input, pad, value=0: constant_pad.function(input, pad, value)
