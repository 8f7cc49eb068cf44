"""Several processes: groups, collectives, and DistributedDataParallel.  (D3 4.2, D5 4.3)

Run as `mpiexec -n 4 python -m mpi4py script.py`; a process started alone is a world of one.
https://pytorch.org/docs/stable/distributed.html
"""

from .collectives import (  # noqa: F401
    ReduceOp,
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    barrier,
    broadcast,
    broadcast_object_list,
    isend,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    send,
)
from .group import (  # noqa: F401
    GroupMember,
    ProcessGroup,
    Work,
    destroy_process_group,
    get_backend,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    is_mpi_available,
    new_group,
)
