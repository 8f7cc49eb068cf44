"""autogradlab: PyTorch's tensor and autograd system in small, to be read.

`import autogradlab as torch` runs programs that use PyTorch's tensors and autograd.  Where to begin reading: tensor.py,
dispatch.py, one block of ops/pointwise.py, engine.py.
"""

import importlib
import math
import warnings

# Results like 1/0 are values here (inf, nan), as in PyTorch; NumPy would warn of each.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autogradlab\.")

from . import dtypes, late, ops  # noqa: E402, F401
from .devices import device  # noqa: E402, F401
from .dtypes import finfo, get_default_dtype, iinfo, set_default_dtype  # noqa: E402, F401
from .modes import (  # noqa: E402, F401
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .printing import set_printoptions  # noqa: E402, F401
from .size import Size  # noqa: E402, F401
from .storage import TypedStorage, UntypedStorage  # noqa: E402, F401
from .tensor import Tensor  # noqa: E402

__version__ = "0.1.0"

late.offer(
    __name__,
    """
    autograd.calls:  .backward
    linalg:          inverse det slogdet matrix_power logdet norm
    nn.functional:   selu() selu_() celu() celu_() threshold() threshold_()
    """,
)
late.install(Tensor)
globals().pop("tensor")  # the module: torch.tensor is a function
globals().update({d.name: d for d in dtypes.ALL})
globals().update(dtypes.ALIASES)

# What is loaded when first asked for, module by module: importing the engine stays about as quick as importing NumPy.
_LATER = {
    "amp": (
        "amp", "autocast", "GradScaler", "is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled",
        "set_autocast_dtype", "is_autocast_cache_enabled", "set_autocast_cache_enabled", "clear_autocast_cache",
    ),
    "autograd": ("autograd",),
    "autograd.anomaly": ("is_anomaly_enabled",),
    "compiler": ("compiler", "compile", "get_num_threads", "set_num_threads"),
    "cuda": ("cuda",),
    "distributed": ("distributed",),
    "linalg": ("linalg",),
    "nn": ("nn",),
    "observe": ("observe", "profile"),
    "onnx": ("onnx",),
    "optim": ("optim",),
    "random": ("random",),
    "serialization": ("save", "load"),
    "streams": ("Event", "Stream", "accelerator"),
    "utils": ("utils",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str):
    module = _MODULE_OF.get(name)
    if module is not None:
        loaded = importlib.import_module(f"autogradlab.{module}")
        found = loaded if name == module else getattr(loaded, name)
    elif name in late.functions.files:
        found = late.functions[name]
    else:
        raise AttributeError(f"module 'autogradlab' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *_MODULE_OF, *late.functions.files})


def trace(*matrix, **options):
    """trace(matrix): the sum of its diagonal, as PyTorch's.  trace(): a block whose calls and backward are recorded.

    with autogradlab.trace() as t: ...
    """
    if matrix or options:
        return late.functions["trace"](*matrix, **options)
    return importlib.import_module("autogradlab.observe").trace()


class _Name(str):
    """A layout or memory format: a word that prints as PyTorch's."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.{self}"


def set_flush_denormal(mode: bool) -> bool:
    """Whether numbers too small for full precision become 0: NumPy has no such switch, so nothing changes (False)."""
    return False


dtype = dtypes.dtype
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
strided, contiguous_format, preserve_format = map(_Name, ("strided", "contiguous_format", "preserve_format"))
__all__ = [  # for import *: no modules, which a program names
    *(name for name, value in globals().items() if not name.startswith("_") and not isinstance(value, type(math))),
    *late.functions.files,
    *(name for name, module in _MODULE_OF.items() if name != module),
]
