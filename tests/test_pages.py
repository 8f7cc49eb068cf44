"""Chapters as pages: everything is there, nothing runs, answers are folded away, links lead to pages."""

import re

import pytest

from autogradlab.course import pages
from autogradlab.course.notebooks import FOLDER, find, read

CHAPTER = find(["06"])[0]


@pytest.fixture(scope="module")
def page():
    return pages.page(CHAPTER)


def test_a_page_needs_no_script_and_no_network(page):
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', page)
    assert page.index("A page to read") < page.index("<h1")
    assert "<title>Autograd" in page and 'lang="en"' in page


def test_every_code_cell_and_every_output_is_there(page):
    hidden = [c for c in read(CHAPTER).cells if c.metadata.get("jupyter", {}).get("source_hidden")]
    code = [c for c in read(CHAPTER).cells if c.cell_type == "code"]
    assert page.count('<div class="jp-OutputArea jp-Cell-outputArea">') == sum(bool(c.outputs) for c in code)
    assert len(re.findall(r'<div class="cm-editor cm-s-jupyter">\s*<div class="highlight', page)) == len(code) - len(
        hidden
    )
    assert len(re.findall(r'<svg [^>]*aria-label="Graph of', page)) == 2


def test_answers_and_reasons_are_folded_and_formulas_shown(page):
    assert (
        re.search(r"<mfrac><mrow>.+?</mrow><mrow>.+?</mrow></mfrac>", page) and "$$" not in page and "TPEK" not in page
    )
    assert not re.search(r"<(mi|mo|mrow|msub|mfrac)></\1>", page)
    tags = re.findall(r"</?details>", page)
    assert len(tags) > 20 and tags == ["<details>", "</details>"] * (len(tags) // 2)
    why = page.index("Why is there an <code>AccumulateGrad</code>")
    assert page.index("</details>", why) > page.index("The way back has to end somewhere", why)
    assert "answer=" not in page and "right=(" not in page


def test_links_between_chapters_lead_to_pages():
    start = pages.page(FOLDER / "00_start_here.ipynb")
    assert 'href="part1_tensors_and_autograd/03_shapes_and_strides.html"' in start and ".ipynb" not in start


def test_the_command_writes_into_a_new_folder_only(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pages, "find", lambda: [FOLDER / "00_start_here.ipynb"])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "notes.txt").write_text("mine")
    assert pages.main([str(tmp_path / "own")]) == 1
    assert "is no empty folder" in capsys.readouterr().err and len(list((tmp_path / "own").iterdir())) == 1
    assert pages.main([str(tmp_path / "new")]) == 0
    assert 'url=00_start_here.html"' in (tmp_path / "new" / "index.html").read_text()
    assert (tmp_path / "new" / "00_start_here.html").stat().st_size > 100_000
