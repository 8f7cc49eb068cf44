"""dtypes: one record each, how two combine, and their limits.

Half and quarter precision beyond NumPy's own (bfloat16, float8) come from ml_dtypes, which is imported when first used.
Source: https://pytorch.org/docs/stable/tensor_attributes.html (type promotion), D1 5.4.
"""

import math

import numpy

BOOL, INT, FLOAT = 0, 1, 2  # the categories, in the order in which one wins over another


class dtype:
    """What one element is.  Made once each, so that `is` compares them."""

    __slots__ = (
        "_numpy",
        "category",
        "in_numpy",
        "is_floating_point",
        "is_half",
        "itemsize",
        "legacy_name",
        "name",
        "rank",
    )
    is_complex = False

    def __init__(self, name: str, category: int, itemsize: int, rank: int, legacy_name: str):
        self.name, self.category, self.itemsize, self.rank, self.legacy_name = (
            name,
            category,
            itemsize,
            rank,
            legacy_name,
        )
        self.is_floating_point = category == FLOAT
        self.is_half = name in ("float16", "bfloat16")  # computed in float32 and rounded once
        self.in_numpy = hasattr(numpy, name)
        self._numpy = numpy.dtype(name) if self.in_numpy else None

    @property
    def numpy(self) -> numpy.dtype:
        """The NumPy dtype of the buffer (ml_dtypes' for bfloat16 and float8)."""
        if self._numpy is None:
            import ml_dtypes

            self._numpy = numpy.dtype(getattr(ml_dtypes, self.name))
        return self._numpy

    @property
    def is_signed(self) -> bool:
        return self.name not in ("uint8", "bool")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self):
        return (lookup, (self.name,))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def lookup(name: str) -> dtype:
    return BY_NAME[name]


bool_ = dtype("bool", BOOL, 1, 0, "Bool")
uint8 = dtype("uint8", INT, 1, 1, "Byte")
int8 = dtype("int8", INT, 1, 1, "Char")
int16 = dtype("int16", INT, 2, 2, "Short")
int32 = dtype("int32", INT, 4, 3, "Int")
int64 = dtype("int64", INT, 8, 4, "Long")
float8_e4m3fn = dtype("float8_e4m3fn", FLOAT, 1, 0, "Float8_e4m3fn")
float8_e5m2 = dtype("float8_e5m2", FLOAT, 1, 0, "Float8_e5m2")
float16 = dtype("float16", FLOAT, 2, 1, "Half")
bfloat16 = dtype("bfloat16", FLOAT, 2, 1, "BFloat16")
float32 = dtype("float32", FLOAT, 4, 2, "Float")
float64 = dtype("float64", FLOAT, 8, 3, "Double")

ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2)
BY_NAME = {d.name: d for d in ALL}
ALIASES = {"float": float32, "half": float16, "double": float64, "long": int64, "int": int32, "short": int16}
FLOAT8 = (float8_e4m3fn, float8_e5m2)
PYTHON = {bool: bool_, int: int64}  # a Python float has the default dtype

_default = float32


def get_default_dtype() -> dtype:
    """The dtype that Python floats become (float32 unless set)."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the dtype that Python floats become.  d: a floating point dtype."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point or d in FLOAT8:
        raise TypeError(f"only floating-point types are supported as the default type: got {d}.")
    _default = d


def from_numpy(d) -> dtype:
    """The record of a NumPy dtype; TypeError for those tensors do not have (strings, records, complex, ...)."""
    found = BY_NAME.get(numpy.dtype(d).name)
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {numpy.dtype(d)}. The only supported types are: "
            f"{', '.join(t.name for t in ALL[:10])}."
        )
    return found


def of_python(value) -> dtype:
    """The dtype a Python number becomes."""
    return PYTHON.get(type(value)) or (_default if isinstance(value, float) else int64)


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that holds what both hold, as PyTorch's table has it: category first, then size."""
    if a is b:
        return a
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {a} and {b}.")
    if a.category != b.category:
        return a if a.category > b.category else b
    if a.rank != b.rank:
        return a if a.rank > b.rank else b  # every larger integer type is signed and holds all of uint8
    return float32 if a.category == FLOAT else int16  # float16 with bfloat16; uint8 with int8


def combine(dimensioned, zero_dim, numbers) -> dtype:
    """PyTorch's rule for mixed operands: tensors with dimensions decide, unless a 0-d tensor or a Python number is of a
    higher category.  Each argument: the dtypes of that kind of operand.
    """
    result = None
    for group in (dimensioned, zero_dim, numbers):
        level = None
        for d in group:
            level = d if level is None else promote_types(level, d)
        if level is not None and (result is None or level.category > result.category):
            result = level if result is None or result.category == BOOL or level.category == FLOAT else result
    return result


def of_sum(common: dtype, options) -> dtype:
    """The dtype of a sum or product: integers and bools add up in int64 unless told otherwise."""
    return options.get("dtype") or (common if common.is_floating_point else int64)


def can_cast(given: dtype, wanted: dtype) -> bool:
    """Whether a result of dtype `given` may be written into a tensor of dtype `wanted`: the category must not go
    down.
    """
    return given.category <= wanted.category


class finfo:
    """Limits of a floating point dtype (the default one if none is given): bits, eps, max, min, tiny,
    smallest_normal.
    """

    def __init__(self, d: dtype | None = None):
        d = d or _default
        if not d.is_floating_point:
            raise TypeError(f"finfo() requires a floating point input type: got {d}. Use iinfo() for integers.")
        limits = numpy.finfo(d.numpy) if d.name in ("float16", "float32", "float64") else _ml_finfo(d)
        self.bits, self.dtype = d.itemsize * 8, d.name
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = 10.0 ** -math.floor(-math.log10(self.eps))  # decimal digits that hold

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


def _ml_finfo(d: dtype):
    import ml_dtypes

    return ml_dtypes.finfo(d.numpy)


class iinfo:
    """Limits of an integer dtype: bits, min, max."""

    def __init__(self, d: dtype):
        if d.category != INT:
            raise TypeError(f"iinfo() requires an integer input type: got {d}. Use finfo() for floating point.")
        limits = numpy.iinfo(d.numpy)
        self.bits, self.min, self.max, self.dtype = limits.bits, int(limits.min), int(limits.max), d.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
