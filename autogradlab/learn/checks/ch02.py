"""Checks of chapter 02's exercise: indexing. `check.index_view(index_view)` checks the learner's function."""

from .ch02_elements import gather, index_put, mask_positions
from .ch02_views import full_index, index_view, slice_part, write_reaches

CHECKS = (slice_part, full_index, index_view, write_reaches, mask_positions, gather, index_put)
TASKS = {check.task.name: check.task for check in CHECKS}
