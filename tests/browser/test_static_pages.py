"""The chapters as pages without a kernel: complete, readable, the same in an offline browser; no finding by axe."""

import pytest
from lab_page import WIDTH, stumbles

from autogradlab.course import pages
from autogradlab.course.notebooks import FOLDER, find, read

COURSE = find()
pytestmark = pytest.mark.xdist_group("pages")  # written once


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "pages"
    assert pages.main([str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def page(browser):
    offline = browser.new_context(viewport={"width": WIDTH, "height": 1000}, offline=True)
    yield offline.new_page()
    offline.close()


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_page_is_whole(site, page, screenshots, path):
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((site / path.relative_to(FOLDER).with_suffix(".html")).as_uri())
    assert page.title() == pages.title(read(path))
    outputs = [cell for cell in read(path).cells if cell.get("outputs")]
    assert page.locator(".jp-OutputArea").count() == len(outputs)
    shown = page.evaluate("[...document.querySelectorAll('main svg, main img')].every(it => it.clientWidth > 20)")
    assert shown, "a picture is not shown"
    assert failed == []
    page.screenshot(path=screenshots / f"page-{path.stem}.png", full_page=True)
    assert stumbles(page, "main") == []


def test_the_first_page_leads_on(site, page):
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="03 Shapes and strides").first.click()
    assert page.locator("h1").inner_text().startswith("Shapes")
