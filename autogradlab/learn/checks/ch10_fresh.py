"""Fresh random arguments for the hidden checks of chapter 10's exercise."""

import math
import random

from . import enumerated
from .ch03_fresh import some_layout, some_shape, some_split

Ints = tuple[int, ...]


def geometry(rng: random.Random, dims: int | None = None, smallest: int = 1) -> tuple[Ints, Ints, int]:
    """A shape, strides as views have them, and an offset."""
    shape = some_shape(rng, dims, smallest)
    return shape, some_layout(rng, shape), rng.choice([0, 0, 1, 3, 8])


def geometries(rng: random.Random) -> list[tuple]:
    """For cells_needed and walk."""
    calls = [geometry(rng, smallest=0 if n % 5 == 0 else 1) for n in range(24)]
    return [*calls, ((), (), rng.randint(1, 9)), ((2, 0), (3, 1), rng.randint(1, 9))]


def layouts(rng: random.Random) -> list[tuple]:
    """For overlaps: windows and interleaved layouts among them."""
    calls = [geometry(rng)[:2] for _ in range(16)]
    for _ in range(16):
        shape = rng.randint(1, 4), rng.randint(1, 4)
        calls.append((shape, (rng.randint(0, 4), rng.randint(1, 4))))
    return [*calls, ((1, 1), (0, 0)), ((0, 2), (0, 1))]


def pairs(rng: random.Random) -> list[tuple]:
    """For seen_in: two views of one small matrix or strip."""
    return [(geometry(rng, dims=rng.randint(0, 2)), geometry(rng, dims=rng.randint(1, 3))) for _ in range(24)]


def flattenings(rng: random.Random) -> list[tuple]:
    """For flatten: as many that are views as not."""
    views: list[tuple] = []
    copies: list[tuple] = []
    while min(len(views), len(copies)) < 14:
        shape, stride, _ = geometry(rng, dims=rng.randint(1, 4))
        start = rng.randrange(len(shape))
        end = rng.randrange(start, len(shape))
        joined = (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])
        names = start, end - len(shape) if rng.random() < 0.3 else end
        kind = copies if enumerated.view_stride(shape, stride, joined) is None else views
        kind.append((shape, stride, *names))
    return rng.sample(views, 14) + rng.sample(copies, 14)


def numbers(rng: random.Random, count: int) -> list[int]:
    """Numbers that differ, so that no two cells look alike."""
    return rng.sample(range(10, 10 + 4 * count + 4), count)


def reshapes(rng: random.Random) -> list[tuple]:
    """For reshape: as many views as copies."""
    views: list[tuple] = []
    copies: list[tuple] = []
    while min(len(views), len(copies)) < 14:
        shape, stride, offset = geometry(rng, dims=rng.randint(1, 3))
        new_shape = some_split(rng, math.prod(shape))
        cells = numbers(rng, max(enumerated.cells(shape, stride, offset)) + 1 + rng.choice([0, 2]))
        kind = copies if enumerated.view_stride(shape, stride, new_shape) is None else views
        kind.append((cells, shape, stride, offset, new_shape))
    return rng.sample(views, 14) + rng.sample(copies, 14)


def files(rng: random.Random) -> list[tuple]:
    """For file_bytes: storages that nobody reads, and some that several tensors do."""
    calls = []
    for _ in range(20):
        storages = [rng.randint(4, 60) for _ in range(rng.randint(1, 4))]
        tensors = [(rng.randrange(len(storages)), some_shape(rng, rng.randint(0, 2))) for _ in range(rng.randint(0, 4))]
        calls.append((storages, tensors, rng.choice([1, 2, 4, 8])))
    return calls


def programs(rng: random.Random) -> list[tuple]:
    """For run_program: views of views, clones in between, and now and then what must be refused."""
    calls: list[tuple] = []
    for n in range(24):
        cells = numbers(rng, rng.randint(4, 9))
        lengths, steps, apart = (
            [len(cells)],
            [],
            [True],
        )  # of each tensor: its storage's cells, whether it may be written
        counts = [len(cells)]
        for _ in range(rng.randint(3, 8)):
            source = rng.randrange(len(lengths))
            name = rng.choice(["view", "view", "add", "add", "clone", "data"])
            if name == "add":
                if apart[source] or n % 6 == 0:
                    steps.append((name, source, rng.randint(1, 9) * 10))
                continue
            if name == "view":
                shape, stride, offset = some_view(rng, lengths[source], fits=n % 6 != 1)
                visited = enumerated.cells(shape, stride, offset)
                steps.append((name, source, shape, stride, offset))
                lengths.append(lengths[source])
                counts.append(len(visited))
                apart.append(len(set(visited)) == len(visited))
                continue
            steps.append((name, source))
            lengths.append(counts[source] if name == "clone" else lengths[source])
            counts.append(counts[source])
            apart.append(apart[source] or name == "clone")
        calls.append((cells, steps))
    cells = numbers(rng, 5)
    windows = ("view", 0, (2, 4), (1, 1), 0)
    return [*calls, (cells, [windows, ("add", 1, 10)]), (cells, [windows, ("clone", 1), ("view", 2, (9,), (1,), 0)])]


def some_view(rng: random.Random, length: int, fits: bool) -> tuple[Ints, Ints, int]:
    """A view of a storage of this many cells; one that may reach too far if it need not fit."""
    while True:
        shape, stride, offset = geometry(rng, dims=rng.randint(1, 2))
        if max(enumerated.cells(shape, stride, offset)) < length + (0 if fits else 2):
            return shape, stride, offset
