"""Writing in place: versions, writes through views and what they do to the graph, and writes that are refused."""

import math

import device_list
import pytest

import autogradlab as torch

DEVICES = pytest.mark.parametrize("device", device_list.DEVICES)


def leaf(*values, device="cpu"):
    return torch.tensor(list(values), device=device, requires_grad=True)


def test_a_storage_has_one_version_for_all_who_read_it():
    a = torch.zeros(4)
    view, cut, copy = a[:2], a.detach(), a.clone()
    view.add_(1)
    a.mul_(2)
    cut.zero_()
    assert a._version == view._version == cut._version == 3 and copy._version == 0
    assert a.data._version == 0  # .data has a counter of its own


@DEVICES
def test_a_saved_value_that_is_gone_is_noticed(device):
    x = leaf(1.0, 2.0, device=device)
    y = x.exp()
    z = (y * 2).sum()
    y.add_(1)
    with pytest.raises(
        RuntimeError, match="modified by an inplace operation.*ExpBackward0.*version 1; expected version 0"
    ):
        z.backward()


@DEVICES
def test_a_write_to_what_nobody_saved_is_harmless(device):
    x = leaf(1.0, 2.0, device=device)
    h = x * 2
    y = h * torch.full((2,), 3.0, device=device)  # saves the constant, not h
    h.add_(1)
    (y.sum() + h.sum()).backward()
    assert x.grad.tolist() == [8.0, 8.0]


def test_a_write_through_a_view_changes_the_gradient_of_its_part_only():
    x = torch.arange(6.0, requires_grad=True)
    y = x * 1
    part = y.view(2, 3)[0]
    part.mul_(10)
    assert y.grad_fn.name() == "CopySlices" and part.grad_fn.name() == "AsStridedBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == [0.0, 200.0, 400.0, 6.0, 8.0, 10.0]


def test_a_write_to_the_base_reaches_views_made_before():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    view = y[:2]
    y.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0, 0.0]


def test_a_write_through_a_transposed_and_sliced_view():
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    y = (x * 1).t()[1:, ::2]
    y.mul_(5)
    y._base.sum().backward()
    expected = torch.ones(3, 4)
    expected.t()[1:, ::2] = 5.0
    assert torch.equal(x.grad, expected)


def test_values_written_in_get_their_gradient():
    x, v = torch.zeros(4, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1] = v
    y[2:] *= 3
    y[torch.tensor([0, 3])] += 1
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 18.0, 24.0] and v.grad.item() == 2.0


def test_a_base_without_gradients_gets_them_from_what_is_written():
    base, v = torch.zeros(3), leaf(2.0)
    base[1:2] = v
    assert base.requires_grad and not base.is_leaf
    (base * 3).sum().backward()
    assert v.grad.tolist() == [3.0]


def test_an_in_place_formula_that_needs_the_old_value_has_it():
    x, v = leaf(1.0, 1.0, 1.0), torch.tensor(2.0, requires_grad=True)
    y = x * 1
    y[0] *= v
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0, 1.0] and v.grad.item() == 1.0


def test_writing_a_product_of_itself_is_noticed():
    x, v = leaf(1.0, 1.0), torch.tensor(2.0, requires_grad=True)
    y = x * 1
    y[0] = y[0] * v
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients_through_writes_can_be_differentiated_again():
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = x * x
    y[1:] *= x[0]
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)

    def first(values):
        a, b, c = values
        return [4 * a**3 + 2 * a * (b**4 + c**4), 4 * b**3 * a * a, 4 * c**3 * a * a]

    assert g.tolist() == pytest.approx(first([1.0, 2.0, 3.0]))
    eps = 1e-6
    for k in range(3):
        high, low = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]
        high[k] += eps
        low[k] -= eps
        assert second[k].item() == pytest.approx((sum(first(high)) - sum(first(low))) / (2 * eps), rel=1e-5)


def test_retain_grad_follows_a_tensor_through_a_write():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad.tolist() == [6.0, 6.0]


def test_half_precision_writes_round_once():
    x = torch.tensor([1.0, 2.0]).bfloat16()
    x.mul_(1.0 / 3)
    assert torch.equal(x, (torch.tensor([1.0, 2.0]) * (1.0 / 3)).bfloat16())


# Refused --------------------------------------------------------------------------------------------------------------


def multi_output():
    a, _ = (leaf(1.0, 2.0) * 1).split(1)
    a.add_(1)


def made_without_gradients():
    y = leaf(1.0, 2.0) * 1
    with torch.no_grad():
        view = y[:1]
    view.add_(1)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda: leaf(1.0).add_(1), "a leaf Variable that requires grad.*in-place"),
        (lambda: leaf(1.0, 2.0)[0:1].mul_(2), "a view of a leaf Variable that requires grad.*in-place"),
        (lambda: torch.zeros(1, 3).expand(2, 3).add_(1), "single memory location.*clone"),
        (lambda: torch.zeros(3, dtype=torch.int64).mul_(0.5), "can't be cast"),
        (lambda: torch.zeros(3).add_(torch.zeros(2, 3)), "cannot be resized"),
        (lambda: torch.zeros(2).masked_fill_(torch.ones(2), 0.0), "boolean masks"),
        (multi_output, "split returns several views at once"),
        (made_without_gradients, "made under no_grad"),
        (lambda: torch.add(leaf(1.0), 1, out=torch.zeros(1)), "don't support automatic differentiation"),
    ],
)
def test_writes_that_would_break_a_graph_are_refused(write, words):
    with pytest.raises(RuntimeError, match=words):
        write()


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.add_(torch.zeros(5)),
        lambda x: x.copy_(torch.zeros(5)),
        lambda x: x.__setitem__(9, 1.0),
        lambda x: x[0:1].mul_(2),
    ],
)
def test_a_refused_write_changes_nothing(write):
    x = leaf(1.0, 2.0, 3.0)
    with pytest.raises((RuntimeError, IndexError)):
        write(x)
    assert x.tolist() == [1.0, 2.0, 3.0] and x._version == 0 and x.is_leaf


def test_writes_to_a_leaf_under_no_grad():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        x.sub_(0.5)
        x[0] = 7.0
    assert x.tolist() == [7.0, 1.5] and x.is_leaf and x.requires_grad


def test_out_takes_the_result():
    out = torch.zeros(2)
    assert torch.add(torch.ones(2), 1, out=out) is out and out.tolist() == [2.0, 2.0] and out._version == 1


PACKED = {
    "mul": (lambda b: b.mul_(b), [4, 6]),
    "pow": (lambda b: b.pow_(b), [4 * (1 + math.log(2)), 27 * (1 + math.log(3))]),
    "hypot": (lambda b: b.hypot_(b), [math.sqrt(2)] * 2),
    "a view of it": (lambda b: b.mul_(b.view(2)), [4, 6]),
    "detached": (lambda b: b.mul_(b.detach()), [2, 3]),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_a_write_needs_is_packed_before_it(name):
    """Of pow and hypot, PyTorch 2.13 packs the second operand after the write."""
    write, expected = PACKED[name]
    x = torch.tensor([2.0, 3.0], requires_grad=True)

    def compute(x):
        b = x * 1
        write(b)
        return b

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        hooked = compute(x)
    for out in (hooked, torch.utils.checkpoint.checkpoint(compute, x)):
        x.grad = None
        out.sum().backward()
        assert x.grad.tolist() == pytest.approx(expected)


def test_a_write_that_cannot_be_recorded_changes_nothing():
    a = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    with torch.inference_mode():
        factor = torch.ones(2) * 3
    with pytest.raises(RuntimeError, match="[Ii]nference tensors cannot be saved"):
        a.mul_(factor)
    assert a.tolist() == [2, 4] and a._version == 0


def test_data_that_is_exchanged_counts_its_writes_alone():
    w, other = torch.tensor([1.0, 2.0], requires_grad=True), torch.zeros(2)
    other.add_(5)
    product = w * w
    w.data = other
    assert (w._version, other._version) == (0, 1) and w.data_ptr() == other.data_ptr()
    product.sum().backward()
    assert w.grad.tolist() == [10, 10], "what was saved is w itself, which now reads other memory"
