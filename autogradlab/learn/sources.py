"""show_source: the engine's own code, where it stands, highlighted in a notebook and as plain text elsewhere."""

import inspect
import textwrap
from pathlib import Path

from autogradlab import late
from autogradlab.operators import Operator

ROOT = Path(__file__).resolve().parents[2]


class Source:
    """A piece of code with its file and line."""

    def __init__(self, code: str, file: str, line: int):
        self.code, self.file, self.line = code, file, line

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {
            "text/markdown": f"`{self.file}`, line {self.line}\n```python\n{self.code}\n```",
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:  # without the line, which moves with every edit above it
        return f"# {self.file}\n{self.code}"


def show_source(obj, part: str | None = None) -> Source:
    """The source of a function, a class, or an operator (`torch.mul` shows its whole block).

    part: the name of one function inside it, such as "grad_a" of an operator's block.
    """
    target = _behind(obj)
    if part is not None:
        if not hasattr(target, part):
            inside = ", ".join(n for n in vars(target) if not n.startswith("__"))
            raise AttributeError(f"show_source: {getattr(obj, '__name__', obj)} has no part {part!r}; it has {inside}.")
        target = getattr(target, part)
    try:
        lines, first = inspect.getsourcelines(target)
        file = Path(inspect.getsourcefile(target)).resolve()
    except (TypeError, OSError) as error:
        raise TypeError(
            f"show_source: there is no Python source for {obj!r}: expected a function, a class or an operator."
        ) from error
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return Source(textwrap.dedent("".join(lines)).rstrip(), name, first)


def _behind(obj):
    """What to show for a public name: the block of an operator rather than the closure around it."""
    if isinstance(obj, Operator):
        return obj.block
    op = late.operators.bound.get(getattr(obj, "__name__", ""))
    if op is not None and getattr(obj, "__module__", "") == "autogradlab.table":
        return op.block
    return inspect.unwrap(obj)
