"""The chapters' panels in Notebook 7, the other way to open them."""

import contextlib
import re

import pytest
from lab_page import CONNECTED, OFTEN, RAN, RUN_ALL, TOKEN, WIDTH, stumbles
from playwright.sync_api import TimeoutError

CHAPTER = "notebooks/part1_tensors_and_autograd/06_autograd.ipynb"


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000})
    yield page
    page.close()


def test_a_chapter_runs_and_its_panels_answer(notebook7, page, screenshots):
    logged = []
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.goto(f"{notebook7}/notebooks/{CHAPTER}?token={TOKEN}")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=RUN_ALL)
    page.wait_for_function(CONNECTED, timeout=60_000)
    logged.clear()  # what Notebook 7 complains about while it loads
    for _ in range(5):  # one given before the kernel is connected is silently lost
        with contextlib.suppress(TimeoutError):
            if (asks := page.locator(".jp-Dialog .jp-mod-accept")).count():  # which kernel
                asks.first.click()
            page.get_by_role("menuitem", name=re.compile("^Run")).click(timeout=5000)
            page.locator(".lm-Menu-item[data-command='runmenu:run-all']").click(timeout=5000)
            page.wait_for_function(RAN, arg=0, timeout=8000, polling=OFTEN)
            break
    page.locator(".jp-CodeCell").last.locator(".autogradlab-panel").wait_for(timeout=RUN_ALL)  # the quiz
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=RUN_ALL)
    assert page.locator(".autogradlab-panel").count() > 15
    assert page.locator(".jp-OutputArea svg[aria-label^='Graph of']").count() >= 2

    panel = page.locator(".autogradlab-panel", has=page.get_by_role("button", name="Step"))
    panel.get_by_role("button", name="Step").click()
    panel.get_by_text("runs now").first.wait_for(timeout=5000)
    panel.scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "notebook7.png")
    assert stumbles(page, ".jp-OutputArea") == []
    assert logged == []
