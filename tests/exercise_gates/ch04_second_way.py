"""A second right way to solve exercise 04, written differently wherever there is a choice."""

import functools
import itertools

import numpy as np


def columns(*shapes):
    """The sizes that meet in each dimension, from the right."""
    return list(itertools.zip_longest(*map(reversed, shapes), fillvalue=1))


def broadcast_pair(a, b):
    met = columns(a, b)
    for k, (x, y) in enumerate(met):
        if x != y and x != 1 and y != 1:
            raise RuntimeError(f"sizes {x} and {y} in dimension {len(met) - 1 - k}")
    return tuple(y if x == 1 else x for x, y in reversed(met))


def broadcast_shapes(*shapes):
    return functools.reduce(broadcast_pair, shapes, ())


def broadcast_strides(shape, stride, common):
    steps = [0] * len(common)
    for k in range(1, len(shape) + 1):
        steps[-k] = stride[-k] * (shape[-k] != 1)
    return tuple(steps)


def add_lists(a, a_shape, b, b_shape):
    common = broadcast_shapes(a_shape, b_shape)

    def cell(index, shape):
        found = 0
        for i, size in zip(index[len(common) - len(shape) :], shape, strict=True):
            found = found * size + (i if size > 1 else 0)
        return found

    every = itertools.product(*(range(size) for size in common))
    return common, [a[cell(index, a_shape)] + b[cell(index, b_shape)] for index in every]


def summed_dims(shape, target):
    in_front = len(shape) - len(target)
    return tuple(d for d in range(len(shape)) if d < in_front or target[d - in_front] != shape[d])


def sum_to_shape(g, target):
    while g.ndim > len(target):
        g = np.add.reduce(g, axis=0)
    for d, size in enumerate(target):
        if size == 1 != g.shape[d]:
            g = np.sum(g, axis=d, keepdims=True)
    return g


def add_and_backward(a, b, g):
    grads = [np.array(sum_to_shape(g, x.shape), dtype=x.dtype) for x in (a, b)]
    return np.add(a, b), grads[0], grads[1]


def mse_loss(predicted, target):
    if predicted.shape == target.shape:
        return float(np.mean(np.square(predicted - target)))
    raise ValueError(f"got {predicted.shape} and {target.shape}")


SECOND_WAY = (
    broadcast_pair,
    broadcast_shapes,
    broadcast_strides,
    add_lists,
    summed_dims,
    sum_to_shape,
    add_and_backward,
    mse_loss,
)
