"""The chapters as pages without a kernel: complete, readable, the same in an offline browser; no finding by axe."""

import pytest
from lab_page import WIDTH, stumbles

from autogradlab.course import pages
from autogradlab.course.notebooks import find, read

COURSE = find()
SEEN = ".highlight"  # the colours of code are the same on every page: looked through once


@pytest.fixture(scope="module")
def page(browser):
    offline = browser.new_context(viewport={"width": WIDTH, "height": 1000}, offline=True)
    yield offline.new_page()
    offline.close()


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_page_is_whole(page, screenshots, all_pictures, path, tmp_path):
    written, failed = tmp_path / "page.html", []
    written.write_text(pages.page(path), encoding="utf-8")
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto(written.as_uri())
    assert page.title() == pages.title(read(path))
    outputs = [cell for cell in read(path).cells if cell.get("outputs")]
    assert page.locator(".jp-OutputArea").count() == len(outputs)
    shown = page.evaluate("[...document.querySelectorAll('main svg, main img')].every(it => it.clientWidth > 20)")
    assert shown, "a picture is not shown"
    assert failed == []
    if all_pictures:
        page.screenshot(path=screenshots / f"page-{path.stem}.png", full_page=True)
    assert stumbles(page, "main", but=SEEN) == []


def test_the_first_page_leads_on(page, tmp_path, monkeypatch):
    written = [path for path in COURSE if path.stem[:2] in ("00", "03")]
    monkeypatch.setattr(pages, "find", lambda: written)
    assert pages.main([str(tmp_path / "pages")]) == 0
    page.goto((tmp_path / "pages" / "index.html").as_uri())
    page.get_by_role("link", name="03 Shapes and strides").first.click()
    assert page.locator("h1").inner_text().startswith("Shapes")
    assert stumbles(page, "main") == []
