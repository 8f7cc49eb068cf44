"""Rates that follow what is measured."""

import math

from autogradlab.optim.optimizer import Optimizer

from .base import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a measured value has not improved for more than `patience` calls of step(value).

    mode: "min" or "max", which is better.  threshold, threshold_mode: what counts as better, as a part ("rel") or an
    amount ("abs").  cooldown: calls to wait after a change.  min_lr: the lowest rate.  eps: smaller changes are left.
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr=0,
                 eps: float = 1e-8):  # fmt: skip
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0: got {factor}.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! Use 'min' or 'max'.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! Use 'rel' or 'abs'.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer.")
        groups = optimizer.param_groups
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(groups)
        if len(self.min_lrs) != len(groups):
            raise ValueError(f"expected {len(groups)} min_lrs, got {len(self.min_lrs)}.")
        self._last_lr, self.last_epoch = [group["lr"] for group in groups], 0
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metrics, epoch: int | None = None) -> None:
        """Look at the value measured in this epoch."""
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        rates = [group["lr"] for group in self.optimizer.param_groups]
        if self.num_bad_epochs > self.patience:
            lower = [max(lr * self.factor, least) for lr, least in zip(rates, self.min_lrs, strict=True)]
            rates = [new if lr - new > self.eps else lr for lr, new in zip(rates, lower, strict=True)]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._give(rates)

    def _is_better(self, value: float) -> bool:
        down = self.mode == "min"
        if self.threshold_mode == "rel":
            bound = self.best * (1 - self.threshold if down else 1 + self.threshold)
        else:
            bound = self.best - self.threshold if down else self.best + self.threshold
        return value < bound if down else value > bound
