"""What the engine shows of itself: traces of calls and of backward, memory held and its peak."""

import gc

import numpy as np
import pytest
from device_list import DEVICES

import autogradlab as torch
from autogradlab import viz


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def test_a_trace_shows_the_way_of_a_call():
    x = leaf(2, 3)
    with torch.trace() as t:
        (x * 2).exp()
    assert [c.name for c in t.calls] == ["mul", "exp"]
    mul, exp = t.calls
    assert mul.operands == ["float32 (2, 3)", "float32 ()"] and mul.results == ["float32 (2, 3)"]
    assert mul.kind == "kernel" and mul.computed == "float32" and mul.kernel.startswith("ops/pointwise.py:")
    assert mul.node == "MulBackward0#1" and [name for name, _, _ in mul.saved] == ["other"]
    assert exp.saved == [("result", "float32 (2, 3)", 24)]
    assert "kernel: ops/elementary.py" in repr(t) and "<table" in t._repr_html_()


def test_a_trace_tells_views_writes_and_what_is_not_recorded_apart():
    x = torch.zeros(4, 3)
    with torch.trace() as t:
        x.t()[1:].add_(1)
    assert [(c.name, c.kind, c.node) for c in t.calls] == [
        ("t", "view", None), ("slice", "view", None), ("add", "write", None),
    ]  # fmt: skip
    assert "no node: nothing here needs a gradient" in repr(t) and t.calls[2].results == ["float32 (2, 4)"]
    with torch.no_grad(), torch.trace() as t:
        x.requires_grad_() + 1
    assert "no node: gradients are switched off" in repr(t)


def test_a_trace_shows_what_autocast_made_of_the_operands():
    a = torch.ones(2, 2)
    with torch.trace() as t, torch.autocast("cpu", dtype=torch.bfloat16):
        a @ a
    call = t.calls[0]
    assert call.cast == ["bfloat16 (2, 2)", "bfloat16 (2, 2)"] and call.computed == "float32"
    assert call.results == ["bfloat16 (2, 2)"] and {c.name for c in call.inner} == {"cast"}


def test_a_trace_shows_each_step_of_backward():
    x = leaf(3)
    y = x * x
    z = y + y.sin()
    with torch.trace() as t:
        z.sum().backward()
    begin, *steps = t.backward
    assert begin.kind == "begin" and begin.waiting["MulBackward0#1"] == 2 and begin.waiting["leaf#1"] == 2
    assert [s.at for s in steps] == ["SumBackward0#1", "AddBackward0#1", "SinBackward0#1", "MulBackward0#1", "leaf#1"]
    add, sine, mul, end = steps[1:]
    assert [name for name, _ in add.outgoing] == ["MulBackward0#1", "SinBackward0#1"]
    assert add.waiting["MulBackward0#1"] == 2 and sine.waiting["MulBackward0#1"] == 1
    assert sine.summed == ["MulBackward0#1"] and mul.summed == ["leaf#1"] and mul.freed and not add.freed
    assert sine.formulas[0].startswith("ops/elementary.py:") and end.incoming == ["float32 (3,)"]
    assert "is added to .grad" in repr(t)


def test_a_trace_ends_with_its_block_and_survives_errors():
    x = torch.ones(2)
    with torch.trace() as t:
        with pytest.raises(RuntimeError):
            x + torch.ones(3)
        x + 1
    x + 2
    assert [c.name for c in t.calls] == ["add"] and "nothing was called" in repr(torch.trace())
    assert torch.trace(torch.eye(3)).item() == 3.0  # with a matrix it is PyTorch's


def test_traces_hold_no_tensors():
    leaf(3) * 2  # the number is made a tensor once, and kept
    gc.collect()
    before = len(torch.observe.live_tensors())
    with torch.trace() as t:
        (leaf(3) * 2).sum().backward()
    assert len(torch.observe.live_tensors()) == before and t.calls


def test_saved_memory_counts_each_storage_once():
    x = leaf(10, 10)
    y = x * x
    z = y.exp() * y
    held = torch.observe.saved(z)
    assert sorted((row.node, row.name) for row in held) == [
        ("ExpBackward0", "result"), ("MulBackward0", "other"), ("MulBackward0", "other"),
        ("MulBackward0", "self"), ("MulBackward0", "self"),
    ]  # fmt: skip
    assert held.total == 3 * 400 and held.extra == 2 * 400
    z.sum().backward()
    assert torch.observe.saved(z).total == 0
    part = leaf(100)[:1]
    assert torch.observe.saved(part * part).total == 400, "a saved slice holds its whole storage"


@pytest.mark.parametrize("device", DEVICES)
def test_the_meter_counts_what_is_alive(device):
    x = torch.ones(1000, device=device)
    with torch.observe.memory() as m:
        y = x + 1
        assert m.current == m.peak == 4000
        z = y * 2
        assert m.current == 8000
        del y
        assert m.current == 4000 and m.peak == 8000
        v = z[:10]
        assert m.current == 4000, "a view is no memory of its own"
        del z
        assert m.current == 4000, "but keeps it"
        del v
        assert m.current == 0
        m.reset_peak()
        assert m.peak == 0
    assert [what for what, _ in m.history] == ["add", "mul", "slice"]


def test_the_meter_sees_gradients():
    x = leaf(1000)
    with torch.observe.memory() as m:
        (x * 3).sum().backward()
    assert m.current == 4000, "what is left is x.grad"
    assert m.peak == 4008, "x * 3 is gone before its gradient is made: only sums and seeds are held beside it"
    np.testing.assert_array_equal(x.grad.numpy(), np.full(1000, 3, "f"))


def test_observers_nest():
    x = leaf(2)
    with torch.observe.memory() as m, torch.trace() as t:
        x + 1
    assert len(t.calls) == len(m.history) == 1


def test_live_tensors_of_a_device_largest_first():
    kept = torch.zeros(12345, device="sim:1"), torch.zeros(3, device="sim:1")
    alive = torch.observe.live_tensors("sim:1")
    assert alive[0] is kept[0] and any(t is kept[1] for t in alive)


def test_a_picture_of_backward():
    x = leaf(3)
    with torch.trace() as t:
        (x * x).sum().backward()
    picture = viz.trace(t)
    assert "1. SumBackward0#1" in picture.source and '"MulBackward0#1" -> "leaf#1"' in picture.source
    assert picture.text.startswith("Backward in 3 steps.")
    with pytest.raises(TypeError, match="expected what"):
        viz.trace(x)
