"""What a learner has done, by chapter: predictions, quiz answers, the exercise checked and handed in.

All of it is in one file that one can read, work/progress.json; it never leaves the computer. Notebooks write it, and
`course.py check` and `submit`. A prediction counts as it was first made; of a quiz question the best points count.
"""

import ast
import functools
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from autogradlab.files import Stop, course_root, lock, write_atomically

WAIT = 2.0  # seconds for another notebook that is writing
LARGEST = 10_000_000  # bytes


def place() -> Path:
    """The file."""
    return course_root() / "work" / "progress.json"


def load() -> dict:
    """What is in the file, {chapter: {"predictions": .., "quiz": .., "exercise": ..}}; Stop if it cannot be read."""
    try:
        with open(place(), encoding="utf-8") as file:
            found = json.loads(file.read(LARGEST))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Stop(f"{place()} cannot be read: {error}.") from error
    parts = [part for chapter in found.values() for part in chapter.values()] if _all_dicts(found) else [None]
    if not all(isinstance(part, dict) for part in parts):
        raise Stop(f"{place()} cannot be read: it does not hold chapters with what was done in them.")
    return found


def _all_dicts(found) -> bool:
    return isinstance(found, dict) and all(isinstance(value, dict) for value in found.values())


# What there is to do.


@functools.cache
def questions(root: Path) -> dict[str, dict[str, list[str]]]:
    """The questions of each chapter, {chapter: {"predictions": [...], "quiz": [...]}}, read off the notebooks."""
    found = {}
    for path in sorted((root / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            asked = {"predictions": [], "quiz": []}
            for kind, question in _asked(path):
                asked[kind].append(question)
            found[path.stem] = asked
    return found


def _asked(path: Path) -> Iterator[tuple[str, str]]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):  # a learner's own file may be anything
        return
    for cell in cells:
        source = "".join(cell.get("source", ()))
        if cell.get("cell_type") != "code" or not ("predict." in source or "ask(" in source):
            continue
        try:
            calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
        except SyntaxError:
            continue
        for call in calls:
            name = ast.unparse(call.func)
            if isinstance(call.args[0], ast.Constant) and (name == "ask" or name.startswith("predict.")):
                yield "quiz" if name == "ask" else "predictions", call.args[0].value


def chapter_of(kind: str, question: str) -> str | None:
    """The chapter that asks this; None for a question of the learner's own."""
    return next((name for name, asked in questions(course_root()).items() if question in asked[kind]), None)


# What was done.


def earlier(question: str) -> dict | None:
    """The learner's first answer to a prediction: {"said": .., "right": ..}."""
    chapter = chapter_of("predictions", question)
    try:
        return chapter and load().get(chapter, {}).get("predictions", {}).get(question)
    except Stop:
        return None


def earlier_points(asked: list[str]) -> float | None:
    """The points kept for these questions of a quiz; None if none of them was answered."""
    try:
        kept = [answer for part in load().values() for answer in part.get("quiz", {}).items()]
    except Stop:
        return None
    points = [float(facts.get("points", 0)) for question, facts in kept if question in asked]
    return sum(points) if points else None


def prediction(question: str, said: str, right: bool) -> str:
    """Keep an answer, the first one; what is returned says why it could not be kept, mostly nothing."""

    def add(kept: dict) -> None:
        kept.setdefault(question, {"said": said, "right": right})

    return _keep(chapter_of("predictions", question), "predictions", add)


def quiz_points(question: str, points: float) -> str:
    """Keep the points for a question of a quiz, if they are the best so far."""

    def add(kept: dict) -> None:
        kept[question] = {"points": max(points, kept.get(question, {}).get("points", 0.0))}

    return _keep(chapter_of("quiz", question), "quiz", add)


def exercise(slug: str, **facts: str) -> str:
    """Keep what became of an exercise: checked="5 of 7", submitted="2026-11-30 10:15"."""
    return _keep(slug, "exercise", lambda kept: kept.update(facts))


def _keep(chapter: str | None, kind: str, add: Callable[[dict], None]) -> str:
    """Change one part of one chapter, alone among all notebooks that are open."""
    if chapter is None:
        return ""
    held = None
    try:
        held = _alone()
        done = _load_or_put_aside()
        add(done.setdefault(chapter, {}).setdefault(kind, {}))
        text = json.dumps(dict(sorted(done.items())), indent=1, ensure_ascii=False)
        write_atomically(place(), f"{text}\n".encode())
    except (Stop, OSError) as error:
        return f"(Not kept: {error})"
    finally:
        if held is not None:
            os.close(held)
    return ""


def _alone() -> int:
    until = time.monotonic() + WAIT
    while (held := lock(place().with_name(".progress.lock"))) is None:
        if time.monotonic() > until:
            raise Stop(f"another program has held {place()} for {WAIT:g} seconds")
        time.sleep(0.01)
    return held


def _load_or_put_aside() -> dict:
    """What is in the file; one that cannot be read is kept under another name, and a new one begun."""
    try:
        return load()
    except Stop:
        aside = place().with_name(f"progress.unreadable-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json")
        os.replace(place(), aside)
        return {}
