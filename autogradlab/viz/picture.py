"""A picture with a text form: the text is what is compared and read aloud, the SVG is what is seen.

In a notebook both are given at once (`image/svg+xml` and `text/plain`), on every machine: where no picture can be
drawn, the SVG says so and how to get one.
"""

from html import escape
from pathlib import Path

# Fills that colour-blind readers can tell apart (after Okabe and Ito), light enough for dark text on any theme; what
# they mean is told by shape and words as well.
INK, LINE = "#1a1a1a", "#7a7a7a"
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
        return {"image/svg+xml": described(self.svg, self.alt), "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text

    def save(self, path) -> Path:
        """Write the SVG to a file; returns its path."""
        path = Path(path)
        path.write_text(described(self.svg, self.alt), encoding="utf-8")
        return path


def described(svg: str, alt: str) -> str:
    """The SVG with its alt text, so that a screen reader has something to say."""
    start = svg.index("<svg")
    return f'{svg[start : start + 4]} role="img" aria-label="{escape(alt, quote=True)}"{svg[start + 4 :]}'


def message_svg(lines: list[str]) -> str:
    """A picture that only says something: why there is no other."""
    height = 20 * len(lines) + 16
    rows = "".join(
        f'<text x="10" y="{24 + 20 * i}" fill="{LINE}">{escape(line)}</text>' for i, line in enumerate(lines)
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" font-family="{FONT}" font-size="13">'
    return f"{head}{rows}</svg>"
