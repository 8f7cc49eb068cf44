"""Checks of chapter 06's exercise: autograd in small. `check.backward(backward)` checks the learner's function."""

from .ch06_node import central_difference, node_gradients, record, run_node
from .ch06_pass import accumulate, backward, backward_order, uses

CHECKS = (record, node_gradients, central_difference, uses, backward_order, accumulate, run_node, backward)
TASKS = {check.task.name: check.task for check in CHECKS}
