"""A ring all-reduce round by round: who holds which sums, and how much was sent.  (D5 4.3, chapter 27)"""

from __future__ import annotations

from html import escape

from autogradlab.learn.panel import Panel, note, row, slid, whole
from autogradlab.viz.picture import BLUE, FILLS, INK, LINE, Picture, sheet

LEAST, MOST = 2, 6
LEFT, TOP, WIDE, HIGH = 84, 44, 104, 30


class Ring:
    """Ranks in a ring, each with as many chunks as there are ranks.  Knows nothing of widgets."""

    def __init__(self, ranks: int):
        if type(ranks) is not int or not LEAST <= ranks <= MOST:
            raise ValueError(f"explore_ring: expected {LEAST} to {MOST} ranks, got {ranks!r}.")
        self.ranks = ranks
        self.rounds = 2 * (ranks - 1)

    def sends(self, rank: int, t: int) -> int:
        """The chunk that a rank sends to the right in round t, counted from 0."""
        return (rank - t) % self.ranks

    def held(self, rounds: int) -> list[list[frozenset]]:
        """[rank][chunk]: whose numbers are in it, after so many rounds."""
        n = self.ranks
        held = [[frozenset([rank])] * n for rank in range(n)]
        for t in range(rounds):
            before = [list(chunks) for chunks in held]
            for rank in range(n):
                chunk = self.sends(rank, t)
                came, right = before[rank][chunk], (rank + 1) % n
                held[right][chunk] = before[right][chunk] | came if t < n - 1 else came
        return held


def said(ring: Ring, rounds: int) -> str:
    """The text twin."""
    n, held = ring.ranks, ring.held(rounds)
    phase = "nothing sent yet" if not rounds else "adding" if rounds < n else "passing on finished sums"
    phase = "every rank has every sum" if rounds == ring.rounds else phase
    lines = [f"{n} ranks, round {rounds} of {ring.rounds}: {phase}; each rank has sent {rounds}/{n} of its bytes"]
    for chunk in range(n):
        cells = [spelled(held[rank][chunk], n) for rank in range(n)]
        lines.append(f"chunk {chunk}:  " + "  ".join(f"{cell:{2 * n - 1}}" for cell in cells).rstrip())
    return "\n".join(lines)


def spelled(whose: frozenset, n: int) -> str:
    """Whose numbers are added up in a chunk: 0+1, or sum."""
    return "sum" if len(whose) == n else "+".join(map(str, sorted(whose)))


def picture(ring: Ring, rounds: int) -> Picture:
    """A column for each rank, a row for each chunk; an arrow where a chunk has just come from."""
    n, held = ring.ranks, ring.held(rounds)
    came = {((rank + 1) % n, ring.sends(rank, rounds - 1)): rank for rank in range(n)} if rounds else {}
    parts = []
    for rank in range(n):
        parts.append(f'<text x="{LEFT + rank * WIDE + 46}" y="30" text-anchor="middle">rank {rank}</text>')
    for chunk in range(n):
        y = TOP + chunk * (HIGH + 10)
        parts.append(f'<text x="10" y="{y + 20}" fill="{LINE}">chunk {chunk}</text>')
        for rank in range(n):
            whose = held[rank][chunk]
            kind = "base" if len(whose) == n else "leaf" if len(whose) > 1 else "saved"
            wide = 3 if (rank, chunk) in came else 1
            edge = BLUE if wide == 3 else LINE
            x = LEFT + rank * WIDE
            parts.append(
                f'<rect x="{x}" y="{y}" width="92" height="{HIGH}" fill="{FILLS[kind]}" stroke="{edge}" '
                f'stroke-width="{wide}"/><text x="{x + 46}" y="{y + 20}" text-anchor="middle" fill="{INK}">'
                f"{spelled(whose, n)}</text>"
            )
    below = TOP + n * (HIGH + 10) + 12
    legend = "numbers: whose values are added up in it. Thick: has just come from the left"
    parts.append(f'<text x="10" y="{below}" fill="{LINE}">{legend}</text>')
    text = said(ring, rounds)
    width = max(LEFT + n * WIDE + 10, 610)
    return Picture(sheet(width, below + 14, "".join(parts)), text, f"A ring all-reduce: {text.splitlines()[0]}.")


def explore_ring(ranks: int = 4) -> Panel:
    """Go through the rounds of a ring all-reduce; choose how many ranks there are."""
    ring = Ring(ranks)
    many = whole("ranks", ranks, LEAST, MOST)
    rounds = whole("round", 0, 0, ring.rounds)
    shown, words = note(), note()

    def show(_=None) -> None:
        now = Ring(many.value)
        rounds.max = now.rounds
        drawn = picture(now, rounds.value)
        shown.value, words.value = drawn.html, f"<pre>{escape(drawn.text)}</pre>"

    many.observe(show, "value")
    rounds.observe(show, "value")
    show()
    text = said(ring, 0)
    last = said(ring, ring.rounds)
    static = f"{picture(ring, ranks - 1).html}<pre>{escape(text)}\n\n{escape(last)}</pre>"
    return Panel([row([slid(rounds), many]), shown, words], text=text, static=static)
