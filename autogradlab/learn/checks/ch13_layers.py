"""Tasks 1, 2, 3 and 7 of chapter 13's exercise: what the layers decide, and what a Function hands back."""

from . import ch13_fresh
from . import enumerated_dispatch as enumerated
from .task import Case, Check, Mistake, Raises, Task

LAYERS = 'chapter 13, "A call, layer by layer"'
OWN = 'chapter 13, "Operators of your own"'

# 1. layers_at_work ----------------------------------------------------------------------------------------------------

APART = Raises(
    "RuntimeError",
    "the operands lie on several devices",
    ("same device",),
    missed="The operands lie on several devices, and none is moved for you: raise a RuntimeError.",
)


def _layers(operands: list, modes: list) -> list | Raises:
    return enumerated.layers(operands, modes) or APART


layers_at_work = Check(
    Task(
        name="layers_at_work",
        parameters=("operands", "modes"),
        visible=(
            Case(([("cpu", True), ("cpu", False)], []), ["autograd", "cpu"], "one operand is enough"),
            Case(([("cpu", False), ("cpu", True)], []), ["autograd", "cpu"], "whichever it is"),
            Case(([("cuda", True)], ["no_grad", "autocast"]), ["autocast", "cuda"], "gradients are switched off"),
            Case(([("cpu", False), ("cpu", False)], []), ["cpu"]),
            Case(([("sim", True)], ["autocast"]), ["autocast", "autograd", "sim"]),
            Case(([("cpu", False), ("cuda", False)], []), APART),
        ),
        reference=_layers,
        fresh=ch13_fresh.calls,
        hidden="fresh operands and modes, some on two devices",
        mistakes=(
            Mistake(
                lambda operands, modes: _layers(operands, [mode for mode in modes if mode != "no_grad"]),
                "no_grad is on: autograd has nothing to do.",
            ),
            Mistake(
                lambda operands, modes: _layers(operands[:1], modes),
                "Only the first operand was looked at.",
            ),
            Mistake(
                lambda operands, modes: _layers([(d, all(w for _, w in operands)) for d, _ in operands], modes),
                "One operand that requires gradients is enough for a node.",
            ),
            Mistake(
                lambda operands, modes: modes + _layers(operands, [m for m in modes if m == "no_grad"]),
                "no_grad is a switch of the autograd layer, and no layer itself.",
            ),
            Mistake(
                lambda operands, modes: [x for x in _layers(operands, modes) if x != "autograd"] + ["autograd"],
                "The device's kernel comes last: the list is PyTorch's order, autocast, autograd, device.",
            ),
        ),
        hint="autocast if it is on; autograd if an operand asks and no_grad is not on; the device, which all share.",
        read=LAYERS,
    )
)


# 2. common_dtype ------------------------------------------------------------------------------------------------------

ORDER = enumerated.HOLDS

common_dtype = Check(
    Task(
        name="common_dtype",
        parameters=("dtypes",),
        visible=(
            Case((["float16", "bool", "float32"],), "float32"),
            Case((["int64", "bool"],), "int64"),
            Case((["float16", "int64"],), "float16", "the half is the wider kind, though it has fewer bits"),
            Case((["bfloat16", "int64", "float16"],), "float32", "neither half holds the other"),
            Case((["float16", "bfloat16"],), "float32"),
            Case((["float64", "float16", "bfloat16"],), "float64"),
            Case((["bfloat16"],), "bfloat16", "one alone stays"),
        ),
        reference=enumerated.common,
        fresh=ch13_fresh.mixtures,
        hidden="fresh mixtures",
        mistakes=(
            Mistake(lambda dtypes: max(dtypes, key=ORDER.index), "float16 and bfloat16 together make float32."),
            Mistake(
                lambda dtypes: (
                    "float32" if {"float16", "bfloat16"} <= set(dtypes) else max(dtypes, key=ORDER.index)
                ),
                "float64 is wider than the float32 that the two halves make.",
            ),
            Mistake(lambda dtypes: dtypes[0], "The first dtype came back. The order of the operands does not matter."),
            Mistake(
                lambda dtypes: max(dtypes, key=lambda d: int("".join(c for c in d if c.isdigit()) or "8")),
                "Bits alone do not decide: every float is wider than every integer.",
            ),
            Mistake(lambda dtypes: min(dtypes, key=ORDER.index), "This is the narrowest; the widest wins."),
        ),
        hint="The widest in the order of the text, but the two halves together make float32.",
        read=LAYERS,
    )
)  # fmt: skip


# 3. autocast_dtypes ---------------------------------------------------------------------------------------------------


def _cast(policy: str, dtypes: list, low: str) -> list:
    return [enumerated.cast(policy, dtype, dtypes, low) for dtype in dtypes]


def _touching(touched: tuple, policy: str, dtypes: list, low: str) -> list:
    """Autocast with another idea of what it may touch."""
    if policy == "none":
        return list(dtypes)
    target = {"lower": low, "fp32": "float32", "promote": "float32" if "float32" in dtypes else low}[policy]
    return [target if dtype in touched else dtype for dtype in dtypes]


autocast_dtypes = Check(
    Task(
        name="autocast_dtypes",
        parameters=("policy", "dtypes", "low"),
        visible=(
            Case(("lower", ["float32", "int64"], "float16"), ["float16", "int64"], "integers stay"),
            Case(("lower", ["float16", "bfloat16"], "bfloat16"), ["bfloat16", "bfloat16"]),
            Case(("fp32", ["bfloat16", "float64"], "float16"), ["float32", "float64"], "float64 stays"),
            Case(("promote", ["float16", "float32"], "float16"), ["float32", "float32"]),
            Case(("promote", ["float16", "bfloat16"], "bfloat16"), ["bfloat16", "bfloat16"], "no float32 among them"),
            Case(("promote", ["int64", "float16"], "float16"), ["int64", "float16"]),
            Case(("none", ["float16", "float32"], "float16"), ["float16", "float32"]),
        ),
        reference=_cast,
        fresh=ch13_fresh.policies,
        hidden="fresh policies and operands",
        mistakes=(
            Mistake(
                lambda policy, dtypes, low: _touching((*ORDER[2:5], "int64", "bool"), policy, dtypes, low),
                "Integers were cast. Autocast touches floating point operands only.",
            ),
            Mistake(
                lambda policy, dtypes, low: _touching(ORDER[2:], policy, dtypes, low),
                "float64 was cast. Autocast leaves it alone.",
            ),
            Mistake(
                lambda policy, dtypes, low: _touching(("float32",), policy, dtypes, low),
                "The halves are touched too: fp32 lifts them, lower and promote may turn one half into the other.",
            ),
            Mistake(
                lambda policy, dtypes, low: _cast("fp32" if policy == "promote" else policy, dtypes, low),
                "promote takes float32 only if one of the operands is float32, else the low dtype.",
            ),
            Mistake(
                lambda policy, dtypes, low: _cast("none" if policy == "promote" else policy, dtypes, low),
                "promote brings all floating point operands to one dtype.",
            ),
            Mistake(
                lambda policy, dtypes, low: _cast("lower" if policy == "none" else policy, dtypes, low),
                'Under "none" the operator gets what it was given.',
            ),
        ),
        hint="One target dtype for the call; it replaces float16, bfloat16 and float32, and nothing else.",
        read=LAYERS,
    )
)


# 7. handed_back -------------------------------------------------------------------------------------------------------

COUNT = Raises(
    "RuntimeError",
    "one gradient for each input, but for trailing Nones",
    ("number of gradients",),
    missed="The number of gradients is not that of the inputs: raise a RuntimeError.",
)
SHAPE = Raises(
    "RuntimeError",
    "a needed gradient has its input's shape",
    ("invalid gradient",),
    missed="An input that needs a gradient got one of another shape: raise a RuntimeError.",
)
INPUTS = [((2,), False), ((2,), True)]


def _handed(inputs: list, returned: list) -> list | Raises:
    found = enumerated.handed(inputs, returned)
    return {"number of gradients": COUNT, "invalid gradient": SHAPE}[found] if isinstance(found, str) else found


def _renamed(old: str, new: str):
    def told(inputs: list, returned: list):
        words = enumerated.handed(inputs, returned)
        return words if isinstance(words, str) else [new if word == old else word for word in words]

    return told


def _unasked(args: tuple, value: object) -> str | None:
    """A list of words of another length tells itself."""
    inputs, _ = args
    if isinstance(value, list) and len(value) != len(inputs) and isinstance(enumerated.handed(*args), list):
        return "The answer has a word for each input of forward."
    return None


handed_back = Check(
    Task(
        name="handed_back",
        parameters=("inputs", "returned"),
        visible=(
            Case((INPUTS, [(2,), (2,)]), ["ignored", "filled"], "a gradient that nobody needs is no error"),
            Case((INPUTS, [(2,), None]), ["ignored", "missing"], "the silent fault"),
            Case((INPUTS, [None, (2,)]), ["nothing", "filled"]),
            Case((INPUTS, [None, (2,), None]), ["nothing", "filled"], "a trailing None too many"),
            Case((INPUTS, [(3,), (2,)]), ["ignored", "filled"], "its shape is not looked at"),
            Case((INPUTS, [(2,)]), COUNT),
            Case((INPUTS, [None, (2,), (2,)]), COUNT),
            Case((INPUTS, [None, (3,)]), SHAPE),
            Case(([((2,), True), (None, False)], [(2,), None]), ["filled", "nothing"], "a number among the inputs"),
        ),
        reference=_handed,
        fresh=ch13_fresh.returns,
        hidden="fresh inputs, counts, shapes and Nones",
        mistakes=(
            Mistake(
                _renamed("missing", "filled"),
                "None for an input that needs a gradient leaves its .grad None: missing.",
            ),
            Mistake(
                _renamed("missing", "nothing"),
                "This input needs a gradient: None is a fault here, though a silent one.",
            ),
            Mistake(_renamed("ignored", "filled"), "This input needs no gradient: what came for it is ignored."),
            Mistake(_renamed("ignored", "nothing"), "A gradient did come, and is ignored."),
        ),
        hint="Cut trailing Nones while there are too many; compare the counts; then a word for each pair.",
        read=OWN,
        explain=_unasked,
        raised=(
            (
                "RuntimeError",
                "No error belongs here: trailing Nones are allowed, and an input that needs no gradient may get any.",
            ),
        ),
    )
)
