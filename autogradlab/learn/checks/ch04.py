"""Checks of chapter 04's exercise: broadcasting. `check.sum_to_shape(sum_to_shape)` checks the learner's function."""

from .ch04_backward import add_and_backward, mse_loss, sum_to_shape, summed_dims
from .ch04_forward import add_lists, broadcast_pair, broadcast_shapes, broadcast_strides

CHECKS = (
    broadcast_pair,
    broadcast_shapes,
    broadcast_strides,
    add_lists,
    summed_dims,
    sum_to_shape,
    add_and_backward,
    mse_loss,
)
TASKS = {check.task.name: check.task for check in CHECKS}
