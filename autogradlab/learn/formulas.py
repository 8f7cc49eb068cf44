"""Formulas: what stands between dollar signs becomes MathML, which browsers show without a script or a network."""

import re
from collections.abc import Callable
from html import escape

# $$...$$, or $...$ without a space inside the dollars, as in Jupyter's Markdown: "$5 and $6" is none.
FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\w)", re.DOTALL)


def mathml(latex: str, block: bool = False) -> str:
    """One formula as MathML; what is no LaTeX stays as it is."""
    from latex2mathml import converter

    try:
        return converter.convert(latex.strip(), display="block" if block else "inline").replace("\n", " ")
    except Exception:  # its many errors have no class in common
        return escape(f"$${latex}$$" if block else f"${latex}$")


def _formula(found: re.Match) -> str:
    return mathml(found["block"], block=True) if found["block"] else mathml(found["inline"])


def html(text: str) -> str:
    """Plain text with formulas as HTML."""
    parts, end = [], 0
    for found in FORMULA.finditer(text):
        parts += [escape(text[end : found.start()]), _formula(found)]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def in_markdown(markdown: str, placed: Callable[[str], str] = str) -> str:
    """Markdown with its formulas as MathML; code stays as it is.  placed: what to write in a formula's place."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", markdown, flags=re.DOTALL)
    return "".join(
        part if i % 2 else FORMULA.sub(lambda found: placed(_formula(found)), part) for i, part in enumerate(parts)
    )
