"""course.py exercises: make exercises/ from solutions/ with nbgrader, byte for byte the same on every run."""

import argparse
import tempfile
from pathlib import Path

from autogradlab import files

from .nbgrader_api import course_api, run
from .notebook_text import read, to_bytes
from .places import Exercise, Stop, exercises, says_why, shown


@says_why
def main(argv: list[str]) -> int:
    """Regenerate every exercise, or with --check say which ones are not what their source makes."""
    parser = argparse.ArgumentParser(prog="course.py exercises", description="Make exercises/ from solutions/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything would change")
    check = parser.parse_args(argv).check
    sources = exercises("solutions")
    if not sources:
        raise Stop("there is no solutions/ folder with notebooks: this copy of the course is a learner's.")
    differing = []
    for exercise in sources:
        made = generate(exercise)
        if not exercise.release.exists() or exercise.release.read_bytes() != made:
            differing.append(exercise)
            if not check:
                files.write_atomically(exercise.release, made)
        state = "as committed" if exercise not in differing else "differs" if check else "written"
        print(f"{exercise.number}  {shown(exercise.release)}  {state}")
    if check and differing:
        print("Run: python3 course.py exercises")
    return 1 if check and differing else 0


def generate(exercise: Exercise) -> bytes:
    """The exercise that nbgrader makes of its source."""
    with tempfile.TemporaryDirectory(prefix="autogradlab-") as folder:
        api = course_api(Path(folder))
        prepare(api, exercise, Path(folder))
        return to_bytes(read(Path(folder) / "release" / exercise.slug / exercise.filename))


def prepare(api, exercise: Exercise, root: Path) -> None:
    """Enter the exercise into the gradebook of api, whose course lies in root, and make its release there.

    Only the notebook is copied: nbgrader would hand out every other file that lies beside it.
    """
    source = root / "source" / exercise.slug / exercise.filename
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(exercise.source.read_bytes())
    run(api.generate_assignment(exercise.slug), f"make exercise {exercise.number} of {exercise.source}")
