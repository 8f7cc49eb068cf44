"""course.py grade: collect what was handed in, grade it, write feedback and marks."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from autogradlab import files

from . import cage, pool
from .places import Exercise, Stop, exercises, find_exercise, says_why, shown
from .submissions import Submission, collect, grading_folder, handed_in, nameless, unclaimed

if TYPE_CHECKING:
    from .grading import Grading, Result


@says_why
def main(argv: list[str]) -> int:
    """Grade; exit status 0 if every submission could be graded."""
    options = _options(argv)
    chosen = [find_exercise(name) for name in options.exercise] or exercises()
    folder = grading_folder()
    pool.warm_up()
    options.isolation = cage.strongest(options.isolation)
    rows, began = [], time.monotonic()
    untaken = _tell_what_is_not_taken(options.source, chosen) if options.source else []
    with Alone(folder):
        for exercise in chosen:
            submissions = _gather(exercise, options.source, folder, alone=len(chosen) == 1)
            if not submissions:
                print(f"Exercise {exercise.number}: nothing was handed in.")
                continue
            rows += _grade(exercise, submissions, options)
        if rows:
            _write_marks(folder / "marks.csv", rows)
    if rows:
        print(f"\nMarks: {shown(folder / 'marks.csv')}   Feedback: {shown(folder / 'feedback')}")
        print(cage.SAID[options.isolation])
        print(f"{time.monotonic() - began:.1f} s")
    return 1 if untaken or any(row["reason"] for row in rows) else 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="course.py grade", description="Collect, grade, write feedback and marks.")
    parser.add_argument("exercise", nargs="*", help="such as 03; without it, all that were handed in")
    parser.add_argument("--from", dest="source", metavar="FOLDER", help="with ann.ipynb, or ann/, for each student")
    parser.add_argument("--db", metavar="URL", help="gradebook, such as postgresql+psycopg://user@host/name")
    parser.add_argument("--again", action="store_true", help="grade also what is graded already")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--isolation", default="auto", choices=("auto", *cage.LEVELS), help="how far apart (auto)")
    parser.add_argument("--memory", type=float, default=2, metavar="GB", help="memory of one submission (2)")
    parser.add_argument("--disk", type=float, default=100, metavar="MB", help="what one may write to disk (100)")
    parser.add_argument("--seconds", type=float, default=60, help="how long one notebook may run (60)")
    parser.add_argument("--cell-seconds", type=float, default=10, help="how long one cell may run (10)")
    options = parser.parse_args(argv)
    options.db = options.db or os.environ.get("AUTOGRADLAB_GRADEBOOK")
    if min(options.jobs, options.seconds, options.cell_seconds, options.memory, options.disk) <= 0:
        raise Stop("--jobs, --seconds, --cell-seconds, --memory and --disk are numbers above 0")
    return options


def _tell_what_is_not_taken(source: str, chosen: list[Exercise]) -> list[str]:
    """Say what in the folder is taken for no exercise, and why; the names of what should have been."""
    if not Path(source).is_dir():
        raise Stop(
            f"there is no folder {source}. It should hold, for each student, ann.ipynb or ann/{chosen[0].filename}"
        )
    untaken = nameless(Path(source))
    for name in untaken:
        print(f"Not taken: {name}. Its name is a time and says no student's: rename it STUDENT.ipynb.", file=sys.stderr)
    left = unclaimed(Path(source), chosen)
    if len(chosen) == 1 and left:
        told = textwrap.shorten(", ".join(left), 200, placeholder=" ...")
        print(f"Left alone, as they are named for other exercises: {told}")
        return untaken
    for name in left:
        how = f"grade 03 --from {source} takes it for 03, or rename it STUDENT_{chosen[0].filename}"
        print(f"Not taken: {name}. Its name says no exercise: {how}.", file=sys.stderr)
    return untaken + left


def _gather(exercise: Exercise, source: str | None, folder: Path, alone: bool) -> list[Submission]:
    if source is None:
        return handed_in(exercise, folder / "handed_in")
    return collect(Path(source), exercise, folder / "handed_in", alone)


def _grade(exercise: Exercise, submissions: list[Submission], options: argparse.Namespace) -> list[dict]:
    count = len(submissions)
    print(f"Exercise {exercise.number}, {count} handed in; {options.jobs} at a time, a line as each ends", flush=True)
    from .grading import Grading, Limits, Settings  # nbgrader comes with it, which takes seconds

    limits = Limits(options.cell_seconds, options.seconds, int(options.memory * 2**30), int(options.disk * 2**20))
    settings = Settings(options.db, options.jobs, options.again, limits, options.isolation)
    width = max(len(submission.student) for submission in submissions)
    grading = Grading(exercise, settings)
    by_student = {submission.student: submission for submission in submissions}
    rows: list[dict] = []
    # The bar shows in terminals only; elsewhere the lines alone say how far it is.
    for result in tqdm(grading.grade(submissions), total=count, unit="submission", leave=False, disable=None):
        row = _row(grading, by_student[result.student], result)
        rows.append(row)
        mark = f"{row['score']:g} / {row['max_score']:g}"
        remarks = [f"NOT GRADED: {result.reason}"] if result.reason else []
        line = f"  {len(rows):>{len(str(count))}} of {count}  {result.student:<{width}}  {mark:>9}  "
        tqdm.write((line + textwrap.shorten("; ".join(remarks + result.notes), 140)).rstrip(), file=sys.stdout)
        sys.stdout.flush()
    return sorted(rows, key=lambda row: row["student"])


def _row(grading: Grading, submission: Submission, result: Result) -> dict:
    score, most, tasks = grading.book.marks(result.student)
    return {
        "student": result.student,
        "exercise": grading.exercise.slug,
        "handed_in": submission.handed_in.isoformat(timespec="seconds") if submission.handed_in else "",
        "score": score,
        "max_score": most,
        "tasks": "; ".join(f"{name} {got:g}/{points:g}" for name, (got, points) in tasks.items()),
        "reason": result.reason,
        "notes": "; ".join(result.notes),
    }


def _write_marks(path: Path, rows: list[dict]) -> None:
    """Replace the rows of what was graded now; those of other exercises and students stay."""
    fresh = {(row["student"], row["exercise"]): row for row in rows}
    kept = {}
    if path.exists():
        with open(path, encoding="utf-8", newline="") as file:
            kept = {(row.get("student"), row.get("exercise")): row for row in csv.DictReader(file)}
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(rows[0]), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    rows = [row for _, row in sorted({**kept, **fresh}.items())]
    writer.writerows({name: _as_text(value) for name, value in row.items()} for row in rows)
    files.write_atomically(path, table.getvalue().encode())


def _as_text(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


class Alone:
    """Only one grading at a time in a folder; a killed one holds nothing."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "grading.lock"

    def __enter__(self) -> None:
        self.held = files.lock(self.path)
        if self.held is None:
            holder = self.path.read_text("utf-8", errors="replace").strip()
            raise Stop(f"another grading runs here already (process {holder}). Wait until it has ended")
        os.ftruncate(self.held, 0)
        os.write(self.held, str(os.getpid()).encode())

    def __exit__(self, *_: object) -> None:
        os.close(self.held)
