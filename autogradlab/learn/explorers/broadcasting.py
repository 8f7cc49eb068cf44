"""Two or three shapes typed in: how they line up, what comes out or what fails, and what a gradient is summed over."""

from __future__ import annotations

from html import escape

from autogradlab import shapes
from autogradlab.learn.panel import Panel, field, note, row
from autogradlab.viz.picture import ORANGE

NAMES = "abc"
MOST = 6  # dimensions a shape may have here


class BadShape(ValueError):
    """What was typed is no shape; the message says why."""


def read_shape(text: str) -> tuple[int, ...]:
    """A shape as typed: "3, 4", "(3, 4)", "3 x 4"; "()" is a single number."""
    cleaned = text.strip().strip("()[]").replace("x", ",").replace("×", ",")
    parts = [p.strip() for p in cleaned.split(",")]
    if parts and not parts[-1]:  # as in (4,)
        parts.pop()
    if not all(p.isdecimal() for p in parts):
        raise BadShape(f"{text!r} is no shape: write whole numbers with commas, such as 3, 4")
    if len(parts) > MOST:
        raise BadShape(f"{len(parts)} dimensions are too many for this table: at most {MOST}")
    return tuple(int(p) for p in parts)


class Alignment:
    """Shapes written below each other, aligned at the right.  Knows nothing of widgets."""

    def __init__(self, *given: tuple[int, ...]):
        self.given = [tuple(s) for s in given]
        self.ndim = max(len(s) for s in self.given)

    def column(self, d: int) -> list[int | None]:
        """The sizes of all shapes in dimension d of the result; None where a shape has no such dimension."""
        return [s[d - self.ndim + len(s)] if d >= self.ndim - len(s) else None for s in self.given]

    def size(self, d: int) -> int | None:
        """The result's size in dimension d; None where the sizes do not fit."""
        sizes = {n for n in self.column(d) if n not in (None, 1)}
        return None if len(sizes) > 1 else sizes.pop() if sizes else 1

    def failing(self) -> int | None:
        """The dimension that fails, seen from the right as the engine looks; None where all fit."""
        return next((d for d in reversed(range(self.ndim)) if self.size(d) is None), None)

    def result(self) -> tuple[int, ...] | None:
        """The common shape, as the engine has it; None where there is none."""
        return None if self.failing() is not None else shapes.broadcast_shapes(*self.given)

    def summed(self, k: int) -> tuple[int, ...]:
        """The dimensions of the result that a gradient is summed over on its way back to shape number k."""
        return shapes.summed_dims(self.result(), self.given[k])

    def rows(self) -> list[list[str]]:
        """The table: one row a shape and one for the result; "1*" is a size that is repeated, "." one that is added."""
        cells = []
        for k, name in enumerate(NAMES[: len(self.given)]):
            row = [name]
            for d in range(self.ndim):
                n, out = self.column(d)[k], self.size(d)
                row.append("." if n is None else f"{n}*" if n == 1 and out not in (1, None) else str(n))
            cells.append(row)
        cells.append(["result", *("?" if self.size(d) is None else str(self.size(d)) for d in range(self.ndim))])
        return cells

    def words(self) -> list[str]:
        """What comes out, and what a gradient does, in words."""
        d = self.failing()
        if d is not None:
            sizes = " and ".join(str(n) for n in self.column(d) if n not in (None, 1))
            return [f"They do not fit: dimension {d - self.ndim} has sizes {sizes}, and none of them is 1."]
        lines = [f"The result has shape {self.result()}: {shapes.numel(self.result()):,} elements."]
        for k, name in enumerate(NAMES[: len(self.given)]):
            dims = self.summed(k)
            what = f"summed over dimension{'s' if len(dims) > 1 else ''} {', '.join(map(str, dims))} of the result"
            lines.append(f"The gradient of {name} is {what if dims else 'not summed'}: its shape is {self.given[k]}.")
        return lines

    def text(self) -> str:
        """Table and words, for those who read them."""
        width = max(len(c) for row in self.rows() for c in row[1:]) if self.ndim else 0
        table = [f"{row[0]:8}" + " ".join(f"{c:>{width}}" for c in row[1:]) for row in self.rows()]
        return "\n".join([*table, *self.words()])

    def html(self) -> str:
        """The same as a table; a column that fails is framed and says so."""
        bad = self.failing()
        rows = []
        for name, *sizes in self.rows():
            frame = f"border:2px solid {ORANGE};" if bad is not None else ""
            cells = "".join(
                f'<td style="padding:2px 12px;text-align:right;{frame if d == bad else ""}">{escape(c)}</td>'
                for d, c in enumerate(sizes)
            )
            rows.append(f'<tr><th style="text-align:left;padding-right:16px">{name}</th>{cells}</tr>')
        key = "1* is repeated; . is added in front" + ("; the framed column does not fit" if bad is not None else "")
        words = "".join(f"<p>{escape(line)}</p>" for line in self.words())
        return f'<table aria-label="Shapes aligned at the right">{"".join(rows)}</table><p><i>{key}</i></p>{words}'


def explore_broadcasting(*start: tuple[int, ...]) -> Panel:
    """Type shapes; see them aligned, the result or the dimension that fails, and where gradients are summed."""
    start = start or ((3, 4), (4,))
    model = Alignment(*start)
    entries = [field("for example 3, 4", f"shape of {name}") for name in NAMES]
    for entry, name in zip(entries, NAMES, strict=True):
        entry.description = name
    for entry, shape in zip(entries, start, strict=False):
        entry.value = ", ".join(map(str, shape)) or "()"
    picture = note()

    def show(_=None) -> None:
        try:
            given = [read_shape(e.value) for e in entries if e.value.strip()]
            picture.value = Alignment(*given).html() if given else "<p>Type at least one shape.</p>"
        except BadShape as error:
            picture.value = f"<p>{escape(str(error))}.</p>"

    for entry in entries:
        entry.observe(show, "value")
    show()
    static = f"{model.html()}<p><i>(run this cell to type shapes of your own)</i></p>"
    return Panel([row(entries), picture], text=model.text(), static=static)
