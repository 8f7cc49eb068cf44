"""NVIDIA GPUs through CuPy, which is imported on first use; what stopped that is kept and said on every use."""

import functools

import numpy

_cupy, _problem = None, None


def _load():
    """CuPy itself, or None with the reason in `_problem`."""
    global _cupy, _problem
    if _cupy is None and _problem is None:
        try:
            import cupy

            if cupy.cuda.runtime.getDeviceCount() < 1:
                raise RuntimeError("the driver sees no GPU")
            _cupy = cupy
            _counter(cupy).__enter__()  # stays in force
        except Exception as exc:  # a missing module, driver or library: each its own type
            _problem = f"{type(exc).__name__}: {exc}".splitlines()[0]
    return _cupy


_held: dict[int, list[int]] = {}  # device -> [bytes held, the most]


def _counter(cupy):
    """CuPy's hook that is told of every piece of memory handed out and taken back."""

    class Counter(cupy.cuda.MemoryHook):
        name = "autogradlab"

        def malloc_postprocess(self, **facts):
            held = _held.setdefault(facts["device_id"], [0, 0])
            held[0] += facts["mem_size"]
            held[1] = max(held)

        def free_postprocess(self, **facts):
            _held.setdefault(facts["device_id"], [0, 0])[0] -= facts["mem_size"]

    return Counter()


def used(index: int) -> tuple[int, int]:
    """(bytes held now, the most) on a GPU."""
    return tuple(_held.get(index, (0, 0)))


def forget_peak(index: int) -> None:
    """Count the most anew."""
    if index in _held:
        _held[index][1] = _held[index][0]


def loaded() -> bool:
    """Whether CuPy has been used in this process."""
    return _cupy is not None


def need():
    """CuPy itself; RuntimeError with the reason where it cannot be used."""
    if _load() is None:
        raise RuntimeError(
            f"cuda is not available ({_problem}). Install CuPy and an NVIDIA driver (`python3 course.py doctor` says "
            f'what is missing), or use the simulated accelerator, device "sim".'
        )
    return _cupy


def device_count() -> int:
    """How many GPUs can be used; 0 without CuPy or driver."""
    return _load().cuda.runtime.getDeviceCount() if _load() else 0


def problem() -> str | None:
    """Why there is no GPU to use, or None."""
    _load()
    return _problem


def held_as(kind):
    """The dtype in which CuPy holds a NumPy dtype: float8, which it does not have, as bytes (ops/float8.py)."""
    return "uint8" if numpy.dtype(kind).name.startswith("float8") else kind


class Draws:
    """CuPy's random numbers with what NumPy's generator has beside: permutations, and a state that can be kept.

    CuPy does not show a generator's state.  So asking for it starts the stream anew from a seed that follows from the
    last one, and that seed is the state.  make: a generator from a seed.
    """

    def __init__(self, make, argsort, seed: int):
        self._make, self._argsort = make, argsort
        self._start(seed)

    def _start(self, seed: int) -> None:
        self._seed, self._generator = seed, self._make(seed)

    def __getattr__(self, name: str):
        return getattr(self._generator, name)

    def permutation(self, n: int):
        """0 to n-1 in random order."""
        return self._argsort(self._generator.random(n))

    @property
    def bit_generator(self) -> "Draws":
        """Where NumPy's generators have their state."""
        return self

    @property
    def state(self) -> int:
        self._start((self._seed * 6364136223846793005 + 1442695040888963407) % 2**63)
        return self._seed

    @state.setter
    def state(self, seed: int) -> None:
        self._start(seed)


class _Words:
    """CuPy's functions without keywords that are None, which cupy.fuse does not take."""

    def __getattr__(self, name: str):
        fn = getattr(_cupy, name)
        return lambda *args, **kwargs: fn(*args, **{k: v for k, v in kwargs.items() if v is not None})


class CupyBackend:
    """Buffers are CuPy allocations, windows are cupy.ndarrays over them."""

    def __init__(self, index: int):
        self.index, self.xp = index, _cupy
        self.array = _cupy.ndarray

    def allocate(self, nbytes: int):
        with _cupy.cuda.Device(self.index):
            return _cupy.empty(nbytes, _cupy.uint8)

    def window(self, buffer, dtype, shape, stride, offset):
        size, kind = dtype.itemsize, held_as(dtype.numpy)
        with _cupy.cuda.Device(self.index):
            if 0 in shape:
                return _cupy.empty(shape, kind)
            return _cupy.ndarray(shape, kind, buffer.data + offset * size, tuple(s * size for s in stride))

    def flat(self, array):
        if array.size == 0:
            return self.allocate(0)
        cells = 1 + sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) // array.itemsize
        return _cupy.ndarray((cells * array.itemsize,), _cupy.uint8, array.data)

    def as_array(self, value, dtype):
        return _cupy.asarray(value, held_as(dtype.numpy))

    def owns(self, array) -> bool:
        return array.base is None

    def scalar(self, value, dtype):
        return dtype.numpy.type(value)

    def to_host(self, array, waits: bool = True):
        if not isinstance(array, _cupy.ndarray):  # a number written in the program never left the host
            return numpy.asarray(array)
        return _cupy.asnumpy(array, blocking=waits)

    def from_host(self, array, waits: bool = True):
        with _cupy.cuda.Device(self.index):
            return _cupy.asarray(array.view(held_as(array.dtype)), blocking=waits)

    def from_device(self, array):
        """An array of another GPU, copied here."""
        with _cupy.cuda.Device(self.index):
            return _cupy.array(array)

    def widen(self, array, dtype):
        return array.astype(held_as(dtype))

    narrow = widen

    def pointer(self, buffer) -> int:
        return buffer.data.ptr

    def generator_from(self, seed: int):
        def make(seed):
            with _cupy.cuda.Device(self.index):
                return _cupy.random.default_rng(seed)

        return Draws(make, _cupy.argsort, seed)

    def from_dlpack(self, other):
        """Another library's array on this GPU, sharing its memory."""
        return _cupy.from_dlpack(other)

    def pinned(self, array):
        """A copy of a host array in page-locked memory, which copies may read while the host goes on."""
        memory = _cupy.cuda.alloc_pinned_memory(max(array.nbytes, 1))
        made = numpy.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
        made[...] = array
        return made

    def fuse(self, name: str, fn):
        """A function of arrays as one generated kernel, by cupy.fuse; step by step where CuPy cannot fuse it."""
        fused = _cupy.fuse(kernel_name=name)(lambda *arrays: fn(_Words(), *arrays))

        def run(*arrays):
            nonlocal fused
            with _cupy.cuda.Device(self.index):
                if fused is not None:
                    try:
                        return fused(*arrays)
                    except (TypeError, ValueError, AttributeError, NotImplementedError):
                        fused = None
                return fn(self.xp, *arrays)

        return run

    def new_stream(self):
        with _cupy.cuda.Device(self.index):
            return _cupy.cuda.Stream(non_blocking=True)

    def default_stream(self):
        return _cupy.cuda.Stream.null

    def current_stream(self):
        with _cupy.cuda.Device(self.index):
            return _cupy.cuda.get_current_stream()

    def new_event(self, timing: bool):
        with _cupy.cuda.Device(self.index):
            return _cupy.cuda.Event(disable_timing=not timing)

    def milliseconds(self, begin, end) -> float:
        return _cupy.cuda.get_elapsed_time(begin, end)

    def synchronize(self) -> None:
        _cupy.cuda.Device(self.index).synchronize()


@functools.cache
def _made(index: int) -> CupyBackend:
    return CupyBackend(index)


def backend(index: int | None) -> CupyBackend:
    """The backend of GPU `index`; RuntimeError with the reason where it cannot be used."""
    need()
    if not 0 <= (index or 0) < device_count():
        raise RuntimeError(f"invalid device ordinal: there is no GPU {index}, only {device_count()} (counted from 0).")
    return _made(index or 0)
