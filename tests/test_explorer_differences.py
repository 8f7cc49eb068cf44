"""The explorer of differences: its errors, where they come from, and the view."""

import math
from fractions import Fraction

import ipywidgets as widgets
import pytest
from panels import every, said

from autogradlab.learn.explorers.differences import CURVES, POWERS, Differences, explore_differences


def test_slopes_are_the_derivatives():
    slopes = {name: Differences(name).slope for name in CURVES}
    wanted = {"x * x * x at 1.3": 3 * 1.3**2, "1 / x at 0.7": -1 / 0.7**2, "x * x at 1.3": 2.6, "|x| at 0.001": 1.0}
    assert slopes == pytest.approx(wanted)


@pytest.mark.parametrize("way", ["central", "forward"])
@pytest.mark.parametrize("curve", ["x * x * x at 1.3", "1 / x at 0.7"])
def test_without_rounding_the_error_is_what_the_curve_leaves(curve, way):
    model, eps = Differences(curve, way=way), 1e-3
    x, step = Fraction(CURVES[curve].x), Fraction(eps)
    exact = (lambda v: v**3) if "x * x" in curve else (lambda v: 1 / v)
    low, width = (x - step, 2 * step) if way == "central" else (x, step)
    error = abs((exact(x + step) - exact(low)) / width - Fraction(model.slope))
    assert model.from_curve(eps) == pytest.approx(float(error), rel=1e-2)
    assert model.error(eps) == pytest.approx(float(error), rel=1e-2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_small_steps_leave_rounding(dtype):
    model = Differences(dtype=dtype)
    small = [10.0**p for p in POWERS if p < model.best() - 1]
    assert len(small) >= 3
    assert all(model.error(eps) <= 4 * model.from_rounding(eps) for eps in small if eps > 1e-7 or dtype == "float64")
    assert model.error(small[-1]) > 100 * model.error(10.0 ** model.best())


def test_the_best_step_is_larger_for_central_differences_and_for_float32():
    best = {(w, d): Differences(dtype=d, way=w).best() for w in ("central", "forward") for d in ("float64", "float32")}
    assert best["central", "float64"] > best["forward", "float64"]
    assert best["central", "float32"] > 1 + best["central", "float64"]
    assert all(Differences(dtype=d, way=w).error(10.0 ** best[w, d]) < 1e-1 for w, d in best)


def test_a_parabola_has_no_error_from_the_curve_and_a_kink_ends_all_slopes():
    assert Differences("x * x at 1.3").from_curve(1.0) == 0 and Differences("x * x at 1.3").error(1.0) < 1e-14
    kink = Differences("|x| at 0.001")
    assert kink.error(1e-2) == pytest.approx(0.9) and kink.error(1e-4) < 1e-10
    assert "a kink lies 0.001 away" in kink.text(-2) and "a kink" not in kink.text(-4)


def test_what_is_unknown_is_refused():
    with pytest.raises(ValueError, match="dtype must be one of"):
        Differences(dtype="float16")
    with pytest.raises(ValueError, match="curve must be one of"):
        explore_differences("sin")
    with pytest.raises(ValueError, match="power must be from -14 to 0, got 3"):
        explore_differences(power=3)


def test_the_view_follows_the_entries():
    panel = explore_differences()
    eps, curve, dtype, way = every(panel, widgets.Dropdown)
    assert all(entry.description for entry in (eps, curve, dtype, way))
    assert "eps 1e-1" in panel.said and panel.said.split("\n")[0] in panel.static and "<svg" in said(panel)
    eps.value = -6
    assert "central differences, eps 1e-6" in said(panel) and "at eps 1e-6 it is" in said(panel)
    dtype.value, way.value = "float32", "forward"
    assert "float32, forward differences, eps 1e-6" in said(panel) and "f(x) " in said(panel)
    every(panel, widgets.IntSlider)[0].value = 0
    assert eps.value == 0 and math.isclose(Differences(way="forward").error(1.0), 7.8 / 2 + 1)
    curve.value = "|x| at 0.001"
    assert "inside the step" in said(panel)
