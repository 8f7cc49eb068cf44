"""The right answers of the exercises on indexing and on gradient descent, against the engine."""

import random

import pytest

import autogradlab as torch
from autogradlab.learn.checks import ask, ch02, ch02_fresh, ch08_fresh
from autogradlab.learn.checks import enumerated_descent as descent
from autogradlab.learn.checks.task import Raises

SEEDS = range(8)


def outcome(function, *args):
    """What comes back, or the error's type."""
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__


def agrees(check, args, found):
    right = check.task.reference(*args)
    return found == right.error if isinstance(right, Raises) else check.task.same(args, right, found)


def view(index, shape, stride, offset):
    x = torch.arange(5000).as_strided(shape, stride, offset)[index]
    return tuple(x.shape), x.stride(), x.storage_offset()


def gathered(values, shape, dim, index, index_shape):
    positions = torch.tensor(index, dtype=torch.int64).reshape(index_shape)
    return torch.tensor(values).reshape(shape).gather(dim, positions).reshape(-1).tolist()


def put(values, positions, new, accumulate):
    return torch.tensor(values).index_put((torch.tensor(positions),), torch.tensor(new), accumulate=accumulate).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_indexing(seed):
    rng = random.Random(seed)
    for args in ch02_fresh.views(rng):
        assert agrees(ch02.index_view, args, outcome(view, *args)), args
    for args in ch02_fresh.gathers(rng):
        assert agrees(ch02.gather, args, outcome(gathered, *args)), args
    for args in ch02_fresh.puts(rng):
        assert agrees(ch02.index_put, args, outcome(put, *args)), args
    for mask, shape in ch02_fresh.masks(rng):
        kept = torch.tensor(mask, dtype=torch.bool).reshape(shape)
        assert ch02.mask_positions.task.reference(mask, shape) == list(map(tuple, kept.nonzero().tolist()))


@pytest.mark.parametrize(
    ("chain", "arrives"), [(case.args[0], case.expected) for case in ch02.write_reaches.task.visible]
)
def test_whether_a_write_arrives(chain, arrives):
    # Each case of the exercise, on a tensor that is large enough for its indices.
    x = torch.zeros(2, 3, 3, 3) if any([True, False] in index for index in chain) else torch.zeros(3, 3, 3, 3)
    part = x
    for index in chain[:-1]:
        part = part[index]
    part[chain[-1]] = 1.0
    assert bool((x == 1).any()) is arrives


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_that_were_measured_are_those_of_autograd(seed):
    for w, b, x, y in ch08_fresh.lines(random.Random(seed)):
        if x.shape != y.shape:
            continue
        at_w, at_b = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (w, b))
        inputs, target = (torch.tensor(points.values, dtype=torch.float64) for points in (x, y))
        loss = ((at_w * inputs + at_b - target) ** 2).mean()
        loss.backward()
        told = (loss.item(), at_w.grad.item(), at_b.grad.item())
        assert descent.loss_and_gradients(w, b, x.values, y.values) == pytest.approx(told)


def test_indices_survive_the_way_to_another_process():
    index = (0, slice(1, None, 2), None, ..., [True, False], slice(None))
    told = ask.read_answers(ask.answers(lambda i: (i[1], i[3] is ..., i[4]), ask.calls([(index,)]), ("index",)))[0]
    assert told.value == (slice(1, None, 2), True, [True, False])
    assert ask.ask(lambda: ..., ()).kind == "foreign"
    assert ask.ask(lambda: slice(object()), ()).kind == "foreign"
