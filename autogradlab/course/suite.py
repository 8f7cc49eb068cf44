"""`course.py test`: style, tests and notebooks, each timed. Standard library only, and run by its path, so that it
can report on an engine that does not import.

A part over its time budget is said to be; it fails only at three times the budget, as machines differ.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SLACK = 3


class Part(NamedTuple):
    name: str
    budget: float  # seconds on two cores
    commands: tuple[tuple[str, ...], ...]


PYTEST = ("-m", "pytest", "-q", "-n", "2", "--dist", "loadfile")
PARTS = (
    Part("style", 10, (("-m", "ruff", "check", "--quiet"), ("-m", "ruff", "format", "--check", "--quiet"))),
    Part("tests", 600, ((*PYTEST, "tests"),)),
    Part("notebooks", 120, ((*PYTEST, "--nbval", "notebooks"),)),
)


def run(part: Part) -> tuple[str, float]:
    """Run a part's commands, all of them; what happened and how long it took."""
    print(f"\n== {part.name}", flush=True)
    began = time.perf_counter()
    codes = [subprocess.run([sys.executable, *command], cwd=ROOT).returncode for command in part.commands]
    seconds = time.perf_counter() - began
    if any(codes):
        return "FAILED", seconds
    if seconds > SLACK * part.budget:
        return f"FAILED: over {SLACK} times its budget", seconds
    return "passed, over its budget" if seconds > part.budget else "passed", seconds


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py test", description=__doc__.split(". ")[0])
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)}; all of them by default")
    chosen = parser.parse_args(argv).parts or names
    if unknown := [name for name in chosen if name not in names]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(names)}")
    if "tests" in chosen and not (ROOT / "tests").is_dir():  # made by course.py learner-tree
        print("This copy of the course is a learner's: it has no tests of the engine and the exercises.")
        chosen = [name for name in chosen if name != "tests"]
    results = [(part, *run(part)) for part in PARTS if part.name in chosen]
    print(f"\n{'part':12}{'seconds':>9}{'budget':>9}   result")
    for part, result, seconds in results:
        print(f"{part.name:12}{seconds:9.1f}{part.budget:9.0f}   {result}")
    total, budget = sum(r[2] for r in results), sum(r[0].budget for r in results)
    failed = any(result.startswith("FAILED") for _, result, _ in results)
    print(f"{'all':12}{total:9.1f}{budget:9.0f}   {'FAILED' if failed else 'passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
