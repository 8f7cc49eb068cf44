"""Random numbers, from one generator a device.

Seeds repeat on this engine; the numbers are not PyTorch's.  (D1 1.1)
"""

from autogradlab import devices, dtypes, errors, shapes
from autogradlab.dispatch import call_into
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, wrap

from .elementary import zeros_like
from .shape import sizes

_seed = 0


def manual_seed(seed: int) -> None:
    """Start the random numbers of every device anew from a seed."""
    global _seed
    _seed = int(seed)
    for device in devices.device._made.values():
        if device._backend is not None:
            device._backend.seed(_seed % 2**64)


def initial_seed() -> int:
    """The seed the random numbers started from."""
    return _seed


public(manual_seed)
public(initial_seed)


def _draw(size, dtype, device, requires_grad, draw):
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    device = devices.resolve(device)
    size = sizes(size)
    if any(n < 0 for n in size):
        raise errors.negative_size(size)
    array = draw(device.backend.random(), size, "float64" if dtype is dtypes.float64 else "float32")
    out = wrap(device.backend.as_array(array, dtype), dtype, device)
    return out.requires_grad_() if requires_grad else out


def _floats(name: str, dtype):
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(
            f'"{name}" not implemented for {dtype.legacy_name!r}: random fractions need a floating point dtype.'
        )


def rand(*args, size=None, dtype=None, device=None, requires_grad=False) -> Tensor:
    """Uniform between 0 (included) and 1 (not)."""
    _floats("rand", dtype)
    return _draw(args if size is None else (size,), dtype, device, requires_grad, lambda r, n, d: r.random(n, dtype=d))


def randn(*args, size=None, dtype=None, device=None, requires_grad=False) -> Tensor:
    """Normal with mean 0 and standard deviation 1."""
    _floats("randn", dtype)
    return _draw(
        args if size is None else (size,), dtype, device, requires_grad, lambda r, n, d: r.standard_normal(n, dtype=d)
    )


def randint(low, high=None, size=None, *, dtype=None, device=None, requires_grad=False) -> Tensor:
    """Integers from low (0) to before high, each as likely.  randint(high, size) or randint(low, high, size)."""
    if size is None:
        low, high, size = 0, low, high
    if size is None or high is None:
        raise TypeError("randint(): expected (high, size) or (low, high, size).")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}.")
    dtype = dtypes.int64 if dtype is None else dtype
    return _draw((size,), dtype, device, requires_grad, lambda r, n, d: r.integers(low, high, n))


def randperm(n: int, *, dtype=None, device=None) -> Tensor:
    """The integers 0 to n - 1 in random order."""
    return _draw((n,), dtype or dtypes.int64, device, False, lambda r, n, d: r.permutation(n[0]))


def normal(mean=0.0, std=1.0, size=None, *, dtype=None, device=None) -> Tensor:
    """Normal with the given mean and standard deviation: numbers (then with a size) or tensors."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        shape = shapes.broadcast_shapes(*[tuple(t.shape) for t in (mean, std) if isinstance(t, Tensor)])
        beside = mean if isinstance(mean, Tensor) else std
        return randn(shape, dtype=beside._dtype, device=beside._device) * std + mean
    if size is None:
        raise TypeError("normal(): with numbers for mean and std, give a size.")
    return randn(size, dtype=dtype, device=device) * std + mean


for _fn in (rand, randn, randint, randperm, normal):
    public(_fn)


def _random_like(make, name):
    def like(input, *args, dtype=None, device=None, requires_grad=False, memory_format=None):
        size = (*args, tuple(input.shape)) if args else (tuple(input.shape),)
        return make(*size, dtype=dtype or input._dtype, device=device or input._device, requires_grad=requires_grad)

    like.__doc__ = f"{make.__name__}() in the shape, dtype and device of the input, unless said otherwise."
    like.__name__ = like.__qualname__ = name
    return public(like)


rand_like = _random_like(rand, "rand_like")
randn_like = _random_like(randn, "randn_like")


def randint_like(input, low, high=None, *, dtype=None, device=None) -> Tensor:
    """randint() in the shape, dtype and device of the input, unless said otherwise."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), dtype=dtype or input._dtype, device=device or input._device)


public(randint_like)


# In place -------------------------------------------------------------------------------------------------------------


def _in_place(name: str, says: str, arguments, draw):
    """Fill a tensor with random numbers; nothing of its old value remains, so no gradient passes."""

    def kernel(xp, a, /, drawn):
        return drawn

    block = {"__doc__": says, "kernel": kernel, "grad_a": lambda g: zeros_like(g)}
    op = operator(moves=True, promote=False, public=(), samples=lambda make: [])(type(f"{name}_fill", (), block))

    def fill(self, *args, **kwargs):
        random = self._device.backend.random()
        drawn = draw(random, tuple(self.shape), **arguments(*args, **kwargs))
        return call_into(op, self, (self,), {"drawn": self._device.backend.as_array(drawn, self._dtype)})

    fill.__doc__, fill.__name__ = says, f"{name}_"
    return method(fill, f"{name}_")


_in_place(
    "uniform", "Fill with uniform numbers from `from` to before `to`.",
    lambda a=0.0, b=1.0: {"low": a, "high": b}, lambda r, n, low, high: r.random(n) * (high - low) + low,
)  # fmt: skip
_in_place(
    "normal", "Fill with normal numbers.",
    lambda mean=0.0, std=1.0: {"mean": mean, "std": std}, lambda r, n, mean, std: r.standard_normal(n) * std + mean,
)  # fmt: skip
_in_place(
    "random", "Fill with integers from low to before high.",
    lambda low, high=None: {"low": 0 if high is None else low, "high": low if high is None else high},
    lambda r, n, low, high: r.integers(low, high, n),
)  # fmt: skip


def bernoulli(input) -> Tensor:
    """1 with the probability each element gives, else 0."""
    drawn = rand(tuple(input.shape), device=input._device)
    return (drawn < input.detach()).to(input._dtype)


def multinomial(input, num_samples: int, replacement: bool = False) -> Tensor:
    """Indices drawn with the probabilities the rows give (they need not sum to 1)."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim: got {input.dim()} dimensions.")
    rows = input.detach().reshape(-1, input.shape[-1])
    if replacement:
        bounds = rows.cumsum(1) / rows.sum(1, keepdim=True)
        drawn = rand(rows.shape[0], num_samples, device=input._device)
        out = (drawn.unsqueeze(2) >= bounds.unsqueeze(1)).sum(2)
    else:  # the largest keys log(u) / p are a draw without replacement (Efraimidis and Spirakis, 2006)
        out = (rand(tuple(rows.shape), device=input._device).log() / rows.float()).topk(num_samples, 1).indices
    return out.reshape(*input.shape[:-1], num_samples)


public(bernoulli, also_method=True)
public(multinomial, also_method=True)
