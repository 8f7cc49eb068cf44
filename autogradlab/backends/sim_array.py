"""Arrays of the simulated accelerator: their numbers lie where NumPy cannot reach them by accident.

Whatever computes tells the clock what a kernel of that kind would read, write and calculate.
"""

import math
import threading

import numpy

from .clock import clock

HALVES = ("float16", "bfloat16")


class Streams(threading.local):
    """Which stream of each device this thread's work goes to: 0 unless a `with stream:` block says otherwise."""

    def __init__(self):
        self.current: dict[int, int] = {}
        self.fusing = False  # what is called is part of one kernel, which is charged as a whole

    def lane(self, index: int) -> str:
        number = self.current.get(index, 0)
        return f"sim:{index}" if not number else f"sim:{index} stream {number}"


streams = Streams()


class SimArray:
    """An array on the simulated accelerator.  NumPy gets at it only through `to_host`."""

    __slots__ = ("_data", "index", "stored")
    __array_ufunc__ = None  # `numpy_array + sim_array` is refused rather than looped over
    __hash__ = None

    def __init__(self, data, index: int, stored=None):
        self._data, self.index = data, index
        self.stored = stored  # the dtype it has in memory, where a kernel widens it as it reads

    def __array__(self, *args, **kwargs):
        raise TypeError(
            f"Implicit conversion of an array on sim:{self.index} to a NumPy array is not allowed: it would wait for "
            f"the device and "
            "copy unseen. Copy it with .cpu()."
        )

    shape = property(lambda self: self._data.shape)
    dtype = property(lambda self: self._data.dtype)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    itemsize = property(lambda self: self._data.itemsize)
    nbytes = property(lambda self: self._data.nbytes)
    strides = property(lambda self: self._data.strides)
    flags = property(lambda self: self._data.flags)
    base = property(lambda self: self._data.base)
    T = property(lambda self: SimArray(self._data.T, self.index))

    def astype(self, dtype, copy=True):
        return charged("astype", self.index, (self,), SimArray(self._data.astype(dtype, copy=copy), self.index))

    def reshape(self, *shape):
        return SimArray(self._data.reshape(*shape), self.index)

    def transpose(self, *axes):
        return SimArray(self._data.transpose(*axes), self.index)

    def swapaxes(self, axis1, axis2):
        return SimArray(self._data.swapaxes(axis1, axis2), self.index)

    def copy(self, order="C"):
        return charged("copy", self.index, (self,), SimArray(self._data.copy(order), self.index))

    def view(self, dtype):
        return SimArray(self._data.view(dtype), self.index)

    def __getitem__(self, key):
        made = SimArray(numpy.asarray(self._data[plain(key, self.index)]), self.index)
        return made if made.size and made._data.base is not None else charged("take", self.index, (key,), made)

    def __setitem__(self, key, value):
        where = plain(key, self.index)
        self._data[where] = plain(value, self.index)
        charged("put", self.index, (value,), SimArray(self._data[where], self.index))

    def __len__(self):
        return len(self._data)

    def __repr__(self):
        return f"SimArray(shape={self.shape}, dtype={self.dtype}, device=sim:{self.index})"

    def __bool__(self):
        return bool(self._asked())

    def __int__(self):
        return int(self._asked())

    def __float__(self):
        return float(self._asked())

    def _asked(self):
        """The host wants to know: it waits for all that was handed over before."""
        lane = streams.lane(self.index)
        clock.copy(f"sim:{self.index} copies", "copy to host", self.nbytes, True, lane)
        return self._data


def _operator(name, swap=False):
    def method(self, other):
        a, b = self._data, plain(other, self.index)
        result = computed(name, getattr(numpy, name), (b, a) if swap else (a, b), {})
        return charged(name, self.index, (self, other), SimArray(numpy.asarray(result), self.index))

    return method


def _one(name):
    def method(self):
        made = SimArray(numpy.asarray(getattr(numpy, name)(self._data)), self.index)
        return charged(name, self.index, (self,), made)

    return method


def _in_place(name):
    def method(self, other):
        getattr(numpy, name)(self._data, plain(other, self.index), out=self._data)
        return charged(name, self.index, (self, other), self)

    return method


for _symbol, _name in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}.items():  # fmt: skip
    setattr(SimArray, f"__{_symbol}__", _operator(_name))
    setattr(SimArray, f"__r{_symbol}__", _operator(_name, swap=True))
for _symbol, _name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide"}.items():
    setattr(SimArray, f"__i{_symbol}__", _in_place(_name))
for _symbol, _name in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(SimArray, f"__{_symbol}__", _operator(_name))
for _symbol, _name in {"neg": "negative", "invert": "invert"}.items():
    setattr(SimArray, f"__{_symbol}__", _one(_name))


def plain(value, index: int):
    """What NumPy computes with underneath; an array of the host or of another device is refused, as CuPy does."""
    if isinstance(value, SimArray):
        if value.index != index:
            raise RuntimeError(f"an array on sim:{value.index} cannot be used on sim:{index}: copy it there first.")
        return value._data
    if isinstance(value, numpy.ndarray):
        raise TypeError(
            f"Unsupported type {type(value)}: an array of the host cannot be used on sim:{index}: copy it there first."
        )
    if isinstance(value, (tuple, list)):
        return type(value)(plain(v, index) for v in value)
    return value


def wrapped(value, index: int):
    if isinstance(value, (tuple, list)):
        return (
            type(value)(wrapped(v, index) for v in value)
            if type(value) in (tuple, list)
            else tuple(wrapped(v, index) for v in value)
        )
    return SimArray(numpy.asarray(value), index) if isinstance(value, (numpy.ndarray, numpy.generic)) else value


# What a kernel costs --------------------------------------------------------------------------------------------------

PRODUCTS = {"matmul", "dot", "tensordot", "einsum", "outer"}
FREE = set("broadcast_to reshape transpose swapaxes moveaxis expand_dims squeeze ravel diagonal asarray".split())


def charged(name: str, index: int, inputs, result):
    """Tell the clock of a kernel that read these and made that; the result is handed through."""
    made = [r for r in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(r, SimArray)]
    read = list(_arrays(inputs))
    if made and not streams.fusing and not (name in FREE and made[0]._data.base is not None):
        nbytes = sum(map(_bytes, read)) + sum(map(_bytes, made))
        operations, dtype = sum(r.size for r in made), str(made[0].dtype)
        if name in PRODUCTS and len(read) > 1:
            a, b = read[0], read[1]
            inner = a.shape[-1] if name == "matmul" else math.sqrt(a.size * b.size / max(made[0].size, 1))
            operations = int(2 * made[0].size * inner)
            dtype = str(a.stored or a.dtype)
        elif read:
            operations = max(operations, *(r.size for r in read))
        clock.launch(streams.lane(index), name, nbytes, operations, dtype)
    return result


def _bytes(a: SimArray) -> int:
    cells = 1
    for size, step in zip(a.shape, a.strides, strict=True):
        cells *= size if step else 1
    return cells * (numpy.dtype(a.stored).itemsize if a.stored else a.itemsize)


def _arrays(values):
    for value in values:
        if isinstance(value, SimArray):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _arrays(value)


def computed(name: str, fn, args, kwargs):
    """Products of half precision are summed in float32 and rounded once, as matrix units do."""
    if name == "matmul" and str(args[0].dtype) in HALVES and args[0].dtype == args[1].dtype:
        return fn(args[0].astype("float32"), args[1].astype("float32"), **kwargs).astype(args[0].dtype)
    return fn(*args, **kwargs)
