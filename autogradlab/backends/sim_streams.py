"""Streams and events of the simulated accelerator, with CuPy's methods: queues and marks in them, on its clock."""

import itertools

from .clock import clock
from .sim_array import streams

_numbers = itertools.count(1)


class SimStream:
    """A queue of kernels.  Number 0 is the device's own, which work goes to unless a `with` block names another."""

    def __init__(self, index: int, number: int | None = None):
        self.index, self.number = index, next(_numbers) if number is None else number
        self._before = []

    @property
    def lane(self) -> str:
        """Its name on timelines."""
        return f"sim:{self.index}" if not self.number else f"sim:{self.index} stream {self.number}"

    def __eq__(self, other) -> bool:
        return isinstance(other, SimStream) and (self.index, self.number) == (other.index, other.number)

    def __hash__(self) -> int:
        return hash((self.index, self.number))

    def __enter__(self):
        self._before.append(streams.current.get(self.index, 0))
        streams.current[self.index] = self.number
        return self

    def __exit__(self, *exc):
        streams.current[self.index] = self._before.pop()

    def synchronize(self) -> None:
        clock.wait([self.lane])

    @property
    def done(self) -> bool:
        return clock.free.get(self.lane, 0.0) <= clock.host

    def record(self, event: "SimEvent") -> None:
        event.moment = clock.at(self.lane)

    def wait_event(self, event: "SimEvent") -> None:
        if event.moment is not None:
            clock.not_before(self.lane, event.moment)


class SimEvent:
    """A mark in a stream: the moment at which all that was handed over before it is done."""

    def __init__(self):
        self.moment: float | None = None

    def synchronize(self) -> None:
        if self.moment is not None:
            clock.wait_until(self.moment)

    @property
    def done(self) -> bool:
        return self.moment is None or self.moment <= clock.host
