"""Functions made of operators, against NumPy; generators; geometry in place; views of bits."""

import math
import warnings

import numpy as np
import pytest

import autogradlab as torch

A = np.random.default_rng(5).normal(size=(4, 3))
B = np.random.default_rng(6).normal(size=(4, 3))
SQUARE = A[:3] @ A[:3].T + 2 * np.eye(3)

AGAINST_NUMPY = [
    (lambda a, b: torch.einsum("ij,kj->ik", a, b), lambda a, b: np.einsum("ij,kj->ik", a, b)),
    (lambda a, b: torch.einsum("ij,ij->j", a, b), lambda a, b: np.einsum("ij,ij->j", a, b)),
    (lambda a, b: torch.einsum("...j,...j", a, b), lambda a, b: np.einsum("...j,...j", a, b)),
    (lambda a, b: torch.tensordot(a, b, ([0], [0])), lambda a, b: np.tensordot(a, b, ([0], [0]))),
    (torch.kron, np.kron),
    (torch.cross, np.cross),
    (lambda a, b: torch.cdist(a, b), lambda a, b: np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))),
    (lambda a, b: torch.diff(a, 2, 0), lambda a, b: np.diff(a, 2, 0)),
    (lambda a, b: torch.trapezoid(a, dim=0), lambda a, b: np.trapezoid(a, axis=0)),
    (lambda a, b: torch.quantile(a, 0.3, 0), lambda a, b: np.quantile(a, 0.3, 0)),
    (lambda a, b: torch.cov(a), lambda a, b: np.cov(a)),
    (lambda a, b: torch.corrcoef(a), lambda a, b: np.corrcoef(a)),
    (lambda a, b: torch.rot90(a, 3), lambda a, b: np.rot90(a, 3)),
    (lambda a, b: torch.block_diag(a, b)[4:, 3:], lambda a, b: b),
    (lambda a, b: torch.dstack((a, b)), lambda a, b: np.dstack((a, b))),
    (lambda a, b: torch.column_stack((a, b)), lambda a, b: np.column_stack((a, b))),
    (lambda a, b: torch.tensor_split(a, 3, 0)[1], lambda a, b: np.array_split(a, 3, 0)[1]),
    (lambda a, b: a.repeat_interleave(2, 1), lambda a, b: np.repeat(a, 2, 1)),
    (lambda a, b: torch.vander(a[0]), lambda a, b: np.vander(a[0])),
    (lambda a, b: torch.linalg.matrix_power(a[:3], 5), lambda a, b: np.linalg.matrix_power(a[:3], 5)),
    (lambda a, b: torch.linalg.multi_dot((a, b.mT, a)), lambda a, b: np.linalg.multi_dot((a, b.T, a))),
    (lambda a, b: torch.linalg.solve(a[:3], b[:3]), lambda a, b: np.linalg.solve(a[:3], b[:3])),
    (lambda a, b: torch.linalg.norm(a, "nuc"), lambda a, b: np.linalg.norm(a, "nuc")),
    (lambda a, b: torch.linalg.norm(a, 2), lambda a, b: np.linalg.norm(a, 2)),
    (lambda a, b: torch.diag_embed(a)[1], lambda a, b: np.diag(a[1])),
    (lambda a, b: torch.take(a, torch.tensor([0, -1])), lambda a, b: np.take(a, [0, -1])),
]


@pytest.mark.parametrize("case", range(len(AGAINST_NUMPY)))
def test_values_are_numpy_s_and_gradients_those_of_central_differences(case):
    ours, theirs = AGAINST_NUMPY[case]
    a, b = (torch.tensor(x, requires_grad=True) for x in (A, B))
    np.testing.assert_allclose(ours(a, b).detach().numpy(), theirs(A, B), rtol=1e-9, atol=1e-12)
    assert torch.autograd.gradcheck(ours, (a, b))


def test_decompositions_put_the_matrix_together_again():
    m = torch.tensor(SQUARE)
    q, r = torch.linalg.qr(torch.tensor(A))
    np.testing.assert_allclose((q @ r).numpy(), A)
    np.testing.assert_allclose(torch.linalg.inv(m).numpy() @ SQUARE, np.eye(3), atol=1e-12)
    sign, size = torch.linalg.slogdet(m)
    assert (sign * size.exp()).item() == pytest.approx(torch.linalg.det(m).item())
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        torch.linalg.inv(torch.ones(2, 2))


def test_looking_up():
    x = torch.tensor([3, 1, 3, 2, 1])
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 3], [2, 0, 2, 1, 0], [2, 1, 2])
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]
    assert torch.unique(torch.tensor([float("nan")] * 2)).numel() == 2
    assert torch.isin(x, torch.tensor([2])).tolist() == [False, False, False, True, False]
    assert torch.bucketize(torch.tensor([0.5, 1.0]), torch.tensor([0.0, 1.0])).tolist() == [1, 1]
    assert torch.bincount(x).tolist() == [0, 2, 1, 2]


def test_a_generator_repeats_and_is_nobody_else_s():
    own = torch.Generator().manual_seed(3)
    first = torch.rand(4, generator=own)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    drawn = torch.randn(3)
    assert torch.rand(4, generator=own.manual_seed(3)).equal(first)
    torch.set_rng_state(before)
    assert torch.randn(3).equal(drawn)
    with torch.random.fork_rng():
        inside = torch.rand(2)
    assert torch.rand(2).equal(inside)


@pytest.mark.parametrize("draw", [
    lambda x: x.uniform_(2, 1), lambda x: x.normal_(0, -1), lambda x: torch.bernoulli(x + 2),
    lambda x: torch.multinomial(x, 4), lambda x: torch.multinomial(x - 1, 1), lambda x: torch.randperm(-1),
])  # fmt: skip
def test_random_numbers_out_of_range_are_refused(draw):
    with pytest.raises(RuntimeError):
        draw(torch.ones(3))


def test_geometry_in_place_moves_no_data_and_keeps_the_graph():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    pointer, version = y.data_ptr(), y._version
    assert y.t_() is y and y.shape == (3, 2) and y.stride() == (1, 3)
    assert y.data_ptr() == pointer and y._version == version + 1 and y.grad_fn.name() == "TBackward0"
    y.unsqueeze_(0).squeeze_(0)
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(RuntimeError, match="leaf"):
        x.t_()


def test_the_same_bytes_as_another_dtype():
    x = torch.tensor([1.0, -0.0])
    assert x.view(torch.int32).tolist() == [0x3F800000, -(2**31)]
    assert x.view(torch.float64).shape == (1,) and x.view(torch.uint8).shape == (8,)
    x.view(torch.int32)[0] = 0
    assert x[0] == 0
    with pytest.raises(RuntimeError, match="divisible"):
        torch.ones(3).view(torch.float64)


def test_out_takes_the_result_of_composed_functions():
    x, kept = torch.arange(6.0).reshape(2, 3), torch.empty(0)
    assert torch.outer(x[0], x[1], out=kept) is kept and kept.shape == (3, 3)
    with pytest.raises(RuntimeError, match="out: result type Float"):
        torch.quantile(x, 0.5, out=torch.empty((), dtype=torch.int64))
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.vstack([x.requires_grad_(), x], out=kept)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the nan, which pytest.warns lets through
def test_a_spread_without_degrees_of_freedom_is_nan_and_says_why():
    for fn in (torch.std, torch.var, lambda x: torch.var_mean(x)[0], lambda x: torch.cov(x), lambda x: x.std()):
        with pytest.warns(UserWarning, match=r"degrees of freedom is <= 0: the \w+ \(1\) less the correction \(1\)"):
            assert fn(torch.ones(1)).isnan()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert torch.ones(1).var(correction=0).item() == 0 and torch.ones(2).std().item() == 0


SWITCHES = {
    "relu": (torch.relu, [0, 0, 0, 1, 1]),
    "relu6": (lambda x: torch.nn.functional.relu6(x * 5), [0, 0, 0, 1, 0]),
    "hardtanh": (torch.nn.functional.hardtanh, [0, 1, 1, 1, 0]),
    "hardswish": (lambda x: torch.nn.functional.hardswish(x * 3), [0, 1, 1, 1, 1]),
    "hardsigmoid": (lambda x: torch.nn.functional.hardsigmoid(x * 3), [0, 1, 1, 1, 0]),
    "hardshrink": (torch.nn.functional.hardshrink, [1, 0, 0, 0, 1]),
    "softshrink": (torch.nn.functional.softshrink, [1, 0, 0, 0, 1]),
    "threshold": (lambda x: torch.nn.functional.threshold(x, 0.0, 0.0), [0, 0, 0, 1, 1]),
    "clamp": (lambda x: x.clamp(-1, 1), [0, 1, 1, 1, 0]),
    "clamp by tensors": (lambda x: x.clamp(min=torch.zeros(5)), [0, 0, 1, 1, 1]),
    "fmax": (lambda x: torch.fmax(x, torch.zeros(5)), [0, 0, 1, 1, 1]),
    "max": (lambda x: x.max(), [0, 0, 0, 0, 1]),
    "median": (lambda x: x.median(), [0, 0, 1, 0, 0]),
}


@pytest.mark.parametrize("gradient", [float("inf"), float("nan")])
@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_switched_off_gets_no_gradient_even_of_inf(name, gradient):
    """inf * 0 would be nan: too high a loss scale would show where nothing overflowed.  Values: PyTorch 2.13."""
    fn, passes = SWITCHES[name]
    x = torch.tensor([-1.5, -0.4, 0.0, 0.4, 1.5], requires_grad=True)
    out = fn(x)
    out.backward(torch.full(tuple(out.shape), gradient))
    assert [g != 0 for g in x.grad.tolist()] == [bool(p) for p in passes]
    assert all(not math.isfinite(g) for g, p in zip(x.grad.tolist(), passes, strict=True) if p)
