"""The few widgets the course is built from, and Panel, which gives them a text form.

A Panel shows its widgets where a kernel runs, and otherwise what says the same without one: HTML with the answer folded
away, or text.
"""

from __future__ import annotations

import ipywidgets as widgets

WIDE = {"width": "auto", "max_width": "760px"}
# ipywidgets sets one-line heights; what is said in a panel may be longer. The knob of a slider has no name there, so
# it is for the mouse alone (drawn, but no part of the page for keyboards and screen readers); see slid().
STYLE = """<style>
.autogradlab-panel .widget-html-content { line-height: 1.45; }
.autogradlab-slider .noUi-handle { visibility: hidden; background: none; border: none; box-shadow: none; }
.autogradlab-slider .noUi-handle::before { visibility: visible; display: block; content: ""; position: absolute;
  inset: 0; width: auto; height: auto; border-radius: 50%; background: var(--jp-brand-color1, #1976d2); cursor: grab; }
</style>"""


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


def whole(label: str, value: int, low: int, high: int) -> widgets.BoundedIntText:
    """A whole number from low to high, typed or moved with the arrow keys."""
    return widgets.BoundedIntText(value=value, min=low, max=high, description=label, tooltip=label, **_beside(label, 7))


def number(label: str, value: float, low: float, high: float, step: float) -> widgets.BoundedFloatText:
    """A number from low to high, typed or moved in steps with the arrow keys."""
    options = {"value": value, "min": low, "max": high, "step": step, "continuous_update": True}
    return widgets.BoundedFloatText(description=label, tooltip=label, **options, **_beside(label, 8))


def one_of(label: str, options, value=None) -> widgets.Dropdown:
    """One of several options, each a value or (words, value); the first if none is named."""
    options = list(options)
    words = [str(option[0] if isinstance(option, tuple) else option) for option in options]
    kind = _beside(label, max(map(len, words)) + 5)
    chosen = {} if value is None else {"value": value}
    return widgets.Dropdown(options=options, description=label, tooltip=label, **chosen, **kind)


def _beside(label: str, letters: int) -> dict:
    """Style and layout for an entry with its label to the left: room for both, about 8 pixels a letter."""
    width = {"width": f"{8 * (len(label) + letters) + 12}px", "min_width": "0"}
    return {"style": {"description_width": "initial"}, "layout": widgets.Layout(**width)}


def slid(entry, width: str = "240px") -> widgets.HBox:
    """A number or a choice with a slider beside it that moves it: the slider for the mouse, the entry for the keys."""
    options = {"readout": False, "layout": widgets.Layout(width=width)}
    if isinstance(entry, widgets.Dropdown):
        slider, trait = widgets.IntSlider(entry.index, min=0, max=len(entry.options) - 1, **options), "index"
    else:
        kind = widgets.FloatSlider if isinstance(entry, widgets.BoundedFloatText) else widgets.IntSlider
        slider, trait = kind(entry.value, min=entry.min, max=entry.max, step=entry.step, **options), "value"
    slider.add_class("autogradlab-slider")
    rounded = (lambda moved: round(moved, 10), lambda typed: typed)  # of a slider's 0.30000000000000004
    widgets.link((slider, "value"), (entry, trait), transform=rounded)
    return row([entry, slider])


def row(children) -> widgets.HBox:
    """Side by side."""
    return widgets.HBox(list(children))
