"""Checks of chapter 21's exercise: the gradient check. `check.best_step(best_step)` checks it."""

from .ch21_compare import first_wrong_order, judge_point, within_tolerance, worst_mismatch
from .ch21_slopes import best_step, numerical_jacobian, outputs_at, weighted_gradient

CHECKS = (
    outputs_at,
    numerical_jacobian,
    weighted_gradient,
    within_tolerance,
    worst_mismatch,
    best_step,
    judge_point,
    first_wrong_order,
)
TASKS = {check.task.name: check.task for check in CHECKS}
