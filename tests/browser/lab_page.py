"""JupyterLab in a browser: open a notebook, run it, look at it, change its theme; and what axe finds in it."""

import base64
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

# Whether code cell number `place` has run, or an error has stopped those before it.  (Not read off the page: a cell
# whose source is folded has no prompt there.  Asked now and then: it takes the notebook's time.)
RAN = """place => {
    const all = window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model);
    const cells = all.filter(cell => cell.type === 'code');
    const raised = ({outputs}) => Array.from({length: outputs.length}, (_, i) => outputs.get(i).type).includes('error');
    const stops = cell => raised(cell) && !(cell.getMetadata('tags') || []).includes('raises-exception');
    return cells[place].executionCount !== null || cells.some(stops);
}"""
OFTEN = 200  # milliseconds
OPEN = """async path => {
    await window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'});
}"""
CLOSE = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    const late = new Promise((_, reject) => setTimeout(reject, 30000, new Error('a question, or no answer')));
    await Promise.race([panel.context.save(), late]);
    await Promise.race([panel.sessionContext.shutdown(), late]);
    panel.dispose();
}"""
CONNECTED = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{address}/api", timeout=1).read()
            return
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


def open_lab(page: Page, lab: str) -> None:
    page.goto(f"{lab}/lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher", timeout=60_000)


def open_notebook(page: Page, name: str) -> None:
    """name: its path below the course's folder."""
    page.evaluate(OPEN, name)
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    wait_until_idle(page)


def close_notebook(page: Page) -> None:
    """Saved, and its kernel stopped."""
    page.evaluate(CLOSE)


def wait_until_idle(page: Page) -> None:
    page.wait_for_selector(".jp-Spinner", state="detached", timeout=60_000)
    page.wait_for_function(CONNECTED, timeout=RUN_ALL)
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
            page.wait_for_function(RAN, arg=0, timeout=8000, polling=OFTEN)
            break
    page.wait_for_function(RAN, arg=len(code_cells(page)) - 1, timeout=RUN_ALL, polling=OFTEN)
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
    devtools = page.context.new_cdp_session(page)
    for place, top in enumerate(range(0, int(height), seen), 1):
        panel.evaluate("(panel, top) => { panel.scrollTop = top; }", top)
        taken = devtools.send("Page.captureScreenshot", {"optimizeForSpeed": True})["data"]
        (folder / f"{name}-{place:02}.png").write_bytes(base64.b64decode(taken))
    devtools.detach()


def themes(page: Page) -> list[str]:
    """Both, the one on the page first."""
    return sorted(["Light", "Dark"], key=lambda name: page.locator(f"body[data-jp-theme-name$='{name}']").count() == 0)


def change_theme(page: Page, name: str) -> None:
    """name: Light or Dark."""
    name = f"JupyterLab {name}"
    page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
    page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")


def stumbles(page: Page, where: str, but: str = "[hidden]") -> list[str]:
    """What axe finds, serious or worse, in the parts of the page that the selector names, without those in `but`."""
    options = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = Axe().run(page, context={"include": [where], "exclude": [but]}, options=options).response["violations"]
    return [
        f"{violation['id']}: {violation['help']}: {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
