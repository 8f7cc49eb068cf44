"""Drawing with Graphviz: the DOT text of a graph, and whoever can turn it into a picture on this machine.

First the `dot` program, else pygraphviz (whose wheels bring Graphviz along), else none: the DOT text is then all there
is.
"""

import contextlib
import os
import shutil
import sys
import warnings
from pathlib import Path

from .picture import FILLS, FONT, INK, LINE, PAPER, Picture, message_svg
from .walk import Drawing

# Every kind has its own outline, so that nothing hangs on the fill.
SHAPES = {
    "function": 'shape=box style="rounded,filled"',
    "leaf": "shape=box style=filled peripheries=2",
    "output": "shape=ellipse style=filled",
    "saved": 'shape=note style="filled,dashed"',
    "base": "shape=cylinder style=filled",
    "more": "shape=plaintext",
}
MEANINGS = {
    "leaf": "leaf: gradients end here",
    "function": "function: how it was computed",
    "output": "output",
    "saved": "saved for backward",
    "base": "base of a view",
    "more": "left out of the picture",
}
ARROWS = {"flow": "", "saved": "style=dashed arrowhead=none", "view": "style=dotted arrowhead=empty"}
HOW_TO = (
    "To see pictures, install Graphviz (the program `dot`), or `pip install pygraphviz`; the text below says the same."
)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def dot_source(drawing: Drawing, legend: bool = True) -> str:
    """The DOT text: computing runs from top to bottom, gradients run back up."""
    rows = [
        "digraph {",
        f'  graph [rankdir=TB bgcolor="{PAPER}" pad=0.1 nodesep=0.25 ranksep=0.35 fontname="{FONT}"]',
        f'  node [fontname="{FONT}" fontsize=11 fontcolor="{INK}" color="{LINE}" margin="0.12,0.06" height=0.3]',
        f'  edge [color="{LINE}" arrowsize=0.7]',
    ]
    for box in drawing.boxes.values():
        extra = drawing.constants.get(box.key, 0)
        lines = box.lines + ([f"({extra} constant input{'s' if extra > 1 else ''})"] if extra else [])
        label = "\\n".join(quoted(line)[1:-1] for line in lines)
        rows.append(f'  {quoted(box.key)} [label="{label}" {SHAPES[box.kind]} fillcolor="{FILLS[box.kind]}"]')
    rows += [f"  {quoted(a)} -> {quoted(b)} [{ARROWS[kind]}]" for a, b, kind in drawing.arrows]
    if legend:
        rows += _legend(drawing)
    return "\n".join([*rows, "}"]) + "\n"


def _legend(drawing: Drawing) -> list[str]:
    """The kinds that occur, each by its outline, one below the other."""
    kinds = [k for k in MEANINGS if any(b.kind == k for b in drawing.boxes.values())]
    rows = [
        "  subgraph cluster_legend {",
        f'    label="Legend" fontsize=10 fontcolor="{LINE}" color="{LINE}" style=dashed',
    ]
    rows += [f'    "legend {k}" [label="{MEANINGS[k]}" fontsize=9 {SHAPES[k]} fillcolor="{FILLS[k]}"]' for k in kinds]
    rows += [f'    "legend {a}" -> "legend {b}" [style=invis]' for a, b in zip(kinds, kinds[1:], strict=False)]
    return [*rows, "  }"]


def renderer() -> str | None:
    """Who can draw here: "dot", "pygraphviz", or None."""
    if shutil.which("dot"):
        return "dot"
    try:
        import pygraphviz  # noqa: F401
    except ImportError:
        return None
    return "pygraphviz"


@contextlib.contextmanager
def _quiet():
    """Nothing on stderr, not even from C: Graphviz complains there about fonts the machine does not have."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def draw(source: str, format: str) -> bytes:
    """The picture of a DOT text as the bytes of a file; RuntimeError where nobody can draw."""
    who = renderer()
    if who == "dot":
        import graphviz

        return graphviz.Source(source).pipe(format=format, quiet=True)
    if who == "pygraphviz":
        import pygraphviz

        with _quiet():
            return pygraphviz.AGraph(string=source).draw(format=format, prog="dot")
    raise RuntimeError(f"no Graphviz on this machine. {HOW_TO}")


def svg_of(source: str) -> str:
    """The SVG of a DOT text, or one that says why there is none."""
    if renderer() is None:
        return message_svg(["No Graphviz on this machine.", *HOW_TO.split(", or ")])
    text = draw(source, "svg").decode("utf-8")
    return text[text.index("<svg") :]


class GraphPicture(Picture):
    """A drawn graph.  `.source` is its DOT text; `.render("graph", format="png")` writes a file, as torchviz's does."""

    def __init__(self, drawing: Drawing, text: str, alt: str, legend: bool):
        self.drawing, self.source = drawing, dot_source(drawing, legend)
        self.text, self.alt = text, alt

    @property
    def svg(self) -> str:
        """Drawn when first needed: the text is cheap, the layout is not."""
        if "_svg" not in self.__dict__:
            self._svg = svg_of(self.source)
        return self._svg

    def render(self, filename: str = "graph", format: str = "png", **ignored) -> str:
        """Write `filename.format` (png, svg, pdf, dot ...); returns its path."""
        path = Path(f"{filename}.{format}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.source.encode() if format in ("dot", "gv") else draw(self.source, format))
        return str(path)
