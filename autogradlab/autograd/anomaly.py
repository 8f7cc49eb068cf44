"""Anomaly detection: find the operation whose gradient is nan, and the line of the program it came from.  (D3 3.1)"""

import warnings

from autogradlab.modes import ANOMALY, Mode, state


class detect_anomaly(Mode):
    """Keep the forward call of every node, and stop backward at the first nan.  Slow: for debugging only.

    check_nan: False keeps the forward calls for other errors, and lets nan pass.
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def again(self):
        return detect_anomaly(self.check_nan)

    def change(self):
        state.flags |= ANOMALY
        state.check_nan = self.check_nan


def set_detect_anomaly(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection on or off for this thread."""
    state.flags = state.flags | ANOMALY if mode else state.flags & ~ANOMALY
    state.check_nan = bool(check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return bool(state.flags & ANOMALY)
