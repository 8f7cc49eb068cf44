"""One call on its way to a kernel: what each layer does with it, and which have nothing to do.  (D2 5.1, chapter 13)

Every call is really made; what the layers did is read from the engine's own trace.
"""

from __future__ import annotations

import contextlib
from html import escape

import autogradlab as torch
from autogradlab.learn.panel import Panel, note, one_of, row

CALLS = {
    "a + b": lambda a, b: a + b,
    "a @ b": lambda a, b: a @ b,
    "a.exp()": lambda a, b: a.exp(),
    "a.t()": lambda a, b: a.t(),
    "a.mul_(b)": lambda a, b: a.detach().mul_(b),
}
DTYPES = ("float32", "float64", "float16", "int64")
DEVICES = ("cpu", "sim")
WANTS = {"nobody": "", "a": "a", "a, under no_grad": "no_grad"}
NOTHING = "nothing to do"


def layers(call: str, a: str, b: str, device: str, autocast: bool, wants: str) -> list[tuple[str, str]]:
    """(layer, what it did) for one call on 2 by 2 tensors; an error stands in the layer that raised it."""
    given = [torch.ones(2, 2, dtype=getattr(torch, kind), device=device) for kind in (a, b)]
    if wants:
        if not given[0].is_floating_point():
            return [("Python", f"a is {a}: only floating point tensors can require gradients")]
        given[0].requires_grad_()
    casting = torch.autocast(device, enabled=autocast)
    recording = torch.no_grad() if wants == "no_grad" else contextlib.nullcontext()
    try:
        with torch.trace() as seen, casting, recording:
            CALLS[call](*given)
    except (RuntimeError, TypeError) as error:
        return [("Python", f"{call} on {device}, {a} and {b}"), ("dtype and device", f"refused: {error}")]
    return _told(next(c for c in seen.calls if c.name not in ("detach", "cast")), autocast)


def _told(call, autocast: bool) -> list[tuple[str, str]]:
    rows = [("Python", f"{call.name}({', '.join(call.operands)})")]
    if call.kind == "write" and autocast:
        rows.append(("autocast", "on, but leaves writes alone"))
    elif autocast:
        cast = call.cast and f"operands become {', '.join(call.cast)}"
        rows.append(("autocast", cast or "on, and takes these operands as they are"))
    else:
        rows.append(("autocast", f"off: {NOTHING}"))
    if call.kind == "view":
        rows.append(("dtype and device", NOTHING))
    else:
        rows.append(("dtype and device", f"computes in {call.computed} on {call.device}"))
    where = call.kernel.partition(":")[0]
    done = {"view": f"none: new strides over the same memory, by {where}", "write": f"{where}, into a's own memory"}
    rows.append(("kernel", f"{done.get(call.kind, where)}; result {', '.join(call.results)}"))
    if call.node is not None:
        saved = ", ".join(f"{name}, {size} bytes" for name, _, size in call.saved) or "nothing"
        rows.append(("autograd", f"node {call.node.partition('#')[0]}, saves {saved}"))
    else:
        why = "no input asks for a gradient" if call.recording else "gradients are switched off"
        rows.append(("autograd", f"{NOTHING}: {why}"))
    return rows


def in_words(rows: list[tuple[str, str]]) -> str:
    """The text twin."""
    return "\n".join(f"{layer:17} {did}" for layer, did in rows)


def as_table(rows: list[tuple[str, str]]) -> str:
    """The layers from top to bottom; those with something to do have a bar beside them and are told in bold."""
    body = ""
    for layer, did in rows:
        idle = NOTHING in did
        name = escape(layer) if idle else f"<b>{escape(layer)}</b>"
        bar = "border-left:5px solid #7a7a7a" if not idle else "border-left:5px dotted #7a7a7a"
        body += (
            f'<tr><th scope="row" style="text-align:left;vertical-align:top;padding:4px 12px;font-weight:normal;{bar}">'
            f'{name}</th><td style="text-align:left;padding:4px 12px">{escape(did)}</td></tr>'
        )
    return f'<table aria-label="The layers of the call, from top to bottom">{body}</table>'


def explore_call(call: str = "a + b") -> Panel:
    """Choose a call, dtypes, a device, autocast and who wants gradients; see what each layer does with it."""
    if call not in CALLS:
        raise ValueError(f"explore_call: call must be one of {tuple(CALLS)}, got {call!r}.")
    entries = [
        one_of("call", list(CALLS), call),
        one_of("a", DTYPES),
        one_of("b", DTYPES),
        one_of("device", DEVICES),
        one_of("autocast", [("off", False), ("on", True)]),
        one_of("gradients for", list(WANTS.items()), "a"),
    ]
    picture = note()

    def chosen() -> list[tuple[str, str]]:
        return layers(*(entry.value for entry in entries))

    def show(_=None) -> None:
        picture.value = as_table(chosen())

    for entry in entries:
        entry.observe(show, "value")
    show()
    text = in_words(chosen())
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose another call)</i></p>"
    return Panel([row(entries[:3]), row(entries[3:]), picture], text=text, static=static)
