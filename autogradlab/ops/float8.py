"""float8 on accelerators, whose array library has no such dtype: kept as bytes, and converted here.

A byte is looked up in the table of its 256 values; a number goes to the nearest of them, ties to the even one.
(https://arxiv.org/abs/2209.05433)
"""

import functools

import numpy

from autogradlab import dtypes


@functools.cache
def _values(dtype):
    """The 256 values that a byte can stand for."""
    return numpy.arange(256, dtype="uint8").view(dtype.numpy).astype("float32")


@functools.cache
def _halfway(dtype):
    """Between each finite value from 0 on and the next."""
    finite = _values(dtype)[:128]
    finite = finite[numpy.isfinite(finite)].astype("float64")
    return (finite[:-1] + finite[1:]) / 2


def decode(xp, stored, dtype):
    """Bytes as float32."""
    return xp.take(_there(xp, _values(dtype)), stored.astype("int64"))


def encode(xp, wide, dtype):
    """Finite numbers within the dtype's range, infinities and nans as bytes."""
    size = xp.abs(wide).astype("float64")
    halfway = _there(xp, _halfway(dtype))
    place = xp.searchsorted(halfway, size, side="left")
    last = halfway.shape[0] - 1
    tie = xp.take(halfway, xp.minimum(place, last)) == size
    place = place + xp.logical_and(tie, place % 2 == 1).astype("int64")
    largest = last + 1
    infinite = 0x7C if dtype is dtypes.float8_e5m2 else 0x7F  # e4m3fn has no infinity
    place = xp.where(xp.isinf(wide), place * 0 + infinite, xp.minimum(place, largest))
    place = xp.where(xp.isnan(wide), place * 0 + (0x7E if dtype is dtypes.float8_e5m2 else 0x7F), place)
    return (place + xp.signbit(wide).astype("int64") * 128).astype("uint8")


def _there(xp, table):
    """A table of the host as an array of the namespace."""
    return xp.array(table.tolist(), dtype=table.dtype)
