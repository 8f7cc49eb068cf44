"""Convolution over any number of dimensions, as matrix products over columns of patches.

Three operators that are each other's derivatives: the convolution, and its gradients by input (which is the transposed
convolution) and by weight.  (https://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html)
"""

from math import prod

from autogradlab import errors
from autogradlab.convert import autocasts
from autogradlab.table import functions, nn_functions, operator

from .kinds import floating_or_long, need_tensors, not_bool
from .padding import constant_pad
from .patches import columns, from_columns, result_size, spread
from .reduce import sum as total

flags = {"promote": False, "same_dtype": True, "accepts": not_bool, "public": ()}


def _grouped(w, groups):
    """A weight as matrices, one a group: (groups, out, in * kernel)."""
    return w.reshape((groups, w.shape[0] // groups, prod(w.shape[1:])))


def _patches(xp, a, kernel, stride, padding, dilation, groups):
    """The columns as matrices, one a sample and group: (N, groups, in * kernel, places)."""
    if prod(kernel) == 1 and not any(padding) and set(stride) == {1}:
        cols = a
    else:
        cols = columns(xp, a, kernel, stride, padding, dilation)
    count = prod(result_size(a.shape[2:], kernel, stride, padding, dilation))
    return cols.reshape((a.shape[0], groups, a.shape[1] // groups * prod(kernel), count))


def _convolution_samples(make):
    one = {"stride": (1,), "padding": (0,), "dilation": (1,), "groups": 1}
    two = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    yield (make(2, 2, 5), make(3, 2, 3), make(3)), one
    yield (make(1, 4, 6), make(4, 2, 2)), {"stride": (2,), "padding": (1,), "dilation": (2,), "groups": 2}
    yield (make(2, 2, 4, 3), make(1, 2, 2, 2), make(1)), two
    yield (make(1, 2, 4, 5), make(2, 1, 3, 1), make(2)), {**two, "stride": (2, 1), "padding": (1, 2), "groups": 2}
    yield (make(2, 3, 2, 2), make(2, 3, 1, 1)), two


@operator(node="ConvolutionBackward0", **flags, samples=_convolution_samples)
class convolution:
    """Every patch of the input times the weight.  a: (N, in, ...), b: (out, in / groups, *kernel), c: (out,)."""

    def arguments(input, weight, bias=None, *, stride, padding, dilation, groups):
        if min(*weight.shape[2:], 1) < 1:
            raise RuntimeError(f"kernel size should be greater than zero, but got {tuple(weight.shape[2:])}.")
        options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return (input, weight) if bias is None else (input, weight, bias), options

    def kernel(xp, a, b, c=None, /, stride=None, padding=None, dilation=None, groups=1):
        kernel = b.shape[2:]
        cols = _patches(xp, a, kernel, stride, padding, dilation, groups)
        out = xp.matmul(_grouped(b, groups), cols)
        out = out.reshape((a.shape[0], b.shape[0], *result_size(a.shape[2:], kernel, stride, padding, dilation)))
        if c is not None:
            out += c.reshape((-1, *[1] * len(kernel)))
        return out

    def grad_a(g, b, a_shape, stride, padding, dilation, groups):
        return convolution_input(g, b, shape=a_shape, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def grad_b(g, a, b_shape, stride, padding, dilation, groups):
        return convolution_weight(g, a, shape=b_shape, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def grad_c(g):
        return total(g, dim=(0, *range(2, len(g.shape))))


def _input_samples(make):
    one = {"stride": (2,), "padding": (1,), "dilation": (1,), "groups": 2}
    yield (make(2, 4, 3), make(4, 1, 3)), {"shape": (2, 2, 6), **one}
    two = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    yield (make(1, 2, 2, 3), make(2, 1, 2, 2), make(1)), {"shape": (1, 1, 3, 4), **two}
    yield (make(1, 1, 3), make(1, 1, 2)), {"shape": (1, 1, 7), **one, "padding": (2,), "dilation": (3,), "groups": 1}


@operator(node="ConvolutionBackward0", **flags, samples=_input_samples)
class convolution_input:
    """A convolution's gradient by its input, which is the transposed convolution: every number times the weight, added
    up where the patches overlap.
    """

    def arguments(input, weight, bias=None, *, shape, stride, padding, dilation, groups):
        options = {"shape": shape, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return (input, weight) if bias is None else (input, weight, bias), options

    def kernel(xp, a, b, c=None, /, shape=None, stride=None, padding=None, dilation=None, groups=1):
        kernel, n = b.shape[2:], a.shape[0]
        rows = xp.ascontiguousarray(a).reshape((n, groups, a.shape[1] // groups, prod(a.shape[2:])))
        cols = xp.matmul(xp.swapaxes(_grouped(b, groups), 1, 2), rows)
        cols = cols.reshape((n, shape[1], *kernel, *a.shape[2:]))
        out = from_columns(xp, cols, shape[2:], kernel, stride, padding, dilation)
        if c is not None:
            out += c.reshape((-1, *[1] * len(kernel)))
        return out

    def grad_a(g, b, a_shape, stride, padding, dilation, groups):
        out = convolution(g, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
        return out if out.shape == a_shape else out[(..., *map(slice, a_shape[2:]))]

    def grad_b(g, a, b_shape, stride, padding, dilation, groups):
        a = _with_places(a, result_size(g.shape[2:], b_shape[2:], stride, padding, dilation))
        return convolution_weight(a, g, shape=b_shape, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def grad_c(g):
        return total(g, dim=(0, *range(2, len(g.shape))))


def _with_places(a, size):
    """Zeros where a patch would fit that was not: an output_padding of a stride or more leaves room for some."""
    if a.shape[2:] == size:
        return a
    missing = [m - n for m, n in zip(reversed(size), reversed(a.shape), strict=False)]
    return constant_pad(a, pad=tuple(n for m in missing for n in (0, m)), value=0)


def _weight_samples(make):
    one = {"stride": (2,), "padding": (1,), "dilation": (1,), "groups": 2}
    yield (make(2, 4, 3), make(2, 2, 6)), {"shape": (4, 1, 3), **one}


@operator(**flags, samples=_weight_samples)
class convolution_weight:
    """A convolution's gradient by its weight: the output's gradient (a) against the patches of the input (b)."""

    def arguments(input, other, *, shape, stride, padding, dilation, groups):
        options = {"shape": shape, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return (input, other), options

    def kernel(xp, a, b, /, shape, stride, padding, dilation, groups):
        cols = _patches(xp, b, shape[2:], stride, padding, dilation, groups)
        rows = xp.ascontiguousarray(a).reshape((a.shape[0], groups, a.shape[1] // groups, prod(a.shape[2:])))
        return xp.sum(xp.matmul(rows, xp.swapaxes(cols, 2, 3)), axis=0).reshape(shape)

    def grad_a(g, b, stride, padding, dilation, groups):
        return convolution(b, g, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def grad_b(g, a, b_shape, stride, padding, dilation, groups):
        return convolution_input(a, g, shape=b_shape, stride=stride, padding=padding, dilation=dilation, groups=groups)


# The public functions -------------------------------------------------------------------------------------------------


def check(name: str, n: int, input, weight, bias, stride, padding, dilation, groups, transposed=False) -> None:
    """Everything that can be wrong with a convolution's arguments, in PyTorch's order."""
    for what, values, least in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)):
        if any(v < least for v in values):
            word = "negative" if not least else "non-positive"
            raise RuntimeError(f"{word} {what} is not supported: {name} got {what}={tuple(values)}.")
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported: {name} got groups={groups}.")
    given, outputs = input.shape[1], weight.shape[1] * groups if transposed else weight.shape[0]
    expected = weight.shape[0] if transposed else weight.shape[1] * groups
    if weight.shape[0] < groups or weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0 and divisible by it, but "
            f"got weight of size {list(weight.shape)} instead."
        )
    if given != expected:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{expected} channels, but got {given} channels instead."
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} elements, "
            f"but got bias of size {list(bias.shape)} instead."
        )
    if not floating_or_long(input._dtype) and (transposed or set(dilation) != {1}):
        raise errors.not_implemented(name, input._dtype)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:], strict=True)]
    whole = [size + 2 * p for size, p in zip(input.shape[2:], padding, strict=True)]
    if not transposed and any(k > size for k, size in zip(reach, whole, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {whole}. Kernel size: {reach}. Kernel size can't be greater "
            "than actual input size."
        )


def _batched(name: str, n: int, input, weight):
    """The input with a batch dimension, and whether it had none."""
    need_tensors(name, input=input, weight=weight)
    if weight.dim() != n + 2:
        raise RuntimeError(f"weight should have {n + 2} dimensions: {name} got {list(weight.shape)}.")
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input.shape)}."
        )
    return (input.unsqueeze(0), True) if input.dim() == n + 1 else (input, False)


def _convolve(name, n, input, weight, bias, stride, padding, dilation, groups):
    input, single = _batched(name, n, input, weight)
    stride, dilation = spread(stride, n, "stride"), spread(dilation, n, "dilation")
    if isinstance(padding, str):
        input, padding = _worded(name, n, input, weight, stride, padding, dilation)
    padding = spread(padding, n, "padding")
    check(name, n, input, weight, bias, stride, padding, dilation, groups)
    out = convolution.function(
        input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=int(groups)
    )
    return out.squeeze(0) if single else out


def _worded(name, n, input, weight, stride, padding, dilation):
    """padding="same" or "valid" in numbers; what is uneven is padded before."""
    if padding not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: {padding!r}: {name} takes 'same', 'valid' or numbers.")
    if padding == "valid":
        return input, (0,) * n
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions.")
    whole = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    uneven = [v for t in reversed(whole) for v in (0, t % 2)]
    return constant_pad.function(input, tuple(uneven), 0.0) if any(uneven) else input, [t // 2 for t in whole]


def _public(n: int):
    name = f"conv{n}d"

    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return _convolve(name, n, input, weight, bias, stride, padding, dilation, groups)

    def transposed(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        input, single = _batched(f"conv_transpose{n}d", n, input, weight)
        numbers = (("stride", stride), ("padding", padding), ("dilation", dilation), ("output_padding", output_padding))
        stride, padding, dilation, extra = (spread(v, n, what) for what, v in numbers)
        check(f"conv_transpose{n}d", n, input, weight, bias, stride, padding, dilation, groups, transposed=True)
        if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got output_padding: {extra}, "
                f"stride: {stride}, dilation: {dilation}."
            )
        size = [
            (m - 1) * s - 2 * p + d * (k - 1) + e + 1
            for m, s, p, d, k, e in zip(
                input.shape[2:], stride, padding, dilation, weight.shape[2:], extra, strict=True
            )
        ]
        shape = (input.shape[0], weight.shape[1] * groups, *size)
        out = convolution_input.function(
            input, weight, bias, shape=shape, stride=stride, padding=padding, dilation=dilation, groups=int(groups)
        )
        return out.squeeze(0) if single else out

    conv.__doc__ = (
        f"Every patch of the input times the weight.  input: (N, in, {n} sizes) or without N; weight: (out, in / "
        "groups, kernel).  padding: cells of zeros at both ends, or 'same' or 'valid'."
    )
    transposed.__doc__ = f"The transposed convolution over {n} dimensions: what a convolution's gradient does."
    for fn, called in ((conv, name), (transposed, f"conv_transpose{n}d")):
        fn.__name__ = fn.__qualname__ = called
        functions[called] = nn_functions[called] = autocasts(called)(fn)


_public(1)
_public(2)
_public(3)
