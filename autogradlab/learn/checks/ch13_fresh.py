"""Fresh random arguments for the hidden checks of chapter 13's exercise."""

import random

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def calls(rng: random.Random) -> list[tuple]:
    """For layers_at_work; every fourth with operands on two devices."""
    found = []
    for n in range(26):
        device = rng.choice(["cpu", "cuda", "sim"])
        operands = [(device, rng.random() < 0.4) for _ in range(rng.randint(1, 3))]
        if n % 4 == 3:
            operands.insert(rng.randint(0, len(operands)), ("xla", rng.random() < 0.4))
        found.append((operands, rng.sample(["autocast", "no_grad"], rng.randint(0, 2))))
    return found


def mixtures(rng: random.Random) -> list[tuple]:
    """For common_dtype."""
    return [(rng.choices(["bool", "int64", *FLOATS], k=rng.randint(1, 4)),) for _ in range(28)] + [
        (rng.sample(["float16", "bfloat16", "int64"], 3),)
    ]


def policies(rng: random.Random) -> list[tuple]:
    """For autocast_dtypes; PyTorch refuses to promote float64 there, so it is left out."""
    found = []
    for _ in range(30):
        policy = rng.choice(["lower", "fp32", "promote", "promote", "none"])
        among = ["int64", *FLOATS[:3], *([] if policy == "promote" else ["float64"])]
        found.append((policy, rng.choices(among, k=rng.randint(1, 4)), rng.choice(FLOATS[:2])))
    return found


def program(rng: random.Random) -> list[tuple[tuple[str, ...], str]]:
    """Steps on a few given tensors and the results so far."""
    names, steps = list("abcd")[: rng.randint(1, 4)], []
    for n in range(rng.randint(1, 7)):
        steps.append((tuple(rng.choices(names[-4:], k=rng.choice([1, 2, 2, 3]))), f"t{n}"))
        names.append(f"t{n}")
    return steps


def programs(rng: random.Random) -> list[tuple]:
    """For accounts_as_written."""
    return [(program(rng), rng.choice([4, 400, 4000])) for _ in range(22)]


def fusions(rng: random.Random) -> list[tuple]:
    """For accounts_fused: the last result is needed, often one more, and at times an earlier one alone."""
    found = []
    for n in range(26):
        steps = program(rng)
        outputs = [output for _, output in steps]
        needed = [outputs[-1]] if n % 3 else rng.sample(outputs, min(len(outputs), rng.randint(0, 2)))
        if n % 3 == 1 and len(outputs) > 1:
            needed.append(rng.choice(outputs[:-1]))
        found.append((steps, needed, rng.choice([4, 400])))
    return found


def queues(rng: random.Random) -> list[tuple]:
    """For who_waits: small kernels, large ones, and both in turns."""
    found: list[tuple] = [([8.0], 5.0, 2.0, 4.0)]
    for _ in range(26):
        sizes = [float(rng.choice([4, 8, 60, 100])) for _ in range(rng.randint(1, 7))]
        found.append((sizes, float(rng.choice([3, 5, 6])), float(rng.choice([1, 2])), float(rng.choice([2, 4]))))
    return found


def returns(rng: random.Random) -> list[tuple]:
    """For handed_back: right ones, other counts, other shapes, and Nones; None for what is no tensor."""
    found = []
    for n in range(30):
        inputs: list = []
        for _ in range(rng.randint(1, 4)):
            inputs.append((None, False) if rng.random() < 0.2 else ((rng.randint(2, 4),), rng.random() < 0.6))
        returned = [shape if shape and rng.random() < 0.75 else None for shape, _ in inputs]
        if n % 5 == 1:
            returned.append(rng.choice([None, None, (2,)]))
        if n % 5 == 2:
            returned.pop()
        tensors = [place for place, (shape, _) in enumerate(inputs) if shape]
        if n % 5 == 3 and tensors:
            returned[rng.choice(tensors)] = (7,)
        found.append((inputs, returned))
    return found
