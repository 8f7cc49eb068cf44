"""What compile made of a function, in numbers: kernels, bytes, and what was fused."""

from dataclasses import dataclass

from .program import Program


@dataclass
class Report:
    """Counted, not measured.  before, after: the program as traced and as it runs.

    Bytes are what the kernels read and write, each operand once a kernel; breaks: why it runs uncompiled.
    """

    before: list[Program]
    after: list[Program]
    breaks: list

    @property
    def kernels(self) -> tuple[int, int]:
        """How many passes over memory: before and after."""
        return sum(p.kernels() for p in self.before), sum(p.kernels() for p in self.after)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes read and written: before and after."""
        return sum(p.bytes_moved() for p in self.before), sum(p.bytes_moved() for p in self.after)

    @property
    def made(self) -> tuple[int, int]:
        """Bytes of new tensors: before and after."""
        return sum(p.bytes_made() for p in self.before), sum(p.bytes_made() for p in self.after)

    def __repr__(self) -> str:
        rows = [f"{len(self.before)} traced, {len(self.breaks)} broken off"]
        for name, (before, after) in (
            ("kernels", self.kernels),
            ("bytes read and written", self.bytes),
            ("bytes of new tensors", self.made),
        ):
            rows.append(f"{name}: {before:,} as written, {after:,} as compiled")
        for program in self.after:
            fused = [s for s in program.steps if s.kind == "fused"]
            rows += [f"fused: {', '.join(p.op.name for p in s.what.parts)}" for s in fused]
        return "\n".join([*rows, *(f"break: {b}" for b in self.breaks)])
