"""autocast: inside the block, operators run in the dtype their list says.  (D3 3.1, D5 3)

Dispatch asks `Casting` before each call.  Casts of parameters are kept until the outermost block ends, so that a weight
used twice is cast once.
"""

import warnings

from autogradlab import cuda, devices, dtypes
from autogradlab.modes import AUTOCAST, NO_GRAD, Mode, state
from autogradlab.tensor import Tensor

from .lists import POLICIES

_DEFAULT = {"cpu": dtypes.bfloat16, "cuda": dtypes.float16, "sim": dtypes.float16}
_LOWER = (dtypes.bfloat16, dtypes.float16)


class Casting:
    """The dtypes in force, by device type, and the casts made so far.

    The cache holds each source tensor with its cast, and its key holds the source's version and whether gradients were
    on: a cast made under no_grad has no graph and must not serve a call that needs one.  (PyTorch asks for less.)
    """

    def __init__(self, chosen: dict, cache: dict | None):
        self.chosen, self.cache = chosen, cache

    def __call__(self, op, inputs):
        """The operands of a call as the operator's list wants them."""
        dtype = self.choice(op.name, inputs)
        if dtype is None or all(t._dtype is dtype or not _is_eligible(t) for t in inputs):
            return inputs
        return tuple(self.cast(t, dtype) for t in inputs)

    def given(self, name: str, args, kwargs):
        """The same for the arguments of a public function: tensors may stand in lists and tuples."""
        dtype = self.choice(name, [*_tensors(args), *_tensors(kwargs.values())])
        if dtype is None:
            return args, kwargs
        return tuple(self._within(a, dtype) for a in args), {k: self._within(v, dtype) for k, v in kwargs.items()}

    def run(self, name: str, fn, args, kwargs):
        """Call a function that is listed by a name of its own: autocast is off inside."""
        if self.choice(name, [*_tensors(args), *_tensors(kwargs.values())]) is None:
            return fn(*args, **kwargs)
        args, kwargs = self.given(name, args, kwargs)
        with _without():
            return fn(*args, **kwargs)

    def choice(self, name: str, tensors):
        """The dtype an operator's list asks for; None if it is on no list."""
        kind = next((t._device.type for t in tensors if t._device.type in self.chosen), None)
        policy = kind and POLICIES[kind].get(name)
        if not policy:
            return None
        if policy == "promote":
            return _promoted(name, tensors, self.chosen[kind])
        return self.chosen[kind] if policy == "lower" else dtypes.float32

    def _within(self, value, dtype):
        if isinstance(value, Tensor):
            return self.cast(value, dtype)
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            return type(value)(self._within(v, dtype) for v in value)
        return value

    def cast(self, tensor: Tensor, dtype) -> Tensor:
        """A floating point tensor in another dtype, others as they are; a parameter's cast to a lower one is kept."""
        if tensor._dtype is dtype or not _is_eligible(tensor) or tensor._device.type not in self.chosen:
            return tensor
        keep = (
            self.cache is not None and dtype is not dtypes.float32 and tensor._dtype is dtypes.float32
            and state.tracer is None  # to a trace each cast is a step
            and tensor._requires and tensor.is_leaf and tensor._view is None
        )  # fmt: skip
        key = (id(tensor), dtype, tensor._version, state.flags & NO_GRAD) if keep else None
        if keep and key in self.cache:
            return self.cache[key][1]
        with _without():
            made = tensor.to(dtype)
        if keep:
            self.cache[key] = tensor, made
        return made


def _promoted(name: str, tensors, lower):
    """float32 if one of the tensors has it, else the lower dtype; another half precision before it fits neither."""
    found = lower
    for dtype in (t._dtype for t in tensors):
        if dtype is dtypes.float32:
            found = dtype
        elif dtype.is_half and dtype is not lower is found:
            raise RuntimeError(
                f"{name}: Unexpected floating ScalarType {dtype} under autocast to {lower}: cast that tensor to "
                f"{lower} or torch.float32 first."
            )
    return found


def _is_eligible(t: Tensor) -> bool:
    return t._dtype.is_floating_point and t._dtype is not dtypes.float64


def _tensors(values):
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _put(casting: Casting | None) -> None:
    """Make this the thread's casting; nothing chosen is the same as none."""
    if casting is not None and casting.chosen:
        state.autocast, state.flags = casting, state.flags | AUTOCAST
    else:
        state.autocast, state.flags = casting, state.flags & ~AUTOCAST


class _without(Mode):
    """Calls as they are, for the casts themselves."""

    def change(self):
        state.flags &= ~AUTOCAST


class autocast(Mode):
    """Run operators in the dtypes of autocast's lists, inside a `with` block or a decorated function.

    device_type: "cpu", "cuda", or "sim" for the simulated accelerator (with CUDA's lists).  dtype: the low precision;
    by default bfloat16 on the CPU, float16 elsewhere.  enabled: False switches autocast off inside another block.
    cache_enabled: keep casts of parameters until the outermost block ends.

    https://pytorch.org/docs/stable/amp.html#torch.autocast
    """

    def __init__(self, device_type: str, dtype=None, enabled: bool = True, cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`.")
        if device_type not in POLICIES:
            raise RuntimeError(
                f"User specified an unsupported autocast device_type {device_type!r}: choose one of "
                f"{', '.join(POLICIES)}."
            )
        self.device, self.fast_dtype = device_type, dtype or get_autocast_dtype(device_type)
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled
        if enabled and device_type == "cuda" and not cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling.", stacklevel=2)
            self._enabled = False
        elif enabled and self.fast_dtype not in _LOWER:
            where = device_type.upper()
            warnings.warn(
                f"In {where} autocast, but the target dtype {self.fast_dtype} is not supported. Disabling autocast. "
                f"{where} autocast only supports dtype of bfloat16 and float16.",
                stacklevel=2,
            )
            self._enabled = False

    def change(self):
        before = state.autocast
        chosen = dict(before.chosen) if before is not None else {}
        chosen.pop(self.device, None)
        if self._enabled:
            chosen[self.device] = self.fast_dtype
        cache = ({} if before is None or before.cache is None else before.cache) if self._cache_enabled else None
        _put(Casting(chosen, cache))

    def again(self):
        return autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled)


# What is in force -----------------------------------------------------------------------------------------------------


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for this type of device, in this thread."""
    return state.autocast is not None and device_type in state.autocast.chosen


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The low precision in force for this type of device, or its default."""
    chosen = state.autocast.chosen if state.autocast is not None else {}
    return chosen.get(device_type) or state.autocast_dtypes.get(device_type) or _DEFAULT[_known(device_type)]


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switch autocast on or off for this type of device, without a block."""
    chosen = dict(state.autocast.chosen) if state.autocast is not None else {}
    if enabled:
        chosen[device_type] = get_autocast_dtype(_known(device_type))
    else:
        chosen.pop(device_type, None)
    _put(Casting(chosen, state.autocast.cache if state.autocast is not None else {}) if chosen else None)


def set_autocast_dtype(device_type: str, dtype) -> None:
    """The low precision that later blocks use for this type of device."""
    state.autocast_dtypes = {**state.autocast_dtypes, _known(device_type): dtype}


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters are kept."""
    return state.autocast_cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether later blocks keep casts of parameters."""
    state.autocast_cache = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget the casts kept so far."""
    if state.autocast is not None and state.autocast.cache is not None:
        state.autocast.cache.clear()


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows this type of device."""
    return device_type in POLICIES


def _known(device_type: str) -> str:
    kind = devices.device(device_type).type
    if kind not in POLICIES:
        raise RuntimeError(f"unsupported autocast device_type {device_type!r}: choose one of {', '.join(POLICIES)}.")
    return kind
