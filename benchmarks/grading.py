"""How long grading takes: a class of good, wrong and hostile submissions, graded in a folder of its own.

    python benchmarks/grading.py [EXERCISE] [--count 30] [--jobs 2] [--isolation LEVEL] [--keep FOLDER]

`overhead` is what grading adds to the time that the notebooks' own cells take, for each submission: all the time that
the jobs had together, less the cells', divided by the number. It includes starting the command.
"""

import argparse
import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autogradlab.course import places
from autogradlab.course.notebook_text import read, to_bytes
from autogradlab.course.structure import grade_id, is_solution

OF_TEN = ("good", "good", "good", "good", "good", "good", "untouched", "wrong", "hostile", "hostile")
HOSTILE = (
    "while True:\n    pass",
    "import os\nos._exit(1)",
    "while True:\n    print('x' * 10_000)",
    "x = []\nwhile True:\n    x.append(bytes(b'x' * 10**8))",
    "def broken(:",
    "import threading, time\nfor _ in range(5):\n    threading.Thread(target=lambda: time.sleep(1000)).start()",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exercise", nargs="?", default="03")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--keep", metavar="FOLDER", help="leave everything there, to be looked at")
    options = parser.parse_args()
    exercise = places.find_exercise(options.exercise)
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(options.keep or scratch)
        for one in (exercise.source, exercise.release):
            copy = course / one.relative_to(places.course_root())
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, copy)
        for number in range(options.count):
            (course / "class").mkdir(exist_ok=True)
            (course / "class" / f"{number:02}-{OF_TEN[number % 10]}.ipynb").write_bytes(submission(exercise, number))
        measure(course, exercise, options)
    return 0


def submission(exercise: places.Exercise, number: int) -> bytes:
    """The file of one student."""
    kind = OF_TEN[number % 10]
    answers = {grade_id(cell): cell.source for cell in read(exercise.source).cells if is_solution(cell)}
    notebook = read(exercise.release)
    if kind != "untouched":
        for cell in filter(is_solution, notebook.cells):
            cell.source = answers[grade_id(cell)]
    if kind == "wrong":
        last = [cell for cell in notebook.cells if is_solution(cell)][-1]
        last.source = f"def {grade_id(last)}(*args):\n    return 17"
    if kind == "hostile":
        code = HOSTILE[(number // 10 * OF_TEN.count("hostile") + number % 2) % len(HOSTILE)]
        notebook.cells.insert(3, nbformat.v4.new_code_cell(code))
    return to_bytes(notebook)


def measure(course: Path, exercise: places.Exercise, options: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "autogradlab.course", "grade", exercise.number, "--from", str(course / "class")]
    command += ["--jobs", str(options.jobs), "--isolation", options.isolation]
    env = {**os.environ, "AUTOGRADLAB_COURSE": str(course), "PYTHONPATH": str(places.course_root())}
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # processes left by the command become this one's, to be counted
    began = time.monotonic()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    wall = time.monotonic() - began
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout)
    records = [json.loads(path.read_text()) for path in (course / "grading" / "results").glob("*/*.json")]
    own = sum(record["seconds"] for record in records)
    count = options.count
    print(f"{count} submissions, {options.jobs} at a time, on {os.cpu_count()} cores")
    print(f"total     {wall:7.1f} s   processor time {used.ru_utime + used.ru_stime:.1f} s")
    print(f"cells     {own / count:7.2f} s each")
    print(f"overhead  {(wall * options.jobs - own) / count / options.jobs:7.2f} s each as the class waits for it,")
    print(f"          {(wall * options.jobs - own) / count:7.2f} s each from its start to its end")


if __name__ == "__main__":
    sys.exit(main())
