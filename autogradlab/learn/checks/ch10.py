"""Checks of chapter 10's exercise: tensors over plain lists. `check.walk(walk)` checks the learner's walk."""

from .ch10_cells import cells_needed, overlaps, seen_in, walk
from .ch10_memory import file_bytes, flatten, reshape, run_program

CHECKS = (cells_needed, walk, overlaps, seen_in, flatten, reshape, file_bytes, run_program)
TASKS = {check.task.name: check.task for check in CHECKS}
