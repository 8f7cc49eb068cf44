"""torch.cuda: NVIDIA GPUs, through CuPy.

Without CuPy or driver there are none, and is_available() says so.  (D1 5.1;
https://pytorch.org/docs/stable/cuda.html)
"""

import importlib

from autogradlab import devices, streams
from autogradlab.backends import cupy
from autogradlab.ops.random import default_of

from .memory import (  # noqa: F401
    empty_cache,
    max_memory_allocated,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)


def is_available() -> bool:
    """Whether a GPU can be used here."""
    return device_count() > 0


def device_count() -> int:
    """How many GPUs can be used here."""
    return cupy.device_count()


def is_initialized() -> bool:
    """Whether the GPU has been used in this process."""
    return cupy.loaded()


def current_device() -> int:
    """The index of the GPU that "cuda" means."""
    return cupy.need().cuda.Device().id


def set_device(device) -> None:
    """Make a GPU the one that "cuda" means."""
    _gpu(device).use()


def get_device_name(device=None) -> str:
    """The GPU's name."""
    return cupy.need().cuda.runtime.getDeviceProperties(_gpu(device).id)["name"].decode()


def get_device_capability(device=None) -> tuple[int, int]:
    """The GPU's compute capability: (8, 0) for an A100."""
    words = _gpu(device).compute_capability
    return int(words[:-1]), int(words[-1])


def is_bf16_supported() -> bool:
    """Whether the GPU stores bfloat16 (CuPy computes with it by way of float32)."""
    return is_available()


def synchronize(device=None) -> None:
    """Wait until a GPU has done all it was given."""
    devices.resolve("cuda" if device is None else device).backend.synchronize()


def _gpu(device):
    """CuPy's object for a device: the current one, or as given."""
    real = cupy.need()
    index = None if device is None else devices.device(device).index
    return real.cuda.Device() if index is None else real.cuda.Device(index)


class Event(streams.Event):
    """A mark in a stream of a GPU."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        super().__init__("cuda", enable_timing=enable_timing)


class Stream(streams.Stream):
    """A queue of work on a GPU."""

    def __init__(self, device=None, priority: int = 0, **handle):
        super().__init__("cuda" if device is None else device, priority=priority, **handle)


def stream(stream: Stream) -> Stream:
    """`with torch.cuda.stream(s):` - what is called inside goes to that stream."""
    return stream


def current_stream(device=None) -> streams.Stream:
    """The stream that work goes to now."""
    return streams.current_stream("cuda" if device is None else device)


def default_stream(device=None) -> streams.Stream:
    """The GPU's own stream."""
    return streams.default_stream("cuda" if device is None else device)


def manual_seed(seed: int) -> None:
    """Start the random numbers of the GPU anew; without one, nothing happens."""
    if is_available():
        default_of(devices.resolve("cuda")).manual_seed(seed)


manual_seed_all = manual_seed


def __getattr__(name: str):
    if name == "amp":  # the old names of mixed precision, loaded when asked for
        return importlib.import_module("autogradlab.cuda.amp")
    raise AttributeError(f"module 'autogradlab.cuda' has no attribute {name!r}")
