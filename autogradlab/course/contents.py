"""How JupyterLab sees the chapters: without their stored outputs, and with the learner's changes kept apart.

The stored outputs are what nbval compares; a reader who sees them has no prediction left to make. So a chapter opens
cleared, as if never run. What the learner does with it is saved as a copy under work/notebooks/, and from then on that
copy is what opens. The course's own files are never written, so an update never meets changes in them. To begin a
chapter anew, delete its copy.
"""

import copy
import os
import platform

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError
from traitlets import default

CHAPTERS, OWN = "notebooks", os.path.join("work", "notebooks")


class CourseContents(AsyncLargeFileManager):
    """The files under the course's folder, the chapters seen as above."""

    @default("hide_globs")
    def _no_work_of_maintainers(self):
        return ["__pycache__", "*.pyc", "*.pyo", ".DS_Store", "*~", "inventory.yml"]

    def _own_copy(self, path: str) -> str | None:
        """Where the learner's copy of a chapter is, or would be; None for any other file."""
        parts = path.strip("/").split("/")
        if parts[0] != CHAPTERS or not parts[-1].endswith(".ipynb") or ".ipynb_checkpoints" in parts:
            return None
        return os.path.join(self.root_dir, OWN, *parts[1:])

    def _get_os_path(self, path: str) -> str:
        """The file behind a path: the learner's copy where there is one."""
        own = self._own_copy(path)
        return own if own is not None and os.path.exists(own) else super()._get_os_path(path)

    async def get(self, path, *args, **kwargs):
        """A file's model; a chapter that has no copy yet comes cleared."""
        model = await super().get(path, *args, **kwargs)
        own = self._own_copy(path)
        if own is not None and not os.path.exists(own) and model["type"] == "notebook" and model["content"]:
            clear(model["content"])
        return model

    async def save(self, model, path=""):
        """Save; a chapter's first save makes the copy."""
        own = self._own_copy(path)
        if own is not None and model.get("type") == "notebook" and model.get("content"):
            model = {**model, "content": without_views(model["content"])}
        if own is not None and not os.path.exists(own):
            os.makedirs(os.path.dirname(own), exist_ok=True)
            with open(own, "x", encoding="utf-8"):
                pass  # from here on the path means this file
            try:
                return await super().save(model, path)
            except BaseException:
                if os.path.getsize(own) == 0:
                    os.remove(own)
                raise
        return await super().save(model, path)

    async def delete_file(self, path):
        """Delete; of a chapter only the learner's copy, never the course's own file."""
        own = self._own_copy(path)
        if own is not None and not os.path.exists(own):
            raise HTTPError(
                400, f"{path} belongs to the course and is not deleted. There is no copy of yours to delete."
            )
        return await super().delete_file(path)

    async def rename_file(self, old_path, new_path):
        """Rename; a chapter keeps its name."""
        if self._own_copy(old_path) is not None:
            raise HTTPError(400, f"{old_path} belongs to the course and keeps its name. Save a copy under another one.")
        return await super().rename_file(old_path, new_path)


VIEW = "application/vnd.jupyter.widget-view+json"


def without_views(notebook):
    """The notebook without views of widgets: once their kernel is gone, they are errors that hide the words beside."""
    notebook = copy.deepcopy(notebook)
    cells = notebook.get("cells")
    for cell in cells if isinstance(cells, list) else ():
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(VIEW, None)
    return notebook


def clear(notebook) -> None:
    """Take the outputs of a notebook away, as if it had never run."""
    # What the kernel will say of itself: else JupyterLab writes it in and calls the notebook changed.
    notebook["metadata"]["language_info"] = {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    }
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
