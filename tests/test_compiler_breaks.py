"""compile(): what cannot be traced runs as it is, and says why; what is no operator keeps its place among the steps."""

import random as dice
import types

import numpy as np
import pytest
from test_compiler import gelu, kinds, twice

import autogradlab as torch
import autogradlab.nn.functional as F
from autogradlab import nn, observe
from autogradlab.compiler import Unsupported

# What cannot be traced ------------------------------------------------------------------------------------------------

BREAKS = {
    "branch": (lambda x: x * 2 if x.sum() > 0 else x * 3, "needs the values"),
    "item": (lambda x: x + x.max().item(), "needs the values"),
    "numpy": (lambda x: torch.from_numpy(x.detach().numpy()) + 1, "needs the values"),
    "mask": (lambda x: x[x > 0], "needs the values"),
    "tolist": (lambda x: torch.tensor(x.tolist()) + x, "needs the values"),
    "hook": (lambda x: _hooked(x * 2), "registers a hook"),
    "grad": (lambda x: torch.autograd.grad((x * x).sum(), x)[0] + x, "backward"),
    "leaf": (lambda x: x.detach().clone().requires_grad_() * x, "requires gradients"),
    "data": (lambda x: x.data + x, ".data"),
    "print": (lambda x: print("seen") or x + 1, "calls print()"),
    "object": (lambda x: {"a": object(), "b": x + 1}["b"] if x is None else _Odd(x + 1), "returns a _Odd"),
    "random": (lambda x: x + dice.random() * 0, "uses random"),
    "numpy random": (lambda x: x + float(np.random.random()) * 0, "uses numpy.random"),
    "counter": (lambda x: (COUNTER.append(1), x + len(COUNTER) * 0)[1], "changes what it reads"),
    "generator": (lambda x: x + torch.Generator().random.random(), "random numbers"),
    "seed": (lambda x: x + torch.rand(5, generator=torch.Generator().manual_seed(3)), "manual_seed"),
}


COUNTER = []


class _Odd:
    def __init__(self, value):
        self.value = value


def _hooked(y):
    y.register_hook(lambda g: g * 10)
    return y


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_runs_the_function_as_it_is(name, capsys):
    f, why = BREAKS[name]
    compiled = torch.compile(f)
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.randn(5, requires_grad=True)
        out, plain = compiled(x), f(x)
        out, plain = (o.value if isinstance(o, _Odd) else o for o in (out, plain))
        assert out.equal(plain) and out.requires_grad == plain.requires_grad
        if out.requires_grad:
            grads = [torch.autograd.grad(t.sum(), x, retain_graph=True)[0] for t in (out, plain)]
            assert grads[0].equal(grads[1])
    assert why in str(compiled.breaks[0])
    if name == "print":
        assert capsys.readouterr().out.count("seen") == 6
    else:
        assert "test_compiler_breaks.py" in str(compiled.breaks[0]), "the line is named"
    with pytest.raises(Unsupported, match="cannot be traced as a whole"):
        torch.compile(f, fullgraph=True)(torch.randn(5, requires_grad=True))


def test_tensors_are_themselves_again_after_a_trace():
    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(Unsupported):
        torch.compile(lambda x: layer(x).sum().item(), fullgraph=True)(x)
    out = torch.compile(lambda x: layer(x))(x)
    assert type(layer.weight) is nn.Parameter and type(x) is torch.Tensor and type(out) is torch.Tensor


def test_an_error_in_the_function_is_its_own_and_nothing_is_kept():
    compiled = torch.compile(lambda x, y: x @ y)
    with pytest.raises(RuntimeError, match="shape"):
        compiled(torch.ones(2, 3), torch.ones(2, 3))
    assert compiled.count == 0
    assert compiled(torch.ones(2, 3), torch.ones(3, 2)).tolist() == [[3, 3], [3, 3]]


# Steps that are no operators ------------------------------------------------------------------------------------------


def test_factories_make_new_tensors_at_every_call():
    def f(x):
        total = torch.zeros(3)
        total += x
        return total

    compiled, first = twice(f, torch.ones(3))
    assert compiled(torch.ones(3)).tolist() == first.tolist() == [1, 1, 1] and not compiled.breaks


def test_random_numbers_are_drawn_at_every_call():
    def f(x):
        noise = torch.empty(3).normal_()
        return F.dropout(x, 0.5) + torch.rand(3) + torch.randn_like(x) + noise

    compiled, x = torch.compile(f), torch.ones(3)
    compiled(x)
    torch.manual_seed(5)
    mine = [compiled(x) for _ in range(2)]
    torch.manual_seed(5)
    plain = [f(x) for _ in range(2)]
    assert not compiled.breaks and mine[0].equal(plain[0]) and mine[1].equal(plain[1])


def test_writes_reach_arguments_and_their_graphs():
    def f(x, w):
        y = x * w
        y[0] = 5.0
        y.mul_(2)
        z = y * 3
        x.clone().add_(1)
        return z * 2

    results = []
    for g in (f, torch.compile(f)):
        for _ in range(2):
            x, w = torch.ones(3), torch.full((3,), 2.0, requires_grad=True)
            out = g(x, w)
            out.sum().backward()
        results.append((out, x, w.grad))
    for a, b in zip(*results, strict=True):
        assert a.equal(b)


def test_a_custom_function_keeps_its_backward():
    class Hundred(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 100

    x = torch.ones(2, requires_grad=True)
    compiled, out = twice(lambda x: Hundred.apply(x * 2 + 1) - 1, x)
    out.sum().backward()
    assert x.grad.tolist() == [200, 200] and not compiled.breaks


def test_modes_inside_and_around():
    def f(x):
        with torch.no_grad():
            half = x * 2 + 1
        with torch.autocast("cpu"):
            product = x @ x
        return half * x + product

    x = torch.randn(3, 3, requires_grad=True)
    compiled, out = twice(f, x)
    assert out.dtype is torch.float32 and out.equal(f(x)) and not compiled.breaks
    grads = [torch.autograd.grad(g(x).sum(), x)[0] for g in (f, compiled)]
    assert torch.allclose(*grads, rtol=1e-5)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            assert compiled(x).equal(f(x))
    assert compiled.count == 3


def test_disabled_functions_run_at_their_place():
    seen = []

    @torch.compiler.disable
    def note(x):
        seen.append(x.sum().item())
        return x * 2

    compiled = torch.compile(lambda x: note(x + 1) + 1)
    assert [compiled(torch.full((2,), float(k))).tolist() for k in range(3)] == [[3, 3], [5, 5], [7, 7]]
    assert seen == [2, 4, 6]


def test_compiled_inside_compiled_is_one_program():
    inner = torch.compile(lambda x: x * 2)
    compiled, out = twice(lambda x: inner(x) + 1, torch.ones(2))
    assert out.tolist() == [3, 3] and kinds(compiled) == ["fused"] and inner.count == 0


def test_a_trace_of_a_compiled_function_shows_its_kernels():
    compiled, _ = twice(gelu, torch.ones(3))
    with observe.trace() as t:
        compiled(torch.ones(3))
    assert [call.name for call in t.calls] == ["fused_mul_mul_mul_mul_etc"]


LAYERS = {
    "embedding": (lambda: nn.Embedding(6, 3), lambda: torch.tensor([[1, 0], [5, 2]])),
    "layer norm": (lambda: nn.LayerNorm(4), lambda: torch.randn(3, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4), lambda: torch.randn(3, 4)),
    "batch norm": (lambda: nn.BatchNorm1d(4), lambda: torch.randn(3, 4)),
    "attention": (lambda: _Attends(), lambda: torch.randn(2, 5, 8)),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 2)),
        lambda: torch.randn(2, 2, 6, 6),
    ),
}


class _Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x)[0]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_traced_as_a_whole(name):
    make, data = LAYERS[name]
    model, compiled = make(), None
    for _ in range(3):
        x = data()
        if compiled is None:
            compiled = torch.compile(model, fullgraph=True)
            compiled(x)
        model.zero_grad()
        compiled(x).square().sum().backward()
        mine = [p.grad for p in model.parameters()]
        model.zero_grad()
        model(x).square().sum().backward()
        for a, p in zip(mine, model.parameters(), strict=True):
            assert torch.allclose(a, p.grad, rtol=1e-5, atol=1e-6)


def test_indices_are_checked_at_every_call():
    table = torch.arange(8.0)

    def f(i):
        return table[i] + i

    compiled, _ = twice(f, torch.tensor([1, 2]))
    assert compiled(torch.tensor([-1, 3])).tolist() == [6, 6], "a negative index, where the trace had none"
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(torch.tensor([1, 8]))
    loss = torch.compile(lambda x, y: F.cross_entropy(x, y), fullgraph=True)
    x = torch.randn(2, 3)
    loss(x, torch.tensor([0, 2]))
    assert loss(x, torch.tensor([-100, 2])).equal(F.cross_entropy(x, torch.tensor([-100, 2])))
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        loss(x, torch.tensor([0, 3]))


def test_a_list_that_is_appended_to():
    def f(x, kept):
        kept.append(x * 2)
        return x + 1

    compiled = torch.compile(f)
    for _ in range(3):
        kept = []
        compiled(torch.ones(2), kept)
        assert len(kept) == 1
    assert "changes its arguments" in str(compiled.breaks[0])


settings = types.ModuleType("settings_of_a_user")
settings.SCALE = 2.0


class Scaled:
    factor = 1.0

    def __call__(self, x):
        return x * self.factor * settings.SCALE


def test_attributes_of_modules_and_classes_are_watched(monkeypatch):
    scaled = Scaled()
    compiled = torch.compile(scaled)
    x = torch.ones(2)
    assert [compiled(x).tolist() for _ in range(2)] == [[2, 2]] * 2 and compiled.count == 1
    monkeypatch.setattr(settings, "SCALE", 3.0)
    assert compiled(x).tolist() == [3, 3]
    monkeypatch.setattr(Scaled, "factor", 10.0)
    assert compiled(x).tolist() == [30, 30]
