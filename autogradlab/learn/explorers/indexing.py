"""An index typed for a small matrix: which elements it picks, in which shape, and whether they are still its memory."""

from __future__ import annotations

import ast
from html import escape

import autogradlab as torch
from autogradlab.learn.panel import Panel, field, note, row

COMPARISONS = {
    ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b, ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b, ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
}  # fmt: skip


class BadIndex(ValueError):
    """What was typed is no index that is known here; the message says what is."""


def read_index(text: str, x):
    """What stands between the brackets of x[...]: numbers, slices, lists, None, ..., and conditions such as x > 5."""
    try:
        tree = ast.parse(f"x[{text}]", mode="eval").body
    except SyntaxError:
        raise BadIndex(f"x[{text}] is not Python: write what stands between the brackets, such as 1:, ::2") from None
    if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name):
        raise BadIndex(f"x[{text}] is more than an index")
    return _value(tree.slice, x)


def _value(node, x):
    match node:
        case ast.Constant(value=value) if value is None or value is Ellipsis or isinstance(value, int):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return -node.operand.value
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if part is None else _value(part, x) for part in (lower, upper, step)))
        case ast.Tuple(elts=parts):
            return tuple(_value(part, x) for part in parts)
        case ast.List(elts=parts):
            return [_value(part, x) for part in parts]
        case ast.Compare(left=ast.Name(id="x"), ops=[sign], comparators=[ast.Constant(value=int()) as number]):
            if type(sign) in COMPARISONS:
                return COMPARISONS[type(sign)](x, number.value)
    raise BadIndex(
        "known here are numbers, slices, lists of numbers, None, ... and conditions on x: for example 1, or :, [0, 2], "
        "or x > 5"
    )


class Picked:
    """x[index] for a matrix of 0, 1, 2, ...  Knows nothing of widgets."""

    def __init__(self, text: str, shape=(3, 4)):
        self.text = text
        self.x = torch.arange(shape[0] * shape[1]).reshape(*shape)
        self.index = read_index(text, self.x)
        self.refusal, self.out = "", None
        try:
            self.out = self.x[self.index]
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            self.refusal = str(error)

    def is_view(self) -> bool:
        """Whether the result reads the memory of x."""
        return self.out.untyped_storage() is self.x.untyped_storage()

    def chosen(self) -> set[int]:
        """The elements picked: their values are their places."""
        return set() if self.out is None else set(self.out.flatten().tolist())

    def grid(self) -> list[list[str]]:
        """The matrix, with [ ] around what was picked."""
        picked = self.chosen()
        return [[f"[{v}]" if v in picked else str(v) for v in line] for line in self.x.tolist()]

    def words(self) -> list[str]:
        """What came out, in words."""
        if self.out is None:
            return [f"refused: {self.refusal}"]
        lines = [f"x[{self.text}] has shape {tuple(self.out.shape)}: {self.out.tolist()}"]
        if self.is_view():
            start = self.out.storage_offset()
            lines.append(f"a view: it reads the memory of x, with strides {self.out.stride()} from cell {start}")
        else:
            lines.append(f"a copy: {self.out.untyped_storage().nbytes()} new bytes")
        return lines

    def as_text(self) -> str:
        """Grid and words."""
        return "\n".join([*("  ".join(f"{c:>4}" for c in line) for line in self.grid()), *self.words()])

    def html(self) -> str:
        """The same as a table."""
        cell = '<td style="padding:2px 10px;text-align:right;{style}">{text}</td>'
        rows = "".join(
            "<tr>"
            + "".join(cell.format(style="font-weight:bold;" if c[0] == "[" else "", text=escape(c)) for c in line)
            + "</tr>"
            for line in self.grid()
        )
        words = "".join(f"<p>{escape(line)}</p>" for line in self.words())
        return f'<table aria-label="x, with what was picked in brackets">{rows}</table>{words}'


def explore_index(start: str = "1:, ::2") -> Panel:
    """Type an index for x = torch.arange(12).reshape(3, 4); see what it picks, and whether it is a view."""
    first = Picked(start)
    entry, picture = field("for example 1:, ::2", "what stands between the brackets of x[ ]"), note(first.html())
    entry.description, entry.value = "x[ ... ]", start

    def show(change) -> None:
        try:
            picture.value = Picked(change["new"]).html()
        except BadIndex as error:
            picture.value = f"<p>{escape(str(error))}.</p>"

    entry.observe(show, "value")
    static = f"<pre>{escape(first.as_text())}</pre><p><i>(run this cell to type an index of your own)</i></p>"
    return Panel([row([entry]), picture], text=first.as_text(), static=static)
