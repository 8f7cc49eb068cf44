"""Checks of chapter 15's exercise: the engine's finer parts. `check.engine_order(engine_order)` checks it."""

from .ch15_pass import engine_order, needed_nodes, runs_depth_first, several_roots
from .ch15_state import held_numbers, run_passes, step_with_hooks

CHECKS = (runs_depth_first, engine_order, needed_nodes, held_numbers, step_with_hooks, several_roots, run_passes)
TASKS = {check.task.name: check.task for check in CHECKS}
