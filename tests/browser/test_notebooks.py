"""Every notebook in JupyterLab in a real browser, as a learner sees it: open, Run All, no error, pictures kept.

`.ci/run browser` installs what this needs and runs it. CHROMIUM names the browser, BROWSER_SCREENSHOTS the folder for
the pictures. Works on a copy of notebooks/: JupyterLab saves what it runs.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, sync_playwright

import course
from autogradlab.course import notebooks

TOKEN = "browser-suite"
QUIET = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
WIDTH, SLICE, TALLEST = 1280, 1600, 40_000  # pixels
RUN_ALL = 120_000  # milliseconds
COURSE = notebooks.find()
MODEL = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON()"  # the notebook as it is now

# Whether code cell number `place` has run. (Not read off the page: a cell whose source is folded has no prompt there.)
RAN = f"place => ({MODEL})().cells.filter(cell => cell.cell_type === 'code')[place].execution_count !== null"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab with the door's options, on a copy of the notebooks; its address."""
    root, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    shutil.copytree(notebooks.FOLDER, root / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    # JupyterLab leaves out of the page what is off the screen; here every cell is looked at.
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    env = course.load_set_up().environment(Path(sys.executable))
    env |= {f"JUPYTER_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "data", "runtime")}
    options = [f"--ServerApp.root_dir={root}" if "root_dir" in option else option for option in course.lab_options()]
    options += [
        "--no-browser",
        "--LabApp.expose_app_in_browser=True",
        f"--ServerApp.port={(port := free_port())}",
        f"--IdentityProvider.token={TOKEN}",
    ]
    address = f"http://127.0.0.1:{port}"
    log = home / "server.log"
    with log.open("w") as file:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, env=env, cwd=root, stdout=file, stderr=subprocess.STDOUT)
    try:
        wait_for(address, server, log)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{address}/api", timeout=1).read()
            return
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def browser():
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert executable, "name a Chromium in the variable CHROMIUM, or install it: sudo apt-get install chromium"
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=QUIET + sandbox)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory) -> Path:
    folder = Path(os.environ.get("BROWSER_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def open_notebook(page: Page, lab: str, path: Path) -> None:
    name = path.relative_to(notebooks.FOLDER.parent).as_posix()
    page.goto(f"{lab}/lab/tree/{name}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    wait_until_idle(page)


def wait_until_idle(page: Page) -> None:
    page.wait_for_selector(".jp-Spinner", state="detached", timeout=60_000)
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for(timeout=RUN_ALL)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=RUN_ALL)


def code_cells(page: Page) -> list[dict]:
    return [cell for cell in page.evaluate(MODEL)["cells"] if cell["cell_type"] == "code"]


def menu(page: Page, title: str, command: str) -> None:
    page.locator("#jp-MainMenu .lm-MenuBar-item", has_text=title).first.click()
    page.locator(f".lm-Menu-item[data-command='{command}']").click()


def run_all(page: Page) -> None:
    """Empty every output, then run all; a Run All given before the kernel is connected is silently lost."""
    menu(page, "Edit", "editmenu:clear-all")
    assert all(cell["execution_count"] is None and not cell["outputs"] for cell in code_cells(page))
    for _ in range(5):
        menu(page, "Run", "runmenu:run-all")
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(RAN, arg=0, timeout=8000)
            break
    page.wait_for_function(RAN, arg=len(code_cells(page)) - 1, timeout=RUN_ALL)
    wait_until_idle(page)


def keep_pictures(page: Page, name: str, folder: Path) -> None:
    """The whole notebook, in slices one can look at."""
    height = page.locator(".jp-NotebookPanel .jp-WindowedPanel-outer").first.evaluate("panel => panel.scrollHeight")
    height = min(height + 200, TALLEST)
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.wait_for_timeout(500)
    outer = page.locator(".jp-NotebookPanel .jp-WindowedPanel-outer").first
    outer.evaluate("panel => panel.scrollTop = 0")  # Run All leaves the last cell in view
    page.wait_for_timeout(500)
    for place, top in enumerate(range(0, height, SLICE), 1):
        clip = {"x": 0, "y": top, "width": WIDTH, "height": min(SLICE, height - top)}
        page.screenshot(path=folder / f"{name}-{place:02}.png", clip=clip)


def test_there_are_notebooks():
    assert COURSE


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_run_all(lab, browser, screenshots, path):
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
    elsewhere = []
    page.on("request", lambda request: elsewhere.append(request.url))
    try:
        open_notebook(page, lab, path)
        page.screenshot(path=screenshots / f"{path.stem}-00-opened.png")
        assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
        run_all(page)
        cells = code_cells(page)
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        for cell in cells:
            raised = [output["ename"] for output in cell["outputs"] if output["output_type"] == "error"]
            assert bool(raised) == ("raises-exception" in cell["metadata"].get("tags", ())), (raised, cell["source"])
        text = page.locator(".jp-NotebookPanel").inner_text()
        assert "Error displaying widget" not in text and "Loading widget" not in text
        keep_pictures(page, path.stem, screenshots)
        local = (lab, lab.replace("http", "ws"), "data:", "blob:")
        assert [url for url in elsewhere if not url.startswith(local)] == []
    except BaseException:
        page.screenshot(path=screenshots / f"{path.stem}-failed.png")
        raise
    finally:
        page.close()
