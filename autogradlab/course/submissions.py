"""What was handed in: every submission is one file that is written once and never changed.

    grading/handed_in/STUDENT/03_shapes_and_strides/20261129T174012.345678Z.ipynb

The newest one counts; the others stay. A learner who sends a file sends grading/to_send/STUDENT_03_....ipynb, a copy of
the newest one: its name says whose it is.
"""

import contextlib
import getpass
import re
import subprocess
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autogradlab import files

from .notebook_text import LARGEST
from .places import Exercise, course_root, exercises

NAME = 180  # bytes of a student's name: file systems allow 255 for a file's, which holds more than that
TIME = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True)
class Submission:
    """What one student handed in last for one exercise; problem says why there is no file to be graded."""

    student: str
    exercise: Exercise
    path: Path | None
    problem: str = ""

    @property
    def handed_in(self) -> datetime | None:
        return _time_of(self.path) if self.path else None


def grading_folder() -> Path:
    """Where submissions, gradebook and feedback lie; git never looks into it."""
    folder = course_root() / "grading"
    if not (folder / ".gitignore").exists():
        files.write_atomically(folder / ".gitignore", b"*\n")
    return folder


def student_id(name: str) -> str:
    """The name as a folder's name: letters, digits, dot, minus, at; anything else becomes an underscore.

    It begins with a letter or digit, so that neither a shell nor a spreadsheet takes it for anything but a name.
    """
    name = unicodedata.normalize("NFC", name)  # macOS writes an accent as a character of its own
    name = re.sub(r"[^\w.@-]+", "_", name.strip()).lstrip("._@-")
    return name[:64].encode()[:NAME].decode("utf-8", "ignore").rstrip("._")


def own_name(given: str | None) -> str:
    """The learner's name: as given, else as remembered, else git's, else the system's; "" if there is none.

    A given one is remembered. "root" is nobody's name.
    """
    memory = course_root() / "work" / "name.txt"
    if given:
        files.write_atomically(memory, f"{given.strip()}\n".encode())
    remembered = memory.read_text("utf-8", errors="replace") if memory.exists() else ""
    return student_id(given or remembered or _git_name() or _system_name())


def _system_name() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may run as a number without a name
        return ""
    return "" if name in ("root", "Administrator") else name


def _git_name() -> str:
    try:
        asked = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip()


def earlier(student: str, exercise: Exercise, root: Path) -> list[Path]:
    """What this student handed in so far, oldest first."""
    return sorted(path for path in (root / student / exercise.slug).glob("*.ipynb") if _is_time(path.stem))


def _time_of(path: Path) -> datetime:
    return datetime.strptime(path.stem, TIME).replace(tzinfo=UTC)


def _is_time(text: str) -> bool:
    try:
        datetime.strptime(text, TIME)
    except ValueError:
        return False
    return True


def keep(student: str, exercise: Exercise, data: bytes, when: datetime, root: Path) -> tuple[Path, bool]:
    """Keep a submission; its path, and False if the newest one holds the same already."""
    folder = root / student / exercise.slug
    files.sweep(folder)
    while True:
        before = earlier(student, exercise, root)
        if before and _same(before[-1], data):
            return before[-1], False
        if before:  # what is handed in now is the newest, whatever the clock says
            when = max(when, _time_of(before[-1]) + timedelta(microseconds=1))
        path = folder / f"{when.strftime(TIME)}.ipynb"
        if files.write_new(path, data):
            return path, True


def _same(path: Path, data: bytes) -> bool:
    with contextlib.suppress(OSError):  # a file that cannot be read is another one
        return files.read_plain(path, LARGEST) == data
    return False


def handed_in(exercise: Exercise, root: Path) -> list[Submission]:
    """The newest submission of each student."""
    found = []
    for folder in sorted(root.glob(f"*/{exercise.slug}")):
        kept = earlier(folder.parent.name, exercise, root)
        if kept:
            found.append(Submission(folder.parent.name, exercise, kept[-1]))
    return found


def collect(source: Path, exercise: Exercise, root: Path, alone: bool = True) -> list[Submission]:
    """Keep what lies in a folder with one notebook, or one folder, for each student.

    What is named for another exercise is left alone; and what is named for none, unless this one is alone asked for.
    """
    collected: dict[str, Submission] = {}
    for entry in _entries(source):
        name = student_id(_student_of(entry, exercise))
        named = _named_for(entry)
        # A file with a time for a name is told by nameless(): to guess a student would make one up.
        if not name or _is_time(entry.stem) or (exercise.slug not in named and (named or not alone)):
            continue
        student = next(one for one in (name, *(f"{name}-{n}" for n in range(2, 10**6))) if one not in collected)
        notebook, problem = _notebook_of(entry, exercise)
        if student != name:
            problem = f"the name of {entry.name} is the same as another file's, so it is graded as {student}"
        collected[student] = _take(student, exercise, notebook, problem, root)
    return list(collected.values())


def unclaimed(source: Path, chosen: list[Exercise]) -> list[str]:
    """What lies here and is named for none of these exercises."""
    slugs = {exercise.slug for exercise in chosen}
    named = {entry.name: _named_for(entry) for entry in _entries(source) if not _is_time(entry.stem)}
    return [name for name, slugs_of in named.items() if not slugs & slugs_of and (slugs_of or len(slugs) > 1)]


def _entries(source: Path) -> list[Path]:
    """Notebooks and folders, but for hidden ones."""
    there = (entry for entry in source.iterdir() if not entry.name.startswith((".", "__")))
    return sorted(entry for entry in there if entry.suffix == ".ipynb" or entry.is_dir())


def _named_for(entry: Path) -> set[str]:
    """The exercises whose names are in the entry's name, or in those of notebooks in it and their folders."""
    paths = [entry] if entry.is_symlink() or not entry.is_dir() else _notebooks(entry)
    parts = [part for path in paths for part in path.relative_to(entry.parent).parts]
    return {exercise.slug for exercise in exercises() if any(exercise.slug in part for part in parts)}


def nameless(source: Path) -> list[str]:
    """Files out of handed_in/ that lie here by themselves: their names are times, and say no student's."""
    return sorted(entry.name for entry in source.iterdir() if entry.suffix == ".ipynb" and _is_time(entry.stem))


def _take(student: str, exercise: Exercise, notebook: Path | None, problem: str, root: Path) -> Submission:
    """Keep one collected file; the submission says why if that cannot be."""
    if notebook is None:
        return Submission(student, exercise, None, problem)
    try:
        data = files.read_plain(notebook, LARGEST)
        when = datetime.fromtimestamp(notebook.stat().st_mtime, UTC)
    except (ValueError, OverflowError):  # a file's time may be any number
        when = datetime.now(UTC)
    except OSError as error:
        return Submission(student, exercise, None, f"the file was not taken: {error.strerror}")
    path, _ = keep(student, exercise, data, when, root)
    return Submission(student, exercise, path, problem)


def _student_of(entry: Path, exercise: Exercise) -> str:
    """ann, ann.ipynb and 03_shapes_and_strides_ann.ipynb all are ann's."""
    name = entry.name if entry.suffix != ".ipynb" else entry.stem
    return name.replace(exercise.slug, "").strip("_- .") or name


def _notebooks(folder: Path) -> list[Path]:
    """The notebooks in a folder and the folders in it, but for those in hidden ones."""
    there = [path for path in sorted(folder.rglob("*.ipynb")) if not any(p.startswith(".") for p in path.parts[-3:])]
    return [path for path in there if not path.is_dir()]


def _notebook_of(entry: Path, exercise: Exercise) -> tuple[Path | None, str]:
    """The notebook that is meant, and what is odd about it."""
    if entry.is_symlink() or not entry.is_dir():
        return entry, ""
    there = _notebooks(entry)
    times = [path for path in there if path.parent.name == exercise.slug and _is_time(path.stem)]
    named = [path for path in there if path.name == exercise.filename]
    if times or named:
        return max(times, key=lambda path: path.stem) if times else max(named, key=lambda p: p.lstat().st_mtime), ""
    if len(there) == 1:
        return there[0], f"the file is called {there[0].name}, not {exercise.filename}"
    if not there:
        return None, "the folder holds no notebook"
    return None, f"the folder holds {len(there)} notebooks, none called {exercise.filename}"
