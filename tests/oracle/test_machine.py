"""A state machine that drives both engines by any mixture of steps, and compares everything after each.

Programs grow by views, arithmetic, writes, modes, hooks and backward passes, in an order that hypothesis makes up; a
difference is shrunk to a short program.
"""

import os

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from worlds import ARITHMETIC, SHAPES, VIEWS, WRITES, alike, pair, unlike

SEED = int(os.environ.get("ORACLE_SEED", "0"))
EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "500"))

place, small = st.integers(0, 11), st.integers(0, 41)
NUMBERS = st.lists(st.integers(-20, 20).map(lambda n: n / 8), min_size=24, max_size=24)


class BothEngines(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.worlds = pair()
        self.over = False

    def both(self, do):
        """The same on both engines.  Where both refuse and PyTorch has half done it all the same, the program ends."""
        theirs, mine = (world.take(do) for world in self.worlds)
        assert theirs == mine, f"PyTorch: {theirs}, here: {mine}"
        self.over = theirs != "ok" and bool(unlike(*(world.look() for world in self.worlds)))

    def going(self) -> bool:
        return not self.over and 0 < len(self.worlds[0].tensors) < 12

    @initialize(numbers=NUMBERS, shape=st.sampled_from(SHAPES[:5]))
    def start(self, numbers, shape):
        for world in self.worlds:
            world.create(shape, numbers, True)

    @precondition(going)
    @rule(numbers=NUMBERS, shape=st.sampled_from(SHAPES), wanted=st.booleans())
    def create(self, numbers, shape, wanted):
        for world in self.worlds:
            world.create(shape, numbers, wanted)

    def step(self, moves, name, i, j, k, grad=True):
        def do(world):
            a, b = (world.tensors[n % len(world.tensors)] for n in (i, j))
            if grad:
                return moves[name](world.m, a, b, k)
            with world.m.no_grad():
                return moves[name](world.m, a, b, k)

        self.both(do)

    @precondition(going)
    @rule(name=st.sampled_from(sorted(VIEWS)), i=place, k=small)
    def view(self, name, i, k):
        self.step(VIEWS, name, i, i, k)

    @precondition(going)
    @rule(name=st.sampled_from(sorted(ARITHMETIC)), i=place, j=place, k=small)
    def compute(self, name, i, j, k):
        self.step(ARITHMETIC, name, i, j, k)

    @precondition(going)
    @rule(name=st.sampled_from(sorted(WRITES)), i=place, j=place, k=small)
    def write(self, name, i, j, k):
        self.step(WRITES, name, i, j, k)

    @precondition(going)
    @rule(name=st.sampled_from(sorted({**ARITHMETIC, **WRITES})), i=place, j=place, k=small)
    def without_gradients(self, name, i, j, k):
        self.step({**ARITHMETIC, **WRITES}, name, i, j, k, grad=False)

    @rule()
    def rest(self):
        """There is always something that can be done."""

    # Hooks ------------------------------------------------------------------------------------------------------------

    @precondition(going)
    @rule(i=place, factor=st.sampled_from([None, 2.0]))
    def tensor_hook(self, i, factor):
        def do(world):
            def hook(g):
                world.saw("tensor", i, g)
                return None if factor is None else g * factor

            world.handles.append(world.tensors[i % len(world.tensors)].register_hook(hook))

        self.both(do)

    @precondition(going)
    @rule(i=place, before=st.booleans())
    def node_hook(self, i, before):
        def do(world):
            node = world.tensors[i % len(world.tensors)].grad_fn
            if node is None:
                return
            if before:
                world.handles.append(node.register_prehook(lambda gs: world.saw("before", i, *gs)))
            else:
                world.handles.append(node.register_hook(lambda _, gs: world.saw("after", i, *gs)))

        self.both(do)

    @precondition(going)
    @rule(i=place)
    def accumulated_hook(self, i):
        def do(world):
            t = world.tensors[i % len(world.tensors)]
            world.handles.append(t.register_post_accumulate_grad_hook(lambda t: world.saw("accumulated", i, t.grad)))

        self.both(do)

    @precondition(going)
    @rule(i=place)
    def retain(self, i):
        self.both(lambda world: world.tensors[i % len(world.tensors)].retain_grad())

    @precondition(lambda self: self.going() and self.worlds[0].handles)
    @rule(n=small)
    def remove_hook(self, n):
        self.both(lambda world: world.handles[n % len(world.handles)].remove())

    # Backward ---------------------------------------------------------------------------------------------------------

    @precondition(going)
    @rule(i=place, keep=st.booleans(), create=st.booleans())
    def backward(self, i, keep, create):
        def do(world):
            t = world.tensors[i % len(world.tensors)]
            (t * t).sum().backward(retain_graph=keep or create, create_graph=create)

        self.both(do)

    @precondition(going)
    @rule(i=place, j=place)
    def backward_to_some(self, i, j):
        def do(world):
            a, b = (world.tensors[n % len(world.tensors)] for n in (i, j))
            (a * a).sum().backward(inputs=[b], retain_graph=True)

        self.both(do)

    @precondition(going)
    @rule(i=place, j=place, create=st.booleans())
    def grad(self, i, j, create):
        def do(world):
            a, b = (world.tensors[n % len(world.tensors)] for n in (i, j))
            found = world.m.autograd.grad(
                (a * a).sum(), b, retain_graph=True, create_graph=create, allow_unused=True
            )  # fmt: skip
            return None if found[0] is None else found[0] * 1  # how often an engine wrote to it is its own affair

        self.both(do)

    @precondition(going)
    @rule(i=place, in_place=st.booleans())
    def zero_grad(self, i, in_place):
        def do(world):
            t = world.tensors[i % len(world.tensors)]
            if not t.is_leaf or t.grad is None:
                return
            if in_place:
                t.grad.detach().zero_()
            else:
                t.grad = None

        self.both(do)

    # What must hold ---------------------------------------------------------------------------------------------------

    @invariant()
    def they_are_alike(self):
        if self.over:
            return
        theirs, mine = self.worlds
        assert not (how := unlike(theirs.look(), mine.look())), how
        assert alike(tuple(theirs.log), tuple(mine.log)), f"hooks saw\n  PyTorch {theirs.log}\n  here    {mine.log}"


@pytest.mark.filterwarnings("ignore")
def test_both_engines(record_property):
    record_property("state machine", f"{EXAMPLES} examples, ORACLE_SEED={SEED}")
    run_state_machine_as_test(
        seed(SEED)(BothEngines),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=14,
            deadline=None,
            derandomize=False,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),  # fmt: skip
    )
