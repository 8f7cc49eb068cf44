"""Dropout: numbers set to zero at random while a network trains.  (https://jmlr.org/papers/v15/srivastava14a.html)"""

from autogradlab.modes import as_one
from autogradlab.table import explained, functions, nn_functions
from autogradlab.tensor import Tensor, wrap

from .pointwise import mul
from .random import default_of


@as_one
def _noise(input: Tensor, p: float, shape):
    """1 / (1 - p) with chance 1 - p, else 0."""
    backend = input._device.backend
    if p == 1:
        kept = backend.xp.zeros(shape, "float32")
    else:
        kept = default_of(input._device).random.random(shape, dtype="float32") >= p
    return wrap(backend.as_array(kept * (1 / (1 - p) if p < 1 else 0.0), input._dtype), input._dtype, input._device)


def _dropped(input, p: float, training: bool, inplace: bool, shape):
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.numel():
        return input
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"dropout: expected a floating point tensor, which can be scaled, but got {input._dtype}.")
    return (mul.write if inplace else mul.function)(input, _noise(input, p, shape))


def dropout(input, p: float = 0.5, training: bool = True, inplace: bool = False):
    """Zeros with chance p, the others times 1 / (1 - p), so that the mean stays.  (D5 5.1)"""
    return _dropped(input, p, training, inplace, tuple(input.shape))


def _channels(n: int):
    def drop(input, p: float = 0.5, training: bool = True, inplace: bool = False):
        if n == 1 and input.dim() not in (2, 3):
            raise RuntimeError(f"dropout1d: Expected 2D or 3D input, (N, C, L) or (C, L), but received {input.dim()}D.")
        single = n != 2 and input.dim() < n + 2  # dropout2d takes (C, H, W) as (N, C, L)
        if single:
            input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
        shape = tuple(input.shape)
        out = _dropped(input, p, training, inplace, shape[:2] + (1,) * (len(shape) - 2))
        return out if not single else out.squeeze_(0) if inplace else out.squeeze(0)

    drop.__name__ = drop.__qualname__ = f"dropout{n}d"
    drop.__doc__ = f"Whole channels set to zero with chance p: (N, C, {n} sizes)."
    return drop


for _fn in (dropout, _channels(1), _channels(2), _channels(3)):
    nn_functions[_fn.__name__] = explained(_fn)


def _torch_dropout(input, p: float, train: bool):
    """nn.functional.dropout, as torch has it."""
    return dropout(input, p, train)


functions["dropout"] = _torch_dropout
