"""What tests and `pytest --nbval notebooks` run with, set before NumPy is loaded or a kernel is started."""

import os

import course

os.environ.update(course.load_set_up().REPEATABLE)
