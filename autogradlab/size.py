"""Size, the shape of a tensor, and the named tuples that operators with several outputs return."""

import collections

from . import shapes


class Size(tuple):
    """A shape: a tuple that prints as PyTorch's and knows its number of elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The product of the sizes."""
        return shapes.numel(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))

    def __getitem__(self, key):
        got = tuple.__getitem__(self, key)
        return Size(got) if isinstance(key, slice) else got


def return_type(name: str, fields: str) -> type:
    """The named tuple an operator with several outputs returns; prints as PyTorch's."""

    def text(self) -> str:
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in self._asdict().items()) + ")"

    return type(name, (collections.namedtuple(name, fields),), {"__slots__": (), "__repr__": text})
