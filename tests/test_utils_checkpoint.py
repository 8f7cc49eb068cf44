"""Checkpointing: the same gradients as without, what is recomputed when, and what happens if it differs."""

import contextlib
import weakref

import pytest

import autogradlab as torch
from autogradlab import nn
from autogradlab.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

ckpt = checkpoint


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def grads(fn, *inputs):
    return [g.tolist() for g in torch.autograd.grad(fn(*inputs).sum(), inputs)]


def mixed(x, w):
    y = (x @ w).tanh()
    return (y * y).exp() / (1 + y.abs())


def test_the_same_gradients():
    x, w = numbers(3, 4), numbers(4, 2)
    assert grads(lambda x, w: ckpt(mixed, x, w, use_reentrant=False), x, w) == grads(mixed, x, w)


def test_nothing_is_saved_and_the_function_runs_twice():
    seen = []

    def fn(x):
        seen.append(weakref.ref(y := x.exp()))
        return y.exp()

    x = numbers(5)
    out = ckpt(fn, x)
    assert len(seen) == 1 and seen[0]() is None
    out.sum().backward()
    assert len(seen) == 2 and seen[1]() is None


def test_it_stops_early():
    seen = []

    def fn(x):
        y = x.exp()
        seen.append("after")
        return y + 1

    x = numbers(2)
    ckpt(fn, x).sum().backward()
    assert seen == ["after"]
    ckpt(fn, x, early_stop=False).sum().backward()
    with set_checkpoint_early_stop(False):
        out = ckpt(fn, x)
    out.sum().backward()
    assert len(seen) == 5


def test_without_gradients_it_is_a_plain_call():
    with torch.no_grad():
        assert not ckpt(torch.exp, numbers(2)).requires_grad


def test_keyword_arguments_and_several_outputs():
    x, y = numbers(3), numbers(3)

    def fn(x, *, scale):
        return x.exp() * scale, x.sin()

    a, b = ckpt(fn, x, scale=y)
    (a * b).sum().backward()
    plain = [t.detach().clone().requires_grad_() for t in (x, y)]
    a, b = fn(plain[0], scale=plain[1])
    (a * b).sum().backward()
    assert torch.equal(x.grad, plain[0].grad) and torch.equal(y.grad, plain[1].grad)


def test_twice_with_retain_graph_and_not_without():
    x = numbers(3)
    out = ckpt(mixed, x.reshape(1, 3), numbers(3, 2)).sum()
    out.backward(retain_graph=True)
    first = x.grad.clone()
    out.backward()
    assert torch.allclose(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        out.backward()


def test_second_derivatives():
    x = numbers(3)

    def twice(fn):
        (g,) = torch.autograd.grad(fn(x).sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0].tolist()

    assert twice(lambda x: ckpt(lambda x: x.exp().sin(), x)) == twice(lambda x: x.exp().sin())


def test_nested():
    count = [0, 0]

    def inner(x):
        count[1] += 1
        return x.exp().sin()

    def outer(x):
        count[0] += 1
        return ckpt(inner, x.cos()).exp() * x

    x = numbers(4)
    assert grads(lambda x: ckpt(outer, x), x) == grads(lambda x: (x.cos().exp().sin()).exp() * x, x)
    assert count == [2, 3]


def test_random_numbers_are_replayed_and_go_on():
    x = torch.ones(1000).requires_grad_()
    torch.manual_seed(0)
    out = ckpt(lambda x: nn.functional.dropout(x * x, 0.5), x)
    after = torch.rand(3)
    torch.manual_seed(0)
    nn.functional.dropout(x * x, 0.5)
    assert torch.equal(after, torch.rand(3))
    before = torch.get_rng_state()
    out.sum().backward()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal((x.grad != 0), (out != 0))


def test_random_numbers_of_every_device():
    x = torch.ones(200, device="sim:1").requires_grad_()
    out = ckpt(lambda x: x.exp() * torch.rand(200, device="sim:1"), x)
    out.sum().backward()
    assert torch.allclose(x.grad.cpu(), out.detach().cpu())


def test_without_the_random_state():
    x = torch.ones(1000).requires_grad_()
    out = ckpt(lambda x: nn.functional.dropout(x.exp(), 0.5), x, preserve_rng_state=False)
    out.sum().backward()
    assert not torch.equal((x.grad != 0), (out != 0))


def test_autocast_as_it_was():
    x, w = torch.randn(3, 4).requires_grad_(), torch.randn(4, 4).requires_grad_()
    seen = []

    def fn(x):
        seen.append((x @ w).dtype)
        return (x @ w).exp()

    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = ckpt(fn, x)
    out.float().sum().backward()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ckpt(fn, x).sum().backward()
    other = ckpt(fn, x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        other.sum().backward()
    assert seen == [torch.bfloat16] * 4 + [torch.float32] * 2


def test_backward_inside():
    def fn(x):
        with torch.enable_grad():
            (g,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
        return g * x

    x = numbers(3)
    assert grads(lambda x: ckpt(fn, x), x) == grads(lambda x: x.exp() * x, x)


def test_a_module_in_segments():
    torch.manual_seed(1)
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
    x = torch.randn(2, 4).requires_grad_()
    want = grads(model, x)
    for segments in (1, 2, 3, 5):
        assert grads(lambda x, n=segments: checkpoint_sequential(model, n, x, use_reentrant=False), x) == want
    with pytest.raises(ValueError, match="Unexpected keyword arguments: colour"):
        checkpoint_sequential(model, 2, x, colour=1)
    with pytest.raises(ValueError, match="segments must be from 1 to 5"):
        checkpoint_sequential(model, 6, x)


def turns(*functions):
    """A function that is another one each time."""
    runs = iter(functions)
    return lambda x: next(runs)(x)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (lambda x: x.clone(), "A different number of tensors"),
        (lambda x: x.double().exp().sin(), "different metadata"),
        (lambda x: x[:1].exp().sin(), "different metadata"),
    ],
)
def test_a_second_run_that_differs(second, says):
    x = torch.ones(3).requires_grad_()
    out = ckpt(turns(lambda x: x.exp().sin(), second), x)
    with pytest.raises(CheckpointError, match=says):
        out.sum().backward()
    assert issubclass(CheckpointError, RuntimeError)


def test_more_in_the_second_run_is_seen_without_early_stop():
    x = torch.ones(3).requires_grad_()
    out = ckpt(turns(torch.exp, lambda x: x.exp().sin()), x, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors"):
        out.sum().backward()


def test_the_check_can_be_left_out_and_debug_lists_operators():
    x = torch.ones(3).requires_grad_()
    ckpt(turns(lambda x: x.exp(), lambda x: x.exp()[:3]), x, determinism_check="none").sum().backward()
    with set_checkpoint_debug_enabled(True):
        out = ckpt(turns(lambda x: x.exp().sin(), lambda x: x.clone()), x)
    with pytest.raises(CheckpointError, match=r"first run: exp, sin\nsecond run: clone"):
        out.sum().backward()


def test_a_tensor_asked_for_twice_in_one_pass():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * ctx.saved_tensors[0]

    out = ckpt(Twice.apply, numbers(2))
    with pytest.raises(CheckpointError, match="already unpacked once"):
        out.sum().backward()


def test_an_input_changed_in_place_is_noticed():
    x = numbers(3)
    y = x * 1
    out = ckpt(torch.exp, y)
    with torch.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_an_error_in_the_second_run_comes_through_and_leaves_no_mode():
    def fails(x):
        raise KeyError("oh")

    x = torch.ones(3).requires_grad_()
    out = ckpt(turns(torch.exp, fails), x)
    before = torch.get_rng_state()
    with pytest.raises(KeyError, match="oh"):
        out.sum().backward()
    assert torch.is_grad_enabled() and torch.equal(before, torch.get_rng_state())
    y = torch.ones(2).requires_grad_().exp()
    y.sum().backward()


def test_contexts_of_both_runs():
    seen = []

    @contextlib.contextmanager
    def noted(name):
        seen.append(name)
        yield

    x = torch.ones(3).requires_grad_()
    out = ckpt(torch.exp, x, context_fn=lambda: (noted("first"), noted("second")))
    assert seen == ["first"]
    out.sum().backward()
    assert seen == ["first", "second"]
    with pytest.raises(ValueError, match="debug=True is incompatible"):
        ckpt(torch.exp, x, debug=True, context_fn=lambda: (noted("first"), noted("second")))


def test_what_is_refused():
    x = torch.ones(3).requires_grad_()
    with pytest.raises(NotImplementedError, match="only the non-reentrant form"):
        ckpt(torch.exp, x, use_reentrant=True)
    with pytest.raises(NotImplementedError, match="use_reentrant=False"):
        checkpoint_sequential([torch.exp], 1, x, use_reentrant=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        ckpt(torch.exp, x, determinism_check="sometimes")


def test_saved_values_can_be_looked_at():
    x = torch.ones(3).requires_grad_()
    out = ckpt(torch.exp, x)
    assert torch.equal(out.grad_fn._saved_result, out) and torch.equal(out.grad_fn._saved_result, out)
    out.sum().backward()
    assert torch.equal(x.grad, out)
