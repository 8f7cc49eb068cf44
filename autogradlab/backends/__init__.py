"""Where data lie and who computes on them: one module a backend, chosen by a device's type.

A backend offers: `xp` (the array namespace kernels are written in), `allocate`, `window` (a strided array over a
buffer), `flat` (the buffer under an array), `scalar`, `to_host`, `from_host`, `random`, `synchronize`.
"""

from importlib import import_module

import numpy as np  # not `numpy`: that is a module of this package

from . import cudnn  # noqa: F401 - programs set its switches
from .numpy import xp as host

MODULES = {"cpu": "numpy", "cuda": "cupy", "sim": "simulated"}


def load(kind: str, index: int | None):
    """The backend of a device; its module is imported on first use, and what stopped that is said on every use."""
    return import_module(f"autogradlab.backends.{MODULES[kind]}").backend(index)


def namespace(arrays):
    """The array namespace that raw arrays belong to: of the first array among them."""
    for a in arrays:
        if isinstance(a, (np.ndarray, np.generic)):
            return host
        if isinstance(a, (list, tuple)):
            found = namespace(a)
            if found is not None:
                return found
        elif hasattr(a, "strides"):
            return load("sim", a.index).xp if hasattr(a, "index") else load("cuda", a.device.id).xp
    return None


def to_host(array, waits: bool = True):
    """A raw array's elements as a NumPy array."""
    if isinstance(array, (np.ndarray, np.generic)):
        return array
    owner = load("sim", array.index) if hasattr(array, "index") else load("cuda", 0)
    return owner.to_host(array, waits)
