"""Curves and points: Matplotlib figures in the course's look, shown as pictures with words.

fig, ax = viz.axes(6.4, 3.0)
ax.plot(losses, label="training rows")
viz.chart(fig, alt="A curve that falls steeply and then stays level.")
"""

import io
import re

from .picture import BLUE, FONT, GREEN, INK, LINE, ORANGE, PALE, PAPER, PURPLE, Picture


def _look() -> dict:
    """Matplotlib's settings.  Curves differ in colour and in dashes, so that nothing hangs on colour."""
    from matplotlib import cycler

    dashes = cycler(linestyle=["-", "--", "-.", ":"])
    return {
        "font.family": "DejaVu Sans",  # what texts are measured with, on every machine; shown in FONT
        "font.size": 9,
        "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PURPLE]) + dashes,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": LINE,
        "axes.labelcolor": INK,
        "axes.titlesize": 10,
        "xtick.color": LINE,
        "ytick.color": LINE,
        "grid.color": PALE,
        "legend.frameon": False,
        "figure.facecolor": PAPER,
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "svg.fonttype": "none",
        "svg.hashsalt": "autogradlab",
    }


def axes(width: float = 6.4, height: float = 3.2, rows: int = 1, columns: int = 1, **subplots):
    """(figure, axes) as matplotlib.pyplot.subplots gives them; sizes in inches, further options are its own.

    From here on every figure of this process has the course's look: a legend asks for it only when it is made.
    """
    import matplotlib
    from matplotlib import pyplot

    matplotlib.rcParams.update(_look())
    figure, made = pyplot.subplots(rows, columns, figsize=(width, height), **subplots)
    pyplot.close(figure)  # so that the notebook does not show it by itself a second time
    return figure, made


def chart(figure, alt: str) -> Picture:
    """A Matplotlib figure as a picture, sharp at any size.  alt: what one sees in it, in a sentence."""
    if not (isinstance(alt, str) and alt.strip()):
        raise ValueError(f"viz.chart: alt must say in words what the figure shows, got {alt!r}.")
    if not hasattr(figure, "savefig"):
        raise TypeError(f"viz.chart: expected a Matplotlib figure, got {type(figure).__name__}.")
    import matplotlib

    made = io.StringIO()
    with matplotlib.rc_context(_look()):
        figure.savefig(made, format="svg", metadata={"Date": None})
    svg = made.getvalue()
    svg = svg[svg.index("<svg") :]
    # Matplotlib's style rule names every element, and here that would be every element of the page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return Picture(svg.replace("'DejaVu Sans'", FONT).replace("DejaVu Sans", FONT), f"Chart: {alt}", alt)
