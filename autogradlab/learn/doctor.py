"""Can the course run here? One line for each thing it needs, with the fix where something is missing.

Standard library only, and started by its path, so that it can speak where nothing is installed yet.
Exit status 0: the course runs (what is optional may be missing). 1: it does not.
"""

import argparse
import ctypes
import importlib.metadata
import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOOR = "python3 course.py lab" if os.name != "nt" else "python course.py lab"


class Finding(NamedTuple):
    """state: "ok", "optional" (missing, and the course runs without it) or "missing"."""

    state: str
    text: str
    fix: str = ""


def version_of(package: str) -> tuple[int, ...] | None:
    """The installed version's leading numbers, or None. Nothing is imported."""
    try:
        text = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def pip(*packages: str) -> str:
    """How to add an optional package to the environment; where there is no environment yet, that comes first."""
    if version_of("jupyterlab") is None:
        return f"Run first: {DOOR}"
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"Run: {python} -m pip install {' '.join(packages)}"


def installed(*packages: str, fix: str = f"Run: {DOOR}") -> Finding:
    versions = {package: version_of(package) for package in packages}
    absent = [package for package, version in versions.items() if version is None]
    if absent:
        return Finding("missing", f"{', '.join(absent)} not installed", fix)
    return Finding("ok", ", ".join(f"{name} {'.'.join(map(str, v))}" for name, v in versions.items()))


def run_quietly(command: list[str], stdin: str = "", seconds: float = 60) -> tuple[bool, str]:
    """Whether the command succeeded, and the last line it wrote."""
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, errors="replace", timeout=seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else ""


def run_python(program: str) -> tuple[bool, str]:
    """Like run_quietly, in a process of its own: what is broken there must not stop the doctor."""
    return run_quietly([sys.executable, "-P", "-c", program])


def check_python() -> Finding:
    text = f"{'.'.join(map(str, sys.version_info[:3]))}, {struct.calcsize('P') * 8} bits, {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036  (the doctor may be started by any Python)
        return Finding("missing", text, "Install Python 3.11 or newer: https://www.python.org/downloads/")
    return Finding("ok", text)


def check_jupyter() -> Finding:
    return installed("jupyterlab", "ipykernel")


def check_kernel() -> Finding:
    """A notebook's kernel must be this environment's Python, not one that some other installation registered."""
    if importlib.util.find_spec("jupyter_client") is None:
        return Finding("missing", "jupyter_client not installed", f"Run: {DOOR}")
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        return Finding("missing", "there is no kernel named python3", f"Run: {DOOR}")
    # A bare "python" means: the Python that runs Jupyter.
    python = spec.argv[0]
    if python not in ("python", "python3") and not _same_environment(python):
        fix = f"Run: {DOOR}   (or remove that kernel: jupyter kernelspec remove python3)"
        return Finding("missing", f"notebooks would run in {python}, not here", fix)
    return Finding("ok", f"notebooks run in {sys.prefix}")


def _same_environment(python: str) -> bool:
    # Not resolved: an environment's python is a link to the one it was made from.
    return Path(os.path.abspath(python)).parent == Path(os.path.abspath(sys.executable)).parent


def check_numpy() -> Finding:
    found = installed("numpy", "ml_dtypes")
    if found.state == "ok" and not (2,) <= version_of("numpy") < (2, 6):
        return Finding("missing", f"{found.text}; NumPy from 2.0 to 2.5 is needed", f"Run: {DOOR}")
    if found.state == "ok":
        works, said = run_python("import numpy, ml_dtypes; numpy.ones(2) @ numpy.ones(2)")
        if not works:
            return Finding("missing", f"NumPy does not start: {said}", f"Delete .venv, then run: {DOOR}")
    return found


def check_engine() -> Finding:
    """The engine differentiates x * x at 3."""
    program = (
        "import autogradlab as t; x = t.tensor(3.0, requires_grad=True); (x * x).backward();"
        "print(t.__file__ if x.grad.item() == 6 else 1 / 0)"
    )
    works, said = run_python(program)
    if not works:
        return Finding("missing", f"autogradlab does not run: {said}", f"Run: {DOOR}   (in a whole copy of the course)")
    if not Path(said).resolve().is_relative_to(ROOT):
        fix = pip("--no-deps", "-e", f'"{ROOT}"')
        return Finding("missing", f"autogradlab comes from {said}, not from {ROOT}", fix)
    return Finding("ok", "autogradlab differentiates x * x")


def check_pictures() -> Finding:
    dot = shutil.which("dot")
    if dot:
        works, said = run_quietly([dot, "-Tsvg"], stdin="digraph { a -> b }")
        if works:
            return Finding("ok", f"drawn by {dot}")
    if version_of("pygraphviz"):
        program = "import pygraphviz; pygraphviz.AGraph('digraph { a -> b }').draw(format='svg', prog='dot')"
        works, said = run_python(program)
        if works:
            return Finding("ok", "drawn by pygraphviz, which carries Graphviz")
    trouble = f"Graphviz does not work ({said})" if dot or version_of("pygraphviz") else "Graphviz is not installed"
    return Finding("optional", f"{trouble}: graphs are shown as text", pip("pygraphviz"))


def check_widgets() -> Finding:
    found = installed("ipywidgets", "jupyterlab_widgets")
    manager = Path(sys.prefix, "share", "jupyter", "labextensions", "@jupyter-widgets", "jupyterlab-manager")
    if found.state == "ok" and not manager.is_dir():
        return Finding("missing", f"JupyterLab's part of them is not in {manager}", f"Delete .venv, then run: {DOOR}")
    return found


def cuda_driver() -> tuple[int, int] | None:
    """The newest CUDA version the installed NVIDIA driver can run, or None where there is no driver."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        number = ctypes.c_int()
        if driver.cuDriverGetVersion(ctypes.byref(number)) != 0:
            return None
    except (OSError, AttributeError):
        return None
    return (number.value // 1000, number.value % 1000 // 10)


def check_cupy() -> Finding:
    driver = cuda_driver()
    if importlib.util.find_spec("cupy") is None:
        text = "not installed; the simulated accelerator stands in"
        if driver is None:
            return Finding("optional", f"{text} (no NVIDIA driver here)")
        which = "cupy-cuda13x" if driver >= (13, 0) else "cupy-cuda12x"
        text = f"{text}, though the driver runs CUDA {driver[0]}.{driver[1]}"
        return Finding("optional", text, pip(f'"{which}[ctk]"'))
    show = "import cupy as c; r = c.cuda.runtime; print(c.__version__, r.runtimeGetVersion(), c.cuda.is_available())"
    works, said = run_python(show)
    if not works or len(said.split()) != 3:
        return Finding("optional", f"installed, but does not start: {said}", pip('"cupy-cuda13x[ctk]"'))
    version, runtime, available = said.split()
    built = (int(runtime) // 1000, int(runtime) % 1000 // 10)
    text = f"CuPy {version} for CUDA {built[0]}.{built[1]}"
    if driver is None:
        return Finding("optional", f"{text}, but there is no NVIDIA driver; the simulated accelerator stands in")
    if driver[0] < built[0]:
        text = f"{text}, but the driver runs only CUDA {driver[0]}.{driver[1]}"
        return Finding("optional", text, "Update the NVIDIA driver")
    if available != "True":
        return Finding("optional", f"{text}: no GPU can be used", "Look at: nvidia-smi")
    return Finding("ok", f"{text}, driver for CUDA {driver[0]}.{driver[1]}")


def check_mpi() -> Finding:
    if importlib.util.find_spec("mpi4py") is None:
        packages = ("mpi4py",) if os.name == "nt" else ("mpi4py", "mpich")
        return Finding("optional", "not installed; only chapters on several processes use it", pip(*packages))
    works, said = run_python("from mpi4py import MPI; print(MPI.get_vendor()[0])")
    if not works:
        return Finding("optional", f"mpi4py finds no MPI library: {said}", pip("mpich"))
    if shutil.which("mpiexec") is None:
        return Finding("optional", f"mpi4py on {said}, but mpiexec is not on PATH", pip("mpich"))
    return Finding("ok", f"mpi4py on {said}")


def check_grading() -> Finding:
    found = installed("nbgrader")
    return found if found.state == "ok" else Finding("optional", f"{found.text}: no checking and grading", found.fix)


CHECKS: dict[str, Callable[[], Finding]] = {
    "Python": check_python,
    "Jupyter": check_jupyter,
    "kernel": check_kernel,
    "NumPy": check_numpy,
    "engine": check_engine,
    "widgets": check_widgets,
    "pictures": check_pictures,
    "nbgrader": check_grading,
    "CuPy": check_cupy,
    "MPI": check_mpi,
}


def examine() -> dict[str, Finding]:
    """Every check's finding; a check that fails itself is a finding too."""
    findings = {}
    for name, check in CHECKS.items():
        try:
            findings[name] = check()
        except Exception as error:
            findings[name] = Finding("missing", f"could not be checked: {error!r}", f"Delete .venv, then run: {DOOR}")
    return findings


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py doctor", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    as_json = parser.parse_args(argv).json
    findings = examine()
    runs = all(finding.state != "missing" for finding in findings.values())
    if as_json:
        print(json.dumps({"runs": runs, "findings": {n: f._asdict() for n, f in findings.items()}}, indent=2))
        return 0 if runs else 1
    marks = {"ok": "ok", "optional": "-", "missing": "MISSING"}
    for name, (state, text, fix) in findings.items():
        print(f"  {marks[state]:8}{name:10}{text}" + (f"  ->  {fix}" if fix else ""))
    print("The course runs here." if runs else "The course does not run here yet: mend the lines marked MISSING.")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
