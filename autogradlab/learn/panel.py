"""The few widgets the course is built from, and Panel, which gives them a text form.

A Panel shows its widgets where a kernel runs, and otherwise what says the same without one: HTML with the answer folded
away, or text.
"""

from __future__ import annotations

import ipywidgets as widgets

WIDE = {"width": "auto", "max_width": "760px"}
# ipywidgets sets one-line heights; what is said in a panel may be longer.
STYLE = "<style>.autogradlab-panel .widget-html-content { line-height: 1.45; }</style>"


class Panel(widgets.VBox):
    """Widgets in a column.  text: the stable text form; static: HTML for pages without a kernel."""

    def __init__(self, children, text: str, static: str):
        style = widgets.HTML(STYLE, layout=widgets.Layout(display="none"))
        super().__init__(
            [*children, style], layout=widgets.Layout(padding="4px 0 4px 12px", border_left="3px solid #7a7a7a", **WIDE)
        )
        self.add_class("autogradlab-panel")
        self.said, self.static = text, static

    def __repr__(self) -> str:
        return self.said

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = super()._repr_mimebundle_(include=include, exclude=exclude)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        data = {**data, "text/plain": self.said, "text/html": self.static}
        return (data, *rest) if rest else data


def note(html: str = "") -> widgets.HTML:
    """A piece of text that may change; screen readers hear the change."""
    return widgets.HTML(html, layout=widgets.Layout(**WIDE))


def button(label: str) -> widgets.Button:
    """A button whose label says what it does."""
    return widgets.Button(description=label, tooltip=label, layout=widgets.Layout(width="auto"))


def radio(options, label: str) -> widgets.RadioButtons:
    """One of several options, none chosen yet."""
    return widgets.RadioButtons(
        options=list(options), value=None, layout=widgets.Layout(width="auto"), tooltip=label, description=""
    )


def field(hint: str, label: str) -> widgets.Text:
    """A line to type into; its value changes with Enter, or when it is left."""
    return widgets.Text(placeholder=hint, tooltip=label, layout=widgets.Layout(width="220px"), continuous_update=False)


def row(children) -> widgets.HBox:
    """Side by side."""
    return widgets.HBox(list(children))
