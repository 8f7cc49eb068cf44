"""Checks of chapter 03's exercise: shapes and strides. `check.permute(permute)` checks the learner's permute."""

from .ch03_layout import contiguous_strides, is_contiguous, storage_index
from .ch03_views import expand, infer_shape, merge_heads, permute, view_stride

CHECKS = (contiguous_strides, storage_index, is_contiguous, permute, expand, infer_shape, view_stride, merge_heads)
TASKS = {check.task.name: check.task for check in CHECKS}
