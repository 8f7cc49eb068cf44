"""Datasets, samplers, batches."""

import collections

import numpy as np
import pytest

import autogradlab as torch
from autogradlab.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * i


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


def batches(loader):
    return [b.tolist() for b in loader]


def test_datasets():
    x, y = torch.arange(6.0).reshape(3, 2), torch.arange(3)
    pairs = TensorDataset(x, y)
    assert len(pairs) == 3 and pairs[1][0].tolist() == [2.0, 3.0] and pairs[1][1].item() == 1
    both = Squares(2) + Squares(3)
    assert isinstance(both, ConcatDataset) and len(both) == 5 and [both[i] for i in range(5)] == [0, 1, 0, 1, 4]
    assert both[-1] == 4 and Subset(both, [4, 0])[0] == 4 and len(Subset(both, [4, 0])) == 2
    assert StackDataset(Squares(2), Squares(2))[1] == (1, 1) and StackDataset(a=Squares(2))[1] == {"a": 1}
    chain = Stream(2) + Stream(1)
    assert isinstance(chain, ChainDataset) and list(chain) == [0, 1, 0] and len(chain) == 3
    assert Dataset[int] is Dataset
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(x, torch.ones(2))
    with pytest.raises(NotImplementedError):
        Dataset()[0]
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-6]


def test_random_split():
    torch.manual_seed(0)
    parts = random_split(Squares(10), [7, 3])
    assert sorted(i for p in parts for i in p.indices) == list(range(10)) and [len(p) for p in parts] == [7, 3]
    assert [len(p) for p in random_split(Squares(10), [0.55, 0.45])] == [6, 4]
    again = [random_split(Squares(10), [5, 5], torch.Generator().manual_seed(3))[0].indices for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(ValueError, match="does not equal the length"):
        random_split(Squares(10), [5, 4])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        random_split(Squares(10), [1.5, -0.5])


def test_samplers():
    data = Squares(5)
    assert list(SequentialSampler(data)) == [0, 1, 2, 3, 4]
    assert sorted(RandomSampler(data)) == [0, 1, 2, 3, 4]
    assert len(list(RandomSampler(data, num_samples=12))) == 12 and len(list(RandomSampler(data, True, 7))) == 7
    assert sorted(list(RandomSampler(data, num_samples=12))[:10]) == sorted([*range(5), *range(5)])
    assert sorted(SubsetRandomSampler([3, 9])) == [3, 9]
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0], 20)) == {1}
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]
    assert (
        list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]] and len(BatchSampler(range(5), 2, False)) == 3
    )
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]] and len(BatchSampler(range(5), 2, True)) == 2
    for wrong in (lambda: RandomSampler(data, num_samples=0), lambda: WeightedRandomSampler([1.0], 0),
                  lambda: BatchSampler(range(2), 0, False), lambda: BatchSampler(range(2), 1, 3)):  # fmt: skip
        with pytest.raises(ValueError, match="should be"):
            wrong()


def test_a_loader_in_order():
    loader = DataLoader(Squares(5), batch_size=2)
    assert batches(loader) == [[0, 1], [4, 9], [16]] and len(loader) == 3
    assert batches(DataLoader(Squares(5), batch_size=2, drop_last=True)) == [[0, 1], [4, 9]]
    assert list(DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    assert batches(DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert batches(DataLoader(Squares(5), batch_sampler=[[4, 0], [1]])) == [[16, 0], [1]]
    assert list(DataLoader(Squares(2), batch_size=2, collate_fn=sum)) == [1]
    assert list(DataLoader([10, 20, 30], batch_size=3))[0].tolist() == [10, 20, 30]


def test_the_same_seed_gives_the_same_order():
    def orders(seed):
        torch.manual_seed(seed)
        loader = DataLoader(Squares(20), batch_size=5, shuffle=True)
        return batches(loader), batches(loader)

    first, second = orders(1)
    assert (first, second) == orders(1) and first != second and first != orders(2)[0]
    assert sorted(sum(first, [])) == [i * i for i in range(20)]
    own = [batches(DataLoader(Squares(9), shuffle=True, generator=torch.Generator().manual_seed(5))) for _ in range(2)]
    assert own[0] == own[1]


Point = collections.namedtuple("Point", "x y")


def test_collating():
    made = default_collate([{"a": torch.ones(2), "b": (1, 2.5)}, {"a": torch.zeros(2), "b": (3, 4.5)}])
    assert made["a"].tolist() == [[1.0, 1.0], [0.0, 0.0]] and type(made["b"]) is list  # as PyTorch
    assert made["b"][0].tolist() == [1, 3] and made["b"][1].dtype is torch.float64
    assert default_collate(["a", "b"]) == ["a", "b"]
    assert default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert default_collate([np.ones(2), np.ones(2)]).shape == (2, 2)
    point = default_collate([Point(1, 2), Point(3, 4)])
    assert isinstance(point, Point) and point.y.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [3]])
    with pytest.raises(TypeError, match="collate_fn"):
        default_collate([object()])


def test_workers_are_this_process():
    with pytest.warns(UserWarning, match="num_workers=2 loads in this process"):
        loader = DataLoader(Squares(4), batch_size=2, num_workers=2, pin_memory=True, persistent_workers=True)
    assert batches(loader) == [[0, 1], [4, 9]] and get_worker_info() is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"num_workers": -1}, "non-negative"),
        ({"shuffle": True, "sampler": [0]}, "mutually exclusive"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "mutually exclusive"),
        ({"batch_size": 0}, "positive integer"),
        ({"prefetch_factor": 2}, "multiprocessing"),
        ({"persistent_workers": True}, "num_workers > 0"),
        ({"timeout": -1}, "non-negative"),
    ],
)
def test_what_a_loader_refuses(words, says):
    with pytest.raises(ValueError, match=says):
        DataLoader(Squares(4), **words)
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(4), shuffle=True)


def test_the_parts_are_there_by_attribute():
    assert torch.utils.data.DataLoader is DataLoader and torch.utils.checkpoint.checkpoint
    with pytest.raises(AttributeError, match="checkpoint, data"):
        getattr(torch.utils, "nothing")  # noqa: B009
