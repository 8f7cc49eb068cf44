"""autograd.functional and autograd.graph."""

import pytest

import autogradlab as torch


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def twice(x, pack=lambda t: t, unpack=lambda t: t):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * 2).exp()
        z = (y * y * x).sum()
    (g,) = torch.autograd.grad(z, x, create_graph=True)
    return torch.autograd.grad((g * g).sum(), x)[0]


def test_second_derivatives_do_not_depend_on_saved_tensors_hooks():
    x = numbers(3)
    plain = twice(x)
    assert torch.equal(plain, twice(x, lambda t: t.tolist(), lambda v: torch.tensor(v, dtype=torch.float64)))
    assert torch.equal(plain, twice(x, lambda t: t.detach().clone(), lambda t: t))


def test_saved_tensors_hooks_that_misbehave():
    x = numbers(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            x.exp()
    grad_modes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: grad_modes.append(torch.is_grad_enabled()), lambda t: x):
        x.exp()
    assert grad_modes == [False]


def test_a_view_made_without_gradients_says_it_requires_them_and_gets_none():
    x = numbers(3)
    with torch.no_grad():
        view = x[:2]
    assert view.requires_grad and view.is_leaf
    out = view * 2
    assert out.grad_fn.next_functions[0] == (None, 0)
    (out.sum() + x.sum()).backward()
    assert view.grad is None and x.grad.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.backward(view, torch.ones(2, dtype=torch.float64))


def test_as_strided_looks_at_the_storage_each_time():
    torch.ones(4)[:1].as_strided((2,), (1,), 1)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.ones(1).as_strided((2,), (1,), 1)


def test_an_operand_that_the_write_would_change():
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:].add_(x[:-1])
    assert torch.equal(x[:3].add_(x[3:]), torch.tensor([3.0, 5.0, 7.0]))
    assert torch.equal(x.mul_(x.view(6)), torch.tensor([9.0, 25.0, 49.0, 9.0, 16.0, 25.0]))


def test_an_expanded_gradient_that_was_recorded_can_be_added_to():
    x = torch.tensor([1.0, 2.0, 3.0]).requires_grad_()
    (x.mean() ** 2).backward(create_graph=True)
    (x * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert torch.allclose(x.grad, torch.tensor([4.0, 4.0, 4.0]) / 3 + torch.tensor([1.0, 2.0, 3.0]))
