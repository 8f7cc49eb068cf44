"""Every question and explorer in JupyterLab: each control by keyboard and by mouse, what it says and shows follows.

A control is found as a learner finds it, in the page; what is typed is listed here, everything else is pressed.
"""

import functools
import json
import statistics
from pathlib import Path

import nbformat
import pytest
from lab_page import change_theme, keep_pictures, open_notebook, run_all, stumbles
from playwright.sync_api import TimeoutError

from autogradlab.course import notebooks
from autogradlab.learn import explorers

LEARN = "from autogradlab.learn"
ASKED = "loss.backward() fills w.grad. With which two numbers?"  # by chapter 00
# Each cell shows one panel.  The second entry: what to type into its fields, from left to right.
PANELS = {
    "predict": (f"{LEARN} import predict\npredict.tuple({ASKED!r}, answer=(2, 8), why='So it is.')", ["(2, 8)"]),
    "predict_choice": ("predict.choice('Which?', ['this', 'that'], answer='that', why='So it is.')", []),
    "quiz": (f"{LEARN} import ask, quiz\nquiz(ask('Which?', right=('$a^2$', 'Yes.'), wrong={{'b': 'No.'}}))", []),
    "progress": (f"{LEARN} import show_progress\nshow_progress()", []),
    "strides": (f"{LEARN}.explorers.strides import explore_strides\nexplore_strides()", []),
    "broadcasting": (f"{LEARN}.explorers.broadcasting import explore_broadcasting\nexplore_broadcasting()",
                     ["2, 3", "3", "7"]),
    "indexing": (f"{LEARN}.explorers.indexing import explore_index\nexplore_index()", ["::2, 1"]),
    "numbers": (f"{LEARN}.explorers.numbers import explore_numbers\nexplore_numbers()", ["0.3", "65504"]),
    "switches": (f"{LEARN}.explorers.switches import explore_switches\nexplore_switches()", []),
    "slope": (f"{LEARN}.explorers.slope import explore_slope\nexplore_slope(lambda t: t**2)", []),
    "descent": (f"import autogradlab as torch\n{LEARN}.explorers.descent import explore_descent\n"
                "x = torch.arange(10.0)\nexplore_descent(x / 5, x + 1)", []),
    "stepper": (f"{LEARN}.explorers.stepper import explore_backward\nw = torch.ones(3, requires_grad=True)\n"
                "explore_backward(lambda: (w * w + w).sum(), w=w)", []),
    "tensor_card": (f"{LEARN}.explorers.tensor_card import explore_tensor\nexplore_tensor()", ["torch.eye(2)"]),
    "scaler": (f"{LEARN}.explorers.scaler import explore_scaler\nexplore_scaler()", []),
    "checkpoints": (f"{LEARN}.explorers.checkpoints import explore_checkpoints\nexplore_checkpoints()", []),
    "timeline": (f"{LEARN}.explorers.timeline import explore_timeline\nexplore_timeline()", []),
    "views": (f"{LEARN}.explorers.views import explore_view\nexplore_view()", []),
    "ring": (f"{LEARN}.explorers.ring import explore_ring\nexplore_ring()", []),
    "call": (f"{LEARN}.explorers.call import explore_call\nexplore_call()", []),
    "differences": (f"{LEARN}.explorers.differences import explore_differences\nexplore_differences()", []),
}  # fmt: skip
CONTROLS = "input[type=text], input[type=number], select, input[type=radio], button"
# What says nothing by itself: a choice waits for its button, and a button adds nothing to a field that was left.
WAITS = {
    "predict": "button", "predict_choice": "radio", "quiz": "radio", "tensor_card": "button", "strides": "select"
}  # fmt: skip
ANSWER = 100.0  # milliseconds until a widget answers, in the median; three times as much is an error

# Notes when something was done, and when the panel's texts or pictures next changed.
WATCH = """panel => {
    if (panel.autogradlab) return;
    const seen = panel.autogradlab = {done: null, answered: null};
    const done = () => { seen.done = performance.now(); seen.answered = null; };
    for (const kind of ['keydown', 'pointerdown', 'change', 'click']) panel.addEventListener(kind, done, true);
    const changed = () => { seen.answered ??= performance.now(); };
    new MutationObserver(changed).observe(panel, {childList: true, subtree: true});
}"""
TEXTS = "[...panel.querySelectorAll('.widget-html-content')].map(part => part.innerHTML).join('')"


@pytest.fixture(scope="module", autouse=True)
def panels(root, page):
    """A notebook with one panel a cell, run in JupyterLab."""
    cells = [nbformat.v4.new_code_cell(code) for code, _ in PANELS.values()]
    (root / "work").mkdir(exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.NOTEBOOK_METADATA)
    nbformat.write(notebook, root / "work" / "panels.ipynb")
    open_notebook(page, "work/panels.ipynb")
    run_all(page)


@pytest.fixture(scope="module")
def times():
    """Milliseconds of each answer, by panel."""
    return {}


def find_panel(page, name: str):
    cell = page.locator(".jp-CodeCell").nth(list(PANELS).index(name))
    panel = cell.locator(".autogradlab-panel").first
    panel.scroll_into_view_if_needed()
    panel.evaluate(WATCH)
    return panel


def kind_of(control) -> str:
    return control.evaluate("it => it.tagName === 'INPUT' ? it.type : it.tagName.toLowerCase()")


def by_keyboard(control, kind: str, typed: str | None) -> None:
    control.focus()
    if kind == "text":
        control.press("Control+a")
        control.press_sequentially(typed)
        control.press("Enter")
    else:
        # A closed list's arrow keys are JupyterLab's, for going from cell to cell: it is opened first.
        keys = {
            "number": ["ArrowUp"],
            "select": ["Space", "ArrowDown", "Enter"],
            "radio": ["Space"],
            "button": ["Enter"],
        }
        for key in keys[kind]:
            control.press(key)


def answers(page, panel, act, patience=1500) -> float | None:
    """Do something; the milliseconds until the panel says or shows something else, None if it does not in time."""
    before = [panel.element_handle(), panel.evaluate(f"panel => {TEXTS}")]
    act()
    try:
        page.wait_for_function(f"([panel, before]) => {TEXTS} !== before", arg=before, timeout=patience)
    except TimeoutError:
        return None
    return panel.evaluate("panel => panel.autogradlab.answered - panel.autogradlab.done")


def test_no_explorer_is_left_out():
    there = {path.stem for path in Path(explorers.__file__).parent.glob("[a-z]*.py")}
    assert there <= set(PANELS)


@pytest.mark.parametrize("name", PANELS)
def test_every_control_answers_the_keyboard(page, times, name):
    panel, typed = find_panel(page, name), iter(PANELS[name][1])
    controls = panel.locator(CONTROLS)
    silent = dict.fromkeys(range(controls.count()))
    for place in silent:
        if kind_of(controls.nth(place)) == "text":
            silent[place] = next(typed)
    assert next(typed, None) is None, "more to type than there are fields"
    for place in [*reversed(silent), *silent]:  # twice: at first there is nothing to go back to
        control = controls.nth(place)
        kind = kind_of(control)
        if (place not in silent and kind != "button") or not control.is_visible() or control.is_disabled():
            continue
        act = functools.partial(by_keyboard, control, kind, silent.get(place))
        patience = 300 if kind == WAITS.get(name) else 1500
        if (took := answers(page, panel, act, patience)) is not None:
            times.setdefault(name, []).append(took)
            silent.pop(place, None)
    left = [controls.nth(place) for place in silent]
    left = [control for control in left if control.is_visible() and kind_of(control) != WAITS.get(name)]
    assert [control.evaluate("it => it.outerHTML") for control in left] == []
    assert page.logged == []


@pytest.mark.parametrize(
    "name", ["slope", "descent", "stepper", "scaler", "checkpoints", "views", "ring", "differences"]
)
def test_every_slider_follows_the_mouse(page, name):
    panel = find_panel(page, name)
    sliders = panel.locator(".noUi-target")
    for place in range(sliders.count()):
        slider = sliders.nth(place)
        slider.scroll_into_view_if_needed()
        track, knob = slider.bounding_box(), slider.locator(".noUi-handle").bounding_box()
        middle = knob["y"] + knob["height"] / 2
        target = 0.33 if knob["x"] - track["x"] > track["width"] / 2 else 0.67

        def drag(start=knob["x"] + knob["width"] / 2, end=track["x"] + track["width"] * target, middle=middle):
            page.mouse.move(start, middle)
            page.mouse.down()
            page.mouse.move(end, middle, steps=4)
            page.mouse.up()

        assert answers(page, panel, drag) is not None, f"slider {place}"


def test_buttons_answer_the_mouse_and_an_answer_is_kept(page, root):
    panel = find_panel(page, "predict")
    panel.locator("input").fill("(1, 1)")
    assert answers(page, panel, panel.get_by_role("button").click) is not None
    assert "✓" in panel.inner_text() or "✗" in panel.inner_text()
    kept = json.loads((root / "work" / "progress.json").read_text(encoding="utf-8"))
    assert kept == {"00_start_here": {"predictions": {ASKED: {"said": "(2, 8)", "right": True}}}}
    table = find_panel(page, "progress")
    table.get_by_role("button").click()
    table.get_by_text("1 of 1, 1 right").wait_for(timeout=3000)


def test_panels_can_be_read_in_both_themes(page, screenshots):
    found = []
    for theme in ("Light", "Dark"):
        change_theme(page, theme)
        found += [f"{theme}: {line}" for line in stumbles(page, ".jp-OutputArea")]
        keep_pictures(page, f"panels-{theme.lower()}", screenshots)
    assert not found, "\n".join(found)


def test_answers_come_in_time(times, record_property):
    """After the others: what they measured."""
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, took in medians.items():
        record_property("measured", f"{name}: answers in {took:.0f} ms of {ANSWER:g} ms")
    assert {name: took for name, took in medians.items() if took > 3 * ANSWER} == {}
