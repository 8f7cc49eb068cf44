"""Fresh random arguments for the hidden checks of chapter 02's exercise."""

import math
import random
from typing import Any

from . import enumerated_indexing as enumerated
from .ch03_fresh import some_layout, some_shape

Ints = tuple[int, ...]


def edge(rng: random.Random, size: int) -> int | None:
    """One end of a slice: within the dimension, beyond it, or left out."""
    return None if rng.random() < 0.3 else rng.randint(-size - 2, size + 2)


def some_slice(rng: random.Random, size: int) -> slice:
    """Any slice with a step of at least 1."""
    return slice(edge(rng, size), edge(rng, size), rng.choice([None, None, 1, 2, 3]))


def slices(rng: random.Random) -> list[tuple]:
    """For slice_part: every fifth is refused."""
    calls = []
    for n in range(30):
        size = rng.randint(0, 7)
        given = some_slice(rng, size)
        given = slice(given.start, given.stop, rng.choice([0, -1, -2])) if n % 5 == 4 else given
        calls.append((given, size))
    return calls


def some_index(rng: random.Random, shape: Ints, short: bool = True) -> tuple:
    """Numbers and slices, None here and there, sometimes ... in place of some."""
    entries: list[Any] = [rng.randrange(-n, n) if n and rng.random() < 0.4 else some_slice(rng, n) for n in shape]
    if entries and rng.random() < 0.4:
        start = rng.randint(0, len(entries))
        entries[start : rng.randint(start, len(entries))] = [...]
    elif short and rng.random() < 0.3:
        entries = entries[: rng.randint(0, len(entries))]
    for _ in range(rng.choice([0, 0, 1, 2])):
        entries.insert(rng.randint(0, len(entries)), None)
    return tuple(entries)


def fillings(rng: random.Random) -> list[tuple]:
    """For full_index: every fifth speaks of more dimensions than there are."""
    calls = []
    for n in range(25):
        shape = some_shape(rng, dims=rng.randint(1, 4))
        index = some_index(rng, shape)
        used = enumerated.used(index)
        calls.append((index, rng.randrange(used) if n % 5 == 4 and used else len(shape)))
    return [*calls, ((0, 1, ...), 1)]


def views(rng: random.Random) -> list[tuple]:
    """For index_view: numbers out of range, too many entries and negative steps among them."""
    calls = []
    for n in range(32):
        shape = some_shape(rng, dims=rng.randint(1, 4))
        index, d = some_index(rng, shape), rng.randrange(len(shape))
        if n % 8 == 3:
            size = shape[d]
            index = (slice(None),) * d + (rng.choice([size, size + 2, -size - 1]),)
        elif n % 8 == 7:
            index = (slice(None),) * d + (slice(None, None, -1),)
        calls.append((index, shape, some_layout(rng, shape), rng.choice([0, 0, 5, 12])))
    return [*calls, ((0, 0), (3,), (1,), 0), ((), (), (), 4)]


def chains(rng: random.Random) -> list[tuple]:
    """For write_reaches."""
    views = (0, -1, slice(1, None), slice(None, None, 2), None, ...)
    copies = ([0, 1], [2], [True, False], True)
    calls = []
    for _ in range(30):
        chain = []
        for _ in range(rng.randint(1, 3)):
            entries = [rng.choice(views if rng.random() < 0.75 else copies) for _ in range(rng.randint(1, 3))]
            chain.append(tuple(e for k, e in enumerate(entries) if e is not ... or entries.index(...) == k))
        calls.append((chain,))
    return calls


def masks(rng: random.Random) -> list[tuple]:
    """For mask_positions."""
    calls = []
    for _ in range(22):
        shape = some_shape(rng, dims=rng.randint(1, 3), smallest=0)
        calls.append(([rng.random() < 0.4 for _ in range(math.prod(shape))], shape))
    return calls


def gathers(rng: random.Random) -> list[tuple]:
    """For gather: indices out of range, and shapes that do not go together, among them."""
    calls = []
    for n in range(30):
        shape = some_shape(rng, dims=rng.randint(1, 3))
        dim = rng.randrange(len(shape))
        index_shape = tuple(rng.randint(1, 5) if d == dim else rng.randint(1, size) for d, size in enumerate(shape))
        index = [rng.randrange(shape[dim]) for _ in range(math.prod(index_shape))]
        if n % 6 == 3:
            index[rng.randrange(len(index))] = rng.choice([-1, shape[dim]])
        elif n % 6 == 4:
            index_shape = (*index_shape, 1)
        elif n % 6 == 5 and len(shape) > 1:
            other = (dim + 1) % len(shape)
            index_shape = tuple(shape[d] + 1 if d == other else size for d, size in enumerate(index_shape))
            index = [rng.randrange(shape[dim]) for _ in range(math.prod(index_shape))]
        values = rng.sample(range(100, 1000), math.prod(shape))
        calls.append((values, shape, dim, index, index_shape))
    return calls


def puts(rng: random.Random) -> list[tuple]:
    """For index_put: every sixth names a place that is not there."""
    calls = []
    for n in range(30):
        size, count = rng.randint(1, 6), rng.randint(1, 6)
        where = [rng.randrange(-size, size) for _ in range(count)]
        if n % 6 == 5:
            where[rng.randrange(count)] = rng.choice([size, -size - 1])
        new = [rng.randint(1, 99) for _ in range(1 if n % 4 == 0 else count)]
        calls.append(([rng.randint(-99, -1) for _ in range(size)], where, new, rng.random() < 0.5))
    return calls
