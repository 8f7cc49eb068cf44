"""x[key] and x[key] = value against NumPy, whose indexing has the same rules (but for negative steps)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autogradlab as torch


@st.composite
def cases(draw):
    """An array and a key for it."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    used = draw(st.integers(0, len(shape)))
    key, d, advanced = [], 0, False
    for _ in range(used):
        n = shape[d]
        kind = draw(st.sampled_from(["int", "slice", "none", "list", "array", "mask"]))
        if kind == "int":
            key.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            ends = st.none() | st.integers(-5, 5)
            key.append(slice(draw(ends), draw(ends), draw(st.none() | st.integers(1, 3))))
        elif kind == "none":
            key.append(None)
            continue
        elif kind == "mask":
            key.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))))
            advanced = True
        else:
            picked = draw(st.lists(st.integers(-n, n - 1), min_size=2, max_size=2))
            key.append(picked if kind == "list" else np.array(picked))
            advanced = True
        d += 1
    if not advanced and draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), Ellipsis)
    array = np.arange(float(np.prod(shape))).reshape(shape)
    return array, tuple(key)


def for_torch(key):
    return tuple(torch.tensor(k) if isinstance(k, np.ndarray) else k for k in key)


def in_numpy(array, key):
    try:
        return array[key], None
    except IndexError as error:
        return None, error


@given(cases())
def test_reading(case):
    array, key = case
    expected, error = in_numpy(array, key)
    x = torch.tensor(array)
    if error is not None:
        with pytest.raises((IndexError, RuntimeError)):
            x[for_torch(key)]
        return
    got = x[for_torch(key)]
    assert tuple(got.shape) == np.shape(expected)
    np.testing.assert_array_equal(got.numpy(), expected)


@given(cases())
def test_writing(case):
    array, key = case
    expected, error = in_numpy(array, key)
    if error is not None:
        return
    x, copy = torch.tensor(array), array.copy()
    x[for_torch(key)] = -1.0
    copy[key] = -1.0
    np.testing.assert_array_equal(x.numpy(), copy)


@given(cases())
def test_the_gradient_counts_how_often_each_element_was_read(case):
    array, key = case
    expected, error = in_numpy(array, key)
    if error is not None:
        return
    x = torch.tensor(array, requires_grad=True)
    x[for_torch(key)].sum().backward()
    counts = np.zeros_like(array)
    np.add.at(counts, key, 1.0)
    np.testing.assert_array_equal(x.grad.numpy(), counts)


@given(cases())
def test_basic_indexing_shares_memory_and_the_rest_copies(case):
    array, key = case
    expected, error = in_numpy(array, key)
    if error is not None:
        return
    x = torch.tensor(array)
    shares = x[for_torch(key)].untyped_storage() is x.untyped_storage()
    assert shares == (not any(isinstance(k, (list, np.ndarray)) for k in key))


@pytest.mark.parametrize("device", ["cpu", "sim"])
@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2: 3"),
        (slice(None, None, -1), ValueError, "step must be greater than zero.*flip"),
        ([0, 5], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        ([0.5], IndexError, "a list of floats"),
        ("a", TypeError, "got a str"),
        ([True, False], IndexError, "shape of the mask"),
    ],
)
def test_bad_indices_say_what_was_given(key, error, words, device):
    with pytest.raises(error, match=words):
        torch.zeros(3, 4, device=device)[key]


def test_gather_and_scatter_say_what_does_not_fit():
    x = torch.zeros(3, 4)
    with pytest.raises(RuntimeError, match="index 4 is out of bounds for dimension 1 with size 4"):
        x.gather(1, torch.tensor([[4]]))
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        x.gather(1, torch.tensor([0]))
    with pytest.raises(RuntimeError, match="int32/int64"):
        x.gather(1, torch.tensor([[0.0]]))


def test_a_failed_write_leaves_the_tensor_alone():
    x = torch.arange(6).reshape(2, 3)
    before, version = x.clone(), x._version
    for key, value in (
        (([0, 7],), 1),
        (0, torch.zeros(5, dtype=torch.int64)),
        (([0, 1],), torch.zeros(7, dtype=torch.int64)),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            x[key] = value
    assert torch.equal(x, before) and x._version == version


def test_nan_comes_before_infinity_in_descending_order():
    x = torch.tensor([1.0, float("inf"), float("nan"), 3.0, float("nan")])
    assert x.topk(3).indices.tolist() == [2, 4, 1] and x.argsort(descending=True).tolist() == [2, 4, 1, 3, 0]
    assert x.topk(2, largest=False).indices.tolist() == [0, 3]


def test_nothing_is_cut_into_pieces_of_nothing():
    x = torch.zeros(0, 2)
    assert [p.shape for p in x.split(0)] == [(0, 2)] and [p.shape for p in x.chunk(3)] == [(0, 2)] * 3
