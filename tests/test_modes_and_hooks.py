"""Gradient modes, hooks, saved-tensor hooks and anomaly detection."""

import io
import threading
from contextlib import redirect_stderr

import pytest

import autogradlab as torch
from autogradlab import modes, nn


def leaf(*values, device="cpu"):
    return torch.tensor(list(values), device=device, requires_grad=True)


# Modes ----------------------------------------------------------------------------------------------------------------


def test_modes_nest_and_come_back():
    x = leaf(1.0)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled() and modes.state.flags == 0
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert modes.state.flags == 0


def test_modes_as_decorators_of_functions_and_generators():
    x = leaf(1.0)

    @torch.no_grad()
    def function():
        return x * 2

    @torch.no_grad
    def bare():
        return x * 2

    @torch.no_grad()
    def generator():
        seen = yield x * 2
        while seen is not None:
            seen = yield x * seen

    assert not function().requires_grad and not bare().requires_grad and function.__name__ == "function"
    steps = generator()
    assert not next(steps).requires_grad and torch.is_grad_enabled()
    assert not steps.send(3.0).requires_grad and torch.is_grad_enabled()
    steps.close()


def test_set_grad_enabled_works_as_a_call_and_as_a_block():
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_inference_mode():
    w = leaf(1.0, 2.0)
    with torch.inference_mode():
        y = torch.full((2,), 2.0)
        assert y.is_inference() and (w * y).is_inference() and y[0].is_inference()
    (w + y).sum().backward()  # nothing of y is saved
    assert w.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        w * y
    with pytest.raises(RuntimeError, match="inference tensor outside InferenceMode"):
        y.add_(1)
    assert (w * y.clone()).requires_grad
    with torch.inference_mode(), torch.inference_mode(False):
        assert not torch.ones(1).is_inference()


def test_a_new_thread_starts_with_gradients_on():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# Hooks ----------------------------------------------------------------------------------------------------------------


def test_hooks_run_in_pytorch_s_order():
    x = leaf(1.0, 1.0)
    order = []
    x.register_hook(lambda g: order.append("leaf") or g * 3)
    x.register_post_accumulate_grad_hook(lambda p: order.append(("after", p.grad.tolist())))
    y = x * 2
    y.register_hook(lambda g: order.append("tensor 1"))
    y.retain_grad()
    y.register_hook(lambda g: order.append("tensor 2") or g * 10)
    y.grad_fn.register_prehook(lambda gs: order.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: order.append("post"))
    y.sum().backward()
    assert order == ["tensor 1", "tensor 2", "pre", "post", "leaf", ("after", [60.0, 60.0])]
    assert y.grad.tolist() == [10.0, 10.0], "kept after all hooks of the tensor"


def test_a_hook_is_removed_by_its_handle_or_at_the_end_of_a_block():
    x = leaf(1.0)
    calls = []
    handle = x.register_hook(lambda g: calls.append(1))
    with x.register_hook(lambda g: calls.append(2)):
        (x * 1).sum().backward()
    handle.remove()
    handle.remove()
    (x * 1).sum().backward()
    assert calls == [1, 2]


def test_a_hook_that_changes_the_shape_is_refused():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="changed the size of value"):
        y.sum().backward()


def test_saved_tensors_hooks_pack_and_unpack():
    packed = []
    x = leaf(2.0, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.shape) or t.tolist(), torch.tensor):
        y = (x * x.clone()).exp()
    y.sum().backward()
    assert len(packed) == 3 and x.grad[0].item() == pytest.approx(4 * 54.5982, rel=1e-4)


def test_anomaly_mode_names_the_forward_line():
    x = leaf(0.0)
    said = io.StringIO()
    with redirect_stderr(said), pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
        y = torch.sqrt(x) * 0  # the line to be named
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan"):
            y.sum().backward()
    assert "the line to be named" in said.getvalue() and not torch.is_anomaly_enabled()


def test_anomaly_mode_may_let_nan_pass():
    x = leaf(0.0)
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly(check_nan=False):
        (torch.sqrt(x) * 0).sum().backward()
    assert x.grad.isnan().item()


def test_a_node_can_be_called_by_hand():
    x, y = (torch.tensor([2.0, 3.0], requires_grad=True) for _ in range(2))
    z = x * y
    gx, gy = z.grad_fn(torch.tensor([1.0, 10.0]))
    assert gx.tolist() == [2, 30] and gx.requires_grad and gy.requires_grad  # recorded: gx depends on y
    assert x.grad is None and z.grad_fn(torch.ones(2))[1].tolist() == [2, 3]  # what was saved stays
    assert x.exp().grad_fn(torch.ones(2)).tolist() == x.exp().tolist()  # one input: no tuple
    assert (x * 2).grad_fn(torch.ones(2))[1] is None
    end = z.grad_fn.next_functions[0][0]
    assert end(torch.ones(2)) == () and end(torch.ones(2)) == () and x.grad.tolist() == [2, 2]
    with pytest.raises(TypeError, match="MulBackward0 expected 1 gradients, one for each output; got 2"):
        z.grad_fn(torch.ones(2), torch.ones(2))
    z.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.grad_fn(torch.ones(2))


def test_an_index_has_no_edge_and_no_gradient():
    x = torch.zeros(3, requires_grad=True)
    node = x.index_select(0, torch.tensor([2, 2])).grad_fn
    assert len(node.next_functions) == 1 and node(torch.ones(2)).tolist() == [0, 0, 2]


def test_nodes_are_numbered_as_they_are_made():
    x = torch.zeros(2, requires_grad=True)
    y = x * 2
    z = y.exp()
    assert z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr() >= 0
    assert y.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1


class TwoSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 4))

    def forward(self, x):
        return (x @ self.weight).relu()


def test_the_old_module_hook_sees_the_last_node_only():
    module, seen = TwoSteps(), []
    module.register_backward_hook(lambda m, gi, go: seen.append((m, gi[0].shape, go[0].shape)))
    with pytest.warns(FutureWarning, match="non-full backward hook when the forward contains multiple autograd Nodes"):
        module(torch.ones(2, 3, requires_grad=True)).sum().backward()
    assert seen == [(module, (2, 4), (2, 4))]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        module.register_full_backward_hook(lambda *a: None)
    module = TwoSteps()
    module.register_full_backward_hook(lambda m, gi, go: seen.append((m, gi[0].shape, go[0].shape)))
    module(torch.ones(2, 3, requires_grad=True)).sum().backward()
    assert seen[1] == (module, (2, 3), (2, 4))
    with pytest.raises(RuntimeError, match="Cannot use both"):
        module.register_backward_hook(lambda *a: None)


def test_the_old_module_hook_replaces_gradients_and_needs_a_graph():
    class Twice(nn.Module):
        def forward(self, x):
            return [{"out": x * 2}]

    module, x = Twice(), torch.ones(2, requires_grad=True) * 1
    x.retain_grad()
    module.register_backward_hook(lambda m, gi, go: (gi[0] * 10, None))
    with torch.no_grad():
        module(x)
    with pytest.warns(FutureWarning):
        module(x)[0]["out"].sum().backward()
    assert x.grad.tolist() == [20, 20]


def test_what_a_post_accumulate_hook_returns_is_refused():
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: p.grad.clamp_(-1, 1))
    with pytest.raises(RuntimeError, match="post accumulate grad hooks should return None"):
        (x * 3).sum().backward()
