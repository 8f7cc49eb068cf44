"""What has happened to an exercise's cells, and the exercise put right again around the learner's own code.

The exercise as published is the skeleton: every cell it has, in its order. Into it go the learner's solution cells, and
between them whatever cells the learner added. So deleted, duplicated, moved, retyped or edited cells of the course
cannot change what is graded, and nbgrader always meets a notebook it knows.
"""

import ast
import copy
import re
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterator

from nbformat import NotebookNode

OURS = ("Stopped", "Ended", "NotRun")  # errors that execute.py puts in a cell

# What can have happened to cells, and what is done about it.
MISSING = "cells are missing; each needs a cell that defines it, above its check: {}"
RESTORED = "check cells were missing and are put back: {}"
REPEATED_CHECK = "check cells are there more than once; the course's own counts: {}"
CHANGED = "check cells were changed; the course's own count: {}"
REPEATED = "cells are there more than once; the last one that holds code counts: {}"
RETYPED = "cells are no longer code cells; they are taken as code: {}"
UNMARKED = "cells have lost their nbgrader metadata and are known by their text: {}"
MOVED = "cells stand in another order than they came in; the exercise's own order counts"


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


def mend(submitted: NotebookNode, release: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The exercise with the learner's code in it, and in words what had to be put right for that."""
    copies, extras = _sort_out(submitted, release)
    findings: dict[str, list[str]] = defaultdict(list)
    for kind, name in _look_at(copies, release):
        findings[kind].append(name)
    if _moved(submitted, copies, release):
        findings[MOVED] = []
    mended = copy.deepcopy(release)
    mended.cells = list(extras[None])
    for cell in copy.deepcopy(release.cells):
        name = _name(cell)
        if is_solution(cell):
            *earlier, cell.source = _sources(cell, copies[name])
            mended.cells += earlier
        elif not grade_id(cell) and copies[name]:
            cell.source = copies[name][-1].source  # notes that the learner wrote into the text stay readable
        mended.cells += [cell, *extras[name]]
    _unique_ids(mended)
    return mended, [kind.format(", ".join(names)) for kind, names in findings.items()]


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
    """A cell of the learner's, without metadata: nbgrader would act on some, and the rest may be anything."""
    cell = copy.copy(cell)
    cell.metadata = NotebookNode()
    return cell


def _sources(stub: NotebookNode, found: list[NotebookNode]) -> list:
    """The learner's code for a solution cell, last; before it, as cells, other copies of the cell that hold code."""
    written = [cell for cell in found if cell.source.strip() != stub.source.strip()]
    if not written:
        return [stub.source]
    return [*map(_own, written[:-1]), written[-1].source]


def _look_at(copies: dict, release: NotebookNode) -> Iterator[tuple[str, str]]:
    """What has happened to each of the course's code cells."""
    for original in release.cells:
        name, found = _name(original), copies[_name(original)]
        if not grade_id(original):
            continue
        if is_solution(original):
            if not found:
                yield MISSING, name
            if len(found) > 1:
                yield REPEATED, name
            if any(cell.cell_type != "code" for cell in found):
                yield RETYPED, name
            if found and not any(grade_id(cell) for cell in found):
                yield UNMARKED, name
        elif not found:
            yield RESTORED, name
        elif len(found) > 1:
            yield REPEATED_CHECK, name
        elif found[0].source.strip() != original.source.strip() or found[0].cell_type != original.cell_type:
            yield CHANGED, name


def _moved(submitted: NotebookNode, copies: dict, release: NotebookNode) -> bool:
    """Whether the course's code cells stand in another order than they came in."""
    position = {id(cell): n for n, cell in enumerate(submitted.cells)}
    places = [[position[id(cell)] for cell in copies[_name(own)]] for own in release.cells if grade_id(own)]
    places = [place for place in places if place]
    return any(min(later) < min(earlier) for earlier, later in zip(places, places[1:], strict=False))


def _unique_ids(notebook: NotebookNode) -> None:
    """A copied cell may carry its original's id, which the notebook format forbids."""
    seen: set[str] = set()
    for n, cell in enumerate(notebook.cells):
        if cell.id in seen or not re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", cell.id):
            cell.id = f"cell-{n}"
        seen.add(cell.id)


def task_numbers(notebook: NotebookNode) -> dict[str, int]:
    """The tasks' numbers by the names of their functions."""
    names = [grade_id(cell).removeprefix("check_") for cell in notebook.cells if is_check(cell)]
    return {name: number for number, name in enumerate(names, 1)}


def place_of(cell: NotebookNode, numbers: dict[str, int]) -> str:
    """Which cell this is, in words."""
    number = numbers.get(grade_id(cell) or "")
    return f"the cell of task {number}" if number else "a cell that was added"


def one_line(error: NotebookNode, cell: NotebookNode, numbers: dict[str, int]) -> str:
    """An error output of a cell in one line; where Python could not read the cell, with the line it stopped at."""
    if error.ename in OURS:
        return error.evalue
    if why := _syntax_error(cell.source):  # the kernel's own words name a file of its own, and no more than a number
        return f"{why[0]}, in {place_of(cell, numbers)}, {why[1]}"
    return f"{error.ename}: {error.evalue}".splitlines()[0]


def _line(source: str, number: int) -> str:
    """line 3: `return x`; where code breaks off, the line is one past the last."""
    lines = source.rstrip().splitlines()
    number = max(1, min(number, len(lines)))
    return f"line {number}: {textwrap.shorten(lines[number - 1], 80, placeholder=' ...')}" if lines else "line 1"


def no_longer_defined(name: str, error: NotebookNode | None) -> bool:
    """Whether a check failed because the function of this name is not there."""
    return error is not None and error.ename == "NameError" and f"'{name}' is not defined" in error.evalue


def undefined(name: str, numbers: dict[str, int]) -> str:
    """Said of a function that is not there."""
    return f"the cell of task {numbers[name]} no longer defines {name}"


def not_python(notebook: NotebookNode) -> list[str]:
    """The cells that Python cannot read, each in a line that says why."""
    numbers, told = task_numbers(notebook), []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if why := _syntax_error(cell.source):
            told.append(f"{place_of(cell, numbers)}: {why[0]}, {why[1]}")
    return told


def _syntax_error(source: str) -> tuple[str, str] | None:
    """Why Python cannot read a cell, and at which line; None if it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(_plain(source), "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"{type(error).__name__}: {error.msg}", _line(source, error.lineno or 1)
    except (ValueError, RecursionError, MemoryError) as error:  # a null character; brackets a thousand deep
        return f"{type(error).__name__}: {error}", _line(source, 1)
    return None


def _plain(source: str) -> str:
    """A cell's code as the kernel hands it to Python: magics (%time) and shell commands (!ls) are calls there."""
    if not re.search(r"^\s*[%!?]|\?\s*$|=\s*[%!]", source, re.M):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # it takes half a second

    return TransformerManager().transform_cell(source)


def notes_of(graded: NotebookNode) -> list[str]:
    """What happened while the notebook was run that a mark alone does not say."""
    notes, unwritten, numbers, stopped = [], [], task_numbers(graded), set()
    for cell in graded.cells:
        error = next((out for out in cell.get("outputs", []) if out.output_type == "error"), None)
        if error is None:
            continue
        name = (grade_id(cell) or "a cell of the student's own").removeprefix("check_")
        if error.ename == "NotImplementedError":
            unwritten.append(name)
        elif error.ename in OURS or is_solution(cell):
            notes.append(f"{name}: {one_line(error, cell, numbers)}")
            stopped.add(name)
        elif no_longer_defined(name, error) and name not in stopped:
            notes.append(f"{name}: {undefined(name, numbers)}")
        else:
            borrowed = [line.split(maxsplit=1)[1] for line in error.traceback if line.startswith("  called  ")]
            notes += [f"{name}: calls {module}, which does the work" for module in borrowed]
    return notes + ([f"not written: {', '.join(unwritten)}"] if unwritten else [])
