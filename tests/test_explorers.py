"""The explorers' models, without a browser; and each view: its text twin follows what is moved."""

import math
import re

import ipywidgets as widgets
import numpy as np
import pytest

import autogradlab as torch
from autogradlab.learn.explorers.broadcasting import Alignment, BadShape, explore_broadcasting, read_shape
from autogradlab.learn.explorers.descent import Descent, explore_descent
from autogradlab.learn.explorers.indexing import BadIndex, Picked, explore_index
from autogradlab.learn.explorers.numbers import explore_numbers, stored, vanishes
from autogradlab.learn.explorers.slope import Slope, explore_slope
from autogradlab.learn.explorers.strides import STARTS, STEPS, Chain, explore_strides
from autogradlab.learn.explorers.switches import WAYS, Trial, explore_switches
from autogradlab.learn.explorers.tensor_card import Refused, card, evaluate, explore_tensor
from autogradlab.learn.panel import Panel

# pytest undoes the filter that the engine sets: in a notebook nothing is said when a loss overflows.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")


def every(panel, kind) -> list:
    """All widgets of a kind inside a panel, in order."""
    found = []
    for child in panel.children:
        if isinstance(child, kind):
            found.append(child)
        if hasattr(child, "children"):
            found += every(child, kind)
    return found


def said(panel) -> str:
    return "\n".join(w.value for w in every(panel, widgets.HTML))


@pytest.fixture
def points():
    x = torch.linspace(0, 5, 20)
    wave = torch.tensor([(-1.0) ** i for i in range(20)])
    return x, 3 * x + 1 + wave * 0.3


# The descent explorer.


def test_the_best_line_is_that_of_least_squares(points):
    model = Descent(*points)
    x, y = (t.numpy().astype(float) for t in points)
    slope, height = np.polyfit(x, y, 1)
    assert model.best == pytest.approx((slope, height), abs=1e-4)
    assert model.least == pytest.approx(np.mean((slope * x + height - y) ** 2), rel=1e-4)


def test_the_limit_is_two_over_the_largest_curvature(points):
    model = Descent(*points)
    x = points[0].numpy().astype(float)
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1]])
    assert model.limit() == pytest.approx(2 / np.linalg.eigvalsh(hessian).max(), rel=1e-5)
    below, above = model.path(0.98 * model.limit(), 60), model.path(1.02 * model.limit(), 60)
    assert below[-1][2] < below[0][2] and above[-1][2] > above[0][2]


def test_a_path_is_what_the_formula_of_the_gradient_gives(points):
    x, y = (t.numpy().astype(float) for t in points)
    w = b = 0.0
    for step, (at_w, at_b, loss) in enumerate(Descent(*points).path(0.03, 15)):
        error = w * x + b - y
        assert (at_w, at_b, loss) == pytest.approx((w, b, np.mean(error**2)), rel=1e-3, abs=1e-4), step
        w, b = w - 0.03 * np.mean(2 * error * x), b - 0.03 * np.mean(2 * error)


def test_shorter_and_longer_paths_of_one_rate_agree(points):
    model = Descent(*points)
    long = model.path(0.05, 30)
    assert model.path(0.05, 10) == long[:11]
    assert len(model.path(0.05, 40)) == 41 and model.path(0.05, 40)[:31] == long


@pytest.mark.parametrize(
    ("lr", "steps", "words"),
    [
        (0.01, 0, "no step"),
        (0.01, 20, "walks downhill"),
        (0.1, 30, "side to side"),
        (0.2, 10, "diverges: each step lands higher"),
        (0.3, 200, "diverges: after step .* the loss is (inf|nan)"),
    ],
)
def test_what_a_path_does_is_said(points, lr, steps, words):
    assert re.search(words, Descent(*points).text(lr, steps))


def test_a_path_that_overflows_ends_there_and_stays_so(points):
    model = Descent(*points)
    path = model.path(0.3, 200)
    assert len(path) < 201 and not math.isfinite(path[-1][2]) and math.isfinite(path[-2][2])
    assert model.path(0.3, 150) == path


@pytest.mark.parametrize(("lr", "steps"), [(0.01, 0), (0.01, 20), (0.1, 200), (0.3, 200)])
def test_the_picture_has_words_and_no_broken_numbers(points, lr, steps):
    svg = Descent(*points).svg(lr, steps)
    assert 'aria-label="Contour lines' in svg and "learning rate" in svg
    assert not re.search(r"\b(nan|inf)\b", re.sub(r'aria-label="[^"]*"', "", svg))


def test_contours_lie_where_the_loss_is_what_they_say(points):
    model = Descent(*points)
    for w, b in model._ellipse(4.0, corners=12):
        assert model.loss(w, b) == pytest.approx(model.least + 4, rel=1e-3)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (torch.ones(3), torch.ones(4), r"\(3,\) and \(4,\)"),
        (torch.ones(3, 1), torch.ones(3, 1), "one shape"),
        (torch.ones(1), torch.ones(1), "at least 2"),
        (torch.ones(5), torch.ones(5), "every x is the same"),
    ],
)
def test_points_that_fit_no_line_are_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        Descent(x, y)


def test_the_descent_view_follows_its_sliders(points):
    panel = explore_descent(*points)
    (rate,), (count,) = every(panel, widgets.SelectionSlider), every(panel, widgets.IntSlider)
    assert rate.description and count.description
    rate.value, count.value = 0.2, 10
    assert "learning rate 0.2, 10 steps: diverges" in said(panel)
    assert "learning rate 0.01, 20 steps" in repr(panel)  # the stored text stays that of the start


# The slope explorer.


def test_slopes_by_backward_and_by_differences_agree_with_the_derivative():
    model = Slope(lambda t: t**3 - 2 * t, -2, 2)
    for x in (-1.5, 0.0, 0.5, 2.0):
        assert model.value(x) == pytest.approx(x**3 - 2 * x)
        assert model.by_backward(x) == pytest.approx(3 * x**2 - 2)
        assert model.by_differences(x) == pytest.approx(3 * x**2 - 2, abs=1e-6)


def test_a_flat_curve_can_be_drawn():
    svg = Slope(lambda t: t * 0 + 5, -1, 1).svg(0.0)
    assert "nan" not in svg and "slope by backward 0.0000" in svg


def test_the_slope_view_follows_its_slider():
    panel = explore_slope(lambda t: t**2, name="t^2")
    (slider,) = every(panel, widgets.FloatSlider)
    assert slider.step <= 0.05  # places where a slope is zero must lie close to a stop
    slider.value = -1.5
    assert "x = -1.50, t^2 = 2.2500: slope by backward -3.0000" in said(panel)


# The card of a tensor.


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("torch.zeros(2, 0)", (2, 0), torch.float32),
        ("torch.tensor([1, 2.5]) * 2", (2,), torch.float32),
        ("torch.arange(6).reshape(2, 3)[:, 1:]", (2, 2), torch.int64),
        ("-torch.eye(2, dtype=torch.float64) @ torch.ones(2, 1, dtype=torch.float64)", (2, 1), torch.float64),
    ],
)
def test_an_expression_makes_its_tensor(text, shape, dtype):
    made = evaluate(text)
    assert tuple(made.shape) == shape and made.dtype is dtype
    assert f"shape {shape}" in card(made) and f"dtype {dtype}" in card(made)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("torch.zeros(2", "not a complete expression"),
        ("__import__('os')", "not known here"),
        ("torch.__class__", "calls and arithmetic"),
        ("[torch for torch in (1,)]", "calls and arithmetic"),
        ("zeros(2)", "write torch.zeros"),
        ("np.zeros(2)", "'np' is not known here, only torch is"),
        ("5", r"gives an int, not a tensor. Write torch.tensor\(...\) around it"),
        ("[1, 2]", "gives a list, not a tensor. Write"),
        ("torch.float32", "not a tensor"),
        ("torch.tensor([[1], [2, 3]])", "ValueError"),
        ("torch.ones(200, 200)", "too many"),
        ("", "not a complete expression"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text, why):
    with pytest.raises(Refused, match=why):
        evaluate(text)


def test_the_card_view_shows_a_tensor_or_the_reason():
    panel = explore_tensor()
    (entry,), (press,) = every(panel, widgets.Text), every(panel, widgets.Button)
    entry.value = "torch.ones(4, 5)"
    assert "20 elements of 4 bytes: 80 bytes" in said(panel)  # Enter is enough
    press.click()
    assert "20 elements of 4 bytes: 80 bytes" in said(panel)
    entry.value = "nonsense"
    press.click()
    assert "not known here" in said(panel) and "80 bytes" not in said(panel)


def test_the_card_counts_in_grammar():
    assert "\n1 dimension, 1 element of 1 byte: 1 byte" in card(torch.tensor([True]))
    assert "\n0 dimensions, 1 element of 4 bytes: 4 bytes" in card(torch.tensor(1.0))


# Shapes that meet.


@pytest.mark.parametrize(
    "text, shape", [("3, 4", (3, 4)), ("(4,)", (4,)), ("2 x 3", (2, 3)), ("()", ()), ("0,4", (0, 4))]
)
def test_shapes_are_read_as_people_write_them(text, shape):
    assert read_shape(text) == shape


@pytest.mark.parametrize("text", ["three", "3, -1", "1.5", "1,2,3,4,5,6,7"])
def test_what_is_no_shape_is_refused(text):
    with pytest.raises(BadShape):
        read_shape(text)


def test_an_alignment_agrees_with_the_engine():
    for given in [((3, 4), (4,)), ((2, 1, 3), (4, 1), ()), ((0, 3), (3,)), ((1,), (5, 1))]:
        model = Alignment(*given)
        assert model.result() == tuple(sum(torch.zeros(s) for s in given).shape)
        for k, shape in enumerate(given):
            leaves = [torch.zeros(s, requires_grad=True) for s in given]
            sum(leaves).sum().backward()
            assert tuple(leaves[k].grad.shape) == shape
    assert Alignment((2, 1, 3), (4, 1), ()).summed(1) == (0, 2)


def test_an_alignment_names_the_dimension_that_fails():
    model = Alignment((3, 4), (3,))
    assert model.failing() == 1 and model.result() is None
    assert "dimension -1 has sizes 4 and 3" in model.text() and "does not fit" in model.html()
    with pytest.raises(RuntimeError):
        torch.zeros(3, 4) + torch.zeros(3)


def test_the_broadcasting_view_follows_what_is_typed():
    panel = explore_broadcasting((3, 4), (4,))
    a, b, c = every(panel, widgets.Text)
    assert "The result has shape (3, 4)" in said(panel)
    b.value = "3"
    assert "do not fit" in said(panel)
    b.value, c.value = "3, 1", "two"
    assert "is no shape" in said(panel)
    a.value = b.value = c.value = ""
    assert "at least one shape" in said(panel)


# An index and what it picks.


@pytest.mark.parametrize(
    "text, shape, view",
    [("1", (4,), True), ("1:, ::2", (2, 2), True), ("[0, 2]", (2, 4), False), ("x > 5", (6,), False),
     ("None, 0", (1, 4), True), ("..., -1", (3,), True), ("[0, 1], [1, 2]", (2,), False), (":, [3]", (3, 1), False)],
)  # fmt: skip
def test_an_index_picks_what_the_engine_picks(text, shape, view):
    picked = Picked(text)
    assert tuple(picked.out.shape) == shape and picked.is_view() is view
    assert ("a view" if view else "a copy") in picked.as_text()
    assert sum(c.startswith("[") for line in picked.grid() for c in line) == len(picked.chosen())


@pytest.mark.parametrize("text", ["", "y", "__import__('os')", "x.sum()", "1)(", "0.5", "'a'"])
def test_what_is_no_index_is_refused(text):
    with pytest.raises(BadIndex):
        Picked(text)


def test_an_index_out_of_range_says_the_engines_words():
    assert "refused: index 7 is out of bounds" in Picked("7").as_text()


def test_the_index_view_follows_what_is_typed():
    panel = explore_index()
    (entry,) = every(panel, widgets.Text)
    assert "a view" in said(panel)
    entry.value = "x > 5"
    assert "a copy: 48 new bytes" in said(panel) and "[11]" in said(panel)
    entry.value = "f(x)"
    assert "known here are" in said(panel)


# Switching gradients off.


def test_each_way_remembers_what_it_says():
    plain, off, inference = (Trial(way) for way in list(WAYS)[:3])
    assert plain.facts["y.grad_fn"] == "ExpBackward0" and plain.facts["bytes saved for backward"] == "12"
    assert off.facts["y.grad_fn"] == "None" and off.facts["writes are counted"] == "yes"
    assert inference.facts["writes are counted"] == "no"


@pytest.mark.parametrize(
    "number, action, refused",
    [(0, "y.add_(1)", False), (0, "y.add_(1), then y.sum().backward()", True), (0, "y.numpy()", True),
     (1, "y.add_(1)", False), (1, "(w * y).sum().backward()", False), (1, "y.numpy()", False),
     (2, "y.add_(1)", True), (2, "w + y", False), (2, "w * y", True), (3, "(w * y).sum().backward()", False)],
)  # fmt: skip
def test_what_may_be_done_with_a_result(number, action, refused):
    assert bool(Trial(list(WAYS)[number], action).refusal) is refused


def test_the_switches_view_shows_outcomes():
    panel = explore_switches()
    way, action = every(panel, widgets.Dropdown)
    way.value, action.value = list(WAYS)[2], "w * y"
    assert "refused" in said(panel)
    way.value = list(WAYS)[1]
    assert "works" in said(panel)


# A number in six formats.


@pytest.mark.parametrize(
    "value, format, bits, kept",
    [(1.0, "float32", ("0", "01111111", "0" * 23), 1.0), (-2.0, "bfloat16", ("1", "10000000", "0" * 7), -2.0),
     (0.1, "float16", ("0", "01011", "1001100110"), 0.0999755859375), (1.5, "float8_e4m3fn", ("0", "0111", "100"), 1.5),
     (1e-8, "float16", ("0", "00000", "0" * 10), 0.0), (70000.0, "float16", ("0", "11111", "0" * 10), math.inf)],
)  # fmt: skip
def test_bits_are_those_of_the_format(value, format, bits, kept):
    s = stored(value, format)
    assert s.bits == bits and s.value == kept


def test_a_remark_says_what_the_format_did():
    assert stored(0.5, "float16").remark() == "exact" and "overflow" in stored(1e5, "float16").remark()
    assert "underflow" in stored(1e-8, "float16").remark() and stored(math.nan, "float32").remark() == "not a number"
    assert "saturated" in stored(1000.0, "float8_e4m3fn").remark() and "off by" in stored(0.1, "bfloat16").remark()


def test_small_numbers_vanish_beside_large_ones():
    assert vanishes(256.0, 1.0, "bfloat16") and not vanishes(128.0, 1.0, "bfloat16")
    assert vanishes(2.0**24, 1.0, "float32") and not vanishes(2.0**24, 1.0, "float64")


def test_the_numbers_view_follows_what_is_typed():
    panel = explore_numbers(0.1, 1.0)
    number, other = every(panel, widgets.Text)
    assert "off by" in said(panel)
    number.value = "1e-8"
    assert "underflow" in said(panel) and "lost" in said(panel)
    number.value = "ten"
    assert "is no number" in said(panel)
    number.value, other.value = "3", ""
    assert "added to" not in said(panel) and "exact" in said(panel)


# The chain of views.


def test_t_and_transpose_part_on_one_dimension():
    chain = Chain((12,))
    assert chain.apply(".t()") and chain.names[-1] == ".t()"
    assert not chain.apply(".transpose(0, 1)") and chain.refusal


def test_a_chain_says_shape_stride_and_offset_of_each_step():
    chain = Chain((3, 4))
    assert chain.apply(".t()") and chain.apply("[1:]")
    lines = chain.text().splitlines()
    assert "shape (3, 4)  stride (4, 1)  offset 0  contiguous" in lines[0]
    assert "shape (4, 3)  stride (1, 4)  offset 0  not contiguous" in lines[1]
    assert "shape (3, 3)  stride (1, 4)  offset 1  not contiguous" in lines[2]
    assert lines[3] == "no data moved"


def test_a_step_that_cannot_be_taken_leaves_the_chain_and_says_why():
    chain = Chain((3, 4))
    chain.apply(".t()")
    assert not chain.apply(".view(-1)")
    assert len(chain.tensors) == 2 and "view" in chain.text().splitlines()[-1]
    assert chain.apply(".reshape(-1)") and chain.copied() and "copied" in chain.text()
    chain.undo()
    assert len(chain.tensors) == 2 and not chain.copied()


def test_undo_stops_at_the_start():
    chain = Chain((12,))
    chain.undo()
    assert len(chain.tensors) == 1


@pytest.mark.parametrize("start", list(STARTS))
@pytest.mark.parametrize("step", list(STEPS))
def test_every_step_on_every_start_works_or_is_refused_in_words(start, step):
    chain = Chain(STARTS[start])
    assert chain.apply(step) != bool(chain.refusal)
    assert "<svg" in chain.picture().svg


def test_the_strides_view_follows_its_buttons():
    panel = explore_strides()
    start, step = every(panel, widgets.Dropdown)
    apply, undo = every(panel, widgets.Button)
    step.value = "[:, ::2]"
    apply.click()
    assert "stride (4, 2)" in said(panel)
    undo.click()
    assert "stride (4, 2)" not in said(panel)
    start.value = "12"
    assert "shape (12,)" in said(panel)


@pytest.mark.parametrize("make", [explore_tensor, explore_strides, lambda: explore_slope(lambda t: t**2)])
def test_a_view_has_a_text_form_and_a_static_one(make):
    panel = make()
    assert isinstance(panel, Panel) and repr(panel).strip()
    data = panel._repr_mimebundle_()
    data = data[0] if isinstance(data, tuple) else data
    assert data["text/plain"] == repr(panel) and "run this cell" in data["text/html"]
