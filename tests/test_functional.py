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
