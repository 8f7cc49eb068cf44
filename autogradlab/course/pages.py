"""course.py pages DIR: every chapter as a page that any browser shows, without Jupyter, a kernel or a network."""

import argparse
import re
import sys
from pathlib import Path

from tqdm import tqdm

from autogradlab.files import Stop, write_atomically
from autogradlab.learn.formulas import in_markdown

from .notebooks import FOLDER, find, read
from .places import says_why, shown

# One column that one can read, and colours that can be read on their ground; a traceback's own cannot.
FOLD = re.compile(r"<details>\s*<summary>.*?</summary>|</details>", re.DOTALL)
STYLE = """<style>
main { max-width: 860px; margin: 0 auto; padding: 16px; }
summary { cursor: pointer; }
.jp-RenderedHTMLCommon table { table-layout: auto; }
main .jp-OutputArea-output { overflow-x: auto; }
main { --jp-cell-editor-background: #ffffff; }
main [data-mime-type="application/vnd.jupyter.stderr"] span { color: inherit !important; }
main a { text-decoration: underline !important; }
</style>"""

HERE = """<p><i>A page to read. Panels stand here as words, and where a cell says "Not done yet" or asks you to run it,
that is for the course itself: <code>python3 course.py lab</code>.</i></p>"""


@says_why
def main(argv: list[str]) -> int:
    """Write the pages; the folder must be new or empty."""
    parser = argparse.ArgumentParser(prog="course.py pages", description=__doc__.partition(": ")[2])
    parser.add_argument("folder", metavar="DIR", help="where to write them: a new or empty folder")
    target = Path(parser.parse_args(argv).folder).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Stop(f"{shown(target)} is there already and is no empty folder. Name another; nothing was written.")
    chapters = find()
    for path in tqdm(chapters, unit="page", leave=False, disable=None):
        write_atomically(target / path.relative_to(FOLDER).with_suffix(".html"), page(path).encode())
    first = chapters[0].relative_to(FOLDER).with_suffix(".html").as_posix()
    write_atomically(target / "index.html", _leads_to(first).encode())
    print(f"Wrote {len(chapters)} pages. Open {shown(target / 'index.html')} in a browser.")
    return 0


def page(path: Path) -> str:
    """One notebook as it is stored, with its pictures and the text forms of its widgets, and no script at all."""
    from nbconvert import HTMLExporter

    notebook, kept = read(path), []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            source = in_markdown(cell.source, lambda formula: _put_aside(formula, kept))
            source = FOLD.sub(lambda found: f"\n\n{_put_aside(found[0], kept)}\n\n", source)
            cell.source = re.sub(r"(\]\([^)\s]+)\.ipynb\b", r"\1.html", source)
        elif cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}  # a question's source holds its answer
    exporter = HTMLExporter(
        template_name="lab",
        embed_images=True,
        exclude_anchor_links=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    made, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title(notebook), "path": str(path.parent)}})
    made = re.sub(r"<script\b.*?</script>", "", made, flags=re.DOTALL)
    for place in (r"<p>KEPT(\d+)TPEK</p>", r"KEPT(\d+)TPEK"):  # alone in its paragraph, or inside one
        made = re.sub(place, lambda found: kept[int(found[1])], made)
    return made.replace("</head>", f"{STYLE}\n</head>", 1).replace("<main>", f"<main>\n{HERE}", 1)


def _put_aside(tag: str, kept: list[str]) -> str:
    """A word in place of HTML: nbconvert closes each tag where it stands, <details> and <math> before their content."""
    kept.append(tag)
    return f"KEPT{len(kept) - 1}TPEK"


def title(notebook) -> str:
    """The first heading."""
    found = re.search(r"^# (.+)$", notebook.cells[0].source, re.MULTILINE)
    return found[1].strip() if found else "autogradlab"


def _leads_to(page: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>autogradlab</title>'
        f'<meta http-equiv="refresh" content="0; url={page}"></head>'
        f'<body><a href="{page}">autogradlab: start here</a></body></html>\n'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
