"""What the door runs inside the environment: exercises, their grading, the notebooks and their lint."""

from . import quick  # noqa: F401  (before anything imports nbformat; quick.py says why)
