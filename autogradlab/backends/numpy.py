"""The CPU: NumPy arrays over host memory."""

from sys import getrefcount

import numpy

from autogradlab.shapes import is_dense


def _reduction(ufunc):
    def reduce(a, axis=None, dtype=None, out=None, keepdims=False):
        return ufunc.reduce(a, axis, dtype, out, keepdims)

    return staticmethod(reduce)


def _choice(ufunc):
    def reduce(a, axis=None, out=None, keepdims=False):
        return ufunc.reduce(a, axis, None, out, keepdims)

    return staticmethod(reduce)


def _running(ufunc):
    def accumulate(a, axis, dtype=None, out=None):
        return ufunc.accumulate(a, axis, dtype, out)

    return staticmethod(accumulate)


class Namespace:
    """numpy's functions; reductions go to the ufunc at once, which for small arrays takes a third of the time.

    And what NumPy warns of then, such as an overflow, is said of a line of the engine, whose warnings are switched off.
    """

    sum, prod = _reduction(numpy.add), _reduction(numpy.multiply)
    max, min = _choice(numpy.maximum), _choice(numpy.minimum)
    all, any = _choice(numpy.logical_and), _choice(numpy.logical_or)
    cumsum, cumprod = _running(numpy.add), _running(numpy.multiply)

    def __getattr__(self, name: str):  # once for each name
        found = getattr(numpy, name)
        setattr(self, name, found)
        return found


xp = Namespace()


class NumpyBackend:
    """Buffers are one-dimensional uint8 arrays, windows are ndarrays over them."""

    xp = xp
    array = numpy.ndarray

    def allocate(self, nbytes: int):
        return numpy.empty(nbytes, numpy.uint8)

    def window(self, buffer, dtype, shape, stride, offset):
        """The elements that (shape, stride, offset) pick from a buffer, without a copy."""
        if 0 in shape:
            return numpy.empty(shape, dtype.numpy)
        size = dtype.itemsize
        return numpy.ndarray(shape, dtype.numpy, buffer, offset * size, [s * size for s in stride])

    def flat(self, array):
        """All bytes from an array's first element to its last, as a buffer that shares its memory."""
        if array.size == 0:
            return numpy.empty(0, numpy.uint8)
        if array.flags.c_contiguous:
            return array.reshape(-1).view(numpy.uint8)
        cells = 1 + sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) // array.itemsize
        line = numpy.lib.stride_tricks.as_strided(array, (cells,), (array.itemsize,))
        return line.view(numpy.uint8)

    def as_array(self, value, dtype):
        """A kernel's result as an array of that dtype: NumPy hands out scalars where arrays have no dimensions."""
        return numpy.asarray(value, dtype._numpy or dtype.numpy)

    def owns(self, array) -> bool:
        """Whether an array is alone on its memory and fills it, so that a tensor may take it over."""
        base = array.base
        if base is None:
            return array.flags.c_contiguous or is_dense(array.shape, tuple(s // array.itemsize for s in array.strides))
        # a transpose of an array that nobody else holds will do
        return (
            type(base) is numpy.ndarray
            and base.size == array.size
            and base.flags.c_contiguous
            and getrefcount(base) <= 3
        )

    def scalar(self, value, dtype):
        """A Python number as a kernel wants it: a 0-d array of the right dtype, twice as fast as the number itself."""
        made = numpy.array(value, dtype.numpy)
        made.setflags(write=False)
        return made

    def to_host(self, array, waits: bool = True):
        return array

    def from_host(self, array, waits: bool = True):
        return array

    def widen(self, array, dtype):
        """An operand in the dtype its kernel computes in."""
        return array.astype(dtype)

    narrow = widen  # a result in the dtype that is kept

    def pointer(self, buffer) -> int:
        return buffer.__array_interface__["data"][0]

    def generator_from(self, seed: int):
        """A generator of random numbers: an object with NumPy's Generator methods that returns arrays of this
        backend.
        """
        return numpy.random.default_rng(seed)

    def synchronize(self) -> None:
        """Nothing to wait for: NumPy returns when it is done."""


_cpu = NumpyBackend()


def backend(index=None) -> NumpyBackend:
    return _cpu
