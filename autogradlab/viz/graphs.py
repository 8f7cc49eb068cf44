"""make_dot: the graph behind a tensor as a picture, as torchviz draws it, with a text that says the same."""

from collections.abc import Mapping

from autogradlab.tensor import Tensor

from .dot import GraphPicture
from .walk import Drawing, read


def make_dot(
    output: Tensor | Mapping[str, Tensor] | list | tuple,
    params: Mapping[str, Tensor] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    *,
    max_nodes: int = 100,
    legend: bool = True,
) -> GraphPicture:
    """The graph that computed `output`, from its leaves at the top down to it.

    output: a tensor, several, or {"name": tensor}.  params: names for leaves, {"w": w}.  show_saved (or show_attrs,
    torchviz's name): what every function keeps for backward, with its size.  max_nodes: how many functions are drawn,
    nearest the output first.
    """
    if isinstance(output, Tensor):
        outputs = [("output", output)]
    elif isinstance(output, Mapping):
        outputs = list(output.items())
    else:
        outputs = [(f"output {i + 1}", t) for i, t in enumerate(output)]
    for name, value in [*outputs, *(params or {}).items()]:
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dot: {name} must be a Tensor, not {type(value).__name__}.")
    if max_nodes < 1:
        raise ValueError(f"make_dot: max_nodes must be at least 1: got {max_nodes}.")
    drawing = read(outputs, dict(params or {}), show_saved or show_attrs, max_nodes)
    return GraphPicture(drawing, graph_text(drawing), _alt(drawing), legend)


def _count(drawing: Drawing, kind: str, word: str, many: str) -> str:
    n = sum(b.kind == kind for b in drawing.boxes.values()) + (drawing.left_out if kind == "function" else 0)
    return f"{n:,} {word if n == 1 else many}"


def _alt(drawing: Drawing) -> str:
    return (
        f"Graph of {_count(drawing, 'function', 'function', 'functions')} and "
        f"{_count(drawing, 'leaf', 'leaf', 'leaves')}."
    )


def _words(drawing: Drawing, key: str) -> str:
    """How the text refers to a box: functions by number and name, the others by what they say."""
    box = drawing.boxes[key]
    if box.kind == "function":
        return f"{key[1:]} {box.lines[0]}"
    return box.lines[0] if box.kind == "more" else f"{box.lines[0]}: {', '.join(box.lines[1:])}"


def graph_text(drawing: Drawing) -> str:
    """Nodes and edges in words, one function a line, from the output to the leaves."""
    rows = [_alt(drawing)]
    into = {}
    for a, b, kind in drawing.arrows:
        into.setdefault(b, []).append((a, kind))
    for box in drawing.boxes.values():
        if box.kind not in ("output", "function"):
            continue
        sources = [_source(drawing, a, kind) for a, kind in into.get(box.key, []) if kind != "saved"]
        constants = drawing.constants.get(box.key, 0)
        sources += [f"{constants} constant{'s' if constants > 1 else ''}"] if constants else []
        indent = "" if box.kind == "output" else "  "
        rows.append(f"{indent}{_words(drawing, box.key)} <- {'; '.join(sources) or 'nothing that needs gradients'}")
        rows += [f"      {_words(drawing, a)}" for a, kind in into.get(box.key, []) if kind == "saved"]
    if drawing.left_out:
        rows.append(f"  ... {drawing.left_out:,} more")
    return "\n".join(rows)


def _source(drawing: Drawing, key: str, kind: str) -> str:
    box = drawing.boxes[key]
    words = _words(drawing, key)
    if kind == "view":
        return f"a view of {words}"
    return f"leaf {words}" if box.kind == "leaf" and not words.startswith("leaf") else words
