"""One scheduler after another."""

import bisect

from autogradlab.optim.optimizer import Optimizer

from .base import LRScheduler


class SequentialLR(LRScheduler):
    """One scheduler after the other: the next takes over at each milestone, from its own beginning."""

    def __init__(self, optimizer: Optimizer, schedulers: list, milestones: list[int], last_epoch: int = -1):
        for i, scheduler in enumerate(schedulers):
            if getattr(scheduler, "optimizer", None) is not optimizer:
                raise ValueError(
                    f"SequentialLR expects all schedulers to belong to the same optimizer: number {i} does not."
                )
        if len(milestones) != len(schedulers) - 1 or not schedulers:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got {len(schedulers)} and {len(milestones)}."
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, schedulers, milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in _innermost(schedulers):  # each made a first step when it was made: undone
            scheduler.last_epoch -= 1
        first = schedulers[bisect.bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:
        """The next epoch."""
        self.last_epoch += 1
        number = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict:
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


def _innermost(schedulers):
    for scheduler in schedulers:
        if hasattr(scheduler, "_schedulers"):
            yield from _innermost(scheduler._schedulers)
        else:
            yield scheduler
