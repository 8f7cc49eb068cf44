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
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import psutil

from autogradlab.learn import checks

from . import feedback, files, grading_library
from .exercises import prepare
from .grade_worker import STUDENT, Job, work
from .gradebook import Book
from .nbgrader_api import course_api
from .notebook_text import Unreadable, parse, read, to_bytes
from .places import Exercise, Stop
from .pool import run_all
from .structure import grade_id, is_check, mend, notes_of
from .submissions import Submission, grading_folder

TEMPLATE = "gradebook.db"
SCRATCH = "autogradlab-grading-"  # the process number follows


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
    lasting: bool = True  # grading it again would come to the same


@dataclass
class Settings:
    """How to grade."""

    db_url: str | None = None
    jobs: int = 2
    cell_seconds: float = 10
    all_seconds: float = 60
    again: bool = False


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
            jobs = {}
            for submission in waiting:
                try:
                    job, result = self._make_job(submission, Path(scratch), len(jobs))
                    jobs[job.folder] = job, submission, result
                except Unreadable as reason:
                    yield self._settle(submission, Result(submission.student, reason=str(reason)), None)
            for job in run_all(work, [job for job, _, _ in jobs.values()], self.settings.jobs):
                _, submission, result = jobs[job.folder]
                graded = self._outcome(job, result)
                yield self._settle(submission, result, graded)
                shutil.rmtree(job.folder, ignore_errors=True)

    # One submission --------------------------------------------------------------------------------------------------

    def _make_template(self, scratch: Path) -> None:
        """A gradebook that holds the exercise and nobody: each worker gets a copy."""
        root = scratch / "template"
        root.mkdir()
        prepare(course_api(root), self.exercise, root)

    def _make_job(self, submission: Submission, scratch: Path, number: int) -> tuple[Job, Result]:
        """A folder with everything the worker needs; Unreadable if there is nothing to be graded."""
        if submission.path is None:
            raise Unreadable(submission.problem)
        data = submission.path.read_bytes()
        release = read(self.exercise.release)
        submitted = parse(data)
        names = {grade_id(cell) for cell in release.cells} - {None}
        if not names & {grade_id(cell) for cell in submitted.cells} and not names & {c.id for c in submitted.cells}:
            raise Unreadable(f"it holds none of exercise {self.exercise.number}'s cells: another notebook?")
        mended, findings = mend(submitted, release)
        notes = [submission.problem] if submission.problem else []
        notes += findings
        if notes:
            text = "**Before grading:**\n\n" + "\n".join(f"- {note}" for note in notes)
            mended.cells.insert(0, nbformat.v4.new_markdown_cell(text, id="before-grading"))
        folder = scratch / f"job-{number}"
        home = folder / "submitted" / STUDENT / self.exercise.slug
        home.mkdir(parents=True)
        (home / self.exercise.filename).write_bytes(to_bytes(mended))
        shutil.copy(scratch / "template" / TEMPLATE, folder / TEMPLATE)
        chapter = f"ch{self.exercise.number}"
        grading_library.make(folder / "lib", chapter)
        settings = self.settings
        job = Job(folder, self.exercise.slug, chapter, settings.cell_seconds, settings.all_seconds, os.getpid())
        return job, Result(submission.student, _digest(data), self.source, notes=notes)

    def _outcome(self, job: Job, result: Result) -> bytes | None:
        """Read what the worker left behind into result; the graded notebook, if there is one."""
        try:
            told = json.loads((job.folder / "result.json").read_bytes())
        except (OSError, ValueError):
            told = {"reason": "grading it ended unexpectedly; it will be tried again next time", "again": True}
        if "reason" in told:
            result.reason, result.lasting = told["reason"], False
            return None
        result.scores, result.comments = told["scores"], told["comments"]
        checks_of_it = {grade_id(cell) for cell in read(self.exercise.release).cells if is_check(cell)}
        if checks_of_it - {name for name, score in result.scores.items() if score is not None}:
            result.reason, result.lasting = "some of its checks got no mark; it will be tried again next time", False
            return None
        path = job.folder / "autograded" / STUDENT / self.exercise.slug / self.exercise.filename
        try:
            graded = path.read_bytes()
            result.notes += notes_of(nbformat.reads(graded.decode("utf-8"), as_version=4))
        except Exception as error:  # the submission's code could reach this file
            result.reason, result.lasting = f"its graded notebook cannot be read ({type(error).__name__})", False
            return None
        return graded

    def _settle(self, submission: Submission, result: Result, graded: bytes | None) -> Result:
        """Enter the result into gradebook, feedback and, last, the record. Done twice, it comes to the same."""
        student, slug = result.student, self.exercise.slug
        if graded is not None:
            when = submission.handed_in
            stamp = when.strftime("%Y-%m-%d %H:%M:%S.%f UTC").encode()
            for step, data in (("submitted", submission.path.read_bytes()), ("autograded", graded)):
                files.write_atomically(self.folder / step / student / slug / self.exercise.filename, data)
                files.write_atomically(self.folder / step / student / slug / "timestamp.txt", stamp)
            self.book.store(student, when, result.scores, result.comments)
            feedback.generate(self.book, student)
        else:
            if (self.folder / "autograded" / student / slug).exists():
                result.notes.append("the mark is that of an earlier submission")
            else:
                self.book.store(student, submission.handed_in or datetime.now(UTC), {}, {})
            feedback.explain(self.book, student, result.reason)
        if submission.path is not None and result.lasting:
            result.submission, result.source = _digest(submission.path.read_bytes()), self.source
            files.write_atomically(self._record_path(student), json.dumps(asdict(result), indent=1).encode())
        return result

    # Records ---------------------------------------------------------------------------------------------------------

    def _record_path(self, student: str) -> Path:
        return self.folder / "results" / self.exercise.slug / f"{student}.json"

    def _record_of(self, submission: Submission) -> Result | None:
        """The record of exactly this submission, graded by the exercise as it is now."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            record = Result(**json.loads(self._record_path(submission.student).read_bytes()))
            same = submission.path is not None and record.submission == _digest(submission.path.read_bytes())
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


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
