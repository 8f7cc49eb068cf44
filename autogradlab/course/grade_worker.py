"""Grading one submission, in a process and a folder of its own.

The folder holds a gradebook with the exercise and one nameless student, the submission, and the package its kernel
imports. The process leaves behind result.json and the graded notebook; if it dies, that is reported, and nothing else
has happened. It knows neither the course's gradebook nor anybody else's work.
"""

import contextlib
import ctypes
import importlib
import json
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
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

from . import files
from .nbgrader_api import course_api, last_words
from .referee import Referee

STUDENT = "student"
MEMORY = 4 * 1024**3  # bytes of address space for a submission's kernel
FILE_SIZE = 64 * 1024**2  # bytes that it may write into one file
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Job:
    """What a worker is told."""

    folder: Path
    slug: str
    chapter: str
    cell_seconds: float
    all_seconds: float
    parent: int

    @property
    def patience(self) -> float:
        """Seconds after which the worker itself has hung."""
        return self.all_seconds + 60


def work(job: Job) -> None:
    """Grade the submission in job.folder and write result.json there."""
    _redirect(job.folder / "worker.log")
    threading.Thread(target=_watch, args=(job,), daemon=True).start()
    _confine(job)
    try:
        result = _grade(job)
    except Exception as error:  # whatever it is, it concerns this submission alone
        result = {"reason": f"grading it failed ({type(error).__name__}: {error})"}
    _end_children()
    files.write_atomically(job.folder / "result.json", json.dumps(result).encode())
    os._exit(0)  # no thread and no exit handler of a library may hold the worker up now


def _grade(job: Job) -> dict:
    checks = importlib.import_module(f"autogradlab.learn.checks.{job.chapter}")
    limits = {"cell_seconds": job.cell_seconds, "all_seconds": job.all_seconds, "tasks": checks.TASKS}
    marks: dict = {"scores": {}, "comments": {}}
    steps = [type("Referee", (Referee,), limits), type("Count", (Count,), {"marks": marks}), IgnorePattern]
    steps += [ClearMetadataPreprocessor, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    api = course_api(job.folder, Autograde={"autograde_preprocessors": steps})
    result = api.autograde(job.slug, STUDENT)
    if not result["success"]:
        print(result.get("log"), result.get("error"))
        return {"reason": f"nbgrader could not grade it ({last_words(result)})"}
    return marks


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
    """Limit what the kernel, a child of this process, can reach by accident or habit. (It is no sandbox.)"""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = job.folder / "home"
    home.mkdir()
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(HOME=str(home), USERPROFILE=str(home), PYTHONPATH=str(job.folder / "lib"))
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg")
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        for kind, most in (("AS", MEMORY), ("FSIZE", FILE_SIZE), ("CORE", 0)):
            number = getattr(resource, f"RLIMIT_{kind}")
            hard = resource.getrlimit(number)[1]
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (limit, limit))
    if sys.platform == "linux":
        # Processes that a submission leaves behind become this one's children (PR_SET_CHILD_SUBREAPER).
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def _watch(job: Job) -> None:
    """End this process and all below it when it takes too long, or when whoever asked for the grading is gone."""
    until = time.monotonic() + job.patience
    while time.monotonic() < until and psutil.pid_exists(job.parent):
        time.sleep(0.5)
    _end_children()
    os._exit(1)


def _end_children() -> None:
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            process.kill()
