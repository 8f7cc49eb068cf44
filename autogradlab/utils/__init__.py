"""torch.utils: checkpointing, and loading data.  Each part is loaded when first asked for."""

import importlib

_PARTS = ("checkpoint", "data")


def __getattr__(name: str):
    if name not in _PARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: it has {', '.join(_PARTS)}.")
    return importlib.import_module(f"{__name__}.{name}")
