"""The explorers' models, without a browser; and each view: its text twin follows what is moved."""

import math
import re

import ipywidgets as widgets
import numpy as np
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab.learn.explorers.descent import Descent, explore_descent
from autogradlab.learn.explorers.slope import Slope, explore_slope
from autogradlab.learn.explorers.strides import STARTS, STEPS, Chain, explore_strides
from autogradlab.learn.explorers.tensor_card import Refused, card, evaluate, explore_tensor
from autogradlab.learn.panel import Panel

# pytest undoes the filter that the engine sets: in a notebook nothing is said when a loss overflows.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")


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


@pytest.mark.parametrize(("lr", "momentum", "words"), [(0.03, 0.9, "swings past"), (0.1, 0.99, "momentum 0.99")])
def test_momentum_walks_as_the_optimizer_does(points, lr, momentum, words):
    model = Descent(*points)
    w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w, b], lr=lr, momentum=momentum)
    for _ in range(30):
        optimizer.zero_grad()
        ((w * points[0] + b - points[1]) ** 2).mean().backward()
        optimizer.step()
    assert model.path(lr, 30, momentum)[-1][:2] == pytest.approx((w.item(), b.item()), rel=1e-4)
    assert words in model.text(lr, 30, momentum)


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
    (rate, momentum), (count,) = every(panel, widgets.Dropdown), every(panel, widgets.BoundedIntText)
    assert rate.description and momentum.description and count.description
    rate.value, count.value = 0.2, 10
    assert "learning rate 0.2, 10 steps: diverges" in said(panel)
    momentum.value = 0.5
    assert "learning rate 0.2, momentum 0.5, 10 steps" in said(panel)
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


def test_slope_tells_its_axes_and_draws_what_is_finite():
    said = re.findall(r"<text[^>]*>([^<]*)</text>", Slope(lambda t: t**2 - 1, -3, 2).svg(1.0))
    assert said == ["-3", "2", "0", "-1", "8", "0"]
    assert ">0<" not in Slope(lambda t: t + 5, 1, 2).svg(1.0)
    svg = Slope(lambda t: t.log(), -1, 1).svg(-0.5)
    assert not re.search(r'="[^"]*(nan|inf)[^"]*"', svg.replace(Slope(lambda t: t.log(), -1, 1).text(-0.5), ""))
    assert "<polyline" in svg and "<circle" not in svg
    with pytest.raises(ValueError, match="nowhere finite from -2 to -1"):
        explore_slope(lambda t: t.log(), -2, -1, -1.5)


def test_the_slope_view_follows_its_slider():
    panel = explore_slope(lambda t: t**2, name="t^2")
    (slider,) = every(panel, widgets.BoundedFloatText)
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
        ("torch.zeros(2", "not one expression"),
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
        ("", "not one expression"),
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
