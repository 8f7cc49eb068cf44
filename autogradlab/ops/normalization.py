"""Normalisation: numbers brought to mean 0 and variance 1 within groups, then scaled and shifted.

Batch, layer and group norm are one computation with different groups.  The input is seen as an array `view`; `axes` of
it are averaged over, and weight and bias lie along the others as `affine` says.  Sources: D3 4, D5 5,
https://arxiv.org/abs/1502.03167 (batch), 1607.06450 (layer), 1803.08494 (group), 1910.07467 (RMS).
"""

from math import prod

from autogradlab import dtypes, errors, late
from autogradlab.modes import as_one, no_grad
from autogradlab.size import Size
from autogradlab.table import explained, functions, nn_functions, operator
from autogradlab.tensor import Tensor, wrap

from .contract import dot
from .elementary import rsqrt
from .kinds import floating
from .reduce import sum as total


def moments(a, axes):
    """Mean and variance over axes, kept as size 1; of raw arrays and Tensors alike."""
    n = prod(a.shape[d] for d in axes)
    mean = total(a, dim=axes, keepdim=True) / n
    centred = a - mean
    return mean, dot(centred, centred, axes) / n


def _wide(input: Tensor):
    """A tensor's array as kernels get it: half precision in float32."""
    return input.window.astype("float32") if input._dtype.is_half else input.window


def statistics(input, view, axes):
    """The mean and variance of each group, as raw arrays."""
    return moments(_wide(input).reshape(view), axes)


def _normed(g, a, view, axes, eps, mean, rstd):
    """The gradient and the input seen as `view`, the input normalised, and 1 / its standard deviation."""
    g, a = g.reshape(view), a.reshape(view)
    if isinstance(g, Tensor):  # recorded: mean and variance depend on the input
        mean, variance = moments(a, axes)
        rstd = rsqrt(variance + eps)
        return g, (a - mean) * rstd, rstd
    a = a - mean
    a *= rstd
    return g, a, rstd


def _by_input(g, normed, rstd, axes):
    """rstd * (g - mean(g) - normed * mean(g * normed)): what is left when mean and variance follow the input."""
    n = prod(g.shape[d] for d in axes)
    slope, shift = dot(g, normed, axes) / n, total(g, dim=axes, keepdim=True) / n
    if isinstance(g, Tensor):
        return (g - shift - normed * slope) * rstd
    out = g - shift
    normed *= slope
    out -= normed
    out *= rstd
    return out


def _others(affine) -> tuple:
    return tuple(d for d, n in enumerate(affine) if n == 1)


def _wide_beside_half(name: str, input, *given) -> None:
    """Refuse mixed dtypes, but for what autocast brings together: input in half precision, all else in float32."""
    found = {t._dtype for t in given if t is not None}
    if found - {input._dtype} and not (input._dtype.is_half and found == {dtypes.float32}):
        raise RuntimeError(
            f"{name}: mixed dtype: expected parameters of the input's dtype {input._dtype}, or float32 beside half "
            f"precision, but got: {', '.join(sorted(map(str, found)))}."
        )


def _normalisation(name: str, node: str, says: str, samples):
    """One of the three: without and with weight (and bias)."""

    def arguments(input, weight=None, bias=None, *, view, axes, affine=None, eps=1e-5, mean=None, rstd=None):
        if mean is None:
            mean, variance = statistics(input, view, axes)
            rstd = 1 / (variance + eps) ** 0.5
        options = {"view": view, "axes": axes, "eps": eps, "mean": mean, "rstd": rstd}
        if weight is None:
            return (input,), options
        _wide_beside_half(name, input, weight, bias)
        options |= {"affine": affine, "size": tuple(weight.shape)}
        return (input, weight) if bias is None else (input, weight, bias), options

    def kernel(xp, a, b=None, c=None, /, view=None, axes=None, eps=1e-5, mean=None, rstd=None):
        out = a.reshape(view) - mean
        out *= rstd
        return out.reshape(a.shape)

    def kernel_affine(xp, a, b, c=None, /, view=None, axes=None, eps=1e-5, mean=None, rstd=None, affine=None, size=()):
        out = a.reshape(view) - mean
        out *= rstd
        out *= b.reshape(affine)
        if c is not None:
            out += c.reshape(affine)
        return out.reshape(a.shape)

    def grad(g, a, a_shape, view, axes, eps, mean, rstd):
        return _by_input(*_normed(g, a, view, axes, eps, mean, rstd), axes).reshape(a_shape)

    def grad_a(g, a, b, a_shape, view, axes, eps, mean, rstd, affine):
        g, normed, rstd = _normed(g, a, view, axes, eps, mean, rstd)
        return _by_input(g * b.reshape(affine), normed, rstd, axes).reshape(a_shape)

    def grad_b(g, a, view, axes, eps, mean, rstd, affine, size):
        g, normed, _ = _normed(g, a, view, axes, eps, mean, rstd)
        return dot(g, normed, _others(affine)).reshape(size)

    def grad_c(g, view, affine, size):
        return total(g.reshape(view), dim=_others(affine), keepdim=True).reshape(size)

    flags = {"accepts": floating, "promote": False, "public": (), "node": node}
    plain = {
        "__doc__": says,
        "arguments": arguments,
        "kernel": kernel,
        "grad_a": grad,
        "grad_b": grad_b,
        "grad_c": grad_c,
    }
    scaled = {"__doc__": f"{says}  With weight and bias.", "arguments": arguments, "kernel": kernel_affine}
    scaled |= {"grad_a": grad_a, "grad_b": grad_b, "grad_c": grad_c}
    without = operator(samples=lambda make: [samples(make, False)], **flags)(type(name, (), plain))
    return without, operator(samples=lambda make: [samples(make, True)], **flags)(type(f"{name}_affine", (), scaled))


def _samples(shape, view, axes, affine):
    """A sample input for one of the three."""

    def sample(make, scaled: bool):
        size = tuple(n for n in affine if n > 1)
        given = (make(*shape), make(*size), make(*size)) if scaled else (make(*shape),)
        return given, {"view": view, "axes": axes, **({"affine": affine} if scaled else {})}

    return sample


layer = _normalisation(
    "layer_norm", "NativeLayerNormBackward0", "Mean 0 and variance 1 over the last dimensions of each sample.",
    _samples((2, 3, 4), (2, 12), (1,), (1, 12)),
)  # fmt: skip
batch = _normalisation(
    "batch_norm", "NativeBatchNormBackward0", "Mean 0 and variance 1 of each channel over the batch.",
    _samples((3, 2, 4), (3, 2, 4), (0, 2), (1, 2, 1)),
)  # fmt: skip
group = _normalisation(
    "group_norm", "NativeGroupNormBackward0", "Mean 0 and variance 1 of each group of channels of each sample.",
    _samples((2, 4, 3), (2, 2, 2, 3), (2, 3), (1, 2, 2, 1)),
)  # fmt: skip


def _by_statistics(make):
    yield (make(3, 2, 2), make(2).detach(), make(2, low=0.5).detach(), make(2), make(2)), {}


@operator(node="NativeBatchNormBackward0", accepts=floating, promote=False, public=(),
          samples=_by_statistics)  # fmt: skip
class batch_norm_by_statistics:
    """Batch norm in evaluation: by a mean and variance that were gathered before."""

    def arguments(input, mean, variance, weight, bias, eps=1e-5):
        _wide_beside_half("batch_norm", input, mean, variance, weight, bias)
        return (input, mean, variance, weight, bias), {"eps": eps}

    def kernel(xp, a, mean, variance, b, c, /, eps):
        shape = (1, -1, *[1] * (a.ndim - 2))
        mean, variance, b, c = (t.astype(a.dtype) for t in (mean, variance, b, c))
        scale = b / xp.sqrt(variance + eps)
        out = a * scale.reshape(shape)
        out += (c - mean * scale).reshape(shape)
        return out

    def grad_a(g, a_shape, variance, b, eps):
        return g * (b * rsqrt(variance + eps)).reshape((1, -1, *[1] * (len(a_shape) - 2)))

    def grad_b(g, a, a_shape, mean, variance, eps):
        shape = (1, -1, *[1] * (len(a_shape) - 2))
        axes = (0, *range(2, len(a_shape)))
        return total(g * (a - mean.reshape(shape)), dim=axes) * rsqrt(variance + eps)

    def grad_c(g):
        return total(g, dim=(0, *range(2, len(g.shape))))


# The public functions -------------------------------------------------------------------------------------------------


def _given(pair, input, weight, bias, eps: float, **options):
    """Call one of the three; a bias without a weight gets ones beside it."""
    without, scaled = pair
    if weight is None and bias is None:
        options.pop("affine")
        return without.function(input, eps=eps, **options)
    if weight is None:
        weight = late.functions["ones_like"](bias)
    return scaled.function(input, weight, bias, eps=eps, **options)


def _tail(name: str, input, normalized_shape, weight, bias=None) -> tuple:
    """The normalised shape, checked against the input and the parameters."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, but got normalized_shape = ().")
    for what, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != shape:
            raise RuntimeError(
                f"Expected {what} to be of same shape as normalized_shape, but got {what} of shape "
                f"{list(given.shape)} and normalized_shape = {list(shape)}"
            )
    if tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but "
            f"got input of size{list(input.shape)}"
        )
    return shape


@as_one
def layer_norm(input, normalized_shape, weight=None, bias=None, eps: float = 1e-5):
    """Mean 0 and variance 1 over the last dimensions, then weight and bias.  (D5 5)"""
    shape = _tail("layer_norm", input, normalized_shape, weight, bias)
    width = prod(shape)
    view = (input.numel() // width if width else 0, width)
    return _given(layer, input, weight, bias, eps, view=view, axes=(1,), affine=(1, width))


@as_one
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The last dimensions over the root of their mean square, then times weight."""
    shape = _tail("rms_norm", input, normalized_shape, weight)
    if not input._dtype.is_floating_point:
        raise errors.not_implemented("rms_norm", input._dtype)
    if eps is None:
        eps = dtypes.finfo(dtypes.float32 if input._dtype.is_half else input._dtype).eps
    wide = input.float() if input._dtype.is_half else input
    dims = tuple(range(-len(shape), 0))
    out = wide * rsqrt.function((wide**2).mean(dims, keepdim=True) + eps)
    out = out if weight is None else out * weight
    return out.to(input._dtype)


@as_one
def group_norm(input, num_groups: int, weight=None, bias=None, eps: float = 1e-5):
    """Mean 0 and variance 1 of each group of channels of each sample, then weight and bias for each channel."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, channels = input.shape[:2]
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for what, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != (channels,):
            raise RuntimeError(
                f"Expected {what} to be a vector of size equal to the number of channels in input, but got {what} of "
                f"shape {list(given.shape)} and input of shape {list(input.shape)}"
            )
    each, rest = channels // num_groups, prod(input.shape[2:])
    view, affine = (n, num_groups, each, rest), (1, num_groups, each, 1)
    return _given(group, input, weight, bias, eps, view=view, axes=(2, 3), affine=affine)


def _update(running, new, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * new, in place and outside of any graph."""
    if running is not None:
        with no_grad():
            value = wrap(
                running._device.backend.as_array(new.reshape(-1), running._dtype), running._dtype, running._device
            )
            running.mul_(1 - momentum).add_(value, alpha=momentum)


@as_one
def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
):
    """Each channel at mean 0 and variance 1, then weight and bias.  input: (N, C, ...).

    training: by the batch's own mean and variance, which move the running ones; else by the running ones.  (D5 5)
    """
    if not input.numel():
        out = input.clone() if weight is None else input.clone() * weight[0]
        return out if bias is None else out + bias[0]
    if input.dim() < 2:
        raise IndexError(f"batch_norm: expected an input of at least 2 dimensions, (N, C, ...), got {input.dim()}.")
    channels, n = input.shape[1], prod(input.shape) // input.shape[1]
    if training and n == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    if not training and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    for what, given in (
        ("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)
    ):  # fmt: skip
        if given is not None and given.numel() != channels:
            raise RuntimeError(f"{what} should contain {channels} elements not {given.numel()}")
    if not training:
        like = {"dtype": running_mean._dtype, "device": input._device}
        weight = late.functions["ones"](channels, **like) if weight is None else weight
        bias = late.functions["zeros"](channels, **like) if bias is None else bias
        given = (input, running_mean, running_var, weight, bias)
        return batch_norm_by_statistics.function(*given, eps)
    view, axes, affine = (*input.shape[:2], prod(input.shape[2:])), (0, 2), (1, channels, 1)
    mean, variance = statistics(input, view, axes)
    _update(running_mean, mean, momentum)
    _update(running_var, variance * (n / (n - 1)), momentum)
    rstd = 1 / (variance + eps) ** 0.5
    return _given(batch, input, weight, bias, eps, view=view, axes=axes, affine=affine, mean=mean, rstd=rstd)


@as_one
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
):
    """Each channel of each sample at mean 0 and variance 1, then weight and bias.  input: (N, C, ...)."""
    n, channels = input.shape[:2]
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {Size(input.shape)}")
    whole = input.reshape(1, n * channels, *input.shape[2:])
    repeated = [None if t is None else t.repeat(n) for t in (running_mean, running_var, weight, bias)]
    out = batch_norm(whole, *repeated, use_input_stats, momentum, eps)
    for running, moved in zip((running_mean, running_var), repeated[:2], strict=True):
        if running is not None and use_input_stats:
            running.copy_(moved.view(n, channels).mean(0))
    return out.view(*input.shape)


for _fn in (layer_norm, rms_norm, group_norm, batch_norm, instance_norm):
    nn_functions[_fn.__name__] = explained(_fn)
for _fn in (layer_norm, rms_norm):
    functions[_fn.__name__] = explained(_fn)
