"""Gradients meet in buckets: as soon as all gradients of a bucket are there, its sum over the ranks is under way.

Buckets are filled in reverse order of the parameters, which is about the order in which backward makes gradients; after
the first pass they follow the order that was seen.  (https://arxiv.org/abs/2006.15704, D5 4.3)
"""

import time
import weakref

import numpy

from autogradlab.graph import Node
from autogradlab.modes import recording
from autogradlab.shapes import contiguous_strides
from autogradlab.tensor import Tensor, view_of, wrap
from autogradlab.views import written

from .group import ProcessGroup, Work

FIRST = 1 << 20  # bytes: a small first bucket, so that the first sum starts early


class Bucket:
    """Some parameters, and one flat tensor for their gradients."""

    def __init__(self, indices: list[int], params: list[Tensor]):
        self.indices, self.work = indices, None
        first = params[indices[0]]
        self.starts, size = {}, 0
        for i in indices:
            self.starts[i] = size
            size += params[i].numel()
        xp = first._device.backend.xp
        self.flat = wrap(xp.zeros((size,), dtype=first._dtype.numpy), first._dtype, first._device)
        self.waiting = len(indices)

    def part(self, i: int, like: Tensor) -> Tensor:
        """Parameter i's place in the flat tensor, as a tensor of its shape."""
        flat, shape = self.flat, tuple(like.shape)
        return view_of(flat.memory, shape, contiguous_strides(shape), self.starts[i], flat._dtype, flat._device)


class Reducer:
    """Sums the gradients of parameters over the ranks of a group, while backward goes on.

    cap: bytes of a bucket; find_unused: parameters that the output does not depend on count as ready; as_views: `.grad`
    becomes a view of its bucket.  A reducer holds its parameters; their hooks hold it weakly.
    """

    def __init__(self, names, params, group: ProcessGroup, cap: float, find_unused: bool, as_views: bool):
        self.names, self.params, self.group = names, params, group
        self.cap, self.find_unused, self.as_views = cap, find_unused, as_views
        self.expecting, self.rebuilt, self.order = False, False, []
        self.ready: set[int] = set()
        self.used: set[int] = set()
        self.times: list[tuple] = []
        self.buckets = self.arrange(list(reversed(range(len(params)))), FIRST)
        me = weakref.ref(self)
        self.handles = [
            p.register_post_accumulate_grad_hook(lambda _, i=i: r.gradient_is_there(i) if (r := me()) else None)
            for i, p in enumerate(params)
        ]

    def arrange(self, order: list[int], first: float) -> list[Bucket]:
        """Buckets of one dtype and device each, in this order, the first one small."""
        open_, done, limit = {}, [], {}
        for i in order:
            p = self.params[i]
            kind = p._dtype, p._device
            mine = open_.setdefault(kind, [])
            mine.append(i)
            if sum(self.params[j].nbytes for j in mine) >= limit.get(kind, first):
                done.append(open_.pop(kind))
                limit[kind] = self.cap
        done += open_.values()
        return [Bucket(indices, self.params) for indices in done]

    # Before backward --------------------------------------------------------------------------------------------------

    def begin(self, outputs) -> None:
        """A forward pass whose backward is to be summed has ended."""
        self.check_finished()
        if not self.rebuilt and len(self.order) == len(self.params) and not self.find_unused:
            self.rebuild()
        self.expecting, self.next, self.order = True, 0, []
        self.ready, self.times, self.began = set(), [], time.perf_counter()
        for bucket in self.buckets:
            bucket.waiting, bucket.work = len(bucket.indices), None
        self.used, self.unused = set(range(len(self.params))), []
        if self.find_unused:
            reached = leaves_behind(outputs)
            self.unused = [i for i, p in enumerate(self.params) if id(p) not in reached]
            self.used.difference_update(self.unused)

    def rebuild(self) -> None:
        """Buckets in the order in which rank 0 saw the gradients come."""
        order = []
        self.group.submit(Work("order", lambda: order.extend(self.group.transport.objects(self.order)[0]))).wait()
        self.buckets, self.rebuilt = self.arrange(order, FIRST), True

    def check_finished(self) -> None:
        """Refuse a new pass where the last one began, and never came to all parameters."""
        if not self.expecting or not self.ready:
            return
        missing = [f"{i} ({self.names[i]})" for i in range(len(self.params)) if i not in self.ready]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one: the module has "
            "parameters that were not used in producing the loss. Pass find_unused_parameters=True to "
            "DistributedDataParallel, or leave them out. Parameters which did not receive grad for rank "
            f"{self.group.rank}: {', '.join(missing)}."
        )

    # During backward --------------------------------------------------------------------------------------------------

    def gradient_is_there(self, i: int) -> None:
        """Told by the parameter's hook."""
        if not self.expecting:
            return
        unused, self.unused = self.unused, []
        for nr in unused:  # with the first gradient: a forward that nobody goes back through starts nothing
            self.arrived(nr, None)
        if i in self.ready:
            if i not in self.used:
                raise RuntimeError(f"parameter {i} ({self.names[i]}) was taken for unused, but got a gradient.")
            raise RuntimeError(
                f"Expected to mark a variable ready only once: parameter {i} ({self.names[i]}) got a gradient in two "
                "backward passes after one forward. Run the further passes inside no_sync()."
            )
        self.arrived(i, self.params[i].grad)

    def arrived(self, i: int, grad: Tensor | None) -> None:
        bucket = next(b for b in self.buckets if i in b.starts)
        self.ready.add(i)
        self.order.append(i)
        part = bucket.part(i, self.params[i])
        if grad is None:
            part.window[...] = 0
        else:  # divided first: the sum of many could overflow in half precision
            part.window[...] = grad.window / self.group.size
        bucket.waiting -= 1
        while self.next < len(self.buckets) and self.buckets[self.next].waiting == 0:
            self.launch(self.buckets[self.next])
            self.next += 1
        if self.next == len(self.buckets):
            self.finish()

    def launch(self, bucket: Bucket) -> None:
        """Start a bucket's sum; buckets start in the same order on every rank."""
        transport, flat = self.group.transport, bucket.flat
        array, made = transport.host(flat), []
        work = Work(
            "all_reduce",
            lambda: made.append(transport.all_reduce(array, "sum")),
            lambda: transport.put(flat, made.pop()),
        )
        bucket.work = self.group.submit(work)
        self.times.append((time.perf_counter(), work, flat.nbytes))

    def finish(self) -> None:
        """All sums are under way: wait for them, and hand the gradients back."""
        self.ended = time.perf_counter()
        used = self.used_anywhere() if self.find_unused else None
        self.expecting = False
        with recording(False):
            for bucket in self.buckets:
                bucket.work.wait()
                for i in bucket.indices:
                    if used is None or used[i]:
                        self.hand_back(i, bucket)

    def used_anywhere(self):
        """Which parameters any rank used: the others keep their gradients as they are."""
        mine = numpy.zeros(len(self.params), "int32")
        mine[list(self.used)] = 1
        found = []
        self.group.submit(Work("used", lambda: found.append(self.group.transport.all_reduce(mine, "max")))).wait()
        return found[0]

    def hand_back(self, i: int, bucket: Bucket) -> None:
        p, part = self.params[i], bucket.part(i, self.params[i])
        if self.as_views:
            p._grad = part
        elif p._grad is None:
            p._grad = wrap(part.window.copy(), p._dtype, p._device)
        else:
            p._grad.window[...] = part.window
            written(p._grad)


def leaves_behind(outputs) -> set[int]:
    """The ids of all leaves that the graphs behind these tensors lead to."""
    found, seen = set(), set()
    todo = [t.grad_fn if t.grad_fn is not None else t for t in outputs if t.requires_grad]
    while todo:
        at = todo.pop()
        if isinstance(at, tuple):
            at = at[0]
        if at is None or id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at, Node):
            todo += at.edges
        else:
            found.add(id(at))
    return found
