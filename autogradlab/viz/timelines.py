"""Spans of time as a picture: a lane for the host, each stream and each copy engine, time running to the right."""

import math
from html import escape

from autogradlab.observe.spans import Spans, spelled

from .picture import FILLS, INK, LINE, PALE, Picture, sheet

LEFT, WIDTH, ROW, BAR = 150, 620, 40, 24


def timeline(recorded: Spans, limit: int = 200) -> Picture:
    """What a timeline or profile recorded.  Waiting is dashed; a bar too short for its name has it on hovering.

    recorded: what `with autogradlab.observe.timeline() as t:` or `with autogradlab.profile() as p:` gives.  limit: the
    first so many spans are drawn; the text counts all.
    """
    if not isinstance(recorded, Spans):
        kind = type(recorded).__name__
        raise TypeError(f"timeline: expected what observe.timeline() or profile() gives, not {kind}.")
    shown = recorded.spans[:limit]
    lanes = recorded.lanes
    whole = max((s.end for s in shown), default=0.0) or 1e-9
    how = "times of a model, not measured" if recorded.simulated else "times measured"
    head = f"{spelled(recorded.seconds)} in {len(lanes)} lanes, {len(recorded.spans)} spans; {how}"
    parts = [f'<text x="10" y="18" fill="{LINE}">{escape(head)}</text>']
    top = 30
    for i, lane in enumerate(lanes):
        y = top + i * ROW
        parts.append(f'<text x="10" y="{y + 17}" fill="{LINE}">{escape(lane)}</text>')
        parts.append(f'<line x1="{LEFT}" y1="{y + BAR + 6}" x2="{LEFT + WIDTH}" y2="{y + BAR + 6}" stroke="{PALE}"/>')
    for span in shown:
        parts += _bar(span, top + lanes.index(span.lane) * ROW, WIDTH / whole)
    bottom = top + len(lanes) * ROW
    parts += _scale(whole, bottom)
    height = bottom + 30
    svg = sheet(LEFT + WIDTH + 20, height, "".join(parts))
    return Picture(svg, f"{head}\n{recorded.table(30)}", f"A timeline: {head}.")


def _bar(span, y: int, scale: float) -> list[str]:
    x, width = LEFT + span.start * scale, max((span.end - span.start) * scale, 1.5)
    label = span.operator or span.name
    waits = span.lane == "host" and span.name.startswith(("wait", "synch"))
    kind = "saved" if waits else "base" if "copies" in span.lane else "function" if span.lane == "host" else "leaf"
    dashed = ' stroke-dasharray="4 3"' if waits else ""
    words = escape(
        f"{span.lane}: {span.name}{f' for {span.operator}' if span.operator else ''}, {spelled(span.seconds)}"
    )
    parts = [
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{FILLS[kind]}" stroke="{LINE}"{dashed}>'
        f"<title>{words}</title></rect>"
    ]
    room = int((width - 6) / 6.6)
    if waits:
        label = span.name
    if room >= 3:
        cut = label if len(label) <= room else label[: room - 1] + "…"
        parts.append(
            f'<text x="{x + width / 2:.1f}" y="{y + 16}" fill="{INK}" font-size="11" text-anchor="middle" '
            f'pointer-events="none">{escape(cut)}</text>'
        )
    return parts


def _scale(whole: float, y: int) -> list[str]:
    """Marks at round times below the lanes."""
    step = 10 ** math.floor(math.log10(whole))
    step = next(step * k for k in (0.1, 0.2, 0.5, 1) if whole / (step * k) <= 8)
    parts = []
    for i in range(int(whole / step) + 1):
        x = LEFT + i * step * WIDTH / whole
        parts.append(f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 5}" stroke="{LINE}"/>')
        text = "0" if not i else spelled(i * step)
        parts.append(f'<text x="{x:.1f}" y="{y + 18}" fill="{LINE}" font-size="10" text-anchor="middle">{text}</text>')
    return parts
