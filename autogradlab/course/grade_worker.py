"""Grading one submission, in a process and a folder of its own.

The folder holds the submission as it was handed in, a gradebook with the exercise and one nameless student, and the
package that the submission imports. The process leaves behind result.json, the graded notebook and the page for the
student; if it dies, that is reported, and nothing else has happened. It knows neither the course's gradebook nor
anybody else's work, and nothing of a submission is read anywhere but here.
"""

import contextlib
import ctypes
import importlib
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader import utils
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    IgnorePattern,
    LimitOutput,
    NbGraderPreprocessor,
    SaveAutoGrades,
)

from autogradlab import files

from . import feedback
from .nbgrader_api import course_api, last_words
from .notebook_text import Unreadable, parse, read, to_bytes
from .places import Exercise
from .referee import Referee
from .structure import grade_id, is_check, mend, notes_of
from .watch import Limits, Watch, end_children

STUDENT = "student"
SUBMISSION, RESULT, GRADED, PAGE = "submission", "result.json", "graded.ipynb", "page.html"
FILE_SIZE = 64 * 1024**2  # bytes that it may write into one file
OURS = 2 * 1024**3  # bytes of address space that the libraries want, whatever a submission does
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Job:
    """What a worker is told."""

    folder: Path
    exercise: Exercise
    limits: Limits
    isolation: str
    parent: int
    problem: str = ""  # what is odd about how it was handed in
    by_hand: dict = field(default_factory=dict)  # marks and comments that somebody gave

    @property
    def patience(self) -> float:
        return self.limits.patience

    @property
    def chapter(self) -> str:
        return f"ch{self.exercise.number}"

    @property
    def home(self) -> Path:
        """The only folder that a submission may write to."""
        return self.folder / "home"


def work(job: Job) -> None:
    """Grade the submission in job.folder and write result.json there."""
    _redirect(job.folder / "worker.log")
    watch = Watch(job.limits, job.home, job.parent)
    watch.start()
    _confine(job)
    try:
        result = _grade(job, watch)
    except Unreadable as reason:
        result = {"reason": str(reason), "lasting": True}
    except Exception as error:  # whatever it is, it concerns this submission alone
        result = {"reason": f"grading it failed ({type(error).__name__}: {error})"}
    end_children()
    files.write_atomically(job.folder / RESULT, json.dumps(result).encode())
    os._exit(0)  # no thread and no exit handler of a library may hold the worker up now


def _grade(job: Job, watch: Watch) -> dict:
    release = read(job.exercise.release)
    notes = _lay_out(job, release)
    marks: dict = {"scores": {}, "comments": {}}
    tasks = importlib.import_module(f"autogradlab.learn.checks.{job.chapter}").TASKS
    settings = {"tasks": tasks, "job": job, "watch": watch}
    steps = [type("Referee", (Referee,), settings), type("Count", (Count,), {"marks": marks}), IgnorePattern]
    steps += [ClearMetadataPreprocessor, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    api = course_api(job.folder, Autograde={"autograde_preprocessors": steps})
    slug = job.exercise.slug
    result = api.autograde(slug, STUDENT)
    end_children()
    if not result["success"]:
        print(result.get("log"), result.get("error"))
        return {"reason": f"nbgrader could not grade it ({last_words(result)})"}
    checks = {grade_id(cell) for cell in release.cells if is_check(cell)}
    if checks - {name for name, score in marks["scores"].items() if score is not None}:
        return {"reason": "some of its checks got no mark; it will be tried again next time"}
    data = (job.folder / "autograded" / STUDENT / slug / job.exercise.filename).read_bytes()
    graded = nbformat.reads(data.decode("utf-8"), as_version=4)
    page = feedback.page(graded, slug, marks, job.by_hand)
    files.write_atomically(job.folder / GRADED, data)
    files.write_atomically(job.folder / PAGE, page.encode("utf-8", "replace"))
    return {**marks, "seconds": watch.busy, "notes": notes + notes_of(graded)}


def _lay_out(job: Job, release: nbformat.NotebookNode) -> list[str]:
    """The submission, put right, where nbgrader looks for it; and what had to be put right."""
    if not (job.folder / SUBMISSION).exists():
        raise Unreadable(job.problem)
    submitted = parse((job.folder / SUBMISSION).read_bytes())
    names = {grade_id(cell) for cell in release.cells} - {None}
    if not names & {grade_id(cell) for cell in submitted.cells} and not names & {c.id for c in submitted.cells}:
        raise Unreadable(f"it holds none of exercise {job.exercise.number}'s cells: another notebook?")
    mended, findings = mend(submitted, release)
    notes = [job.problem] * bool(job.problem) + findings
    if notes:
        text = "**Before grading:**\n\n" + "\n".join(f"- {note}" for note in notes)
        mended.cells.insert(0, nbformat.v4.new_markdown_cell(text))
    place = job.folder / "submitted" / STUDENT / job.exercise.slug / job.exercise.filename
    place.parent.mkdir(parents=True)
    place.write_bytes(to_bytes(mended))
    return notes


class Count(NbGraderPreprocessor):
    """Note each mark as nbgrader determines it, here in memory: a submission can reach the gradebook beside it."""

    marks: dict = {}

    def preprocess_cell(self, cell, resources, index):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if utils.is_grade(cell):
            self.marks["scores"][name] = utils.determine_grade(cell)[0]
        if utils.is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            self.marks["comments"][name] = "No response." if untouched else None
        return cell, resources


def _redirect(log: Path) -> None:
    """What libraries print goes into a file, not between the lines of the instructor's table."""
    sys.stdout.flush()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)


def _confine(job: Job) -> None:
    """Limit what the kernel, a child of this process, can use; what it can reach is cage.py's business."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = str(job.home)
    job.home.mkdir()
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(HOME=home, USERPROFILE=home, PYTHONPATH=str(job.folder / "lib"))
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg")
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        for kind, most in (("AS", job.limits.memory + OURS), ("FSIZE", FILE_SIZE), ("CORE", 0)):
            number = getattr(resource, f"RLIMIT_{kind}")
            hard = resource.getrlimit(number)[1]
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (limit, limit))
    if sys.platform == "linux":
        # Processes that a submission leaves behind become this one's children (PR_SET_CHILD_SUBREAPER).
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
