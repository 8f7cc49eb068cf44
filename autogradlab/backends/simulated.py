"""A simulated accelerator, sim:0 and sim:1: data apart from the host's, refusals as a GPU's, on any machine.

A SimArray holds its numbers where NumPy cannot reach them by accident, and its namespace has only the functions *and
keywords* that CuPy has too (`CUPY`, compared with the real module where that is installed).  So what runs here runs on
CuPy.  It is a simulation: NumPy computes underneath, and nothing it says about time is a measurement.
"""

import functools

import numpy

from autogradlab.shapes import is_dense

DEVICES = 2

_UFUNC = "out dtype casting"
CUPY = {  # the functions of CuPy that kernels may use, each with the keywords it takes there
    **dict.fromkeys(
        "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor "
        "ceil cos cosh "
        "divide equal exp exp2 expm1 floor floor_divide fmod greater greater_equal invert isfinite isinf isnan "
        "left_shift "
        "less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum "
        "minimum multiply "
        "negative not_equal positive power reciprocal remainder right_shift rint sign signbit sin sinh sqrt square "
        "subtract "
        "tan tanh true_divide trunc copysign hypot fmax fmin logaddexp2 nextafter gcd lcm".split(),
        _UFUNC,
    ),
    **dict.fromkeys("sum prod".split(), "axis dtype out keepdims"),
    **dict.fromkeys("max min amax amin all any".split(), "axis out keepdims"),
    **dict.fromkeys("argmax argmin".split(), "axis dtype out keepdims"),
    **dict.fromkeys("mean".split(), "axis dtype out keepdims"),
    **dict.fromkeys("var std".split(), "axis dtype out ddof keepdims"),
    **dict.fromkeys("cumsum cumprod".split(), "axis dtype out"),
    **dict.fromkeys("sort argsort".split(), "axis kind"),
    "lexsort": "",
    **dict.fromkeys("empty zeros ones".split(), "dtype order"),
    "full": "dtype order",
    **dict.fromkeys("zeros_like ones_like empty_like".split(), "dtype order shape"),
    "full_like": "dtype order shape",
    "arange": "dtype",
    "linspace": "num endpoint retstep dtype axis",
    "eye": "M k dtype order",
    **dict.fromkeys("tril triu".split(), "k"),
    "diag": "k",
    "diagonal": "offset axis1 axis2",
    **dict.fromkeys("concatenate stack".split(), "axis out dtype casting"),
    "where": "",
    "nonzero": "",
    "count_nonzero": "axis",
    "unique": "return_index return_inverse return_counts axis",
    **dict.fromkeys("take take_along_axis".split(), "axis out"),
    "put_along_axis": "axis",
    "flip": "axis",
    "roll": "axis",
    "repeat": "axis",
    "tile": "",
    "clip": "out",
    "round": "decimals out",
    "nan_to_num": "copy nan posinf neginf",
    **dict.fromkeys("matmul".split(), "out dtype casting"),
    "dot": "out",
    "tensordot": "axes",
    "einsum": "",
    "outer": "out",
    **dict.fromkeys("broadcast_to reshape transpose swapaxes moveaxis expand_dims squeeze ravel".split(), "axis"),
    "ascontiguousarray": "dtype",
    "asarray": "dtype order",
    "array": "dtype copy order",
    "copy": "order",
    "copyto": "casting where",
    "bincount": "weights minlength",
    "searchsorted": "side sorter",
}
CONSTANTS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 bool_ pi inf nan e newaxis dtype "
    "result_type".split()
)


class SimArray:
    """An array on the simulated accelerator.  NumPy gets at it only through `to_host`."""

    __slots__ = ("_data", "index")
    __array_ufunc__ = None  # `numpy_array + sim_array` is refused rather than looped over
    __hash__ = None

    def __init__(self, data, index: int):
        self._data, self.index = data, index

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
        return SimArray(self._data.astype(dtype, copy=copy), self.index)

    def reshape(self, *shape):
        return SimArray(self._data.reshape(*shape), self.index)

    def transpose(self, *axes):
        return SimArray(self._data.transpose(*axes), self.index)

    def swapaxes(self, axis1, axis2):
        return SimArray(self._data.swapaxes(axis1, axis2), self.index)

    def copy(self, order="C"):
        return SimArray(self._data.copy(order), self.index)

    def view(self, dtype):
        return SimArray(self._data.view(dtype), self.index)

    def __getitem__(self, key):
        return SimArray(numpy.asarray(self._data[_plain(key, self.index)]), self.index)

    def __setitem__(self, key, value):
        self._data[_plain(key, self.index)] = _plain(value, self.index)

    def __len__(self):
        return len(self._data)

    def __repr__(self):
        return f"SimArray(shape={self.shape}, dtype={self.dtype}, device=sim:{self.index})"

    def __bool__(self):
        return bool(self._data)

    def __int__(self):
        return int(self._data)

    def __float__(self):
        return float(self._data)


def _operator(name, swap=False):
    def method(self, other):
        a, b = self._data, _plain(other, self.index)
        result = getattr(numpy, name)(b, a) if swap else getattr(numpy, name)(a, b)
        return SimArray(numpy.asarray(result), self.index)

    return method


def _in_place(name):
    def method(self, other):
        getattr(numpy, name)(self._data, _plain(other, self.index), out=self._data)
        return self

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
SimArray.__neg__ = lambda self: SimArray(numpy.asarray(-self._data), self.index)
SimArray.__invert__ = lambda self: SimArray(numpy.asarray(~self._data), self.index)


def _plain(value, index: int):
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
        return type(value)(_plain(v, index) for v in value)
    return value


def _wrap(value, index: int):
    if isinstance(value, (tuple, list)):
        return (
            type(value)(_wrap(v, index) for v in value)
            if type(value) in (tuple, list)
            else tuple(_wrap(v, index) for v in value)
        )
    return SimArray(numpy.asarray(value), index) if isinstance(value, (numpy.ndarray, numpy.generic)) else value


class Namespace:
    """The array namespace of one simulated device: what CuPy has, and nothing more."""

    def __init__(self, index: int):
        self._index = index
        for name in CONSTANTS:
            setattr(self, name, getattr(numpy, name))

    def __getattr__(self, name):
        if name == "linalg":
            return Linalg(self._index)
        if name not in CUPY:
            raise AttributeError(f"cupy has no {name!r} that kernels may use (see backends/simulated.py)")
        made = self._function(getattr(numpy, name), name, frozenset(CUPY[name].split()))
        if name in ("add", "multiply", "maximum", "minimum", "logical_or"):
            made.at = functools.partial(self._at, name)
        setattr(self, name, made)
        return made

    def _function(self, fn, name, keywords):
        index = self._index

        @functools.wraps(fn)
        def call(*args, **kwargs):
            if not keywords.issuperset(kwargs):
                raise TypeError(f"cupy.{name} has no keyword {', '.join(sorted(set(kwargs) - keywords))}")
            return _wrap(fn(*_plain(args, index), **{k: _plain(v, index) for k, v in kwargs.items()}), index)

        return call

    def _at(self, name, a, indices, b):
        getattr(numpy, name).at(_plain(a, self._index), _plain(indices, self._index), _plain(b, self._index))


class Linalg(Namespace):
    """cupy.linalg: what of it kernels may use."""

    KEYWORDS = {"inv": "", "solve": "", "det": "", "slogdet": "", "cholesky": "", "qr": "mode", "svd": "full_matrices"}

    def __getattr__(self, name):
        if name not in self.KEYWORDS:
            raise AttributeError(f"cupy.linalg has no {name!r} that kernels may use (see backends/simulated.py)")
        return self._function(getattr(numpy.linalg, name), name, frozenset(self.KEYWORDS[name].split()))


class _Random:
    """NumPy's generator, its arrays made on the device."""

    def __init__(self, generator, index: int):
        self._generator, self._index = generator, index

    def __getattr__(self, name):
        method = getattr(self._generator, name)
        if not callable(method):  # bit_generator: its state is the host's
            return method
        return lambda *args, **kwargs: _wrap(method(*args, **kwargs), self._index)


class SimBackend:
    """Buffers and windows are SimArrays."""

    array = SimArray

    def __init__(self, index: int):
        self.index, self.xp = index, Namespace(index)

    def allocate(self, nbytes: int):
        return SimArray(numpy.empty(nbytes, numpy.uint8), self.index)

    def window(self, buffer, dtype, shape, stride, offset):
        if 0 in shape:
            return SimArray(numpy.empty(shape, dtype.numpy), self.index)
        size = dtype.itemsize
        return SimArray(
            numpy.ndarray(shape, dtype.numpy, buffer._data, offset * size, [s * size for s in stride]), self.index
        )

    def flat(self, array):
        data = array._data
        if data.size == 0:
            return self.allocate(0)
        cells = 1 + sum((n - 1) * s for n, s in zip(data.shape, data.strides, strict=True)) // data.itemsize
        line = numpy.lib.stride_tricks.as_strided(data, (cells,), (data.itemsize,))
        return SimArray(line.view(numpy.uint8), self.index)

    def as_array(self, value, dtype):
        if isinstance(value, SimArray):
            return value if value.dtype == dtype.numpy else value.astype(dtype.numpy)
        return SimArray(numpy.asarray(_plain(value, self.index), dtype.numpy), self.index)

    def owns(self, array) -> bool:
        data = array._data
        return data.base is None and is_dense(data.shape, tuple(s // data.itemsize for s in data.strides))

    def scalar(self, value, dtype):
        return dtype.numpy.type(value)

    def to_host(self, array):
        return array._data.copy()

    def from_host(self, array):
        return SimArray(numpy.array(array), self.index)

    def pointer(self, buffer) -> int:
        return buffer._data.__array_interface__["data"][0]

    def generator_from(self, seed: int):
        return _Random(numpy.random.default_rng(seed), self.index)

    def synchronize(self) -> None:
        """The skeleton computes at once; its queue and clock come with the timelines."""


@functools.cache
def _made(index: int) -> SimBackend:
    return SimBackend(index)


def backend(index: int | None) -> SimBackend:
    if not 0 <= (index or 0) < DEVICES:
        raise RuntimeError(
            f"invalid device ordinal: there is no sim:{index}, only {DEVICES} simulated devices (counted from 0)."
        )
    return _made(index or 0)
