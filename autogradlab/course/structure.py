"""What has happened to an exercise's cells, and the exercise put right again around the learner's own code.

The exercise as published is the skeleton: every cell it has, in its order. Into it go the learner's solution cells, and
between them whatever cells the learner added. So deleted, duplicated, moved, retyped or edited cells of the course
cannot change what is graded, and nbgrader always meets a notebook it knows.
"""

import copy
import re
from collections import defaultdict
from dataclasses import dataclass

from nbformat import NotebookNode


@dataclass(frozen=True)
class Finding:
    """Something about the notebook's structure that the learner should know; lost means that a solution is missing."""

    cell: str
    text: str
    lost: bool = False


def grade_id(cell: NotebookNode) -> str | None:
    """The name nbgrader knows the cell by."""
    record = cell.metadata.get("nbgrader")
    name = record.get("grade_id") if isinstance(record, dict) else None
    return name if isinstance(name, str) and name else None


def is_solution(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def is_check(cell: NotebookNode) -> bool:
    record = cell.metadata.get("nbgrader", {})
    return record.get("grade", False) and not record.get("solution", False)


def mend(submitted: NotebookNode, release: NotebookNode) -> tuple[NotebookNode, list[Finding]]:
    """The exercise with the learner's code in it, and what had to be put right for that."""
    copies, extras = _sort_out(submitted, release)
    findings = _locked(copies, release) + _moved(submitted, copies, release)
    mended = copy.deepcopy(release)
    mended.cells = list(extras[None])
    for cell in copy.deepcopy(release.cells):
        name = _name(cell)
        if is_solution(cell):
            findings += _take_solution(cell, copies[name], mended.cells)
        elif not grade_id(cell) and copies[name]:
            cell.source = copies[name][-1].source  # notes that the learner wrote into the text stay readable
        mended.cells += [cell, *extras[name]]
    _unique_ids(mended)
    return mended, findings


def _name(cell: NotebookNode) -> str:
    return grade_id(cell) or cell.id


def _sort_out(submitted: NotebookNode, release: NotebookNode) -> tuple[dict, dict]:
    """The submitted cells that are the course's (by name), and the learner's own (by the course cell before them)."""
    known = {_name(cell): cell for cell in release.cells}
    names = [_by_mark(cell, known) for cell in submitted.cells]
    for n, cell in enumerate(submitted.cells):
        if names[n] is None:
            names[n] = _by_text(cell, {name: cell for name, cell in known.items() if name not in names})
    copies: dict[str, list[NotebookNode]] = defaultdict(list)
    extras: dict[str | None, list[NotebookNode]] = defaultdict(list)
    last = None
    for name, cell in zip(names, submitted.cells, strict=True):
        if name is not None:
            copies[name].append(cell)
            last = name
        elif cell.source.strip():
            extras[last].append(_own(cell))
    return copies, extras


def _by_mark(cell: NotebookNode, known: dict[str, NotebookNode]) -> str | None:
    """Which of the exercise's cells this is, by nbgrader's name or by cell id."""
    return next((name for name in (grade_id(cell), cell.id) if name in known), None)


def _by_text(cell: NotebookNode, missing: dict[str, NotebookNode]) -> str | None:
    """Which of the exercise's missing cells this is, its marks being lost: by its text, or the function it defines."""
    for name, original in missing.items():
        if cell.source.strip() == original.source.strip():
            return name
        defines = rf"^def {re.escape(name)}\b"
        if cell.cell_type != "markdown" and is_solution(original) and re.search(defines, cell.source, re.M):
            return name
    return None


def _own(cell: NotebookNode) -> NotebookNode:
    """A cell of the learner's, without metadata that nbgrader would act on."""
    cell = copy.deepcopy(cell)
    cell.metadata.pop("nbgrader", None)
    return cell


def _take_solution(cell: NotebookNode, found: list[NotebookNode], before: list[NotebookNode]) -> list[Finding]:
    """Put the learner's code into the solution cell; other copies that hold code stay and run before it."""
    name = _name(cell)
    stub = cell.source.strip()
    if not found:
        text = f"The cell for {name} is missing. Add a cell that defines {name}, above its check."
        return [Finding(name, text, lost=True)]
    written = [one for one in found if one.source.strip() != stub]
    chosen = written[-1] if written else found[-1]
    findings = []
    if len(found) > 1:
        which = "the last one that holds code" if written else "the last one"
        findings.append(Finding(name, f"The cell for {name} is there {len(found)} times; {which} counts."))
    if chosen.cell_type != "code":
        text = f"The cell for {name} had become a {chosen.cell_type} cell; it was taken as code."
        findings.append(Finding(name, text))
    if not isinstance(chosen.metadata.get("nbgrader"), dict):
        text = f"The cell for {name} had lost its nbgrader metadata; it was recognised by its text."
        findings.append(Finding(name, text))
    before += [_own(one) for one in written[:-1]]
    cell.source = chosen.source
    return findings


def _locked(copies: dict, release: NotebookNode) -> list[Finding]:
    """Check cells, and others that are not the learner's to change: the course's own text counts."""
    missing, repeated, changed = [], [], []
    for cell in release.cells:
        name = _name(cell)
        if not grade_id(cell) or is_solution(cell):
            continue
        found = copies[name]
        if not found:
            missing.append(name)
        elif len(found) > 1:
            repeated.append(name)
        elif found[0].source.strip() != cell.source.strip() or found[0].cell_type != cell.cell_type:
            changed.append(name)
    kinds = (
        (missing, "missing; put back"),
        (repeated, "there more than once; the course's own counts"),
        (changed, "changed; the course's own counts"),
    )
    return [Finding(names[0], f"Check cells {text}: {', '.join(names)}.") for names, text in kinds if names]


def _moved(submitted: NotebookNode, copies: dict, release: NotebookNode) -> list[Finding]:
    """Whether the course's code cells stand in another order than they came in."""
    order = [_name(cell) for cell in release.cells if grade_id(cell)]
    position = {id(cell): n for n, cell in enumerate(submitted.cells)}
    there = [name for name in order if copies[name]]
    if sorted(there, key=lambda name: position[id(copies[name][-1])]) == there:
        return []
    return [Finding("", "Cells of the exercise stand in another order than they came in; its own order counts.")]


def _unique_ids(notebook: NotebookNode) -> None:
    """A copied cell may carry its original's id, which the notebook format forbids."""
    seen: set[str] = set()
    for n, cell in enumerate(notebook.cells):
        if cell.id in seen or not re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", cell.id):
            cell.id = f"cell-{n}"
        seen.add(cell.id)


def notes_of(graded: NotebookNode) -> list[str]:
    """What happened while the notebook was run that a mark alone does not say."""
    notes, unwritten = [], []
    for cell in graded.cells:
        error = next((out for out in cell.get("outputs", []) if out.output_type == "error"), None)
        if error is None:
            continue
        name = (grade_id(cell) or "a cell of the student's own").removeprefix("check_")
        if error.ename == "NotImplementedError":
            unwritten.append(name)
        elif error.ename in ("Stopped", "Ended", "NotRun") or is_solution(cell):
            notes.append(f"{name}: {error.evalue if error.ename in OURS else f'{error.ename}: {error.evalue}'}")
        else:
            borrowed = [line.split(maxsplit=1)[1] for line in error.traceback if line.startswith("  called  ")]
            notes += [f"{name}: calls {module}, which does the work" for module in borrowed]
    return notes + ([f"not written: {', '.join(unwritten)}"] if unwritten else [])


OURS = ("Stopped", "Ended", "NotRun")  # errors that execute.py puts in a cell
