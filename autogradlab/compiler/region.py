"""A region: several element-by-element operators run as one kernel, forwards and backwards.

Forwards it reads its inputs once and writes only what others need.  Backwards it computes what lies between once more,
block by block, rather than having kept it: inputs are all it saves.  (D2 5.2, D3 6.1;
https://pytorch.org/docs/stable/torch.compiler_faq.html)
"""

from dataclasses import dataclass

from autogradlab import dtypes, errors, shapes
from autogradlab.convert import fit
from autogradlab.dispatch import call
from autogradlab.graph import FREED, Node, keep, take_out, window_of
from autogradlab.modes import NO_GRAD, OBSERVED, state
from autogradlab.tensor import wrap
from autogradlab.views import edge_of

from . import blocks

SMALL = 1 << 13  # elements: below that, blocks cost more than they spare


@dataclass
class Part:
    """One operator of a region: inputs and output by their numbers in the region."""

    op: object
    inputs: tuple
    output: int
    options: dict
    computing: object  # the dtype its kernel runs in
    result: object  # the dtype of what it makes

    def prepare(self, kinds: list) -> None:
        """Settle what can be settled before arrays are there: which operands are converted, and where results go."""
        op, self.fn = self.op, self.op.kernel
        self.writes = op.takes_out and (self.result is self.computing or op.result is not None)
        self.converts = any(kinds[n] is not self.computing for n in self.inputs) and not op.mixes
        self.fits = self.result is self.computing or op.result is not None

    def kernel(self, xp, values, out=None):
        """Run it on arrays.  out: where the result may go."""
        taken = [values[n] for n in self.inputs]
        if self.converts:
            computing = self.computing.numpy
            taken = [a if a.dtype == computing else a.astype(computing) for a in taken]
        if out is not None and self.writes:
            return self.fn(xp, *taken, **self.options, out=out)
        made = self.fn(xp, *taken, **self.options)
        return made if self.fits else xp.asarray(made, dtype=self.result.numpy)

    def gradients(self, g, values, wanted: list[bool], lift: bool):
        """(number of an input, its gradient) for each input that wants one."""
        op = self.op
        known = {**op.defaults, **self.options, "result": values[self.output]}
        known.update(zip(op.inputs, (values[n] for n in self.inputs), strict=True))
        for position, (n, (formula, needs)) in enumerate(zip(self.inputs, op.formulas, strict=True)):
            if formula is None or not wanted[n] or not op.differentiable >> position & 1:
                continue
            needed = [known[name] for name in needs]
            if self.result.is_half and not lift:
                wide, needed = op.widen(g, needed)
                yield n, formula(wide, *needed)
            else:
                yield n, formula(g, *needed)


class Region:
    """What a fused step runs.

    dtypes: of every value in the region, its inputs first; numbers: value -> tensor, the numbers among the inputs;
    outputs: the values that leave it, with the strides their results have.  any_size: inputs of other shapes will do.
    """

    kind = "fused"

    def __init__(self, shape, kinds: list, numbers: dict, parts: list[Part], outputs: list[int], strides: list[tuple]):
        self.shape, self.dtypes, self.numbers, self.parts = shape, kinds, numbers, parts
        self.outputs, self.strides = outputs, strides
        self.inputs = len(kinds) - len(parts)
        self.name = "fused_" + "_".join(p.op.name for p in parts[:4]) + ("_etc" if len(parts) > 4 else "")
        self.any_size, self.kernels = False, {}
        self.places = [n for n in range(self.inputs) if n not in numbers]  # of the tensors that are given
        for part in parts:
            part.prepare(kinds)
        self.leaves = self._last_uses()

    def lines(self) -> list[str]:
        """The steps inside, as text."""
        shown = [f"{self.numbers[n].item():.6g}" if n in self.numbers else f"@{n}" for n in range(len(self.dtypes))]
        return [f"{shown[p.output]} = {p.op.name}({', '.join(shown[n] for n in p.inputs)})" for p in self.parts]

    def _last_uses(self) -> list[list[int]]:
        """For each part the values that nothing after it needs, whose buffers are free again."""
        last = {n: i for i, p in enumerate(self.parts) for n in (*p.inputs, p.output)}
        inside = {p.output for p in self.parts} - set(self.outputs)
        return [[n for n in inside if last[n] == i] for i in range(len(self.parts))]

    @property
    def kernel(self):
        """What a trace shows as the place of its code."""
        return self.fill

    # Forwards ---------------------------------------------------------------------------------------------------------

    def __call__(self, tensors, recorded: bool) -> list:
        """The outputs for these inputs, with one node behind all of them."""
        flags, device = state.flags, tensors[0]._device
        if flags & OBSERVED and state.observer is not None:
            state.observer("call", op=self, inputs=tensors, options={})
        shape = self.result_shape(tensors)
        arrays = self.arrays(tensors)
        if device.type != "cpu":
            made = self.generated(device)(*arrays)
        elif shapes.numel(shape) < SMALL:
            made = self.straight(device.backend, arrays)
        else:
            made = [laid_out(device.backend.xp, shape, s, self.dtypes[n].numpy) for n, s in self._laid()]
            self.fill(device.backend, shape, arrays, made)
        out = [wrap(a, self.dtypes[n], device) for a, n in zip(made, self.outputs, strict=True)]
        if recorded and not flags & NO_GRAD:
            self.record(tensors, out)
        if flags & OBSERVED and state.observer is not None:
            state.observer("result", op=self, outputs=out, dtype=out[0]._dtype)
        return out

    def result_shape(self, tensors) -> tuple:
        """The shape of the results: as traced, or of these inputs where any size will do."""
        if not self.any_size:
            return self.shape
        return shapes.broadcast_shapes(*[tuple(t.shape) for t in tensors])

    def _laid(self):
        return zip(self.outputs, [None] * len(self.outputs) if self.any_size else self.strides, strict=True)

    def arrays(self, tensors) -> list:
        """The inputs' arrays, numbers among them."""
        given = iter(tensors)
        return [(self.numbers[n] if n in self.numbers else next(given)).window for n in range(self.inputs)]

    def generated(self, device):
        """The region as one kernel of an accelerator, which its backend makes of the parts."""
        found = self.kernels.get(device)
        if found is None:

            def run(xp, *arrays):
                values = self.values(xp, arrays)
                return tuple(values[n] for n in self.outputs)

            found = self.kernels[device] = device.backend.fuse(self.name, run)
        return found

    def straight(self, backend, arrays) -> list:
        """The outputs of few elements: kernel after kernel, as without fusing."""
        values = self.values(backend.xp, arrays)
        return [fit(backend, values[n], self.dtypes[n]) for n in self.outputs]

    def values(self, xp, arrays) -> list:
        """Every value of the region, from its inputs."""
        values = [*arrays]
        for part in self.parts:
            values.append(part.kernel(xp, values))
        return values

    def fill(self, backend, shape, arrays, made) -> None:
        """Compute the outputs into these arrays."""
        xp = backend.xp
        views, indices = blocks.cut(shape, [*made, *[a for a in arrays]])
        outputs = len(made)

        def work(*pieces):
            values = [*pieces[outputs:], *[None] * len(self.parts)]
            targets = dict(zip(self.outputs, pieces[:outputs], strict=True))
            spare = {}
            for part, done in zip(self.parts, self.leaves, strict=True):
                n, kind = part.output, part.result.numpy
                out = targets.get(n)
                room = out
                if out is None and part.writes:
                    free = spare.get(kind)
                    room = free.pop() if free else xp.empty(pieces[0].shape, kind)
                values[n] = part.kernel(xp, values, room)
                if out is not None and values[n] is not out:
                    out[...] = values[n]
                    values[n] = out
                for gone in done:
                    spare.setdefault(self.dtypes[gone].numpy, []).append(values[gone])
                    values[gone] = None

        blocks.run(work, views, indices)

    def record(self, tensors, out) -> None:
        """Give the outputs their node, if an input requires gradients."""
        edges = [edge_of(t) if t._dtype.is_floating_point else None for t in tensors]
        wanted = {n for n, e in zip(self.places, edges, strict=True) if e is not None}
        if wanted:
            active = self.active(wanted)
            reached = [position for position, n in enumerate(self.outputs) if active[n]]
            if reached:
                node = CompiledFunctionBackward(self, edges, tensors, [out[p] for p in reached], reached)
                for nr, position in enumerate(reached):
                    out[position]._node, out[position]._nr = node, nr

    # Backwards --------------------------------------------------------------------------------------------------------

    def active(self, wanted) -> list[bool]:
        """Which values a gradient is needed of, to reach the inputs that want one."""
        active = [n in wanted for n in range(len(self.dtypes))]
        for p in self.parts:
            formulas = zip(p.inputs, p.op.formulas, strict=False)  # an operator without any has an empty tuple
            reached = any(active[n] and formula is not None for n, (formula, _) in formulas)
            active[p.output] = reached and p.result.is_floating_point
        return active

    def pull(self, values: list, grads: dict, active: list[bool], kinds: list, lift: bool = False) -> dict:
        """Gradients of the inputs, from values and those of the outputs: the parts' formulas in reverse order."""
        for part in reversed(self.parts):
            g = grads.pop(part.output, None)
            if g is None or not active[part.output]:
                continue
            for n, made in part.gradients(g, values, active, lift):
                kind = kinds[n]
                if lift:
                    made = made if made._dtype is kind else made.to(kind)
                elif made.dtype != kind.numpy:
                    made = made.astype(kind.numpy)
                grads[n] = grads[n] + made if n in grads else made
        return grads

    def pull_arrays(self, device, shape, arrays, grads: dict, wanted: list[int]) -> dict:
        """The same for whole arrays: block by block, or as one kernel of an accelerator."""
        xp = device.backend.xp
        active, kinds = self.active(wanted), list(self.dtypes)
        for n in wanted:
            if kinds[n].is_half and arrays[n].shape != shape:
                kinds[n] = dtypes.float32  # the engine sums it to the input's shape first, and rounds once
        if device.type != "cpu":
            return self.pull_generated(device, arrays, grads, active, kinds, wanted)
        if shapes.numel(shape) < SMALL:
            return self.pull(self.values(xp, arrays), grads, active, kinds)
        made = [xp.empty(shape, kinds[n].numpy) for n in wanted]
        given = list(grads)
        views, indices = blocks.cut(shape, [*made, *[grads[n] for n in given], *arrays])
        first, last = len(made), len(made) + len(given)

        def work(*pieces):
            found = self.pull(
                self.values(xp, pieces[last:]), dict(zip(given, pieces[first:last], strict=True)), active, kinds
            )
            for out, n in zip(pieces, wanted, strict=False):
                out[...] = found[n] if n in found else 0

        blocks.run(work, views, indices)
        return dict(zip(wanted, made, strict=True))

    def pull_generated(self, device, arrays, grads: dict, active, kinds, wanted) -> dict:
        """Values and gradients in one kernel."""
        given, key = tuple(grads), (device, tuple(grads), tuple(wanted), tuple(kinds))
        if key not in self.kernels:

            def run(xp, *pieces):
                values = self.values(xp, pieces[len(given) :])
                found = self.pull(values, dict(zip(given, pieces, strict=False)), active, kinds)
                return tuple(found[n] if n in found else xp.zeros_like(values[n]) for n in wanted)

            self.kernels[key] = device.backend.fuse(f"{self.name}_backward", run)
        return dict(zip(wanted, self.kernels[key](*grads.values(), *arrays), strict=True))

    def replay(self, tensors: list) -> list:
        """Every value as a tensor with a graph of its own, for a pass that is itself recorded."""
        given = iter(tensors)
        values = [self.numbers[n] if n in self.numbers else next(given) for n in range(self.inputs)]
        for part in self.parts:
            values.append(call(part.op, tuple(values[n] for n in part.inputs), part.options))
        return values


class CompiledFunctionBackward(Node):
    """The node of a region: it keeps the inputs, and computes what lay between again."""

    __slots__ = ("outputs", "region", "saved")

    def __init__(self, region: Region, edges, tensors, outputs, positions):
        (shape, dtype, device), *more = [(tuple(t.shape), t._dtype, t._device) for t in outputs]
        super().__init__(tuple(edges), shape, dtype, device, tuple(more))
        self.region, self.saved = region, [keep(t) for t in tensors]
        self.outputs = [region.outputs[p] for p in positions]

    def run(self, grads, lift: bool, keep: bool):
        region = self.region
        if self.saved is FREED:
            raise errors.backward_twice(self.name())
        wanted = [n for n, e in zip(region.places, self.edges, strict=True) if e is not None]
        given = {n: g for n, g in zip(self.outputs, grads, strict=True) if g is not None}
        if lift:
            values = region.replay([take_out(kept, self) for kept in self.saved])
            found = region.pull(values, given, region.active(wanted), region.dtypes, lift=True)
        else:
            windows = iter([window_of(kept, self) for kept in self.saved])
            arrays = [region.numbers[n].window if n in region.numbers else next(windows) for n in range(region.inputs)]
            found = region.pull_arrays(self.device, self.shape, arrays, given, wanted)
        if not keep:
            self.saved = FREED
        return [found.get(n) if e is not None else None for n, e in zip(region.places, self.edges, strict=True)]


def laid_out(xp, shape: tuple, strides, dtype):
    """An empty array of that shape, in memory as these strides say."""
    if strides is None or len(shape) < 2:
        return xp.empty(shape, dtype)
    order = sorted(range(len(shape)), key=lambda d: -strides[d])
    back = sorted(range(len(shape)), key=order.__getitem__)
    return xp.empty(tuple(shape[d] for d in order), dtype).transpose(back)
