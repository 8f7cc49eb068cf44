"""course.py submit 03: hand in the learner's exercise; every earlier submission is kept."""

import argparse
from datetime import UTC, datetime

from autogradlab import files
from autogradlab.learn import progress
from autogradlab.learn.checks.task import WHEN

from .check import load
from .notebook_text import read
from .places import Exercise, Stop, door, find_exercise, says_why, shown
from .structure import grade_id, is_solution, not_python
from .submissions import earlier, grading_folder, keep, own_name


@says_why
def main(argv: list[str]) -> int:
    """Hand in the exercise named in argv."""
    parser = argparse.ArgumentParser(prog="course.py submit", description="Hand in your exercise.")
    parser.add_argument("exercise", help="its number or name, such as 03")
    parser.add_argument("--name", help="your name for the instructor; it is remembered")
    parser.add_argument("--anyway", action="store_true", help="hand it in although Python cannot read some cell")
    options = parser.parse_args(argv)
    exercise = find_exercise(options.exercise)
    notebook, findings = load(exercise)
    data = exercise.work.read_bytes()
    name = own_name(options.name)
    if not name:
        raise Stop(
            "no name to hand it in under is known, or it has no letter or digit in it. "
            f"Say who you are with --name NAME, once: {door()} submit {exercise.number} --name NAME"
        )
    broken = not_python(notebook)
    if broken and not options.anyway:
        raise Stop(_refusal(broken, exercise))
    root = grading_folder() / "handed_in"
    path, new = keep(name, exercise, data, datetime.now(UTC), root)
    count = len(earlier(name, exercise, root))
    if unkept := progress.exercise(exercise.slug, submitted=f"{datetime.now():%Y-%m-%d %H:%M}"):
        print(unkept)
    if new:
        print(f"Handed in exercise {exercise.number} as {name} (--name changes that): {shown(path)}")
        which = f"It is submission {count}, and counts; the earlier ones are kept." if count > 1 else "It counts."
        print(f"{which} Nothing you do to your notebook from now on changes that file.")
    else:
        print(f"As {name} you have handed in exactly this before: {shown(path)}")
        print("It counts. If you have changed the notebook since, save it and run this again.")
    print(f"Hidden checks {WHEN}")
    to_send = grading_folder() / "to_send" / f"{name}_{exercise.filename}"
    files.write_atomically(to_send, data)
    print(f"If your instructor does not collect from this computer, send them {shown(to_send)}")
    for cell in broken:
        print(f"  - Python cannot read {cell}")
    for finding in findings:
        print(f"  - {finding}")
    missing = _unwritten(notebook, exercise)
    if missing:
        print(f"Not written yet: {', '.join(missing)}. You can hand in again at any time.")
    return 0


def _refusal(broken: list[str], exercise: Exercise) -> str:
    lines = "".join(f"\n  - {cell}" for cell in broken)
    return (
        f"Python cannot read these cells, so they would get no points:{lines}\n"
        "Nothing was handed in; what you may have handed in before still counts. "
        f"Mend them, save, and run {door()} check "
        f"{exercise.number}. To hand it in as it is: {door()} submit {exercise.number} --anyway"
    )


def _unwritten(notebook, exercise) -> list[str]:
    """The tasks whose cell still is as it came."""
    stubs = {grade_id(cell): cell.source.strip() for cell in read(exercise.release).cells if is_solution(cell)}
    return [
        grade_id(cell)
        for cell in notebook.cells
        if is_solution(cell) and cell.source.strip() == stubs.get(grade_id(cell))
    ]
