"""shapes.py against NumPy: strides, views, broadcasting, on shapes and layouts that hypothesis makes up."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autogradlab import shapes

SIZES = st.integers(0, 4)
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


@st.composite
def layouts(draw):
    """A NumPy array that is some view of a contiguous one: transposed, sliced, with new axes, broadcast."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["permute", "slice", "newaxis", "expand", "select"]))
        if kind == "permute":
            array = array.transpose(draw(st.permutations(range(array.ndim))))
        elif kind == "slice" and array.ndim:
            d = draw(st.integers(0, array.ndim - 1))
            start, step = draw(st.integers(0, 2)), draw(st.integers(1, 3))
            array = array[(slice(None),) * d + (slice(start, None, step),)]
        elif kind == "newaxis" and array.ndim < 5:
            array = np.expand_dims(array, draw(st.integers(0, array.ndim)))
        elif kind == "expand" and 1 in array.shape:
            array = np.broadcast_to(array, [3 if n == 1 else n for n in array.shape])
        elif kind == "select" and array.ndim > 1 and array.shape[0]:
            array = array[0]
    return array


def strides_of(array):
    return tuple(s // array.itemsize for s in array.strides)


def divisions(total):
    """All ways to write a number of elements as a shape of up to four sizes."""
    found = {(total,)}
    for a in range(1, total + 1):
        if total % a == 0:
            found |= {(a, total // a), (a, 1, total // a)}
            found |= {(a, b, total // a // b) for b in range(1, total // a + 1) if (total // a) % b == 0}
    return sorted(found)


@given(SHAPES)
def test_contiguous_strides(shape):
    assume(0 not in shape)
    assert shapes.contiguous_strides(shape) == strides_of(np.zeros(shape, np.int64))


@given(layouts())
def test_contiguity(array):
    assert shapes.is_contiguous(array.shape, strides_of(array)) == array.flags.c_contiguous


@given(layouts(), st.data())
def test_view_strides_is_right_and_misses_nothing(array, data):
    """Where it gives strides, they show the right elements; where it gives None, no strides could."""
    assume(array.size)
    new_shape = data.draw(st.sampled_from(divisions(array.size)))
    found = shapes.view_strides(array.shape, strides_of(array), new_shape)
    expected = array.reshape(new_shape)
    if found is not None:
        seen = np.lib.stride_tricks.as_strided(array, new_shape, [s * array.itemsize for s in found])
        np.testing.assert_array_equal(seen, expected)
        return
    start = int(array.flat[0])  # the values are the cells: any strides would show in the first step of each dimension
    steps = [
        int(expected[tuple(int(d == k) for k in range(len(new_shape)))]) - start if n > 1 else 0
        for d, n in enumerate(new_shape)
    ]
    grid = sum(
        (np.arange(n) * s).reshape([-1 if k == d else 1 for k in range(len(new_shape))])
        for d, (n, s) in enumerate(zip(new_shape, steps, strict=True))
    )
    assert not np.array_equal(grid + start, expected), "strides exist, but view_strides found none"


@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcast_shapes(several):
    try:
        expected = np.broadcast_shapes(*several)
    except ValueError:
        with pytest.raises(RuntimeError, match="must match"):
            shapes.broadcast_shapes(*several)
        return
    assert shapes.broadcast_shapes(*several) == expected


@given(SHAPES, SHAPES)
def test_summed_dims_undoes_broadcasting(shape, target):
    dims = shapes.summed_dims(shape, target)
    try:
        fits = np.broadcast_shapes(shape, target) == shape
    except ValueError:
        fits = False
    assert (dims is not None) == fits
    if fits:
        total = np.ones(shape).sum(axis=dims, keepdims=True)
        assert total.reshape(target).shape == target


@given(layouts(), st.data())
def test_expand(array, data):
    sizes = tuple(data.draw(st.integers(0, 2)) if n == 1 else n for n in array.shape)
    sizes = (*data.draw(st.lists(st.integers(0, 2), max_size=2)), *sizes)
    shape, stride = shapes.expand(array.shape, strides_of(array), sizes)
    assert shape == sizes
    if array.size and 0 not in shape:
        seen = np.lib.stride_tricks.as_strided(array, shape, [s * array.itemsize for s in stride])
        np.testing.assert_array_equal(seen, np.broadcast_to(array, sizes))


@given(layouts())
def test_like_strides_are_dense_and_keep_the_order(array):
    assume(array.size)
    found = shapes.like_strides(array.shape, strides_of(array))
    assert shapes.is_dense(array.shape, found)
    assert shapes.extent(array.shape, found) == array.size


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: shapes.infer_size((-1, -1), 4), RuntimeError, "only one dimension can be inferred"),
        (lambda: shapes.infer_size((5, 3), 12), RuntimeError, "invalid for input of size 12"),
        (lambda: shapes.infer_size((-1, 5), 12), RuntimeError, "invalid for input of size 12"),
        (lambda: shapes.infer_size((-1, 0), 0), RuntimeError, "cannot reshape"),
        (lambda: shapes.infer_size((-2, 3), 6), RuntimeError, "negative"),
        (lambda: shapes.wrap_dim(2, 2), IndexError, "from -2 to 1"),
        (lambda: shapes.wrap_dims((0, -2), 2), RuntimeError, "multiple times"),
        (lambda: shapes.expand((2, 3), (3, 1), (4, 3)), RuntimeError, "existing size at dimension 0"),
        (lambda: shapes.expand((2, 3), (3, 1), (3,)), RuntimeError, "fewer dimensions"),
        (lambda: shapes.permute((2, 3), (3, 1), (0, 0)), RuntimeError, "exactly once"),
        (lambda: shapes.select((3,), (1,), 0, 0, 3), IndexError, "out of bounds for dimension 0 with size 3"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(call, error, words):
    with pytest.raises(error, match=words):
        call()
