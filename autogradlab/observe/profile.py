"""profile(): which operators took the time, measured where they ran; forwards and backwards.

https://pytorch.org/docs/stable/profiler.html
"""

import contextlib
import time

from autogradlab.backends.clock import Span
from autogradlab.modes import observe, state
from autogradlab.tensor import Tensor

from .spans import Spans

_clock = time.perf_counter


class Profile(observe, Spans):
    """The calls of operators and the nodes of backward inside a `with autogradlab.profile() as p:` block.

    Each takes the time from when it began until it returned; on an accelerator that is the time to hand the work over
    (observe.timeline shows the simulated one's own).  spans: of lane "cpu" or the device, in seconds since the (first)
    block began; bytes: of what it read and made.
    """

    def __init__(self):
        self.spans: list[Span] = []
        self._open: list[tuple] = []
        self._start, self._depth = 0.0, 0

    def __enter__(self):
        self._depth += 1
        if self._depth > 1:  # inside a block of its own: it is measuring
            return self
        if not self.spans:
            self._start = _clock()
        return super().__enter__()

    def __exit__(self, *exc):
        self._depth -= 1
        if not self._depth:
            self._open.clear()
            super().__exit__(*exc)

    def again(self):
        return self

    def observer(self, event: str, **facts) -> None:
        """What the engine tells while the block runs."""
        if event == "call":
            self._open.append((facts["op"], facts["op"].name, _clock(), facts["inputs"]))
        elif event == "node":
            self._open.append((facts["node"], facts["node"].name(), _clock(), ()))
        elif event == "result":
            self._close(facts["op"], facts["outputs"])
        elif event == "ran":
            self._close(facts["node"], ())

    def _close(self, owner, outputs) -> None:
        now = _clock()
        while self._open and self._open[-1][0] is not owner:  # calls that ended in an error
            self._open.pop()
        if self._open:
            _, name, began, inputs = self._open.pop()
            tensors = [t for t in (*inputs, *outputs) if isinstance(t, Tensor)]
            lane = str(tensors[-1].device) if tensors else "backward"
            nbytes = sum(t.nbytes for t in tensors)
            self.spans.append(Span(lane, name, began - self._start, now - self._start, nbytes))

    def mark(self, name: str, began: float, ended: float) -> None:
        """A span of the program's own, from record_function."""
        self.spans.append(Span("program", name, began - self._start, ended - self._start))

    def key_averages(self) -> "Profile":
        """PyTorch's name for what is summed by operator: the profile itself."""
        return self

    export_chrome_trace = Spans.chrome


def profile(**ignored) -> Profile:
    """Measure a block: `with autogradlab.profile() as p:`, then print(p) or p.chrome(path).

    PyTorch's arguments (activities, record_shapes, profile_memory, ...) are taken and change nothing.
    """
    return Profile()


@contextlib.contextmanager
def record_function(name: str):
    """Give a part of the program a span of its own in the profile around it."""
    began = _clock()
    try:
        yield
    finally:
        owner = getattr(state.observer, "__self__", None)
        if isinstance(owner, Profile):
            owner.mark(name, began, _clock())
