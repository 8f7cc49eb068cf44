"""The timeline explorer: programs that really run on the simulated accelerator, and who waits in them."""

import itertools

import ipywidgets as widgets
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab.learn.explorers.timeline import (
    BATCHES,
    BUCKETS,
    COPIES,
    KERNELS,
    Scenarios,
    explore_timeline,
    told,
    waits,
)


@pytest.fixture(scope="module")
def model():
    return Scenarios()


def kinds(timeline):
    return {(who, what) for who, what, _ in waits(timeline)}


def test_copies_overlap_only_with_pinned_memory_a_second_stream_and_one_question_at_the_end(model):
    seconds = {c: model.batches(*c).seconds for c in itertools.product((False, True), repeat=3)}
    best = (True, True, False)
    assert all(seconds[best] < 0.75 * s for c, s in seconds.items() if c != best)
    for choice in seconds:
        spans = model.batches(*choice).spans
        copies = [s for s in spans if s.lane == COPIES and "from host" in s.name]
        beside = [c for c in copies for k in spans if k.lane == KERNELS and k.start < c.end and c.start < k.end]
        assert len(copies) == BATCHES and bool(beside) == (choice == best or choice == (False, True, False))


def test_asking_at_each_step_stops_python_as_often(model):
    def stops(each):
        return sum(s.name == "wait for copy to host" for s in model.batches(True, True, each).spans)

    assert (stops(True), stops(False)) == (BATCHES, 1)


def test_the_losses_are_really_computed(model, monkeypatch):
    found = []
    item = torch.Tensor.item
    monkeypatch.setattr(torch.Tensor, "item", lambda self: found.append(item(self)) or found[-1])
    fresh = Scenarios()
    fresh.batches(True, True, False)
    fresh.batches(False, False, True)
    assert len(found) == 1 + BATCHES and found[0] == pytest.approx(sum(found[1:]), rel=1e-5)
    wanted = [(b @ fresh.weight.cpu()).relu().mean() for b in fresh.ordinary]
    assert found[1:] == pytest.approx([item(w) for w in wanted], rel=1e-4)


def test_who_waits_for_whom(model):
    assert kinds(model.batches(False, False, False)) == {
        ("Python", "a batch to arrive"),
        ("Python", "a number from the device"),
        ("the device", "Python to hand over work"),
    }
    assert kinds(model.batches(True, False, False)) == {
        ("Python", "a number from the device"),
        ("the device", "a copy"),
    }


@pytest.mark.parametrize("choice", [(False, False, True), (True, True, False)])
def test_work_and_waits_of_the_device_fill_its_time(model, choice):
    timeline = model.batches(*choice)
    idle = sum(s for who, _, s in waits(timeline) if who == "the device")
    last = max(s.end for s in timeline.spans if s.lane == KERNELS)
    assert idle + timeline.busy(KERNELS) == pytest.approx(last)


def test_buckets_under_way_during_backward_hide_more_the_more_there_are(model):
    after = [model.buckets(n, False).seconds for n in BUCKETS]
    during = [model.buckets(n, True).seconds for n in BUCKETS]
    assert during == sorted(during, reverse=True) and during[-1] < 0.8 * after[-1]
    assert during[0] == pytest.approx(after[0])  # one bucket is complete with the last gradient
    for n in BUCKETS:
        sent = [s for s in model.buckets(n, True).spans if s.lane == COPIES]
        assert len(sent) == n and sum(s.bytes for s in sent) == 6 * 512 * 512 * 4
    assert all(p.grad is None for p in model.layers.parameters())


def test_a_choice_is_run_once(model):
    assert model.buckets(2, True) is model.buckets(2, True)
    assert told(Scenarios().buckets(2, True)) == told(model.buckets(2, True))


def test_bad_choices_are_refused_in_words(model):
    with pytest.raises(ValueError, match=r"buckets must be one of \(1, 2, 3, 6\), but it is 4"):
        model.buckets(4, True)
    with pytest.raises(ValueError, match="scenario must be one of .*'batches', 'buckets'.*, but it is 'both'"):
        explore_timeline("both")


def test_the_view_shows_the_scenario_that_is_chosen_and_remembers_what_was_tried():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    panel = explore_timeline()
    assert torch.equal(torch.get_rng_state(), before)
    boxes = every(panel, widgets.Dropdown)
    assert all(box.description for box in boxes)
    what, memory, stream, item, buckets, exchange = boxes
    rows = every(panel, widgets.HBox)
    assert [r.layout.display for r in rows] == ["", "none"] and "by the model" in panel.static
    first = panel.said
    assert "batches in ordinary memory" in first and first in said(panel) and "tried so far: 1" in said(panel)
    memory.value, stream.value, item.value = "pinned memory", "a stream of their own", "at the end"
    assert "tried so far: 4" in said(panel) and "batches in pinned memory, copies in a stream" in said(panel)
    assert "a batch to arrive" not in said(panel)
    what.value = "buckets"
    assert [r.layout.display for r in rows] == ["none", ""] and "exchange after backward" in said(panel)
    buckets.value, exchange.value = 6, "during backward"
    assert "buckets 6, exchange during backward" in said(panel) and "<svg" in said(panel)
