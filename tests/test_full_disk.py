"""start and submit where nothing can be written: the file system is full, or read-only."""

import contextlib
import shutil
import subprocess
import sys

import nbformat
import pytest
from exercise_gates.submissions import good

from autogradlab.course import places

# A file system of its own, mounted where work/ and grading/ are: full, or read-only.
MOUNTED = """set -e; size=$1
for folder in work grading; do
  mkdir -p $folder; cp -r $folder kept_$folder; mount -t tmpfs -o size=$size none $folder; cp -r kept_$folder/. $folder
  mount -o remount,$2 $folder; size=8k
done
shift 2; exec "$@"
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


def can_mount() -> bool:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        tried = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(tried, capture_output=True, timeout=20, check=False).returncode == 0
    return False


@pytest.mark.skipif(not can_mount(), reason="needs Linux that lets anyone mount in a namespace")
@pytest.mark.parametrize(("option", "words"), [("rw", "No space left"), ("ro", "Read-only file system")])
@pytest.mark.parametrize("command", [("start", "04"), ("submit", "03", "--name", "ann")])
def test_a_full_disk_or_a_read_only_one_loses_nothing(tmp_path, monkeypatch, option, words, command):
    course = tmp_path
    shutil.copytree(places.course_root() / "exercises", course / "exercises")
    monkeypatch.setenv("AUTOGRADLAB_COURSE", str(course))
    exercise = places.find_exercise("03")
    exercise.work.parent.mkdir(parents=True)
    nbformat.write(good(), exercise.work)
    mine = exercise.work.read_bytes()
    code = f"import sys; from autogradlab.course.{command[0]} import main; sys.exit(main(sys.argv[1:]))"
    line = [*UNSHARE, "bash", "-c", MOUNTED, "-", f"{len(mine) // 1024 + 8}k", option, sys.executable, "-c", code]
    done = subprocess.run([*line, *command[1:]], cwd=course, capture_output=True, text=True, timeout=60,
                          check=False)  # fmt: skip
    assert done.returncode == 1 and done.stderr.startswith(f"{command[0]}: could not write")
    assert words in done.stderr and "Nothing that was there has changed" in done.stderr and done.stdout == ""
    assert exercise.work.read_bytes() == mine
