"""The explorers of shapes, indices, number formats and gradient switches: models without a browser, and their views."""

import math

import ipywidgets as widgets
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab.learn.explorers.broadcasting import Alignment, BadShape, explore_broadcasting, read_shape
from autogradlab.learn.explorers.indexing import BadIndex, Picked, explore_index
from autogradlab.learn.explorers.numbers import explore_numbers, stored, vanishes
from autogradlab.learn.explorers.switches import WAYS, Trial, explore_switches

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
