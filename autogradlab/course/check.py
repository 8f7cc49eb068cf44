"""course.py check 03: run the learner's exercise from top to bottom, and say what passes and what to mend."""

import argparse
import time

from autogradlab.learn import progress
from autogradlab.learn.checks.task import WHEN

from .notebook_text import Unreadable, read
from .places import Exercise, Stop, door, find_exercise, says_why, shown
from .structure import grade_id, is_check, is_solution, mend, no_longer_defined, one_line, task_numbers, undefined

SECONDS = 7  # for all cells; a good notebook takes one


@says_why
def main(argv: list[str]) -> int:
    """Check the exercise named in argv; exit status 0 if every task passes its visible checks."""
    parser = argparse.ArgumentParser(prog="course.py check", description="Run your exercise and say what to mend.")
    parser.add_argument("exercise", help="its number or name, such as 03")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"how long it may run in all ({SECONDS})")
    options = parser.parse_args(argv)
    exercise = find_exercise(options.exercise)
    notebook, findings = load(exercise)
    saved = time.strftime("%H:%M:%S", time.localtime(exercise.work.stat().st_mtime))
    print(f"Exercise {exercise.number}: {shown(exercise.work)}, as saved at {saved}", flush=True)
    run(notebook, exercise, options.seconds)
    return report(exercise, notebook, findings)


def load(exercise: Exercise) -> tuple:
    """The learner's notebook put right, and what was found; Stop if there is none to be read."""
    if not exercise.work.exists():
        raise Stop(f"you have not started it: run {door()} start {exercise.number}")
    try:
        submitted = read(exercise.work)
    except (OSError, Unreadable) as error:
        raise Stop(
            f"{shown(exercise.work)} cannot be read: {error}. Mend it if you can (JupyterLab keeps the last good "
            "version in .ipynb_checkpoints beside it), or move it away and run "
            f"{door()} start {exercise.number}"
        ) from error
    release = read(exercise.release)
    if not any(grade_id(cell) in {grade_id(own) for own in release.cells} - {None} for cell in submitted.cells):
        raise Stop(
            f"{shown(exercise.work)} holds none of exercise {exercise.number}'s cells. "
            f"Is it another notebook? Move it away and run {door()} start {exercise.number}"
        )
    return mend(submitted, release)


def run(notebook, exercise: Exercise, seconds: float) -> None:
    """Run the notebook in a fresh kernel, in the learner's folder."""
    from .execute import Runner

    runner = Runner(notebook, kernel_name="python3", resources={"metadata": {"path": str(exercise.work.parent)}})
    runner.all_seconds = seconds
    runner.cell_seconds = seconds / 3
    runner.grace_seconds = 1
    runner.run()


def report(exercise: Exercise, notebook, findings: list[str]) -> int:
    """Print the result, task by task; the exit status."""
    from .execute import error_of

    if findings:
        print("\nTo mend in the notebook:")
        for finding in findings:
            print(f"  - {finding}")
    numbers = task_numbers(notebook)
    solutions = {grade_id(cell): cell for cell in notebook.cells if is_solution(cell)}
    checks = [cell for cell in notebook.cells if is_check(cell)]
    passed = 0
    print()
    for cell in checks:
        name = grade_id(cell).removeprefix("check_")
        own = solutions.get(name)
        culprit = own if own is not None and error_of(own) is not None else cell
        error = error_of(culprit)
        passed += error is None
        print(f"  {numbers[name]}  {name:<20}{_state(error)}")
        if error is not None and error.ename != "NotImplementedError":
            lines = _lines(error, culprit, numbers)
            if no_longer_defined(name, error):
                lines = [f"Your {undefined(name, numbers).removeprefix('the ')}: has it another name there?"]
            print("\n".join(f"         {line}" for line in lines))
    for cell in notebook.cells:
        if not is_check(cell) and not is_solution(cell) and error_of(cell) is not None:
            print(f"\n  A cell of your own does not run through. It begins: {cell.source.strip().splitlines()[0]}")
            print(f"         {_lines(error_of(cell), cell, numbers)[-1]}")
    print(f"\n{passed} of {len(checks)} tasks pass their visible checks. Hidden checks {WHEN}")
    if unkept := progress.exercise(exercise.slug, checked=f"{passed} of {len(checks)}"):
        print(unkept)
    if passed == len(checks):
        print(f"Next: {door()} submit {exercise.number}")
    return 0 if passed == len(checks) else 1


def _state(error) -> str:
    if error is None:
        return "passes"
    return "not written yet" if error.ename == "NotImplementedError" else "fails"


def _lines(error, cell, numbers: dict[str, int]) -> list[str]:
    """A check's message as it stands, of any other error one line."""
    return list(error.traceback) if error.ename == "CheckFailed" else [one_line(error, cell, numbers)]
