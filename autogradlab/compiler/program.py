"""A program: what a traced function did, step by step, so that it can be looked at, improved and run again.

Values are numbered; a step takes some and makes some.  (D2 5.2, D3 6.1)
"""

from dataclasses import dataclass, field

from autogradlab.observe.record import described
from autogradlab.shapes import is_contiguous


@dataclass(frozen=True)
class Ref:
    """Stands for a value among arguments and results: "the tensor with this number"."""

    number: int


@dataclass
class Value:
    """What is known of a tensor: what it looks like (shape, stride, dtype, device) and where it comes from.

    origin: "argument", "outside" (a parameter, a global), "number" (written in the function) or "made" by a step.
    """

    shape: tuple
    stride: tuple
    dtype: object
    device: object
    origin: str
    text: str

    @property
    def nbytes(self) -> int:
        """Bytes of the elements that are read or written."""
        cells = 1
        for size, step in zip(self.shape, self.stride, strict=True):
            cells *= size if step else 1
        return cells * self.dtype.itemsize


@dataclass
class Step:
    """One step.

    kind: "kernel" (a new tensor), "view", "views", "write" (in place), "function" (run as it is: a factory, random
    numbers, a custom Function), "fused" (several kernels in one pass).  what: the operator, function or Region.
    recorded: whether gradients were on.  line: where in the user's program it stands.
    """

    kind: str
    what: object
    inputs: tuple
    outputs: tuple
    options: dict = field(default_factory=dict)
    recorded: bool = True
    computing: object = None
    line: str = ""
    arguments: tuple | None = None  # of a function: (args, kwargs) with Refs in the tensors' places

    @property
    def name(self) -> str:
        return getattr(self.what, "name", None) or getattr(self.what, "__name__", repr(self.what))

    @property
    def has_effects(self) -> bool:
        """Whether it does more than make its results: what must be neither dropped, nor shared, nor moved."""
        return self.kind in ("write", "function")


class Program:
    """The steps of one traced call.

    values: one Value for each number; arguments: the numbers of the tensors that are given; constants: number -> tensor
    for those that come from outside or are written in the function; result: what is returned, with Refs.  written: the
    numbers whose memory is written to in place; sized: the function asked for a size; break_: why and where the trace
    ended, None if it is whole.
    """

    def __init__(self, name: str):
        self.name, self.break_, self.sized = name, None, False
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.arguments: list[int] = []
        self.constants: dict = {}
        self.written: set[int] = set()
        self.result = None

    def add(self, tensor, origin: str) -> int:
        """A number for a tensor."""
        value = Value(tuple(tensor.shape), tensor.stride(), tensor._dtype, tensor._device, origin, described(tensor))
        self.values.append(value)
        return len(self.values) - 1

    def with_steps(self, steps: list[Step]) -> "Program":
        """The same program done otherwise."""
        other = Program(self.name)
        other.__dict__.update(self.__dict__, steps=steps)
        return other

    def fits_any_size(self) -> bool:
        """Whether it does the same for arguments of other sizes: all it does is element by element."""
        plain = all(step.kind == "fused" or step.kind == "kernel" and step.what.pointwise for step in self.steps)
        given = all(is_contiguous(self.values[n].shape, self.values[n].stride) for n in self.arguments)
        return plain and given and not self.sized

    def kernels(self) -> int:
        """How many passes over memory it takes; views take none."""
        return sum(step.kind not in ("view", "views") for step in self.steps)

    def bytes_moved(self) -> int:
        """Bytes that its kernels read and write, each operand counted once a kernel."""
        return sum(self.bytes_of(step) for step in self.steps)

    def bytes_made(self) -> int:
        """Bytes of the new tensors that its steps make."""
        return sum(self.values[n].nbytes for s in self.steps if s.kind not in ("view", "views") for n in s.outputs)

    def bytes_of(self, step: Step) -> int:
        """Bytes that one step reads and writes."""
        if step.kind in ("view", "views"):
            return 0
        return sum(self.values[n].nbytes for n in {*step.inputs, *step.outputs})

    def lines(self) -> list[str]:
        """The program as text, a step a line."""
        rows = [f"%{n} = argument {i}: {self.values[n].text}" for i, n in enumerate(self.arguments)]
        for n, tensor in self.constants.items():
            value = self.values[n]
            shown = f"number {tensor.item():.6g}" if value.origin == "number" else f"from outside: {value.text}"
            rows.append(f"%{n} = {shown}")
        for step in self.steps:
            made = ", ".join(f"%{n}" for n in step.outputs)
            options = [f"{k}={v}" for k, v in step.options.items()]
            call = f"{step.name}({', '.join([*(f'%{n}' for n in step.inputs), *options])})"
            kinds = ", ".join(self.values[n].text for n in step.outputs)
            rows.append(f"{made} = {call}: {kinds}" if made else f"{call}, written in place")
            if step.kind == "fused":
                rows += [f"    {line}" for line in step.what.lines()]
        return [*rows, f"return {shown_result(self.result)}"]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def shown_result(value) -> str:
    """A result with its Refs as %numbers."""
    if isinstance(value, Ref):
        return f"%{value.number}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shown_result(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(shown_result, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(value)


def rebuilt(value, change):
    """Nested lists, tuples and dicts with `change` applied to what they hold."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[rebuilt(v, change) for v in value])
    if type(value) in (list, tuple):
        return type(value)(rebuilt(v, change) for v in value)
    if type(value) is dict:
        return {k: rebuilt(v, change) for k, v in value.items()}
    return change(value)
