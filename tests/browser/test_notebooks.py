"""Every notebook in JupyterLab in a real browser, as a learner sees it: open, Run All, no error, both themes."""

import time

import pytest
from lab_page import (
    change_theme,
    code_cells,
    keep_pictures,
    open_notebook,
    run_all,
    stumbles,
)

from autogradlab.course import notebooks

COURSE = notebooks.find()
BUDGET = 30.0  # seconds to open a chapter and run it all; three times as much is an error
OUTPUTS = ".jp-OutputArea, .jp-RenderedMarkdown"


def test_there_are_notebooks():
    assert COURSE


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_run_all(lab, visitor, screenshots, path, record_property):
    page = visitor.new_page()
    elsewhere, logged = [], []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.on("console", lambda line: logged.append(f"{line.text} {line.location}") if line.type == "error" else None)
    page.on("pageerror", lambda error: logged.append(str(error)))
    try:
        began = time.monotonic()
        open_notebook(page, lab, path.relative_to(notebooks.FOLDER.parent).as_posix())
        page.screenshot(path=screenshots / f"{path.stem}-00-opened.png")
        assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
        assert page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0, "changed before anybody changed it"
        run_all(page)
        took = time.monotonic() - began
        cells = code_cells(page)
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        for cell in cells:
            raised = [output["ename"] for output in cell["outputs"] if output["output_type"] == "error"]
            assert bool(raised) == ("raises-exception" in cell["metadata"].get("tags", ())), (raised, cell["source"])
        shown = " ".join(page.locator(".jp-NotebookPanel .jp-OutputArea").all_inner_texts())
        assert "Error displaying widget" not in shown and "Loading widget" not in shown
        keep_pictures(page, path.stem, screenshots)
        found = [f"light: {line}" for line in stumbles(page, OUTPUTS)]
        change_theme(page, "JupyterLab Dark")
        keep_pictures(page, f"{path.stem}-dark", screenshots)
        found += [f"dark: {line}" for line in stumbles(page, OUTPUTS)]
        change_theme(page, "JupyterLab Light")
        assert not found, "\n".join(found)
        local = (lab, lab.replace("http", "ws"), "data:", "blob:")
        assert [url for url in elsewhere if not url.startswith(local)] == []
        assert logged == []
    except BaseException:
        page.screenshot(path=screenshots / f"{path.stem}-failed.png")
        raise
    finally:
        page.close()
    record_property("measured", f"{path.stem}: opened and run in {took:.1f} s of {BUDGET:g} s")
    assert took < 3 * BUDGET
