"""nbgrader's gradebook: the exercise and the marks in it."""

import contextlib
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import sqlalchemy
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry

from .exercises import prepare
from .nbgrader_api import course_api
from .places import Exercise, Stop


class Book:
    """One exercise in the gradebook at db_url, of the nbgrader course that lies in folder."""

    def __init__(self, exercise: Exercise, folder: Path, db_url: str | None) -> None:
        self.exercise, self.folder = exercise, folder
        self.db_url = db_url or f"sqlite:///{folder / 'gradebook.db'}"
        self.api = course_api(folder, self.db_url)
        with self._open():
            pass

    @contextlib.contextmanager
    def _open(self) -> Iterator[Gradebook]:
        """The gradebook, for a while; what goes wrong with its database is told in a sentence."""
        try:
            with Gradebook(self.db_url) as book:
                yield book
        except (sqlalchemy.exc.SQLAlchemyError, InvalidEntry, ModuleNotFoundError) as error:
            raise Stop(self._unreachable(error)) from error

    def _unreachable(self, error: Exception) -> str:
        try:
            where = sqlalchemy.make_url(self.db_url).render_as_string(hide_password=True)
        except sqlalchemy.exc.ArgumentError:
            return f"{self.db_url!r} is no database URL. One looks like postgresql+psycopg://user:password@host/name"
        if isinstance(error, ModuleNotFoundError):
            package = "psycopg[binary]" if error.name == "psycopg" else error.name
            return f"the gradebook at {where} needs a package: run {sys.executable} -m pip install '{package}'"
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()
        cause = reason[0] if reason else type(error).__name__
        return f"the gradebook at {where} cannot be used: {cause}. Mend that and run the same command again"

    def enter_exercise(self) -> None:
        """Make sure the gradebook knows the exercise as it is now; a change of its tasks under existing marks stops."""
        try:
            prepare(self.api, self.exercise, self.folder)
        except Stop as reason:
            if "there are submissions associated" not in str(reason):
                raise
            raise Stop(
                f"exercise {self.exercise.number} has other tasks now than when this gradebook first saw it, and "
                "nbgrader does not mix the two. Nothing has changed. Grade with a new gradebook (--db), or with the "
                "exercise as it was"
            ) from reason

    def store(self, student: str, when: datetime, scores: dict, comments: dict) -> None:
        """Enter a graded submission; marks and comments given by hand stay, and ask to be looked at again."""
        slug = self.exercise.slug
        with self._open() as book:
            book.update_or_create_student(student)
            book.update_or_create_submission(slug, student, timestamp=when.replace(tzinfo=None))
            notebook = book.find_submission_notebook(slug, slug, student)
            for grade in notebook.grades:
                grade.auto_score = min(scores.get(grade.name, 0.0), grade.max_score)
                grade.needs_manual_grade = grade.manual_score is not None
            for comment in notebook.comments:
                comment.auto_comment = comments.get(comment.name)
            book.db.commit()

    def by_hand(self, student: str) -> dict[str, dict]:
        """The marks and comments that somebody gave a student here, by the names of the cells."""
        slug, given = self.exercise.slug, {}
        with self._open() as book, contextlib.suppress(MissingEntry):
            notebook = book.find_submission_notebook(slug, slug, student)
            for grade in notebook.grades:
                if grade.manual_score is not None or grade.extra_credit:
                    given[grade.name] = {"manual": grade.manual_score, "extra": grade.extra_credit}
            for comment in notebook.comments:
                if comment.manual_comment:
                    given.setdefault(comment.name, {})["comment"] = comment.manual_comment
        return given

    def marks(self, student: str) -> tuple[float, float, dict[str, tuple[float, float]]] | None:
        """(score, highest score, the same for each check), manual marks included; None if there are none."""
        slug = self.exercise.slug
        with self._open() as book:
            try:
                notebook = book.find_submission_notebook(slug, slug, student)
            except MissingEntry:
                return None
            tasks = {grade.name.removeprefix("check_"): (grade.score, grade.max_score) for grade in notebook.grades}
            return notebook.score, notebook.max_score, tasks
