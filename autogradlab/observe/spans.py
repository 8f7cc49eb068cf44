"""Spans of time, as a table and as a trace file: what timelines and profiles have in common."""

import json
from collections import defaultdict
from pathlib import Path


class Spans:
    """Something with `spans`: each has lane, name, start, end (seconds), bytes, operator."""

    spans: list
    simulated = False

    @property
    def lanes(self) -> list[str]:
        """The lanes in which something happened: the host first, then by name."""
        return sorted({s.lane for s in self.spans}, key=lambda lane: (lane != "host", lane))

    @property
    def seconds(self) -> float:
        """From the beginning to the last end."""
        return max((s.end for s in self.spans), default=0.0)

    def busy(self, lane: str) -> float:
        """The seconds in which a lane had work."""
        return sum(s.end - s.start for s in self.spans if s.lane == lane)

    def waited(self) -> float:
        """The seconds in which the host stood still."""
        return sum(s.end - s.start for s in self.spans if s.lane == "host" and s.name.startswith(("wait", "synch")))

    def rows(self) -> list[tuple[str, int, float, int]]:
        """(name, how often, seconds in all, bytes in all) by lane and name, the longest first."""
        found = defaultdict(lambda: [0, 0.0, 0])
        for s in self.spans:
            row = found[f"{s.lane}: {s.operator or s.name}"]
            row[0] += 1
            row[1] += s.end - s.start
            row[2] += s.bytes
        return sorted(((name, *row) for name, row in found.items()), key=lambda r: -r[2])

    def table(self, limit: int | None = None) -> str:
        """The rows as text."""
        rows = self.rows()
        shown = rows[:limit]
        width = max([len(name) for name, *_ in shown] + [4])
        what = "time of the model" if self.simulated else "time measured"
        lines = [f"{'':{width}}  {'times':>6}  {what:>17}  {'bytes':>14}"]
        lines += [f"{name:{width}}  {n:6}  {spelled(t):>17}  {b:14,}" for name, n, t, b in shown]
        if len(rows) > len(shown):
            lines.append(f"and {len(rows) - len(shown)} more")
        return "\n".join([*lines, f"{spelled(self.seconds)} from first to last"])

    def __repr__(self) -> str:
        return self.table(30)

    def chrome(self, path) -> str:
        """Write the spans as a Chrome trace (chrome://tracing, https://ui.perfetto.dev); returns the path."""
        lanes = {lane: i for i, lane in enumerate(self.lanes)}
        events = [
            {"ph": "M", "name": "thread_name", "pid": 0, "tid": i, "args": {"name": lane}} for lane, i in lanes.items()
        ]
        for s in self.spans:
            events.append(
                {"ph": "X", "name": s.operator or s.name, "cat": s.name, "pid": 0, "tid": lanes[s.lane],
                 "ts": s.start * 1e6, "dur": (s.end - s.start) * 1e6, "args": {"bytes": s.bytes}}
            )  # fmt: skip
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"traceEvents": events, "otherData": {"simulated": self.simulated}}))
        return str(path)


def spelled(seconds: float) -> str:
    """Seconds as one reads them: "12.5 us"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"
