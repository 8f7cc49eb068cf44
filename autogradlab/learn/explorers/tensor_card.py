"""A tensor's card: the four things to look at first, for whatever expression is chosen or typed."""

from __future__ import annotations

import ast
from html import escape

import ipywidgets as widgets

import autogradlab as torch
from autogradlab.learn.panel import Panel, button, note, row

ALLOWED = (
    ast.Expression, ast.Call, ast.Attribute, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.keyword,
    ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Subscript,
    ast.Slice,
)  # fmt: skip


class Refused(ValueError):
    """What was typed is not an expression that makes one tensor."""


def evaluate(text: str):
    """The tensor a typed expression makes.  Only calls and arithmetic on `torch` are run; anything else is refused."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise Refused(f"That is not one expression ({error.msg}). Type one, such as torch.zeros(2, 3) + 1.") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) or isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise Refused("Use calls and arithmetic on torch only, such as torch.zeros(2, 3) + 1.")
        if isinstance(node, ast.Name) and node.id not in ("torch", "True", "False", "None"):
            fix = f": write torch.{node.id}." if hasattr(torch, node.id) else ", only torch is."
            raise Refused(f"{node.id!r} is not known here{fix}")
    try:
        value = eval(compile(tree, "<typed>", "eval"), {"torch": torch, "__builtins__": {}})  # checked above
    except Exception as error:  # the engine's own message is the lesson
        raise Refused(f"{type(error).__name__}: {error}") from None
    if not isinstance(value, torch.Tensor):
        kind = type(value).__name__
        fix = " Write torch.tensor(...) around it." if isinstance(value, (bool, int, float, list, tuple)) else ""
        raise Refused(f"That gives {'an' if kind[0] in 'aeiou' else 'a'} {kind}, not a tensor.{fix}")
    if value.numel() > 10_000:
        raise Refused(f"{value.numel():,} elements are too many to look at here: stay below 10,000.")
    return value


def card(tensor) -> str:
    """The text twin: shape, dtype, device, requires_grad, and what they imply."""
    return (
        f"shape {tuple(tensor.shape)}   dtype {tensor.dtype}   device {tensor.device}   "
        f"requires_grad {tensor.requires_grad}\n"
        f"{_count(tensor.dim(), 'dimension')}, {_count(tensor.numel(), 'element')} of "
        f"{_count(tensor.element_size(), 'byte')}: {_count(tensor.nbytes, 'byte')}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def explore_tensor(start: str = "torch.arange(6).reshape(2, 3)") -> Panel:
    """Type an expression that makes a tensor; read its four attributes and its values."""
    entry = widgets.Text(
        value=start,
        tooltip="an expression that makes a tensor",
        layout=widgets.Layout(width="420px"),
        continuous_update=False,  # Enter shows the tensor
    )
    press, said = button("Show the tensor"), note()

    def show(_=None) -> None:
        try:
            tensor = evaluate(entry.value)
        except Refused as error:
            said.value = escape(str(error))
            return
        said.value = f"<pre>{escape(card(tensor))}\n\n{escape(repr(tensor))}</pre>"

    press.on_click(show)
    entry.observe(show, "value")
    show()
    text = card(evaluate(start))
    static = f"<pre>{escape(start)}\n{escape(text)}</pre><p><i>(run this cell to try others)</i></p>"
    return Panel([row([entry, press]), said], text=f"{start}\n{text}", static=static)
