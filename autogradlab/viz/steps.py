"""A recorded backward pass as a picture: the order in which nodes ran, and the gradients they sent on."""

from autogradlab.observe import Trace

from .dot import GraphPicture
from .walk import Drawing


def trace(recorded: Trace) -> GraphPicture:
    """What a trace saw of backward: each box has the number of its step, gradients run along the arrows."""
    if not isinstance(recorded, Trace):
        raise TypeError(f"trace: expected what `with autogradlab.trace() as t:` gives, not {type(recorded).__name__}.")
    drawing = Drawing()
    steps = [s for s in recorded.backward if s.kind != "begin"]
    for number, step in enumerate(steps, 1):
        kind = "leaf" if step.kind == "leaf" else "function"
        waits = f"ready beside it: {', '.join(step.ready)}" if step.ready else ""
        drawing.add(step.at, kind, f"{number}. {step.at}", *([waits] if waits else []))
    for step in steps:
        for target, _ in step.outgoing:
            if target in drawing.boxes:
                drawing.arrows.append((step.at, target, "flow"))
    text = "\n".join([f"Backward in {len(steps)} steps.", *(f"  {i}. {s.words()}" for i, s in enumerate(steps, 1))])
    return GraphPicture(drawing, text, f"Backward in {len(steps)} steps.", legend=False)
