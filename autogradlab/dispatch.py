"""The way of a call: which kernel runs, on what, and what is recorded.

`call` is the whole of it, in order: observer and autocast (rarely), one dtype and device for all, the kernel, the new
tensor, and a node if anything needs gradients.  `call_view` is the same for operators that only change geometry;
`call_into` writes into an existing tensor, all checks first.  Operators themselves are in `ops/`; how a block becomes
one is in `table.py`.
"""

import warnings

import numpy

from . import dtypes, errors, shapes, views
from .convert import convert, fit
from .graph import keep, save
from .modes import ANOMALY, AUTOCAST, INFERENCE, NO_GRAD, OBSERVED, PACKING, state
from .tensor import Tensor, fresh, wrap
from .views import edge_of

NOTHING = {}
UNUSUAL = AUTOCAST | OBSERVED


def call(op, inputs, options=NOTHING):
    """One call of an operator on tensors.  Returns a new tensor, or a tuple of them."""
    flags = state.flags
    if flags & UNUSUAL:
        inputs = unusual(op, inputs, options)
    first = inputs[0]
    dtype, device = first._dtype, first._device
    result = op.direct.get(dtype)  # what comes of operands that need no conversion; None: they do
    windows = []
    for t in inputs:
        if t._device is not device or t._dtype is not dtype and not op.mixes:
            result = None
            break
        window = t._window
        windows.append(t.window if window is None else window)
    if result is None:
        device, dtype, windows, result = convert(op, inputs, options)
    backend = device._backend
    try:
        if options:
            out = op.kernel(backend.xp, *windows, **options)
        else:
            out = (op.kernels.get(backend) or op.kernel_on(backend))(*windows)
    except ValueError:
        _explain(inputs)
        raise
    except (RuntimeWarning, FloatingPointError):
        out = _quietly(op, backend.xp, windows, options)
    if type(out) is tuple:
        return _wrap_all(op, inputs, options, out, result, device)
    if type(out) is not backend.array or out.dtype is not result._numpy:
        out = fit(backend, out, result)
    t = wrap(out, result, device) if flags & INFERENCE else fresh(out, result, device)
    if not flags & NO_GRAD and op.formulas:
        record(op, inputs, options, (t,), flags)
    if flags & OBSERVED:
        state.observer("result", op=op, outputs=(t,), dtype=dtype)
    return t


def call_pair(op, a, b):
    """`call` for what programs are mostly made of: two tensors alike, no options, no mode but no_grad.

    The same steps without the loops over inputs: half the time of a small sum or product.
    """
    flags = state.flags
    dtype, device = a._dtype, a._device
    result = op.direct.get(dtype)
    if flags & ~NO_GRAD or b._dtype is not dtype or b._device is not device or result is None:
        return call(op, (a, b))
    x, y, backend = a._window, b._window, device._backend
    kernel = op.kernels.get(backend) or op.kernel_on(backend)
    try:
        out = kernel(a.window if x is None else x, b.window if y is None else y)
    except ValueError:
        _explain((a, b))
        raise
    except (RuntimeWarning, FloatingPointError):
        out = _quietly(op, backend.xp, (a.window, b.window), NOTHING)
    if type(out) is not backend.array:
        out = backend.as_array(out, result)
    t = fresh(out, result, device)
    if not flags and op.formulas:
        to_a, to_b = edge_of(a), edge_of(b)
        if to_a is not None or to_b is not None:
            recipe = op.plain.get(2 if to_a is None else 1 if to_b is None else 3)
            if recipe is None or not recipe.simple or not result.is_floating_point:
                record(op, (a, b), NOTHING, (t,), flags)
            else:
                make, saved = recipe.make, ()
                if recipe.positions:
                    saved = []
                    for i in recipe.positions:
                        saved.append(save(b if i else a))
                t._node = make(recipe.kind, (to_a, to_b), recipe, saved, op.defaults, out.shape, result, device)
    return t


def _wrap_all(op, inputs, options, arrays, result, device):
    """The tensors of an operator with several outputs; the differentiable ones come first."""
    kinds = op.output_dtypes(result)
    made = [wrap(fit(device.backend, a, d), d, device) for a, d in zip(arrays, kinds, strict=True)]
    flags = state.flags
    if not flags & NO_GRAD and op.formulas:
        record(op, inputs, options, made, flags)
    if flags & OBSERVED:
        state.observer("result", op=op, outputs=made, dtype=made[0]._dtype)
    return op.outputs(*made)


def _explain(inputs) -> None:
    """A kernel refused its operands: if their shapes do not broadcast, say so in PyTorch's terms."""
    if len(inputs) > 1:
        try:
            shapes.broadcast_shapes(*[tuple(t.shape) for t in inputs])
        except RuntimeError as refusal:
            raise refusal from None  # of the kernel's own words nobody has use


def _quietly(op, xp, windows, options):
    """Run a kernel whose warning the user has made an error, or NumPy's errstate: inf and nan are values here."""
    with numpy.errstate(all="ignore"):
        return op.kernel(xp, *windows, **options)


def unusual(op, inputs, options):
    """What an observer is told, and what autocast makes of the operands."""
    if state.observer is not None:
        state.observer("call", op=op, inputs=inputs, options=options)
    if state.autocast is None or not state.flags & AUTOCAST:
        return inputs
    cast = state.autocast(op, inputs)
    if state.observer is not None and cast is not inputs:
        state.observer("cast", op=op, inputs=cast)
    return cast


# Recording ------------------------------------------------------------------------------------------------------------


def record(op, inputs, options, outputs, flags: int) -> None:
    """Give results their node, if an input requires gradients that this operator has a formula for."""
    out = outputs[0]
    if not out._dtype.is_floating_point:
        return
    edges, wanted, bit = [], 0, 1
    for t in inputs:
        edge = edge_of(t) if op.differentiable & bit else None
        if edge is not None:
            wanted |= bit
        edges.append(edge)
        bit <<= 1
    if not wanted:
        return
    out._node = node = make_node(op, edges, wanted, inputs, options, outputs, flags)
    if node.more:
        for nr in range(1, 1 + len(node.more)):
            outputs[nr]._node, outputs[nr]._nr = node, nr


def make_node(op, edges, wanted, inputs, options, outputs, flags: int, original=None, written=None):
    """The node of a call: it saves what the formulas of the wanted gradients name, and nothing else.

    original: the first input's value before an in-place call; written: the storage that call wrote to.
    """
    if options:
        recipe = op.recipes.get(wanted) or op.recipe(wanted)
    else:
        recipe, options = op.plain.get(wanted) or op.recipe(wanted, plain=True), op.defaults
    saved = ()
    if recipe.positions:
        saved = []
        if flags & PACKING or written is not None:
            for i in recipe.positions:
                saved.append(_keep(i, inputs, outputs, original, written))
        else:  # the usual case
            for i in recipe.positions:
                saved.append(save(inputs[i]) if i >= 0 else save(_output(outputs, ~i), True))
    if op.facts:
        options = op.remember(inputs, options)
    out = outputs[0]
    shape = out._window.shape if out._shape is None else out._shape
    kind = recipe.kind or op.node_class(options)
    node = recipe.make(kind, edges, recipe, saved, options, shape, out._dtype, out._device)
    if op.outputs is not None:
        node.more = op.further(outputs)
    if flags & ANOMALY:
        remember_forward(node)
    return node


def _output(outputs, nr: int):
    """An output as its own node keeps it: an alias without that node, which would be a cycle."""
    kept = outputs[nr].alias()
    kept._nr = nr
    return kept


def _keep(position, inputs, outputs, original, written):
    """Save an output or an operand where hooks may pack it, or one of a write."""
    if position < 0:
        return keep(_output(outputs, ~position), True)
    if position == 0 and original is not None:
        return keep(original)
    if written is None or inputs[position]._storage is not written:
        return keep(inputs[position])
    kept, version, is_output = keep(inputs[position].alias())
    return kept, version - 1, is_output  # for the value before the write: backward will find that it is gone


def remember_forward(node) -> None:
    """Anomaly mode: keep where in the program the node was made."""
    import traceback

    node.metadata["traceback_"] = traceback.format_stack()[:-3]


# Views and writes -----------------------------------------------------------------------------------------------------


def call_view(op, source: Tensor, options=NOTHING, geometry=None, facts=None) -> Tensor:
    """One call of an operator that reads the same storage by another geometry (given, or the operator's).

    facts: the options with the facts about the source that formulas ask for, where they are known already.
    """
    flags = state.flags
    if flags & OBSERVED:
        state.observer("call", op=op, inputs=(source,), options=options)
    if geometry is None:
        geometry = op.geometry(source.shape, source.stride(), source._offset, **options)
    out = views.make_view(source, geometry, op.name, flags)
    if not flags & NO_GRAD and op.differentiable:
        edge = edge_of(source)
        if edge is not None:
            recipe = op.recipes.get(1)
            if flags or facts is None or recipe is None or recipe.kind is None or recipe.names:
                record(op, (source,), options, (out,), flags)
            else:
                make = recipe.make
                out._node = make(recipe.kind, (edge,), recipe, (), facts, geometry[0], out._dtype, out._device)
    if flags & OBSERVED:
        state.observer("result", op=op, outputs=(out,), dtype=None)
    return out


def call_view_by(op, source: Tensor, args: tuple, work_out):
    """call_view for arguments as given; what they mean for a source of this geometry is worked out once and kept.

    Views are arithmetic on a few integers, and programs ask for the same ones over and over: looking up takes a third
    of the time.  (It finds 1.0 where 1 was asked for before: dictionaries cannot tell them apart.)  work_out(source,
    *args): (options, geometry), or None where no view is possible.
    """
    shape, stride = source._shape, source._stride
    if shape is None or stride is None:
        shape, stride = source.shape, source.stride()
    key = shape, stride, source._offset, args
    try:
        found = op.known.get(key)
    except TypeError:  # a list among the arguments
        found = key = None
    if found is None:
        made = work_out(source, *args)
        if made is None:
            return None
        options, geometry = made
        found = options, geometry, op.remember((source,), options)
        if key is not None and op.local and all(map(_is_plain, args)):
            if len(op.known) > 2000:
                op.known.clear()
            op.known[key] = found
    return call_view(op, source, *found)


def _is_plain(value) -> bool:
    """Whether a value stands for itself: unlike a tensor, which is as good as an integer today and another tomorrow."""
    return value is None or isinstance(value, int) or type(value) is tuple and all(map(_is_plain, value))


def call_views(op, source: Tensor, options=NOTHING) -> tuple:
    """The same for an operator that makes several views at once, with one node behind them."""
    if state.flags & OBSERVED:
        state.observer("call", op=op, inputs=(source,), options=options)
    geometries = op.geometry(tuple(source.shape), source.stride(), source._offset, **options)
    out = tuple(views.make_view(source, g, op.name, state.flags, multi_output=True) for g in geometries)
    if out and not state.flags & NO_GRAD:
        record(op, (source,), options, out, state.flags)
    if state.flags & OBSERVED:
        state.observer("result", op=op, outputs=out, dtype=None)
    return out


def call_into(op, target: Tensor, inputs, options=NOTHING) -> Tensor:
    """Run an operator and write its result into `target`, its first input."""
    if state.flags & OBSERVED:  # autocast leaves writes alone
        state.observer("call", op=op, inputs=inputs, options=options)
    recorded = not state.flags & NO_GRAD and any(t.requires_grad for t in (target, *inputs))
    views.check_writable(target, recorded, op.uniform)
    if target._storage is not None and any(t._storage is target._storage for t in inputs[1:]):
        views.check_apart(target, inputs[1:])
    device, computing, windows, result = convert(op, inputs, options)
    if device is not target._device:
        raise errors.device_mismatch(op.name, (target, *inputs))
    if not dtypes.can_cast(result, target._dtype):
        raise errors.cannot_cast(op.name + "_", result, target._dtype)
    if op.pointwise:
        shape = shapes.broadcast_shapes(*[tuple(t.shape) for t in inputs])
        if shape != tuple(target.shape):
            raise errors.not_resized(op.name, shape, target.shape)
    edges, wanted, original, saved = None, 0, None, inputs
    if recorded and op.formulas:
        edges = [edge_of(t) if op.differentiable >> i & 1 else None for i, t in enumerate(inputs)]
        wanted = sum(1 << i for i, e in enumerate(edges) if e is not None)
        kept = (op.recipes.get(wanted) or op.recipe(wanted)).positions if wanted else ()
        if any(i >= 0 and inputs[i].is_inference() for i in kept):
            raise errors.save_inference()
        if 0 in kept:
            original = _before_write(target)
        if state.flags & PACKING:  # hooks are shown what was there before the write, under whatever name
            memory = target.memory
            saved = [_before_write(t) if i and i in kept and t._storage is memory else t for i, t in enumerate(inputs)]
    _write(op, device.backend, target, inputs, windows, options, computing is target._dtype and result is computing)
    views.written(target)  # refuses an inference tensor, as PyTorch's counter does: after the write
    if wanted:
        node = make_node(op, edges, wanted, saved, options, (target,), state.flags, original, target.memory)
        views.rebase(target, node)
    if state.flags & OBSERVED:
        state.observer("result", op=op, outputs=(target,), dtype=computing, written=True)
    return target


def _write(op, backend, target: Tensor, inputs, windows, options, straight: bool) -> None:
    """Run the kernel and put its result into the target's cells; straight: it may compute right there."""
    with numpy.errstate(all="ignore"):  # a write cannot be repeated where the user has made warnings errors
        if straight and op.takes_out:
            op.kernel(backend.xp, *windows, **options, out=target.window)
            return
        try:
            made = op.kernel(backend.xp, *windows, **options)
        except ValueError:
            _explain(inputs)
            raise
        if not op.pointwise and tuple(made.shape) != tuple(target.shape):
            raise errors.not_resized(op.name, made.shape, target.shape)
        target.window[...] = fit(backend, made, target._dtype)


def call_out(op, out: Tensor, inputs, options=NOTHING) -> Tensor:
    """Run an operator and put its result into a tensor given as out=, which takes the result's shape."""
    if not state.flags & NO_GRAD and any(t.requires_grad for t in (out, *inputs)):
        raise RuntimeError(f"{op.name}(): functions with out=... arguments don't support automatic differentiation.")
    views.check_writable(out, False)
    views.check_apart(out, inputs)
    made = call(op, inputs, options)
    if not isinstance(made, Tensor):
        raise TypeError(f"{op.name}(): out= is for operators with one result; this one returns {len(made)}.")
    if made._device is not out._device:
        raise errors.device_mismatch(op.name, (out, *inputs))
    if not dtypes.can_cast(made._dtype, out._dtype):
        raise errors.cannot_cast(op.name, made._dtype, out._dtype)
    if tuple(made.shape) == tuple(out.shape):
        out.window[...] = fit(out._device.backend, made.window, out._dtype)
    else:  # resized: the tensor gets other memory
        if out.numel():
            message = f"An output with one or more elements was resized from {list(out.shape)} to {list(made.shape)}."
            warnings.warn(message, UserWarning, stacklevel=4)
        out._window = fit(out._device.backend, made.window, out._dtype)
        out._shape = out._stride = out._storage = None
        out._offset = 0
    views.written(out)
    return out


def _before_write(target: Tensor) -> Tensor:
    """The value before a write, kept in the target's place in the graph."""
    kept = wrap(target.window.copy(), target._dtype, target._device)
    kept._node, kept._nr, kept._requires = target.grad_fn, target._nr, target._requires
    return kept
