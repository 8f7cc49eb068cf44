"""Random programs on both engines: after each step, and after backward, everything must be alike."""

import os
import random

import pytest
from worlds import MOVES, SHAPES, pair, total, unlike

FIRST = int(os.environ.get("ORACLE_SEED", "0"))  # the first of the seeds: another number, other programs
PROGRAMS, GROUP = 500, 50


def program(seed: int) -> tuple[list, list]:
    """Tensors to start from, and steps."""
    draw = random.Random(seed)
    start = [(draw.choice(SHAPES), draw.random() < 0.7) for _ in range(draw.randint(1, 3))]
    names = list(MOVES)
    steps = [(draw.choice(names), *(draw.randrange(10**6) for _ in range(3))) for _ in range(draw.randint(2, 9))]
    return start, steps


def compare(seed: int) -> None:
    start, steps = program(seed)
    worlds = pair()
    draw = random.Random(seed)
    for shape, wanted in start:
        numbers = [round(draw.gauss(0, 1), 2) for _ in range(24)]
        for world in worlds:
            world.create(shape, numbers, wanted)
    done = []
    for step in steps:
        done.append(step[0])
        theirs, mine = (world.move(*step) for world in worlds)
        assert theirs == mine, f"seed {seed}, {done}: PyTorch {theirs}, here {mine}"
        if theirs != "ok":
            return  # what a refused write has done to PyTorch's tensors is its own affair
        assert not (how := unlike(worlds[0].look(), worlds[1].look())), f"seed {seed}, {done}: {how}"
    theirs, mine = (world.take(lambda w: total(w).backward()) for world in worlds)
    assert theirs == mine, f"seed {seed}, {done}, backward: PyTorch {theirs}, here {mine}"
    assert not (how := unlike(worlds[0].look(), worlds[1].look())), f"seed {seed}, {done}, backward: {how}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(PROGRAMS // GROUP))
def test_random_programs(group, record_property):
    if not group:
        record_property("random programs", f"seeds {FIRST} to {FIRST + PROGRAMS - 1}")
    for seed in range(FIRST + group * GROUP, FIRST + (group + 1) * GROUP):
        compare(seed)


if __name__ == "__main__":  # python test_programs.py 1000 3000: which seeds in that range differ, and how
    import sys
    import warnings

    warnings.simplefilter("ignore")
    for seed in range(*map(int, sys.argv[1:3])):
        try:
            compare(seed)
        except AssertionError as error:
            print(str(error)[:600])
