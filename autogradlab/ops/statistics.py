"""Statistics made of reductions and sorting: quantiles, covariance, histograms, and reductions that pass over nan."""

import math
import warnings

import numpy

from autogradlab import dtypes, errors, shapes
from autogradlab.convert import autocasts
from autogradlab.size import return_type
from autogradlab.table import operator, public
from autogradlab.tensor import Tensor

from . import samples
from .choose import where
from .copy import to
from .create import finish, tensor
from .extremes import amax, amin
from .gather import gather
from .kinds import numpy_words
from .order import sort
from .out import takes_out
from .reduce import _reduction, mean, over, spread_arguments, std, sum, var

aminmax_result = return_type("aminmax", "min max")


@operator(result=dtypes.of_sum, samples=samples.dims)
class nansum:
    """The sum, with nan counted as 0."""

    arguments = _reduction

    def kernel(xp, a, /, dim=None, keepdim=False, dtype=None):
        return xp.sum(xp.where(a != a, xp.zeros_like(a), a) if a.dtype.kind == "f" else a, axis=dim, keepdims=keepdim)

    def grad_a(g, a, a_shape, dim, keepdim):
        return over(g, a_shape, dim, keepdim) * (a == a)


@numpy_words
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not nan."""
    if not input._dtype.is_floating_point:
        raise errors.wrong_dtype("nanmean", "a floating point or complex dtype", input._dtype)
    count = sum.function(~input.isnan(), dim, keepdim)
    return nansum.function(input, dim, keepdim, dtype=dtype) / count


def _with_mean(name: str, node: str, spread, says: str):
    """A spread and the mean, by one node."""

    def kernel(xp, a, /, dim, correction, keepdim):
        return spread.kernel(xp, a, dim, correction, keepdim), mean.kernel(xp, a, dim, keepdim)

    def grads(gs, a, result, a_shape, dim, correction, keepdim):
        parts = []
        if gs[0] is not None:
            known = (a, result) if spread is std else (a,)
            parts.append(spread.block.grad_a(gs[0], *known, a_shape, dim, correction, keepdim))
        if gs[1] is not None:
            parts.append(mean.block.grad_a(gs[1], a_shape, dim, keepdim))
        return [parts[0] if len(parts) == 1 else parts[0] + parts[1]]

    block = {"__doc__": says, "arguments": spread_arguments(name), "kernel": kernel, "grads": grads}
    flags = {"outputs": return_type(name, "result mean"), "multi_output": True, "public": (), "samples": spread.samples}
    op = operator(node=node, **flags)(type(f"{name}_", (), block))

    @numpy_words
    def face(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        return tuple(op.function(input, dim, unbiased, keepdim, correction=correction))

    face.__doc__ = says
    return public(face, name)


var_mean = _with_mean("var_mean", "VarMeanBackward0", var, "The variance and the mean.")
std_mean = _with_mean("std_mean", "StdMeanBackward0", std, "The standard deviation and the mean.")


@numpy_words
def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest element, of all or along a dimension; equal ones share the gradient."""
    dim = () if dim is None else dim
    return aminmax_result(amin.function(input, dim, keepdim), amax.function(input, dim, keepdim))


public(nanmean, also_method=True, around=takes_out)
public(aminmax, also_method=True, around=takes_out)


# Quantiles ------------------------------------------------------------------------------------------------------------


@numpy_words
@autocasts("quantile")
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The value below which the fraction q of the elements lies, of all or along a dimension; several q at once stand
    in front.  Between two elements: linear, lower, higher, midpoint or nearest.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, skip_nan=False)


@numpy_words
@autocasts("nanquantile")
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """quantile() of the elements that are not nan."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, skip_nan=True)


def _quantile(name, input, q, dim, keepdim, interpolation, skip_nan):
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"{name}() interpolation must be linear, lower, higher, midpoint or nearest, but got {interpolation}."
        )
    if input._dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype: got {input._dtype}.")
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty.")
    if isinstance(q, Tensor) and (q._dtype is not input._dtype or q.dim() > 1):
        raise RuntimeError(f"{name}() q tensor must be a scalar or 1D, of the dtype of the input ({input._dtype}).")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}.")
    q = q if isinstance(q, Tensor) else tensor(q, dtype=input._dtype, device=input._device)
    whole = dim is None
    rank = input.dim()
    line = input.reshape(-1) if whole or not rank else input.movedim(shapes.wrap_dim(dim, rank), -1)
    ordered = sort.function(line, -1)[0]
    nan = line.isnan()
    count = (~nan).sum(-1, keepdim=True) if skip_nan else tensor(line.shape[-1], device=input._device)
    place = (q * (count - 1)).clamp(min=0)
    if not skip_nan:
        place = where(nan.any(-1, keepdim=True), line.shape[-1] - 1.0, place.expand(*line.shape[:-1], q.numel()))
    place = {"lower": Tensor.floor, "higher": Tensor.ceil, "nearest": Tensor.round}.get(interpolation, lambda t: t)(
        place
    )
    below = to(place, dtypes.int64)
    value = gather.function(ordered, -1, below)
    if interpolation in ("linear", "midpoint"):
        weight = 0.5 if interpolation == "midpoint" else place - below
        value = value.lerp(gather.function(ordered, -1, to(place.ceil(), dtypes.int64)), weight)
    value = value.movedim(-1, 0) if q.dim() else value.squeeze(-1)
    if keepdim and rank:
        d = rank if whole else shapes.wrap_dim(dim, rank)
        front = tuple(value.shape[:1]) if q.dim() else ()
        value = value.reshape(front + (1,) * rank) if whole else value.unsqueeze(d + len(front))
    return value


public(quantile, also_method=True, around=takes_out)
public(nanquantile, also_method=True, around=takes_out)


# Covariance -----------------------------------------------------------------------------------------------------------


def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of the rows (variables), whose columns are observations; weights count or weigh columns."""
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {input.dim()}.")
    if input._dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input.")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, rows.shape[1])
            weights = given if weights is None else weights * given
    total = rows.shape[1] if weights is None else weights.sum()
    if weights is None:
        middle = rows.sum(1, keepdim=True) / total
        norm = total - correction
        if norm <= 0:
            warnings.warn(
                f"cov(): degrees of freedom is <= 0: the observations ({total}) less the correction ({correction}).",
                UserWarning,
                stacklevel=3,
            )
    else:
        middle = (rows * weights).sum(1, keepdim=True) / total
        square = total if aweights is None else (weights * aweights).sum()
        norm = total - correction * square / total
    norm = max(norm, 0) if weights is None else norm.clamp(min=0)
    centred = rows - middle
    made = centred @ (centred if weights is None else centred * weights).t() / norm
    return made.squeeze()


def _check_weights(name: str, given, count: int) -> None:
    if given.dim() > 1 or given.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have {count} elements in one dimension: got {tuple(given.shape)}."
        )
    if given._dtype.is_floating_point != (name == "aweights"):
        raise RuntimeError(f"cov(): expected {name} to have {'floating' if name == 'aweights' else 'integral'} dtype.")
    if given.numel() and bool((given < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative.")


def corrcoef(input):
    """The correlations of the rows: their covariances over their standard deviations."""
    if input.dim() > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got {input.dim()}.")
    c = cov(input)
    if not c.dim():
        return c / c
    spread = c.diagonal().sqrt()
    return (c / spread.unsqueeze(1) / spread.unsqueeze(0)).clamp(-1, 1)


public(cov, also_method=True)
public(corrcoef, also_method=True)


# Counting -------------------------------------------------------------------------------------------------------------


def bincount(input, weights=None, minlength=0):
    """How often each integer from 0 on occurs (or the sum of its weights)."""
    if input.dim() != 1 or input._dtype.is_floating_point or input._dtype is dtypes.bool_:
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs: got {errors.describe(input)}.")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0: got {minlength}.")
    if input.numel() and int(input.min()) < 0:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs: the smallest is {int(input.min())}."
        )
    if weights is not None and tuple(weights.shape) != tuple(input.shape):
        raise RuntimeError(f"weights should be 1-d and have the same length as input: got {tuple(weights.shape)}.")
    host = input.detach().host().astype("int64")
    if weights is None:
        return finish(numpy.bincount(host, minlength=minlength).astype("int64"), dtypes.int64, input._device, False)
    dtype = dtypes.float32 if weights._dtype is dtypes.float32 else dtypes.float64
    made = numpy.bincount(host, weights.detach().host().astype("float64"), minlength)
    return finish(made.astype(dtype.numpy), dtype, input._device, False)


def histc(input, bins=100, min=0, max=0):
    """How many elements fall into each of `bins` bins of equal width between min and max (those of the input if both
    are 0).
    """
    if not input._dtype.is_floating_point:
        raise errors.not_implemented("histc", input._dtype)
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}.")
    bins, low, high = int(bins), float(min), float(max)
    values = input.detach().reshape(-1).cpu().to(dtypes.float64).host()
    if low == high == 0 and values.size:
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histc(): range of [{low}, {high}] is not finite.")
    if low > high:
        raise RuntimeError(f"histc(): max must be larger than min: got {low} and {high}.")
    inside = values[(values >= low) & (values <= high)]
    where_ = numpy.minimum(((inside - low) / (high - low) * bins).astype("int64"), bins - 1)
    counts = numpy.bincount(where_, minlength=bins).astype(input._dtype.numpy)
    return finish(counts, input._dtype, input._device, False)


public(bincount, also_method=True)
public(histc, also_method=True, around=takes_out)
