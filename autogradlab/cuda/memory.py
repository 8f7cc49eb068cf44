"""Memory of NVIDIA GPUs, in bytes, as CuPy's pool counts it; 0 where no GPU has been used."""

from autogradlab import devices
from autogradlab.backends import cupy


def _index(device) -> int:
    found = None if device is None else devices.device(device).index
    return cupy.need().cuda.Device().id if found is None else found


def memory_allocated(device=None) -> int:
    """Bytes that tensors on the GPU hold now."""
    return cupy.used(_index(device))[0] if cupy.loaded() else 0


def max_memory_allocated(device=None) -> int:
    """The most that was held since the start, or since reset_peak_memory_stats()."""
    return cupy.used(_index(device))[1] if cupy.loaded() else 0


def reset_peak_memory_stats(device=None) -> None:
    """Count the most anew from now."""
    if cupy.loaded():
        cupy.forget_peak(_index(device))


def memory_reserved(device=None) -> int:
    """Bytes that the pool has taken from the GPU, in use or kept for later."""
    if not cupy.loaded():
        return 0
    with cupy.need().cuda.Device(_index(device)):
        return cupy.need().get_default_memory_pool().total_bytes()


def empty_cache() -> None:
    """Give what the pool keeps for later back to the GPU."""
    if cupy.loaded():
        cupy.need().get_default_memory_pool().free_all_blocks()


def mem_get_info(device=None) -> tuple[int, int]:
    """(free, all) bytes of the GPU."""
    return tuple(cupy.need().cuda.Device(_index(device)).mem_info)
