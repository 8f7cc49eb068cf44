"""torch.autograd.graph: looking into the graph, and saying how saved tensors are kept."""

from autogradlab.graph import Node  # noqa: F401
from autogradlab.modes import PACKING, Mode, state


class saved_tensors_hooks(Mode):
    """Keep what nodes save in another form: pack(tensor) when it is saved, unpack(packed) when backward needs it.  (D5
    4.1)

    What unpack returns must equal what was packed; nobody checks.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def again(self):
        return saved_tensors_hooks(*self.hooks)

    def change(self):
        state.packing = self.hooks
        state.flags |= PACKING
