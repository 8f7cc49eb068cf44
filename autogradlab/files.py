"""Where the course lies, and writing files in it so that nothing is lost.

A full disk, a size limit or a kill in the middle leaves the old state or the new one.
"""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

import psutil

PARTIAL = ".partial-"  # a half-written file is called .partial-PROCESS-...; nothing ever reads one


class Stop(Exception):
    """What was asked for cannot go on; the message says why and what to do."""


def course_root() -> Path:
    """The folder of the course: the one this package lies in, or AUTOGRADLAB_COURSE."""
    return Path(os.environ.get("AUTOGRADLAB_COURSE") or Path(__file__).resolve().parents[1])


def write_atomically(path: Path, data: bytes) -> None:
    """Write data under a temporary name in the same folder, then rename. An existing file is replaced whole."""
    partial = _partial_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(partial, data)
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise cannot_write(path, error) from error


def write_new(path: Path, data: bytes) -> bool:
    """Like write_atomically, but never over an existing file: False if there is one, however late it appeared."""
    partial = _partial_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(partial, data)
        try:
            os.link(partial, path)  # fails, atomically, where the name is taken
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            os.rename(partial, path)
        return True
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def read_plain(path: Path, most: int) -> bytes:
    """The content of a file somebody else put there; OSError where it is a link, a device, a pipe or too large."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link to somewhere else, not a file")
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")]
    with os.fdopen(os.open(path, os.O_RDONLY | sum(flags)), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        if facts.st_size > most:
            raise OSError(errno.EFBIG, f"it has {facts.st_size / 1e6:.0f} MB")
        return file.read()


def lock(path: Path) -> int | None:
    """Hold the file at path until this process ends or closes the descriptor; None if another process holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(held, 2**20, os.SEEK_SET)  # past what is written in it: a locked byte cannot be read
            msvcrt.locking(held, msvcrt.LK_NBLCK, 1)
            os.lseek(held, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def sweep(folder: Path) -> None:
    """Remove what an interrupted write left in this folder; what another process is writing just now stays."""
    for path in folder.glob(f"{PARTIAL}*"):
        writer = path.name.removeprefix(PARTIAL).partition("-")[0]
        if not (writer.isdigit() and psutil.pid_exists(int(writer))):
            with contextlib.suppress(OSError):
                path.unlink()


def cannot_write(path: Path, error: OSError) -> Stop:
    """Why nothing was written, in words."""
    return Stop(
        f"could not write {path}: {error.strerror or error}. Nothing that was there has changed. "
        "Make room, or lift the limit, and run the same command again."
    )


def _partial_name(path: Path) -> Path:
    return path.with_name(f"{PARTIAL}{os.getpid()}-{secrets.token_hex(4)}-{path.name}")


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
