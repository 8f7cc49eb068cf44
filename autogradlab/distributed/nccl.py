"""Arrays travel between GPUs by NCCL, through CuPy.  One GPU a rank; the ranks find each other by MPI.

Not run on GPUs yet: written after CuPy's documentation of cupy.cuda.nccl.
"""

from autogradlab import devices
from autogradlab.backends import cupy

from .mpi import Mpi

_OPS = {"sum": 0, "product": 1, "max": 2, "min": 3, "avg": 4}
_TYPES = {"int8": 0, "uint8": 1, "bool": 1, "int32": 2, "int64": 4, "float16": 6, "float32": 7, "float64": 8,
          "bfloat16": 9}  # fmt: skip


def world(meeting: Mpi, device_id=None) -> "Nccl":
    """All ranks, each with a GPU: as said, else the one of its number."""
    real = cupy.need()
    found = None if device_id is None else devices.device(device_id).index
    index = meeting.rank % real.cuda.runtime.getDeviceCount() if found is None else found
    return Nccl(meeting, index)


class Nccl:
    """One communicator of GPUs, with a stream of its own; what must be said in words goes by MPI."""

    def __init__(self, meeting: Mpi, index: int):
        self.meeting, self.index, self.device = meeting, index, f"cuda:{index}"
        self.rank, self.size = meeting.rank, meeting.size
        self._cp = cupy.need()
        from cupy.cuda import nccl

        with self._cp.cuda.Device(index):
            name = meeting.comm.bcast(nccl.get_unique_id() if meeting.rank == 0 else None, 0)
            self.comm = nccl.NcclCommunicator(self.size, name, self.rank)
            self.stream = self._cp.cuda.Stream(non_blocking=True)

    def same(self, facts: tuple) -> None:
        self.meeting.same(facts)

    def objects(self, value) -> list:
        return self.meeting.objects(value)

    def all_reduce(self, array, op: str):
        sent = self._ready(array)
        out = self._cp.empty_like(sent)
        return self._run(self.comm.allReduce, sent.data.ptr, out.data.ptr, sent.size, *self._kind(sent, op), out=out)

    def reduce_scatter(self, array, op: str):
        sent = self._ready(array)
        out = self._cp.empty(sent.shape[1:], sent.dtype)
        return self._run(self.comm.reduceScatter, sent.data.ptr, out.data.ptr, out.size, *self._kind(sent, op), out=out)

    def all_gather(self, array):
        sent = self._ready(array)
        out = self._cp.empty((self.size, *sent.shape), sent.dtype)
        kind = self._kind(sent)
        return self._run(self.comm.allGather, sent.data.ptr, out.data.ptr, sent.size, *kind, out=out)

    def broadcast(self, array, source: int):
        out = self._ready(array).copy()
        return self._run(self.comm.bcast, out.data.ptr, out.size, *self._kind(out), source, out=out)

    def send(self, array, to: int, tag: int) -> None:
        sent = self._ready(array)
        self._run(self.comm.send, sent.data.ptr, sent.size, *self._kind(sent), to, out=None)

    def receive(self, array, source: int | None, tag: int):
        if source is None:
            raise RuntimeError("nccl receives from a rank that is named: give src=.")
        out = self._cp.empty(array.shape, array.dtype)
        return self._run(self.comm.recv, out.data.ptr, out.size, *self._kind(out), source, out=out), source

    def barrier(self) -> None:
        self.meeting.barrier()

    def split(self, ranks: list[int]) -> "Nccl | None":
        meeting = self.meeting.split(ranks)
        return None if meeting is None else Nccl(meeting, self.index)

    def host(self, tensor):
        """What of a tensor travels: its window, which must lie on this rank's GPU."""
        if str(tensor._device) != self.device:
            raise ValueError(
                f"nccl carries tensors of {self.device} on rank {self.rank}: got one on {tensor._device}. Move it with "
                f".to({self.device!r})."
            )
        return tensor.window

    def put(self, tensor, array) -> None:
        tensor.window[...] = array

    def close(self) -> None:
        self.comm.destroy()
        self.meeting.close()

    def abort(self) -> None:
        self.meeting.abort()

    def _ready(self, array):
        """Contiguous, and all that makes it done: the collective runs on a stream of its own."""
        with self._cp.cuda.Device(self.index):
            made = self._cp.ascontiguousarray(array)
            self._cp.cuda.get_current_stream().synchronize()
        return made

    def _kind(self, array, op: str | None = None) -> tuple:
        name = str(array.dtype)
        if name not in _TYPES:
            raise RuntimeError(f"nccl has no {name}: convert the tensor first.")
        if op is not None and op not in _OPS:
            raise ValueError(f"nccl cannot combine with {op}.")
        return (_TYPES[name],) if op is None else (_TYPES[name], _OPS[op])

    def _run(self, fn, *args, out):
        with self._cp.cuda.Device(self.index):
            fn(*args, self.stream.ptr)
            self.stream.synchronize()
        return out
