"""Checks of chapter 27's exercise: many processes. `check.ring_round(ring_round)` checks the learner's function."""

from .ch27_ring import fill_buckets, ring_bytes, ring_round, set_out
from .ch27_steps import accumulated, clipped_step, loss_factors

CHECKS = (ring_round, ring_bytes, fill_buckets, set_out, loss_factors, clipped_step, accumulated)
TASKS = {check.task.name: check.task for check in CHECKS}
