"""How far a submission's kernel is kept apart from all else on this machine: as far as the machine allows.

    bubblewrap   no network, no other process, no file but Python's (read-only) and its own folder   (Linux with bwrap)
    namespaces   no network, no other process; files are those of whoever grades                     (Linux)
    none         whatever whoever grades may do, within limits of time, memory and output            (everywhere)

`bwrap` and `unshare` are programs of the system; each is tried once before it is relied on.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .places import Stop

LEVELS = ("bubblewrap", "namespaces", "none")

SAID = {
    "bubblewrap": "Apart (bubblewrap): a submission has no network and sees no file but its own and Python's.",
    "namespaces": "Partly apart: a submission has no network and no other process, but it can read and write your "
    "files. Install bubblewrap to prevent that, or grade strangers' work in a container.",
    "none": "Not apart: a submission runs as you do, with your files and network in its reach. Grade strangers' work "
    "in a container, or on Linux with bubblewrap.",
}

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.conf",
          "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/passwd", "/etc/fonts")  # fmt: skip
ROOM = 64 * 1024**2  # bytes in a /tmp of its own


def strongest(wanted: str = "auto") -> str:
    """The level to be used; Stop if the wanted one does not work here."""
    if wanted == "none" or not sys.platform.startswith("linux"):
        found = "none"
    else:
        found = next((level for level in LEVELS[:2] if wanted in ("auto", level) and _works(level)), "none")
    if wanted not in ("auto", found):
        how = "install bubblewrap" if wanted == "bubblewrap" and not shutil.which("bwrap") else "the system refuses it"
        raise Stop(f"--isolation {wanted} does not work here: {how}. Leave the option out to get what works")
    return found


def command(level: str, program: list[str], home: Path, library: Path) -> list[str]:
    """The command line that runs program at this level; home is its own folder, library the package it imports."""
    if level == "bubblewrap":
        return [*_bubblewrap(home, library), "--", *program]
    if level == "namespaces":
        return [
            *("unshare", "--user", "--map-current-user", "--net", "--ipc", "--pid", "--mount-proc"),
            *("--fork", "--kill-child=KILL", "--", *program),
        ]
    return program


def _bubblewrap(home: Path, library: Path) -> list[str]:
    line = ["bwrap", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--unsetenv", "JPY_PARENT_PID"]
    for path in SYSTEM:
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        else:
            line += ["--ro-bind-try", path, path]
    line += ["--proc", "/proc", "--dev", "/dev", "--size", str(ROOM), "--tmpfs", "/tmp"]
    # What follows may lie in /tmp, so it comes after it.
    for path in dict.fromkeys((sys.base_prefix, sys.prefix, str(library))):
        line += ["--ro-bind", path, path]
    line += ["--bind", str(home), str(home), "--chdir", str(home)]
    return [*line, "--remount-ro", "/", "--remount-ro", "/dev"]  # or they would take what memory there is


def _works(level: str) -> bool:
    """Whether Python starts at this level and can talk to nobody."""
    with tempfile.TemporaryDirectory(prefix="autogradlab-") as folder:
        program = [sys.executable, "-I", "-c", "import zmq"]
        try:
            tried = subprocess.run(
                command(level, program, Path(folder), Path(folder)), capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return tried.returncode == 0
