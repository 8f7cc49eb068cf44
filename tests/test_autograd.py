"""The graph and the backward pass: leaves, accumulation, higher order, errors, lifetimes, threads."""

import gc
import threading
import warnings
import weakref

import device_list
import pytest

import autogradlab as torch
from autogradlab import modes
from autogradlab.autograd import calls
from autogradlab.graph import Node

DEVICES = pytest.mark.parametrize("device", device_list.DEVICES)


def leaf(*values, device="cpu"):
    return torch.tensor(list(values), device=device, requires_grad=True)


# Leaves and accumulation ----------------------------------------------------------------------------------------------


@DEVICES
def test_gradients_reach_leaves_and_only_leaves(device):
    w, x = leaf(2.0, 3.0, device=device), torch.tensor([1.0, 4.0], device=device)
    y = w * x
    y.sum().backward()
    assert w.grad.tolist() == [1.0, 4.0] and w.grad.device is w.device and x.grad is None and y.grad is None


@DEVICES
def test_accumulation_and_clearing(device):
    x = leaf(1.0, device=device)
    for factor, expected in ((2, 2.0), (3, 5.0)):
        (x * factor).sum().backward()
        assert x.grad.item() == expected
    x.grad.zero_()
    (x * 4).sum().backward()
    assert x.grad.item() == 4.0
    x.grad = None
    (x * 5).sum().backward()
    assert x.grad.item() == 5.0


def test_an_accumulated_gradient_is_the_leaf_s_own():
    """The first gradient is taken over, not copied, where nobody else holds it; never where somebody does."""
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad.add_(100)
    assert y.grad.tolist() == [1.0, 1.0]
    seed = torch.ones(2)
    z = leaf(1.0, 2.0)
    (z + 0).backward(seed)
    z.grad.mul_(7)
    assert seed.tolist() == [1.0, 1.0]


def test_a_gradient_has_the_layout_of_its_leaf():
    x = torch.zeros(3, 2).t().requires_grad_()
    (x * torch.ones(2, 3)).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 2)


def test_broadcast_gradients_are_summed_on_the_edge():
    a, b, s = (
        torch.ones(3, 1, requires_grad=True),
        torch.ones(4, requires_grad=True),
        torch.tensor(2.0, requires_grad=True),
    )
    (a * b * s).sum().backward()
    assert a.grad.shape == (3, 1) and b.grad.shape == (4,) and s.grad.shape == ()
    assert a.grad.flatten().tolist() == [8.0] * 3 and b.grad.tolist() == [6.0] * 4 and s.grad.item() == 12.0


def test_the_gradient_has_the_leaf_s_dtype():
    a, b = leaf(1.0).half().detach().requires_grad_(), torch.ones(1, dtype=torch.float64, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.dtype is torch.float16 and b.grad.dtype is torch.float64


def test_a_leaf_frozen_after_the_forward_pass_gets_nothing():
    x, y = leaf(1.0), leaf(2.0)
    z = (x * y).sum()
    x.requires_grad_(False)
    z.backward()
    assert x.grad is None and y.grad.item() == 1.0


# The graph ------------------------------------------------------------------------------------------------------------


def test_nodes_have_pytorch_s_names_edges_and_fields():
    w = leaf(2.0, 3.0)
    z = ((w * 2).exp() + 1).sum()
    names = []
    node = z.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    assert names == ["SumBackward0", "AddBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad"]
    product = z.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0]
    assert type(product).__name__ == "MulBackward0" and isinstance(product, Node)
    assert product._saved_other.item() == 2.0 and product.next_functions[1] == (None, 0)
    assert product.next_functions[0][0] is product.next_functions[0][0] and product.next_functions[0][0].variable is w
    with pytest.raises(AttributeError, match="did not save 'self': it keeps _saved_other"):
        _ = product._saved_self
    assert repr(product).startswith("<MulBackward0 object at ")


@pytest.mark.parametrize(
    ("compute", "saved"),
    [
        (lambda x: x + 1, []),
        (lambda x: x * torch.ones(2), ["_saved_other"]),
        (lambda x: x.exp(), ["_saved_result"]),
        (lambda x: x.sin(), ["_saved_self"]),
        (lambda x: x.view(2, 1), []),
    ],
)
def test_only_what_the_formulas_need_is_saved(compute, saved):
    node = compute(leaf(1.0, 2.0)).grad_fn
    assert [name for name in node.saved_fields() if isinstance(getattr(node, name), torch.Tensor)] == saved


def test_what_is_freed_is_what_was_saved():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        _ = y.grad_fn._saved_result
    with pytest.raises(RuntimeError, match="ExpBackward0 needs.*second time|second time.*ExpBackward0"):
        y.sum().backward()
    z = (x + 1).sum()
    z.backward()
    z.backward()  # nothing was saved, so nothing is missing


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: torch.ones(2).sum().backward(),
            "element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        (lambda: (leaf(1.0, 2.0) * 3).backward(), "only for scalar outputs.*shape .2,."),
        (lambda: (leaf(1.0) * 3).backward(torch.ones(2)), r"shape of \(2,\) and output\[0\] has a shape of \(1,\)"),
        (lambda: torch.tensor([1], requires_grad=True), "floating point"),
        (lambda: (leaf(1.0) * 2).requires_grad_(False), "leaf"),
        (lambda: torch.autograd.grad(leaf(1.0).sum(), [leaf(2.0)]), "not have been used in the graph: input 0"),
        (lambda: torch.ones(1).register_hook(print), "doesn't require gradient"),
        (lambda: setattr(leaf(1.0), "grad", torch.zeros(3)), "different size"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


# Asking for gradients -------------------------------------------------------------------------------------------------


def test_grad_returns_and_accumulates_nothing():
    x, y, unused = leaf(2.0), leaf(3.0), leaf(4.0)
    z = x * y
    gx, gu = torch.autograd.grad(z, [x, unused], allow_unused=True, retain_graph=True)
    assert gx.item() == 3.0 and gu is None and x.grad is None
    assert (
        torch.autograd.grad(z, [unused], retain_graph=True, allow_unused=True, materialize_grads=True)[0].item() == 0.0
    )
    assert torch.autograd.grad([z, x * 2], [x], grad_outputs=[torch.ones(1), torch.full((1,), 10.0)])[0].item() == 23.0


def test_grad_of_an_intermediate_result_runs_no_further():
    x = leaf(2.0)
    ran = []
    y = x * 3
    y.register_hook(lambda g: ran.append("hook"))
    y.grad_fn.register_hook(lambda gi, go: ran.append("node"))
    (g,) = torch.autograd.grad((y * y).sum(), y)
    assert g.item() == 12.0 and ran == ["hook"]


def test_backward_into_chosen_inputs():
    a, b = leaf(1.0), leaf(2.0)
    (a * b).sum().backward(inputs=[a])
    assert a.grad.item() == 2.0 and b.grad is None


def test_derivatives_of_every_order():
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y, expected = x**4, [32.0, 48.0, 48.0, 24.0, 0.0]
    for value in expected:
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(value)


def test_a_recorded_pass_accumulates_a_tensor_that_can_be_differentiated():
    x = leaf(3.0)
    (x**3).sum().backward(create_graph=True)
    assert x.grad.item() == 27.0 and x.grad.requires_grad
    (second,) = torch.autograd.grad(x.grad.sum(), x)
    assert second.item() == 18.0


# The engine -----------------------------------------------------------------------------------------------------------


def test_a_node_runs_once_and_after_everything_it_waits_for():
    x = leaf(1.0)
    y = x * 2
    calls = []
    y.register_hook(lambda g: calls.append(g.item()))
    (y * 3 + y * 4).sum().backward()
    assert calls == [7.0] and x.grad.item() == 14.0


def test_a_hundred_thousand_operations_in_a_row():
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1e-4
    y.backward()
    assert x.grad.item() == 1.0
    del y  # nor is destruction recursive


def test_a_graph_dies_at_once_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        y = (x * 2) * 1
        y[0].mul_(3)
        z = y.relu_().exp().sum()
        z.backward(retain_graph=True)
        graph = weakref.ref(z.grad_fn)
        del y, z
        assert graph() is None
        assert gc.collect() == 0, "cyclic garbage"
    finally:
        gc.enable()


def test_two_threads_add_to_one_leaf():
    x = torch.zeros(50_000, requires_grad=True)

    def work():
        for _ in range(30):
            (x * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.min().item() == x.grad.max().item() == 60.0


def test_an_observer_sees_every_call_and_every_step_of_backward():
    events = []
    x = leaf(1.0, 2.0)

    def note(event, **facts):
        events.append((event, facts["node"].name() if "node" in facts else facts.get("op")))

    with modes.observe(note):
        (x * 2).sum().backward()
    assert [(e, getattr(o, "name", o)) for e, o in events if e == "call"][:2] == [("call", "mul"), ("call", "sum")]
    assert [o for e, o in events if e == "node"] == ["SumBackward0", "MulBackward0"]
    assert modes.state.observer is None


def test_unused_branches_are_not_run():
    x, y = leaf(1.0), leaf(2.0)
    ran = []
    side = y * 3
    side.register_hook(lambda g: ran.append("side"))
    torch.autograd.grad((x * 2 + side).sum(), x)
    assert ran == []


def test_looking_for_a_gradient_where_none_is_kept_warns():
    x = torch.ones(3, requires_grad=True)
    y, kept, view = x * 2, x * 2, x[:1]
    kept.retain_grad()
    for tensor in (y, view):
        with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed.*retain_grad"):
            assert tensor.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is kept.grad is y.detach().grad is None  # leaves, and what is about to be kept
        y.grad = torch.ones(3)
        assert y.grad.tolist() == [1, 1, 1]


def test_backward_that_is_recorded_warns_once_of_its_cycle():
    calls._warn_of_the_cycle.cache_clear()
    x = torch.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="create_graph=True makes a reference cycle.*autograd.grad"):
        (x * x).sum().backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x * x).sum().backward(create_graph=True)
        torch.autograd.grad((x * x).sum(), x, create_graph=True)
    x.grad = None
