"""The clock of the simulated accelerator: when an A100 of the data sheets would have begun and ended each kernel.

A model and no measurement.  The host hands a kernel to a stream and goes on; each stream works through what it was
handed, in order.  A kernel takes as long as its memory traffic or its arithmetic, whichever is longer.  The host waits
only where it must: for a number it asks for, for a copy from ordinary memory, for synchronize().  (D1 5.1, 5.4)
"""

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """What the model knows of a device; bytes and operations a second, seconds.

    memory, pcie, link: D1 5.1 (HBM of an A100, PCIe Gen4 x16, NVLink).  operations: the A100 data sheet, with matrix
    units for half precision.  launch, kernel: what handing over and starting a kernel usually take; not from D1.
    """

    memory: float = 2.0e12
    pcie: float = 32e9
    link: float = 600e9
    launch: float = 5e-6
    kernel: float = 2e-6
    float64: float = 9.7e12
    float32: float = 19.5e12
    half: float = 312e12

    def operations(self, dtype: str) -> float:
        """Operations a second on numbers of that kind."""
        return self.half if dtype in ("float16", "bfloat16") else self.float64 if dtype == "float64" else self.float32


@dataclass(frozen=True)
class Span:
    """Something that took time.  lane: "host", "sim:0", "sim:0 stream 1", "sim:0 copies"; start, end: seconds."""

    lane: str
    name: str
    start: float
    end: float
    bytes: int = 0
    operations: int = 0
    operator: str = ""  # on whose behalf

    @property
    def seconds(self) -> float:
        return self.end - self.start


class Clock:
    """The simulated time of the host and of every stream.  recorders: called with each Span."""

    def __init__(self, figures: Figures | None = None):
        self.figures = figures or Figures()
        self.recorders: list = []
        self._lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        """Start again at 0, with nothing to do."""
        self.host, self.free = 0.0, {}

    def launch(self, lane: str, name: str, nbytes: int, operations: int = 0, dtype: str = "float32") -> None:
        """The host hands over a kernel."""
        f = self.figures
        with self._lock:
            self._busy("host", f"launch {name}", f.launch)
            took = max(f.kernel, nbytes / f.memory, operations / f.operations(dtype))
            self._queue(lane, name, took, nbytes, operations)

    def copy(self, lane: str, name: str, nbytes: int, waits: bool, stream: str, link: bool = False) -> None:
        """A copy between host and device, or between devices over their link, by the copy engine `lane`.

        It takes its turn in `stream`, as a kernel does: work that is there comes first, later work comes after it.
        waits: the host stands still until it has arrived.
        """
        f = self.figures
        with self._lock:
            self._busy("host", f"start {name}", f.launch)
            begin = max(self.host, self.free.get(lane, 0.0), self.free.get(stream, 0.0))
            end = begin + f.kernel + nbytes / (f.link if link else f.pcie)
            self.free[lane] = self.free[stream] = end
            self._tell(Span(lane, name, begin, end, nbytes))
            if waits:
                self._wait_until(end, f"wait for {name}")

    def not_before(self, lane: str, moment: float) -> None:
        """What comes to `lane` from now on begins after that moment."""
        with self._lock:
            self.free[lane] = max(self.free.get(lane, 0.0), moment)

    def at(self, lane: str) -> float:
        """When `lane` will have done what it was handed so far."""
        return max(self.free.get(lane, 0.0), self.host)

    def wait(self, lanes, why: str = "synchronize") -> None:
        """The host stands still until these lanes are done."""
        with self._lock:
            self._wait_until(max((self.free.get(lane, 0.0) for lane in lanes), default=0.0), why)

    def wait_until(self, moment: float, why: str = "synchronize") -> None:
        """The host stands still until that moment."""
        with self._lock:
            self._wait_until(moment, why)

    def _wait_until(self, moment: float, why: str) -> None:
        if moment > self.host:
            self._busy("host", why, moment - self.host)

    def _busy(self, lane: str, name: str, seconds: float) -> None:
        start, self.host = self.host, self.host + seconds
        self._tell(Span(lane, name, start, self.host))

    def _queue(self, lane: str, name: str, seconds: float, nbytes: int, operations: int) -> None:
        start = max(self.host, self.free.get(lane, 0.0))
        self.free[lane] = start + seconds
        self._tell(Span(lane, name, start, start + seconds, nbytes, operations))

    def _tell(self, span: Span) -> None:
        for recorder in self.recorders:
            recorder(span)


clock = Clock()
