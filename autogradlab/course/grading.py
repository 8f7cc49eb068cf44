"""Grading one exercise's submissions: two at a time, each on its own, into nbgrader's gradebook.

grading/handed_in/     what students handed in (submissions.py)
grading/submitted/     the submissions that were graded, where nbgrader's own tools look for them
grading/autograded/    the graded notebooks
grading/feedback/      what students get back
grading/results/       a record for each graded submission, written last: where it is, nothing is left to do
grading/gradebook.db   nbgrader's gradebook, unless it lives in another database
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from autogradlab import files
from autogradlab.learn import checks

from . import feedback, grading_library
from .exercises import prepare
from .grade_worker import GRADED, PAGE, RESULT, SUBMISSION, Job, work
from .gradebook import Book
from .nbgrader_api import course_api
from .notebook_text import LARGEST
from .places import Exercise, Stop
from .pool import run_all
from .submissions import Submission, grading_folder
from .watch import Limits, end_all_of

TEMPLATE = "gradebook.db"
SCRATCH = "autogradlab-grading-"  # the process number follows
UNEXPECTED = (
    "grading it ended unexpectedly: its code may have ended the grader, or the machine was short of memory. "
    "Look at the notebook; it will be tried again next time"
)


@dataclass
class Result:
    """What became of one submission; reason is empty if it was graded."""

    student: str
    submission: str = ""  # a digest of the submitted bytes
    source: str = ""  # a digest of what it was graded by
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    seconds: float = 0  # that its cells took
    lasting: bool = True  # grading it again would come to the same


@dataclass
class Settings:
    """How to grade."""

    db_url: str | None = None
    jobs: int = 2
    again: bool = False
    limits: Limits = field(default_factory=Limits)
    isolation: str = "none"  # one of cage.LEVELS


class Grading:
    """One exercise's grading."""

    def __init__(self, exercise: Exercise, settings: Settings) -> None:
        self.exercise, self.settings, self.folder = exercise, settings, grading_folder()
        if not exercise.source.exists():
            raise Stop(f"{exercise.source} is missing: grading needs it, and this copy of the course is a learner's")
        self.source = _digest(exercise.source.read_bytes(), *_check_files())
        self.book = Book(exercise, self.folder, settings.db_url)

    def grade(self, submissions: list[Submission]) -> Iterator[Result]:
        """Yield each submission's result as soon as it is in the gradebook; what is graded already comes first."""
        waiting = []
        for submission in submissions:
            done = None if self.settings.again else self._record_of(submission)
            if done is not None:
                yield done
            else:
                waiting.append(submission)
        if not waiting:
            return
        self.book.enter_exercise()
        _sweep()
        prefix = f"{SCRATCH}{os.getpid()}-"
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as scratch:
            self._make_template(Path(scratch))
            running: dict[Path, tuple[Submission, Result]] = {}
            for job in run_all(work, self._jobs(waiting, Path(scratch), running), self.settings.jobs):
                submission, result = running.pop(job.folder)
                yield self._settle(submission, result, self._outcome(job, result))
                shutil.rmtree(job.folder, ignore_errors=True)

    # One submission --------------------------------------------------------------------------------------------------

    def _make_template(self, scratch: Path) -> None:
        """A gradebook that holds the exercise and nobody: each worker gets a copy."""
        root = scratch / "template"
        root.mkdir()
        prepare(course_api(root), self.exercise, root)

    def _jobs(self, waiting: list[Submission], scratch: Path, running: dict) -> Iterator[Job]:
        """A job for each submission, made when its turn comes: a folder with everything the worker needs."""
        for number, submission in enumerate(waiting):
            folder = scratch / f"job-{number}"
            folder.mkdir()
            shutil.copy(scratch / "template" / TEMPLATE, folder / TEMPLATE)
            job = Job(folder, self.exercise, self.settings.limits, self.settings.isolation, os.getpid(),
                      submission.problem, by_hand=self.book.by_hand(submission.student))  # fmt: skip
            grading_library.make(folder / "lib", job.chapter)
            result = Result(submission.student, source=self.source)
            try:
                if submission.path is not None:
                    data = files.read_plain(submission.path, LARGEST)
                    result.submission = _digest(data)
                    (folder / SUBMISSION).write_bytes(data)
            except OSError as error:
                job = replace(job, problem=f"the file cannot be read ({error.strerror})")
            running[folder] = submission, result
            yield job

    def _outcome(self, job: Job, result: Result) -> dict[str, bytes] | None:
        """Read what the worker left behind into result; the graded notebook and the page, if there are any."""
        try:
            told = json.loads((job.folder / RESULT).read_bytes())
        except (OSError, ValueError):
            end_all_of(job.folder)
            told = {"reason": UNEXPECTED}
        if "reason" in told:
            result.reason, result.lasting = _line(told["reason"]), told.get("lasting", False)
            return None
        result.scores, result.comments, result.seconds = told["scores"], told["comments"], told["seconds"]
        result.notes = [_line(note) for note in told["notes"]]
        try:
            return {name: (job.folder / name).read_bytes() for name in (GRADED, PAGE)}
        except OSError as error:  # the submission's code could reach these files
            result.reason, result.lasting = f"its graded notebook cannot be read ({error.strerror})", False
            return None

    def _settle(self, submission: Submission, result: Result, graded: dict[str, bytes] | None) -> Result:
        """Enter the result into gradebook, feedback and, last, the record. Done twice, it comes to the same."""
        student, slug = result.student, self.exercise.slug
        page = feedback.place(self.folder, student, self.exercise)
        if graded is not None:
            when = submission.handed_in
            stamp = when.strftime("%Y-%m-%d %H:%M:%S.%f UTC").encode()
            for step, data in (
                ("submitted", files.read_plain(submission.path, LARGEST)),
                ("autograded", graded[GRADED]),
            ):
                files.write_atomically(self.folder / step / student / slug / self.exercise.filename, data)
                files.write_atomically(self.folder / step / student / slug / "timestamp.txt", stamp)
            self.book.store(student, when, result.scores, result.comments)
            files.write_atomically(page, graded[PAGE])
        else:
            if (self.folder / "autograded" / student / slug).exists():
                result.notes.append("the mark is that of an earlier submission")
            else:
                self.book.store(student, submission.handed_in or datetime.now(UTC), {}, {})
            files.write_atomically(page, feedback.explain(self.exercise, result.reason).encode())
        if result.submission and result.lasting:
            files.write_atomically(self._record_path(student), json.dumps(asdict(result), indent=1).encode())
        return result

    # Records ---------------------------------------------------------------------------------------------------------

    def _record_path(self, student: str) -> Path:
        return self.folder / "results" / self.exercise.slug / f"{student}.json"

    def _record_of(self, submission: Submission) -> Result | None:
        """The record of exactly this submission, graded by the exercise as it is now."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            record = Result(**json.loads(self._record_path(submission.student).read_bytes()))
            same = submission.path and record.submission == _digest(files.read_plain(submission.path, LARGEST))
            if same and record.source == self.source and self.book.marks(submission.student) is not None:
                return record
        return None


def _sweep() -> None:
    """Remove the scratch folders of gradings that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*-*"):
        number = path.name.removeprefix(SCRATCH).partition("-")[0]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def _check_files() -> list[bytes]:
    """The text of the checks: marks depend on it as they do on the exercise."""
    return [path.read_bytes() for path in sorted(Path(checks.__file__).parent.glob("*.py"))]


def _line(text: str) -> str:
    """Text that came out of a submission, fit for a terminal and a table: no control characters, not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text[:2000])
    return textwrap.shorten(printable, 500, placeholder=" ...")


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
