"""The explorer of a call's layers: what each did, and the view."""

import ipywidgets as widgets
import pytest
from panels import every, said

from autogradlab.learn.explorers.call import CALLS, DEVICES, DTYPES, NOTHING, WANTS, explore_call, layers


def did(*choice):
    return dict(layers(*choice))


def test_promotion_and_a_node():
    rows = did("a + b", "float32", "float64", "cpu", False, "a")
    assert list(rows) == ["Python", "autocast", "dtype and device", "kernel", "autograd"]
    assert rows["dtype and device"] == "computes in float64 on cpu" and NOTHING in rows["autocast"]
    assert rows["autograd"] == "node AddBackward0, saves nothing"
    assert "ops/pointwise.py; result float64 (2, 2)" in rows["kernel"]


def test_autocast_lowers_products_and_lifts_exponentials_on_an_accelerator():
    product = did("a @ b", "float32", "float32", "sim", True, "a")
    assert product["autocast"].startswith("operands become float16") and "float16" in product["kernel"]
    assert "MmBackward0" in product["autograd"]
    assert "float32" in did("a.exp()", "float16", "float16", "sim", True, "")["autocast"]
    assert "as they are" in did("a + b", "float32", "float32", "cpu", True, "")["autocast"]
    assert "leaves writes alone" in did("a.mul_(b)", "float32", "float32", "cpu", True, "")["autocast"]


def test_why_there_is_no_node():
    assert "no input asks" in did("a + b", "float32", "float32", "cpu", False, "")["autograd"]
    assert "switched off" in did("a + b", "float32", "float32", "cpu", False, "no_grad")["autograd"]


def test_views_and_writes_and_what_is_refused():
    assert did("a.t()", "int64", "int64", "cpu", False, "")["kernel"].startswith("none: new strides")
    assert "into a's own memory" in did("a.mul_(b)", "float32", "float32", "cpu", False, "")["kernel"]
    assert "same dtype" in did("a @ b", "float32", "float64", "cpu", False, "")["dtype and device"]
    assert "int64" in did("a + b", "int64", "int64", "cpu", False, "a")["Python"]


@pytest.mark.parametrize("call", CALLS)
def test_every_choice_is_answered(call):
    for a in DTYPES:
        for device in DEVICES:
            for wants in WANTS.values():
                for autocast in (False, True):
                    assert layers(call, a, "float32", device, autocast, wants)[0][0] == "Python"


def test_the_view_follows_and_bad_calls_are_refused():
    panel = explore_call("a @ b")
    call, _, b, device, autocast, _ = every(panel, widgets.Dropdown)
    assert "<b>autograd</b>" in said(panel) and "MmBackward0" in panel.said and "MmBackward0" in panel.static
    b.value = "float64"
    assert "refused" in said(panel)
    call.value, device.value, autocast.value = "a + b", "sim", True
    assert "computes in float64 on sim:0" in said(panel)
    with pytest.raises(ValueError, match="call must be one of"):
        explore_call("a - b")
