"""Running grading jobs side by side, each in a process of its own."""

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import forkserver
from multiprocessing.connection import wait

import psutil

WORKER = "autogradlab.course.warm"


def context() -> multiprocessing.context.BaseContext:
    """How processes are started: forked from a server that has imported nbgrader once, where the system can fork."""
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")


def warm_up() -> None:
    """Let the fork server import nbgrader while this process does the same."""
    if context().get_start_method() == "forkserver":
        context().set_forkserver_preload([WORKER])
        forkserver.ensure_running()


def run_all(work: Callable, jobs: Iterable, at_once: int) -> Iterator:
    """Run work(job) for each job; yield a job as it ends, however it ended. Leaving early ends those that still run.

    A job has .patience, the seconds after which its process has surely hung.
    """
    waiting, running = iter(jobs), {}
    try:
        while True:
            while len(running) < at_once and (job := next(waiting, None)) is not None:
                process = context().Process(target=work, args=(job,))
                process.start()
                running[process.sentinel] = process, job, time.monotonic() + job.patience + 10
            if not running:
                return
            for sentinel in wait(list(running), timeout=1):
                process, job, _ = running.pop(sentinel)
                process.join()
                yield job
            for process, _, until in running.values():
                if time.monotonic() > until:
                    _end(process)
    finally:
        for process, _, _ in running.values():
            _end(process)


def _end(process: multiprocessing.Process) -> None:
    """End the process and everything below it."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    process.kill()
