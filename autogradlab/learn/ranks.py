"""Ranks for a notebook: processes that MPI started, and `%%ranks`, which runs a cell on each of them.

    ranks = start_ranks(2)

    %%ranks
    print(dist.get_rank())                # says: rank 0 | 0, and below it: rank 1 | 1

ipyparallel starts them and carries cells to them.  Its own `%%px` prints as things arrive; `%%ranks` in the order of
ranks.  Where ipyparallel or MPI is missing, the cells run here, in a world of one.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import importlib.util
import io
import os
import shutil
import socket
import sys
import tempfile
import warnings
from pathlib import Path

import autogradlab.distributed as dist
from autogradlab.distributed import mpi

HOW = "pip install ipyparallel mpi4py mpich (the course's set-up does)"
PATIENCE = 40  # seconds for the ranks to start
# Run on every rank before anything else.  A rank whose notebook is gone ends, and takes the controller with it: the
# notebook holds the other end of the line, and the system closes it however the notebook's process ends.
PRELUDE = """
def _stay_while_the_notebook_does(port, controller):
    import os, shutil, signal, socket, threading
    line = socket.create_connection(("127.0.0.1", port))
    def wait():
        try:
            line.recv(1)
        except OSError:
            pass
        try:
            os.kill(controller, signal.SIGTERM)
        except OSError:
            pass
        shutil.rmtree({folder!r}, ignore_errors=True)
        os._exit(0)
    threading.Thread(target=wait, daemon=True).start()
import sys
sys.path[:] = {path!r}
_stay_while_the_notebook_does({port}, {controller})
"""


class RankError(Exception):
    """A cell raised on some rank; in a notebook only the ranks' own lines are shown."""

    def _render_traceback_(self) -> list[str]:  # IPython asks for this
        return [f"RankError: {self}"]


def missing() -> str | None:
    """What ranks would need and is not here, or None."""
    for name in ("ipyparallel", "mpi4py"):
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            found = None
        if found is None:
            return name
    return None if shutil.which("mpiexec", path=_path()) else "mpiexec"


def _path() -> str:
    """Where programs are looked for: beside this Python first, as the notebook may run without its environment's."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


class Ranks:
    """Ranks that are running.  Their names are their own: nothing is shared with the notebook but by `pull`."""

    size = 0

    def run(self, source: str) -> None:
        """Run a cell on every rank, and print what each said; RankError if one raised."""
        outcomes = self._run(source)
        for rank, (said, _) in enumerate(outcomes):
            for line in said.rstrip("\n").splitlines():
                print(f"rank {rank} | {line}")
        raised = [f"rank {rank}: {error}" for rank, (_, error) in enumerate(outcomes) if error]
        if raised:
            raise RankError("\n           ".join(raised))

    def pull(self, expression: str) -> list:
        """What an expression is on each rank."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the ranks; a second time does nothing."""
        raise NotImplementedError

    def _run(self, source: str) -> list[tuple[str, str | None]]:
        """(what it printed, its error in words or None) of every rank."""
        raise NotImplementedError


class Started(Ranks):
    """Ranks that mpiexec started, by way of ipyparallel."""

    def __init__(self, n: int):
        self.size, self.stopped = n, False
        self.folder = tempfile.mkdtemp(prefix="autogradlab-ranks-")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.lines: list[socket.socket] = []
        self.cluster = self.client = None
        atexit.register(self.stop)
        try:
            with warnings.catch_warnings():  # such as IPython's, of a home that cannot be written to
                warnings.simplefilter("ignore")
                self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        import ipyparallel

        with _environment():
            self.cluster = ipyparallel.Cluster(
                engines="mpi", n=self.size, log_level=50, profile_dir=self.folder, shutdown_atexit=False
            )
            self.cluster.start_controller_sync()
            port, controller = self.listener.getsockname()[1], self.cluster.controller.pid
            prelude = PRELUDE.format(path=sys.path, folder=self.folder, port=port, controller=controller)
            file = Path(self.folder, "prelude.py")
            file.write_text(prelude, encoding="utf-8")
            # as early as can be: from here on an engine cannot outlive the notebook
            self.cluster.start_engines_sync(engine_args=[f"--IPEngine.startup_script={file}"])
            self.client = self.cluster.connect_client_sync()
            self.client.wait_for_engines(self.size, timeout=PATIENCE, interactive=False)
        self.listener.settimeout(PATIENCE)
        self.lines = [self.listener.accept()[0] for _ in range(self.size)]
        self.listener.close()
        self.view = self.client[:]
        order = self.view.apply_sync(_rank)  # engines have numbers of their own
        self.engines = [self.client[self.client.ids[order.index(r)]] for r in range(self.size)]

    def __repr__(self) -> str:
        return f"{self.size} ranks, started by mpiexec"

    def _need(self) -> None:
        if self.stopped:
            raise RuntimeError("these ranks were stopped: run the cell with start_ranks again.")

    def _run(self, source: str) -> list[tuple[str, str | None]]:
        self._need()
        return [
            self._outcome(a) for a in self._over([e.execute(source, silent=False, block=False) for e in self.engines])
        ]

    def _over(self, answers: list) -> list:
        """The answers, all there.  An interrupt of the notebook goes on to the ranks."""
        while not all(a.ready() for a in answers):
            try:
                answers[0].wait(0.2) if not answers[0].ready() else answers[-1].wait(0.2)
                if not all(self._alive()):
                    self.stop()
                    raise RankError("a rank has ended, and all with it: run the cell with start_ranks again.")
            except KeyboardInterrupt:
                self.cluster.signal_engines_sync(2)
        return answers

    def _alive(self) -> list[bool]:
        return [launcher.running for launcher in self.cluster.engines.values()]

    @staticmethod
    def _outcome(answer) -> tuple[str, str | None]:
        answer.wait_for_output(10)
        try:
            shown = answer.get()
        except Exception as error:  # whatever the cell raised, by name
            return _text(answer.stdout), f"{getattr(error, 'ename', type(error).__name__)}: {_value(error)}"
        last = (getattr(shown, "execute_result", None) or {}).get("data", {}).get("text/plain", "")
        return _text(answer.stdout) + last, None

    def pull(self, expression: str) -> list:
        self._need()
        return [a.get() for a in self._over([e.pull(expression, block=False) for e in self.engines])]

    def stop(self) -> None:
        if self.stopped:
            return
        self.stopped = True
        atexit.unregister(self.stop)
        for line in [*self.lines, self.listener]:  # each rank sees its line go, and ends
            line.close()
        with contextlib.suppress(Exception):
            if self.client is not None:
                self.client.close()
        with contextlib.suppress(Exception):
            if self.cluster is not None:
                self.cluster.stop_cluster_sync()
        shutil.rmtree(self.folder, ignore_errors=True)


def _rank() -> int:
    from mpi4py import MPI

    return MPI.COMM_WORLD.Get_rank()


def _text(said) -> str:
    return "".join(said) if isinstance(said, list) else said or ""


def _value(error) -> str:
    return str(getattr(error, "evalue", error))


@contextlib.contextmanager
def _environment():
    """What the ranks inherit: this Python's programs, and one thread each, as they share the cores."""
    wanted = {"PATH": _path(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


class Alone(Ranks):
    """A world of one in this process, with names of its own."""

    size = 1

    def __init__(self, why: str):
        self.why, self.names = why, {"__name__": "__main__"}
        self.world, mpi.world = mpi.world, lambda timeout: OneProcess()

    def __repr__(self) -> str:
        return f"one process in place of several, as {self.why}. To get them: {HOW}"

    def _run(self, source: str) -> list[tuple[str, str | None]]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                _execute(source, self.names)
            except Exception as error:
                return [(said.getvalue(), f"{type(error).__name__}: {error}")]
        return [(said.getvalue(), None)]

    def pull(self, expression: str) -> list:
        return [eval(expression, self.names)]

    def stop(self) -> None:
        mpi.world = self.world
        self.names = {"__name__": "__main__"}
        if dist.is_initialized() and isinstance(dist.group.default().transport, OneProcess):
            dist.destroy_process_group()


def _execute(source: str, names: dict) -> None:
    """Run a cell; show its last line if it is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<ranks>", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<ranks>", "eval"), names)
        if value is not None:
            print(repr(value))


class OneProcess(mpi.Mpi):
    """How arrays travel where there is nobody else: not at all."""

    def __init__(self):
        self.rank, self.size = 0, 1

    def same(self, facts: tuple) -> None:
        pass

    def objects(self, value) -> list:
        return [value]

    def all_reduce(self, array, op: str):
        return array

    def reduce_scatter(self, array, op: str):
        return array[0]

    def all_gather(self, array):
        return array[None]

    def broadcast(self, array, source: int):
        return array

    def barrier(self) -> None:
        pass

    def split(self, ranks: list[int], timeout) -> OneProcess:
        return OneProcess()

    def close(self) -> None:
        pass


_running: list[Ranks] = []


def start_ranks(n: int = 2) -> Ranks:
    """Start so many processes, and give the notebook `%%ranks`; those of an earlier call end.

    Where they cannot be started, what comes back is a world of one, and says why.
    """
    if type(n) is not int or not 1 <= n <= 16:
        raise ValueError(f"start_ranks: expected 1 to 16 ranks, got {n!r}.")
    while _running:
        _running.pop().stop()
    why = missing()
    if why is None:
        try:
            _running.append(Started(n))
        except Exception as error:  # whatever keeps MPI from starting here: the chapter goes on without
            _running.append(Alone(f"the ranks did not start ({type(error).__name__}: {error})".splitlines()[0]))
    else:
        _running.append(Alone(f"{why} is missing"))
    _offer(_running[-1])
    return _running[-1]


def _offer(ranks: Ranks) -> None:
    """%%ranks, where there is a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.register_magic_function(lambda line, cell: ranks.run(cell), "cell", "ranks")
