"""A tensor over its storage: the cells of memory in a row, and the way (shape, stride, offset) takes through them."""

from html import escape
from itertools import product

from autogradlab import shapes
from autogradlab.tensor import Tensor

from .picture import FILLS, INK, LINE, Picture, sheet

CELL, GAP, LIMIT = 34, 26, 48


def storage(*tensors: Tensor, names: list[str] | None = None, limit: int = LIMIT) -> Picture:
    """One strip of memory with one or more tensors that read it: which cells, and which element lies in each.

    tensors: all of one storage.  names: what to call them (a, b, ... if not given).  limit: cells drawn at most.
    """
    if not tensors:
        raise TypeError("viz.storage: give at least one tensor.")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"viz.storage: expected Tensors, got {type(t).__name__}.")
        if t.untyped_storage() is not tensors[0].untyped_storage():
            raise ValueError(
                "viz.storage: these tensors do not share a storage, so there is no one strip to draw them on."
            )
    names = list(names or [chr(ord("a") + i) for i in range(len(tensors))])
    if len(names) != len(tensors):
        raise ValueError(f"viz.storage: {len(tensors)} tensors need {len(tensors)} names: got {names}.")
    memory = tensors[0].detach()
    values = memory.as_strided((memory.untyped_storage().nbytes() // memory.element_size(),), (1,), 0).tolist()
    shown = min(len(values), limit)
    visits = [cells_in_order(t) for t in tensors]
    text = "\n".join(
        [_strip_text(values, shown), *(_tensor_text(n, t, v) for n, t, v in zip(names, tensors, visits, strict=True))]
    )
    kinds = ", ".join(f"{n} of shape {tuple(t.shape)}" for n, t in zip(names, tensors, strict=True))
    return Picture(
        _svg(values, shown, names, tensors, visits), text, f"A storage of {len(values)} cells, read by {kinds}."
    )


def cells_in_order(tensor: Tensor) -> list[int]:
    """The storage cells of a tensor's elements, in the order of their indices."""
    steps = tensor.stride()
    return [
        tensor.storage_offset() + sum(i * s for i, s in zip(index, steps, strict=True))
        for index in product(*(range(n) for n in tensor.shape))
    ]


def _number(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _strip_text(values, shown: int) -> str:
    more = f" ... {len(values) - shown} more" if len(values) > shown else ""
    return f"storage of {len(values)} cells: {' '.join(_number(v) for v in values[:shown])}{more}"


def _tensor_text(name: str, tensor: Tensor, visits: list[int]) -> str:
    contiguous = "contiguous" if shapes.is_contiguous(tuple(tensor.shape), tensor.stride()) else "not contiguous"
    path = " ".join(map(str, visits[:LIMIT])) + (" ..." if len(visits) > LIMIT else "")
    return (
        f"{name}: shape {tuple(tensor.shape)}  stride {tensor.stride()}  offset {tensor.storage_offset()}  "
        f"{contiguous}\n"
        f"   visits cells {path or '(none: it is empty)'}"
    )


def _svg(values, shown, names, tensors, visits) -> str:
    """The strip on top; below it one lane a tensor: under each cell it reads, which of its elements lies there."""
    titles = [
        f"{name}: shape {tuple(t.shape)}, stride {t.stride()}, offset {t.storage_offset()}; its elements:"
        for name, t in zip(names, tensors, strict=True)
    ]
    width = max(shown * CELL + 20, 7 * max(map(len, titles)) + 20)
    parts = [f'<text x="10" y="16" fill="{LINE}">storage (cell numbers above, values inside)</text>']
    for cell in range(shown):
        x = 10 + cell * CELL
        parts.append(f'<text x="{x + CELL / 2}" y="34" fill="{LINE}" font-size="9" text-anchor="middle">{cell}</text>')
        parts.append(f'<rect x="{x}" y="38" width="{CELL}" height="26" fill="{FILLS["function"]}" stroke="{LINE}"/>')
        label = escape(_number(values[cell]))
        parts.append(f'<text x="{x + CELL / 2}" y="55" fill="{INK}" text-anchor="middle">{label[:5]}</text>')
    y = 64
    for title, path in zip(titles, visits, strict=True):
        y += GAP
        parts.append(f'<text x="10" y="{y}" fill="{LINE}">{escape(title)}</text>')
        y += 8
        parts += _lane(path, shown, y)
        y += 24
    if len(values) > shown:
        y += 20
        parts.append(f'<text x="10" y="{y}" fill="{LINE}">... {len(values) - shown} more cells</text>')
    return sheet(width, y + 10, "".join(parts))


def _lane(path: list[int], shown: int, y: int) -> list[str]:
    """Under each visited cell a box that says which element lies there, in reading order (several: the first, and a
    plus).  As 1st, 2nd, ...: bare numbers would be taken for values.
    """
    order = {}
    for position, cell in enumerate(path, 1):
        order.setdefault(cell, []).append(position)
    parts = []
    for cell in range(shown):
        x = 10 + cell * CELL
        if cell in order:
            label = _ordinal(order[cell][0]) + ("+" if len(order[cell]) > 1 else "")
            parts.append(
                f'<rect x="{x + 2}" y="{y}" width="{CELL - 4}" height="20" rx="4" fill="{FILLS["leaf"]}" '
                f'stroke="{LINE}"/>'
            )
            parts.append(
                f'<text x="{x + CELL / 2}" y="{y + 14}" fill="{INK}" font-size="10" text-anchor="middle">{label}</text>'
            )
        else:
            parts.append(f'<line x1="{x + 12}" y1="{y + 10}" x2="{x + CELL - 12}" y2="{y + 10}" stroke="{LINE}"/>')
    return parts
