"""The browser suite: JupyterLab with the course's options on a copy of the notebooks, and Chromium to look at it.

`.ci/run browser` installs what this needs and runs it. CHROMIUM names the browser, BROWSER_SCREENSHOTS the folder for
the pictures: of each chapter in the light theme; with BROWSER_ALL=1 in the dark one and as a page too. Works on a copy
of notebooks/: JupyterLab saves what it runs, and answers are kept.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from lab_page import TOKEN, WIDTH, open_lab, wait_for
from playwright.sync_api import sync_playwright

import course
from autogradlab.course import notebooks

QUIET = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def root(tmp_path_factory) -> Path:
    """The course's folder as the learner has it."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(notebooks.FOLDER, root / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    return root


@pytest.fixture(scope="session")
def lab(root, tmp_path_factory):
    """JupyterLab with the door's options; its address."""
    with serve("lab", root, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="session")
def notebook7(root, tmp_path_factory):
    """Notebook 7 with the door's options; its address."""
    with serve("notebook", root, tmp_path_factory.mktemp("home")) as address:
        yield address


@contextlib.contextmanager
def serve(command: str, root: Path, home: Path):
    # Jupyter leaves out of the page what is off the screen; here every cell is looked at.
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    env = course.load_set_up().environment(Path(sys.executable))
    env |= {f"JUPYTER_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "data", "runtime")}
    env["AUTOGRADLAB_COURSE"] = str(root)
    port = free_port()
    options = [
        f"--ServerApp.root_dir={root}" if "root_dir" in option else option for option in course.jupyter_options()
    ]
    options += ["--no-browser", f"--ServerApp.port={port}", f"--IdentityProvider.token={TOKEN}"]
    options += [f"--{app}.expose_app_in_browser=True" for app in ("LabApp", "JupyterNotebookApp")]
    log = home / "server.log"
    with log.open("w") as file:
        start = [sys.executable, "-m", course.OPENED_BY[command], *options]
        server = subprocess.Popen(start, env=env, cwd=root, stdout=file, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="session")
def browser():
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert executable, "name a Chromium in the variable CHROMIUM, or install it: sudo apt-get install chromium"
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=QUIET + sandbox)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page(browser, lab):
    """JupyterLab, with no notebook open. page.logged: what it logs as an error; page.asked: what it asks for, where."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
    page.logged, page.asked = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda it: page.logged.append(f"{it.text} {it.location}") if it.type == "error" else None)
    page.on("pageerror", lambda error: page.logged.append(str(error)))
    open_lab(page, lab)
    yield page
    page.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory) -> Path:
    folder = Path(os.environ.get("BROWSER_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def all_pictures() -> bool:
    return os.environ.get("BROWSER_ALL", "") not in ("", "0")


def pytest_terminal_summary(terminalreporter):
    """What tests measured against a budget, one line each."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    for line in sorted({line for report in reports for name, line in report.user_properties if name == "measured"}):
        terminalreporter.write_line(f"  {line}")
