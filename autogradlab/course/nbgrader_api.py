"""nbgrader, set up as this course uses it."""

import logging
import os
import sysconfig
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from .places import Stop

STUB = "# Your code here\nraise NotImplementedError"


def course_api(root: Path, db_url: str | None = None, **settings) -> NbGraderAPI:
    """nbgrader's API for a course that lies in root; its gradebook is SQLite there unless db_url says otherwise."""
    config = Config(settings)
    config.ClearSolutions.code_stub = {"python": STUB}
    config.CourseDirectory.root = str(root.resolve())
    # An answer key beside a notebook would be handed out with it.
    config.CourseDirectory.ignore = ["*.py", "*.pyc", "__pycache__", ".*", "*.md", "*.txt", "feedback"]
    if db_url:
        config.CourseDirectory.db_url = db_url
    # A new gradebook asks the `alembic` program for its version, and finds it by PATH.
    programs = sysconfig.get_path("scripts")
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def run(result: dict, what: str) -> None:
    """Stop with nbgrader's own last words if one of its steps failed."""
    if not result["success"]:
        raise Stop(f"could not {what}: {last_words(result)}")


def last_words(result: dict) -> str:
    """The line of an nbgrader result that says what was wrong."""
    lines = [line for line in result.get("error", "").splitlines() if line.strip()]
    lines = [line for line in lines if "NbGraderException" not in line] or lines
    log = [line for line in result.get("log", "").splitlines() if "Error: " in line]
    return (log or lines or ["it gave no reason"])[-1].strip()
