"""Switches of a library that is not used here.

Programs set them; they are accepted, keep their value, and change nothing: CuPy calls its own kernels.
"""

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True


def is_available() -> bool:
    """Whether cuDNN is used: never, here."""
    return False


def version() -> None:
    """cuDNN's version: there is none."""
    return None
