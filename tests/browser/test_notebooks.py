"""Every notebook in JupyterLab in a real browser, as a learner sees it: open, Run All, no error, both themes."""

import time

import pytest
from lab_page import (
    WIDTH,
    change_theme,
    close_notebook,
    code_cells,
    keep_pictures,
    open_notebook,
    run_all,
    stumbles,
    themes,
)

from autogradlab.course import notebooks

COURSE = notebooks.find()
BUDGET = 30.0  # seconds to open a chapter and run it all; three times as much is an error
OUTPUTS = ".jp-OutputArea, .jp-RenderedMarkdown"


def test_there_are_notebooks():
    assert COURSE


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_run_all(lab, page, screenshots, all_pictures, path, record_property):
    page.logged.clear()
    page.asked.clear()
    page.set_viewport_size({"width": WIDTH, "height": 1000})
    try:
        began = time.monotonic()
        open_notebook(page, path.relative_to(notebooks.FOLDER.parent).as_posix())
        page.screenshot(path=screenshots / f"{path.stem}-00-opened.png")
        assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
        assert page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0, "changed before anybody changed it"
        run_all(page)
        took = time.monotonic() - began
        cells = code_cells(page)
        for cell in cells:
            raised = [output["ename"] for output in cell["outputs"] if output["output_type"] == "error"]
            assert bool(raised) == ("raises-exception" in cell["metadata"].get("tags", ())), (raised, cell["source"])
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        shown = " ".join(page.locator(".jp-NotebookPanel .jp-OutputArea").all_inner_texts())
        assert "Error displaying widget" not in shown and "Loading widget" not in shown
        found = []
        for theme in themes(page):
            change_theme(page, theme)
            if theme == "Light" or all_pictures:
                keep_pictures(page, f"{path.stem}-{theme.lower()}", screenshots)
            if theme == "Dark":  # the light one's colours are those of pages and panels, looked at in their own tests
                found += stumbles(page, OUTPUTS)
        assert not found, "\n".join(found)
        local = (lab, lab.replace("http", "ws"), "data:", "blob:")
        assert [url for url in page.asked if not url.startswith(local)] == []
        assert page.logged == []
    except BaseException:
        page.screenshot(path=screenshots / f"{path.stem}-failed.png")
        raise
    finally:
        close_notebook(page)
    record_property("measured", f"{path.stem}: opened and run in {took:.1f} s of {BUDGET:g} s")
    assert took < 3 * BUDGET
