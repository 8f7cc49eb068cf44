"""An operator: what one block in `ops/` says, read once.

A block is a class with some of these:

    kernel(xp, a, b, /, option)      arrays in (before the slash), a fresh array or a tuple of them out
    geometry(shape, stride, offset, option)   for a view: arithmetic only (a kernel, if any, then serves formulas)
    grad_a(g, b, a_shape)            one gradient formula per input; its parameters name what it needs
    grads(g, ...)                    instead, all at once, where the inputs are a list
    arguments(input, dim=None)       the public signature, PyTorch's: returns (tensors, options)

What a formula may name: inputs and outputs, which are then saved; options; and facts about inputs such as a_shape or
a_dtype, which cost nothing. Formulas run on raw arrays in an ordinary backward and on Tensors under create_graph, so
they use plain arithmetic and operators of the table, which take both.
"""

import functools

import numpy

from . import dtypes, errors
from .backends import host, namespace
from .convert import operand
from .dispatch import NOTHING, call, call_into, call_out, call_view, call_views
from .graph import OpNode, op_node, own_copy, saved_attribute
from .modes import as_one
from .tensor import Tensor

PUBLIC = {"a": "self", "b": "other"}  # PyTorch's names of what nodes save
NUMPY_WORDS = {"axis": "dim", "keepdims": "keepdim"}


class Recipe:
    """How the node of an operator is made and run, for one choice of inputs that want gradients.

    make, kind: a function that makes the node, and the class (None where that depends on the call's options).  names,
    positions: what is saved, and where it stands among the inputs (outputs count from -1 downwards).  options: those
    the formulas need.  steps: for each input (formula or None, needs), a need being the place of a value among those
    saved and the options behind them; joint: there is one formula for all.  takes_list: it takes the gradients of all
    outputs.  simple: nothing but inputs is kept.
    """

    __slots__ = (
        "joint",
        "keeps_outputs",
        "kind",
        "make",
        "names",
        "options",
        "positions",
        "simple",
        "steps",
        "takes_list",
    )

    def __init__(self, op, wanted: int, plain: bool = False):
        self.kind, self.make = op.fixed_class, op.make_node
        formulas = [op.joint] if op.joint else [f if wanted >> i & 1 else (None, ()) for i, f in enumerate(op.formulas)]
        if plain:
            formulas = [(f, without_usual(f, needs, op.defaults)) for f, needs in formulas]
        needed = list(dict.fromkeys(n for _, needs in formulas for n in needs))
        where = {n: ~i for i, n in enumerate(op.output_names)} | {n: i for i, n in enumerate(op.inputs)}
        self.names = tuple(n for n in needed if n in where)
        self.positions = tuple(where[n] for n in self.names)
        self.options = tuple(n for n in needed if n not in where)
        places = {name: i for i, name in enumerate((*self.names, *self.options))}
        self.steps = tuple((f, tuple(places[n] for n in needs)) for f, needs in formulas)
        self.joint, self.takes_list = op.joint is not None, op.multi_output
        self.simple = self.kind is not None and not (op.facts or op.outputs) and min(self.positions, default=0) >= 0


class Operator:
    """One operator.  Called with Tensors it dispatches; called with raw arrays, inside formulas, it runs the kernel."""

    def __init__(self, block, node=None, *, in_place=False, floats=False, result=None, accepts=None, promote=True,
                 same_dtype=False, moves=False, pointwise=False, outputs=None, multi_output=False,
                 uniform=False, symbols=(), public=("function", "method"), samples=None):  # fmt: skip
        self.name, self.__doc__, self.block = block.__name__.rstrip("_"), block.__doc__, block
        self.in_place, self.floats, self.result, self.accepts = in_place, floats, result, accepts
        self.promote, self.same_dtype, self.moves, self.pointwise = promote, same_dtype, moves, pointwise
        self.mixes = not promote and not same_dtype  # operands keep their own dtypes, as values and indices do
        self.outputs, self.multi_output = outputs, multi_output
        self.symbols, self.public, self.samples = symbols, public, samples
        self.uniform = uniform  # writes the same everywhere, so that overlapping cells do no harm
        self.geometry, self.kernel = getattr(block, "geometry", None), getattr(block, "kernel", None)
        self._read_signature()
        self._read_formulas()
        self.arguments = getattr(block, "arguments", None) or (
            _unary_arguments if len(self.inputs) == 1 else _binary_arguments
        )
        self.asks = getattr(block, "asks", False)
        if self.asks:  # its arguments look at values, to refuse some
            self.function = as_one(self.function)
        self.node, self.node_classes = node, {}  # a name or a function of the options; its classes by name
        self.direct = self._direct()
        self.recipes, self.kernels = {}, {}
        # for calls without options, where formulas know the usual values themselves
        self.plain = {} if any(f and f.__defaults__ for f, _ in self.formulas) else self.recipes
        self.known = {}  # views: geometries worked out before
        facts = {what for _, what, _ in self.facts.values()}
        self.local = getattr(block, "remembered", True) and facts <= {"shape", "stride", "offset"}

    # What the block says ----------------------------------------------------------------------------------------------

    def _read_signature(self) -> None:
        fn = self.kernel or self.geometry
        code = fn.__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.takes_out = "out" in parameters
        self.variadic = bool(code.co_flags & 0x04)  # *arrays: a list of tensors, as cat's
        self.inputs = parameters[1 : code.co_posonlyargcount] if self.kernel else ("a",)
        defaults = fn.__defaults__ or ()
        given = dict(zip(parameters[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True))
        self.defaults = {name: value for name, value in given.items() if name != "out"}
        self.parameters = set(parameters) - {"xp", "out", "shape", "stride", "offset"}
        self.output_names = getattr(self.outputs, "_fields", ("result",))

    def _read_formulas(self) -> None:
        """Which gradients there are, and what each needs."""
        self.joint, self.facts = None, {}
        if hasattr(self.block, "grads"):
            self.joint = self.block.grads, self._needs(self.block.grads)
            given = getattr(self.block, "differentiable", self.inputs)
            self.differentiable = -1 if self.variadic else sum(1 << self.inputs.index(n) for n in given)
            self.formulas = (self.joint,)
            return
        formulas = [getattr(self.block, f"grad_{name}", None) for name in self.inputs]
        self.differentiable = sum(1 << i for i, f in enumerate(formulas) if f is not None)
        self.formulas = tuple((f, self._needs(f) if f else ()) for f in formulas) if any(formulas) else ()

    def _needs(self, formula) -> tuple[str, ...]:
        needs = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]
        for name in needs:
            owner, _, fact = name.rpartition("_")
            if owner in (*self.inputs, "all") and fact.rstrip("s") in _FACTS:
                fact = fact.rstrip("s")
                self.facts[name] = self.inputs.index(owner) if owner != "all" else None, fact, _FACTS[fact]
        return needs

    def recipe(self, wanted: int, plain: bool = False) -> Recipe:
        """How to make and run the node where the inputs in `wanted` need gradients; plain: of calls without options."""
        found = Recipe(self, wanted, plain)
        if not self.variadic:  # of a list of tensors any may want one: too many choices to keep
            (self.plain if plain else self.recipes)[wanted] = found
        return found

    def remember(self, inputs, options) -> dict:
        """The options, and the facts about inputs that formulas ask for."""
        known = dict(options)
        for name, (position, _, fact) in self.facts.items():
            known[name] = tuple(map(fact, inputs)) if position is None else fact(inputs[position])
        return known

    # Nodes, whose classes are made when first needed ------------------------------------------------------------------

    def node_class(self, options) -> type:
        """The class of a call's node: one subclass of OpNode for each of PyTorch's names."""
        name = self.node(options) if callable(self.node) else self.node
        name = name or f"{self.name.title().replace('_', '')}Backward0"
        if name not in self.node_classes:
            known = {*self.parameters, *self.inputs, *self.output_names, *self.facts}
            fields = {f"_saved_{self.public_name(n)}": saved_attribute(self, n) for n in known}
            fields |= {"op": self, "run": own_copy(OpNode.run), "__slots__": (), "__module__": "autogradlab.graph"}
            self.node_classes[name] = type(name, (OpNode,), fields)
        return self.node_classes[name]

    @functools.cached_property
    def fixed_class(self) -> type | None:
        """The one class of its nodes; None where that depends on the options."""
        return None if callable(self.node) else self.node_class(None)

    @functools.cached_property
    def make_node(self):
        """op_node in a copy of this operator's own."""
        return own_copy(op_node)

    # The kernel of a call without options -----------------------------------------------------------------------------

    def kernel_on(self, backend):
        """The kernel for a backend's arrays, without options: the array function itself if the kernel is no more."""
        word = handed_to(self.kernel, len(self.inputs))
        self.kernels[backend] = getattr(backend.xp, word) if word else functools.partial(self.kernel, backend.xp)
        return self.kernels[backend]

    # What comes out ---------------------------------------------------------------------------------------------------

    def _direct(self) -> dict:
        """For each dtype whose operands need no conversion: the dtype of the result.  `call`'s one question."""
        of_sum = self.result is dtypes.of_sum  # of floats their own: those to be summed in another come converted to it
        if callable(self.result) and not of_sum:
            return {}
        usual = [
            d for d in dtypes.ALL
            if (self.moves or not d.is_half and d not in dtypes.FLOAT8)
            and (d.is_floating_point or not self.floats) and (self.accepts is None or self.accepts(d))
        ]  # fmt: skip
        return {d: d if of_sum else self.result or d for d in usual if d.is_floating_point or not of_sum}

    def result_dtype(self, common, options):
        """The dtype of the result, from the operands' common one."""
        if callable(self.result):
            return self.result(common, options)
        return self.result or common

    def output_dtypes(self, result):
        """The dtypes of several outputs: those called indices are int64."""
        return [dtypes.int64 if n == "indices" else result for n in self.output_names]

    def check_dtype(self, dtype) -> None:
        if dtype in dtypes.FLOAT8 and not self.moves or self.accepts is not None and not self.accepts(dtype):
            raise errors.not_implemented(self.name, dtype)

    def further(self, outputs) -> tuple:
        """(shape, dtype, device) of the differentiable outputs behind the first."""
        return tuple((tuple(t.shape), t._dtype, t._device) for t in outputs[1:] if t._dtype.is_floating_point)

    def widen(self, g, values):
        """Half-precision operands of a formula in float32: it too computes wide and is rounded once, on the engine's
        edge.
        """
        wide = [x if x is None else _widened(x) for x in g] if isinstance(g, (list, tuple)) else _widened(g)
        return wide, [_widened(x) for x in values]

    # Names ------------------------------------------------------------------------------------------------------------

    def public_name(self, name: str) -> str:
        """PyTorch's name of what a node saves: a is self, a_shape is self_sym_sizes."""
        owner, _, fact = name.rpartition("_")
        if owner in self.inputs and fact in _FACTS:
            return f"{PUBLIC.get(owner, owner)}_{_PUBLIC_FACTS.get(fact, fact)}"
        return PUBLIC.get(name, name)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    # How it is called -------------------------------------------------------------------------------------------------

    def __call__(self, *args, **options):
        """From formulas: with Tensors a recorded call, with raw arrays the kernel alone."""
        operands, xp = args[0] if self.variadic else args, None
        for a in operands:
            if type(a) is numpy.ndarray:
                xp = host
            elif isinstance(a, Tensor):
                return self.function(*args, **options)
        return self.kernel(xp or namespace(operands), *operands, **options)

    def bind(self, args, kwargs):
        """(tensors, options) of a public call; errors name the operator and the argument."""
        if kwargs:
            kwargs = pytorch_words(kwargs)
        try:
            inputs, options = self.arguments(*args, **kwargs)
        except TypeError as exc:
            if exc.__traceback__.tb_next is None:  # the call did not fit the signature
                raise TypeError(
                    f"{self.name}(): {str(exc).split('() ', 1)[-1]}; its signature is {self.signature()}."
                ) from None
            raise
        except AttributeError:  # arguments() asked something of what is no tensor
            for name, value in zip(self.arguments.__code__.co_varnames[: len(self.inputs)], args, strict=False):
                if not isinstance(value, Tensor):
                    raise self._no_tensor(name, value) from None
            raise
        for t in inputs:
            if not isinstance(t, Tensor):
                position = next(i for i, u in enumerate(inputs) if u is t)
                name = self.arguments.__code__.co_varnames[min(position, len(self.inputs) - 1)]
                raise self._no_tensor(name, t)
        return inputs, options

    def _no_tensor(self, name: str, value) -> TypeError:
        return TypeError(f"{self.name}(): argument '{name}' must be Tensor, not {type(value).__name__}.")

    def signature(self) -> str:
        """The public signature as text."""
        import inspect  # slow to import, and needed only for errors

        return f"{self.name}{inspect.signature(self.arguments)}"

    def function(self, /, *args, out=None, **kwargs):
        """The public function."""
        inputs, options = self.bind(args, kwargs)
        if out is not None:
            return call_out(self, out, inputs, options)
        if self.geometry is not None:
            return (call_views if self.multi_output else call_view)(self, inputs[0], options)
        return call(self, inputs, options)

    def place(self, source, *args):
        """What a view's arguments mean for this source: (options, geometry)."""
        _, options = self.bind((source, *args), NOTHING)
        return options, self.geometry(source.shape, source.stride(), source._offset, **options)

    def write(self, /, *args, **kwargs):
        """The public in-place method: the result goes into the first tensor."""
        inputs, options = self.bind(args, kwargs)
        return call_into(self, args[0], inputs, options)  # not inputs[0], which may be a converted copy


def pytorch_words(options: dict) -> dict:
    """Options by PyTorch's names: axis and keepdims, NumPy's words, are dim and keepdim."""
    if "axis" in options or "keepdims" in options:
        return {NUMPY_WORDS.get(name, name): value for name, value in options.items()}
    return options


def without_usual(formula, needs: tuple, usual: dict) -> tuple:
    """What a formula needs where no options were given: not those for which it has the operator's default itself."""
    own = formula.__defaults__ or () if formula else ()
    while own and needs[-1] in usual and usual[needs[-1]] == own[-1]:
        needs, own = needs[:-1], own[:-1]
    return needs


def handed_to(kernel, operands: int) -> str | None:
    """The array function to which a kernel hands its operands, if that is all it does: "multiply" for mul's.

    It is asked, with a namespace that notes what is called.  Calling the function instead of the kernel spares a small
    operation a tenth of its time.
    """
    given, notes = tuple(object() for _ in range(operands)), _Notes()
    try:
        result = kernel(notes, *given)
    except (TypeError, AttributeError):  # it asks its operands for more than these have
        return None
    if result is not notes or len(notes.calls) != 1:
        return None
    name, args, options = notes.calls[0]
    return name if args == given and set(options.values()) <= {None} else None


class _Notes:
    """An array namespace whose functions only note that they were called."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name: str):
        return functools.partial(self._called, name)

    def _called(self, name: str, *args, **options):
        self.calls.append((name, args, options))
        return self


def _unary_arguments(input):
    return (input,), NOTHING


def _binary_arguments(input, other):
    return numbers_to_tensors(input, other), NOTHING


def numbers_to_tensors(input, other, floats: bool = False) -> tuple:
    """Two operands, of which one may be a number beside the other."""
    if isinstance(input, Tensor) and not isinstance(other, Tensor):
        made = operand(other, input, floats)
        return input, other if made is None else made
    if isinstance(other, Tensor) and not isinstance(input, Tensor):
        made = operand(input, other, floats)
        return input if made is None else made, other
    return input, other


def _widened(value):
    dtype = getattr(value, "dtype", None)
    if dtype is not None and not isinstance(value, Tensor) and getattr(dtype, "name", "") in ("float16", "bfloat16"):
        return value.astype("float32")
    return value


_PUBLIC_FACTS = {"shape": "sym_sizes", "stride": "sym_strides", "offset": "sym_storage_offset", "dtype": "scalar_type"}
_FACTS = {
    "shape": lambda t: t._window.shape if t._shape is None else tuple(t._shape),
    "stride": Tensor.stride,
    "offset": Tensor.storage_offset,
    "dtype": lambda t: t._dtype,
    "device": lambda t: t._device,
}
