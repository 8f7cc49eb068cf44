"""torch.utils.data: what holds samples, in which order they come, and how they become batches.

https://pytorch.org/docs/stable/data.html
"""

import importlib

from .collate import default_collate, default_convert
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .loader import DataLoader, get_worker_info
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler",
    "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip


def __getattr__(name: str):
    if name in ("distributed", "DistributedSampler"):  # needs several processes' names, loaded when asked for
        found = importlib.import_module("autogradlab.utils.data.distributed")
        return found if name == "distributed" else found.DistributedSampler
    raise AttributeError(f"module 'autogradlab.utils.data' has no attribute {name!r}")
