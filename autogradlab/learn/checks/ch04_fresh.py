"""Fresh random arguments for the hidden checks of chapter 04's exercise."""

import math
import random

from . import enumerated_broadcasting as broadcasting
from .arrays import Array
from .ch03_fresh import some_layout

Ints = tuple[int, ...]


def result_shape(rng: random.Random, empty: float = 0.1) -> Ints:
    """A shape of few elements, now and then of none."""
    shape = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 4))]
    if rng.random() < empty:
        shape[rng.randrange(len(shape))] = 0
    return tuple(shape)


def operand_shape(rng: random.Random, result: Ints) -> Ints:
    """A shape that broadcasts to the result: ones in places, dimensions left out in front."""
    shape = tuple(1 if rng.random() < 0.4 else size for size in result)
    return shape[rng.choice([0, 0, 0, 1, 2]) :]


def operands(rng: random.Random, count: int) -> list[Ints]:
    """Shapes that fit one another."""
    result = result_shape(rng)
    return [operand_shape(rng, result) for _ in range(count)]


def array(rng: random.Random, shape: Ints, dtype: str) -> Array:
    """Small whole numbers, whose sums are exact in any dtype and order."""
    return Array(dtype, shape, tuple(float(rng.randint(-9, 9)) for _ in range(math.prod(shape))))


def spoiled(rng: random.Random, shapes: list[Ints]) -> list[Ints]:
    """The shapes with one size changed so that they no longer fit."""
    result = broadcasting.common(*shapes)
    places = [(n, d) for n, shape in enumerate(shapes) for d in range(len(shape))]
    rng.shuffle(places)
    for n, d in places:
        size = result[len(result) - len(shapes[n]) + d] + rng.choice([2, 3])
        changed = [*shapes[:n], (*shapes[n][:d], size, *shapes[n][d + 1 :]), *shapes[n + 1 :]]
        if broadcasting.misfit(changed) is not None:
            return changed
    return [(*shapes[0], 2), (*shapes[0], 3), *shapes[2:]]


def pairs(rng: random.Random) -> list[tuple]:
    """For broadcast_pair: every third does not fit."""
    calls = []
    for n in range(24):
        two = operands(rng, 2)
        calls.append(tuple(spoiled(rng, two) if n % 3 == 2 else two))
    return [*calls, ((0,), (1,)), ((2, 1), (0,)), ((), ())]


def several(rng: random.Random) -> list[tuple]:
    """For broadcast_shapes."""
    calls = []
    for n in range(24):
        shapes = operands(rng, rng.randint(2, 5))
        calls.append(tuple(spoiled(rng, shapes) if n % 4 == 3 else shapes))
    return [*calls, ((0, 1), (1, 1), (1,))]


def readings(rng: random.Random) -> list[tuple]:
    """For broadcast_strides."""
    calls = []
    for _ in range(24):
        shape, other = operands(rng, 2)
        calls.append((shape, some_layout(rng, shape), broadcasting.common(shape, other)))
    return calls


def sums(rng: random.Random) -> list[tuple]:
    """For add_lists."""
    calls = []
    for _ in range(20):
        shapes = operands(rng, 2)
        a, b = ([rng.randint(-99, 99) for _ in range(math.prod(shape))] for shape in shapes)
        calls.append((a, shapes[0], b, shapes[1]))
    return calls


def targets(rng: random.Random) -> list[tuple]:
    """For summed_dims: the result's shape and an operand's."""
    calls = []
    for _ in range(24):
        shape = result_shape(rng)
        calls.append((shape, operand_shape(rng, shape)))
    return calls


def gradients(rng: random.Random) -> list[tuple]:
    """For sum_to_shape."""
    return [
        (array(rng, shape, "float32" if n % 4 == 1 else "float64"), target)
        for n, (shape, target) in enumerate(targets(rng))
    ]


def additions(rng: random.Random) -> list[tuple]:
    """For add_and_backward: dtypes mixed, every fourth with operands of one shape."""
    calls = []
    for n in range(24):
        shapes = operands(rng, 2)
        shapes = [shapes[0]] * 2 if n % 4 == 3 else shapes
        dtypes = [rng.choice(["float32", "float64"]) for _ in shapes]
        a, b = (array(rng, shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True))
        g = array(rng, broadcasting.common(*shapes), "float64" if "float64" in dtypes else "float32")
        calls.append((a, b, g))
    return calls


def losses(rng: random.Random) -> list[tuple]:
    """For mse_loss: equal shapes, and unequal ones that broadcast all the same."""
    calls = []
    for n in range(24):
        size = rng.randint(2, 6)
        shape = rng.choice([(size,), (size, 1), (size, 3)])
        other = shape if n % 2 == 0 else rng.choice([s for s in ((size,), (size, 1), (1,), (1, size)) if s != shape])
        if broadcasting.common(shape, other) is None:
            other = (1, 3)
        calls.append((array(rng, shape, "float64"), array(rng, other, "float64")))
    return calls
