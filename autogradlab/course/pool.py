"""Running grading jobs side by side, each in a process of its own."""

import contextlib
import multiprocessing
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait

import psutil

from .grade_worker import Job, work


def run_all(jobs: Iterable[Job], at_once: int) -> Iterator[Job]:
    """Run the jobs; yield each as it ends, however it ended. Leaving the loop early ends those that still run."""
    methods = multiprocessing.get_all_start_methods()
    # A fork server has imported nbgrader once; a process forked from it starts in milliseconds instead of seconds.
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["autogradlab.course.grade_worker"])
    waiting, running = iter(jobs), {}
    try:
        while True:
            while len(running) < at_once and (job := next(waiting, None)) is not None:
                process = context.Process(target=work, args=(job,))
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
