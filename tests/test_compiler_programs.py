"""compile() on random programs: values, layouts, gradients and what was written are as without it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autogradlab as torch
from autogradlab.compiler import blocks


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that small tensors are cut into several blocks."""
    before, blocks.BLOCK = blocks.BLOCK, 1 << 12
    yield
    blocks.BLOCK = before


UNARY = [
    ("tanh", lambda a: a.tanh()), ("exp", lambda a: (-a * a).exp()), ("relu", torch.relu), ("neg", lambda a: -a),
    ("number", lambda a: a * 0.5 + 1), ("where", lambda a: torch.where(a > 0, a, a * 0.1)),
    ("sum", lambda a: a.sum(-1, keepdim=True)), ("mean", lambda a: a.mean()), ("softmax", lambda a: a.softmax(-1)),
    ("transpose", lambda a: a.transpose(-1, -2) if a.dim() > 1 else a.view(-1, 1)),
    ("slice", lambda a: a[:1] if a.dim() else a), ("clone", lambda a: a.clone()), ("detach", lambda a: a.detach()),
    ("half", lambda a: a.to(torch.float16).to(torch.float32)), ("max", lambda a: a.amax(-1) if a.dim() else a),
    ("zeros", lambda a: torch.zeros_like(a) + a), ("clamp", lambda a: a.clamp(-0.5, 0.5)),
]  # fmt: skip
BINARY = [
    ("add", lambda a, b: a + b), ("mul", lambda a, b: a * b), ("sub", lambda a, b: a - 2 * b),
    ("div", lambda a, b: a / (b * b + 1)), ("maximum", torch.maximum), ("lerp", lambda a, b: torch.lerp(a, b, 0.3)),
]  # fmt: skip
WRITES = [
    ("mul_", lambda a, b: a.mul_(0.5)), ("add_", lambda a, b: a.add_(b.sum())), ("fill", lambda a, b: _put(a)),
    ("tanh_", lambda a, b: a.tanh_()),
]  # fmt: skip


def _put(a):
    if a.dim():
        a[0] = 0.25
    return a


def program(plan, returned):
    """A function of two tensors that does what the plan says; what a step refuses, it leaves out."""

    def f(x, w):
        values = [x, w, x * w]
        for kind, which, i, j, no_grad in plan:
            a, b = values[i % len(values)], values[j % len(values)]
            with torch.set_grad_enabled(not no_grad):
                try:
                    if kind == "unary":
                        made = UNARY[which % len(UNARY)][1](a)
                    elif kind == "binary":
                        made = BINARY[which % len(BINARY)][1](a, b)
                    else:
                        target = values[3 + i % (len(values) - 3)] if len(values) > 3 else values[2]
                        made = WRITES[which % len(WRITES)][1](target, b)
                except RuntimeError:  # shapes that do not broadcast, a write that a graph forbids
                    continue
            values.append(made)
        return [values[r % len(values)] for r in returned]

    return f


STEP = st.tuples(st.sampled_from(["unary", "unary", "binary", "binary", "binary", "write"]), st.integers(0, 30),
                 st.integers(0, 20), st.integers(0, 20), st.sampled_from([False, False, False, True]))  # fmt: skip


@settings(max_examples=300)
@given(
    plan=st.lists(STEP, min_size=2, max_size=14),
    returned=st.lists(st.integers(0, 20), min_size=1, max_size=3),
    shapes=st.sampled_from([((2, 3), (2, 3)), ((2, 3), (3,)), ((3, 1), (1, 4)), ((4,), ()), ((110, 90), (90,))]),
    seed=st.integers(0, 5),
)
def test_random_programs(plan, returned, shapes, seed):
    f = program(plan, returned)
    compiled = torch.compile(f)
    outcomes = []
    for run in (f, compiled, compiled):
        random = np.random.default_rng(seed)
        x, w = (torch.tensor(random.normal(size=s), dtype=torch.float32, requires_grad=True) for s in shapes)
        outcomes.append((*results(run, x, w),))
    plain, traced, again = outcomes
    assert len(plain[0]) == len(again[0])
    for a, b, c in zip(plain[0], traced[0], again[0], strict=True):
        assert a.dtype is c.dtype and a.stride() == c.stride() and a.requires_grad == c.requires_grad
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
        np.testing.assert_array_equal(a.detach().numpy(), c.detach().numpy())
    assert plain[2] == traced[2]
    for a, c in zip(plain[1], again[1], strict=True):
        assert (a is None) == (c is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), c.numpy(), rtol=2e-4, atol=2e-5)


def results(run, x, w):
    """(results, gradients of x and w, the error of backward)."""
    out = run(x, w)
    roots = [t.sum() for t in out if t.requires_grad]
    error = None
    if roots:
        try:
            torch.autograd.backward(roots)
        except RuntimeError as refused:
            error = str(refused).partition(":")[0]
    return out, [None if error else x.grad, None if error else w.grad], error
