"""The same call on PyTorch and on autogradlab: tensors are carried over with their strides, outcomes are compared."""

import types

import numpy as np
import torch

import autogradlab as ours
from autogradlab.storage import UntypedStorage
from autogradlab.tensor import view_of

NAMED = {torch.contiguous_format, torch.preserve_format, torch.strided}
CLOSE = {"float64": 1e-7, "float32": 2e-5, "bfloat16": 1.6e-2, "float16": 2e-3}
SLACK = {"float64": 1e-7, "float32": 1e-5, "bfloat16": 1e-2, "float16": 1e-3}


HALVES = (torch.bfloat16, torch.float16)


class NotOffered(Exception):
    """A sample asks for what autogradlab does not have by decision: complex numbers, sparse or quantized layouts."""


def cells(t: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor's storage, as bytes."""
    return torch.empty(0, dtype=torch.uint8).set_(t.detach().untyped_storage()).clone()


class Carrier:
    """Makes fresh leaves of a sample's arguments: for PyTorch as they are, for autogradlab converted.

    One tensor in two places is one tensor afterwards.
    """

    def __init__(self, to_ours: bool, widen: torch.dtype | None = None):
        self.to_ours, self.widen, self.made = to_ours, widen, {}

    def __call__(self, value):
        if isinstance(value, torch.Tensor):
            if id(value) not in self.made:
                self.made[id(value)] = value, self._ours(value) if self.to_ours else self._theirs(value)
            return self.made[id(value)][1]
        if isinstance(value, torch.Size):
            return ours.Size(value) if self.to_ours else value
        if isinstance(value, (list, tuple)):
            items = [self(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, complex) or value in (torch.complex64, torch.complex128, torch.complex32):
            raise NotOffered("complex numbers")
        if not self.to_ours:
            return value
        if isinstance(value, torch.dtype):
            if not hasattr(ours, str(value)[6:]):
                raise NotOffered(f"{value}")
            return getattr(ours, str(value)[6:])
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, (torch.memory_format, torch.layout)):
            if value not in NAMED:
                raise NotOffered(f"{value}")
            return str(value)[6:]
        return value

    def _theirs(self, t):
        if t.layout is not torch.strided or t.is_quantized:
            raise NotOffered("sparse and quantized layouts")
        typed = cells(t).view(t.dtype) if t.untyped_storage().nbytes() else torch.empty(0, dtype=t.dtype)
        made = torch.empty(0, dtype=t.dtype).set_(typed, t.storage_offset(), t.shape, t.stride())
        if made.dtype is self.widen:
            made = made.float() if made.dtype in HALVES else made.double()
        return made.requires_grad_(t.requires_grad)

    def _ours(self, t):
        if t.layout is not torch.strided or t.is_quantized or t.is_complex():
            raise NotOffered("complex numbers, sparse and quantized layouts")
        dtype = self(t.dtype)
        memory = UntypedStorage(ours.device("cpu"), buffer=cells(t).numpy())
        made = view_of(memory, tuple(t.shape), t.stride(), t.storage_offset(), dtype, ours.device("cpu"))
        return made.requires_grad_(t.requires_grad)

    def leaves(self) -> list:
        """The tensors made that want gradients, in the order they were met."""
        return [made for _, made in self.made.values() if made.requires_grad]


def _is_a_test_s(fn) -> bool:
    return isinstance(fn, types.FunctionType) and "torch.testing" in fn.__module__


def _with_ours(fn):
    """The same Python function, in which `torch` means autogradlab."""
    names = {**fn.__globals__, "torch": ours}
    return types.FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)


def our_function(op):
    """autogradlab's counterpart of an OpInfo's callable, or None.  A lambda runs again, with `torch` meaning us."""
    fn = op.op
    if _is_a_test_s(fn):
        return _with_ours(fn)
    return find(op.name) or getattr(ours.Tensor, op.name, None)


def find(path: str):
    found = ours
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def our_method(variant):
    if _is_a_test_s(variant):
        return _with_ours(variant)
    return getattr(ours.Tensor, getattr(variant, "__name__", ""), None)


def attempt(call):
    """What a call gives: (result, None) or (None, the exception)."""
    try:
        return call(), None
    except NotOffered:
        raise
    except Exception as error:
        return None, error


def flat(result) -> list:
    """Tensors and numbers of a result, in order."""
    if isinstance(result, (list, tuple)) and not isinstance(result, (torch.Size, ours.Size)):
        return [leaf for item in result for leaf in flat(item)]
    return [result]


def array(t) -> np.ndarray:
    """A tensor's values on the host: float64 for floating point, as they are otherwise."""
    if isinstance(t, torch.Tensor):
        return t.detach().to(torch.float64 if t.is_floating_point() else t.dtype).numpy(force=True)
    return np.asarray(t.detach().to(ours.float64 if t.is_floating_point() else t.dtype).numpy())


def differ(theirs, mine, strides: bool = True, values: bool = True) -> str | None:
    """How two results differ: in kind, shape, dtype, strides or values; None if they do not."""
    a, b = flat(theirs), flat(mine)
    if len(a) != len(b):
        return f"{len(b)} results for {len(a)}"
    for x, y in zip(a, b, strict=True):
        if not isinstance(x, torch.Tensor):
            if isinstance(y, ours.Tensor):
                return f"kind: Tensor for {type(x).__name__}"
            if not values:
                continue
            same = str(x) == str(y) if not isinstance(x, (int, float)) else x == y or (x != x and y != y)
            if not same and not (isinstance(x, float) and np.isclose(x, y, rtol=1e-5)):
                return f"result {y!r} for {x!r}"
            continue
        said = _tensors_differ(x, y, strides, values)
        if said:
            return said
    return None


def _tensors_differ(x, y, strides, values, slack=1):
    if not isinstance(y, ours.Tensor):
        return f"kind: {type(y).__name__} for Tensor"
    if tuple(x.shape) != tuple(y.shape):
        return f"shape: {tuple(y.shape)} for {tuple(x.shape)}"
    if str(x.dtype) != str(y.dtype):
        return f"dtype: {y.dtype} for {x.dtype}"
    if strides and x.numel():
        mine, wanted = ([s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] for t in (y, x))
        if mine != wanted:
            return f"strides: {tuple(y.stride())} for {tuple(x.stride())} of {tuple(x.shape)}"
    if values:
        kind = str(x.dtype)[6:]
        one, two = array(x), array(y)
        close, near = slack * CLOSE.get(kind, 0), slack * SLACK.get(kind, 0)
        if not np.allclose(two, one, rtol=close, atol=near, equal_nan=True):
            worst = np.unravel_index(np.argmax(~np.isclose(two, one, close, near, True)), one.shape)
            return f"values: {two[worst]} for {one[worst]} at {tuple(map(int, worst))} of {one.shape} {kind}"
    return None


def same_refusal(theirs: Exception, mine: Exception | None) -> str | None:
    """Whether autogradlab raises what PyTorch does.  Which of NotImplementedError and RuntimeError is left open: one is
    the other's subclass, and PyTorch itself is not of one mind.
    """
    if mine is None:
        if "the derivative for 'inplace version of" in str(theirs):
            return None  # PyTorch has the formula, and not for the in-place form
        return f"accepted: PyTorch raises {type(theirs).__name__}: {str(theirs).splitlines()[0][:90]}"
    if type(mine).__name__ == type(theirs).__name__.lstrip("_") or {type(mine), type(theirs)} <= {
        RuntimeError,
        NotImplementedError,
    }:
        return None
    return f"raises {type(mine).__name__} ({str(mine)[:60]}) for {type(theirs).__name__} ({str(theirs)[:60]})"


def cotangents(results, seed: int = 0) -> list:
    """(outputs that want gradients, a weight array for each): the same numbers for both engines."""
    random = np.random.default_rng(seed)
    return [
        (t, random.uniform(0.5, 1.5, tuple(t.shape)))
        for t in results
        if hasattr(t, "requires_grad") and t.requires_grad
    ]


def gradients(engine, outputs, leaves, again: bool):
    """First derivatives of the weighted outputs by the leaves, and (again) the derivatives of those."""
    pairs = cotangents(flat(outputs))
    weights = [engine.tensor(w).to(t.dtype) for t, w in pairs]
    first = engine.autograd.grad([t for t, _ in pairs], leaves, weights, allow_unused=True, create_graph=again)
    if not again:
        return list(first), []
    pairs = cotangents([g for g in first if g is not None], 1)
    if not pairs:
        return list(first), []
    weights = [engine.tensor(w).to(t.dtype) for t, w in pairs]
    return list(first), list(engine.autograd.grad([t for t, _ in pairs], leaves, weights, allow_unused=True))


def grads_differ(theirs, mine) -> str | None:
    """None and zeros count as equal: whether an unused input's gradient is made is the engine's affair."""
    for x, y in zip(theirs, mine, strict=False):
        if x is None and y is None:
            continue
        if x is None or y is None:
            there = y if x is None else x
            if np.any(array(there)):
                return f"gradient {'missing' if y is None else 'where there is none'}"
            continue
        if x.dtype is torch.float32 and y.dtype in (ours.bfloat16, ours.float16):  # see `wide_gradients`
            one, two = array(x), array(y)
            if not np.allclose(
                two, one, rtol=2e-2, atol=2e-2 * (1 + np.max(np.abs(one[np.isfinite(one)]), initial=0)), equal_nan=True
            ):
                return f"gradient values: {two.ravel()[:4]} for {one.ravel()[:4]} in half precision"
            continue
        said = _tensors_differ(x.detach(), y.detach(), False, True)
        if said:
            return f"gradient {said}"
    return None


def no_worse(theirs, mine, true) -> bool:
    """Whether autogradlab is about as near to the true value (worked out in float64) as PyTorch is."""
    for x, y, t in zip(theirs, mine, true, strict=True):
        if x is not None and y is not None and t is not None:
            off, allowed = (np.abs(array(v) - array(t)) for v in (y, x))
            if not np.max(off, initial=0) <= 4 * np.max(allowed, initial=0):
                return False
    return True
