"""The same program on PyTorch and on autogradlab, step by step: what a step may be, and what is compared after it.

A world is one engine with the tensors a program made so far.  A step names a move, two tensors by number and a small
number that says which variant; both worlds take it, and must then look alike.
"""

import numpy as np
import torch

import autogradlab as ours

SHAPES = [(3, 4), (2, 3), (4,), (1, 4), (3, 1), (), (2, 3, 4), (2, 1, 4), (0, 3)]
SAME = {
    "UnsafeView": "View",
    "Clone": "View",
    "Bmm": "View",
    "Squeeze": "View",
    "ReshapeAlias": "View",
    "SplitWithSizes": "Split",
}


def dim(t, k: int) -> int:
    """A dimension of t, counted from the front or the back."""
    n = max(t.dim(), 1)
    return k % (2 * n) - n


def without_grad(m, do):
    with m.no_grad():
        return do()


VIEWS = {
    "t": lambda m, a, b, k: a.t(),
    "transpose": lambda m, a, b, k: a.transpose(dim(a, k), dim(a, k // 7)),
    "permute": lambda m, a, b, k: a.permute(list(reversed(range(a.dim())))),
    "view": lambda m, a, b, k: [lambda: a.view(-1), lambda: a.view(2, -1), lambda: a.view(-1, 2, 1)][k % 3](),
    "view_as": lambda m, a, b, k: a.view_as(b),
    "select": lambda m, a, b, k: a[k % 3],
    "last": lambda m, a, b, k: a[..., -1],
    "slice": lambda m, a, b, k: a[k % 2 :, :: (1 + k % 3)] if k % 5 else a[k % 3 :],
    "new_axis": lambda m, a, b, k: a[:, None],
    "narrow": lambda m, a, b, k: a.narrow(dim(a, k), k % 2, 1 + k % 2),
    "expand": lambda m, a, b, k: a.expand(2, *a.shape),
    "unsqueeze": lambda m, a, b, k: a.unsqueeze(dim(a, k)),
    "squeeze": lambda m, a, b, k: a.squeeze() if k % 2 else a.squeeze(dim(a, k)),
    "chunk": lambda m, a, b, k: a.chunk(2, dim(a, k))[k % 2],
    "split": lambda m, a, b, k: a.split(2, dim(a, k))[0],
    "unbind": lambda m, a, b, k: a.unbind(dim(a, k))[0],
    "diagonal": lambda m, a, b, k: a.diagonal(),
    "as_strided": lambda m, a, b, k: a.as_strided((2, 2), (1, 1)) * 1 if k % 2 else a.as_strided((2,), (1,), 1),
    "detach": lambda m, a, b, k: a.detach(),
    "unfold": lambda m, a, b, k: a.unfold(dim(a, k), 2, 1) * 1,  # cells shared by several elements are not written to
    "movedim": lambda m, a, b, k: a.movedim(0, -1) if a.dim() else a.view(()),
    "view_without_grad": lambda m, a, b, k: without_grad(m, lambda: a[:1]),
    "flatten": lambda m, a, b, k: a.flatten(),
    "reshape": lambda m, a, b, k: [lambda: a.reshape(-1), lambda: a.reshape(2, -1), lambda: a.reshape(-1, 2)][k % 3](),
}
ARITHMETIC = {
    "add": lambda m, a, b, k: a + b,
    "mul": lambda m, a, b, k: a * b,
    "sub": lambda m, a, b, k: a - b,
    "div": lambda m, a, b, k: a / (b.abs() + 1),
    "scale": lambda m, a, b, k: a * [2, 0.5, -1, True][k % 4],
    "pow": lambda m, a, b, k: a ** [2, 3, 1, 0][k % 4],
    "exp": lambda m, a, b, k: (a * 0.1).exp(),
    "relu": lambda m, a, b, k: a.relu(),
    "sigmoid": lambda m, a, b, k: a.sigmoid(),
    "clamp": lambda m, a, b, k: a.clamp(-0.5, 0.5),
    "clone": lambda m, a, b, k: a.clone(),
    "contiguous": lambda m, a, b, k: a.contiguous(),
    "matmul": lambda m, a, b, k: a @ b,
    "gram": lambda m, a, b, k: a @ a.transpose(-1, -2),
    "sum": lambda m, a, b, k: a.sum() if k % 2 else a.sum(dim(a, k), keepdim=k % 3 == 0),
    "mean": lambda m, a, b, k: a.mean(dim(a, k)),
    "max": lambda m, a, b, k: a.max(dim(a, k))[0],
    "amax": lambda m, a, b, k: a.amax(dim(a, k)),
    "prod": lambda m, a, b, k: a.prod(dim(a, k)),
    "cumsum": lambda m, a, b, k: a.cumsum(dim(a, k)),
    "norm": lambda m, a, b, k: a.norm(),
    "softmax": lambda m, a, b, k: m.softmax(a, dim(a, k)),
    "var": lambda m, a, b, k: a.var(dim(a, k)),
    "where": lambda m, a, b, k: m.where(a > 0, a, b),
    "maximum": lambda m, a, b, k: m.maximum(a, b),
    "sort": lambda m, a, b, k: a.sort(dim(a, k), descending=k % 2 == 0)[0],
    "topk": lambda m, a, b, k: a.topk(1, dim(a, k))[0],
    "cat": lambda m, a, b, k: m.cat([a, b], dim(a, k)),
    "stack": lambda m, a, b, k: m.stack([a, a], dim(a, k)),
    "flip": lambda m, a, b, k: a.flip(dim(a, k)),
    "tril": lambda m, a, b, k: a.tril(),
    "fancy": lambda m, a, b, k: a[m.tensor([0, 1, 0])] if k % 2 else a[[1, -1]],
    "fancy_columns": lambda m, a, b, k: a[:, m.tensor([0, 0])] if k % 2 else a[m.tensor([0, 1]), m.tensor([[0], [1]])],
    "mask": lambda m, a, b, k: a[a > 0],
    "gather": lambda m, a, b, k: (a * 1).gather(0, m.zeros(tuple(a.shape), dtype=m.int64)),  # theirs saves a
    "index_select": lambda m, a, b, k: a.index_select(dim(a, k), m.tensor([0, 0])),
    "masked_fill": lambda m, a, b, k: a.masked_fill(b > 0, 2.0),
    "lerp": lambda m, a, b, k: m.lerp(a, b, 0.25),
}
WRITES = {
    "add_": lambda m, a, b, k: a.add_(b),
    "mul_": lambda m, a, b, k: a.mul_(2 if k % 2 else b),
    "sub_": lambda m, a, b, k: a.sub_(b, alpha=2),
    "relu_": lambda m, a, b, k: a.relu_(),
    "sigmoid_": lambda m, a, b, k: a.sigmoid_(),
    "clamp_": lambda m, a, b, k: a.clamp_(-1, 1),
    "zero_": lambda m, a, b, k: a.zero_(),
    "fill_": lambda m, a, b, k: a.fill_(1.5),
    "copy_": lambda m, a, b, k: a.copy_(b * 1),
    "set_row": lambda m, a, b, k: a.__setitem__(k % 2, b),
    "set_mask": lambda m, a, b, k: a.__setitem__(a > 0, 0.5),
    "set_rows": lambda m, a, b, k: a.__setitem__(m.arange(min(2, len(a))), b * 1),
    "set_column": lambda m, a, b, k: a.__setitem__((Ellipsis, 0), b),
    "slice_mul_": lambda m, a, b, k: a[k % 2 :].mul_(3),
    "masked_fill_": lambda m, a, b, k: a.masked_fill_(b > 0, 2.0),
    "detach_": lambda m, a, b, k: a.detach_(),
    "write_without_grad": lambda m, a, b, k: without_grad(m, lambda: a.add_(1)),
    "requires_grad_": lambda m, a, b, k: a.requires_grad_(k % 3 != 0),
}
MOVES = {**VIEWS, **ARITHMETIC, **WRITES}


class World:
    """One engine and the tensors made so far.  log: what hooks saw."""

    def __init__(self, m):
        self.m, self.tensors, self.log, self.handles = m, [], [], []
        self.born = {}  # what version a result had when it was new: how it was made is the engine's own affair

    def create(self, shape, numbers, requires_grad: bool):
        t = self.m.tensor(np.resize(numbers, shape), dtype=self.m.float64)
        self.tensors.append(t.requires_grad_(requires_grad))

    def take(self, do):
        """Do something; a new tensor is kept.  What came of it: "ok" or the kind of exception."""
        try:
            made = do(self)
        except Exception as error:
            kind = type(error).__name__.lstrip("_")
            return "RuntimeError" if kind == "NotImplementedError" else kind
        if isinstance(made, self.m.Tensor) and not any(made is t for t in self.tensors):
            self.tensors.append(made)
            if asked(lambda: made._base) is None:
                self.born[id(made)] = made._version
        return "ok"

    def move(self, name: str, i: int, j: int, k: int):
        a, b = (self.tensors[n % len(self.tensors)] for n in (i, j))
        return self.take(lambda world: MOVES[name](self.m, a, b, k))

    def saw(self, *what):
        self.log.append(tuple(numbers(w) if hasattr(w, "requires_grad") else w for w in what))

    def look(self) -> list:
        """All that is compared, tensor by tensor."""
        return [self.facts(i, t) for i, t in enumerate(self.tensors)]

    def facts(self, i: int, t) -> dict:
        base = asked(lambda: t._base)
        places = [k for k, other in enumerate(self.tensors) if other is base]
        facts = {
            "number": i,
            "shape": tuple(t.shape),
            "strides": tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1) if t.numel() else (),
            "offset": t.storage_offset() if t.numel() else 0,
            "version": asked(lambda: t._version - self.born.get(id(t if base is None else base), 0)),
            "node": asked(lambda: node_name(t)),
            "requires_grad": asked(lambda: t.requires_grad),
            "is_leaf": asked(lambda: t.is_leaf),
            "base": places,
        }
        kept = asked(lambda: t.is_leaf or t.retains_grad)
        grad = t.grad if kept is True else None
        return {**facts, "values": numbers(t), "grad": None if grad is None else numbers(grad)}


def asked(question):
    """An answer, or the kind of exception that comes instead."""
    try:
        return question()
    except Exception as error:
        return type(error).__name__


def node_name(t):
    """The name of the node, by kind: views that PyTorch names by how they came about are one."""
    if t.grad_fn is None:
        return None
    name = t.grad_fn.name().split("::")[-1].rstrip("0123456789").removesuffix("Backward")
    return SAME.get(name, name)


def numbers(t) -> np.ndarray:
    return np.array(t.detach().tolist(), dtype=np.float64).reshape(tuple(t.shape))


def unlike(theirs, mine) -> str | None:
    """How two looks differ, or None."""
    if len(theirs) != len(mine):
        return f"{len(mine)} tensors for {len(theirs)}"
    for one, two in zip(theirs, mine, strict=True):
        for what, value in one.items():
            if not alike(value, two[what]):
                return f"tensor {one['number']}: {what}\n  PyTorch {value}\n  here    {two[what]}"
    return None


def alike(a, b) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-5, atol=1e-9, equal_nan=True))
    return type(a) is type(b) and not isinstance(a, np.ndarray) and a == b


def pair() -> tuple[World, World]:
    return World(torch), World(ours)


def total(world: World, last: int = 3):
    """A number that depends on the last tensors that want gradients."""
    wanted = [t for t in world.tensors if t.requires_grad][-last:]
    return sum(((t * t).sum() for t in wanted), world.m.zeros((), dtype=world.m.float64))
