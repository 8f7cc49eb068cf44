"""Writing files so that a full disk, a size limit or a kill in the middle leaves the old state or the new one."""

import contextlib
import os
import secrets
from pathlib import Path

from .places import Stop

PARTIAL = ".partial-"  # the name of a half-written file starts with this; nothing ever reads one


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


def sweep(folder: Path) -> None:
    """Remove what an interrupted write left in this folder."""
    for path in folder.glob(f"{PARTIAL}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def cannot_write(path: Path, error: OSError) -> Stop:
    """Why nothing was written, in words."""
    return Stop(
        f"could not write {path}: {error.strerror or error}. Nothing that was there has changed. "
        "Make room, or lift the limit, and run the same command again."
    )


def _partial_name(path: Path) -> Path:
    return path.with_name(f"{PARTIAL}{secrets.token_hex(4)}-{path.name}")


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
