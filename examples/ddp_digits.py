"""Handwritten digits learned by several processes, and by one for comparison.

mpiexec -n 4 python -m mpi4py examples/ddp_digits.py [--epochs 3] [--batch 64]
"""

import argparse
import time

from sklearn.datasets import load_digits

import autogradlab as torch
import autogradlab.distributed as dist
import autogradlab.nn.functional as F
from autogradlab import nn
from autogradlab.nn.parallel import DistributedDataParallel
from autogradlab.utils.data import DataLoader, TensorDataset
from autogradlab.utils.data.distributed import DistributedSampler


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def train(net, batches, epochs: int) -> float:
    """The last loss.  batches(epoch): that epoch's batches."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    loss = None
    for epoch in range(epochs):
        for x, y in batches(epoch):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--batch", type=int, default=64, help="of all ranks together")
    options = options.parse_args()
    dist.init_process_group("mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    pixels, digits = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(digits))

    sampler = DistributedSampler(data, seed=1, drop_last=True)
    loader = DataLoader(data, batch_size=options.batch // size, sampler=sampler, drop_last=True)

    def mine(epoch):
        sampler.set_epoch(epoch)
        return loader

    net = DistributedDataParallel(model())
    began = time.perf_counter()
    train(net, mine, options.epochs)
    seconds = time.perf_counter() - began

    if rank == 0:  # the same batches in one process: every rank's share, side by side

        def whole(epoch):
            parts = [DistributedSampler(data, size, r, seed=1, drop_last=True) for r in range(size)]
            for part in parts:
                part.set_epoch(epoch)
            rows = [list(part) for part in parts]
            share = options.batch // size
            for start in range(0, len(rows[0]) - share + 1, share):
                yield data[torch.tensor([i for row in rows for i in row[start : start + share]])]

        alone = model()
        train(alone, whole, options.epochs)
        apart = max((a - b).abs().max().item() for a, b in zip(net.parameters(), alone.parameters(), strict=True))
        with torch.no_grad():
            right = (net.module(data.tensors[0]).argmax(1) == data.tensors[1]).float().mean().item()
        print(f"{size} ranks, {options.epochs} epochs in {seconds:.2f} s: {right:.1%} of all digits recognised")
        print(f"largest difference from one process on the whole batch: {apart:.1e}")
        print(net.timeline())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
