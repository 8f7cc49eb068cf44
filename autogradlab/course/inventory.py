"""notebooks/inventory.yml: what each section of a document says that matters, and the cell that runs or tells it.

    D1:
      "3.2":
        - says: a transpose changes strides and moves no data
          cell: transpose-strides

`cell` is a tag in the metadata of a cell of the chapter that mirrors the section.
"""

from collections.abc import Iterator
from pathlib import Path

import yaml

from .mirror import CHAPTERS, chapter_of
from .notebooks import read


def lint(path: Path, notebooks: list[Path]) -> list[str]:
    """Every problem of the inventory, for the chapters that exist."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        return [f"{path.name}: cannot be read ({error.strerror}). Each chapter needs its sections in it."]
    except yaml.YAMLError as error:
        return [f"{path.name}: is not valid YAML: {' '.join(str(error).split())}"]
    if not isinstance(content, dict) or not all(isinstance(sections, dict) for sections in content.values()):
        return [f"{path.name}: must map documents to sections to lists of entries."]
    entries = {(str(d), str(s)): list(items or []) for d, sections in content.items() for s, items in sections.items()}
    problems = [*_unknown_sections(entries), *_chapters(entries, notebooks)]
    return [f"{path.name}: {problem}" for problem in problems]


def _unknown_sections(entries: dict) -> Iterator[str]:
    known = {(chapter.document, section) for chapter in CHAPTERS.values() for section in chapter.sections}
    for document, section in entries:
        if (document, section) not in known:
            yield f"no chapter mirrors {document} {section} (see mirror.py)."


def _chapters(entries: dict, notebooks: list[Path]) -> Iterator[str]:
    for notebook in notebooks:
        chapter = chapter_of(notebook.stem)
        if chapter is None:
            continue
        tags = {tag for cell in read(notebook).cells for tag in cell.metadata.get("tags", ())}
        for section in chapter.sections:
            place = f"{chapter.document} {section}"
            found = entries.get((chapter.document, section))
            if not found:
                yield f"{place} has no entry, though chapter {chapter.number} exists."
            for entry in found or ():
                if not isinstance(entry, dict) or not entry.get("says") or not entry.get("cell"):
                    yield f"{place}: an entry is {entry!r}; it needs `says` and `cell`."
                elif entry["cell"] not in tags:
                    yield f"{place}: no cell of {notebook.name} is tagged {entry['cell']!r} ({entry['says']})."
