"""The ways to get the course's packages agree: pyproject.toml, the locks, environment.yml; and the doctor sees them."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import course
from autogradlab.learn import doctor

ROOT = Path(course.ROOT)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PLATFORMS = [  # what the lock must serve, as markers see it
    {"sys_platform": platform, "platform_machine": machine, "python_version": python, "os_name": os_name}
    for python in ("3.11", "3.12", "3.13")
    for platform, machine, os_name in (
        ("linux", "x86_64", "posix"),
        ("linux", "aarch64", "posix"),
        ("darwin", "arm64", "posix"),
        ("win32", "AMD64", "nt"),
    )
]


def lock(name: str) -> dict[str, tuple[Requirement, int]]:
    """What a lock pins: name to requirement and number of hashes."""
    pins = {}
    for block in re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8").strip()):
        line = re.split(r"\s\\\n|\s--hash", block)[0]
        requirement = Requirement(line)
        pins[canonicalize_name(requirement.name)] = (requirement, block.count("--hash=sha256:"))
    return pins


def wanted(*extras: str) -> list[Requirement]:
    lines = PROJECT["dependencies"] + [line for extra in extras for line in EXTRAS[extra]]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize(
    ("name", "extras"),
    [("requirements.lock", ("course", "test", "mpi", "export")), ("requirements-browser.lock", ("browser",))],
)
def test_the_lock_pins_what_pyproject_asks_for(name, extras):
    pins = lock(name)
    for requirement in wanted(*extras):
        pin, _ = pins[canonicalize_name(requirement.name)]
        version = str(pin.specifier).removeprefix("==")
        assert requirement.specifier.contains(version), f"{requirement} but {pin}: run python3 course.py lock"
        for platform in PLATFORMS:
            environment = default_environment() | platform
            asked = requirement.marker is None or requirement.marker.evaluate(environment)
            given = pin.marker is None or pin.marker.evaluate(environment)
            assert given >= asked, f"{pin} leaves out {platform}: run python3 course.py lock"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-browser.lock"])
def test_the_lock_has_hashes_and_no_addresses(name):
    assert all(count > 0 for _, count in lock(name).values())
    assert not re.search(r"://|index-url|find-links|file:", (ROOT / name).read_text())


def test_the_two_locks_agree():
    main, browser = lock("requirements.lock"), lock("requirements-browser.lock")
    assert {n: str(main[n][0]) for n in main.keys() & browser.keys()} == {
        n: str(browser[n][0]) for n in main.keys() & browser.keys()
    }


def test_the_build_backend_is_locked_too():
    assert "hatchling" in lock("requirements.lock")


def test_pytorch_is_nowhere_a_dependency():
    every = wanted(*EXTRAS) + [
        pin for name in ("requirements.lock", "requirements-browser.lock") for pin, _ in lock(name).values()
    ]
    assert not [r for r in every if r.name.startswith(("torch", "pytorch", "nvidia-"))]


def test_what_the_code_imports_is_asked_for_by_name():
    """Not just there because something else asked for it."""
    asked = {canonicalize_name(requirement.name) for requirement in wanted(*EXTRAS)}
    asked.add("cupy")  # whose packages are named after CUDA versions
    owners = packages_distributions()
    missing = {}
    for path in (ROOT / "autogradlab").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for top in {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"autogradlab", "course"}:
                if not asked & {canonicalize_name(owner) for owner in owners.get(top, [top])}:
                    missing.setdefault(top, []).append(path.name)
    assert missing == {}


def test_the_conda_environment_is_thin_and_equals_pyproject():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *packages, pip = conda["dependencies"]
    assert packages == [f"python {PROJECT['requires-python']}", "graphviz", "pip"]
    (line,) = pip["pip"]
    assert conda["name"] == PROJECT["name"] and line == "-e .[course,test,mpi,export]"
    assert {"course", "test", "gpu"} <= EXTRAS.keys()


def test_the_installed_versions_are_the_locked_ones():
    """Else stored outputs are compared with something else than what everybody runs."""
    differing = {}
    for name in ("numpy", "ml-dtypes", "ipykernel", "ipywidgets", "nbval", "matplotlib", "ruff"):
        pinned = str(lock("requirements.lock")[name][0].specifier).removeprefix("==")
        installed = ".".join(map(str, doctor.version_of(name)))
        if installed != pinned:
            differing[name] = (installed, pinned)
    assert not differing


def test_hosted_tests_cover_the_pythons_that_pyproject_names():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["course"]["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == named and len(matrix["os"]) == 3


# ------------------------------------------------------------------------------------------------------------ doctor


def examine(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-P", *arguments, str(ROOT / "autogradlab/learn/doctor.py"), "--json"]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_the_doctor_finds_this_environment_whole():
    code, report = examine()
    assert (code, report["runs"]) == (0, True), report
    assert report["findings"].keys() == doctor.CHECKS.keys()
    assert report["findings"]["kernel"]["text"] == f"notebooks run in {sys.prefix}"
    assert report["findings"]["pictures"]["state"] == "ok"


def test_the_doctor_speaks_where_nothing_is_installed():
    code, report = examine("-S")  # without site-packages
    assert (code, report["runs"]) == (1, False)
    for name in ("Jupyter", "kernel", "NumPy", "widgets"):
        assert report["findings"][name]["state"] == "missing"
        assert "course.py lab" in report["findings"][name]["fix"]
    assert report["findings"]["CuPy"]["state"] == "optional"


def test_a_check_that_breaks_is_a_finding(monkeypatch, capsys):
    monkeypatch.setitem(doctor.CHECKS, "MPI", lambda: 1 / 0)
    monkeypatch.setattr(doctor, "CHECKS", {"MPI": doctor.CHECKS["MPI"]})
    assert doctor.main([]) == 1
    assert "MISSING MPI" in (said := capsys.readouterr().out) and "ZeroDivisionError" in said


@pytest.mark.parametrize(
    ("driver", "runtime", "available", "state", "words"),
    [
        (None, "13000", "False", "optional", "no NVIDIA driver; the simulated accelerator stands in"),
        ((12, 4), "13000", "False", "optional", "the driver runs only CUDA 12.4"),
        ((13, 0), "13000", "False", "optional", "no GPU can be used"),
        ((13, 1), "13000", "True", "ok", "CuPy 14.2.0 for CUDA 13.0, driver for CUDA 13.1"),
    ],
)
def test_cupy_against_the_driver(monkeypatch, driver, runtime, available, state, words):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(doctor, "cuda_driver", lambda: driver)
    monkeypatch.setattr(doctor, "run_python", lambda program: (True, f"14.2.0 {runtime} {available}"))
    found = doctor.check_cupy()
    assert found.state == state and words in found.text


def test_a_driver_without_cupy_gets_the_line_to_install_it(monkeypatch):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "cuda_driver", lambda: (12, 8))
    found = doctor.check_cupy()
    assert found.state == "optional" and '"cupy-cuda12x[ctk]"' in found.fix


def test_a_kernel_of_another_installation_is_seen(monkeypatch, tmp_path):
    kernel = tmp_path / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(
        json.dumps({"argv": ["/opt/other/bin/python", "-m", "x"], "display_name": "other", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    found = doctor.check_kernel()
    assert found.state == "missing" and "notebooks would run in /opt/other/bin/python" in found.text


@pytest.mark.parametrize("tools", ["dot", "pygraphviz", "neither"])
def test_pictures_by_dot_or_by_pygraphviz_or_as_text(monkeypatch, tools):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/dot" if tools == "dot" else None)
    monkeypatch.setattr(doctor, "version_of", lambda name: (2, 0) if tools == "pygraphviz" else None)
    monkeypatch.setattr(doctor, "run_quietly", lambda *_, **__: (True, ""))
    words = {"dot": "drawn by /usr/bin/dot", "pygraphviz": "drawn by pygraphviz", "neither": "shown as text"}
    assert words[tools] in doctor.check_pictures().text
