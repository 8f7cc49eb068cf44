"""Checks of chapter 13's exercise: a small dispatcher. `check.common_dtype(common_dtype)` checks it."""

from .ch13_accounts import accounts_as_written, accounts_fused, who_waits
from .ch13_layers import autocast_dtypes, common_dtype, handed_back, layers_at_work

CHECKS = (
    layers_at_work,
    common_dtype,
    autocast_dtypes,
    accounts_as_written,
    accounts_fused,
    who_waits,
    handed_back,
)
TASKS = {check.task.name: check.task for check in CHECKS}
