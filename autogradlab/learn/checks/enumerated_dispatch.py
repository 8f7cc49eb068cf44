"""Right answers about dispatch and about kernels' accounts, found by tables and by looking again at every step."""

from fractions import Fraction
from itertools import combinations

# For two dtypes the one that holds both; what is missing is the larger of the two in the order of HOLDS.
HOLDS = ("bool", "int64", "float16", "bfloat16", "float32", "float64")
PAIRS = {frozenset(("float16", "bfloat16")): "float32"}


def common(dtypes: list[str]) -> str:
    """The smallest dtype such that every pair of the dtypes fits into it."""
    candidates = [PAIRS.get(frozenset(pair)) or max(pair, key=HOLDS.index) for pair in combinations(dtypes, 2)]
    return max([*candidates, *dtypes], key=HOLDS.index)


Steps = list[tuple[tuple[str, ...], str]]


def reaches(steps: Steps, name: str, needed: list[str]) -> bool:
    """Whether something needed is this value, or is computed from it."""
    return name in needed or any(name in inputs and reaches(steps, output, needed) for inputs, output in steps)


def fused(steps: Steps, needed: list[str], nbytes: int) -> tuple[int, int]:
    """Each step is asked by itself whether it counts."""
    alive = [step for step in steps if reaches(steps, step[1], needed)]
    outputs = [output for _, output in alive]
    outside = {name for inputs, _ in alive for name in inputs if name not in outputs}
    return (1 if alive else 0), (len(outside) + sum(output in needed for output in outputs)) * nbytes


def when(kernels: list[float], launch: float, shortest: float, rate: float) -> tuple[float, float]:
    """The longest way to the end: handed over up to some kernel, from there on without a pause."""
    takes = [max(Fraction(shortest), Fraction(nbytes) / Fraction(rate)) for nbytes in kernels]
    if not takes:
        return 0.0, 0.0
    ends = [(k + 1) * Fraction(launch) + sum(takes[k:]) for k in range(len(takes))]
    end = max(ends)
    return float(end), float(end - Fraction(launch) - sum(takes))


def layers(operands: list, modes: list) -> list[str] | None:
    """None if the operands lie apart."""
    device, wants = operands[0][0], [asks for _, asks in operands if asks]
    if any(other != device for other, _ in operands):
        return None
    return (
        ["autocast"] * modes.count("autocast") + ["autograd"] * (bool(wants) and not modes.count("no_grad")) + [device]
    )


def cast(policy: str, dtype: str, dtypes: list[str], low: str) -> str:
    """What becomes of one operand."""
    if policy == "none" or dtype in ("float64", "int64", "bool"):
        return dtype
    promoted = "float32" if "float32" in dtypes else low
    return {"lower": low, "fp32": "float32", "promote": promoted}[policy]


def handed(inputs: list, returned: list) -> list[str] | str:
    """A word for each input, or what the error says."""
    if len(returned) < len(inputs) or any(got is not None for got in returned[len(inputs) :]):
        return "number of gradients"
    pairs = [(shape, needs, got) for (shape, needs), got in zip(inputs, returned, strict=False)]
    if any(needs and got not in (None, shape) for shape, needs, got in pairs):
        return "invalid gradient"
    words = {(True, True): "missing", (True, False): "filled", (False, True): "nothing", (False, False): "ignored"}
    return [words[needs, got is None] for _, needs, got in pairs]
