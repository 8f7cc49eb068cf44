"""Random numbers, from one generator a device or one of your own.

Seeds repeat on this engine; the numbers are not PyTorch's.  (D1 1.1)
"""

import math
import os

import numpy

from autogradlab import devices, dtypes, errors, shapes
from autogradlab.dispatch import call_into
from autogradlab.modes import as_one, state
from autogradlab.table import method, operator, public
from autogradlab.tensor import Tensor, wrap

from .create import finish
from .elementary import zeros_like
from .kinds import chosen
from .out import takes_out
from .shape import sizes


class Generator:
    """A source of random numbers on one device, with a state of its own that a seed starts anew."""

    def __init__(self, device="cpu"):
        self.device = devices.resolve(device)
        _ = self.device.backend  # an error, if there is no such device
        self._seed, self._random = 67280421310721, None

    @property
    def random(self):
        """The backend's object that draws."""
        if state.tracer is not None:
            state.tracer.drew()
        if self._random is None:
            self._random = self.device.backend.generator_from(self._seed)
        return self._random

    def manual_seed(self, seed: int) -> "Generator":
        """Start anew from a seed; negative ones count down from 2**64."""
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}.")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"Overflow when unpacking long long: a seed lies in -2**63 to 2**64 - 1, got {seed}.")
        self._seed, self._random = seed % 2**64, None
        return self

    def seed(self) -> int:
        """Start anew from a seed nobody knows before; it is returned."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1)
        return self._seed

    def initial_seed(self) -> int:
        """The seed it last started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, from which set_state() goes on with the same numbers."""
        import json  # slow to import, and seldom needed

        words = json.dumps([self._seed, self.random.bit_generator.state]).encode()
        return finish(numpy.frombuffer(words, "uint8").copy(), dtypes.uint8, None, False)

    def set_state(self, new_state: Tensor) -> "Generator":
        """Go on from a state that get_state() gave."""
        if not isinstance(new_state, Tensor) or new_state._dtype is not dtypes.uint8:
            raise TypeError("expected a torch.ByteTensor, as get_state() returns it.")
        import json

        try:
            seed, state = json.loads(bytes(new_state.host()))
            self.random.bit_generator.state = state
        except (ValueError, TypeError, KeyError):
            raise RuntimeError("Invalid state: expected the bytes that get_state() of a Generator returns.") from None
        self._seed = seed
        return self

    def clone_state(self) -> "Generator":
        """Another generator in the same state."""
        return Generator(self.device).set_state(self.get_state())


_defaults = {}


def default_of(device) -> Generator:
    """The generator that a device draws from where none is given."""
    made = _defaults.get(device)
    if made is None:
        made = _defaults[device] = Generator(device).manual_seed(default_generator.initial_seed())
    return made


default_generator = Generator()
_defaults[default_generator.device] = default_generator


def manual_seed(seed: int) -> Generator:
    """Start the random numbers of every device anew from a seed."""
    for generator in _defaults.values():
        generator.manual_seed(int(seed))
    return default_generator


def seed() -> int:
    """Start the random numbers anew from a seed nobody knows before; it is returned."""
    fresh = default_generator.seed()
    manual_seed(fresh)
    return fresh


def initial_seed() -> int:
    """The seed the random numbers started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the CPU's random numbers."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from a state that get_rng_state() gave."""
    default_generator.set_state(new_state)


public(Generator, "Generator")
public(default_generator, "default_generator")
for _fn in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    public(_fn)


def _source(generator, device):
    """What draws: the generator's own, which must be on that device, or the device's."""
    if generator is None:
        return default_of(device).random
    if generator.device is not device:
        raise RuntimeError(f"Expected a '{device}' device type for generator but found '{generator.device}'.")
    return generator.random


def _draw(size, dtype, device, requires_grad, draw, generator=None):
    dtype = chosen(dtype, dtypes.get_default_dtype())
    device = devices.resolve(device)
    size = sizes(size)
    if any(n < 0 for n in size):
        raise errors.negative_size(size)
    array = draw(_source(generator, device), size, "float64" if dtype is dtypes.float64 else "float32")
    out = wrap(device.backend.as_array(array, dtype), dtype, device)
    return out.requires_grad_() if requires_grad else out


def _floats(name: str, dtype):
    dtype = chosen(dtype)
    if dtype is not None and not dtype.is_floating_point:
        raise NotImplementedError(
            f'"{name}" not implemented for {dtype.legacy_name!r}: random fractions need a floating point dtype.'
        )


@as_one
def rand(*args, size=None, generator=None, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """Uniform between 0 (included) and 1 (not)."""
    _floats("rand", dtype)
    size = args if size is None else (size,)
    return _draw(size, dtype, device, requires_grad, lambda r, n, d: r.random(n, dtype=d), generator)


@as_one
def randn(*args, size=None, generator=None, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """Normal with mean 0 and standard deviation 1."""
    _floats("randn", dtype)
    size = args if size is None else (size,)
    return _draw(size, dtype, device, requires_grad, lambda r, n, d: r.standard_normal(n, dtype=d), generator)


@as_one
def randint(
    low, high=None, size=None, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False
) -> Tensor:
    """Integers from low (0) to before high, each as likely.  randint(high, size) or randint(low, high, size)."""
    if size is None:
        low, high, size = 0, low, high
    if size is None or high is None:
        raise TypeError("randint(): expected (high, size) or (low, high, size).")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}.")
    dtype = chosen(dtype, dtypes.int64)
    return _draw((size,), dtype, device, requires_grad, lambda r, n, d: r.integers(low, high, n), generator)


@as_one
def randperm(n: int, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """The integers 0 to n - 1 in random order."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}.")
    return _draw(
        (n,), chosen(dtype, dtypes.int64), device, requires_grad, lambda r, n, d: r.permutation(n[0]), generator
    )


@as_one
def normal(
    mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False
) -> Tensor:
    """Normal with the given mean and standard deviation: numbers (then with a size) or tensors."""
    _not_negative(std)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        shape = shapes.broadcast_shapes(*[tuple(t.shape) for t in (mean, std) if isinstance(t, Tensor)])
        beside = mean if isinstance(mean, Tensor) else std
        drawn = randn(shape, generator=generator, dtype=beside._dtype, device=beside._device)
        mean, std = (t.detach() if isinstance(t, Tensor) else t for t in (mean, std))
        return drawn * std + mean
    if size is None:
        raise TypeError("normal(): with numbers for mean and std, give a size.")
    made = randn(size, generator=generator, dtype=dtype, device=device) * std + mean
    return made.requires_grad_() if requires_grad else made


def _not_negative(std) -> None:
    if isinstance(std, Tensor) and std.numel() and bool((std < 0).any()):
        raise RuntimeError("normal expects all elements of std >= 0.0.")
    if not isinstance(std, Tensor) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}.")


for _fn in (rand, randn, randint, randperm, normal):
    public(_fn)


def _random_like(make, name):
    def like(input, *args, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
        size = (*args, tuple(input.shape)) if args else (tuple(input.shape),)
        return make(*size, dtype=dtype or input._dtype, device=device or input._device, requires_grad=requires_grad)

    like.__doc__ = f"{make.__name__}() in the shape, dtype and device of the input, unless said otherwise."
    like.__name__ = like.__qualname__ = name
    return public(like)


rand_like = _random_like(rand, "rand_like")
randn_like = _random_like(randn, "randn_like")


def randint_like(
    input, low, high=None, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None
) -> Tensor:
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

    @as_one
    def fill(self, *args, generator=None, **kwargs):
        options = arguments(self._dtype, *args, **kwargs)
        drawn = draw(_source(generator, self._device), tuple(self.shape), **options)
        return call_into(op, self, (self,), {"drawn": self._device.backend.as_array(drawn, self._dtype)})

    fill.__doc__, fill.__name__ = says, f"{name}_"
    return method(fill, f"{name}_")


def _range(dtype, low=0.0, high=1.0, **words):
    low, high = words.get("from", low), words.get("to", high)
    _needs_floats("uniform_", dtype)
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}.")
    return {"low": low, "high": high}


def _moments(dtype, mean=0.0, std=1.0):
    _needs_floats("normal_", dtype)
    _not_negative(std)
    return {"mean": mean, "std": std}


def _needs_floats(name, dtype):
    if not dtype.is_floating_point:
        raise NotImplementedError(f'"{name}" not implemented for {dtype.legacy_name!r}: use a floating point dtype.')


def _limits(dtype, low=None, high=None, **words):
    low, high = words.get("from", low), words.get("to", high)
    if low is None:  # all that the dtype counts exactly
        digits = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8, "bool": 1}.get(dtype.name)
        top = 2**digits - (dtype is not dtypes.bool_) + 1 if digits else dtypes.iinfo(dtype).max
        return {"low": 0, "high": min(top + (digits is None), 2**63 - 1)}
    low, high = (0, low) if high is None else (low, high)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}.")
    return {"low": low, "high": high}


def _positive(name: str, word: str, most=math.inf):
    def check(dtype, value=1.0, **words):
        value = words.get(word, value)
        if not 0 < value < most:
            raise RuntimeError(
                f"{name} expects {word} > 0{f' and < {most}' if most < math.inf else ''}, but found {word}={value}."
            )
        return {"value": value}

    return check


_in_place(
    "uniform", "Fill with uniform numbers from `from` to before `to`.",
    _range, lambda r, n, low, high: r.random(n) * (high - low) + low,
)  # fmt: skip
_in_place("normal", "Fill with normal numbers.", _moments, lambda r, n, mean, std: r.standard_normal(n) * std + mean)
_in_place(
    "random", "Fill with integers from low to before high.", _limits, lambda r, n, low, high: r.integers(low, high, n)
)
_in_place(
    "exponential", "Fill with the waiting times of a process with `lambd` events a unit of time.",
    _positive("exponential_", "lambd"), lambda r, n, value: r.standard_exponential(n) / value,
)  # fmt: skip
_in_place(
    "geometric", "Fill with the number of trials up to the first success, which has probability p.",
    _positive("geometric_", "p", 1), lambda r, n, value: r.geometric(value, n),
)  # fmt: skip


def _check_chances(p) -> None:
    wrong = bool(((p < 0) | (p > 1)).any()) if isinstance(p, Tensor) else not 0 <= p <= 1
    if wrong:
        raise RuntimeError(
            f"Expected p_in >= 0 && p_in <= 1 to be true: got {p if not isinstance(p, Tensor) else 'others'}."
        )


@as_one
def bernoulli(input, p=None, *, generator=None) -> Tensor:
    """1 with the probability each element gives (or p), else 0."""
    return bernoulli_(input.detach().clone(), input.detach() if p is None else p, generator=generator)


@as_one
def bernoulli_(self, p=0.5, *, generator=None) -> Tensor:
    """Fill with 1 with probability p (a number, or a tensor of them), else 0."""
    _check_chances(p)
    drawn = rand(tuple(self.shape), device=self._device, generator=generator)
    return self.copy_((drawn < p).to(self._dtype))


@as_one
def multinomial(input, num_samples: int, replacement: bool = False, *, generator=None) -> Tensor:
    """Indices drawn with the probabilities the rows give (they need not sum to 1)."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim: got {input.dim()} dimensions.")
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input._dtype}.")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples: got {num_samples}.")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError(f"cannot sample n_sample > prob_dist.size(-1) samples without replacement ({num_samples}).")
    rows = input.detach().reshape(-1, input.shape[-1]).float()
    if bool((~rows.isfinite() | (rows < 0)).any()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0.")
    if bool((rows.sum(1) <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0).")
    if replacement:
        bounds = rows.cumsum(1) / rows.sum(1, keepdim=True)
        drawn = rand(rows.shape[0], num_samples, device=input._device, generator=generator)
        out = (drawn.unsqueeze(2) >= bounds.unsqueeze(1)).sum(2)
    else:  # the largest keys log(u) / p are a draw without replacement (Efraimidis and Spirakis, 2006)
        keys = rand(tuple(rows.shape), device=input._device, generator=generator).log() / rows
        out = keys.topk(num_samples, 1).indices
    return out.reshape(*input.shape[:-1], num_samples)


public(bernoulli, also_method=True)
public(multinomial, also_method=True, around=takes_out)
method(bernoulli_)
