"""Where things lie: the exercises of the course, the learner's copies, what was handed in, and the marks."""

import contextlib
import functools
import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autogradlab.files import Stop, course_root


def says_why(command: Callable[[list[str]], int]) -> Callable[[list[str]], int]:
    """Make a command's Stop a line on stderr and exit status 1; an interrupt is no accident either."""

    name = command.__module__.rpartition(".")[2]

    @functools.wraps(command)
    def main(argv: list[str]) -> int:
        with contextlib.suppress(AttributeError):
            sys.stdout.reconfigure(errors="backslashreplace")  # a name may have letters that the terminal has not
        try:
            return command(argv)
        except Stop as reason:
            sys.stdout.flush()
            print(f"{name}: {reason}", file=sys.stderr)
            return 1
        except BrokenPipeError:  # whoever read along has read enough, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141  # what a shell gives for this
        except OSError as error:  # a folder that may not be read, a disk that is gone
            sys.stdout.flush()
            where = f"{error.filename} cannot be used: " if error.filename else ""
            print(f"{name}: {where}{error.strerror or error}. Mend that and run it again.", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print(f"\n{name}: stopped. Nothing is lost; the same command goes on from here.", file=sys.stderr)
            return 130

    return main


@dataclass(frozen=True)
class Exercise:
    """One exercise; its slug, such as 03_shapes_and_strides, is also its notebook's name and nbgrader's assignment."""

    slug: str
    part: str
    course: Path

    @property
    def number(self) -> str:
        return self.slug.partition("_")[0]

    @property
    def filename(self) -> str:
        return f"{self.slug}.ipynb"

    @property
    def source(self) -> Path:
        return self.course / "solutions" / self.part / self.slug / self.filename

    @property
    def release(self) -> Path:
        return self.course / "exercises" / self.part / self.slug / self.filename

    @property
    def work(self) -> Path:
        return self.course / "work" / self.slug / self.filename


def exercises(kind: str = "exercises") -> list[Exercise]:
    """All exercises there are, by number; kind is "exercises" or "solutions"."""
    root = course_root()
    found = [path.parent for path in (root / kind).glob("*/*/*.ipynb") if path.stem == path.parent.name]
    return sorted((Exercise(path.name, path.parent.name, root) for path in found), key=lambda e: e.slug)


def find_exercise(name: str) -> Exercise:
    """The exercise meant by 3, 03, shapes_and_strides, 03_shapes_and_strides or a path to its notebook."""
    there = exercises()
    if not there:
        raise Stop(f"there are no exercises in {course_root() / 'exercises'}. Get a whole copy of the course.")
    wanted = Path(name).stem.lower().replace("-", "_")
    for exercise in there:
        slug = exercise.slug.lower()
        number, _, title = slug.partition("_")
        if wanted in (slug, title, number) or (re.fullmatch(r"\d+", wanted) and int(wanted) == int(number)):
            return exercise
    listed = "\n".join(f"    {exercise.number}  {exercise.slug}" for exercise in there)
    raise Stop(f"there is no exercise {name!r}. The exercises are:\n{listed}")


def door() -> str:
    """course.py as one types it where one stands."""
    script = course_root() / "course.py"
    try:
        way = os.path.relpath(script)
    except ValueError:  # on another drive
        way = str(script)
    return f"python3 {shlex.quote(min(way, str(script), key=len))}"


def shown(path: Path) -> str:
    """The path as the learner would type it: relative to where they stand, if it is below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
