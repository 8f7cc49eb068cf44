"""The loss scaler explorer: what it counts, the run of a real GradScaler, and the view."""

import ipywidgets as widgets
import numpy as np
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab import nn
from autogradlab.learn.explorers.scaler import POWERS, STEPS, LossScaler, explore_scaler


@pytest.fixture(scope="module")
def scaler():
    return LossScaler()


@pytest.mark.parametrize("power", [0, 8, 16, 32])
def test_counts_are_those_of_numpys_rounding(scaler, power):
    with np.errstate(over="ignore"):
        half = np.abs((scaler.gradients.numpy() * np.float32(2.0**power)).astype(np.float16))
    smallest = np.finfo(np.float16).tiny
    assert scaler.fates(power) == {
        "becomes 0": np.count_nonzero(half == 0),
        "subnormal": np.count_nonzero((half > 0) & (half < smallest)),
        "normal": np.count_nonzero((half >= smallest) & np.isfinite(half)),
        "overflows": np.count_nonzero(np.isinf(half)),
    }


def test_the_gradients_are_those_of_the_models_products():
    torch.manual_seed(1)
    layer = nn.Linear(3, 2)
    x, y = torch.randn(5, 3, requires_grad=True), torch.tensor([0, 1, 1, 0, 1])
    nn.functional.cross_entropy(layer(x), y).backward()
    wanted = np.concatenate([t.grad.numpy().ravel() for t in (layer.weight, x)])
    found = LossScaler(layer, x, y).gradients.numpy()
    assert set(np.sort(wanted)) <= set(found) and found.size == 6 + 15 + 10  # and the bias's, one row for each input
    assert layer.weight.grad is not None and torch.equal(layer.weight, LossScaler(layer, x, y).model.weight)


def test_a_scale_saves_what_is_lost_without(scaler):
    assert scaler.share("becomes 0", 0) > 0.25 and scaler.share("becomes 0", 16) < 0.01
    assert scaler.share("overflows", 0) == 0 and scaler.share("overflows", 32) > 0.01


def test_the_run_doubles_after_good_steps_and_halves_after_skipped_ones(scaler):
    steps = scaler.run(32, 4)
    assert len(steps) == STEPS and steps[0].skipped and not all(s.skipped for s in steps)
    good = 0
    for now, after in zip(steps, steps[1:], strict=False):
        good = 0 if now.skipped else good + 1
        assert after.scale == now.scale * (0.5 if now.skipped else 2 if good == 4 else 1)
        good %= 4
        if now.skipped:
            assert after.loss == pytest.approx(now.loss)  # nothing was learned
    assert scaler.run(32, 4) is steps and scaler.run(32, 2) != steps
    assert all(not s.skipped for s in scaler.run(0, 4))


def test_the_story_names_every_step_once(scaler):
    story = scaler.story(32, 4)
    assert story[0].startswith("step 1: scale 2^32, skipped") and f"{STEPS}" in story[-1]
    assert any("taken" in line for line in story)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"model": nn.Linear(2, 2)}, ValueError, "its inputs x and its classes y"),
        ({"model": len, "x": torch.ones(1, 2), "y": torch.tensor([0])}, TypeError, "expected a model"),
        ({"model": nn.Identity(), "x": torch.ones(1, 2, requires_grad=True), "y": torch.tensor([0])}, ValueError,
         "no product"),
        ({"power": 3}, ValueError, "power must be an even number"),
        ({"interval": 5}, ValueError, "interval one of"),
    ],
)  # fmt: skip
def test_what_cannot_be_scaled_is_refused_in_words(given, error, words):
    with pytest.raises(error, match=words):
        explore_scaler(**given)


def test_the_view_follows_the_slider_and_leaves_the_random_numbers_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    panel = explore_scaler()
    assert torch.equal(torch.get_rng_state(), before)
    scale, interval = every(panel, widgets.Dropdown)
    assert all(w.description for w in (scale, interval)) and [p for _, p in scale.options] == list(POWERS)
    assert "scale 2^0" in said(panel) and "skipped" not in panel.said and panel.said in said(panel)
    scale.value = 32
    assert "scale 2^32" in said(panel) and said(panel).count("<svg") == 2 and "halved" in said(panel)
    assert '<path d="M' in said(panel)  # a cross: skipped steps are told in shape too
    interval.value = 2
    assert "growth_interval=2" in said(panel) and "scale 2^0" in panel.static
