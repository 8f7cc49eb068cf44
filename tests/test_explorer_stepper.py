"""The backward stepper: its record of a real pass, and the view that walks through it."""

import asyncio

import ipywidgets as widgets
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab.learn.explorers import stepper
from autogradlab.learn.explorers.stepper import Backward, explore_backward


def leaves():
    return torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(0.5, requires_grad=True)


def diamond(w, b):
    def loss():
        h = w * 3 + b
        return (h * 2 + h.exp()).sum()

    return loss


def test_each_place_waits_for_all_its_gradients():
    w, b = leaves()
    run = Backward(diamond(w, b), w=w, b=b)
    join = next(name for name, what in run.state(0).items() if what == "waits for 2")
    states = [run.state(i)[join] for i in range(len(run))]
    assert join == "AddBackward0#2"
    assert [s for i, s in enumerate(states) if i == 0 or s != states[i - 1]] == [
        "waits for 2", "waits for 1 more", "runs now", "done"
    ]  # fmt: skip
    for i in range(1, len(run)):
        assert list(run.state(i).values()).count("runs now") == 1
    assert run.state(len(run) - 1)["w"] in ("runs now", "done")


def test_numbers_are_those_of_the_engine_and_grads_stay_as_they_were():
    w, b = leaves()
    w.grad = torch.tensor([7.0, 7.0])
    run = Backward(diamond(w, b), w=w, b=b)
    assert w.grad.tolist() == [7, 7] and b.grad is None
    w.grad = None
    diamond(w, b)().backward()
    assert run.found == {
        "w": str([float(f"{v:.5g}") for v in w.grad.tolist()]),
        "b": str(float(f"{b.grad.item():.5g}")),
    }
    assert f"w.grad = {run.found['w']}" in run.text() and "what it saved is freed" in run.text()


def test_gradients_of_many_numbers_are_described():
    w = torch.ones(100, requires_grad=True)
    assert "float32 (100,)" in Backward(lambda: (w * w).sum(), w=w).text()


def test_a_square_has_two_arrows():
    w, _ = leaves()
    run = Backward(lambda: (w * w).sum(), w=w)
    assert run.arrows.count(("MulBackward0#1", "w")) == 2 and run.state(0)["w"] == "waits for 2"


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        (lambda w: (w * 2).sum(), TypeError, "expected a function that computes the loss"),
        (lambda w: lambda: w * 2, ValueError, "a loss of one element"),
        (lambda w: lambda: 3.0, ValueError, "got 3.0"),
        (lambda w: lambda: torch.ones(1).sum(), ValueError, "that require gradients"),
    ],
)
def test_what_has_no_backward_is_refused_in_words(what, error, words):
    w, _ = leaves()
    with pytest.raises(error, match=words):
        explore_backward(what(w), w=w)
    assert w.grad is None


def test_the_view_steps_back_and_forth():
    w, b = leaves()
    panel = explore_backward(diamond(w, b), w=w, b=b)
    back, forth, _ = every(panel, widgets.Button)
    (slider,) = every(panel, widgets.BoundedIntText)
    assert back.disabled and not forth.disabled and "count what each place waits for" in said(panel)
    forth.click()
    assert slider.value == 1 and "SumBackward0#1: sends" in said(panel) and "runs now" in said(panel)
    slider.value = slider.max
    assert forth.disabled and "is added to .grad" in said(panel)
    back.click()
    assert slider.value == slider.max - 1
    assert "<svg" in said(panel) and panel.said == Backward(diamond(w, b), w=w, b=b).text()
    assert "added to .grad" in panel.static


def test_play_goes_on_by_itself_and_stops_when_told(monkeypatch):
    monkeypatch.setattr(stepper, "PAUSE", 0.01)
    w, b = leaves()

    async def played():
        panel = explore_backward(diamond(w, b), w=w, b=b)
        *_, play = every(panel, widgets.Button)
        (at,) = every(panel, widgets.BoundedIntText)
        play.click()
        await asyncio.sleep(0.025)
        assert play.description == "Stop" and 0 < at.value < at.max
        play.click()
        await asyncio.sleep(0.02)
        stopped = at.value
        await asyncio.sleep(0.03)
        assert play.description == "Play" and at.value == stopped
        play.click()
        await asyncio.sleep(0.5)
        return at.value == at.max and play.description == "Play"

    assert asyncio.run(played())


def test_a_large_graph_is_told_without_a_picture():
    w = torch.ones(1, requires_grad=True)

    def loss():
        x = w
        for _ in range(100):
            x = x * 1.01
        return x.sum()

    assert "table below" in Backward(loss, w=w).picture(1)
