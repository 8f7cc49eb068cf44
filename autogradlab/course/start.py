"""course.py start 03: copy an exercise into work/, never over anything that is there."""

import argparse

from autogradlab import files

from .notebook_text import Unreadable, parse
from .places import Stop, door, exercises, find_exercise, says_why, shown


@says_why
def main(argv: list[str]) -> int:
    """Copy the exercise named in argv, or list what there is."""
    parser = argparse.ArgumentParser(prog="course.py start", description="Copy an exercise into work/ and begin.")
    parser.add_argument("exercise", nargs="?", help="its number or name, such as 03; without it, what there is")
    name = parser.parse_args(argv).exercise
    if name is None:
        return _list()
    exercise = find_exercise(name)
    copy = exercise.work
    files.sweep(copy.parent)
    try:
        original = exercise.release.read_bytes()
        parse(original)
    except (OSError, Unreadable) as error:
        raise Stop(
            f"the exercise itself cannot be read ({exercise.release}: {error}). Get a whole copy of the course."
        ) from error
    if files.write_new(copy, original):
        print(f"Copied exercise {exercise.number} to {shown(copy)}")
    else:
        _already_there(exercise)
    print(f"Next: open it in JupyterLab ({door()} lab, then work/{exercise.slug} in the file browser).")
    print(f"When you have written something: {door()} check {exercise.number}")
    return 0


def _already_there(exercise) -> None:
    try:
        parse(exercise.work.read_bytes())
    except (OSError, Unreadable) as error:
        raise Stop(
            f"there is a file {shown(exercise.work)} already, but it is no notebook: {error}. "
            "It was left as it is. Move it away, then run the same command for a fresh copy."
        ) from error
    print(
        f"You have started exercise {exercise.number} already; your work in {shown(exercise.work)} was left as it is."
    )
    print("(To begin anew, move or rename that file first.)")


def _list() -> int:
    for exercise in exercises():
        state = "started" if exercise.work.exists() else "not started"
        print(f"{exercise.number}  {exercise.slug}  {state}")
    print(f"Begin one with: {door()} start NUMBER")
    return 0
