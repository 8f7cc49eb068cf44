"""A picture with a text form: the text is what is compared and read aloud, the SVG is what is seen.

In a notebook both are given at once (the SVG as a part of the page, and `text/plain`), on every machine: where no
picture can be drawn, the SVG says so and how to get one.
"""

from html import escape
from pathlib import Path

# One palette. Every picture lies on white paper, on a light page as on a dark one, so that dark ink is always read
# against white (LINE: 6.5 to 1). Hues are Okabe and Ito's, which colour-blind readers can tell apart; what they mean is
# told by shape and words as well.
INK, LINE, PALE, PAPER = "#1a1a1a", "#5c5c5c", "#d8d8d8", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#007a59", "#a8558a"
FILLS = {
    "function": "#e3e3e3",
    "leaf": "#bfe0f5",
    "output": "#fbe3b0",
    "saved": "#ffffff",
    "base": "#cdeadd",
    "more": "#ffffff",
}
FONT = "Helvetica, Arial, sans-serif"


class Picture:
    """An SVG with the words that say the same.

    text: the stable text form.  alt: one sentence for readers who do not see the picture.
    """

    def __init__(self, svg: str, text: str, alt: str):
        self.svg, self.text, self.alt = svg, text, alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        # As HTML, not as image/svg+xml: JupyterLab makes an <img> of that, without the words and the hover texts.
        return {"text/html": self.html, "text/plain": self.text}

    @property
    def html(self) -> str:
        """The SVG as a part of a page."""
        return on_paper(self.svg, self.alt)

    def __repr__(self) -> str:
        return self.text

    def save(self, path) -> Path:
        """Write the SVG to a file; returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path


def sheet(width: float, height: float, body: str) -> str:
    """An SVG of this size in pixels, in the course's font and ink."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{FONT}" font-size="12" fill="{INK}">{body}</svg>'
    )


def on_paper(svg: str, alt: str) -> str:
    """The SVG on white paper, never wider than the page, with its alt text for screen readers."""
    start = svg.index("<svg")
    style = f"background:{PAPER};border-radius:6px;max-width:100%;height:auto"
    return f'<svg role="img" aria-label="{escape(alt, quote=True)}" style="{style}"{svg[start + 4 :]}'


def message_svg(lines: list[str]) -> str:
    """A picture that only says something: why there is no other."""
    rows = "".join(f'<text x="10" y="{24 + 20 * i}">{escape(line)}</text>' for i, line in enumerate(lines))
    return sheet(720, 20 * len(lines) + 16, rows)
