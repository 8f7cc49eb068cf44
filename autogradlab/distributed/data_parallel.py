"""DistributedDataParallel: one process a rank, each with its part of the batch and the same parameters.

https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

import contextlib
import warnings

from autogradlab.backends.clock import Span
from autogradlab.modes import is_grad_enabled, no_grad, state
from autogradlab.nn.module import Module
from autogradlab.observe.spans import Spans
from autogradlab.tensor import Tensor

from .collectives import broadcast
from .group import Work, group_of
from .reducer import Reducer


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over all ranks during backward.

    Its parameters and buffers are rank 0's from the beginning.  bucket_cap_mb: MiB of a bucket; find_unused_parameters:
    parameters that an output does not depend on do not hold the others up; gradient_as_bucket_view: `.grad` shares its
    bucket's memory; broadcast_buffers: buffers become rank 0's again before each forward.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim: int = 0, broadcast_buffers: bool = True,
                 init_sync: bool = True, process_group=None, bucket_cap_mb: float | None = None,
                 find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False, **later):  # fmt: skip
        super().__init__()
        self.process_group = group_of(process_group)
        if not isinstance(module, Module):
            raise TypeError(f"DistributedDataParallel wraps a Module, got {type(module).__name__}.")
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
                "gradient."
            )
        if later:
            raise TypeError(f"DistributedDataParallel: not offered here: {', '.join(sorted(later))}.")
        cap = 25 if bucket_cap_mb is None else bucket_cap_mb
        if cap <= 0:
            raise ValueError(f"bucket_cap_mb must be positive, got {bucket_cap_mb}.")
        self.module, self.broadcast_buffers = module, broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._check_alike(named)
        if init_sync:
            self._spread([*module.parameters(), *module.buffers()])
        names, params = zip(*named, strict=True)
        self._late: set[str] = set()  # parameters that began to require gradients after this
        self.reducer = Reducer(
            names, params, self.process_group, cap * 2**20, find_unused_parameters, gradient_as_bucket_view
        )

    def _check_alike(self, named) -> None:
        """All ranks must have the same parameters, or buckets would mix them up."""
        mine = [(name, tuple(p.shape), p._dtype.name) for name, p in named]
        found = []
        group = self.process_group
        group.submit(Work("same model", lambda: found.extend(group.transport.objects(mine)))).wait()
        for rank, theirs in enumerate(found):
            if theirs != found[0]:
                pairs = [(a, b) for a, b in zip(found[0], theirs, strict=False) if a != b]
                first = f": {pairs[0][0]} and {pairs[0][1]}" if pairs else ""
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but Rank 0 has {len(found[0])} params, while rank "
                    f"{rank} has {len(theirs)}, or they differ{first}."
                )

    def _spread(self, tensors) -> None:
        """Give all ranks what rank 0 holds."""
        with no_grad():
            works = [broadcast(t.detach(), self.process_group.ranks[0], self.process_group, True) for t in tensors]
            for work in works:
                work.wait()

    def forward(self, *args, **kwargs):
        """The module's output; the backward pass of a recorded one averages the gradients."""
        if self.require_forward_param_sync and self.broadcast_buffers:
            self._spread(list(self.module.buffers()))
        if state.tracer is not None:
            state.tracer.break_off("DistributedDataParallel makes ready for backward at every forward")
        recorded = is_grad_enabled() and self.require_backward_grad_sync
        if recorded:
            self.reducer.check_finished()
            self._warn_of_late_ones()
        output = self.module(*args, **kwargs)
        self.require_forward_param_sync = recorded
        if recorded:
            self.reducer.begin(list(_tensors(output)))
        return output

    def _warn_of_late_ones(self) -> None:
        """Say which parameters have gradients that nobody averages: ranks would drift apart in silence."""
        known = set(map(id, self.reducer.params))
        late = {name for name, p in self.module.named_parameters() if p.requires_grad and id(p) not in known}
        if not late <= self._late:
            self._late |= late
            warnings.warn(
                f"DistributedDataParallel averages the gradients of the parameters that required them when it was "
                f"made. These require them since, and differ from rank to rank: {', '.join(sorted(late))}. Wrap the "
                "module again after unfreezing or replacing parameters.",
                stacklevel=4,
            )

    @contextlib.contextmanager
    def no_sync(self):
        """Let gradients accumulate on each rank.  What counts is whether the *forward* ran inside.  (D3 4.2)"""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def timeline(self) -> Spans:
        """When the last backward ran on this rank and when its buckets' sums did, by the clock."""
        reducer, found = self.reducer, Spans()
        lane = f"rank {self.process_group.rank}"
        end = reducer.ended - reducer.began
        found.spans = [Span(f"{lane} backward", "backward", 0.0, end)]
        for nr, (ready, work, nbytes) in enumerate(reducer.times):
            at = ready - reducer.began
            began = max(work.began - reducer.began, at)
            found.spans.append(Span(f"{lane} sums", f"bucket {nr}", began, work.ended - reducer.began, nbytes))
        return found


def _tensors(value):
    """All tensors in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors(v)
