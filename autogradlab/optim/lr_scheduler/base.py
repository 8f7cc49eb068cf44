"""What schedulers share: counting, giving rates to groups, checkpoints."""

import warnings

from autogradlab.optim.optimizer import Optimizer


class LRScheduler:
    """Base class.  A scheduler says in `rate` what a group's next rate is, or overrides get_lr.

    last_epoch: how many steps were made before, when training is resumed; -1: none.
    """

    _initial = _stepping = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer.")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0: load the optimizer's state first, or leave last_epoch out."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not hasattr(optimizer, "_opt_called"):
            optimizer._opt_called = False  # the optimizer sets it when it steps
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count, self._initial = 0, True
        self.step()
        del self._initial

    def rate(self, lr: float, base: float) -> float:
        """A group's next rate, from its present one and the one it started from; self.last_epoch counts from 0."""
        raise NotImplementedError(f"{type(self).__name__} does not say its rate")

    def get_lr(self) -> list[float]:
        """The next rates, group by group; only for use inside step()."""
        if not self._stepping:
            warnings.warn("To get the last learning rate computed by the scheduler, use `get_last_lr()`.", stacklevel=2)
        return [
            self.rate(group["lr"], base) for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True)
        ]

    def get_last_lr(self) -> list[float]:
        """The rates given last, group by group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next rate; after optimizer.step().  epoch (deprecated): go to that one."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them the other way round, or "
                "the first learning rate is never used.",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated: leave it out.",
                stacklevel=2,
            )
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._stepping = True
        try:
            closed = getattr(self, "_get_closed_form_lr", None)
            self._give(closed() if epoch is not None and closed else self.get_lr())
        finally:
            del self._stepping

    def _give(self, rates) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Go on where a checkpoint stopped."""
        self.__dict__.update(state_dict)


class _LRScheduler(LRScheduler):
    """The old name of LRScheduler."""
