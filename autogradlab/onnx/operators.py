"""How each operator of a program is said in ONNX.  One entry an operator; what has none is refused by name.

An entry takes the writer, the step, and the names of its inputs, and gives the names of its outputs.
(https://onnx.ai/onnx/operators/)
"""

import math

SAYS = {}  # operator name -> entry


def says(*names: str):
    """Register an entry for operators of these names."""

    def register(entry):
        SAYS.update(dict.fromkeys(names, entry))
        return entry

    return register


def exportable() -> list[str]:
    """The operators that can be exported."""
    return sorted(SAYS)


# One word for one word ------------------------------------------------------------------------------------------------

SAME = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
    "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log",
    "neg": "Neg", "reciprocal": "Reciprocal", "relu": "Relu", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin",
    "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "isnan": "IsNaN",
    "mul": "Mul", "true_divide": "Div", "pow_tensor": "Pow", "maximum": "Max", "minimum": "Min",
    "eq": "Equal", "gt": "Greater", "lt": "Less", "ge": "GreaterOrEqual", "le": "LessOrEqual",
    "mm": "MatMul", "matmul_batched": "MatMul", "matmul": "MatMul",
    "bmm": "MatMul", "mv": "MatMul", "dot": "MatMul", "clone": "Identity", "pack": "Identity", "detach": "Identity",
    "alias": "Identity", "mish": "Mish", "hardswish": "HardSwish",
}  # fmt: skip
for _name, _word in SAME.items():
    says(_name)(lambda w, step, inputs, word=_word: [w.node(word, inputs)])


def _truth(word: str):
    def entry(w, step, inputs):
        kinds = [w.program.values[n].dtype.name for n in step.inputs]
        return [w.node(word, [i if k == "bool" else w.truth(i) for i, k in zip(inputs, kinds, strict=True)])]

    return entry


for _name, _word in {"logical_not": "Not", "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items():
    says(_name)(_truth(_word))


@says("where")
def _where(w, step, inputs):
    a, b, condition = inputs
    return [w.node("Where", [condition, a, b])]


@says("ne")
def _ne(w, step, inputs):
    return [w.node("Not", [w.node("Equal", inputs)])]


def _scaled(w, step, inputs):
    """The second operand times alpha."""
    alpha = step.options.get("alpha", 1)
    return inputs if alpha == 1 else [inputs[0], w.node("Mul", [inputs[1], w.like(step.inputs[1], alpha)])]


@says("add")
def _add(w, step, inputs):
    return [w.node("Add", _scaled(w, step, inputs))]


@says("sub")
def _sub(w, step, inputs):
    return [w.node("Sub", _scaled(w, step, inputs))]


@says("rsub")
def _rsub(w, step, inputs):
    alpha = step.options.get("alpha", 1)
    first = inputs[0] if alpha == 1 else w.node("Mul", [inputs[0], w.like(step.inputs[0], alpha)])
    return [w.node("Sub", [inputs[1], first])]


@says("pow_scalar")
def _pow(w, step, inputs):
    return [w.node("Pow", [inputs[0], w.like(step.inputs[0], step.options["exponent"])])]


@says("square")
def _square(w, step, inputs):
    return [w.node("Mul", [inputs[0], inputs[0]])]


@says("rsqrt")
def _rsqrt(w, step, inputs):
    return [w.node("Reciprocal", [w.node("Sqrt", inputs)])]


@says("log1p")
def _log1p(w, step, inputs):
    return [w.node("Log", [w.node("Add", [inputs[0], w.like(step.inputs[0], 1)])])]


@says("addcmul")
def _addcmul(w, step, inputs):
    product = w.node("Mul", inputs[1:])
    value = step.options.get("value", 1)
    return [w.node("Add", [inputs[0], w.node("Mul", [product, w.like(step.inputs[0], value)])])]


@says("cast")
def _cast(w, step, inputs):
    return [w.node("Cast", inputs, to=w.kind(step.options["dtype"]))]


# Activations ----------------------------------------------------------------------------------------------------------


@says("silu")
def _silu(w, step, inputs):
    return [w.node("Mul", [inputs[0], w.node("Sigmoid", inputs)])]


@says("gelu")
def _gelu(w, step, inputs):
    x, n = inputs[0], step.inputs[0]
    if step.options.get("approximate", "none") == "tanh":
        cube = w.node("Mul", [w.node("Mul", [x, x]), x])
        inner = w.node("Add", [x, w.node("Mul", [cube, w.like(n, 0.044715)])])
        bent = w.node("Tanh", [w.node("Mul", [inner, w.like(n, math.sqrt(2 / math.pi))])])
    else:
        bent = w.node("Erf", [w.node("Mul", [x, w.like(n, math.sqrt(0.5))])])
    return [w.node("Mul", [w.node("Mul", [x, w.like(n, 0.5)]), w.node("Add", [bent, w.like(n, 1)])])]


@says("elu")
def _elu(w, step, inputs):
    made = w.node("Elu", inputs, alpha=float(step.options.get("alpha", 1.0)))
    scale = step.options.get("scale", 1.0)
    return [made if scale == 1 else w.node("Mul", [made, w.like(step.inputs[0], scale)])]


@says("leaky_relu")
def _leaky(w, step, inputs):
    return [w.node("LeakyRelu", inputs, alpha=float(step.options["negative_slope"]))]


@says("softplus")
def _softplus(w, step, inputs):
    n = step.inputs[0]
    beta, threshold = (w.like(n, step.options.get(*pair)) for pair in (("beta", 1.0), ("threshold", 20.0)))
    scaled = w.node("Mul", [inputs[0], beta])
    bent = w.node("Div", [w.node("Softplus", [scaled]), beta])
    return [w.node("Where", [w.node("Greater", [scaled, threshold]), inputs[0], bent])]


@says("hardtanh", "clamp")
def _clip(w, step, inputs):
    low, high = (step.options.get(word, step.options.get(f"{word}_val")) for word in ("min", "max"))
    bounds = ["" if v is None else w.like(step.inputs[0], v) for v in (low, high)]
    return [w.node("Clip", [inputs[0], *bounds])]


@says("clamp_at_least", "clamp_min")
def _at_least(w, step, inputs):
    return [w.node("Max", inputs if len(inputs) > 1 else [inputs[0], w.like(step.inputs[0], step.options["min"])])]


@says("clamp_at_most", "clamp_max")
def _at_most(w, step, inputs):
    return [w.node("Min", inputs if len(inputs) > 1 else [inputs[0], w.like(step.inputs[0], step.options["max"])])]


@says("softmax")
def _softmax(w, step, inputs):
    if not w.shape(step.inputs[0]):
        w.refuse(step, "of a single number")
    return [w.node("Softmax", inputs, axis=step.options["dim"])]


@says("log_softmax")
def _log_softmax(w, step, inputs):
    if not w.shape(step.inputs[0]):
        w.refuse(step, "of a single number")
    return [w.node("LogSoftmax", inputs, axis=step.options["dim"])]


# Reductions -----------------------------------------------------------------------------------------------------------


def _reduced(word: str):
    def entry(w, step, inputs):
        dim = step.options.get("dim")
        axes = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
        keep = int(step.options.get("keepdim", False))
        return [w.node(word, [inputs[0], *([w.ints(axes)] if axes else [])], keepdims=keep)]

    return entry


for _name, _word in {"sum": "ReduceSum", "mean": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin",
                     "prod": "ReduceProd", "logsumexp": "ReduceLogSumExp"}.items():  # fmt: skip
    says(_name)(_reduced(_word))


@says("argmax", "argmin")
def _arg(w, step, inputs):
    word = "ArgMax" if step.name == "argmax" else "ArgMin"
    dim, keep = step.options.get("dim"), int(step.options.get("keepdim", False))
    if dim is None:
        return [w.node(word, [w.node("Reshape", [inputs[0], w.ints((-1,))])], axis=0, keepdims=0)]
    return [w.node(word, inputs, axis=dim, keepdims=keep)]


# Shapes ---------------------------------------------------------------------------------------------------------------


@says("view", "unsafe_view", "unsqueeze", "squeeze", "flatten", "unflatten")
def _reshape(w, step, inputs):
    return [w.node("Reshape", [inputs[0], w.ints(w.shape(step.outputs[0]))])]


@says("t")
def _t(w, step, inputs):
    two = len(w.shape(step.inputs[0])) == 2
    return [w.node("Transpose", inputs, perm=[1, 0]) if two else w.node("Identity", inputs)]


@says("transpose")
def _transpose(w, step, inputs):
    n = len(w.shape(step.inputs[0]))
    if not n:
        return [w.node("Identity", inputs)]
    perm, a, b = list(range(n)), step.options["dim0"] % n, step.options["dim1"] % n
    perm[a], perm[b] = perm[b], perm[a]
    return [w.node("Transpose", inputs, perm=perm)]


@says("permute")
def _permute(w, step, inputs):
    n = len(w.shape(step.inputs[0]))
    return [w.node("Transpose", inputs, perm=[d % n for d in step.options["dims"]])]


@says("expand")
def _expand(w, step, inputs):
    return [w.node("Expand", [inputs[0], w.ints(w.shape(step.outputs[0]))])]


@says("slice")
def _slice(w, step, inputs):
    o = step.options
    return [w.node("Slice", [inputs[0], *(w.ints((o[k],)) for k in ("start", "stop", "dim", "step"))])]


@says("select")
def _select(w, step, inputs):
    return [w.node("Gather", [inputs[0], w.number(step.options["index"])], axis=step.options["dim"])]


@says("split", "unbind")
def _pieces(w, step, inputs):
    dim, at, made = step.options["dim"], 0, []
    for out in step.outputs:
        if step.name == "unbind":
            made.append(w.node("Gather", [inputs[0], w.number(at)], axis=dim))
            at += 1
        else:
            end = at + w.shape(out)[dim]
            made.append(w.node("Slice", [inputs[0], w.ints((at,)), w.ints((end,)), w.ints((dim,))]))
            at = end
    return made


@says("cat")
def _cat(w, step, inputs):
    return [w.node("Concat", inputs, axis=step.options["dim"])]


@says("stack")
def _stack(w, step, inputs):
    dim = step.options["dim"]
    return [w.node("Concat", [w.node("Unsqueeze", [i, w.ints((dim,))]) for i in inputs], axis=dim)]


@says("index_select", "index")
def _index(w, step, inputs):
    """Elements by position, along one dimension.  ONNX counts negative positions from the end, too."""
    dims = step.options.get("dims", (step.options.get("dim"),))
    if len(dims) != 1:
        w.refuse(step, "takes positions in several dimensions at once")
    return [w.node("Gather", inputs, axis=dims[0])]


@says("checked")
def _checked(w, step, inputs):
    return [w.node("Identity", inputs)]


# Layers ---------------------------------------------------------------------------------------------------------------


@says("addmm")
def _addmm(w, step, inputs):
    c, a, b = inputs
    return [w.node("Gemm", [a, b, c], alpha=float(step.options["alpha"]), beta=float(step.options["beta"]))]


def _with_batch(entry):
    """For entries that want (N, C, ...): a sample alone is a batch of one."""

    def whole(w, step, inputs):
        sizes = step.options.get("kernel_size") or step.options["stride"]
        if len(w.shape(step.inputs[0])) == len(sizes) + 2:
            return entry(w, step, inputs)
        one = w.node("Unsqueeze", [inputs[0], w.ints((0,))])
        return [w.node("Squeeze", [out, w.ints((0,))]) for out in entry(w, step, [one, *inputs[1:]])]

    return whole


@says("convolution")
@_with_batch
def _convolution(w, step, inputs):
    o = step.options
    return [w.node("Conv", inputs, strides=list(o["stride"]), pads=[*o["padding"], *o["padding"]],
                   dilations=list(o["dilation"]), group=o["groups"])]  # fmt: skip


def _ceils(w, step, kernel, dilation) -> int:
    """Whether the sizes are rounded up: seen from the traced result."""
    o = step.options
    sizes = zip(w.shape(step.inputs[0])[-len(kernel) :], o["padding"], dilation, kernel, o["stride"], strict=True)
    floor = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in sizes)
    return int(floor != tuple(o["size"]))


@says("max_pool")
@_with_batch
def _max_pool(w, step, inputs):
    o = step.options
    ceil = _ceils(w, step, o["kernel_size"], o["dilation"])
    return [w.node("MaxPool", inputs, kernel_shape=list(o["kernel_size"]), strides=list(o["stride"]),
                   pads=[*o["padding"], *o["padding"]], dilations=list(o["dilation"]), ceil_mode=ceil)]  # fmt: skip


@says("avg_pool")
@_with_batch
def _avg_pool(w, step, inputs):
    o = step.options
    if o.get("divisor") is not None:
        w.refuse(step, "with divisor_override")
    ceil = _ceils(w, step, o["kernel_size"], [1] * len(o["kernel_size"]))
    pads, include = [*o["padding"], *o["padding"]], int(o["include"])
    return [w.node("AveragePool", inputs, kernel_shape=list(o["kernel_size"]), strides=list(o["stride"]), pads=pads,
                   ceil_mode=ceil, count_include_pad=include)]  # fmt: skip


def _given(w, step, *names) -> dict:
    """The arguments of a step that was a function, by name; tensors as the names of their values."""
    args, kwargs = step.arguments
    return {**dict(zip(names, args, strict=False)), **kwargs}


@says("batch_norm")
def _batch_norm(w, step, inputs):
    a = _given(w, step, "input", "mean", "var", "weight", "bias", "training", "momentum", "eps")
    if a.get("training"):
        w.refuse(step, "while training: call model.eval() first")
    channels = w.shape(a["mean"].number)
    scale = w.name(a["weight"].number) if a.get("weight") is not None else w.full(channels, 1.0)
    shift = w.name(a["bias"].number) if a.get("bias") is not None else w.full(channels, 0.0)
    mean, var = w.name(a["mean"].number), w.name(a["var"].number)
    x = w.name(a["input"].number)
    return [w.node("BatchNormalization", [x, scale, shift, mean, var], epsilon=float(a.get("eps", 1e-5)))]


@says("layer_norm")
def _layer_norm(w, step, inputs):
    a = _given(w, step, "input", "shape", "weight", "bias", "eps")
    shape = tuple(a["shape"])
    scale = w.name(a["weight"].number) if a.get("weight") is not None else w.full(shape, 1.0)
    shift = [w.name(a["bias"].number)] if a.get("bias") is not None else []
    x = w.name(a["input"].number)
    return [w.node("LayerNormalization", [x, scale, *shift], axis=-len(shape), epsilon=float(a.get("eps", 1e-5)))]


@says("embedding")
def _embedding(w, step, inputs):
    a = _given(w, step, "input", "weight", "padding_idx", "max_norm")
    if a.get("max_norm") is not None:
        w.refuse(step, "with max_norm, which writes to the table")
    return [w.node("Gather", [w.name(a["weight"].number), w.name(a["input"].number)], axis=0)]
