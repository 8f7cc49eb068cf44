"""`course.py oracle`: autogradlab beside PyTorch itself, in an environment of its own, .venv-oracle.  For maintainers.

Neither the package nor `course.py test` needs PyTorch; nothing but this command installs it.
"""

import argparse
import re
import subprocess
import sys
import time

from autogradlab.course import set_up

HOME = set_up.ROOT / ".venv-oracle"
PYTHON = HOME / set_up.PYTHON.relative_to(set_up.VENV)
STAMP = HOME / "course-set-up"
SHARED = ("numpy", "ml-dtypes", "pytest", "pytest-xdist", "hypothesis")  # in the versions of requirements.lock
OWN = ("torch==2.13.0", "expecttest==0.3.0")  # the engine's samples change with PyTorch's version
BUDGET = 360  # seconds on two cores, after set-up


def packages() -> list[str]:
    """What the environment holds, pinned."""
    lock = set_up.LOCK.read_text(encoding="utf-8")
    return [*OWN, *(re.search(rf"^{name}==\S+", lock, re.MULTILINE)[0] for name in SHARED)]


def make_environment() -> None:
    """Make .venv-oracle, unless it is there with these packages."""
    wanted = "\n".join([str(set_up.ROOT), *packages()])
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    with set_up.take_turn() as guard:
        set_up.remove(HOME)
        steps = {
            "creating .venv-oracle": [sys.executable, "-m", "venv", HOME],
            "installing PyTorch and what its samples need": [PYTHON, "-m", "pip", "install", "-q", *packages()],
        }
        for label, command in steps.items():
            code, output = set_up.step(label, command, guard)
            if code:
                raise set_up.Stop(set_up.explained(output))
    STAMP.write_text(wanted, encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="course.py oracle",
        description="Compare autogradlab with PyTorch: every operator by PyTorch's own sample inputs.",
        epilog="The first run installs PyTorch into .venv-oracle. On Linux pip takes the build for CUDA (several GB) "
        "unless PIP_INDEX_URL names an index of CPU builds.",
    )
    parser.usage = "course.py oracle [-h] [options of pytest, such as -k softmax]"
    _, options = parser.parse_known_args(argv)
    try:
        make_environment()
    except set_up.Stop as error:
        print(f"course.py: {error}", file=sys.stderr)
        return 1
    began = time.perf_counter()
    command = [PYTHON, "-m", "pytest", "-q", "-n", "2", "-o", "addopts=-ra", "-p", "no:cacheprovider", "tests/oracle"]
    env = set_up.environment(PYTHON) | set_up.REPEATABLE
    code = subprocess.run([*command, *options], cwd=set_up.ROOT, env={**env, "PYTHONWARNINGS": "ignore"}).returncode
    seconds = time.perf_counter() - began
    print(f"{seconds:.0f} s, budget {BUDGET} s{' (over its budget)' if seconds > BUDGET else ''}")
    return code or int(seconds > 3 * BUDGET)


if __name__ == "__main__":
    sys.exit(main())
