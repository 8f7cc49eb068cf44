"""Hostile submissions for exercise 03 beside those of exercise_gates: what they do, and what must become of them."""

import json

from exercise_gates.submissions import (
    FULL,
    Handed,
    good,
    handed_in,
    minus,
    one,
    untouched,
    with_cells,
    with_tasks,
)

SURVIVES = """
import atexit, signal, sys, threading, time
for name in ("SIGTERM", "SIGHUP", "SIGALRM"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
atexit.register(lambda: time.sleep(1000))
for _ in range(20):
    threading.Thread(target=lambda: time.sleep(1000)).start()
sys.setrecursionlimit(10**6)
sys.settrace(lambda *args: None)
"""

CLOSES = """
import os, sys
os.chdir("/")
sys.stdin.close()
sys.stdout = sys.stderr = open(os.devnull, "w")
"""

PATCHES_PYTHON = """
import builtins, json
import numpy as np
json.dumps = json.loads = repr = lambda *args, **kwargs: "[]"
np.ndarray = np.array = None
builtins.len = lambda value: 3
builtins.sum = builtins.max = builtins.sorted = lambda *args, **kwargs: 0
"""

LOOKS_FOR_ANSWERS = """
import gc, glob, os
FOUND = [one for one in gc.get_objects() if type(one).__name__ in ("Case", "Task")]
for root in ("/", os.path.expanduser("~"), ".."):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev", "usr", "lib")]
        FOUND += [os.path.join(folder, name) for name in files if name.endswith(".ipynb")]
        if folder.count("/") > 9:
            folders.clear()
if FOUND:
    def storage_index(*args):
        raise RuntimeError(f"found {FOUND[0]}")
"""

CONNECTS = """
with open("/proc/net/dev") as file:
    if [line for line in file.readlines()[2:] if not line.strip().startswith("lo:")]:
        raise RuntimeError("there is a network")
"""

SPOILS = """
import glob
for path in glob.glob("../*.db"):
    open(path, "w").write("nothing")
"""

PRINTS_A_SCRIPT = """
from IPython.display import HTML, display
display(HTML("<script>alert(1)</script><img src='http://127.0.0.1/x'>"))
"""

DISK = """
for number in range(1000):
    with open(f"large{number}", "wb") as file:
        file.write(bytes(10_000_000))
"""

DELETES = """
import os, shutil
shutil.rmtree(os.getcwd(), ignore_errors=True)
shutil.rmtree(os.environ["HOME"], ignore_errors=True)
"""

FORKS = """
import os, time
while True:
    if os.fork() == 0:
        time.sleep(100)
"""

DEAF = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"

MUTE = "get_ipython().kernel.shell_handlers.clear()"

HUGE = "def expand(*args):\n    return 'x' * 40_000_000"

HUGE_ERROR = "raise ValueError('x' * 5_000_000)"

TERMINAL = "def permute(*args):\n    raise ValueError('\\x1b]0;owned\\x07\\x1b[2J\\r=cmd|\\u202e gnp.exe \\ud800')"


def half_a_character() -> bytes:
    """A cell whose text ends in half of a surrogate pair, which JSON allows and UTF-8 does not."""
    notebook = json.loads(one(good())[".ipynb"])
    cell = {**notebook["cells"][2], "id": "own", "metadata": {"x": "\ud800"}, "source": "# \ud800", "outputs": []}
    notebook["cells"].append(cell)
    return json.dumps(notebook).encode()


def with_metadata(text: str) -> bytes:
    notebook = json.loads(one(good())[".ipynb"])
    notebook["cells"][3]["metadata"]["x"] = 271828
    return json.dumps(notebook).replace("271828", text).encode()


def everywhere() -> dict[str, Handed]:
    """What every system must cope with, however little it keeps apart."""
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "execution_count": None}
    many = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell] * 2001}).encode()
    return {
        "careless": Handed(one(with_cells(SURVIVES, CLOSES, DELETES, PRINTS_A_SCRIPT)), FULL),
        "patches_python": Handed(one(with_cells(PATCHES_PYTHON, base=untouched)), 0),
        "greedy": Handed(
            one(with_cells(DEAF, HUGE_ERROR, DISK)), FULL, "wrote more than 20 MB to disk and was stopped"
        ),
        "talks": Handed(one(with_tasks(permute=TERMINAL, expand=HUGE)), minus("permute", "merge_heads", "expand")),
        "half_a_character": Handed({".ipynb": half_a_character()}, FULL),
        "deep": Handed({".ipynb": with_metadata("[" * 600 + "]" * 600)}, 0, "structure", False),
        "deeper": Handed({".ipynb": with_metadata("[" * 90_000 + "]" * 90_000)}, 0, "nested too deeply", False),
        "long_number": Handed({".ipynb": with_metadata("1" * 5000)}, 0, "is not a notebook", False),
        "many_cells": Handed({".ipynb": many}, 0, "the file has 2,001 cells", False),
    }


def of_the_class(isolation: str) -> dict[str, Handed]:
    """All submissions, by student, with what must become of them at this isolation."""
    handed = {**handed_in(), **everywhere()}
    files = one(with_cells(SPOILS))
    handed["spoils_its_gradebook"] = Handed(files, 0, "nbgrader could not grade it", False)
    if isolation != "none":  # a submission has processes of its own only, so it may try to end all there are
        files = one(with_cells(FORKS, "import os\nos.kill(-1, 9)"))
        handed["forks"] = Handed(files, FULL, "was stopped")
        handed["kills_its_grader"] = Handed(handed["kills_its_grader"].files, FULL)
    if isolation == "bubblewrap":  # nor does it see a file of anybody's
        handed["spoils_its_gradebook"] = Handed(handed["spoils_its_gradebook"].files, FULL)
        handed["looks_around"] = Handed(one(with_cells(LOOKS_FOR_ANSWERS, CONNECTS)), FULL)
    return handed
