"""torch.random: the state of the random numbers.  The generators are in ops/random.py."""

import contextlib

from .ops.random import (
    Generator,
    _defaults,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip


@contextlib.contextmanager
def fork_rng(devices=None, enabled: bool = True):
    """What is drawn inside leaves the state outside as it was, on every device."""
    if not enabled:
        yield
        return
    before = {generator: generator.get_state() for generator in _defaults.values()}
    try:
        yield
    finally:
        for generator, state in before.items():
            generator.set_state(state)
