"""Fresh random arguments for the hidden checks of chapter 03's exercise."""

import math
import random

from . import enumerated

Ints = tuple[int, ...]


def some_shape(rng: random.Random, dims: int | None = None, smallest: int = 1) -> Ints:
    """A shape of few elements, sizes of 1 among them."""
    return tuple(rng.choice([smallest, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 4) if dims is None else dims))


def some_layout(rng: random.Random, shape: Ints) -> Ints:
    """Strides such as views have: row-major, permuted, of every other element, or with repeated elements."""
    order = rng.sample(range(len(shape)), len(shape))
    stride, step = [0] * len(shape), rng.choice([1, 1, 2, 3])
    for d in order if rng.random() < 0.6 else reversed(range(len(shape))):
        stride[d] = step
        step *= max(shape[d], 1) + rng.choice([0, 0, 0, 1])
    if shape and rng.random() < 0.2:
        stride[rng.randrange(len(shape))] = 0
    return tuple(stride)


def shapes(rng: random.Random) -> list[tuple]:
    """For contiguous_strides."""
    return [(some_shape(rng, smallest=0),) for _ in range(20)] + [((4, 0, 3),), ((2,) * 6,)]


def indices(rng: random.Random) -> list[tuple]:
    """For storage_index."""
    calls = []
    for n in range(24):
        shape = some_shape(rng, dims=rng.randint(1, 4))
        index = tuple(rng.randrange(-size, size) for size in shape)
        if n % 4 == 0:
            d = rng.randrange(len(shape))
            index = (*index[:d], rng.choice([shape[d], -shape[d] - 1]), *index[d + 1 :])
        calls.append((index, shape, some_layout(rng, shape), rng.choice([0, 0, 3, 17])))
    return [*calls, ((), (), (), 5)]


def layouts(rng: random.Random) -> list[tuple]:
    """For is_contiguous."""
    calls = []
    for n in range(30):
        shape = some_shape(rng, smallest=0 if n % 6 == 0 else 1)
        stride = list(enumerated.contiguous_strides(shape) if n % 2 else some_layout(rng, shape))
        for d, size in enumerate(shape):
            if size == 1:
                stride[d] = rng.choice([0, 1, 7, stride[d]])
        calls.append((shape, tuple(stride)))
    return calls


def permutations(rng: random.Random) -> list[tuple]:
    """For permute."""
    calls = []
    for n in range(24):
        shape = some_shape(rng, dims=rng.randint(2, 5), smallest=0)
        dims = [d - len(shape) if rng.random() < 0.3 else d for d in rng.sample(range(len(shape)), len(shape))]
        if n % 6 == 0:
            dims[0] = dims[1]
        calls.append((shape, some_layout(rng, shape), tuple(dims)))
    return calls


def expansions(rng: random.Random) -> list[tuple]:
    """For expand."""
    calls = []
    for n in range(24):
        shape = some_shape(rng, dims=rng.randint(1, 4))
        wanted = [rng.choice([0, 2, 3, 6]) if size == 1 and rng.random() < 0.7 else size for size in shape]
        wanted = [-1 if rng.random() < 0.2 else size for size in wanted]
        wanted = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2]))] + wanted
        if n % 5 == 0:
            wanted[-1] = shape[-1] + 7 if shape[-1] != 1 else wanted[-1]
        calls.append((shape, some_layout(rng, shape), tuple(wanted)))
    return calls


def sizes(rng: random.Random) -> list[tuple]:
    """For infer_shape."""
    calls = []
    for n in range(24):
        shape = list(some_shape(rng, dims=rng.randint(1, 4)))
        numel = math.prod(shape) + (n % 4 == 0)
        if rng.random() < 0.7:
            shape[rng.randrange(len(shape))] = -1
        if n % 8 == 1:
            shape.append(-1)
        calls.append((shape, numel))
    return [
        *calls,
        ([3, -1], 0),
        ([0, 5], 0),
        ([0, -1], 0),
        ([], 1),
        ([2, -3], 6),
        ([-1, -3], 12),
        ([-4, 1, -2], 8),
        ([0, -1], 4),
    ]


def some_split(rng: random.Random, numel: int) -> Ints:
    """A random shape of this many elements."""
    sizes, left = [], numel
    while left > 1 and len(sizes) < 4:
        size = rng.choice([n for n in range(2, left + 1) if left % n == 0])
        sizes.append(size)
        left //= size
    sizes += [left] if left > 1 else []
    rng.shuffle(sizes)
    for _ in range(rng.choice([0, 0, 1])):
        sizes.insert(rng.randint(0, len(sizes)), 1)
    return tuple(sizes)


def views(rng: random.Random) -> list[tuple]:
    """For view_stride: as many that need a copy as do not."""
    possible: list[tuple] = []
    impossible: list[tuple] = []
    while min(len(possible), len(impossible)) < 18:
        shape = some_shape(rng, dims=rng.randint(1, 4))
        new_shape = some_split(rng, math.prod(shape))
        if rng.random() < 0.5:  # merge two neighbours: a view that often exists
            d = rng.randrange(len(shape))
            new_shape = (*shape[:d], math.prod(shape[d : d + 2]), *shape[d + 2 :])
        call = (shape, some_layout(rng, shape), new_shape)
        (impossible if enumerated.view_stride(*call) is None else possible).append(call)
    edges = [
        ((0, 3), (3, 1), (3, 0)),
        ((), (), (1, 1)),
        ((1, 1), (5, 9), ()),
        ((6,), (2,), (1, 6)),
        ((2, 3), (3, 1), (1, 6, 1)),
    ]
    return rng.sample(possible, 18) + rng.sample(impossible, 18) + edges


def heads(rng: random.Random) -> list[tuple]:
    """For merge_heads."""
    calls = []
    for n in range(20):
        batch, seq, heads, dim = (rng.randint(1, 4) for _ in range(4))
        if n % 2:
            stride = (seq * heads * dim, dim, heads * dim, 1)  # split from a projection, never copied
        else:
            stride = enumerated.contiguous_strides((batch, heads, seq, dim))
        calls.append(((batch, heads, seq, dim), stride))
    return [*calls, ((1, 2, 1, 3), (6, 3, 3, 1))]
