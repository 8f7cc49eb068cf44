"""Devices: "cpu", "cuda:0", "sim:1".  One object each, so that `is` compares them; its backend is loaded on first use.
(D1 5)
"""

import os

from . import backends


class device:
    """Where a tensor lies.  device("cuda:1"), device("cuda", 1), device("cpu")."""

    __slots__ = ("_backend", "index", "type")
    _made: dict = {}

    def __new__(cls, type, index: int | None = None):
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type  # as PyTorch: a bare number is an accelerator's
        if not isinstance(type, str):
            raise TypeError(f'device(): expected a name such as "cpu" or "cuda:0": got {type!r}.')
        kind, colon, number = type.partition(":")
        if kind not in backends.MODULES or (colon and (not number.isdigit() or index is not None)):
            raise RuntimeError(
                f"Expected one of {', '.join(backends.MODULES)} as device type, with an index such as cuda:0 if there "
                f"are "
                f"several: got the device string {type!r}."
            )
        index = int(number) if colon else index
        if kind == "cpu" and index not in (None, 0) or index is not None and index < 0:
            raise RuntimeError(f"device index out of range: there is no device {kind}:{index}.")
        made = cls._made.get((kind, index))
        if made is None:
            made = object.__new__(cls)
            made.type, made.index, made._backend = kind, index, None
            cls._made[kind, index] = made
        return made

    @property
    def backend(self):
        """The module that computes there.  Raises, with the reason, where there is none."""
        if self._backend is None:
            self._backend = backends.load(self.type, self.index)
        return self._backend

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (f", index={self.index})" if self.index is not None else ")")

    def __reduce__(self):
        return (device, (self.type, self.index))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


cpu = device("cpu")
assert cpu.backend  # loaded now: calls on the fast path do not ask


def resolve(where) -> device:
    """The device a tensor goes to: the default one for None, the first one where no index is given."""
    if where is None:
        return cpu
    found = device(where)
    if found.index is None and found.type != "cpu":
        return device(found.type, 0)
    return cpu if found.type == "cpu" else found


def accelerator() -> device:
    """cuda where there is a GPU, else the simulated accelerator; AUTOGRADLAB_ACCELERATOR=sim (or cuda) decides."""
    wanted = os.environ.get("AUTOGRADLAB_ACCELERATOR")
    if wanted:
        return resolve(wanted)
    return resolve("cuda") if cuda_available() else resolve("sim")


def count(kind: str) -> int:
    """How many devices of a kind there are here."""
    from .backends import cupy, simulated

    return {"cuda": cupy.device_count, "sim": lambda: simulated.DEVICES}.get(kind, lambda: 1)()


def cuda_available() -> bool:
    """Whether an NVIDIA GPU can be used here through CuPy."""
    from .backends import cupy

    return cupy.device_count() > 0
