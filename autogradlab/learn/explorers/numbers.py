"""A number in six floating point formats: its bits, what is stored, and how far that is from what was meant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import autogradlab as torch
from autogradlab.learn.panel import Panel, field, note, row

FORMATS = {  # name -> (dtype, exponent bits, fraction bits, the integer dtype of its bits)
    "float64": (torch.float64, 11, 52, torch.int64),
    "float32": (torch.float32, 8, 23, torch.int32),
    "bfloat16": (torch.bfloat16, 8, 7, torch.int16),
    "float16": (torch.float16, 5, 10, torch.int16),
    "float8_e4m3fn": (torch.float8_e4m3fn, 4, 3, torch.int8),
    "float8_e5m2": (torch.float8_e5m2, 5, 2, torch.int8),
}


@dataclass
class Stored:
    """One value in one format.  bits: sign, exponent, fraction as text; value: what is kept; meant: what was given."""

    format: str
    bits: tuple[str, str, str]
    value: float
    meant: float

    def remark(self) -> str:
        """What the format did to the number."""
        if math.isnan(self.meant):
            return "not a number"
        if self.value == self.meant:
            return "exact"
        if math.isinf(self.value):
            return "overflow: too large for this exponent"
        largest = torch.finfo(FORMATS[self.format][0]).max
        if abs(self.value) == largest < abs(self.meant):
            return "saturated: the largest number there is"
        if self.value == 0:
            return "underflow: too small, becomes 0"
        part = abs(self.value - self.meant) / abs(self.meant)
        return f"off by {part:.1%}" if part > 5e-4 else f"off by {part:.0e} of it"


def stored(value: float, format: str) -> Stored:
    """How a number is kept in a format, from the engine's own conversion and the bits it left."""
    dtype, exponent, _, as_bits = FORMATS[format]
    made = torch.tensor(value, dtype=torch.float64).reshape(1).to(dtype)
    width = made.element_size() * 8
    text = format_bits(int(made.view(as_bits).item()), width)
    return Stored(format, (text[0], text[1 : 1 + exponent], text[1 + exponent :]), made.double().item(), value)


def format_bits(number: int, width: int) -> str:
    """The bits of a signed integer."""
    return f"{number & (1 << width) - 1:0{width}b}"


def vanishes(large: float, small: float, format: str) -> bool:
    """Whether large + small is large again in this format: the small number is lost."""
    dtype = FORMATS[format][0]
    a, b = (torch.tensor(v, dtype=torch.float64).to(dtype).double() for v in (large, small))
    return bool(((a + b).to(dtype).double() == a).item())


class Table:
    """A number in all formats, and what becomes of it beside a larger one.  Knows nothing of widgets."""

    def __init__(self, value: float, beside: float | None = None):
        self.value, self.beside = value, beside
        self.rows = [stored(value, name) for name in FORMATS]

    def cells(self) -> list[list[str]]:
        """The table as text: format, sign, exponent, fraction, stored, remark."""
        made = []
        for s in self.rows:
            sign, exponent, fraction = s.bits
            line = [
                s.format,
                sign,
                exponent,
                fraction if len(fraction) <= 23 else fraction[:20] + "...",
                f"{s.value:.10g}",
            ]
            if self.beside is not None:
                lost = vanishes(self.beside, self.value, s.format)
                line.append("is lost" if lost else "counts")
            made.append([*line, s.remark()])
        return made

    def text(self) -> str:
        """The table in columns."""
        cells = [[c + f" beside {self.beside:g}" if c in ("is lost", "counts") else c for c in r] for r in self.cells()]
        widths = [max(len(r[k]) for r in cells) for k in range(len(cells[0]))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in cells)

    def html(self) -> str:
        """The same as a table with headings."""
        beside = [] if self.beside is None else [f"added to {self.beside:g}"]
        heads = ["format", "sign", "exponent", "fraction", "stored", *beside, "what happened"]
        head = "".join(f'<th style="text-align:left;padding-right:12px">{h}</th>' for h in heads)
        style = "padding-right:12px;font-family:monospace;text-align:left"
        body = "".join(
            "<tr>" + "".join(f'<td style="{style}">{escape(c)}</td>' for c in line) + "</tr>" for line in self.cells()
        )
        return f'<table aria-label="The number in six formats"><tr>{head}</tr>{body}</table>'


def explore_numbers(value: float = 0.1, beside: float = 1.0) -> Panel:
    """Type a number; see its bits in six formats, what is stored, and whether it counts beside a larger number."""
    first = Table(value, beside)
    number, other = field("for example 0.1", "the number to store"), field("for example 1", "a number to add it to")
    number.description, other.description = "store", "add it to"
    number.value, other.value = f"{value:g}", f"{beside:g}"
    picture = note(first.html())

    def show(_=None) -> None:
        try:
            table = Table(float(number.value), float(other.value) if other.value.strip() else None)
            picture.value = table.html()
        except ValueError:
            picture.value = f"<p>{escape(repr(number.value))} or {escape(repr(other.value))} is no number.</p>"

    number.observe(show, "value")
    other.observe(show, "value")
    static = f"<pre>{escape(first.text())}</pre><p><i>(run this cell to type numbers of your own)</i></p>"
    return Panel([row([number, other]), picture], text=first.text(), static=static)
