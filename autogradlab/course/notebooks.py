"""Execute the notebooks from fresh kernels and store them with their outputs; doing it twice gives the same files.

What a stored notebook holds beside its cells and outputs is only what says something about the course: no times, no
widget state, no Python version, no cell id that another run would choose otherwise.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from autogradlab.files import write_atomically

from .notebook_text import Unreadable, to_bytes
from .places import Stop
from .set_up import REPEATABLE, ROOT

FOLDER = ROOT / "notebooks"
BUDGET = 30.0  # seconds a notebook may take on two cores; three times as much is an error
CELL_TIMEOUT = 120
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_IN_NOTEBOOK = ("autogradlab", "nbgrader", "title")
KEPT_IN_CELL = ("autogradlab", "editable", "deletable", "jupyter", "nbgrader", "tags")
# Without its state, which is not stored, JupyterLab shows an error for a stored view; the text beside it stays.
NOT_STORED = ("application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json")


def find(names: Iterable[str] = (), folder: Path = FOLDER) -> list[Path]:
    """The course's notebooks, or those whose name starts with (or whose path is) one of the names."""
    everything = sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    chosen = []
    for name in names:
        path = Path(name)
        found = [path] if path.is_file() else [p for p in everything if p.stem.startswith(path.stem)]
        if not found:
            known = ", ".join(p.stem for p in everything) or "none"
            raise Stop(f"no notebook is named {name!r}. There are: {known}")
        chosen += [p for p in found if p not in chosen]
    return chosen or everything


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook at path, valid and in format 4.5, every cell with an id."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["nbformat"] != 4:
            raise ValueError(f"its format is {content['nbformat']}, not 4; open and save it in JupyterLab")
        give_ids(content["cells"])  # before nbformat does, which would draw them at random
        content["nbformat_minor"] = 5
        return nbformat.reads(json.dumps(content), as_version=4)
    except (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError) as error:
        why = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else '?'}"
        raise Unreadable(f"{path} is not a valid notebook ({why}). Mend it, or restore it with git.") from error


def give_ids(cells: list[dict]) -> None:
    """A cell keeps its id; one without, or with another's, gets one made from its text."""
    taken: set[str] = set()
    for cell in cells:
        number = 0
        while not cell.get("id") or cell["id"] in taken:
            cell["id"] = hashlib.sha256(f"{''.join(cell['source'])}{number}".encode()).hexdigest()[:8]
            number += 1
        taken.add(cell["id"])


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel that starts in `folder`, as JupyterLab and nbval do."""
    os.environ.update(REPEATABLE)
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
    ).execute(stderr=subprocess.DEVNULL)  # the kernel's own, not the cells'


def clean(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs from run to run or from machine to machine and says nothing about the course."""
    kept = {key: notebook.metadata[key] for key in KEPT_IN_NOTEBOOK if key in notebook.metadata}
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA | kept)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: v for k, v in cell.metadata.items() if k in KEPT_IN_CELL})
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
            for output in cell.outputs:
                _clean_output(output)


def _joined(outputs: list) -> list:
    """Printed text in one piece: in how many the kernel sends it is a matter of timing."""
    joined = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and output.name == last.get("name"):
            last.text += output.text
        else:
            joined.append(output)
    return joined


def _clean_output(output: nbformat.NotebookNode) -> None:
    for kind in NOT_STORED:
        output.get("data", {}).pop(kind, None)
        output.get("metadata", {}).pop(kind, None)
    if "text" in output:
        output.text = _without_paths(output.text)
    if "traceback" in output:
        output.traceback = [_without_paths(line) for line in output.traceback]


def _without_paths(text: str) -> str:
    text = re.sub(r"\S*ipykernel_\d+\S*?\.py", "ipykernel_0/0.py", text)
    for root in (str(ROOT), "~/" + os.path.relpath(ROOT, Path.home())):
        text = text.replace(root + os.sep, "")
    return text


def store(path: Path) -> bool:
    """Execute one notebook and write it back; False if it came out exactly as it was."""
    notebook = read(path)
    execute(notebook, path.parent)
    clean(notebook)
    nbformat.validate(notebook)
    data = to_bytes(notebook)
    if data == path.read_bytes():
        return False
    write_atomically(path, data)
    return True


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="chapters (01, 03_shapes) or paths; all of them by default")
    try:
        paths = find(parser.parse_args(argv).names)
        if not paths:
            raise Stop(f"there is no notebook in {FOLDER}.")
    except Stop as stop:
        print(f"course.py notebooks: {stop}", file=sys.stderr)
        return 1
    failures = 0
    for path in paths:
        began = time.perf_counter()
        try:
            done = "stored" if store(path) else "unchanged"
        except (CellExecutionError, CellTimeoutError, DeadKernelError, Unreadable, Stop) as error:
            print(f"{path.stem}: {error}\nThe stored notebook is as it was.", file=sys.stderr, flush=True)
            done = "FAILED"
        seconds = time.perf_counter() - began
        if seconds > 3 * BUDGET:
            done = f"FAILED: over three times its budget ({done})"
        failures += done.startswith("FAILED")
        print(f"{path.stem:40} {seconds:5.1f} s of {BUDGET:.0f} s   {done}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
