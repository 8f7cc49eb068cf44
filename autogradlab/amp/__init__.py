"""Mixed precision: autocast chooses a dtype for each operator, GradScaler keeps small gradients from vanishing.

https://pytorch.org/docs/stable/amp.html, D3 3, D4 3.3, D5 3.
"""

from .autocast_mode import (  # noqa: F401
    autocast,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .custom import custom_bwd, custom_fwd  # noqa: F401
from .grad_scaler import GradScaler, OptState  # noqa: F401
