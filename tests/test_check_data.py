"""What the exercises' checks rest on: answers and arrays as plain data, and right answers found by enumeration."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogradlab import shapes
from autogradlab.learn.checks import arrays, ask, ch03_fresh, ch04_fresh, enumerated, task
from autogradlab.learn.checks import enumerated_broadcasting as broadcasting
from autogradlab.learn.checks.arrays import Array
from autogradlab.learn.checks.task import identical

# Answers as data ------------------------------------------------------------------------------------------------------

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(plain_values)
def test_answers_survive_the_way_to_another_process(value):
    told = ask.read_answers(ask.answers(lambda: value, ask.calls([()])))[0]
    direct = ask.ask(lambda: value, ())
    assert told.kind == direct.kind and identical(told.value, direct.value)
    if told.kind == "value":
        assert identical(told.value, value)


@pytest.mark.parametrize("text", ["", "[", "5", "{}", '[{"kind": "value"}]', "[[[]]]", '"x"', "[null]"])
def test_an_answer_that_is_none_is_refused(text):
    with pytest.raises(ValueError):
        assert ask.read_answers(text) == []
        raise ValueError("an empty list of answers is told apart by its length")


def test_an_endless_or_huge_answer_is_cut_short():
    loop = []
    loop.append(loop)
    assert ask.ask(lambda: loop, ()).kind == "foreign"
    assert ask.ask(lambda: (0,) * 10**6, ()).kind == "foreign"
    assert len(ask.ask(lambda: 1 / len("x" * 0), ()).text) < 200


# The enumeration that all checks rest on, against NumPy ---------------------------------------------------------------

seeds = st.integers(0, 10**6).map(random.Random)


def array(shape, stride, offset=0):
    return np.lib.stride_tricks.as_strided(np.arange(offset, 5000), shape, [8 * s for s in stride])


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_the_enumeration_agrees_with_numpy(rng):
    shape = ch03_fresh.some_shape(rng)
    stride = ch03_fresh.some_layout(rng, shape)
    x = array(shape, stride)
    assert enumerated.cells(shape, stride) == x.ravel().tolist()
    assert enumerated.contiguous_strides(shape) == tuple(s // 8 for s in np.empty(shape).strides)
    assert enumerated.is_contiguous(shape, stride) == x.flags.c_contiguous
    dims = tuple(rng.sample(range(len(shape)), len(shape)))
    assert enumerated.permute(shape, stride, dims) == (
        x.transpose(dims).shape,
        tuple(s // 8 for s in x.transpose(dims).strides),
    )
    wanted = (2, *(size if size > 1 else 3 for size in shape))
    expanded, steps = enumerated.expand(shape, stride, wanted)
    assert enumerated.cells(expanded, steps) == np.broadcast_to(x, wanted).ravel().tolist()


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_the_enumeration_agrees_with_the_engine(rng):
    for shape, stride, new_shape in ch03_fresh.views(rng)[:6]:
        found = enumerated.view_stride(shape, stride, new_shape)
        engine = shapes.view_strides(shape, stride, new_shape)
        assert (found is None) == (engine is None)
        if found is not None:
            assert enumerated.cells(new_shape, found) == enumerated.cells(new_shape, engine)


# Arrays as data -------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_arrays_survive_the_way_to_another_process_and_back(rng):
    shape = ch04_fresh.result_shape(rng)
    given = ch04_fresh.array(rng, shape, rng.choice(["float32", "float64"]))
    array = arrays.make(given)
    assert (str(array.dtype), array.shape) == (given.dtype, given.shape)
    assert arrays.written_down(array) == given
    assert " ..." in repr(given) or np.array_equal(eval(repr(given), {"np": np}), array)
    told = ask.read_answers(ask.answers(lambda x: (x, [x.copy(), 1]), ask.calls([(given,)]), ("g",)))[0]
    assert told.kind == "value" and identical(told.value, (given, [given, 1]))
    assert told.shared == ("" if 0 in shape else "result[0] and g")


@pytest.mark.parametrize(
    "value", [np.array([None, 1]), np.array("x"), np.array([1j]), np.ma.array([1]), np.zeros(20_000)]
)
def test_an_array_of_something_else_is_no_answer(value):
    assert ask.ask(lambda x: value, (Array("float64", (), (1.0,)),)).kind == "foreign"


@pytest.mark.parametrize(
    "packed", ["[1, [], []]", '["f", [2], [1]]', '["f", [-1], []]', '["f", [1], ["x"]]', "[]", "3"]
)
def test_an_array_that_is_none_is_refused(packed):
    with pytest.raises(ValueError):
        row = '{"kind": "value", "text": "", "where": "", "shared": "", "value": {"array": %s}}'
        ask.read_answers(f"[{row % packed}]")


# Broadcasting, against NumPy and by central differences ---------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_enumerated_broadcasting_agrees_with_numpy(rng):
    pair = ch04_fresh.operands(rng, 2)
    common = np.broadcast_shapes(*pair)
    assert broadcasting.common(*pair) == common == shapes.broadcast_shapes(*pair)
    a, b = (np.array(rng.choices(range(100), k=int(np.prod(shape)))).reshape(shape) for shape in pair)
    told = broadcasting.add_lists(a.ravel().tolist(), a.shape, b.ravel().tolist(), b.shape)
    assert told == (common, (a + b).ravel().tolist())
    steps = broadcasting.strides(a.shape, enumerated.contiguous_strides(a.shape), common)
    assert array_of(a, common, steps).tolist() == np.broadcast_to(a, common).tolist()
    assert broadcasting.summed_dims(common, a.shape) == shapes.summed_dims(common, a.shape)
    wrong = ch04_fresh.spoiled(rng, pair)
    with pytest.raises(RuntimeError, match=f"dimension {broadcasting.misfit(wrong)} "):
        shapes.broadcast_shapes(*wrong)


def array_of(a, shape, steps):
    return np.lib.stride_tricks.as_strided(np.ascontiguousarray(a), shape, [a.itemsize * step for step in steps])


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_the_expected_gradients_are_central_differences(rng):
    a, b, g = next(c for c in ch04_fresh.additions(rng) if 0 not in c[2].shape)
    _, grad_a, grad_b = broadcasting.add_and_backward(a, b, g)
    given, weights = [arrays.make(x).astype("float64") for x in (a, b)], arrays.make(g).astype("float64")
    for x, grad in zip(given, (grad_a, grad_b), strict=True):
        slopes = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            kept, sums = x[index], []
            for step in (0.5, -0.5):
                x[index] = kept + step
                sums.append(((given[0] + given[1]) * weights).sum())
            x[index] = kept
            slopes[index] = sums[0] - sums[1]
        assert np.allclose(slopes, arrays.make(grad))


@pytest.mark.parametrize(
    ("expected", "value", "named"),
    [
        ((2.0, 0.0), (2.0, 0), ("int", "float")),
        ([1, 2], [1, 2.0], ("float", "int")),
        ((1, (2, 3)), (1, [2, 3]), ("list", "tuple")),
        ([1.0], [1.0], ("", "")),
    ],
)
def test_what_has_another_type_is_named(expected, value, named):
    assert task._other_type(expected, value) == named
