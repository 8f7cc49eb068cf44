"""Rates along a cosine, once or with restarts.  (D3 6.2)"""

import math

from autogradlab.optim.optimizer import Optimizer

from .base import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """Along half a cosine from the initial rate to eta_min in T_max epochs.  https://arxiv.org/abs/1608.03983"""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        if self._initial:
            return lr
        if self._step_count == 1 and self.last_epoch > 0:
            return self._at(base)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the first step up again
            return lr + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        now = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return now / before * (lr - self.eta_min) + self.eta_min

    def _at(self, base):
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2

    def _get_closed_form_lr(self):
        return [self._at(base) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine in T_0 epochs, then again from the top, each time T_mult times as long.

    https://arxiv.org/abs/1608.03983, D3 6.2.  step(epoch) may be given fractions of an epoch.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}.")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}.")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def rate(self, lr, base):
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2

    def step(self, epoch: float | None = None) -> None:
        """The next epoch, or the one given, which may be a fraction: 2.5 is half way through the third."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}.")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch, self._stepping = math.floor(epoch), True
        self._give(self.get_lr())
        del self._stepping
