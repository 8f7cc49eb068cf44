"""Typical wrong solutions of exercise 27: WRONG lists each with its task and the words its check must answer with."""

from .ch27_second_way import accumulated as gathered
from .ch27_second_way import clipped_step as clipped
from .ch27_second_way import fill_buckets as filled
from .ch27_second_way import ring_bytes as sent
from .ch27_second_way import set_out as started


def to_the_left(held, t):
    n = len(held)
    new = [list(chunks) for chunks in held]
    for r in range(n):
        chunk = (r - t) % n
        new[r - 1][chunk] = held[r][chunk] + (held[r - 1][chunk] if t < n - 1 else 0)
    return new


def always_adds(held, t):
    n = len(held)
    new = [list(chunks) for chunks in held]
    for r in range(n):
        new[(r + 1) % n][(r - t) % n] += held[r][(r - t) % n]
    return new


def same_chunk_again(held, t):
    n = len(held)
    new = [list(chunks) for chunks in held]
    for r in range(n):
        new[(r + 1) % n][r] = held[r][r] + (held[(r + 1) % n][r] if t < n - 1 else 0)
    return new


def writes_into_it(held, t):
    n = len(held)
    for r in range(n):
        held[(r + 1) % n][(r - t) % n] += held[r][(r - t) % n]
    return held


def only_adding(n, ranks, itemsize):
    return [itemsize * sum(_length(n, (r - t) % ranks, ranks) for t in range(ranks - 1)) for r in range(ranks)]


def _length(n, c, ranks):
    return n * (c + 1) // ranks - n * c // ranks


def whole_vector(n, ranks, itemsize):
    return [2 * (ranks - 1) * n * itemsize] * ranks


def equal_chunks(n, ranks, itemsize):
    return [2 * (ranks - 1) * (n // ranks) * itemsize] * ranks


def numbers(n, ranks, itemsize):
    return sent(n, ranks, 1)


def from_the_first(sizes, first, cap):
    last = len(sizes) - 1
    return [[last - i for i in bucket] for bucket in filled(sizes[::-1], first, cap)]


def never_above(sizes, first, cap):
    buckets, held, limit = [], [], first
    for i in range(len(sizes) - 1, -1, -1):
        if held and sum(sizes[j] for j in held) + sizes[i] > limit:
            buckets.append(held)
            held, limit = [], cap
        held.append(i)
    return [*buckets, held] if held else buckets


def drops_the_rest(sizes, first, cap):
    buckets, held, limit = [], [], first
    for i in range(len(sizes) - 1, -1, -1):
        held.append(i)
        if sum(sizes[j] for j in held) >= limit:
            buckets.append(held)
            held, limit = [], cap
    return buckets


def one_limit(sizes, first, cap):
    return filled(sizes, cap, cap)


def overtakes(buckets, arrivals):
    return [max(arrivals.index(i) + 1 if i in arrivals else 10**9 for i in b) % 10**9 or None for b in buckets]


def behind_the_stopped(buckets, arrivals):
    found, latest = [], 0
    for bucket in buckets:
        if all(i in arrivals for i in bucket):
            latest = max([latest, *(arrivals.index(i) + 1 for i in bucket)])
            found.append(latest)
        else:
            found.append(None)
    return found


def places(buckets, arrivals):
    return [at and at - 1 for at in started(buckets, arrivals)]


def at_the_end(buckets, arrivals):
    return [len(arrivals) if at is None else at for at in started(buckets, arrivals)]


def shares(rows):
    return [n / sum(rows) for n in rows]


def turned_over(rows):
    return [sum(rows) / (n * len(rows)) if n else 0.0 for n in rows]


def all_alike(rows):
    return [1.0] * len(rows)


def always_before(grads, max_norm, when):
    return clipped(grads, max_norm, "before")


def always_after(grads, max_norm, when):
    return clipped(grads, max_norm, "after")


def number_by_number(grads, max_norm, when):
    def cut(grad):
        return [max(-max_norm, min(max_norm, g)) for g in grad]

    mean = [sum(column) / len(grads) for column in zip(*map(cut, grads) if when == "before" else grads, strict=True)]
    return mean if when == "before" else cut(mean)


def adds_up(grads, max_norm, when):
    parts = [clipped([g], max_norm, "after") for g in grads] if when == "before" else grads
    total = [float(sum(column)) for column in zip(*parts, strict=True)]
    return total if when == "before" else clipped([total], max_norm, "after")


def by_backward(calls, ranks):
    """As if each forward ran where its backward does."""
    moved = []
    for call in calls:
        if call[0] == "backward":
            moved.append(("forward", call[1]))
        if call[0] != "forward":
            moved.append(call)
    return gathered(moved, ranks)


def averages_the_new_ones(calls, ranks):
    grad, averages, apart, inside = [0.0] * ranks, 0, {}, False
    for call in calls:
        if call[0] == "forward":
            apart[call[1]] = inside
        elif call[0] == "backward":
            new = call[2]
            if not apart[call[1]]:
                new, averages = [sum(new) / ranks] * ranks, averages + 1
            grad = [g + n for g, n in zip(grad, new, strict=True)]
        else:
            inside = call[0] == "enter"
    return grad, averages


def sums(calls, ranks):
    grad, averages, apart, inside = [0.0] * ranks, 0, {}, False
    for call in calls:
        if call[0] == "forward":
            apart[call[1]] = inside
        elif call[0] == "backward":
            grad = [g + n for g, n in zip(grad, call[2], strict=True)]
            if not apart[call[1]]:
                grad, averages = [sum(grad)] * ranks, averages + 1
        else:
            inside = call[0] == "enter"
    return grad, averages


def counts_all(calls, ranks):
    return gathered(calls, ranks)[0], sum(call[0] == "backward" for call in calls)


def more_than_the_limit(sizes, first, cap):
    return filled(sizes, first + 1, cap + 1)


def empty_at_the_end(sizes, first, cap):
    buckets = filled(sizes, first, cap)
    held = sum(sizes[i] for i in buckets[-1]) if buckets else 0
    return buckets if held < (cap if len(buckets) > 1 else first) else [*buckets, []]


def sorted_inside(sizes, first, cap):
    return [sorted(bucket) for bucket in filled(sizes, first, cap)]


def whole_zero(rows):
    return [n * len(rows) / sum(rows) if n else 0 for n in rows]


WRONG = (
    ("ring_round", to_the_left, "The chunks went to the left"),
    ("ring_round", always_adds, "It is added in every round"),
    ("ring_round", same_chunk_again, "Each round sent chunk r again"),
    ("ring_round", writes_into_it, "changed its argument held"),
    ("ring_bytes", only_adding, "Half of the rounds"),
    ("ring_bytes", whole_vector, "A rank sends one chunk a round"),
    ("ring_bytes", equal_chunks, "Chunks are not all alike"),
    ("ring_bytes", numbers, "Each has `itemsize` bytes"),
    ("fill_buckets", from_the_first, "Backward comes to the last one first"),
    ("fill_buckets", never_above, "closed once it holds at least its limit"),
    ("fill_buckets", more_than_the_limit, "Exactly the limit is enough"),
    ("fill_buckets", empty_at_the_end, "The last bucket is empty"),
    ("fill_buckets", sorted_inside, "as they were put in"),
    ("fill_buckets", drops_the_rest, "What is left at the end is a bucket too"),
    ("fill_buckets", one_limit, "The first bucket has a limit of its own"),
    ("set_out", overtakes, "A bucket set out before the one in front of it"),
    ("set_out", behind_the_stopped, "although one before it never does"),
    ("set_out", places, "One too few"),
    ("set_out", at_the_end, "not there at the end either"),
    ("loss_factors", shares, "DDP divides by the number of ranks as well"),
    ("loss_factors", turned_over, "a rank with more rows counts more"),
    ("loss_factors", whole_zero, "a rank without rows has 0.0, not 0"),
    ("loss_factors", all_alike, "Then each rank counts alike"),
    ("clipped_step", always_before, "Each rank was clipped by itself"),
    ("clipped_step", always_after, "The mean was clipped"),
    ("clipped_step", number_by_number, "Each number was cut by itself"),
    ("clipped_step", adds_up, "The ranks' gradients were added"),
    ("accumulated", by_backward, "Judged by where backward ran"),
    ("accumulated", averages_the_new_ones, "Only the new gradient was averaged"),
    ("accumulated", sums, "The ranks' gradients were added"),
    ("accumulated", counts_all, "Count only the backward passes"),
)
