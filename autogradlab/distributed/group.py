"""The process group: who takes part, and a thread that carries out what they do together, in order.

A collective is handed to the thread and runs while the program goes on, as it would on a stream of a GPU; a Work says
when it is done.  All ranks must call the same collectives in the same order: the ranks compare what they are about to
do, so that a difference is an error on every rank and not a wait without end.
"""

import datetime
import queue
import sys
import threading
import time

from autogradlab.modes import recording
from autogradlab.tensor import Tensor

BACKENDS = ("mpi", "nccl")
USUAL_TIMEOUT = datetime.timedelta(minutes=30)


class Work:
    """A collective under way.  began, ended: by time.perf_counter(), for timelines."""

    def __init__(self, name: str, run, finish=None):
        self.name, self._run, self._finish = name, run, finish
        self._over, self._error = threading.Event(), None
        self._settled = False
        self.began = self.ended = None

    def carry_out(self) -> None:
        """Run it, on the group's thread."""
        self.began = time.perf_counter()
        try:
            self._run()
        except BaseException as error:  # it is the waiting thread's to see
            self._error = error
        self.ended = time.perf_counter()
        self._run = None
        self._over.set()

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        """Wait until it is done and its tensors hold the result."""
        if not self._over.wait(None if timeout is None else timeout.total_seconds()):
            raise RuntimeError(f"{self.name}: not done within {timeout}.")
        if not self._settled:
            self._settled = True
            if self._error is None and self._finish is not None:
                with recording(False):
                    self._finish()
            self._finish = None
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether it is done; wait() then returns at once."""
        return self._over.is_set()

    def exception(self):
        """What went wrong, or None."""
        return self._error


class ProcessGroup:
    """Ranks that work together.  transport: how arrays travel (mpi.py, nccl.py); ranks: their numbers in the world."""

    def __init__(self, name: str, transport, ranks: list[int], timeout: datetime.timedelta):
        self.name, self.transport, self.ranks, self.timeout = name, transport, ranks, timeout
        self.rank, self.size = transport.rank, transport.size
        self._todo: queue.SimpleQueue = queue.SimpleQueue()
        self._thread, self.destroyed = None, False

    def submit(self, work: Work) -> Work:
        """Hand a collective to the thread."""
        if self.destroyed:
            raise ValueError(f"{work.name}: the process group was destroyed; make another with init_process_group().")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="autogradlab-collectives", daemon=True)
            self._thread.start()
        self._todo.put(work)
        return work

    def _serve(self) -> None:
        while (work := self._todo.get()) is not None:
            work.carry_out()

    def close(self) -> None:
        """End the thread after what it was handed."""
        if self._thread is not None:
            self._todo.put(None)
            self._thread.join()
            self._thread = None

    def local(self, rank: int) -> int:
        """A rank of the world as its number in this group."""
        if rank not in self.ranks:
            raise ValueError(f"rank {rank} is not part of the group of ranks {self.ranks}.")
        return self.ranks.index(rank)


class GroupMember:
    """What stands for a group where there is none to name.  (None means the default group.)"""

    NON_GROUP_MEMBER = -100  # what new_group() gives to a rank that is not in the group


class _World:
    """The default group of this process, and what was replaced to make it."""

    group: ProcessGroup | None = None
    hook = None


def group_of(group) -> ProcessGroup:
    """A group as it was given to a function; None stands for the default one."""
    if group is not None and not isinstance(group, ProcessGroup):
        left_out = " (this rank is not in that group)" if group == GroupMember.NON_GROUP_MEMBER else ""
        raise TypeError(f"expected a process group, such as new_group() gives, or None, got {group!r}{left_out}.")
    return default() if group is None else group


def default() -> ProcessGroup:
    """The default group; ValueError before init_process_group."""
    if _World.group is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _World.group


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout=None, world_size: int = -1,
                       rank: int = -1, store=None, group_name: str = "", pg_options=None,
                       device_id=None) -> None:  # fmt: skip
    """Make the default group of all ranks that `mpiexec -n N python -m mpi4py script.py` started.

    backend: "mpi" (arrays of the host; others travel by way of it) or "nccl" (GPUs).  timeout: after which a collective
    that other ranks do not join is an error (30 minutes).  rank and world_size are MPI's; given, they must agree.
    https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
    """
    if _World.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    backend = "mpi" if backend is None else str(backend).lower()
    if backend not in BACKENDS:
        hint = ": its place is taken by mpi here" if backend == "gloo" else ""
        raise ValueError(f"Unknown backend {backend!r}{hint}; choose one of {', '.join(BACKENDS)}.")
    timeout = USUAL_TIMEOUT if timeout is None else timeout
    if not isinstance(timeout, datetime.timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}.")
    from . import mpi

    transport = mpi.world(timeout)
    if backend == "nccl":
        from . import nccl

        transport = nccl.world(transport, device_id)
    for name, given, real in (("rank", rank, transport.rank), ("world_size", world_size, transport.size)):
        if given not in (-1, real):
            raise ValueError(f"{name}={given} was given, but this process runs with {name} {real}: leave it out.")
    _World.group = ProcessGroup(backend, transport, list(range(transport.size)), timeout)
    _World.hook, sys.excepthook = sys.excepthook, _end_all


def _end_all(kind, error, trace) -> None:
    """An error nobody caught ends all ranks, with its message: the others would wait for this one."""
    (_World.hook or sys.__excepthook__)(kind, error, trace)
    group = _World.group
    if group is not None and group.size > 1:
        print(f"rank {group.rank} ended with {kind.__name__}: all ranks end.", file=sys.stderr, flush=True)
        group.transport.abort()


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, by default the default one."""
    ended = group_of(group)
    if ended.destroyed:
        raise ValueError("destroy_process_group(): this group was destroyed before.")
    ended.close()
    ended.transport.close()
    ended.destroyed = True
    if ended is _World.group:
        sys.excepthook, _World.hook, _World.group = _World.hook, None, None


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _World.group is not None


def new_group(ranks: list[int] | None = None, timeout=None, backend=None) -> ProcessGroup | int:
    """A group of some ranks; every rank of the world calls this, those left out get GroupMember.NON_GROUP_MEMBER.

    A collective on that does nothing but warn, as in PyTorch: all ranks may run the same lines.
    """
    world = default()
    ranks = sorted(world.ranks if ranks is None else ranks)
    if not ranks or any(r not in world.ranks for r in ranks) or len(set(ranks)) != len(ranks):
        raise ValueError(f"new_group(): the ranks must be different ones of 0 to {world.size - 1}, got {ranks}.")
    made: list = []

    def split() -> None:
        world.transport.same(("new_group", ranks))
        made.append(world.transport.split(ranks, timeout or world.timeout))

    world.submit(Work("new_group", split)).wait()
    if made[0] is None:
        return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(world.name, made[0], ranks, timeout or world.timeout)


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number; -1 where it is not in the group."""
    return -1 if group == GroupMember.NON_GROUP_MEMBER else group_of(group).rank


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes there are; -1 where this one is not in the group."""
    return -1 if group == GroupMember.NON_GROUP_MEMBER else group_of(group).size


def get_backend(group: ProcessGroup | None = None) -> str:
    """The group's backend: "mpi" or "nccl"."""
    return group_of(group).name


def is_available() -> bool:
    """Whether mpi4py can be imported here."""
    from . import mpi

    return mpi.problem() is None


def is_mpi_available() -> bool:
    """Whether mpi4py can be imported here."""
    return is_available()


def need_tensor(name: str, value, argument: str = "tensor") -> Tensor:
    """Refuse what is no dense tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): Invalid function argument. Expected parameter `{argument}` of type torch.Tensor but got "
            f"{type(value).__name__}."
        )
    return value
