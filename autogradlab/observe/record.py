"""What a trace writes down: plain data, so that it can be shown, compared and drawn after the tensors are gone."""

from dataclasses import dataclass, field


def described(tensor) -> str:
    """Dtype and shape, and the device where it is not the CPU: "float32 (2, 3)"."""
    where = "" if tensor.device.type == "cpu" else f" on {tensor.device}"
    return f"{tensor.dtype.name} {tuple(tensor.shape)}{where}"


def place_of_code(fn) -> str:
    """Where a function stands: "ops/pointwise.py:98"."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return getattr(fn, "__name__", repr(fn))
    return f"{'/'.join(code.co_filename.replace(chr(92), '/').split('/')[-2:])}:{code.co_firstlineno}"


@dataclass
class Call:
    """One call of an operator, step by step.

    kind: "kernel" (a new tensor), "view" (the same memory read otherwise), "write" (in place).  operands: as given;
    cast: as autocast made them, None if it changed nothing; computed: the dtype the kernel ran in.  recording: whether
    gradients were switched on; node: the name of the node recorded, None if none was; saved: (name, description, bytes)
    of what it keeps for backward.
    """

    name: str
    operands: list[str]
    kind: str = "kernel"
    cast: list[str] | None = None
    computed: str | None = None
    kernel: str = ""
    device: str = "cpu"
    results: list[str] = field(default_factory=list)
    recording: bool = True
    node: str | None = None
    saved: list[tuple[str, str, int]] = field(default_factory=list)
    inner: list["Call"] = field(default_factory=list)  # autocast's own casts

    def steps(self) -> list[str]:
        """The way of the call in words, one step a line."""
        rows = [f"{self.name}({', '.join(self.operands)})"]
        if self.cast is not None:
            rows.append(f"autocast: operands become {', '.join(self.cast)}")
        if self.kind == "view":
            rows.append(f"view: new strides over the same memory, {self.kernel}")
        else:
            rows.append(f"kernel: {self.kernel} on {self.device} in {self.computed}")
        wrote = "written in place: " if self.kind == "write" else "result: "
        rows.append(wrote + ", ".join(self.results))
        if self.node is None:
            why = "nothing here needs a gradient" if self.recording else "gradients are switched off"
            rows.append(f"no node: {why}")
        else:
            kept = ", ".join(f"{name} ({what}, {size:,} bytes)" for name, what, size in self.saved) or "nothing"
            rows.append(f"node: {self.node}, saves {kept}")
        return rows


@dataclass
class BackwardStep:
    """One step of a backward pass.

    kind: "begin", "node" (it ran) or "leaf" (a gradient was added to .grad).  at: the node or leaf, numbered in the
    order of the pass.  ready: who else could run; waiting: gradients each still waits for, before this step.  incoming,
    outgoing: (place, description of the gradient).  formulas: where the gradient formulas stand.  summed: the places in
    `outgoing` where another gradient had arrived before, so that this one was added.  freed: what it saved is gone.
    """

    kind: str
    at: str
    ready: list[str]
    waiting: dict[str, int]
    incoming: list[str] = field(default_factory=list)
    outgoing: list[tuple[str, str]] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    summed: list[str] = field(default_factory=list)
    freed: bool = False

    def words(self) -> str:
        """The step in one line."""
        if self.kind == "begin":
            counts = ", ".join(f"{name}: {n}" for name, n in self.waiting.items())
            return f"count what each place waits for: {counts}"
        if self.kind == "leaf":
            return f"{self.at}: {self.incoming[0]} is added to .grad"
        sent = ", ".join(
            f"{'+ ' if name in self.summed else ''}{what} to {name}" for name, what in self.outgoing
        )  # fmt: skip
        return f"{self.at}: sends {sent or 'nothing on'}{'; what it saved is freed' if self.freed else ''}"
