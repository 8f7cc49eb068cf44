"""DataLoader: batches of a dataset, in the order of a sampler.

Everything is loaded in the process itself.  num_workers is accepted, with a warning: the batches are the same, and come
in the same order.
"""

import warnings

from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler


def get_worker_info():
    """None: there are no worker processes."""
    return None


class DataLoader:
    """Iterate over a dataset in batches.

    shuffle: a new random order in each epoch.  sampler, batch_sampler: another order.  batch_size=None: single samples.
    drop_last: leave out a last batch that is shorter.  collate_fn: how a list of samples becomes a batch.  generator:
    what shuffle draws from, by default torch's random numbers: the same seed gives the same order.  pin_memory,
    timeout, prefetch_factor, persistent_workers, worker_init_fn: accepted, and without effect here.
    """

    def __init__(
        self, dataset: Dataset, batch_size: int | None = 1, shuffle: bool | None = None, sampler=None,
        batch_sampler=None, num_workers: int = 0, collate_fn=None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "",
        in_order: bool = True,
    ):  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        iterable = isinstance(dataset, IterableDataset)
        _check_order(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.num_workers, self.pin_memory, self.timeout = dataset, num_workers, pin_memory, timeout
        self.worker_init_fn, self.generator, self.drop_last = worker_init_fn, generator, drop_last
        self.batch_size = None if batch_sampler is not None else batch_size
        self.prefetch_factor, self.persistent_workers, self.in_order = prefetch_factor, persistent_workers, in_order
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        if batch_sampler is None and batch_size is not None and not iterable:
            self.batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        batched = self.batch_sampler is not None or iterable and batch_size is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def __iter__(self):
        if isinstance(self.dataset, IterableDataset):
            yield from self._in_sequence()
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
        else:
            fetch = getattr(self.dataset, "__getitems__", None) or (lambda batch: [self.dataset[i] for i in batch])
            for batch in self.batch_sampler:
                yield self.collate_fn(fetch(batch))

    def _in_sequence(self):
        """Batches of what an iterable dataset gives."""
        if self.batch_size is None:
            yield from map(self.collate_fn, self.dataset)
            return
        batch = []
        for sample in self.dataset:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        """The number of batches."""
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to load in the process itself.")
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative: got {timeout}.")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing: num_workers is 0.")
    if num_workers and prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative.")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0.")
    if num_workers:
        warnings.warn(f"DataLoader: num_workers={num_workers} loads in this process all the same.", stacklevel=3)


def _check_order(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last) -> None:
    if iterable:
        for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None and value is not False:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, got {value}.")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle.")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last.")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last.")
