"""Typical wrong solutions of exercise 04: WRONG lists each with its task and the words its check must answer with."""

import itertools
import math

import numpy as np

from .ch04_second_way import broadcast_pair as pair
from .ch04_second_way import broadcast_strides as strides
from .ch04_second_way import sum_to_shape as to_shape
from .ch04_second_way import summed_dims as dims_of


def stops_at_the_shorter(a, b):
    common = []
    for x, y in zip(reversed(a), reversed(b), strict=False):
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"dimension {max(len(a), len(b)) - 1 - len(common)}")
        common.insert(0, y if x == 1 else x)
    return tuple(common)


def takes_the_larger(a, b):
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def lined_up_left(a, b):
    ndim = max(len(a), len(b))
    a, b = a + (1,) * (ndim - len(a)), b + (1,) * (ndim - len(b))
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def never_refuses(a, b):
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def says_nothing(a, b):
    try:
        return pair(a, b)
    except RuntimeError:
        raise RuntimeError("the shapes do not fit") from None


def counts_from_the_right(a, b):
    for k, (x, y) in enumerate(itertools.zip_longest(reversed(a), reversed(b), fillvalue=1)):
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"{x} and {y} at dimension {k}")
    return pair(a, b)


def only_the_first_two(*shapes):
    return pair(*shapes[:2]) if len(shapes) > 1 else (*shapes, ())[0]


def with_the_last_only(*shapes):
    common = ()
    for before, shape in zip(((), *shapes), shapes, strict=False):
        common = pair(before, shape)
    return common


def largest_of_all(*shapes):
    common = ()
    for shape in shapes:
        common = takes_the_larger(common, shape)
    return common


def strides_of_a_copy(shape, stride, common):
    return tuple(math.prod(common[d + 1 :]) for d in range(len(common)))


def keeps_the_stride(shape, stride, common):
    return (0,) * (len(common) - len(shape)) + stride


def too_few(shape, stride, common):
    return tuple(0 if size == 1 else step for size, step in zip(shape, stride, strict=True))


def as_if_contiguous(shape, stride, common):
    return strides(shape, strides_of_a_copy(None, None, shape), common)


def round_and_round(a, a_shape, b, b_shape):
    common = pair(a_shape, b_shape)
    return common, [a[n % len(a)] + b[n % len(b)] for n in range(math.prod(common))]


def as_they_lie(a, a_shape, b, b_shape):
    return pair(a_shape, b_shape), [x + y for x, y in zip(a, b, strict=False)]


def sums_alone(a, a_shape, b, b_shape):
    common = pair(a_shape, b_shape)
    steps = [strides(s, strides_of_a_copy(None, None, s), common) for s in (a_shape, b_shape)]
    return [
        sum(x[sum(i * s for i, s in zip(index, step, strict=True))] for x, step in zip((a, b), steps, strict=True))
        for index in itertools.product(*map(range, common))
    ]


def own_strides(a, a_shape, b, b_shape):
    common = pair(a_shape, b_shape)
    sums = []
    for index in itertools.product(*map(range, common)):
        cells = [
            sum(i * s for i, s in zip(index, strides_of_a_copy(None, None, shape), strict=False))
            for shape in (a_shape, b_shape)
        ]
        sums.append(a[cells[0]] + b[cells[1]])
    return common, sums


def only_in_front(shape, target):
    return tuple(range(len(shape) - len(target)))


def none_in_front(shape, target):
    added = len(shape) - len(target)
    return tuple(added + d for d, size in enumerate(target) if size != shape[added + d])


def every_one(shape, target):
    added = len(shape) - len(target)
    return (*range(added), *(added + d for d, size in enumerate(target) if size == 1))


def dims_from_the_left(shape, target):
    return tuple(d for d, size in enumerate(shape) if d >= len(target) or size != target[d])


def filled_with_ones(shape, target):
    filled = (1,) * (len(shape) - len(target)) + target
    return tuple(d for d in range(len(shape)) if shape[d] != filled[d])


def as_a_list(shape, target):
    return list(dims_of(shape, target))


def never_sums(g, target):
    return g


def means(g, target):
    return g.mean(axis=dims_of(g.shape, target), keepdims=True).reshape(target)


def sums_everything(g, target):
    dims = dims_of(g.shape, target)
    return g.sum(axis=dims or None, keepdims=bool(dims)).reshape(target if dims else ())


def keeps_them_all(g, target):
    return g.sum(axis=dims_of(g.shape, target), keepdims=True)


def keeps_none(g, target):
    return g.sum(axis=dims_of(g.shape, target))


def always_float64(g, target):
    return np.zeros(target) + to_shape(g, target)


def writes_into_g(g, target):
    result = to_shape(g, target)
    g *= 0
    return result


def neither_summed(a, b, g):
    return a + b, g.copy(), g.copy()


def only_b_summed(a, b, g):
    return a + b, g.copy(), to_shape(g, b.shape).astype(b.dtype)


def one_array_for_both(a, b, g):
    return a + b, to_shape(g, a.shape), to_shape(g, b.shape)


def a_shares_with_g(a, b, g):
    grad_b = to_shape(g, b.shape).astype(b.dtype)
    return a + b, to_shape(g, a.shape).astype(a.dtype, copy=False), np.array(grad_b)


def dtype_of_g(a, b, g):
    return a + b, to_shape(g, a.shape).copy(), to_shape(g, b.shape).copy()


def swapped(a, b, g):
    return a + b, to_shape(g, b.shape).astype(b.dtype), to_shape(g, a.shape).astype(a.dtype)


def no_guard(predicted, target):
    return ((predicted - target) ** 2).mean()


def compares_lengths(predicted, target):
    if len(predicted) != len(target):
        raise ValueError(f"{predicted.shape} {target.shape}")
    return no_guard(predicted, target)


def flattens(predicted, target):
    return no_guard(predicted.reshape(-1), target.reshape(-1))


def silent_error(predicted, target):
    if predicted.shape != target.shape:
        raise ValueError("the shapes are not the same")
    return no_guard(predicted, target)


def asserts(predicted, target):
    assert predicted.shape == target.shape, (predicted.shape, target.shape)
    return no_guard(predicted, target)


def sum_of_squares(predicted, target):
    if predicted.shape != target.shape:
        raise ValueError(f"{predicted.shape} {target.shape}")
    return ((predicted - target) ** 2).sum()


def behind_counted_in_the_target(shape, target):
    return (*range(len(shape) - len(target)), *(d for d, size in enumerate(target) if size == 1))


WRONG = (
    ("broadcast_pair", stops_at_the_shorter, "The result is as short as the shortest shape"),
    ("broadcast_pair", takes_the_larger, "A 1 is repeated until it fits, also 0 times"),
    ("broadcast_pair", lined_up_left, "Shapes are lined up at the left here"),
    ("broadcast_pair", never_refuses, "This must raise RuntimeError: 4 and 3 meet in dimension 1"),
    ("broadcast_pair", says_nothing, 'its message must also say "dimension 1"'),
    ("broadcast_pair", counts_from_the_right, "meet in dimension 1, counted from 0 at the left"),
    ("broadcast_shapes", only_the_first_two, "Only the first two shapes were looked at"),
    ("broadcast_shapes", with_the_last_only, "Only the last two shapes count here"),
    ("broadcast_shapes", largest_of_all, "A 1 is repeated until it fits, also 0 times"),
    ("broadcast_strides", strides_of_a_copy, "These are the strides of a copy"),
    ("broadcast_strides", keeps_the_stride, "A dimension of size 1 that is repeated kept its stride"),
    ("broadcast_strides", too_few, "A dimension that was put in front has a stride too"),
    ("broadcast_strides", as_if_contiguous, "These strides belong to a contiguous operand"),
    ("add_lists", round_and_round, "The lists are read one after the other"),
    ("add_lists", as_they_lie, "The lists are added as they lie"),
    ("add_lists", sums_alone, "return the pair (shape, numbers)"),
    ("add_lists", own_strides, "with task 3's strides"),
    ("summed_dims", only_in_front, "A dimension of size 1 that grew is summed too"),
    ("summed_dims", none_in_front, "The dimensions that were put in front are missing"),
    ("summed_dims", filled_with_ones, "A dimension that was put in front is summed also if its size is 1"),
    ("summed_dims", every_one, "Where 1 met 1 nothing was repeated"),
    ("summed_dims", dims_from_the_left, "The shapes are lined up at the left here"),
    ("summed_dims", as_a_list, "a list came back where a tuple is expected"),
    ("sum_to_shape", never_sums, "The gradient came back as it was"),
    ("sum_to_shape", means, "These are means"),
    ("sum_to_shape", sums_everything, "In NumPy `axis=None` means all dimensions"),
    ("sum_to_shape", keeps_them_all, "dimensions that were put in front must go"),
    ("sum_to_shape", keeps_none, "stays there, with size 1 (keepdims)"),
    ("sum_to_shape", always_float64, "their dtype is not: float64 where float32 is expected"),
    ("sum_to_shape", writes_into_g, "The function changed its argument g; work on a copy, such as g.copy()"),
    ("add_and_backward", neither_summed, "g came back for both"),
    ("add_and_backward", only_b_summed, "Only b's gradient was summed"),
    ("add_and_backward", one_array_for_both, "one array. Whoever owns a gradient may add to it in place"),
    ("add_and_backward", a_shares_with_g, "shared    result[1] and g lie in the same memory"),
    ("add_and_backward", dtype_of_g, "their dtype is not: float64 where float32 is expected"),
    ("add_and_backward", swapped, "The two gradients have changed places"),
    ("mse_loss", no_guard, "This must raise ValueError: shapes (3, 1) and (3,) are not the same"),
    ("mse_loss", compares_lengths, "This must raise ValueError: shapes (3, 1) and (3,) are not the same"),
    ("mse_loss", flattens, "This must raise ValueError: shapes (3, 1) and (3,) are not the same"),
    ("mse_loss", silent_error, 'its message must also say "(3, 1)" and "(3,)"'),
    ("mse_loss", asserts, "`assert` raises an error of another type"),
    ("mse_loss", sum_of_squares, "This is the sum of the squares"),
    ("summed_dims", behind_counted_in_the_target, "In the gradient's shape they come later"),
)
