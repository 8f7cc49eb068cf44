"""torch.cuda: NVIDIA GPUs, through CuPy.

Without CuPy or driver there are none, and is_available() says so.  (D1 5.1)
"""

import importlib

from autogradlab import devices
from autogradlab.backends import cupy
from autogradlab.ops.random import default_of


def is_available() -> bool:
    """Whether a GPU can be used here."""
    return device_count() > 0


def device_count() -> int:
    """How many GPUs can be used here."""
    return cupy.device_count()


def synchronize(device=None) -> None:
    """Wait until a GPU has done all it was given."""
    devices.resolve("cuda" if device is None else device).backend.synchronize()


def manual_seed(seed: int) -> None:
    """Start the random numbers of the GPU anew; without one, nothing happens."""
    if is_available():
        default_of(devices.resolve("cuda")).manual_seed(seed)


manual_seed_all = manual_seed


def __getattr__(name: str):
    if name == "amp":  # the old names of mixed precision, loaded when asked for
        return importlib.import_module("autogradlab.cuda.amp")
    raise AttributeError(f"module 'autogradlab.cuda' has no attribute {name!r}")
