"""timeline(): what the simulated accelerator did when, by its clock's model."""

import threading

from autogradlab.backends.clock import Span, clock
from autogradlab.modes import observe

from .spans import Spans


class Timeline(observe, Spans):
    """The spans of the host, the streams and the copies inside a `with autogradlab.observe.timeline() as t:` block.

    spans: in the order handed over, their times counted from the (first) block's beginning, in seconds of the model.
    Print it for a table; viz.timeline draws it; chrome(path) writes a trace that chrome://tracing opens.
    """

    simulated = True

    def __init__(self):
        self.spans: list[Span] = []
        self._operators: list[tuple] = []  # (operator or node, its name), the innermost last
        self._start, self._depth, self._thread = 0.0, 0, None

    def __enter__(self):
        self._depth += 1
        if self._depth > 1:  # inside a block of its own: it is recording
            return self
        if not self.spans:
            self._start = clock.host
        self._thread = threading.get_ident()
        clock.recorders.append(self._record)
        return super().__enter__()

    def __exit__(self, *exc):
        self._depth -= 1
        if not self._depth:
            clock.recorders.remove(self._record)
            self._operators.clear()
            super().__exit__(*exc)

    def again(self):
        return self

    def _record(self, span: Span) -> None:
        mine = self._operators and threading.get_ident() == self._thread  # other threads' operators are not told
        operator = self._operators[-1][1] if mine else ""
        self.spans.append(
            Span(
                span.lane,
                span.name,
                span.start - self._start,
                span.end - self._start,
                span.bytes,
                span.operations,
                operator,
            )  # fmt: skip
        )

    def observer(self, event: str, **facts) -> None:
        """Whose kernels these are: the operator or node that is at work."""
        if event == "call":
            self._operators.append((facts["op"], facts["op"].name))
        elif event == "node":
            self._operators.append((facts["node"], facts["node"].name()))
        elif event in ("result", "ran"):
            owner = facts["op"] if event == "result" else facts["node"]
            while self._operators and self._operators.pop()[0] is not owner:  # calls that ended in an error
                pass


def timeline() -> Timeline:
    """Record what the simulated accelerator does in a block: `with autogradlab.observe.timeline() as t:`."""
    return Timeline()
