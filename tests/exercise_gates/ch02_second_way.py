"""A second right way to solve exercise 02, written differently wherever there is a choice."""

import itertools


def slice_part(s, size):
    if (s.step or 1) < 1 or s.step == 0:
        raise ValueError("a step must be greater than zero")
    picked = range(size)[s]
    return picked.start, len(picked), picked.step


def full_index(index, ndim):
    names = [entry for entry in index if entry is not None and entry is not Ellipsis]
    if len(names) > ndim:
        raise IndexError(f"too many indices: {len(names)} for {ndim}")
    if not any(entry is Ellipsis for entry in index):
        index += (Ellipsis,)
    result = []
    for entry in index:
        result += [slice(None)] * (ndim - len(names)) if entry is Ellipsis else [entry]
    return tuple(result)


def index_view(index, shape, stride, offset):
    """Worked out from the last dimension on."""
    sizes, steps, left = [], [], list(zip(shape, stride, strict=True))
    for entry in reversed(full_index(index, len(shape))):
        if entry is None:
            sizes.append(1)
            steps.append(0)
            continue
        size, step = left.pop()
        if isinstance(entry, slice):
            start, length, every = slice_part(entry, size)
            sizes.append(length)
            steps.append(step * every)
        else:
            start = entry + size * (entry < 0)
            if start not in range(size):
                raise IndexError(f"{entry} is out of bounds for size {size}")
        offset += start * step
    return tuple(sizes[::-1]), tuple(steps[::-1]), offset


def write_reaches(chain):
    copies = [entry for index in chain[:-1] for entry in index if isinstance(entry, (list, bool))]
    return not copies


def mask_positions(mask, shape):
    return list(itertools.compress(itertools.product(*map(range, shape)), mask))


def gather(values, shape, dim, index, index_shape):
    if len(index_shape) != len(shape):
        raise RuntimeError("numbers of dimensions differ")
    if any(n > m for d, (n, m) in enumerate(zip(index_shape, shape, strict=True)) if d != dim):
        raise RuntimeError("the index is larger")
    found = []
    for count, i in enumerate(index):
        if i not in range(shape[dim]):
            raise RuntimeError(f"{i} is out of bounds")
        place = []
        for size in reversed(index_shape):
            count, here = divmod(count, size)
            place.insert(0, here)
        place[dim] = i
        cell = 0
        for here, size in zip(place, shape, strict=True):
            cell = cell * size + here
        found.append(values[cell])
    return found


def index_put(values, positions, new, accumulate):
    result = dict(enumerate(values))
    for k, p in enumerate(positions):
        if p < -len(values) or p >= len(values):
            raise IndexError(f"index {p} is out of bounds for size {len(values)}")
        value = new[k % len(new)]
        result[p % len(values)] = value + accumulate * result[p % len(values)]
    return list(result.values())


SECOND_WAY = (slice_part, full_index, index_view, write_reaches, mask_positions, gather, index_put)
