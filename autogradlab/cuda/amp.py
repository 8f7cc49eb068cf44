"""The old names of mixed precision: torch.cuda.amp.autocast(...) is torch.amp.autocast("cuda", ...).  (D4 3.3)"""

import functools
import warnings

from autogradlab import amp


def _deprecated(name: str, new: str) -> None:
    warnings.warn(f"`torch.cuda.amp.{name}` is deprecated. Please use `torch.amp.{new}` instead.", FutureWarning, 3)


class autocast(amp.autocast):
    """autocast("cuda", ...); without CUDA switched off, with a warning."""

    def __init__(self, enabled: bool = True, dtype=None, cache_enabled: bool = True):
        _deprecated("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """GradScaler("cuda", ...); without CUDA switched off, with a warning."""

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True):  # fmt: skip
        _deprecated("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")
