"""Watching over a submission's processes from a thread of the worker: time, memory, processes, what is written."""

import contextlib
import os
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

PROCESSES = 100
FILES = 10_000
EVERY = 0.4  # seconds


@dataclass(frozen=True)
class Limits:
    """What a submission may use; memory and disk in bytes."""

    cell_seconds: float = 10
    all_seconds: float = 60
    memory: int = 2 * 1024**3
    disk: int = 100 * 1024**2

    @property
    def patience(self) -> float:
        """Seconds after which whatever grades it has hung."""
        return self.all_seconds + 60


class Watch(threading.Thread):
    """Ends what this process has started when it is too much, and this process too when nobody waits for it."""

    def __init__(self, limits: Limits, folder: Path, parent: int) -> None:
        super().__init__(daemon=True)
        self.limits, self.folder, self.parent = limits, folder, parent
        self.busy = 0.0  # seconds that the notebook itself has taken
        self._to_disk = f"It wrote more than {limits.disk / 1024**2:g} MB to disk and was stopped."
        self.ending = threading.Lock()  # held while processes are ended: no time to start one
        self._reason: str | None = None

    def run(self) -> None:
        until = time.monotonic() + self.limits.patience
        while time.monotonic() < until and psutil.pid_exists(self.parent):
            if reason := self._too_much():
                with self.ending:
                    self._reason = reason
                    end_children()
                    if reason == self._to_disk:
                        shutil.rmtree(self.folder, ignore_errors=True)
                        self.folder.mkdir(exist_ok=True)
            time.sleep(EVERY)

        end_children()
        os._exit(1)

    def reason(self) -> str | None:
        """Why the processes were ended last, if it was this watch that did it; told once."""
        with self.ending:
            reason, self._reason = self._reason, None
        return reason

    def _too_much(self) -> str | None:
        memory = written = 0
        processes = psutil.Process().children(recursive=True)
        for process in processes:
            with contextlib.suppress(psutil.Error, AttributeError, OSError):
                memory += process.memory_info().rss
                written += process.io_counters().write_bytes  # not everywhere
        if len(processes) > PROCESSES:
            return f"It started more than {PROCESSES} processes and was stopped."
        if memory > self.limits.memory and (len(processes) == 1 or _unshared(processes) > self.limits.memory):
            return f"It used more than {self.limits.memory / 1024**3:g} GB of memory and was stopped."
        if written > self.limits.disk or _size(self.folder, self.limits.disk) > self.limits.disk:
            return self._to_disk
        return None


def _unshared(processes: list[psutil.Process]) -> int:
    """The memory of several processes, what they share counted once where the system tells."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            full = process.memory_full_info()
            total += getattr(full, "pss", full.uss)
    return total


def _size(folder: Path, most: int) -> int:
    """The bytes below a folder; more than `most` as soon as that is sure, or where there are too many files."""
    total, count, waiting = 0, 0, [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
                if total > most or count > FILES:
                    return most + 1
    return total


def end_children() -> None:
    """End all processes below this one, and those that they start meanwhile."""
    for _ in range(20):
        children = [child for child in psutil.Process().children(recursive=True) if _alive(child)]
        if not children:
            return
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(children, timeout=0.2)


def end_all_of(folder: Path) -> None:
    """End the processes that work in a folder, or name it in their environment: their worker cannot any more."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if str(folder) in process.environ().get("PYTHONPATH", "") or Path(process.cwd()).is_relative_to(folder):
                process.kill()


def _alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False
