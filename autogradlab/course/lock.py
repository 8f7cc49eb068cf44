"""Resolve pyproject.toml's ranges into requirements.lock and requirements-browser.lock. Standard library only.

The locks are universal (one file for every system and Python from 3.11 on), carry hashes, and name no package index.
uv does the work: the one on PATH, or one in a temporary environment.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [
    "--universal",
    "--python-version=3.11",
    "--fork-strategy=fewest",  # the same versions on every Python: stored outputs are compared with them
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-header",
    "--no-annotate",
    "--quiet",
]


def get_uv(folder: Path) -> str:
    uv = shutil.which("uv")
    if uv is None:
        print("uv is not on PATH; installing it into a temporary environment.", flush=True)
        venv.create(folder, with_pip=True)
        scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
        uv = str(scripts / "uv")
    return uv


def compile_lock(uv: str, name: str, sources: list[str], upgrade: bool) -> None:
    """Without --upgrade, what the lock already pins stays where the ranges allow it."""
    # A neighbour replaces the lock at the end: a failed resolution leaves the old one as it was.
    new = ROOT / f"{name}.new"
    if (ROOT / name).exists() and not upgrade:
        shutil.copyfile(ROOT / name, new)
    try:
        subprocess.run([uv, "pip", "compile", *OPTIONS, "--output-file", new.name, *sources], cwd=ROOT, check=True)
        new.replace(ROOT / name)
    finally:
        new.unlink(missing_ok=True)
    pins = len(re.findall("^[^ ]+==", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
    print(f"{name}: {pins} packages", flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py lock", description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions the ranges allow")
    upgrade = parser.parse_args(argv).upgrade
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as folder:
        # The build backend is locked too: installing this folder then needs no network.
        (Path(folder) / "build.in").write_text("\n".join(build) + "\n", encoding="utf-8")
        main_sources = [
            "pyproject.toml",
            "--extra=course",
            "--extra=test",
            "--extra=mpi",
            "--extra=export",
            f"{folder}/build.in",
        ]
        browser_sources = ["pyproject.toml", "--extra=browser", "--constraints=requirements.lock"]
        try:
            uv = get_uv(Path(folder) / "uv")
            compile_lock(uv, "requirements.lock", main_sources, upgrade)
            compile_lock(uv, "requirements-browser.lock", browser_sources, upgrade)
        except subprocess.CalledProcessError as error:
            print(f"course.py lock: failed (exit status {error.returncode}); the lock is as before.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
