"""A simulated accelerator, sim:0 and sim:1: data apart from the host's, refusals as a GPU's, on any machine.

A SimArray (sim_array.py) holds its numbers where NumPy cannot reach them by accident; its namespace has only the
functions *and keywords* that CuPy has too (`CUPY`, compared with the real module where that is installed).  So what
runs here runs on CuPy.  It is a simulation: NumPy computes underneath, and its times are a model's (clock.py).
"""

import functools

import numpy

from autogradlab.shapes import is_dense

from .clock import clock
from .cupy import held_as
from .sim_array import SimArray, charged, computed, plain, streams, wrapped
from .sim_streams import SimEvent, SimStream

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
    "take": "axis out",
    "take_along_axis": "axis",
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
    **dict.fromkeys("broadcast_to reshape swapaxes moveaxis ravel".split(), ""),
    "transpose": "axes",
    **dict.fromkeys("expand_dims squeeze".split(), "axis"),
    "ascontiguousarray": "dtype",
    "asarray": "dtype order",
    "array": "dtype copy order",
    "copy": "order",
    "copyto": "casting where",
    "bincount": "weights minlength",
    "searchsorted": "side sorter",
}
DRAWS = frozenset("random standard_normal integers standard_exponential geometric permutation bit_generator".split())
CONSTANTS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 bool_ pi inf nan e newaxis dtype "
    "result_type".split()
)


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
            words = {k: plain(v, index) for k, v in kwargs.items()}
            return charged(name, index, args, wrapped(computed(name, fn, plain(args, index), words), index))

        return call

    def fuse(self, kernel_name: str):
        """A decorator, as cupy.fuse is: the function's array operations become one kernel, charged as a whole."""

        def decorate(fn):
            def run(*operands):
                before, streams.fusing = streams.fusing, True
                try:
                    made = fn(*operands)
                finally:
                    streams.fusing = before
                return charged(kernel_name, self._index, operands, made)

            return run

        return decorate

    def _at(self, name, a, indices, b):
        if a.dtype.name == "bfloat16":
            raise TypeError(f"cupy.{name}.at has no bfloat16: go through float32")
        getattr(numpy, name).at(plain(a, self._index), plain(indices, self._index), plain(b, self._index))
        charged(f"{name}.at", self._index, (indices, b), a)


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
        if name not in DRAWS:
            raise AttributeError(f"cupy's generator has no {name!r} that draws may use (see backends/simulated.py)")
        method = getattr(self._generator, name)
        if not callable(method):  # bit_generator: its state is the host's
            return method
        return lambda *args, **kwargs: charged(name, self._index, (), wrapped(method(*args, **kwargs), self._index))


class SimBackend:
    """Buffers and windows are SimArrays."""

    array = SimArray

    def __init__(self, index: int):
        self.index, self.xp = index, Namespace(index)

    def allocate(self, nbytes: int):
        return SimArray(numpy.empty(nbytes, numpy.uint8), self.index)

    def window(self, buffer, dtype, shape, stride, offset):
        kind = held_as(dtype.numpy)
        if 0 in shape:
            return SimArray(numpy.empty(shape, kind), self.index)
        size = dtype.itemsize
        return SimArray(numpy.ndarray(shape, kind, buffer._data, offset * size, [s * size for s in stride]), self.index)

    def flat(self, array):
        data = array._data
        if data.size == 0:
            return self.allocate(0)
        cells = 1 + sum((n - 1) * s for n, s in zip(data.shape, data.strides, strict=True)) // data.itemsize
        line = numpy.lib.stride_tricks.as_strided(data, (cells,), (data.itemsize,))
        return SimArray(line.view(numpy.uint8), self.index)

    def as_array(self, value, dtype):
        kind = held_as(dtype.numpy)
        if isinstance(value, SimArray):
            return value if value.dtype == kind else value.astype(kind)
        return SimArray(numpy.asarray(plain(value, self.index), kind), self.index)

    def owns(self, array) -> bool:
        data = array._data
        return data.base is None and is_dense(data.shape, tuple(s // data.itemsize for s in data.strides))

    def scalar(self, value, dtype):
        return dtype.numpy.type(value)

    def to_host(self, array, waits: bool = True):
        if not isinstance(array, SimArray):  # a number written in the program never left the host
            return numpy.asarray(array)
        lane = streams.lane(self.index)
        clock.copy(f"sim:{self.index} copies", "copy to host", array.nbytes, waits, lane)
        return array._data.copy()

    def from_host(self, array, waits: bool = True):
        """An array of the host, copied here in the order of the current stream; the host need not wait."""
        lane = streams.lane(self.index)
        clock.copy(f"sim:{self.index} copies", "copy from host", array.nbytes, waits, lane)
        return SimArray(numpy.array(array).view(held_as(array.dtype)), self.index)

    def from_device(self, array):
        """An array of another simulated device, copied here over their link; the host does not wait."""
        theirs = streams.lane(array.index)
        clock.not_before(streams.lane(self.index), clock.at(theirs))
        lane = streams.lane(self.index)
        clock.copy(f"sim:{self.index} copies", f"copy from sim:{array.index}", array.nbytes, False, lane, link=True)
        return SimArray(array._data.copy(), self.index)

    def widen(self, array, dtype):
        """An operand in the dtype its kernel computes in: a kernel converts as it reads."""
        return SimArray(array._data.astype(held_as(dtype)), self.index, stored=array.stored or array.dtype)

    def narrow(self, array, dtype):
        """A result in the dtype that is kept: a kernel converts as it writes."""
        return SimArray(array._data.astype(held_as(dtype)), self.index)

    def pointer(self, buffer) -> int:
        return buffer._data.__array_interface__["data"][0]

    def generator_from(self, seed: int):
        return _Random(numpy.random.default_rng(seed), self.index)

    def pinned(self, array):
        """A copy of a host array in memory that copies may read while the host goes on."""
        return array.copy()

    def fuse(self, name: str, fn):
        """A function of arrays as one kernel: one launch, and only what goes in and comes out is moved."""
        return self.xp.fuse(kernel_name=name)(functools.partial(fn, self.xp))

    def new_stream(self):
        return SimStream(self.index)

    def default_stream(self):
        return SimStream(self.index, 0)

    def current_stream(self):
        return SimStream(self.index, streams.current.get(self.index, 0))

    def new_event(self, timing: bool):
        return SimEvent()

    def milliseconds(self, begin, end) -> float:
        return (end.moment - begin.moment) * 1e3

    def synchronize(self) -> None:
        """The host waits until every stream of this device is done."""
        mine = f"sim:{self.index}"
        clock.wait([lane for lane in clock.free if lane == mine or lane.startswith(mine + " ")])


@functools.cache
def _made(index: int) -> SimBackend:
    return SimBackend(index)


def backend(index: int | None) -> SimBackend:
    if not 0 <= (index or 0) < DEVICES:
        raise RuntimeError(
            f"invalid device ordinal: there is no sim:{index}, only {DEVICES} simulated devices (counted from 0)."
        )
    return _made(index or 0)
