"""Arrays travel between processes by MPI, through mpi4py.

Half precision travels as float32, which MPI can add (decision 12 of the engine's design: MPI has no such types).
"""

import atexit
import datetime
import time

import numpy

_KINDS = {"sum": "SUM", "avg": "SUM", "product": "PROD", "min": "MIN", "max": "MAX",
          "band": "BAND", "bor": "BOR", "bxor": "BXOR"}  # fmt: skip
_HOW = "pip install mpi4py mpich (the course's set-up does), then: mpiexec -n 4 python -m mpi4py script.py"


def _load():
    from mpi4py import MPI

    return MPI


def problem() -> str | None:
    """Why MPI cannot be used here, or None."""
    try:
        _load()
    except Exception as error:  # no package, or no library behind it: each its own type
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return None


def world(timeout: datetime.timedelta) -> "Mpi":
    """All processes that mpiexec started; this one alone where it did not."""
    why = problem()
    if why is not None:
        raise RuntimeError(f"Distributed package doesn't have MPI built in here ({why}): {_HOW}.")
    return Mpi(_load().COMM_WORLD.Dup(), timeout)


class Mpi:
    """One communicator.  Its methods block, each until all ranks have called it; they run on the group's thread."""

    device = "cpu"

    def __init__(self, comm, timeout: datetime.timedelta):
        self.comm, self.timeout = comm, timeout
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.farewells = comm.Dup()  # on which a rank says that it ends
        self._gone: int | None = None
        atexit.register(self._leave)

    def _leave(self) -> None:
        """Tell the others that this rank ends: they need not wait for it until the timeout."""
        if self.farewells is not None:
            for other in range(self.size):
                if other != self.rank:
                    self.farewells.isend(self.rank, other)

    # What a transport can do ------------------------------------------------------------------------------------------

    def same(self, facts: tuple) -> None:
        """Raise on every rank unless all ranks are about to do the same."""
        told = self.objects(facts)
        for rank, other in enumerate(told):
            if other != told[0]:
                raise RuntimeError(
                    f"Detected mismatch between collectives on ranks. Rank 0 is running {spelled(told[0])}, but rank "
                    f"{rank} is running {spelled(other)}: all ranks must call the same with the same shapes and dtypes."
                )

    def objects(self, value) -> list:
        """Every rank's object, on all ranks."""
        self._wait(self.comm.Ibarrier())  # nobody waits inside what cannot be given up
        return self.comm.allgather(value)

    def all_reduce(self, array, op: str):
        """The array combined over all ranks, on all of them."""
        sent, out = _carried(array)
        if op in ("band", "bor", "bxor") and sent.dtype.kind == "f":
            raise RuntimeError(f"Cannot use ReduceOp.{op.upper()} with floating point numbers.")
        self._wait(self.comm.Iallreduce(sent, out, getattr(_load(), _KINDS[op])))
        return self._averaged(out, op).astype(array.dtype, copy=False)

    def reduce_scatter(self, array, op: str):
        """The ranks' arrays (size, ...) combined; each rank gets its row."""
        sent, _ = _carried(array)
        out = numpy.empty(sent.shape[1:], sent.dtype)
        self._wait(self.comm.Ireduce_scatter_block(sent, out, getattr(_load(), _KINDS[op])))
        return self._averaged(out, op).astype(array.dtype, copy=False)

    def all_gather(self, array):
        """(size, ...): every rank's array, on all ranks."""
        sent = numpy.ascontiguousarray(array)
        out = numpy.empty((self.size, *sent.shape), sent.dtype)
        self._wait(self.comm.Iallgather(_bytes(sent), _bytes(out)))
        return out

    def broadcast(self, array, source: int):
        """The source's array, on all ranks."""
        out = numpy.array(array, order="C")
        self._wait(self.comm.Ibcast(_bytes(out), source))
        return out

    def send(self, array, to: int, tag: int) -> None:
        """Hand an array to one rank."""
        self._wait(self.comm.Isend(_bytes(numpy.ascontiguousarray(array)), to, tag))

    def receive(self, array, source: int | None, tag: int):
        """(an array like this one, the rank it came from)."""
        out, status = numpy.empty(array.shape, array.dtype), _load().Status()
        self._wait(self.comm.Irecv(_bytes(out), _load().ANY_SOURCE if source is None else source, tag), status)
        return out, status.Get_source()

    def barrier(self) -> None:
        """Wait for all ranks."""
        self._wait(self.comm.Ibarrier())

    def split(self, ranks: list[int], timeout: datetime.timedelta) -> "Mpi | None":
        """A transport among some ranks, with a patience of its own; all ranks call this."""
        inside = self.rank in ranks
        comm = self.comm.Split(0 if inside else _load().UNDEFINED, self.rank)
        return Mpi(comm, timeout) if inside else None

    def host(self, tensor):
        """What of a tensor travels: its numbers on the host."""
        return tensor.host()

    def put(self, tensor, array) -> None:
        """Write what arrived into a tensor."""
        backend = tensor._device.backend
        tensor.window[...] = array if tensor._device.type == "cpu" else backend.from_host(array)

    def close(self) -> None:
        atexit.unregister(self._leave)
        self.farewells.Free()
        self.farewells = None
        self.comm.Free()

    def abort(self) -> None:
        """End all ranks."""
        self.comm.Abort(1)

    # ------------------------------------------------------------------------------------------------------------------

    def _averaged(self, out, op: str):
        return out / self.size if op == "avg" and out.dtype.kind == "f" else out // self.size if op == "avg" else out

    def _wait(self, request, status=None) -> None:
        """Until a request is done, or the others stay away for too long.  The pauses leave the cores to the ranks."""
        end, pause = time.monotonic() + self.timeout.total_seconds(), 0.0
        while not request.Test(status):
            now = time.monotonic()
            if self._gone is None and self.farewells.iprobe():
                self._gone, end = self.farewells.recv(), min(end, now + 1)  # what it sent before may still arrive
            if now > end and self._gone is not None:
                raise RuntimeError(f"rank {self.rank} waits for rank {self._gone}, which has ended.")
            if now > end:
                raise RuntimeError(
                    f"rank {self.rank} waited {self.timeout} for the other ranks, the timeout of init_process_group: "
                    "they have not come to this collective."
                )
            time.sleep(pause)
            pause = min(pause + 2e-5, 5e-4)


def _carried(array):
    """An array as MPI can add it, and room for the result."""
    wide = numpy.ascontiguousarray(array, "float32" if array.dtype.itemsize < 4 and array.dtype.kind in "fV" else None)
    wide = wide.astype("uint8") if wide.dtype.kind == "b" else wide
    return wide, numpy.empty_like(wide)


def _bytes(array):
    return array.reshape(-1).view(numpy.uint8)


def spelled(facts: tuple) -> str:
    """all_reduce of float32 (3,)"""
    name, *rest = facts
    return f"{name} of {' '.join(map(str, rest))}" if rest else str(name)
