"""What a stored chapter must keep to, read off the files; nothing is run.

A problem names the notebook, the cell (counted from 0, as nbval does) and what to do. The prose rules hold for
chapters, which mirror sections of a document; the others for every notebook. See also inventory.py.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from . import inventory
from .mirror import chapter_of
from .notebook_text import Unreadable
from .notebooks import FOLDER, find, read

WORDS = (1500, 2500)  # in a chapter
CELL_WORDS = 120
CODE_LINES = 15
CODE_COLUMNS = 88  # longer lines are cut off beside a narrow browser window
IGNORED_SHARE = 0.15
IDLE_CELLS = 5  # at most so many in a row that ask nothing of the reader

IGNORED, RAISES, YOUR_TURN = "nbval-ignore-output", "raises-exception", "your-turn"
HEADING = re.compile(r"^#{1,6} .*?\((D\d)((?: \d+(?:\.\d+)?)+)\)\s*$", re.MULTILINE)
PROMISED = re.compile(r"[Cc]hapter (\d\d) \(being written\)")
SHOWS_ONLY = {"show_source"}  # what learn offers that asks nothing of the reader


def lint(path: Path) -> list[str]:
    """Every problem of one notebook, in the order of its cells."""
    try:
        notebook = read(path)
    except Unreadable as error:
        return [str(error)]
    checks = (
        executed,
        errors,
        code_budget,
        metadata,
        pictures,
        ignored,
        prose_budget,
        activity,
        answers_folded,
        promised,
    )
    return [f"{path.name}: {problem}" for check in checks for problem in check(notebook, path)]


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    return [(number, cell) for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def folded(cell: NotebookNode) -> bool:
    """Whether its source is folded away: a reader sees only what it shows."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def syntax_tree(cell: NotebookNode) -> ast.Module:
    """A code cell's syntax; an empty one where it is not plain Python (a magic, a deliberate syntax error)."""
    lines = ["" if line.lstrip().startswith(("%", "!", "?")) else line for line in cell.source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def executed(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """nbval passes a cell that was never executed, whatever it does. Counts 1, 2, 3 ... mean: in order, at one go."""
    fix = f"Run: python3 course.py notebooks {path.stem}"
    expected = 0
    for number, cell in code_cells(notebook):
        if not cell.source.strip():
            yield f"cell {number} is empty. Remove it."
            continue
        expected += 1
        if cell.execution_count is None:
            yield f"cell {number} was never executed. {fix}"
        elif cell.execution_count != expected:
            yield f"cell {number} was executed as number {cell.execution_count}, not {expected}. {fix}"


def errors(notebook: NotebookNode, path: Path) -> Iterator[str]:
    for number, cell in code_cells(notebook):
        raised = [output.ename for output in cell.outputs if output.output_type == "error"]
        if raised and RAISES not in tags(cell):
            yield f"cell {number} stored {raised[0]}. Mend it, or tag it {RAISES} if that is what it shows."
        if not raised and RAISES in tags(cell):
            yield f"cell {number} is tagged {RAISES}, but raised nothing."


def code_budget(notebook: NotebookNode, path: Path) -> Iterator[str]:
    for number, cell in code_cells(notebook):
        lines = len(cell.source.splitlines())
        if lines > CODE_LINES and not folded(cell):
            yield f"cell {number} has {lines} lines of code; at most {CODE_LINES}."
        widest = max(map(len, cell.source.splitlines()), default=0)
        if widest > CODE_COLUMNS and not folded(cell):
            yield f"cell {number} has a line of {widest} columns; at most {CODE_COLUMNS}."


def metadata(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """The metadata, the headings and the table of contents (mirror.py) name the same sections."""
    chapter = chapter_of(path.stem)
    said = notebook.metadata.get("autogradlab", {})
    headings = [
        (match[1], section)
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for match in HEADING.finditer(cell.source)
        for section in match[2].split()
    ]
    if chapter is None:
        if headings:
            yield f"a heading names {' '.join(headings[0])}, but mirror.py has no chapter {path.stem}."
        return
    wanted = {"document": chapter.document, "sections": list(chapter.sections)}
    if said != wanted:
        yield f'metadata["autogradlab"] is {dict(said)}; mirror.py says {wanted}.'
    for section in chapter.sections:
        if (chapter.document, section) not in headings:
            yield f'no heading names {chapter.document} {section}, as in "## Title  ({chapter.document} {section})".'
    for document, section in dict.fromkeys(headings):
        if document != chapter.document or section not in chapter.sections:
            yield f"a heading names {document} {section}, which this chapter does not mirror."


def pictures(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """Every picture says in words what it shows, for who cannot see it."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield from _pictures_in_prose(number, cell.source, path.parent)
        for output in cell.get("outputs", ()):
            for kind, data in output.get("data", {}).items():
                if kind.startswith("image/svg") and not _svg_has_words(data):
                    yield f"cell {number} shows an SVG without <title> or aria-label."
                elif kind in ("image/png", "image/jpeg", "image/gif"):
                    if not output.metadata.get(kind, {}).get("alt"):
                        fix = f'display(figure, metadata={{"{kind}": {{"alt": "..."}}}})'
                        yield f"cell {number} shows a picture without alt text. Use {fix}."
                elif kind == "text/html":
                    yield from _pictures_in_html(number, data)


def _svg_has_words(svg: str) -> bool:
    return bool(re.search(r"<title\b[^>]*>\s*[^<\s]|aria-label(?:ledby)?=\"[^\"]+\"", svg))


def _pictures_in_html(number: int, html: str) -> Iterator[str]:
    for tag in re.findall(r"<img\b[^>]*>", html):
        if not re.search(r"\balt=(\"[^\"]+\"|'[^']+')", tag):
            yield f'cell {number} has {tag[:60]} without alt="..."'
    for svg in re.findall(r"(?s)<svg\b.*?</svg>", html):
        if 'aria-hidden="true"' not in svg and not _svg_has_words(svg):
            yield f"cell {number} has an <svg> without <title> or aria-label."


def _pictures_in_prose(number: int, source: str, folder: Path) -> Iterator[str]:
    yield from _pictures_in_html(number, source)
    for alt, target in re.findall(r"!\[([^\]]*)\]\(\s*<?([^)\s>]+)", source):
        if not alt.strip():
            yield f"cell {number} shows {target} without alt text: ![what it shows]({target})"
        if not re.match(r"[a-z]+:", target) and not (folder / target).is_file():
            yield f"cell {number} shows {target}, which is not there."
        elif target.startswith(("http:", "https:")):
            yield f"cell {number} shows a picture from the network ({target}). Store it beside the notebook."


def ignored(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """What nbval does not compare stays the exception, and the next cell asserts what it showed."""
    cells = [(number, cell) for number, cell in code_cells(notebook) if cell.source.strip()]
    marked = [place for place, (_, cell) in enumerate(cells) if IGNORED in tags(cell)]
    if cells and len(marked) > IGNORED_SHARE * len(cells):
        share = f"{len(marked)} of {len(cells)} code cells"
        yield f"{share} are tagged {IGNORED}; at most {IGNORED_SHARE:.0%} may be."
    for place in marked:
        follower = cells[place + 1][1] if place + 1 < len(cells) else None
        if follower is None or IGNORED in tags(follower) or not _asserts(follower):
            yield f"cell {cells[place][0]} is tagged {IGNORED}, but the next code cell does not assert what it showed."


def _asserts(cell: NotebookNode) -> bool:
    """An assert statement, or an output that says True."""
    if any(isinstance(node, ast.Assert) for node in ast.walk(syntax_tree(cell))):
        return True
    texts = [output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return any(re.search(r"\bTrue\b", text) for text in texts)


def words(markdown: str) -> int:
    """Words a reader reads: without code, formulas, HTML tags, link targets and heading marks."""
    for noise in (r"(?s)```.*?```", r"(?s)\$\$.*?\$\$", r"<[^>]+>", r"\]\([^)]*\)"):
        markdown = re.sub(noise, " ", markdown)
    return len(re.findall(r"\S*\w\S*", re.sub(r"\$[^$\n]+\$", " x ", markdown)))


def prose_budget(notebook: NotebookNode, path: Path) -> Iterator[str]:
    counts = {n: words(cell.source) for n, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"}
    for number, count in counts.items():
        if count > CELL_WORDS:
            yield f"cell {number} has {count} words; at most {CELL_WORDS}."
    total = sum(counts.values())
    if chapter_of(path.stem) and not WORDS[0] <= total <= WORDS[1]:
        yield f"{total} words of prose; a chapter has {WORDS[0]} to {WORDS[1]}."


def activity(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """The reader predicts, answers or writes something at least every sixth cell."""
    if chapter_of(path.stem) is None:
        return
    names, idle = set(), 0
    for number, cell in enumerate(notebook.cells):
        names |= _asking_names(cell)
        idle = 0 if YOUR_TURN in tags(cell) or _asks(cell, names) else idle + 1
        if idle == IDLE_CELLS + 1:
            fix = f"Use something from autogradlab.learn, or tag a cell {YOUR_TURN} that asks for something."
            yield f"cells {number - IDLE_CELLS} to {number} ask nothing of the reader. {fix}"


def _asking_names(cell: NotebookNode) -> set[str]:
    """The names this cell binds to what asks the reader something: autogradlab.learn's, and widgets."""
    found = set()
    for node in ast.walk(syntax_tree(cell)) if cell.cell_type == "code" else ():
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("autogradlab.learn", "ipywidgets")):
            found |= {alias.asname or alias.name for alias in node.names if alias.name not in SHOWS_ONLY}
        elif isinstance(node, ast.ImportFrom) and node.module == "autogradlab":
            found |= {alias.asname or alias.name for alias in node.names if alias.name == "learn"}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name for alias in node.names if alias.name == "ipywidgets"}
    return found


def _asks(cell: NotebookNode, names: set[str]) -> bool:
    if cell.cell_type != "code":
        return False
    calls = [node.func for node in ast.walk(syntax_tree(cell)) if isinstance(node, ast.Call)]
    for called in map(ast.unparse, calls):
        first, _, rest = called.partition(".")
        if first in names and rest.split(".")[0] not in SHOWS_ONLY:
            return True
    return False


def answers_folded(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """A predict or quiz cell holds its answers, so its source is stored folded away, its first line a mere beginning:
    a folded cell still shows that line.
    """
    names = set()
    for number, cell in code_cells(notebook):
        names |= _asking_names(cell)
        starts = re.match(r"\s*(\w+)[.(]", cell.source)
        if not starts or starts[1] not in names & {"predict", "quiz"}:
            continue
        if re.search(r"\b(answer|right)\s*=", cell.source.lstrip().splitlines()[0]):
            yield f"cell {number} shows its answer in its first line, the one that stays visible. Break the line."
        if not folded(cell):
            yield f'cell {number} shows its answers. Give it the metadata {{"jupyter": {{"source_hidden": true}}}}.'


def promised(notebook: NotebookNode, path: Path) -> Iterator[str]:
    """What is called "being written" is not there yet."""
    there = {other.stem[:2] for other in find()}
    for number, cell in enumerate(notebook.cells):
        for found in PROMISED.finditer(cell.source if cell.cell_type == "markdown" else ""):
            if found[1] in there:
                yield f"cell {number} says that chapter {found[1]} is being written; it is there. Say where."


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="lint", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="notebooks; all of the course's by default")
    paths = [path for path in find(parser.parse_args(argv).paths) if path.suffix == ".ipynb"]
    problems = [problem for path in paths for problem in lint(path)]
    problems += inventory.lint(FOLDER / "inventory.yml", find())
    print("\n".join(problems) if problems else f"{len(paths)} notebooks keep to the rules.")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
