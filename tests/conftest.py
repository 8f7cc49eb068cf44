"""Hypothesis: the same examples on every run, and no time limit for one example (machines differ)."""

from hypothesis import settings

settings.register_profile("course", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("course")
