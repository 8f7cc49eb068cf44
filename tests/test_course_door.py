"""course.py: what it says, and how set-up repairs what it finds. A small course of one tiny package stands in."""

import ast
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

import course

ROOT = Path(course.ROOT)
BACKEND = """
import zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "autogradlab-0.1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
    return name
FILES = {
    "here.pth": ROOT,
    "autogradlab-0.1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: autogradlab\\nVersion: 0.1\\n",
    "autogradlab-0.1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "autogradlab-0.1.dist-info/entry_points.txt": "[console_scripts]\\nautogradlab = course:main\\n",
    "autogradlab-0.1.dist-info/RECORD": "",
}
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def make_wheel(folder: Path, name: str) -> str:
    """A wheel of one empty module; its line for a lock."""
    info = f"{name}-1.dist-info"
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"").digest()).rstrip(b"=").decode()
        wheel.writestr(f"{info}/RECORD", f"{name}.py,sha256={digest},0\n")
    return f"{name}==1 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def small_course(tmp_path):
    """A folder with a space in its name that holds the door, and a lock of one package."""
    root = tmp_path / "the course"
    (root / "autogradlab" / "course").mkdir(parents=True)
    for package in ("autogradlab", "autogradlab/course"):
        (root / package / "__init__.py").touch()
    for name in ("course.py", "autogradlab/course/set_up.py"):
        shutil.copy(ROOT / name, root / name)
    (root / "autogradlab" / "course" / "__main__.py").write_text("import sys; print('RAN', *sys.argv[1:])")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(f"ROOT = {str(root)!r}\n{BACKEND}")
    (root / "requirements.lock").write_text(make_wheel(tmp_path, "tiny_one"))
    return root


def surroundings(root: Path, **more) -> dict[str, str]:
    """Offline, with the small course's wheels; and with what a shell may hold that must not matter."""
    strange = {"PYTHONPATH": "/nowhere", "VIRTUAL_ENV": "/nowhere", "PIP_TARGET": str(root / "elsewhere")}
    strange |= {"PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "1", "PIP_NO_BINARY": ":all:", "PIP_DRY_RUN": "1"}
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "uv").exists())
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": root.parent.as_uri(), "PATH": path}
    return os.environ | strange | offline | more


def start_door(root: Path, *arguments: str, **more) -> subprocess.Popen:
    base = getattr(sys, "_base_executable", sys.executable)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [base, str(root / "course.py"), *arguments]
    return subprocess.Popen(command, cwd=root.parent, env=surroundings(root, **more), start_new_session=True, **pipes)


def door(root: Path, *arguments: str, **more) -> tuple[int, str]:
    child = start_door(root, *arguments, **more)
    return child.wait(timeout=300), child.stdout.read()


def setting_of(root: Path):
    """The small course's set_up module."""
    was, course.ROOT = course.ROOT, str(root)
    try:
        return course.load_set_up()
    finally:
        course.ROOT = was


# ------------------------------------------------------------------------------------------------------------- words


def test_an_old_python_can_read_the_door():
    ast.parse((ROOT / "course.py").read_text(), feature_version=(3, 6))


def test_an_old_python_is_told_what_to_do():
    program = "import sys, runpy; sys.version_info = (3, 8, 1); runpy.run_path('course.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program, "lab"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(r"Python 3.11 or newer is needed; this is 3\.8\.1 .*(Run: python3|Install Python)", done.stderr)


def test_help_names_every_command(capsys):
    assert course.main(["--help"]) == 0
    words = capsys.readouterr().out
    assert all(f"autogradlab {command}" in words for command in course.COMMANDS)
    assert course.main([]) == 2
    assert course.main(["notebook", "--help"]) == 0 and "autogradlab notebook [OPTION" in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_known_ones():
    with pytest.raises(SystemExit, match="no command 'labb'. Did you mean lab. The commands are: lab notebook test"):
        course.main(["labb"])


def test_a_door_without_its_course(tmp_path):
    shutil.copy(ROOT / "course.py", tmp_path)
    done = subprocess.run([sys.executable, tmp_path / "course.py", "lab"], capture_output=True, text=True)
    assert (done.returncode, "from a whole copy of the course" in done.stderr) == (1, True)


def test_children_get_the_course_s_variables_and_no_strange_ones(monkeypatch):
    for name in ("PYTHONPATH", "PYTHONOPTIMIZE", "PIP_TARGET", "UV_SYSTEM_PYTHON", "JUPYTER_PATH", "MPLBACKEND"):
        monkeypatch.setenv(name, "strange")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mirror.example/simple")
    setting = course.load_set_up()
    env = setting.environment(setting.PYTHON)
    assert "strange" not in env.values()
    assert env["PIP_INDEX_URL"] == env["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    assert env["VIRTUAL_ENV"] == str(setting.VENV)
    assert env["PATH"].startswith(str(setting.BIN))


# ------------------------------------------------------------------------------------------------------- small course


def test_set_up_once_then_only_when_the_lock_changes(small_course, tmp_path):
    code, said = door(small_course, "start", "03")
    assert code == 0, said
    assert said.endswith("RAN start 03\n") and "installing up to 1 packages ... done" in said
    assert not (small_course / "elsewhere").exists()

    began = time.time()
    assert door(small_course, "start", "03") == (0, "RAN start 03\n")
    assert time.time() - began < 5

    # In place: what was installed by hand stays.
    setting = setting_of(small_course)
    (by_hand := next(small_course.glob(".venv/[Ll]ib/**/site-packages")) / "by_hand.py").touch()
    with (small_course / "requirements.lock").open("a") as lock:
        lock.write(make_wheel(tmp_path, "tiny_two"))
    code, said = door(small_course, "check")
    assert code == 0 and "installing up to 2 packages" in said and "creating" not in said
    check = [setting.PYTHON, "-P", "-c", "import tiny_one, tiny_two, autogradlab, sys; print(sys.prefix)"]
    assert Path(subprocess.check_output(check, text=True).strip()) == setting.VENV
    assert by_hand.exists()
    script = setting.BIN / ("autogradlab.exe" if setting.WINDOWS else "autogradlab")
    assert "RAN start 04" in subprocess.check_output([script, "start", "04"], text=True)

    # Moved: the scripts in .venv name the old folder.
    moved = small_course.rename(tmp_path / "moved")
    (moved / "backend.py").write_text(f"ROOT = {str(moved)!r}\n{BACKEND}")
    code, said = door(moved, "start")
    assert code == 0 and "belongs to" in said and "making it anew" in said


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a process group, which Windows has not")
def test_a_killed_set_up_is_repaired_and_two_runs_wait_for_each_other(small_course):
    child = start_door(small_course, "start")
    while not (small_course / ".venv" / "pyvenv.cfg").exists():
        assert child.poll() is None
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()

    both = [start_door(small_course, "start", str(number)) for number in range(2)]
    said = [run.communicate(timeout=300)[0] for run in both]
    assert [run.returncode for run in both] == [0, 0], said
    assert sorted("making it anew" in text for text in said) == [False, True]
    assert sorted("waiting for it" in text for text in said) == [False, True]
    assert all(f"RAN start {number}\n" in said[number] for number in range(2))


@pytest.mark.parametrize("retries", ["0", "1"])  # pip names the connection only when it tries again
def test_without_a_network(small_course, monkeypatch, retries):
    message = installing(small_course, monkeypatch, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES=retries)
    assert "no package index could be reached. Connect to the network" in message


def test_a_file_that_is_not_the_locked_one(small_course, monkeypatch):
    lock = small_course / "requirements.lock"
    lock.write_text(re.sub("sha256:.*", "sha256:" + "0" * 64, lock.read_text()))
    links = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(small_course.parent)}
    assert "a downloaded file is not the one the lock names" in installing(small_course, monkeypatch, **links)


def installing(root: Path, monkeypatch, **variables) -> str:
    """What set-up says when pip cannot install the lock. The pip is this environment's, made to install nowhere."""
    setting = setting_of(root)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(setting, "PYTHON", Path(sys.executable))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    setting.VENV.mkdir()
    what = ["--target", str(root / "nowhere"), "--require-hashes", "-r", str(setting.LOCK)]
    with setting.take_turn() as guard, pytest.raises(setting.Stop) as stop:
        setting.install("installing", what, None, guard)
    assert setting.LOG.read_text().startswith("$ ")
    return str(stop.value)


@pytest.mark.parametrize(
    ("output", "meaning"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("error: failed to write `x`: No space left on device (os error 28)", "the disk is full"),
        ("OSError: [Errno 27] File too large: 'libscipy.so'", "ulimit -f unlimited"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))", "PIP_CERT"),
        ("NewConnectionError: [Errno -3] Temporary failure in name resolution", "no package index could be reached"),
        ("ERROR: Could not install packages: [Errno 13] Permission denied: '/opt/course'", "a folder of your own"),
        ("ERROR: No matching distribution found for numpy==2.4.6", "no ready-made build for this Python"),
        ("something never seen\nthe last line", "the last line"),
    ],
)
def test_each_known_failure_has_its_line(output, meaning):
    message = course.load_set_up().explained(output)
    assert meaning in message and "set-up failed" in message


# ------------------------------------------------------------------------------------------- what may stand at .venv


def test_no_environment_and_an_empty_folder_are_made(small_course):
    setting = setting_of(small_course)
    assert setting.needs_creating()
    setting.VENV.mkdir()
    assert setting.needs_creating()


def test_an_unfinished_environment_of_ours_is_made_anew(small_course, capsys):
    setting = setting_of(small_course)
    setting.VENV.mkdir()
    setting.OURS.touch()
    (setting.VENV / "half").touch()
    assert setting.needs_creating() and not setting.VENV.exists()
    assert "was not finished: making it anew" in capsys.readouterr().out


def test_a_removal_that_was_killed_is_finished(small_course, monkeypatch):
    setting = setting_of(small_course)
    setting.VENV.mkdir()
    setting.OURS.touch()
    doomed = small_course / ".venv.removing"
    with monkeypatch.context() as killed:
        killed.setattr(setting.shutil, "rmtree", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            setting.needs_creating()
    assert doomed.exists() and not setting.VENV.exists()
    assert setting.needs_creating() and not doomed.exists()


def test_an_environment_whose_python_is_gone_is_made_anew(small_course, capsys):
    setting = setting_of(small_course)
    setting.BIN.mkdir(parents=True)
    setting.PYTHON.symlink_to("/nowhere/python3.11")
    setting.OURS.touch()
    setting.STAMP.write_text("\n".join(setting.inputs()))
    assert not setting.is_finished()
    assert setting.needs_creating() and "does not work: making it anew" in capsys.readouterr().out


def test_what_others_made_is_not_removed(small_course):
    setting = setting_of(small_course)
    setting.VENV.mkdir()
    (mine := setting.VENV / "notes.txt").write_text("mine")
    with pytest.raises(setting.Stop, match="is in the way: it is no Python environment. Move it away"):
        setting.needs_creating()
    (setting.VENV / "pyvenv.cfg").touch()
    with pytest.raises(setting.Stop, match="was not made by course.py, and its Python is too old or does not start"):
        setting.needs_creating()
    assert mine.read_text() == "mine"


def test_a_working_environment_of_another_python_is_kept(small_course, monkeypatch, capsys):
    setting = setting_of(small_course)
    setting.VENV.mkdir()
    (setting.VENV / "pyvenv.cfg").touch()
    monkeypatch.setattr(setting, "venv_version", lambda: (3, 99))
    assert not setting.needs_creating()
    assert ".venv uses Python 3.99, and is kept. To use 3." in capsys.readouterr().out


def test_a_python_without_ensurepip(small_course, monkeypatch):
    setting = setting_of(small_course)
    found = setting.importlib.util.find_spec
    monkeypatch.setattr(setting.importlib.util, "find_spec", lambda n: None if n == "ensurepip" else found(n))
    with pytest.raises(
        setting.Stop, match="without its module ensurepip. (Run: sudo apt install python3.*-venv|Install)"
    ):
        setting.create(None, None)
    assert not setting.VENV.exists()


def test_too_little_space(small_course, monkeypatch):
    setting = setting_of(small_course)
    monkeypatch.setattr(setting.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 2**24, 2**24))
    with pytest.raises(setting.Stop, match="16 MB are free in .*; set-up needs about"):
        setting.create(None, None)


def test_a_folder_that_cannot_be_written(small_course):
    (small_course / ".venv.lock").mkdir()
    code, said = door(small_course, "start")
    assert code == 1 and re.fullmatch("course.py: cannot write in .*Copy the course to a folder of your own.*\n", said)


def test_a_broken_pyproject(small_course):
    (small_course / "pyproject.toml").write_text("[project")
    code, said = door(small_course, "lab")
    assert code == 1 and said.startswith("course.py: pyproject.toml cannot be read: ") and "Traceback" not in said


def test_a_course_without_its_lock(small_course):
    (small_course / "requirements.lock").unlink()
    code, said = door(small_course, "lab")
    assert code == 1 and "lacks requirements.lock or pyproject.toml" in said


# --------------------------------------------------------------------------------------------------------------- lab


@pytest.fixture
def lab_address(tmp_path):
    """What `autogradlab lab --no-browser` prints to open, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = f"import course; course.main(['lab', '--no-browser', '--port', '{port}'])"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    server = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, **pipes)
    lines = []
    try:
        for line in server.stdout:
            lines.append(line)
            if found := re.search(r"(http://127\.0\.0\.1:(\d+)/\S*)\?token=([0-9a-f]{40,})", line):
                break
        else:
            pytest.fail("".join(lines))
        assert int(found[2]) == port and any("The course runs here." in line for line in lines)
        for _ in range(100):  # the address is printed before the server listens
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield found[1], found[3], "".join(lines)
    finally:
        server.terminate()
        server.communicate(timeout=60)


def fetch(address: str, token: str | None = None) -> tuple[int, str]:
    headers = {"Authorization": f"token {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_lab_serves_chapter_00_to_who_has_the_token(lab_address):
    address, token, said = lab_address
    server = address.removesuffix("/lab/tree/notebooks/00_start_here.ipynb")
    assert server != address, "chapter 00 is what opens"
    assert "[E " not in said and "Traceback" not in said
    assert fetch(f"{server}/api/contents")[0] == 403
    assert fetch(f"{server}/api/contents/course.py?content=0", token)[0] == 200
    kernels = json.loads(fetch(f"{server}/api/kernelspecs", token)[1])
    assert kernels["default"] == "python3"
    assert kernels["kernelspecs"]["python3"]["spec"]["argv"][0] in ("python", "python3", sys.executable)
    page = fetch(address, token)[1]
    settings = json.loads(re.search(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    disabled = settings["disabledExtensions"]
    assert "@jupyterlab/apputils-extension:announcements" in disabled and "@jupyter/nbgrader:menu" in disabled
