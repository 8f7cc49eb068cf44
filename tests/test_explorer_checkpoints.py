"""The checkpoint planner: every plan is measured, and the view shows the chosen one."""

import ipywidgets as widgets
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab import nn
from autogradlab.learn.explorers.checkpoints import Checkpoints, explore_checkpoints
from autogradlab.utils.checkpoint import checkpoint_sequential


@pytest.fixture(scope="module")
def planner():
    return Checkpoints()


def test_every_plan_gives_the_same_gradients_and_covers_all_layers(planner):
    assert [p.segments for p in planner.plans] == list(range(17))
    assert all(p.same and sum(p.lengths) == 16 for p in planner.plans)


def test_checkpoints_trade_bytes_for_operations(planner):
    plain, one, best = planner.plans[0], planner.plans[1], planner.best
    assert (plain.again, plain.forward) == (0, 48)
    assert (one.peak, one.again) == (plain.peak, 0)  # its only segment is the last, which is not checkpointed
    assert best.peak < plain.peak / 3 and 24 < best.again < 48
    for plan in planner.plans[2:]:  # of each checkpointed segment all but its last operation
        assert plan.again == sum(3 * length - 1 for length in plan.lengths[:-1])


@pytest.mark.parametrize("segments", [0, 4])
def test_the_peak_is_what_a_meter_says(planner, segments):
    layers = planner.layers
    layers.zero_grad()
    with torch.observe.memory() as meter:
        out = checkpoint_sequential(layers, segments, planner.x) if segments else layers(planner.x)
        out.sum().backward()
    assert planner.plans[segments].peak == meter.peak == max(planner.plans[segments].history)


def test_dropout_draws_the_same_numbers_and_those_of_the_reader_stay(planner):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)) for _ in range(3)])
    weight = layers[0][0].weight.detach().clone()
    state = torch.get_rng_state()
    made = Checkpoints(layers, torch.ones(8, 4))
    assert all(p.same for p in made.plans) and len(made) == 3
    assert torch.equal(torch.get_rng_state(), state) and not torch.equal(before, state)
    assert torch.equal(layers[0][0].weight, weight) and layers[0][0].weight.grad is None


def test_a_model_that_differs_when_run_again_is_told(planner):
    class Forgetful(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.calls = nn.Linear(3, 3), 0

        def forward(self, x):
            self.calls += 1
            return (self.linear(x) * self.calls) ** 2

    made = Checkpoints(nn.Sequential(Forgetful(), Forgetful(), Forgetful()), torch.ones(2, 3))
    assert not made.plans[3].same and "DIFFER" in made.words(3)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"layers": nn.Sequential(nn.Linear(2, 2))}, ValueError, "their input x, or neither"),
        ({"layers": nn.Linear(2, 2), "x": torch.ones(1, 2)}, TypeError, "expected an nn.Sequential"),
        ({"layers": nn.Sequential(nn.Linear(2, 2)), "x": torch.ones(1, 2)}, ValueError, "from 2 to 32 layers, got 1"),
        ({"layers": nn.Sequential(nn.ReLU(), nn.ReLU()), "x": torch.ones(1, 2)}, ValueError, "no parameters"),
        ({"segments": 17}, ValueError, "segments must be from 0 to 16, but it is 17"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(given, error, words):
    with pytest.raises(error, match=words):
        explore_checkpoints(**given)


def test_the_view_follows_the_slider():
    panel = explore_checkpoints()
    (slider,) = every(panel, widgets.BoundedIntText)
    assert slider.description and said(panel).count("<svg") == 2
    assert "&gt;  4 " in said(panel) and "4 segments (3 x 4, then 4)" in panel.said
    slider.value = 8
    assert "&gt;  8 " in said(panel) and "8 segments (7 x 2, then 2)" in said(panel)
    slider.value = 0
    assert "without checkpoints: peak" in said(panel) and "4 segments" in panel.static
