"""Checks of chapter 08's exercise: gradient descent. `check.train(train)` checks the learner's function."""

from .ch08_faults import find_fault, review_loop
from .ch08_loop import judge_rate, one_epoch, train
from .ch08_step import loss_and_gradients, momentum_step, step_and_clear

CHECKS = (
    loss_and_gradients,
    step_and_clear,
    train,
    one_epoch,
    momentum_step,
    judge_rate,
    review_loop,
    find_fault,
)
TASKS = {check.task.name: check.task for check in CHECKS}
