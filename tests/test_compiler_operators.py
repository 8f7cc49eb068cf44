"""compile() on every operator of the table, by its own samples: the same values, layouts and gradients as eager.

The operator stands between element-by-element steps, so that one that works element by element becomes part of a fused
region, forwards and backwards.
"""

import numpy as np
import pytest
from operator_samples import OPERATORS, WITHOUT, call, outputs, samples, tensors

import autogradlab as torch
from autogradlab import late

TESTED = [n for n in OPERATORS if n not in WITHOUT]


def around(name: str, kwargs: dict):
    """f(*args): the operator on twice its first argument, and what it gives times three."""

    def f(*args):
        first, *rest = args
        if isinstance(first, torch.Tensor) and first.dtype is not torch.bool:
            first = first * 2 / 2 if first.dtype.is_floating_point else first * 1
        found = outputs(call(name, [first, *rest], kwargs))
        return [t * 3 - t if t.dtype is not torch.bool else t for t in found]

    return f


def gradients(results, args) -> list:
    leaves = [t for t in tensors(args) if t.requires_grad]
    floats = [t for t in results if t.requires_grad]
    if not floats or not leaves:
        return []
    weights = [torch.linspace(-1, 2, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype) for t in floats]
    return list(torch.autograd.grad(floats, leaves, weights, allow_unused=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("name", TESTED)
def test_the_same_as_eager(name, dtype):
    for args, kwargs in samples(name):
        if dtype is not torch.float64:
            args = [a.detach().to(dtype).requires_grad_(a.requires_grad)
                    if isinstance(a, torch.Tensor) and a.dtype is torch.float64 else a for a in args]  # fmt: skip
        f = around(name, kwargs)
        try:
            plain = f(*args)
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # no such operator for float16
        compiled = torch.compile(f)
        first, again = compiled(*args), compiled(*args)
        for a, b, c in zip(plain, first, again, strict=True):
            assert a.dtype is b.dtype is c.dtype and a.stride() == b.stride() == c.stride() and type(c) is type(a)
            np.testing.assert_array_equal(*[t.detach().to(torch.float64).numpy() for t in (a, c)])
        for a, b in zip(gradients(plain, args), gradients(again, args), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert a.dtype is b.dtype and a.shape == b.shape
                np.testing.assert_allclose(*[t.to(torch.float64).numpy() for t in (a, b)], rtol=1e-12, atol=1e-300)


def test_what_works_element_by_element_is_fused():
    whole = {n for n in TESTED if late.operators[n].pointwise}
    seen = set()
    for name in whole:
        for args, kwargs in samples(name):
            compiled = torch.compile(around(name, kwargs))
            compiled(*args)
            if not compiled.breaks:
                seen |= {p.op.name for g in compiled.graphs for s in g.steps if s.kind == "fused" for p in s.what.parts}
    assert whole == seen
