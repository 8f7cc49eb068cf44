"""A program that compile traced, as a picture: what it computes, and which steps run as one kernel."""

from autogradlab.compiler import CompiledFunction, OptimizedModule, Program
from autogradlab.compiler.passes import results_of

from .dot import GraphPicture
from .walk import Drawing


def program(shown: Program) -> GraphPicture:
    """One program, from arguments to results; a fused step lists what it does, and is outlined twice.

    shown: a compiled function or module (its latest program), f.graphs[0] or f.explain().before[0], as it was traced.
    """
    if isinstance(shown, OptimizedModule):
        shown = shown._compiled
    if isinstance(shown, CompiledFunction):
        if not shown.graphs:
            raise ValueError(f"program: {shown.name} has not been traced yet: call it once.")
        shown = shown.graphs[-1]
    if not isinstance(shown, Program):
        raise TypeError(f"program: expected a Program or a compiled function, not {type(shown).__name__}.")
    drawing = Drawing()
    made = {}
    for i, n in enumerate(shown.arguments):
        drawing.add(f"v{n}", "saved", f"argument {i}", shown.values[n].text)
        made[n] = f"v{n}"
    for n in shown.constants:
        if shown.values[n].origin == "outside":
            drawing.add(f"v{n}", "base", "from outside", shown.values[n].text)
            made[n] = f"v{n}"
    for i, step in enumerate(shown.steps):
        key = f"s{i}"
        if step.kind == "fused":
            drawing.add(key, "leaf", "one kernel:", *(f"{j}. {p.op.name}" for j, p in enumerate(step.what.parts, 1)))
        else:
            drawing.add(key, "function", _title(shown, step))
        drawing.arrows += [(made[n], key, "flow") for n in dict.fromkeys(step.inputs) if n in made]
        made.update(dict.fromkeys(step.outputs, key))
    for i, n in enumerate(sorted(results_of(shown))):
        drawing.add(f"r{i}", "output", "result", shown.values[n].text)
        drawing.arrows.append((made[n], f"r{i}", "flow"))
    size = f"{shown.kernels()} kernels, {shown.bytes_moved():,} bytes read and written"
    return GraphPicture(drawing, f"{size}\n{shown}", f"The program of {shown.name}: {size}.", legend=False)


def _title(shown: Program, step) -> str:
    """A step's name, with the numbers among its operands."""
    numbers = [f"{shown.constants[n].item():.4g}" for n in step.inputs if shown.values[n].origin == "number"]
    return f"{step.name} {' '.join(numbers)}".strip()
