"""Small programs, each about one rule of autograd, as both engines run them: `r` must come out alike, or the same kind
of exception.

small_programs.txt holds them, divided by lines of ---.  Each finds torch, the leaves x and w, a list log, and short
names for parts of autograd.
"""

from pathlib import Path

import pytest
import torch
from worlds import alike

import autogradlab as ours

PROGRAMS = (Path(__file__).parent / "small_programs.txt").read_text(encoding="utf-8").split("\n---\n")


def plain(value, m):
    """A result as numbers and names that can be compared."""
    if isinstance(value, m.Tensor):
        numbers = tuple(float(v) for v in value.detach().reshape(-1).tolist())
        return tuple(value.shape), str(value.dtype), value.requires_grad, value.is_leaf, *numbers
    if isinstance(value, (tuple, list)):
        return tuple(plain(v, m) for v in value)
    if isinstance(value, str):
        return value.split("::")[-1]
    return value if isinstance(value, (int, float, type(None))) else type(value).__name__


def outcome(program: str, m):
    leaves = {n: m.tensor(v, dtype=m.float64, requires_grad=True) for n, v in (("x", [1.0, 2, 3]), ("w", [0.5, -1, 2]))}
    names = {"torch": m, "ag": m.autograd, "fn": m.autograd.functional, "F": m.autograd.Function, "log": [], **leaves}
    m.manual_seed(0)
    try:
        exec(program, names)
    except Exception as error:
        return type(error).__name__.lstrip("_")
    return plain(names.get("r"), m)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.strip().splitlines()[-1][:60])
def test_small_program(program):
    theirs, mine = outcome(program, torch), outcome(program, ours)
    same = alike(theirs, mine) if isinstance(theirs, tuple) and isinstance(mine, tuple) else theirs == mine
    assert same, f"{program}\n  PyTorch {theirs}\n  here    {mine}"
