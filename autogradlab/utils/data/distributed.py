"""DistributedSampler: each rank its own part of a dataset, a new order every epoch, all parts of one length.

https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

import math

from autogradlab import distributed
from autogradlab.ops.random import Generator, randperm

from .sampler import Sampler


class DistributedSampler(Sampler):
    """The numbers of one rank's samples.

    num_replicas, rank: by default those of the process group.  drop_last: leave out what does not divide evenly; else
    the first samples come a second time.  Call set_epoch(n) before each epoch, or the order stays the same.
    """

    def __init__(self, dataset, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False):  # fmt: skip
        num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}].")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0

    @property
    def num_samples(self) -> int:
        """How many samples each rank gets."""
        share = len(self.dataset) / self.num_replicas
        return math.floor(share) if self.drop_last else math.ceil(share)

    @property
    def total_size(self) -> int:
        """How many all ranks get together."""
        return self.num_samples * self.num_replicas

    def __iter__(self):
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = randperm(len(order), generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        while order and len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffle otherwise from now on: every rank must name the same epoch."""
        self.epoch = epoch
