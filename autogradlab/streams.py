"""Streams and events: order among the work that an accelerator does while the host goes on.

https://pytorch.org/docs/stable/generated/torch.Stream.html, https://pytorch.org/docs/stable/generated/torch.Event.html
"""

from . import devices


def _place(device):
    found = devices.accelerator() if device is None else devices.resolve(device)
    if found.type == "cpu":
        raise RuntimeError("streams and events belong to accelerators: the CPU works through its calls in order.")
    return found


def _need(value, kind: type):
    """Refuse what is no stream or event; None stands for the usual one where it may be left out."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__.lower()} to be a torch.{kind.__name__}, got {type(value).__name__}.")
    return value


class Event:
    """A mark in a stream: reached when all that was handed over before it is done.

    enable_timing: whether elapsed_time() may be asked.
    """

    def __init__(self, device=None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        self.device, self.enable_timing = _place(device), enable_timing
        self._recorded = False
        self._handle = self.device.backend.new_event(enable_timing)

    def record(self, stream: "Stream | None" = None) -> None:
        """Set the mark behind what the stream (the current one) was handed so far."""
        stream = current_stream(self.device) if stream is None else _need(stream, Stream)
        if stream.device is not self.device:
            raise RuntimeError(
                f"Event device {self.device} does not match the recording stream's device {stream.device}: make the "
                f"event with torch.Event({str(stream.device)!r})."
            )
        stream._handle.record(self._handle)
        self._recorded = True

    def wait(self, stream: "Stream | None" = None) -> None:
        """Let the later work of a stream (the current one) begin after the mark."""
        (current_stream(self.device) if stream is None else _need(stream, Stream)).wait_event(self)

    def synchronize(self) -> None:
        """The host waits for the mark."""
        self._handle.synchronize()

    def query(self) -> bool:
        """Whether the mark has been reached."""
        return bool(self._handle.done)

    def elapsed_time(self, end_event: "Event") -> float:
        """Milliseconds between two marks; on the simulated accelerator they are its model's."""
        _need(end_event, Event)
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self._recorded and end_event._recorded):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time: synchronize() first.")
        return self.device.backend.milliseconds(self._handle, end_event._handle)


class Stream:
    """A queue of work on an accelerator.  Inside `with stream:` what is called goes to it."""

    def __init__(self, device=None, *, priority: int = 0, _handle=None):
        self.device = _place(device)
        self._handle = self.device.backend.new_stream() if _handle is None else _handle

    def __enter__(self) -> "Stream":
        self._handle.__enter__()
        return self

    def __exit__(self, *exc) -> None:
        self._handle.__exit__(*exc)

    def synchronize(self) -> None:
        """The host waits until all of it is done."""
        self._handle.synchronize()

    def query(self) -> bool:
        """Whether all of it is done."""
        return bool(self._handle.done)

    def record_event(self, event: Event | None = None) -> Event:
        """A mark behind what was handed over so far."""
        event = Event(self.device) if event is None else _need(event, Event)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Later work of this stream begins after that mark; the host does not wait."""
        self._handle.wait_event(_need(event, Event)._handle)

    def wait_stream(self, stream: "Stream") -> None:
        """Later work of this stream begins after what the other one has now."""
        self.wait_event(_need(stream, Stream).record_event())

    def __eq__(self, other) -> bool:
        return isinstance(other, Stream) and self.device is other.device and self._handle == other._handle

    def __hash__(self) -> int:
        return hash((self.device, self._handle))

    def __repr__(self) -> str:
        return f"<torch.Stream on {self.device}>"


def current_stream(device=None) -> Stream:
    """The stream that work goes to now."""
    place = _place(device)
    return Stream(place, _handle=place.backend.current_stream())


def default_stream(device=None) -> Stream:
    """The device's own stream."""
    place = _place(device)
    return Stream(place, _handle=place.backend.default_stream())


class Accelerator:
    """torch.accelerator: whatever accelerator there is.  Called, it gives the device: cuda, or else the simulated one.

    https://pytorch.org/docs/stable/accelerator.html
    """

    def __call__(self) -> devices.device:
        return devices.accelerator()

    def is_available(self) -> bool:
        """Always: the simulated accelerator stands in where there is no GPU."""
        return True

    def current_accelerator(self, check_available: bool = False) -> devices.device:
        """The kind of accelerator, as a device without an index."""
        return devices.device(devices.accelerator().type)

    def device_count(self) -> int:
        """How many there are."""
        return devices.count(devices.accelerator().type)

    def current_device_index(self) -> int:
        """The index of the one that work goes to."""
        return devices.accelerator().index or 0

    def current_stream(self, device=None) -> Stream:
        """The stream that work goes to now."""
        return current_stream(device)

    def synchronize(self, device=None) -> None:
        """The host waits until all that was handed over is done."""
        _place(device).backend.synchronize()

    def __repr__(self) -> str:
        return f"<torch.accelerator: {devices.accelerator()}>"


accelerator = Accelerator()
