"""A result computed with gradients on or off in one of five ways, and what may be done with it afterwards."""

from __future__ import annotations

from html import escape

import ipywidgets as widgets

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, row


def _plain(w):
    return (w * 2).exp()


def _no_grad(w):
    with torch.no_grad():
        return (w * 2).exp()


def _inference(w):
    with torch.inference_mode():
        return (w * 2).exp()


def _detached(w):
    return (w * 2).exp().detach()


def _frozen(w):
    return (w.detach() * 2).exp()


WAYS = {
    "y = (w * 2).exp()": _plain,
    "the same under no_grad()": _no_grad,
    "the same under inference_mode()": _inference,
    "y = (w * 2).exp().detach()": _detached,
    "w frozen: requires_grad_(False)": _frozen,
}
ACTIONS = {
    "look at it": lambda w, y: y,
    "y.add_(1)": lambda w, y: y.add_(1),
    "w + y": lambda w, y: w + y,
    "w * y": lambda w, y: w * y,
    "(w * y).sum().backward()": lambda w, y: (w * y).sum().backward(),
    "y.add_(1), then y.sum().backward()": lambda w, y: y.add_(1).sum().backward(),
    "y.numpy()": lambda w, y: y.numpy(),
    "y.requires_grad_()": lambda w, y: y.requires_grad_(),
}


class Trial:
    """One way of computing y, and one action on it.  Knows nothing of widgets."""

    def __init__(self, way: str, action: str = "look at it"):
        self.way, self.action, self.refusal = way, action, ""
        self.w = torch.tensor([1.0, 2.0], requires_grad=True)
        self.y = WAYS[way](self.w)
        self.facts = self._facts()
        try:
            ACTIONS[action](self.w, self.y)
        except (RuntimeError, TypeError) as error:
            self.refusal = str(error)

    def _facts(self) -> dict[str, str]:
        y = self.y
        return {
            "y.requires_grad": str(y.requires_grad),
            "y.grad_fn": "None" if y.grad_fn is None else y.grad_fn.name(),
            "bytes saved for backward": str(torch.observe.saved(y).total),
            "writes are counted": "no" if y.is_inference() else "yes",
        }

    def outcome(self) -> str:
        """What the action gave, in one line."""
        if self.refusal:
            return f"{self.action}: refused. {self.refusal}"
        after = "" if self.w.grad is None else f" w.grad is {[round(v, 4) for v in self.w.grad.tolist()]}."
        return f"{self.action}: works.{after}"

    def text(self) -> str:
        """Facts and outcome."""
        return "\n".join([self.way, *(f"  {name}: {value}" for name, value in self.facts.items()), self.outcome()])

    def html(self) -> str:
        """The same as a table."""
        rows = "".join(
            f'<tr><th style="text-align:left;padding-right:16px">{escape(n)}</th><td>{escape(v)}</td></tr>'
            for n, v in self.facts.items()
        )
        return f'<table aria-label="About y">{rows}</table><p>{escape(self.outcome())}</p>'


def explore_switches() -> Panel:
    """Choose how y is computed and what is done with it; see what it remembers and what is refused."""
    way = widgets.Dropdown(options=list(WAYS), description="compute", tooltip="how y is computed")
    action = widgets.Dropdown(options=list(ACTIONS), description="then", tooltip="what is done with y")
    said, first = note(), Trial(next(iter(WAYS)))

    def show(_=None) -> None:
        said.value = Trial(way.value, action.value).html()

    way.observe(show, "value")
    action.observe(show, "value")
    show()
    static = f"<pre>{escape(first.text())}</pre><p><i>(run this cell to choose)</i></p>"
    return Panel([row([way, action]), said], text=first.text(), static=static)
