"""Public bug reports on autograd engines, as small programs with the right value.

Each stands for its kind.  Where one report is meant it is cited as repository#number; the programs are our own.
"""

import numpy as np
import pytest

import autogradlab as torch
from autogradlab import nn

F = nn.functional
INF, NAN = float("inf"), float("nan")


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values[0] if len(values) == 1 else values, dtype=dtype).requires_grad_()


def grads(fn, *leaves):
    """The gradients of the sum of fn(*leaves), as lists."""
    return [
        None if g is None else g.tolist() for g in torch.autograd.grad(fn(*leaves).sum(), leaves, allow_unused=True)
    ]


def zero(x):
    return x - x.mean()


# (report or kind, function, inputs, the gradient of each)
VALUES = [
    ("pytorch#1787 one element beside many", torch.mul, ([2.0], [[1.0, 2.0], [3.0, 4.0]]), ([10.0], [[2.0] * 2] * 2)),
    ("pytorch#1787 a column beside a row", torch.mul, ([[2.0], [3.0]], [[1.0, 4.0]]), ([[5.0], [5.0]], [[5.0, 5.0]])),
    ("pytorch#107007 a mean taken off", zero, ([1.0, 2.0, 3.0, 4.0],), ([0.0] * 4,)),
    ("pytorch#13669 a scalar broadcast twice", lambda z: (z.exp() - torch.zeros(10)) + z, (0.0,), (20.0,)),
    ("broadcast over a dimension of size 0", lambda a, b: a + b, (np.zeros((0, 2)), [1.0, 2.0]), ([], [0.0, 0.0])),
    ("HIPS/autograd#384 broadcast_to", lambda x: torch.broadcast_to(x, (4, 3)), ([1.0, 1.0, 1.0],), ([4.0] * 3,)),
    ("tinygrad#155 a power's exponent wants nothing", lambda a: a**3.0, ([-2.0, 0.0],), ([12.0, 0.0],)),
    ("tinygrad#155 a negative base", lambda a: a ** torch.tensor(2.0), ([-3.0],), ([-6.0],)),
    ("power 0 at 0", lambda a: a**0, ([0.0, 2.0],), ([0.0, 0.0],)),
    ("power 1 at 0", lambda a: a**1, ([0.0],), ([1.0],)),
    ("exponent's gradient where the base is 0", torch.pow, ([0.0, 0.0], [2.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])),
    ("tenstorrent/tt-metal#52144 a number to a power", lambda x: 2.0**x, ([0.0, 3.0],), ([np.log(2), 8 * np.log(2)],)),
    ("nn-zero-to-hero#52 exp uses its output", torch.exp, ([0.0, 1.0],), ([1.0, np.e],)),
    ("micrograd: a value used twice", lambda a: a + a, (3.0,), (2.0,)),
    ("micrograd: a diamond", lambda a: (a * 2) * (a * 3), (1.0,), (12.0,)),
    ("pytorch#2421 norm at 0", lambda x: x.norm(), ([0.0, 0.0],), ([0.0, 0.0],)),
    ("jax#4177 squared norm at 0", lambda x: x.norm() ** 2, ([0.0, 0.0],), ([0.0, 0.0],)),
    ("HIPS/autograd#617 norm of rows at 0", lambda x: x.norm(dim=-1) ** 2, ([[0.0, 0.0]],), ([[0.0, 0.0]],)),
    ("sqrt at 0", torch.sqrt, ([0.0, 4.0],), ([INF, 0.25],)),
    ("abs at 0", torch.abs, ([0.0, -2.0],), ([0.0, -1.0],)),
    ("relu at 0", torch.relu, ([0.0, 1.0, -1.0],), ([0.0, 1.0, 0.0],)),
    ("HIPS/autograd#212 maximum of equals", torch.maximum, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 0.0], [0.5, 1.0])),
    ("HIPS/autograd#141 max of one thing twice", lambda x: torch.stack([x, x]).amax(), (1.0,), (1.0,)),
    ("mxnet#18563 max over equals", lambda x: x.max(dim=0)[0], ([[1.0], [1.0]],), ([[1.0], [0.0]],)),
    ("amax shares among equals", lambda x: x.amax(), ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],)),
    ("jax#13600 max and argmax", lambda x: x[x.argmax()], ([1.0, 1.0],), ([1.0, 0.0],)),
    ("median of an even number", lambda x: x.median(), ([4.0, 1.0, 3.0, 2.0],), ([0.0, 0.0, 0.0, 1.0],)),
    ("clamp at its bounds", lambda x: x.clamp(-1, 1), ([-1.0, 1.0, 2.0],), ([1.0, 1.0, 0.0],)),
    ("clamp lets no nan through", lambda x: x.clamp(0, 1), ([NAN],), ([0.0],)),
    ("pytorch#1528 an index twice", lambda x: x[torch.tensor([0, 0])], ([1.0],), ([2.0],)),
    ("pytorch#1528 an index twice, one used", lambda x: x[torch.tensor([0, 0])][1], ([1.0],), ([1.0],)),
    ("index_select with repeats", lambda x: x.index_select(0, torch.tensor([1, 1, 0])), ([1.0, 2.0],), ([1.0, 2.0],)),
    ("embedding with repeats", lambda w: F.embedding(torch.tensor([1, 1]), w), ([[1.0], [2.0]],), ([[0.0], [2.0]],)),
    ("a negative index", lambda x: x[-1] * x[2], ([1.0, 2.0, 3.0],), ([0.0, 0.0, 6.0],)),
    ("gather with repeats", lambda x: x.gather(0, torch.tensor([1, 1, 1])), ([1.0, 2.0],), ([0.0, 3.0],)),
    ("prod with one 0", torch.prod, ([2.0, 0.0, 3.0],), ([0.0, 6.0, 0.0],)),
    ("prod with two 0", torch.prod, ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],)),
    ("cumprod with a 0", lambda x: x.cumprod(0), ([2.0, 0.0, 3.0],), ([1.0, 8.0, 0.0],)),
    ("var is divided by n - 1", lambda x: x.var(), ([1.0, 3.0],), ([-2.0, 2.0],)),
    ("std of equals", lambda x: x.std(), ([1.0, 1.0],), ([0.0, 0.0],)),
    ("logsumexp of large numbers", lambda x: x.logsumexp(0), ([1000.0, 1000.0],), ([0.5, 0.5],)),
    ("logsumexp of -inf", lambda x: x.logsumexp(0), ([-INF, 0.0],), ([0.0, 1.0],)),
    ("softplus of large numbers", F.softplus, ([1000.0, -1000.0],), ([1.0, 0.0],)),
    ("logsigmoid of large numbers", F.logsigmoid, ([1000.0, -1000.0],), ([0.0, 1.0],)),
    ("pytorch#68425 where passes 0 * inf on", lambda a: torch.where(a <= 0, a.exp(), 1 + a), (1000.0,), (NAN,)),
    ("pytorch#36923 where inside", lambda a: torch.where(a <= 0, 0.0, a).sqrt() * (a > 0), (4.0,), (0.25,)),
    ("xlogy at 0", lambda x: torch.xlogy(x, x + 1), ([0.0],), ([0.0],)),
    ("sinc-like: sin(x)/x by where", lambda x: torch.where(x == 0, 1 - x, x), ([0.0, 2.0],), ([-1.0, 1.0],)),
    ("floor and round have slope 0", lambda x: x.floor() + x.round() + x, ([1.2],), ([1.0],)),
    ("remainder by the divisor", torch.remainder, ([7.0], [3.0]), ([1.0], [-2.0])),
    ("atan2 in the second quadrant", torch.atan2, ([1.0], [-1.0]), ([-0.5], [-0.5])),
    ("matmul of vectors", torch.matmul, ([1.0, 2.0], [3.0, 4.0]), ([3.0, 4.0], [1.0, 2.0])),
    ("tinygrad#799 matmul broadcasts", lambda a: a @ torch.ones(3, 2, 2).double(), ([[1.0, 2.0]],), ([[6.0, 6.0]],)),
    ("a tensor times its own transpose", lambda a: a @ a.t(), ([[1.0, 2.0]],), ([[2.0, 4.0]],)),
    ("expand then sum", lambda x: x.expand(3, 2) * torch.arange(3.0)[:, None], ([1.0, 1.0],), ([3.0, 3.0],)),
    ("flip, roll and repeat", lambda x: x.flip(0).roll(1).repeat(2)[:3], ([1.0, 2.0],), ([2.0, 1.0],)),
    ("a sum without elements", lambda x: x[:0].sum() + x.sum() * 0, ([1.0],), ([0.0],)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("report", "fn", "inputs", "expected"), VALUES, ids=[v[0] for v in VALUES])
def test_gradient(report, fn, inputs, expected):
    leaves = [leaf(np.asarray(v, dtype=np.float64).tolist() if not isinstance(v, np.ndarray) else v) for v in inputs]
    for found, wanted in zip(grads(fn, *leaves), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def refused(match, kind=RuntimeError):
    return pytest.raises(kind, match=match)


# Writes and views -----------------------------------------------------------------------------------------------------


def test_views_of_views_inherit_that_they_may_not_be_written():
    """pytorch#36608, pytorch#49824."""
    x = leaf(1.0, 2.0, 3.0).clone().reshape(3, 1)
    with refused("several views"):
        x.unbind()[0].narrow(0, 0, 1).mul_(2)
    with refused("several views"):
        x.unbind()[0].view_as(x[0]).mul_(2)


def test_a_view_from_a_custom_function_is_not_written():
    """pytorch#14707, pytorch#31258: the write went round the Function's backward."""

    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return 3 * g.view(1, 2)

    x = leaf([[1.0, 2.0]])
    out = Flat.apply(x * 1)
    with refused("custom Function"):
        out.fill_(1)
    out.sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0]]


def test_half_of_a_result_overwritten():
    """pytorch/xla#1718."""
    w = leaf(1.0, 2.0, 3.0)
    x = w * 2
    x[:2] = 0
    x.sum().backward()
    assert w.grad.tolist() == [0.0, 0.0, 2.0]


def test_a_checkpoint_that_returns_a_view_written_in_place():
    """pytorch#36383."""
    from autogradlab.utils.checkpoint import checkpoint

    w, x = leaf(1.0), torch.zeros(3, dtype=torch.float64).requires_grad_()
    checkpoint(lambda x: (x + w)[:].relu_(), x).sum().backward()
    assert w.grad.item() == 3 and x.grad.tolist() == [1.0] * 3


def test_retain_grad_on_a_view_before_its_base_is_written():
    """pytorch#8874: the view that is asked keeps its gradient; views of it find their way to the base."""
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    view = y[:2]
    view.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0] * 3 and view.grad is None


def test_second_derivative_through_a_write_to_a_view():
    """pytorch#15219."""
    x = leaf(2.0, 3.0)
    y = x * 1
    y[0].mul_(x[1])
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [36.0, 30.0] and h.tolist() == [42.0, 34.0]


def test_a_refused_write_changes_nothing():
    x = leaf(1.0, 2.0)
    for write in (lambda: x.add_(1), lambda: x[0].zero_(), lambda: x.detach().add_(torch.ones(3))):
        with pytest.raises(RuntimeError):
            write()
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_a_value_that_backward_needs_is_overwritten():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    with refused("modified by an inplace operation"):
        y.sum().backward()


def test_a_product_with_itself_written_into_a_slice():
    x, v = leaf(1.0, 1.0), leaf(2.0)
    y = x * 1
    y[0] = y[0] * v
    with refused("modified by an inplace operation"):
        y.sum().backward()


# Graphs and passes ----------------------------------------------------------------------------------------------------


def test_two_passes_over_one_graph_add_up():
    """Engines that keep gradients on nodes count the first pass twice."""
    a = leaf(3.0)
    c = (a * a) * 1
    c.backward(retain_graph=True)
    c.backward()
    assert a.grad.item() == 12


def test_a_deep_graph_needs_no_recursion():
    x = y = leaf(1.0)
    for _ in range(5000):
        y = y + x
    y.backward()
    assert x.grad.item() == 5001


def test_hidden_state_carried_over_without_detach():
    w, h = leaf(0.5), torch.tensor(1.0, dtype=torch.float64)
    h = torch.tanh(h * w)
    h.backward()
    with refused("second time"):
        torch.tanh(h * w).backward()
    torch.tanh(h.detach() * w).backward()


def test_a_formula_right_only_to_first_order_is_caught():
    class Cubic(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.slope = 3 * x.detach() ** 2
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * ctx.slope

    assert torch.autograd.gradcheck(Cubic.apply, leaf([2.0]))
    assert not torch.autograd.gradgradcheck(Cubic.apply, leaf([2.0]), raise_exception=False)


def test_a_gradient_of_its_own_for_each_leaf():
    """a + b hands one array to both: they must not share it afterwards."""
    a, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0]


def test_an_unused_input_has_no_gradient():
    x, y = leaf(1.0), leaf(1.0)
    with refused("not have been used"):
        torch.autograd.grad(x * 2, y)
    (x * 2).backward()
    assert y.grad is None


def test_integers_cannot_want_gradients():
    with refused("floating point"):
        torch.tensor([1, 2]).requires_grad_()


def test_an_autocast_cast_made_without_gradients_is_not_reused_with_them():
    w = torch.ones(2, 2).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            w @ w
        y = w @ torch.ones(2, 2)
    y.float().sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_numpy_numbers_and_arrays_beside_tensors():
    t = leaf(1.0, 2.0)
    for y in (np.float32(2) * t, t * np.float64(2), np.ones(2) * 2 * t.detach()):
        assert isinstance(y, torch.Tensor) and y.tolist() == [2.0, 4.0]


def test_dropout_uses_one_mask_forward_and_backward():
    x = torch.ones(100).requires_grad_()
    y = F.dropout(x, 0.5)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_batch_norm_of_one_batch_differentiates_its_statistics():
    x = torch.randn(6, 2, dtype=torch.float64).requires_grad_()
    y = F.batch_norm(x, None, None, training=True)
    (g,) = torch.autograd.grad((y * torch.arange(12.0, dtype=torch.float64).reshape(6, 2)).sum(), x)
    assert torch.allclose(g.sum(0), torch.zeros(2, dtype=torch.float64), atol=1e-10)
