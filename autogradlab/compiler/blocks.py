"""Work on large arrays, block by block, on several threads.

A chain of element-by-element kernels reads and writes whole arrays at each step, and memory is what it waits for.  Cut
into blocks that fit a core's cache, all steps of one block are done before the next one is read.  NumPy lets other
threads run meanwhile.
"""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy

BLOCK = 1 << 17  # elements: a few buffers of this size fit the cache near a core, and Python's part stays small


def _usual_threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


_threads = _usual_threads()
_pool = None


def get_num_threads() -> int:
    """How many threads fused kernels use.  https://pytorch.org/docs/stable/generated/torch.get_num_threads.html"""
    return _threads


def set_num_threads(number: int) -> None:
    """Use that many threads for fused kernels from now on.  (What a matrix product uses, NumPy's BLAS decides when it
    is loaded, by OMP_NUM_THREADS.)
    """
    global _threads, _pool
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(number).__name__}.")
    if number < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {number}.")
    _threads, _pool = number, None


def _forget_pool() -> None:
    global _pool
    _pool = None  # its threads do not live on in a forked process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def pool() -> ThreadPoolExecutor:
    """The threads, started when first needed."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads, thread_name_prefix="autogradlab-blocks")
    return _pool


def cut(shape: tuple, arrays: list) -> tuple[list, list]:
    """Views of the arrays, broadcast to `shape` with as few dimensions as they allow, and the indices of their blocks.

    Dimensions that lie in one run of memory in every array become one, so that contiguous arrays are cut as lines.
    """
    size = 1
    for n in shape:
        size *= n
    if all(a.size == 1 or a.size == size and a.flags.c_contiguous for a in arrays):
        views = [a.reshape(()) if a.size == 1 else a.reshape(-1) for a in arrays]
        return views, [(slice(i, i + BLOCK),) for i in range(0, size, BLOCK)]
    views = [a if a.shape == shape else numpy.broadcast_to(a, shape) for a in arrays]
    outer = sorted(range(len(shape)), key=lambda d: -max(v.strides[d] for v in views))
    views = [v.transpose(outer) for v in views]
    views = _merged([shape[d] for d in outer], views)
    return views, list(_indices(views[0].shape))


def _merged(sizes: list, views: list) -> list:
    """The views with neighbouring dimensions made one where every view allows it."""
    strides = [list(v.strides) for v in views]
    for d in reversed(range(len(sizes) - 1)):
        if sizes[d] == 1 or sizes[d + 1] == 1 or all(s[d] == s[d + 1] * sizes[d + 1] for s in strides):
            keep = d if sizes[d + 1] == 1 else d + 1
            for s in strides:
                s[d : d + 2] = [s[keep]]
            sizes[d : d + 2] = [sizes[d] * sizes[d + 1]]
    strided = numpy.lib.stride_tricks.as_strided
    return [strided(v, sizes, s) for v, s in zip(views, strides, strict=True)]


def _indices(shape: tuple):
    """Blocks of about BLOCK elements: whole inner dimensions, a piece of one, single places of the outer ones."""
    inner, axis = 1, len(shape) - 1
    while axis > 0 and inner * shape[axis] < BLOCK:
        inner *= shape[axis]
        axis -= 1
    step = max(1, BLOCK // inner)
    pieces = [slice(i, i + step) for i in range(0, shape[axis], step)]
    for outer in itertools.product(*map(range, shape[:axis])):
        for piece in pieces:
            yield (*outer, piece)


def run(work, arrays: list, indices: list) -> None:
    """work(*blocks) for each block of the arrays, on the threads."""
    whole = [a.ndim == 0 for a in arrays]

    def take(todo) -> None:
        with numpy.errstate(all="ignore"):  # inf and nan are values here; threads start with NumPy's own settings
            for index in todo:
                work(*[a if w else a[index] for a, w in zip(arrays, whole, strict=True)])

    if len(indices) < 2 or _threads == 1:
        take(indices)
        return
    todo = iter(indices)  # shared: whoever is free takes the next
    started = [pool().submit(take, todo) for _ in range(min(_threads, len(indices)) - 1)]
    take(todo)
    for one in started:
        one.result()
