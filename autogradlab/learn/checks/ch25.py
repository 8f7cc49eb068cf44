"""Checks of chapter 25's exercise: one training step. `check.adapt(adapt)` checks the learner's function."""

from .ch25_scale import adapt, in_float16, scale_walk
from .ch25_step import first_refused, group_gradients, training_step, unscale_and_clip

CHECKS = (group_gradients, in_float16, adapt, scale_walk, unscale_and_clip, first_refused, training_step)
TASKS = {check.task.name: check.task for check in CHECKS}
