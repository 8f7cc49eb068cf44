"""course.py progress: what the learner has done, chapter by chapter."""

import argparse

from autogradlab.learn.progress import place
from autogradlab.learn.progress_table import text

from .places import says_why, shown


@says_why
def main(argv: list[str]) -> int:
    """Print the table."""
    argparse.ArgumentParser(prog="course.py progress", description=__doc__.partition(": ")[2]).parse_args(argv)
    print(text())
    print(f"Kept in {shown(place())}, on this computer only.")
    return 0
