"""The package `autogradlab` that a submission meets while it is graded: no engine, and no checks that know answers.

What is graded is asked from outside (see referee.py), so that inside there is nothing worth calling or patching.
"""

from pathlib import Path

from autogradlab.learn.checks import arrays, ask

START = "start_kernel.py"

PACKAGE = '''
"""Stands in for the course while an exercise is graded."""

import sys


class _NotHere:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch" or (name + ".").startswith("autogradlab.") and name not in HERE:
            raise ModuleNotFoundError(f"{name} is not there while an exercise is graded: it asks for your own code")


HERE = {"autogradlab", "autogradlab.learn", "autogradlab.learn.checks"}
HERE |= {f"autogradlab.learn.checks.{name}" for name in ("ask", "arrays", "CHAPTER")}
sys.meta_path.insert(0, _NotHere)


def __getattr__(name):
    raise AttributeError(f"autogradlab.{name} is not there while an exercise is graded: it asks for your own code")
'''

KERNEL = '''
"""Starts the kernel: without the debugger, which takes as long to start as all else, and with short messages."""

import sys

sys.modules["debugpy"] = None
from ipykernel import kernelapp
from ipykernel.iostream import OutStream

# What is printed within a moment goes out as one message. It may be gigabytes; 100,000 characters stop a cell.
_all = OutStream._flush_buffers
OutStream._flush_buffers = lambda self: [(parent, text[:200_000]) for parent, text in _all(self)]

kernelapp.launch_new_instance()
'''

CHECKS = '''
"""Checks do nothing here: while an exercise is graded they run outside the notebook."""


class _Check:
    def __call__(self, function):
        pass

    hidden = __call__


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Check()
'''


def make(folder: Path, chapter: str) -> None:
    """Write the package into folder, for the checks of this chapter ("ch03")."""
    checks = folder / "autogradlab" / "learn" / "checks"
    checks.mkdir(parents=True)
    (folder / "autogradlab" / "__init__.py").write_text(PACKAGE.replace("CHAPTER", chapter), "utf-8")
    (folder / "autogradlab" / "learn" / "__init__.py").write_text("", "utf-8")
    (folder / START).write_text(KERNEL, "utf-8")
    (checks / "__init__.py").write_text("", "utf-8")
    (checks / f"{chapter}.py").write_text(CHECKS, "utf-8")
    for module in (ask, arrays):
        (checks / Path(module.__file__).name).write_bytes(Path(module.__file__).read_bytes())
