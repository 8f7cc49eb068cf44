"""Tensors for the operators' sample inputs, on any device and in any dtype, the same at every run."""

import numpy as np

import autogradlab as torch
from autogradlab import late

late.load_all()
OPERATORS = sorted(late.operators)
# No samples: they are pieces of a public operation that has tests of its own, or need another device.
WITHOUT = {
    "blanked",
    "copy",
    "fill",
    "fill_by",
    "zero",
    "linalg_cholesky",
    "transfer",
    "exponential_fill",
    "geometric_fill",
    "uniform_fill",
    "normal_fill",
    "random_fill",
}


class Make:
    """What sample functions call: `make(3, 4)`, `make.ints(...)`, `make.bools(...)`, `make.strided(...)`."""

    def __init__(self, device="cpu", dtype=torch.float64, grad=True, seed=0):
        self.device, self.dtype, self.grad = device, dtype, grad and dtype.is_floating_point
        self.random = np.random.default_rng(seed)

    def __call__(self, *shape, low=-2.0, high=2.0):
        values = self.random.uniform(low, high, shape)
        if not self.dtype.is_floating_point:
            values = np.round(values * 3)
        made = torch.tensor(values, dtype=torch.float64).to(self.device, self.dtype)
        return made.requires_grad_(self.grad)

    def strided(self, *shape, low=-2.0, high=2.0):
        """The same, but its last two dimensions lie the other way round in memory."""
        made = self(*shape, low=low, high=high).detach().transpose(-1, -2).contiguous().transpose(-1, -2)
        return made.requires_grad_(self.grad)

    def ints(self, low, high, shape):
        return torch.tensor(self.random.integers(low, high, shape)).to(self.device)

    def bools(self, *shape):
        return torch.tensor(self.random.random(shape) < 0.5).to(self.device)

    def permutations(self, n, count):
        """`count` orders of 0..n-1: an index without repeats along dimension 1."""
        return torch.tensor(np.stack([self.random.permutation(n) for _ in range(count)])).to(self.device)


def samples(name: str, **kinds) -> list:
    """The sample inputs of an operator: (args, kwargs) each."""
    return [(args, kwargs) for args, kwargs in late.operators[name].samples(Make(**kinds))]


def tensors(args) -> list:
    """All tensors of a call's arguments, those in lists too."""
    found = []
    for a in args:
        found += tensors(a) if isinstance(a, (list, tuple)) else [a] if isinstance(a, torch.Tensor) else []
    return found


def outputs(result) -> list:
    return list(result) if isinstance(result, tuple) else [result]


def call(name: str, args, kwargs):
    return late.operators[name].function(*args, **kwargs)
