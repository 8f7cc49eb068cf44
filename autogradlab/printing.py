"""How tensors print: as PyTorch prints them.

(https://pytorch.org/docs/stable/generated/torch.set_printoptions.html)
"""

import math

from . import dtypes


class Options:
    """What set_printoptions changes."""

    precision, threshold, edgeitems, linewidth, sci_mode = 4, 1000, 3, 80, None


options = Options()
PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80, "sci_mode": None},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80, "sci_mode": None},
}


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print: digits after the point, elements before "..." sets in, items at each edge, columns, and
    whether numbers are written as 1.0000e+00 (None: decide by their sizes)."""
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile: expected one of {', '.join(PROFILES)}: got {profile!r}.")
        vars(options).update(PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    vars(options).update({k: v for k, v in given.items() if v is not None})
    options.sci_mode = sci_mode


class _Formatter:
    """One width and one notation for all numbers of a tensor."""

    def __init__(self, values, dtype):
        self.floating, self.int_mode, self.sci_mode, self.width = dtype.is_floating_point, True, False, 1
        if not self.floating:
            self.width = max([len(str(v)) for v in values], default=1)
            return
        finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
        if finite:
            low, high = min(finite), max(finite)
            self.int_mode = all(v == math.ceil(v) for v in values if math.isfinite(v))
            self.sci_mode = high / low > 1000.0 or high > 1e8 or (not self.int_mode and low < 1e-4)
        if options.sci_mode is not None:
            self.sci_mode = options.sci_mode
        self.width = max([len(self._text(v)) for v in values if math.isfinite(v) and v != 0], default=1)

    def _text(self, v) -> str:
        if not self.floating:
            return str(v)
        if self.sci_mode:
            return f"{v:.{options.precision}e}"
        if not self.int_mode:
            return f"{v:.{options.precision}f}"
        return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"

    def __call__(self, v) -> str:
        return self._text(v).rjust(self.width)


def _flat(values) -> list:
    if not isinstance(values, list):
        return [values]
    out = []
    for v in values:
        out.extend(_flat(v) if isinstance(v, list) else [v])
    return out


def _edges(array, depth: int):
    """Only the first and last items of every long dimension, for a summary."""
    if depth == array.ndim:
        return array
    n = options.edgeitems
    if array.shape[depth] > 2 * n:
        keep = [*range(n), *range(array.shape[depth] - n, array.shape[depth])]
        array = array.take(keep, axis=depth)
    return _edges(array, depth + 1)


def _block(values, shape, indent: int, fmt, summarize: bool) -> str:
    """Nested brackets; rows as many to a line as fit.

    `values` holds the edges only where the summary leaves items out.
    """
    if not shape:
        return fmt(values)
    n = options.edgeitems
    cut = summarize and shape[0] > 2 * n
    if len(shape) > 1:
        items = [_block(v, shape[1:], indent + 1, fmt, summarize) for v in values]
        if cut:
            items.insert(n, "...")
        return "[" + (",\n" + "\n" * (len(shape) - 2) + " " * (indent + 1)).join(items) + "]"
    items = [fmt(v) for v in values]
    if cut:
        items.insert(n, " ...")
    per_line = max(1, (options.linewidth - indent) // (fmt.width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def format_values(array, dtype, indent: int) -> str:
    """The numbers of a host array in brackets."""
    summarize = array.size > options.threshold
    shown = _edges(array, 0) if summarize else array
    if dtype.is_floating_point and dtype.name not in ("float32", "float64"):
        shown = shown.astype("float32")
    values = shown.tolist()
    return _block(values, array.shape, indent, _Formatter(_flat(values), dtype), summarize)


def format_tensor(array, tensor, name: str = "tensor") -> str:
    """The whole text: values, then whatever is not the usual case (dtype, device, size, grad_fn)."""
    prefix = f"{name}("
    dtype, suffixes = tensor.dtype, []
    usual = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_)
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if array.size == 0:
        text = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if dtype is not dtypes.get_default_dtype():
            suffixes.append(f"dtype={dtype}")
    else:
        text = format_values(array, dtype, len(prefix))
        if dtype not in usual:
            suffixes.append(f"dtype={dtype}")
    node = tensor.grad_fn
    if node is not None:
        suffixes.append(f"grad_fn=<{node.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(prefix + text, suffixes, len(prefix))


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"
