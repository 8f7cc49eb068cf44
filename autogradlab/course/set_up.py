"""Making the environment: .venv, from requirements.lock, with plain pip or with uv. Standard library only.

course.py loads this file by its path, before anything is installed. Three files in .venv tell how far a set-up came:
`course-made-this` is written first (an environment with it may be made anew), `course-set-up` last (an environment
without it is not finished), and `set-up.log` holds what the installers said.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
LOCK = ROOT / "requirements.lock"
OURS, STAMP, LOG = VENV / "course-made-this", VENV / "course-set-up", VENV / "set-up.log"
MEGABYTES = 1500  # what a new environment takes while it is being made
ON_ERROR = "onexc" if sys.version_info >= (3, 12) else "onerror"  # of shutil.rmtree
AGAIN = "then run the same command again."

# What a user sets to reach a package index stays; anything else could send packages to another place.
KEEPS = re.compile(
    "PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY|TIMEOUT|DEFAULT_TIMEOUT|"
    "RETRIES|CACHE_DIR|NO_CACHE_DIR|CONFIG_FILE|KEYRING_PROVIDER)"
    "|UV_(INDEX|INDEX_.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|INSECURE_HOST|CACHE_DIR|LINK_MODE|"
    "NATIVE_TLS|SYSTEM_CERTS|HTTP_TIMEOUT|CONFIG_FILE|KEYRING_PROVIDER|OFFLINE)"
    "|PYTHON(UNBUFFERED|DONTWRITEBYTECODE|UTF8|IOENCODING|PYCACHEPREFIX)"
)
DROPS = ("PIP_", "UV_", "PYTHON", "JUPYTER_", "IPYTHON", "__PYVENV", "VIRTUAL_ENV", "CONDA_PREFIX", "MPL")

# What notebooks and tests run with, so that they come out the same everywhere.
REPEATABLE = {
    "AUTOGRADLAB_ACCELERATOR": "sim",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}

# What an installer's output says about the cause, and what to do about it.
CAUSES = (
    (
        "No space left|Errno 28|not enough space|os error 28",
        f"the disk is full: set-up needs about {MEGABYTES} MB in {ROOT} and in the temporary folder. "
        f"Free some space, {AGAIN}",
    ),
    (
        "File too large|Errno 27|os error 27",
        f"a file-size limit was hit. Lift it (ulimit -f unlimited), {AGAIN}",
    ),
    (
        "DO NOT MATCH THE HASHES|Hash mismatch",
        "a downloaded file is not the one the lock names: a damaged download, or a mirror that alters files. "
        "Run the same command again; if it stays so, use another package index (PIP_INDEX_URL).",
    ),
    (
        "CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate",
        "the package index's certificate was not accepted. Behind a company proxy, name its certificate file in "
        f"PIP_CERT, {AGAIN}",
    ),
    (
        "NewConnectionError|ConnectTimeout|ReadTimeout|getaddrinfo|name resolution|Name or service not known|"
        "Network is unreachable|Connection refused|Connection reset|ProxyError|error sending request|dns error|"
        "Connection aborted|No route to host|from versions: none",
        f"no package index could be reached. Connect to the network (or set HTTPS_PROXY or PIP_INDEX_URL), {AGAIN}",
    ),
    (
        "Permission denied|Read-only file system|Access is denied",
        f"no permission to write. Copy the course to a folder of your own, {AGAIN}",
    ),
    (
        "No matching distribution|has no wheels|Failed to build|Failed building|not a supported wheel",
        "a package has no ready-made build for this Python and machine. Tried are Python 3.11, 3.12 and 3.13 on 64-bit "
        "Linux, macOS and Windows: delete .venv, then run course.py with one of those.",
    ),
)


class Stop(Exception):
    """The door cannot go on; the text says why and what to do."""


def environment(python: Path) -> dict[str, str]:
    """The variables every child runs with: the environment's own Python, kernel and configuration, nobody else's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(DROPS) or KEEPS.fullmatch(name)}
    env["PATH"] = os.pathsep.join([str(python.parent), env.get("PATH", os.defpath)])
    env |= {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONNOUSERSITE": "1", "JUPYTER_PREFER_ENV_PATH": "1"}
    if python == PYTHON:
        env["VIRTUAL_ENV"] = str(VENV)
    # JupyterLab without news, and without the parts of nbgrader that course.py stands for.
    env["JUPYTER_CONFIG_PATH"] = str(Path(__file__).with_name("jupyter"))
    if os.access(ROOT, os.W_OK):
        home = ROOT / ".jupyter"
        home.mkdir(exist_ok=True)
        env |= {f"JUPYTER_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "data", "runtime")}
        env |= {"IPYTHONDIR": str(home / "ipython"), "MPLCONFIGDIR": str(home / "matplotlib")}
    return env


def set_up() -> None:
    """Make .venv from the lock, unless it is there and finished."""
    if not LOCK.exists() or not (ROOT / "pyproject.toml").exists():
        raise Stop(f"{ROOT} lacks requirements.lock or pyproject.toml: run course.py from a whole copy of the course.")
    if is_finished():
        return
    with take_turn() as guard:
        if not is_finished():  # another run may have done it while this one waited
            make_environment(guard)


def inputs() -> list[str]:
    """What the environment is made from: this folder, which its scripts name, the lock, and what pyproject installs."""
    digest = hashlib.sha256(LOCK.read_bytes().replace(b"\r\n", b"\n"))
    try:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    except ValueError as error:
        raise Stop(f"pyproject.toml cannot be read: {error}. Restore it from a fresh copy of the course.") from None
    digest.update(repr([project.get(table) for table in ("build-system", "project")]).encode())
    return [str(ROOT), digest.hexdigest()]


def stamp() -> list[str] | None:
    """The inputs the environment was last finished with, if it was."""
    try:
        return STAMP.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None


def is_finished() -> bool:
    return stamp() == inputs() and venv_version() is not None


def venv_version() -> tuple[int, int] | None:
    """The version of the Python in .venv, or None if it does not start or is another folder's."""
    show = "import sys; print(sys.version_info[0], sys.version_info[1], sys.prefix)"
    try:
        out = subprocess.check_output([PYTHON, "-I", "-c", show], stderr=subprocess.DEVNULL, timeout=60)
        major, minor, prefix = os.fsdecode(out).strip().split(" ", 2)
        return (int(major), int(minor)) if os.path.samefile(prefix, VENV) else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def take_turn():
    """Hold the set-up's lock file until it is closed or this process ends; wait for another run that holds it."""
    path = ROOT / ".venv.lock"
    try:
        file = path.open("a")
    except OSError as error:
        why = f"cannot write in {ROOT} ({error.strerror})"
        raise Stop(f"{why}. Copy the course to a folder of your own, {AGAIN}") from None
    said = False
    while True:
        try:
            hold(file)
            return file
        except (BlockingIOError, PermissionError):
            if not said:
                print("Another run is setting up .venv; waiting for it.", flush=True)
            said = True
            time.sleep(0.5)
        except OSError:
            return file  # a file system without locks: go on unguarded


def hold(file) -> None:
    if WINDOWS:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def make_environment(guard) -> None:
    began, uv = time.time(), shutil.which("uv")
    if needs_creating():
        create(uv, guard)
    STAMP.unlink(missing_ok=True)
    packages = len(re.findall("^[^ ]+==", LOCK.read_text(encoding="utf-8"), re.MULTILINE))
    install(f"installing up to {packages} packages", ["--require-hashes", "-r", str(LOCK)], uv, guard)
    # What pip does on one core at a time; a file that does not compile is nobody's import here.
    step("compiling them", [PYTHON, "-m", "compileall", "-qq", "-j0", "-x", r"[\\/]tests?[\\/]", VENV / "lib"], guard)
    install("installing autogradlab from this folder", ["--no-build-isolation", "-e", str(ROOT)], uv, guard)
    # Else a notebook's first picture may come with a warning that Matplotlib looks for fonts.
    look = "import importlib.util as u; u.find_spec('matplotlib') and __import__('matplotlib.font_manager')"
    step("looking for fonts", [PYTHON, "-c", look], guard)
    new = STAMP.with_suffix(".new")
    new.write_text("\n".join(inputs()) + "\n", encoding="utf-8")
    os.replace(new, STAMP)
    print(f"The environment is ready ({time.time() - began:.0f} s).", flush=True)


def needs_creating() -> bool:
    """Look at what is at .venv. True: nothing is there (any more). False: an environment to install into."""
    if not os.path.lexists(VENV) or (VENV.is_dir() and not any(VENV.iterdir())):
        if not os.path.lexists(VENV):
            remove(VENV)  # what a killed removal left
        return True
    finished, version = stamp(), venv_version()
    home = finished[0] if finished else None
    if version and version >= OLDEST and (home == str(ROOT) or not OURS.exists()):
        if version != sys.version_info[:2]:
            theirs, this = ("{}.{}".format(*v) for v in (version, sys.version_info))
            print(f".venv uses Python {theirs}, and is kept. To use {this}: delete .venv, then run this again.")
        return False
    if OURS.exists():
        why = "was not finished" if not home else "does not work" if home == str(ROOT) else f"belongs to {home}"
        print(f".venv {why}: making it anew.", flush=True)
        remove(VENV)
        return True
    if (VENV / "pyvenv.cfg").exists():
        why = "was not made by course.py, and its Python is too old or does not start"
        raise Stop(f"{VENV} {why}. Delete that folder, {AGAIN}")
    raise Stop(f"{VENV} is in the way: it is no Python environment. Move it away, {AGAIN}")


def remove(folder: Path) -> None:
    """Rename, then delete: a run killed halfway leaves a name that the next run deletes without asking."""

    def make_writable(function, name, _):
        os.chmod(name, stat.S_IRWXU)
        function(name)

    doomed = folder.with_name(folder.name + ".removing")
    try:
        if os.path.lexists(doomed):
            shutil.rmtree(doomed, **{ON_ERROR: make_writable})
        if os.path.lexists(folder):
            folder.rename(doomed)
            shutil.rmtree(doomed, **{ON_ERROR: make_writable})
    except OSError as error:
        fix = f"Close what uses it (a running JupyterLab?), delete that folder, {AGAIN}"
        raise Stop(f"cannot remove {folder} ({error.strerror}). {fix}") from None


def create(uv: str | None, guard) -> None:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if "venv" in missing or (missing and not uv):
        fix = "Install Python from https://www.python.org/downloads/"
        if Path("/etc/debian_version").exists():
            fix = "Run: sudo apt install python{}.{}-venv".format(*sys.version_info)
        raise Stop(f"this Python ({sys.executable}) comes without its module {missing[0]}. {fix}, {AGAIN}")
    free = shutil.disk_usage(ROOT).free // 2**20
    if free < MEGABYTES:
        raise Stop(f"{free} MB are free in {ROOT}; set-up needs about {MEGABYTES} MB. Free some space, {AGAIN}")
    VENV.mkdir(exist_ok=True)
    OURS.write_text("This folder is made by course.py, which may delete it and make it anew.\n")
    # Started from inside .venv itself, sys.executable may just have been removed.
    base = getattr(sys, "_base_executable", None) or sys.executable
    pip = ["--without-pip"] if missing else []
    label = "creating .venv with Python {}.{}.{}".format(*sys.version_info)
    code, output = step(label, [base, "-m", "venv", *pip, VENV], guard)
    if code:
        raise Stop(explained(output))


def install(label: str, what: list[str], uv: str | None, guard) -> None:
    """Install with uv where there is one, with the environment's pip otherwise, or where uv could not."""
    if uv:
        code, output = step(f"{label}, with uv", [uv, "pip", "install", "--python", PYTHON, "--no-deps", *what], guard)
        if code == 0:
            return
        if not any(BIN.glob("pip*")):
            raise Stop(explained(output))
    pip = [PYTHON, "-m", "pip", "install", "--no-deps", "--no-compile", "--no-warn-script-location"]
    code, output = step(label, [*pip, "--progress-bar=off", *what], guard)
    if code:
        raise Stop(explained(output))


def step(label: str, command: list, guard) -> tuple[int, str]:
    """Run a command quietly, with one line on the screen. Returns its exit status and its output."""
    began, lines, seen = time.time(), [], 0
    print(f"  {label} ...", end="", flush=True)
    # The child holds the lock file too: if this process is killed, the next run waits for the child to end.
    keep = {} if WINDOWS else {"pass_fds": (guard.fileno(),)}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=ROOT, env=environment(PYTHON), **pipes, **keep) as child:
        for raw in child.stdout:
            lines.append(raw.decode("utf-8", "replace"))
            seen += lines[-1].startswith("Collecting ")
            if seen and sys.stdout.isatty():
                print(f"\r  {label} ... {seen}", end="", flush=True)
    print(f" {'failed' if child.returncode else 'done'}, {time.time() - began:.0f} s", flush=True)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(map(str, command))}\n{''.join(lines)}\n")
    return child.returncode, "".join(lines)


def explained(output: str) -> str:
    """Turn an installer's output into one line with the fix."""
    for pattern, meaning in CAUSES:
        if re.search(pattern, output):
            return f"set-up failed: {meaning} (What the installer said: {LOG})"
    end = "\n".join(output.splitlines()[-15:])
    return f"set-up failed. Mend what the end of the installer's output names, {AGAIN} All of it: {LOG}\n{end}"
