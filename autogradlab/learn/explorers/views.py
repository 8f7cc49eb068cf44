"""A view made by hand: two sizes, two strides and an offset over a storage of twelve cells.  (D2 2.2, chapter 10)"""

from __future__ import annotations

from html import escape

import autogradlab as torch
from autogradlab import shapes
from autogradlab.learn.panel import Panel, note, row, slid, whole
from autogradlab.viz import storage
from autogradlab.viz.picture import message_svg, on_paper

CELLS = 12
LARGEST = {"rows": 4, "columns": 6, "row stride": 6, "column stride": 4, "offset": 11}
FIRST = {"rows": 3, "columns": 4, "row stride": 4, "column stride": 1, "offset": 0}


class View:
    """What two sizes, two strides and an offset make of twelve cells.  Knows nothing of widgets."""

    def __init__(self, shape: tuple[int, int], stride: tuple[int, int], offset: int):
        self.shape, self.stride, self.offset = shape, stride, offset
        self.last = offset + shapes.extent(shape, stride) - 1
        self.refusal, self.tensor = "", None
        try:
            self.tensor = torch.arange(CELLS).as_strided(shape, stride, offset)
        except RuntimeError as error:
            self.refusal = str(error)

    def text(self) -> str:
        """The view in words: its numbers, the cells it needs, and what may be done with it."""
        head = f"as_strided({self.shape}, {self.stride}, {self.offset})  reaches cell {self.last} of 0 to {CELLS - 1}"
        if self.tensor is None:
            return f"{head}\nrefused: {self.refusal}"
        cells = self.tensor.reshape(-1).tolist()
        one = shapes.view_strides(self.shape, self.stride, (len(cells),))
        shared = len(cells) - len(set(cells))
        return "\n".join(
            [
                head,
                *(f"   {' '.join(f'{cell:2}' for cell in line)}" for line in self.tensor.tolist()),
                "contiguous" if self.tensor.is_contiguous() else "not contiguous",
                f"{shared} elements lie in cells that others have too" if shared else "every element has its own cell",
                f"view(-1) has the stride {one[0]}" if one else "view(-1) is refused, reshape(-1) copies",
            ]
        )

    def picture(self) -> str:
        """The strip of cells as SVG, with the way through it; or why there is none."""
        if self.tensor is None:
            said = f"cell {self.last} does not exist: the storage has {CELLS} cells"
            return on_paper(message_svg([said]), said)
        return storage(self.tensor, names=["view"]).html


def explore_view() -> Panel:
    """Make any view of twelve cells by hand; see where it reaches, what overlaps, and whether view(-1) exists."""
    entries = {
        name: whole(name, FIRST[name], 1 if name in ("rows", "columns") else 0, most) for name, most in LARGEST.items()
    }
    picture, words = note(), note()

    def view() -> View:
        at = {name: entry.value for name, entry in entries.items()}
        return View((at["rows"], at["columns"]), (at["row stride"], at["column stride"]), at["offset"])

    def show(_=None) -> None:
        made = view()
        picture.value, words.value = made.picture(), f"<pre>{escape(made.text())}</pre>"

    for entry in entries.values():
        entry.observe(show, "value")
    show()
    said = view().text()
    static = f"<pre>{escape(said)}</pre><p><i>(run this cell to choose sizes, strides and offset)</i></p>"
    moved = [slid(entry, "150px") for entry in entries.values()]
    pairs = [row(moved[i : i + 2]) for i in (0, 2, 4)]
    return Panel([*pairs, picture, words], text=said, static=static)
