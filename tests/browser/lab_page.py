"""JupyterLab in a browser: open a notebook, run it, look at it, change its theme; and what axe finds in it."""

import contextlib
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, TimeoutError

TOKEN = "browser-suite"
WIDTH, SLICE = 1280, 1600  # pixels
RUN_ALL = 120_000  # milliseconds
MODEL = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON()"  # the notebook as it is now

# Whether code cell number `place` has run. (Not read off the page: a cell whose source is folded has no prompt there.)
RAN = f"place => ({MODEL})().cells.filter(cell => cell.cell_type === 'code')[place].execution_count !== null"


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{address}/api", timeout=1).read()
            return
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


def open_notebook(page: Page, lab: str, name: str) -> None:
    """name: its path below the course's folder."""
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
    """The whole notebook, in slices one can look at.  (One tall window would be painted at each change.)"""
    page.set_viewport_size({"width": WIDTH, "height": SLICE})
    panel = page.locator(".jp-NotebookPanel .jp-WindowedPanel-outer").first
    seen = panel.evaluate("panel => panel.clientHeight")
    height = panel.evaluate("""panel => {
        const cells = panel.querySelectorAll('.jp-Cell'), last = cells[cells.length - 1].getBoundingClientRect();
        return last.bottom - panel.getBoundingClientRect().top + panel.scrollTop;
    }""")
    for place, top in enumerate(range(0, int(height), seen), 1):
        panel.evaluate("(panel, top) => { panel.scrollTop = top; }", top)
        page.wait_for_timeout(50)
        page.screenshot(path=folder / f"{name}-{place:02}.png")


def change_theme(page: Page, name: str) -> None:
    """name: "JupyterLab Light" or "JupyterLab Dark"."""
    page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
    page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")


def stumbles(page: Page, where: str) -> list[str]:
    """What axe finds, serious or worse, in the parts of the page that the selector names."""
    options = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = Axe().run(page, context=where, options=options).response["violations"]
    return [
        f"{violation['id']}: {violation['help']}: {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
