"""Reading a graph for a picture: the nodes in the order of a walk from the output, each once, without recursion."""

from collections import deque
from dataclasses import dataclass, field

from autogradlab.graph import AccumulateGrad, Node
from autogradlab.tensor import Tensor


@dataclass
class Box:
    """One thing to draw.  kind: function, leaf, output, saved, base or more."""

    key: str
    kind: str
    lines: list[str]


@dataclass
class Drawing:
    """What a picture of a graph shows: boxes, arrows between their keys in the direction of computing, and how much was
    left out.
    """

    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: list[tuple[str, str, str]] = field(default_factory=list)  # from, to, kind: "flow", "saved" or "view"
    constants: dict[str, int] = field(default_factory=dict)  # inputs of a function that need no gradient
    left_out: int = 0

    def add(self, key: str, kind: str, *lines: str) -> None:
        self.boxes.setdefault(key, Box(key, kind, list(lines)))


def described(tensor: Tensor) -> str:
    """Dtype and shape: "float32 (2, 3)"."""
    return f"{tensor.dtype.name} {tuple(tensor.shape)}"


def read(outputs, params: dict, show_saved: bool, limit: int) -> Drawing:
    """The graph behind `outputs`, at most `limit` functions of it."""
    names = _Names(params)
    drawing = Drawing()
    order, numbers = deque(), {}

    def number(node: Node) -> str:
        if node not in numbers:
            numbers[node] = f"f{len(numbers) + 1}"
            order.append(node)
        return numbers[node]

    for i, (label, tensor) in enumerate(outputs):
        key = f"out{i + 1}"
        drawing.add(key, "output", label, described(tensor))
        if tensor.grad_fn is not None:
            drawing.arrows.append((number(tensor.grad_fn), key, "flow"))
        elif tensor.requires_grad:
            drawing.add(key, "leaf", label, described(tensor))
        if tensor._base is not None:
            base = names.of(tensor._base, "base")
            drawing.add(f"base{i + 1}", "base", base, described(tensor._base))
            drawing.arrows.append((f"base{i + 1}", key, "view"))
    shown = 0
    while order:
        node = order.popleft()
        for child, _ in node.next_functions:
            if child is not None and not isinstance(child, AccumulateGrad):
                number(child)
        if shown < limit:
            shown += 1
            _function(drawing, node, numbers, names, show_saved)
        else:
            drawing.left_out += 1
    if drawing.left_out:
        _cut(drawing)
    return drawing


class _Names:
    """Names for leaves: those given, else leaf 1, leaf 2, ... in the order met."""

    def __init__(self, params: dict):
        self.given = {id(t): name for name, t in params.items()}
        self.made = {}
        self.seen = []  # keeps the tensors alive, so that their ids stay theirs

    def of(self, tensor: Tensor, kind: str = "leaf") -> str:
        if id(tensor) in self.given:
            return self.given[id(tensor)]
        if id(tensor) not in self.made:
            self.seen.append(tensor)
            self.made[id(tensor)] = f"{kind} {1 + sum(n.startswith(kind) for n in self.made.values())}"
        return self.made[id(tensor)]


def _function(drawing: Drawing, node: Node, numbers: dict, names: _Names, show_saved: bool) -> None:
    """One function with its inputs and what it saved."""
    key = numbers[node]
    drawing.add(key, "function", node.name())
    for child, _ in node.next_functions:
        if child is None:
            drawing.constants[key] = drawing.constants.get(key, 0) + 1
        elif isinstance(child, AccumulateGrad):
            drawing.arrows.append((_leaf(drawing, child.variable, names), key, "flow"))
        else:
            drawing.arrows.append((numbers[child], key, "flow"))
    if show_saved:
        for i, (name, value) in enumerate(_saved(node)):
            drawing.add(f"{key}s{i}", "saved", f"saved {name}", value)
            drawing.arrows.append((f"{key}s{i}", key, "saved"))


def _leaf(drawing: Drawing, tensor: Tensor, names: _Names) -> str:
    name = names.of(tensor)
    drawing.add(f"leaf:{name}", "leaf", name, described(tensor))
    return f"leaf:{name}"


def _saved(node: Node):
    """The tensors a function keeps for backward: name, and what each is and takes."""
    for name in node.saved_fields() if hasattr(node, "saved_fields") else []:
        try:
            value = getattr(node, name)
        except RuntimeError:
            yield name.removeprefix("_saved_"), "freed by backward"
            continue
        if isinstance(value, Tensor):
            view = " (a view)" if value._base is not None else ""
            yield name.removeprefix("_saved_"), f"{described(value)}, {value.nbytes:,} bytes{view}"


def _cut(drawing: Drawing) -> None:
    """Arrows from what was left out start at one box that says how much that is."""
    drawing.add("more", "more", f"... {drawing.left_out:,} more")
    known = drawing.boxes
    drawing.arrows = list(dict.fromkeys((a if a in known else "more", b, kind) for a, b, kind in drawing.arrows))
