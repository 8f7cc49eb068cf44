"""Custom Functions under autocast: in which dtypes their forward and backward run.

https://pytorch.org/docs/stable/notes/amp_examples.html#functions-that-need-a-particular-dtype
"""

import functools

from autogradlab.tensor import Tensor

from .autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled


def _cast(value, device_type: str, dtype):
    """The value with every floating point tensor of this device in it cast (float64 stays)."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype.itemsize < 8
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def _check(device_type) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`.")


def custom_fwd(fwd=None, *, device_type: str, cast_inputs=None):
    """Decorate the forward of a Function: backward will run under the same autocast (see custom_bwd).

    cast_inputs: a dtype; under autocast, floating point inputs are then cast to it, and forward runs with autocast off.
    """
    _check(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        inside = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = False
        if not inside:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type: str):
    """Decorate the backward of a Function: it runs under the autocast its forward (decorated by custom_fwd) had."""
    _check(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args, **kwargs):
        ctx = args[0]
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return backward
