"""nbgrader, set up as this course uses it."""

import logging
import warnings
from pathlib import Path

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from .places import Stop


def _alembic_version() -> str:
    return ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()


# For each new gradebook nbgrader starts the `alembic` program, which takes 5 s to say this one word.
nbgrader.api.get_alembic_version = _alembic_version

STUB = "# Your code here\nraise NotImplementedError"


def course_api(root: Path, db_url: str | None = None, **settings) -> NbGraderAPI:
    """nbgrader's API for a course that lies in root; its gradebook is SQLite there unless db_url says otherwise."""
    config = Config(settings)
    config.ClearSolutions.code_stub = {"python": STUB}
    config.CourseDirectory.course_id = "default_course"  # nbgrader takes this one for granted in places
    config.CourseDirectory.root = str(root.resolve())
    # An answer key beside a notebook would be handed out with it.
    config.CourseDirectory.ignore = ["*.py", "*.pyc", "__pycache__", ".*", "*.md", "*.txt", "feedback"]
    if db_url:
        config.CourseDirectory.db_url = db_url
    warnings.filterwarnings("ignore", module=r"nbgrader\.")  # SQLAlchemy's remarks on nbgrader's own code
    for name in ("traitlets", "tornado.application"):  # errors come back in results, and are told once
        logging.getLogger(name).setLevel(logging.CRITICAL)
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
