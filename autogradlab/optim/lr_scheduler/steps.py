"""Rates by rule: a function, steps, decay, a warm-up."""

import bisect
import collections

from autogradlab.optim.optimizer import Optimizer

from .base import LRScheduler


class LambdaLR(LRScheduler):
    """The initial rate times lr_lambda(epoch); one function for all groups, or a list with one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda, last_epoch: int = -1):
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * count
        if len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, one for each group, but got {len(lr_lambda)}.")
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]

    def state_dict(self) -> dict:
        """Functions are not kept; objects that are called are, by their attributes."""
        kept = [None if hasattr(fn, "__code__") else vars(fn).copy() for fn in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict: dict) -> None:
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for fn, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                vars(fn).update(kept)


class MultiplicativeLR(LambdaLR):
    """The present rate times lr_lambda(epoch)."""

    def get_lr(self) -> list[float]:
        groups = self.optimizer.param_groups
        if self.last_epoch <= 0:
            return [group["lr"] for group in groups]
        return [group["lr"] * fn(self.last_epoch) for fn, group in zip(self.lr_lambdas, groups, strict=True)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        return lr if self.last_epoch == 0 or self.last_epoch % self.step_size else lr * self.gamma

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at each of the milestones."""

    def __init__(self, optimizer: Optimizer, milestones, gamma: float = 0.1, last_epoch: int = -1):
        self.milestones, self.gamma = collections.Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        return lr * self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else lr

    def _get_closed_form_lr(self):
        passed = bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        return lr if self._initial else lr * self.gamma

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times factor for total_iters epochs, then the rate it was."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        if not 0 <= factor <= 1.0:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1: got {factor}.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        if self.last_epoch == 0:
            return lr * self.factor
        return lr * (1.0 / self.factor) if self.last_epoch == self.total_iters else lr

    def _get_closed_form_lr(self):
        return [base * (1.0 if self.last_epoch >= self.total_iters else self.factor) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From start_factor to end_factor times the rate, in total_iters even steps: a warm-up."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
                 total_iters: int = 5, last_epoch: int = -1):  # fmt: skip
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                f"Starting multiplicative factor expected to be greater than 0 and less or equal to 1: got "
                f"{start_factor}."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1: got {end_factor}.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        if self.last_epoch == 0:
            return lr * self.start_factor
        if self._initial or self.last_epoch > self.total_iters:
            return lr
        rise = self.end_factor - self.start_factor
        return lr * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * part) for base in self.base_lrs]
