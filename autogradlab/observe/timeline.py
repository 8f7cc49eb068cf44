"""timeline(): what the simulated accelerator did when, by its clock's model."""

from autogradlab.backends.clock import Span, clock
from autogradlab.modes import observe

from .spans import Spans


class Timeline(observe, Spans):
    """The spans of the host, the streams and the copies inside a `with autogradlab.observe.timeline() as t:` block.

    spans: in the order handed over, their times counted from the block's beginning, in seconds of the model.
    Print it for a table; viz.timeline draws it; chrome(path) writes a trace that chrome://tracing opens.
    """

    simulated = True

    def __init__(self):
        self.spans: list[Span] = []
        self._operators: list[str] = []
        self._start = 0.0

    def __enter__(self):
        self._start = clock.host
        clock.recorders.append(self._record)
        return super().__enter__()

    def __exit__(self, *exc):
        clock.recorders.remove(self._record)
        super().__exit__(*exc)

    def again(self):
        return self

    def _record(self, span: Span) -> None:
        operator = self._operators[-1] if self._operators else ""
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
        if event in ("call", "node"):
            self._operators.append(facts["op"].name if event == "call" else facts["node"].name())
        elif event in ("result", "ran") and self._operators:
            self._operators.pop()


def timeline() -> Timeline:
    """Record what the simulated accelerator does in a block: `with autogradlab.observe.timeline() as t:`."""
    return Timeline()
