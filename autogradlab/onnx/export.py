"""export(): the program of one traced call, written with ONNX's words."""

import warnings
from pathlib import Path

import numpy

from autogradlab.compiler import CompiledFunction, Program
from autogradlab.compiler.guards import flatten
from autogradlab.compiler.passes import without_dead, without_repeats
from autogradlab.compiler.program import Ref, rebuilt
from autogradlab.modes import no_grad
from autogradlab.nn import Module
from autogradlab.tensor import Tensor

from .operators import SAYS, exportable

OPSET = 18
TOTALS = ("sum", "prod")
AS_THEY_ARE = {"cast", "logical_not", "logical_and", "logical_or", "logical_xor"}  # take operands of any dtype
_HOW = "pip install onnx onnxruntime (the course's set-up does)"


class OnnxExporterError(RuntimeError):
    """A model that cannot be said in ONNX."""


def _onnx():
    try:
        import onnx
    except ImportError as error:
        raise ModuleNotFoundError(f"torch.onnx.export needs the onnx package: {_HOW}.") from error
    return onnx


class Writer:
    """Collects nodes and constants; operators' entries speak to it."""

    def __init__(self, program: Program, names: dict[int, str]):
        self.program, self.onnx = program, _onnx()
        self.nodes, self.constants = [], {}
        self.computing = None  # the dtype in which the step that is being written works, where that is settled
        self._names, self._known, self._unsaid = dict(names), {}, {}
        for n, tensor in program.constants.items():
            name = self._names.setdefault(n, f"constant_{n}")
            self.constants[name] = self.onnx.numpy_helper.from_array(numpy.array(tensor.cpu().host(), order="C"), name)

    def name(self, number: int) -> str:
        """What a value is called."""
        if number in self._unsaid:
            self.refuse(self._unsaid[number], "has a second result, which cannot be exported")
        return self._names.setdefault(number, f"value_{number}")

    def shape(self, number: int) -> tuple:
        return tuple(self.program.values[number].shape)

    def kind(self, dtype) -> int:
        """ONNX's number of a dtype."""
        return self.onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype.numpy))

    def node(self, word: str, inputs: list[str], **attributes) -> str:
        """One operator of ONNX; returns the name of its result."""
        out = f"{word.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(word, inputs, [out], name=out, **attributes))
        return out

    def constant(self, array) -> str:
        """A constant, written once however often it is used."""
        array = numpy.asarray(array)
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._known:
            self._known[key] = f"number_{len(self._known)}"
            self.constants[self._known[key]] = self.onnx.numpy_helper.from_array(array, self._known[key])
        return self._known[key]

    def like(self, number: int, value) -> str:
        """A number of the dtype in which a value is used."""
        return self.constant(numpy.asarray(value, (self.computing or self.program.values[number].dtype).numpy))

    def truth(self, name: str) -> str:
        """A value as bool."""
        return self.node("Cast", [name], to=self.onnx.TensorProto.BOOL)

    def full(self, shape: tuple, value: float) -> str:
        return self.constant(numpy.full(shape, value, "float32"))

    def ints(self, values) -> str:
        return self.constant(numpy.asarray(values, "int64").reshape(-1))

    def number(self, value: int) -> str:
        return self.constant(numpy.asarray(value, "int64"))

    def refuse(self, step, why: str):
        raise OnnxExporterError(f"Unsupported: {step.name}() {why}, at {step.line}.")

    def write(self, step) -> None:
        """A step of the program."""
        if step.kind == "write":
            self.refuse(step, "writes in place, which ONNX cannot: use the form that makes a new tensor")
        entry = SAYS.get(step.name)
        if entry is None:
            raise OnnxExporterError(
                f"Unsupported: {step.name}() has no form in ONNX here, at {step.line}. "
                f"There are {', '.join(exportable())}."
            )
        if any(0 in self.shape(n) for n in step.outputs):
            self.refuse(step, "makes a tensor without elements")
        made = entry(self, step, self.converted(step))
        kind = self.program.values[step.outputs[0]].dtype
        if self.computing not in (None, kind) and (
            step.what.result is None or step.name in TOTALS
        ):  # half precision, worked in float32
            made = [self.node("Cast", [made[0]], to=self.kind(kind)), *made[1:]]
        self._names |= dict(zip(step.outputs, made, strict=False))
        self._unsaid |= dict.fromkeys(step.outputs[len(made) :], step)  # such as the positions beside max_pool's values

    def converted(self, step) -> list[str]:
        """The inputs of a step, in the dtype it works in: ONNX converts nothing by itself."""
        mixed = step.computing is None or getattr(step.what, "mixes", False) or step.name in AS_THEY_ARE
        out = self.program.values[step.outputs[0]].dtype
        wide = step.name in TOTALS and not out.is_floating_point  # small integers add up as int64
        self.computing = None if mixed else out if wide else step.computing
        names = [self.name(n) for n in step.inputs]
        if mixed:
            return names
        kinds = [self.program.values[n].dtype for n in step.inputs]
        to = self.kind(self.computing)
        return [
            name if kind is self.computing else self.node("Cast", [name], to=to)
            for name, kind in zip(names, kinds, strict=True)
        ]


class ONNXProgram:
    """A model in ONNX's words.  model_proto: onnx's own object; save(path) writes it; calling it runs it."""

    def __init__(self, model_proto, program: Program):
        self.model_proto, self.program = model_proto, program

    def save(self, destination) -> str:
        """Write the file; returns its path."""
        path = Path(destination)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.model_proto.SerializeToString())
        return str(path)

    def __call__(self, *args) -> list:
        """Run it with onnxruntime: arrays of the results, in the order they are returned."""
        try:
            import onnxruntime
        except ImportError as error:
            raise ModuleNotFoundError(f"running an ONNX model needs onnxruntime: {_HOW}.") from error
        session = onnxruntime.InferenceSession(self.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        given = [a.detach().cpu().numpy() if isinstance(a, Tensor) else numpy.asarray(a) for a in args]
        if len(names) != len(given):
            raise TypeError(f"the model takes {len(names)} inputs ({', '.join(names)}), got {len(given)}.")
        return session.run(None, dict(zip(names, given, strict=True)))


def export(model, args=(), f=None, *, kwargs: dict | None = None, input_names=None, output_names=None,
           opset_version: int | None = None, verify: bool = False, dynamic_axes=None,
           **ignored) -> ONNXProgram:  # fmt: skip
    """Trace a module or function with these arguments, and say it in ONNX.

    f: a path to write to.  A module is traced in evaluation mode, and left in the mode it was in.  Sizes are those of
    the arguments: dynamic_axes is refused.  verify: run the result with onnxruntime and compare.
    https://pytorch.org/docs/stable/onnx_export.html
    """
    if dynamic_axes:
        raise OnnxExporterError("dynamic_axes is not offered: an exported model takes the sizes it was traced with.")
    if not callable(model):
        raise TypeError(f"export takes a module or a function, got {type(model).__name__}.")
    opset = OPSET if opset_version is None else opset_version
    newest = _onnx().defs.onnx_opset_version()
    if isinstance(opset, bool) or not isinstance(opset, int) or not OPSET <= opset <= newest:
        raise OnnxExporterError(f"opset_version: {OPSET} to {newest} can be written, got {opset!r}.")
    args = args if isinstance(args, tuple) else (args,)
    given: list[Tensor] = []  # in the order in which the program takes them
    flatten((args, kwargs or {}), given, {}, False)
    if not given:
        raise OnnxExporterError("export needs example inputs: give args=(tensor, ...), with the sizes to export.")
    program, expected = _traced(model, args, kwargs or {})
    names = _names(program, model, input_names)
    writer = Writer(program, names)
    for step in program.steps:
        writer.write(step)
    proto = _model(writer, opset, output_names)
    made = ONNXProgram(proto, program)
    if verify:
        _compare(made, given, expected)
    if f is not None:
        made.save(f)
    return made


def _traced(model, args, kwargs) -> tuple[Program, object]:
    was = getattr(model, "training", False)
    if isinstance(model, Module):
        model.eval()
    try:
        compiled = CompiledFunction(model, backend="eager", dynamic=False)
        with no_grad():
            result = compiled(*args, **kwargs)
    finally:
        if was and isinstance(model, Module):
            model.train()
    if compiled.breaks:
        raise OnnxExporterError(f"{compiled.name} cannot be traced as a whole: {compiled.breaks[0]}.")
    return without_repeats(without_dead(compiled.graphs[0])), result


def _names(program: Program, model, input_names) -> dict[int, str]:
    """Names of arguments, and of parameters by their place in the module."""
    given = list(input_names or [])
    if given and len(given) != len(program.arguments):
        raise OnnxExporterError(f"input_names: the model has {len(program.arguments)} inputs, got {len(given)} names.")
    names = {n: given[i] if given else f"input_{i}" for i, n in enumerate(program.arguments)}
    if isinstance(model, Module):
        known = {id(t): name for name, t in [*model.named_parameters(), *model.named_buffers()]}
        names |= {n: known[id(t)] for n, t in program.constants.items() if id(t) in known}
    return names


def _model(writer: Writer, opset: int, output_names):
    onnx, program = writer.onnx, writer.program
    results = [v.number for v in _refs(program.result)]
    given = list(output_names or [])
    if given and len(given) != len(results):
        raise OnnxExporterError(f"output_names: the model has {len(results)} outputs, got {len(given)} names.")
    taken = [*map(writer.name, program.arguments), *given]
    if len(set(taken)) != len(taken):
        raise OnnxExporterError(f"input_names and output_names: each name once, got {', '.join(taken)}.")
    outputs = []
    for i, n in enumerate(results):
        name = given[i] if given else f"output_{i}"
        writer.nodes.append(onnx.helper.make_node("Identity", [writer.name(n)], [name], name=f"result_{i}"))
        value = program.values[n]
        outputs.append(onnx.helper.make_tensor_value_info(name, writer.kind(value.dtype), value.shape))
    inputs = [
        onnx.helper.make_tensor_value_info(
            writer.name(n), writer.kind(program.values[n].dtype), program.values[n].shape
        )
        for n in program.arguments
    ]
    used = {name for node in writer.nodes for name in node.input}
    constants = [c for name, c in writer.constants.items() if name in used]
    graph = onnx.helper.make_graph(writer.nodes, program.name, inputs, outputs, constants)
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)], producer_name="autogradlab"
    )
    made.ir_version = min(made.ir_version, 10)  # what the runtimes in use read
    onnx.checker.check_model(made, full_check=True)
    return made


def _refs(value):
    """The tensors of a result, in order."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, dict):
        yield from _refs(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _refs(v)
    elif value is not None:
        warnings.warn(f"{value!r} is returned as it was when traced, and left out of the ONNX model.", stacklevel=5)


def _compare(made: ONNXProgram, given: list[Tensor], expected) -> None:
    mine: list[Tensor] = []
    rebuilt(expected, lambda v: mine.append(v) if isinstance(v, Tensor) else None)
    for i, (a, t) in enumerate(zip(made(*given), mine, strict=True)):
        if not numpy.allclose(a, t.detach().cpu().numpy(), rtol=1e-3, atol=1e-5, equal_nan=True):
            apart = float(numpy.abs(a - t.detach().cpu().numpy()).max())
            raise OnnxExporterError(f"output {i} of the ONNX model differs from the model's by up to {apart:.2g}.")
