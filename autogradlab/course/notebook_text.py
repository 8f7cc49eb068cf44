"""Reading a notebook that may be anything: each way of being unreadable has its sentence."""

import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode

LARGEST = 20 * 1024 * 1024  # bytes; an exercise with its outputs has some 50,000
MOST_CELLS = 2_000


class Unreadable(Exception):
    """The bytes are not a notebook; the message says in what way."""


def parse(data: bytes) -> NotebookNode:
    """The notebook in these bytes, brought to the present format; Unreadable says why there is none."""
    if not data.strip():
        raise Unreadable("the file is empty")
    if len(data) > LARGEST:
        raise Unreadable(f"the file has {len(data) / 1e6:.0f} MB: clear its outputs (Edit, Clear Outputs of All Cells)")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("the file is not text in UTF-8, so it is not a notebook") from None
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"the file is not valid JSON (line {error.lineno}: {error.msg}): damaged, cut off, or no notebook"
        ) from None
    except RecursionError:
        raise Unreadable("the file is nested too deeply to be a notebook") from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(f"the file is not a notebook ({error})") from None
    if not isinstance(content, dict) or "cells" not in content and "worksheets" not in content:
        raise Unreadable("the file is JSON, but not a notebook: it has no cells")
    try:
        return _valid(content)
    except Unreadable:
        raise
    except Exception as error:  # nbformat raises many kinds for broken structure
        raise Unreadable(
            f"the file's structure is not that of a notebook ({str(error).splitlines()[0][:100]})"
        ) from None


def _valid(content: dict) -> NotebookNode:
    """Upgrade to format 4.5 and drop what has no place in a cell, so that one odd cell does not spoil the notebook."""
    notebook = nbformat.convert(nbformat.from_dict(content), 4) if content.get("nbformat") != 4 else content
    cells = []
    if len(notebook["cells"]) > MOST_CELLS:
        raise Unreadable(f"the file has {len(notebook['cells']):,} cells; an exercise has some dozens")
    for cell in notebook["cells"]:
        source = cell.get("source", "")
        source = "".join(source) if isinstance(source, list) else source
        metadata = cell.get("metadata", {})
        if not isinstance(source, str) or not isinstance(metadata, dict):
            raise Unreadable("a cell's text or metadata is not text or metadata")
        source = source.encode("utf-8", "replace").decode()  # half a character has no place in a file
        kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "raw"
        made = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}.get(
            kind, nbformat.v4.new_raw_cell
        )(source)
        made.metadata = nbformat.from_dict(metadata)
        if isinstance(cell.get("id"), str):
            made.id = cell["id"]
        cells.append(made)
    metadata = notebook.get("metadata", {})
    return nbformat.v4.new_notebook(
        cells=cells, metadata=nbformat.from_dict(metadata if isinstance(metadata, dict) else {})
    )


def read(path: Path) -> NotebookNode:
    """Read and parse a file; Unreadable or OSError."""
    return parse(path.read_bytes())


def to_bytes(notebook: NotebookNode) -> bytes:
    """The notebook as a file's content, the same on every system."""
    return (nbformat.writes(notebook, version=4).rstrip("\n") + "\n").encode("utf-8")
