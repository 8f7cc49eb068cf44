"""What stands for something else: NumPy's numbers and arrays, tensors in the place of numbers, sizes or dimensions;
out= for several results, NumPy's words, and the types of exceptions.
"""

import numpy as np
import pytest

import autogradlab as torch


def test_numbers_of_numpy_count_as_python_s():
    x, i = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1, 2])
    for number in (np.float32(2), np.float64(2), np.longdouble(2), np.array(2, "f4"), np.array(2, np.longdouble)):
        for made, expected in ((x + number, x + 2), (number + x, x + 2), (i * number, i * 2.0), (x**number, x**2)):
            assert made.dtype is torch.float32 and torch.equal(made, expected)
        assert torch.clamp(i, number).dtype is torch.float32
    assert (i ** np.int32(2)).dtype is torch.int64 and (x ** np.int64(2)).grad_fn is not None
    assert x.norm(np.int64(1)).item() == 3 and x.sum(np.int64(0)).item() == 3
    assert torch.full((1,), np.float32(0.5)).dtype is torch.float32
    with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
        torch.add(i, i, alpha=np.float32(2))
    with pytest.raises(TypeError):
        i ** np.datetime64("2020")


def test_an_array_beside_a_tensor_may_lie_in_memory_as_it_likes():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for array in (np.array([4.0, 0.0, 3.0], "f4")[::-2], np.array([3, 4], ">f4"), np.array([3, 4], "f4")):
        made = x * array
        array[:] = 0  # what the gradient needs was copied
        assert made.tolist() == [3, 8]
        assert torch.autograd.grad(made.sum(), x)[0].tolist() == [3, 4]
    assert (x ** np.array([2.0, 3.0], "f4")).tolist() == [1, 8]
    x = x.detach()
    x -= np.ones(4, "f4")[::-2]
    assert x.tolist() == [0, 1]


def test_functions_of_numpy_make_tensors_of_tensors():
    x = torch.tensor([1.0, 4.0])
    for made, values in (
        (np.sqrt(x), [1, 2]),
        (np.add(x, x), [2, 8]),
        (x @ np.eye(2, dtype="f4"), [1, 4]),
        (np.isnan(x), [0, 0]),
        (np.add.reduce(x), 5),
    ):
        assert type(made) is torch.Tensor and made.tolist() == values
    assert np.isnan(x).dtype is torch.uint8 and all(type(t) is torch.Tensor for t in np.frexp(x))
    with pytest.raises(RuntimeError, match="requires grad"):
        np.exp(x.requires_grad_())


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: torch.ones(n),
        lambda x, n: torch.rand(n),
        lambda x, n: torch.full(n, 1.0),
        lambda x, n: x.reshape(n),
        lambda x, n: torch.reshape(x, n),
        lambda x, n: x.view(n),
        lambda x, n: x.new_zeros(n),
        lambda x, n: x.new_full(n, 1.0),
        lambda x, n: x.expand(n),
        lambda x, n: x.permute(n),
        lambda x, n: x.repeat(n),
        lambda x, n: x.tile(n),
        lambda x, n: x.flip(n),
        lambda x, n: x.as_strided(n, (1, 1)),
        lambda x, n: x.as_strided((2, 1), n),
        lambda x, n: x.sum(n),
        lambda x, n: x.squeeze(n),
        lambda x, n: x.movedim(n, (1, 0)),
        lambda x, n: x.split(n),
        lambda x, n: x.roll(n, (0, 1)),
        lambda x, n: x.norm(n),
        lambda x, n: torch.add(x, x, alpha=n),
        lambda x, n: torch.nn.functional.elu(x, n),
        lambda x, n: torch.full_like(x, n),
    ],
)
def test_a_tensor_with_dimensions_is_no_size_dimension_or_number(call):
    with pytest.raises(TypeError, match=r"[a-z]"):
        call(torch.ones(2, 3), torch.tensor([1, 0]))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: torch.ones(n(2), 3),
        lambda x, n: x.reshape(n(3), -1),
        lambda x, n: x.sum(n(1)),
        lambda x, n: x.mean(dim=n(1)),
        lambda x, n: x.var(n(1)),
        lambda x, n: x.prod(n(1)),
        lambda x, n: x.any(n(1)),
        lambda x, n: x.logsumexp(n(1)),
        lambda x, n: x.roll(n(1)),
        lambda x, n: x.roll(n(1), n(1)),
        lambda x, n: x.chunk(n(2), n(1)),
        lambda x, n: x.split(n(1)),
        lambda x, n: x.movedim(n(0), n(1)),
        lambda x, n: x.squeeze(n(0)),
        lambda x, n: x.diagonal(n(1)),
        lambda x, n: x.unfold(n(1), n(2), n(1)),
        lambda x, n: x.norm(n(2), n(1)),
        lambda x, n: x.norm(n(2.0)),
        lambda x, n: torch.histc(x, n(3), n(0), n(4)),
        lambda x, n: torch.nn.functional.max_pool1d(x, n(2)),
        lambda x, n: torch.nn.functional.hardshrink(x, n(1.5)),
        lambda x, n: torch.nn.functional.softplus(x, n(2.0), n(3)),
        lambda x, n: torch.nn.functional.normalize(x, n(1)),
        lambda x, n: torch.nn.functional.cosine_similarity(x, x + 1, n(0)),
    ],
)
def test_a_tensor_without_dimensions_is_the_number_it_holds(call):
    x = torch.arange(6.0).reshape(2, 3)
    expected, made = call(x, lambda n: n), call(x, torch.tensor)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (expected, made)), strict=True):
        assert type(b.shape[-1] if b.shape else 0) is int and a.shape == b.shape and a.dtype is b.dtype
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, F: x.outer(-2.5),
        lambda x, F: x.inner(2.5),
        lambda x, F: x.view_as({}),
        lambda x, F: x.reshape_as(3),
        lambda x, F: x.expand_as(3),
        lambda x, F: x.type_as(3),
        lambda x, F: x.take_along_dim(True, 0),
        lambda x, F: x.gather(0, 1),
        lambda x, F: x.scatter(0, 1, 1),
        lambda x, F: x.equal(1),
        lambda x, F: x.kron(1),
        lambda x, F: x.cross(1),
        lambda x, F: x.put_(1, 2),
        lambda x, F: F.cosine_similarity(1, x),
        lambda x, F: F.conv3d(x, 3),
        lambda x, F: F.conv2d(1, x),
        lambda x, F: F.layer_norm(1, (3,)),
        lambda x, F: F.pad(1, (1, 1)),
        lambda x, F: F.one_hot(1),
        lambda x, F: F.scaled_dot_product_attention(1, 1, 1),
        lambda x, F: F.dropout(1),
        lambda x, F: F.unfold(1, 2),
        lambda x, F: F.bilinear(1, 1, 1),
    ],
)
def test_a_method_or_a_layer_s_function_names_what_is_no_tensor(call):
    with pytest.raises(TypeError, match="argument '.*' must be Tensor, not"):
        call(torch.ones(3), torch.nn.functional)


def test_a_tensor_contains_numbers_and_tensors():
    x = torch.tensor([1.0, 2.0])
    assert 1 in x and np.float32(2) in x and torch.tensor(1.0) in x and 3 not in x
    for other in (None, "a", [1.0], {}):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
            other in x  # noqa: B015
    with pytest.raises(RuntimeError, match="unflatten"):
        torch.tensor(3.0).unflatten(0, (1, 1))


# out=, NumPy's words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **k: torch.sort(x, **k),
        lambda x, **k: torch.topk(x, 2, **k),
        lambda x, **k: torch.kthvalue(x, 2, **k),
        lambda x, **k: torch.mode(x, **k),
        lambda x, **k: torch.cummax(x, 0, **k),
        lambda x, **k: torch.median(x, 1, **k),
        lambda x, **k: torch.nanmedian(x, 1, **k),
        lambda x, **k: torch.max(x, 0, **k),
        lambda x, **k: torch.min(x, 0, **k),
    ],
)
def test_several_results_go_into_several_tensors(call):
    x = torch.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    made, expected = call(x, out=(values, indices)), call(x)
    assert type(made) is type(expected) and made[0] is values and made[1] is indices
    assert torch.equal(values, expected[0]) and torch.equal(indices, expected[1])
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        call(x, out=(values, torch.empty(0)))
    with pytest.raises(TypeError, match="must be tuple of 2 Tensors"):
        call(x, out=values)


def test_out_of_searchsorted_has_the_dtype_of_its_result():
    x = torch.tensor([1.0, 2.0])
    assert torch.searchsorted(x, x, out=torch.empty(2, dtype=torch.int64)).tolist() == [0, 1]
    for call in (torch.searchsorted, torch.bucketize):
        with pytest.raises(RuntimeError, match="output tensor's dtype is wrong"):
            call(x, x, out=torch.empty(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **k: x.repeat_interleave(2, **k),
        lambda x, **k: torch.chunk(x, 2, **k),
        lambda x, **k: x.tensor_split(2, **k),
        lambda x, **k: torch.narrow(x, start=0, length=1, **k),
        lambda x, **k: x.unflatten(sizes=(3, 1), **k),
        lambda x, **k: torch.take_along_dim(x, torch.zeros(2, 1, dtype=torch.int64), **k),
        lambda x, **k: x.median(**k),
        lambda x, **k: x.nanmedian(**k),
        lambda x, **k: x.min(**k),
        lambda x, **k: torch.diff(x, **k),
        lambda x, **k: torch.cross(x, x + 1, **k),
        lambda x, **k: torch.trapezoid(x, **k),
        lambda x, **k: torch.quantile(x, 0.5, **k),
        lambda x, **k: torch.nanmean(x, **k),
        lambda x, **k: torch.var_mean(x, **k),
        lambda x, **k: torch.aminmax(x, **k),
    ],
)
def test_axis_is_dim(call):
    x = torch.arange(6.0).reshape(2, 3)
    made, expected = call(x, axis=1), call(x, dim=1)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (made, expected)), strict=True):
        assert torch.equal(a, b)
    assert x.max(axis=1, keepdims=True).values.shape == (2, 1)


# Values and types -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda t, n: t + n,
        lambda t, n: n - t,
        lambda t, n: t / n,
        lambda t, n: t < n,
        lambda t, n: t**n,
        lambda t, n: t.clone().fill_(n),
        lambda t, n: t.clamp(n),
        lambda t, n: torch.where(t > 0, t, n),
    ],
)
def test_an_integer_of_more_than_64_bits_is_refused(call):
    for t in (torch.tensor([1, 2]), torch.tensor([1.0, 2.0])):
        with pytest.raises(OverflowError, match="int too big to convert"):
            call(t, 10**20)


def test_values_at_the_rims_of_functions():
    x, half = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float16)
    assert torch.nn.functional.celu(-x, -1).tolist() == pytest.approx([-1.7182818, -6.389056])
    assert torch.ldexp(half, torch.tensor([1, 20])).tolist() == [2, float("inf")]
    assert torch.ldexp(half, torch.tensor([1, 2])).dtype is torch.float16
    assert torch.ldexp(x.double(), torch.tensor([1, -1000])).tolist() == [2, 2.0**-999]
    assert reversed(x).tolist() == [2, 1] and reversed(torch.tensor(1.0)).item() == 1
    assert torch.tensor(2.5).mT.item() == 2.5


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x, b: -b, RuntimeError),
        (lambda x, b: b.relu(), RuntimeError),
        (lambda x, b: b.topk(1), RuntimeError),
        (lambda x, b: ~x, TypeError),
        (lambda x, b: x.bitwise_not(), NotImplementedError),
        (lambda x, b: x & x, NotImplementedError),
        (lambda x, b: x | 1, NotImplementedError),
        (lambda x, b: torch.Generator().set_state(torch.zeros(3, dtype=torch.uint8)), RuntimeError),
        (lambda x, b: torch.Generator().set_state(torch.zeros(3)), TypeError),
    ],
)
def test_exceptions_are_of_pytorch_s_types(call, error):
    with pytest.raises(error) as refused:
        call(torch.tensor([1.0]), torch.tensor([True]))
    assert refused.type is error
