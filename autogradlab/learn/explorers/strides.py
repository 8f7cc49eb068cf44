"""A chain of view operations on a small tensor: shape, strides and offset after each, and the way through memory."""

from __future__ import annotations

from html import escape

import ipywidgets as widgets

import autogradlab as torch
from autogradlab import shapes
from autogradlab.learn.panel import Panel, button, note, row
from autogradlab.viz import storage

STEPS = {
    ".t()": lambda t: t.t(),
    ".transpose(0, 1)": lambda t: t.transpose(0, 1),
    ".permute: last dimension first": lambda t: t.permute(t.dim() - 1, *range(t.dim() - 1)),
    "[1:]": lambda t: t[1:],
    "[:, ::2]": lambda t: t[:, ::2],
    "[0]": lambda t: t[0],
    ".unsqueeze(0)": lambda t: t.unsqueeze(0),
    ".squeeze()": lambda t: t.squeeze(),
    ".view(-1)": lambda t: t.view(-1),
    ".view(2, -1)": lambda t: t.view(2, -1),
    ".reshape(-1)": lambda t: t.reshape(-1),
    ".contiguous()": lambda t: t.contiguous(),
}
STARTS = {"3 x 4": (3, 4), "2 x 3 x 4": (2, 3, 4), "12": (12,)}


class Chain:
    """The tensors of a chain, from the first to the current one.  Knows nothing of widgets."""

    def __init__(self, shape=(3, 4)):
        self.start(shape)

    def start(self, shape) -> None:
        """Begin anew with 0, 1, 2, ... in this shape."""
        self.tensors = [torch.arange(shapes.numel(tuple(shape))).reshape(tuple(shape))]
        self.names = ["x"]
        self.refusal = ""

    def apply(self, name: str) -> bool:
        """Add a step; False, with the engine's reason in `refusal`, if it cannot be taken."""
        try:
            made = STEPS[name](self.tensors[-1])
        except (RuntimeError, IndexError) as error:
            self.refusal = str(error)
            return False
        self.tensors.append(made)
        self.names.append(name)
        self.refusal = ""
        return True

    def undo(self) -> None:
        """Take the last step back."""
        if len(self.tensors) > 1:
            self.tensors.pop()
            self.names.pop()
        self.refusal = ""

    def copied(self) -> bool:
        """Whether the last step made new memory."""
        return len(self.tensors) > 1 and self.tensors[-1].untyped_storage() is not self.tensors[-2].untyped_storage()

    def text(self) -> str:
        """The chain in words: one line a tensor, then the cells the last one visits."""
        lines = [
            f"{name:32} shape {tuple(t.shape)}  stride {t.stride()}  offset {t.storage_offset()}  "
            f"{'contiguous' if t.is_contiguous() else 'not contiguous'}"
            for name, t in zip(self.names, self.tensors, strict=True)
        ]
        lines.append(f"{'copied: new memory' if self.copied() else 'no data moved'}")
        return "\n".join([*lines, *([f"refused: {self.refusal}"] if self.refusal else [])])

    def picture(self):
        """The storage strip with the current tensor's way through it."""
        return storage(self.tensors[-1], names=["now"])


def explore_strides() -> Panel:
    """Apply view operations one by one; see strides, contiguity and the path through memory change."""
    chain = Chain()
    start = widgets.Dropdown(options=list(STARTS), description="start with", tooltip="the shape to start with")
    step = widgets.Dropdown(options=list(STEPS), description="then", tooltip="the operation to apply")
    apply, undo = button("Apply it"), button("Undo")
    picture, words = note(), note()

    def show() -> None:
        picture.value = chain.picture().html
        words.value = f"<pre>{escape(chain.text())}</pre>"

    def restart(change) -> None:
        chain.start(STARTS[change["new"]])
        show()

    def act(action) -> None:
        action()
        show()

    start.observe(restart, "value")
    apply.on_click(lambda _: act(lambda: chain.apply(step.value)))
    undo.on_click(lambda _: act(chain.undo))
    show()
    static = f"<pre>{escape(chain.text())}</pre><p><i>(run this cell to apply operations)</i></p>"
    return Panel([row([start, step, apply, undo]), picture, words], text=chain.text(), static=static)
