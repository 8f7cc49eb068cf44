"""course.py learner-tree DIR: a copy of the course for a class, without solutions."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from .places import Stop, course_root, exercises, says_why, shown

LEFT_OUT = ("solutions", "tests", ".ci", ".github")  # tests hold right and wrong answers to the exercises
NEVER = (".git", ".venv", ".venv-oracle", ".jupyter", "work", "grading", "build", "dist")  # where git is not asked


@says_why
def main(argv: list[str]) -> int:
    """Write the tree; the folder must be new or empty."""
    parser = argparse.ArgumentParser(prog="course.py learner-tree", description=__doc__.split(": ")[1])
    parser.add_argument("folder", metavar="DIR", help="where to write it: a new or empty folder")
    target = Path(parser.parse_args(argv).folder).absolute()
    root = course_root()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Stop(f"{shown(target)} is there already and is no empty folder. Name another; nothing was written.")
    if target.is_relative_to(root / "work") or target == root:
        raise Stop(f"{shown(target)} lies in this copy of the course. Name a folder outside it.")
    if not exercises():
        raise Stop(f"there are no exercises in {root / 'exercises'}. Get a whole copy of the course.")
    chosen = [path for path in _tracked(root) if path.parts[0] not in LEFT_OUT]
    for path in chosen:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target / path)
    print(f"Wrote {len(chosen):,} files to {shown(target)}, without {', '.join(LEFT_OUT)}.")
    print("Give it to your class as a folder, a zip file or a repository. Grade from this copy: it has the solutions.")
    return 0


def _tracked(root: Path) -> list[Path]:
    """The course's own files: those git knows, or, in a copy without git, all but what is made or written later."""
    if (root / ".git").exists() and shutil.which("git"):
        asked = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return [Path(name) for name in asked.stdout.split("\0") if name and (root / name).is_file()]
    found = []
    for folder, names, files in os.walk(root):
        here = Path(folder).relative_to(root)
        names[:] = [n for n in names if n not in NEVER and n != "__pycache__" and not n.endswith(".egg-info")]
        found += [here / name for name in files if not name.endswith(".pyc")]
    return found
