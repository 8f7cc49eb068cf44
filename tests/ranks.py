"""What ranks do in tests/test_distributed.py, which starts them: mpiexec -n N python -m mpi4py tests/ranks.py NAME.

Every check runs on every rank; a rank that fails ends all with its message.
"""

import datetime
import sys
import time
import warnings

import numpy as np

import autogradlab as torch
import autogradlab.distributed as dist
import autogradlab.nn.functional as F
from autogradlab import nn
from autogradlab.nn.parallel import DistributedDataParallel

dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=20))
RANK, SIZE = dist.get_rank(), dist.get_world_size()
EVERYONE = range(SIZE)


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


def mine(dtype=torch.float32, n=3):
    return torch.arange(n).to(dtype) + RANK


def collectives():
    for dtype in (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.float16, torch.bfloat16):
        t = mine(dtype)
        dist.all_reduce(t)
        assert t.dtype is dtype and t.tolist() == [SIZE * k + sum(EVERYONE) for k in range(3)], t
    for op, f in (("MAX", max), ("MIN", min), ("PRODUCT", lambda v: np.prod(list(v)).item()),
                  ("AVG", lambda v: sum(v) / SIZE)):  # fmt: skip
        t = mine()
        dist.all_reduce(t, getattr(dist.ReduceOp, op))
        np.testing.assert_allclose(t.numpy(), [f([k + r for r in EVERYONE]) for k in range(3)], rtol=1e-6)
    bits = torch.tensor([1 << RANK])
    dist.all_reduce(bits, dist.ReduceOp.BOR)
    assert bits.item() == 2**SIZE - 1
    part = torch.zeros(3, 4)
    dist.all_reduce(part.t().add_(RANK))  # a view that is not contiguous
    assert part.eq(sum(EVERYONE)).all() and part._version >= 1
    t = mine(torch.bfloat16)
    dist.broadcast(t, src=SIZE - 1)
    assert t.tolist() == [k + SIZE - 1 for k in range(3)]
    parts = [torch.zeros(3) for _ in EVERYONE]
    dist.all_gather(parts, mine())
    assert [p.tolist() for p in parts] == [[r, r + 1, r + 2] for r in EVERYONE]
    flat = torch.zeros(SIZE * 3)
    dist.all_gather_into_tensor(flat, mine())
    assert flat.tolist() == [r + k for r in EVERYONE for k in range(3)]
    out = torch.zeros(2)
    dist.reduce_scatter(out, [torch.full((2,), float(10 * i + RANK)) for i in EVERYONE])
    assert out.tolist() == [10 * RANK * SIZE + sum(EVERYONE)] * 2
    dist.reduce_scatter_tensor(out, torch.arange(2.0 * SIZE), dist.ReduceOp.AVG)
    assert out.tolist() == [2 * RANK, 2 * RANK + 1]
    t = mine()
    dist.reduce(t, dst=0)
    assert t.tolist() == ([SIZE * k + sum(EVERYONE) for k in range(3)] if RANK == 0 else mine().tolist())
    names = [None] * SIZE
    dist.all_gather_object(names, {"rank": RANK})
    assert names == [{"rank": r} for r in EVERYONE]
    words = ["from 0", 3] if RANK == 0 else [None, None]
    dist.broadcast_object_list(words)
    assert words == ["from 0", 3]
    if SIZE > 1:
        if RANK == 0:
            for other in EVERYONE[1:]:
                dist.send(mine() * other, other)
            assert sorted(dist.recv(torch.zeros(1)) for _ in EVERYONE[1:]) == list(EVERYONE[1:])
        else:
            t = torch.zeros(3)
            assert dist.recv(t, src=0) == 0 and t.tolist() == [0, RANK, 2 * RANK]
            dist.send(torch.tensor([1.0]), 0)
    dist.barrier()


def groups():
    if SIZE == 1:
        return
    pair = dist.new_group([0, 1])
    assert (pair == dist.GroupMember.NON_GROUP_MEMBER) == (RANK > 1)
    t = torch.ones(1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dist.all_reduce(t, group=pair)  # all ranks run the same lines
        dist.barrier(pair)
    assert [t.item(), dist.get_world_size(pair)] == ([2, 2] if RANK < 2 else [1, -1])
    assert len(told) == (0 if RANK < 2 else 2) and (RANK < 2 or dist.get_rank(pair) == -1)
    if RANK < 2:
        dist.destroy_process_group(pair)
        raises(ValueError, "was destroyed", lambda: dist.barrier(pair))
        raises(ValueError, "was destroyed before", lambda: dist.destroy_process_group(pair))
    raises(RuntimeError, "mismatch between collectives", lambda: dist.new_group([0] if RANK else [1]))
    hasty = dist.new_group(timeout=datetime.timedelta(seconds=0.2))  # its own patience, not the world's
    if RANK == 0:
        raises(RuntimeError, "waited 0:00:00.200000", lambda: dist.all_reduce(t, group=hasty))
    dist.barrier()


def handles():
    a, b = torch.ones(200_000), torch.full((3,), float(RANK))
    works = [dist.all_reduce(a, async_op=True), dist.broadcast(b, 0, async_op=True)]
    a_before = a.clone()
    works[1].wait()
    assert works[0].is_completed() and b.tolist() == [0, 0, 0], "they run in the order given"
    assert a.equal(a_before), "the result is there after wait()"
    works[0].wait()
    assert a.eq(SIZE).all() and works[0].ended >= works[0].began and works[0].exception() is None
    there = torch.ones(2, device="sim:0")
    dist.all_reduce(there)
    assert there.tolist() == [SIZE, SIZE] and there.device.type == "sim"


def refusals():
    raises(ValueError, "twice", lambda: dist.init_process_group("mpi"))
    raises(TypeError, "of type torch.Tensor but got list", lambda: dist.all_reduce([1.0]))
    raises(TypeError, "ReduceOp", lambda: dist.all_reduce(mine(), "sum"))
    raises(RuntimeError, "BOR", lambda: dist.all_reduce(mine(), dist.ReduceOp.BOR))
    raises(ValueError, f"needs {SIZE} tensors", lambda: dist.all_gather([mine()] * (SIZE + 1), mine()))
    raises(ValueError, "identical shapes", lambda: dist.all_gather([torch.zeros(2)] * SIZE, mine()))
    raises(ValueError, "world_size times", lambda: dist.all_gather_into_tensor(torch.zeros(1), mine()))
    raises(ValueError, "rank 99", lambda: dist.broadcast(mine(), 99))
    raises(ValueError, "must be different ones of", lambda: dist.new_group([0, 0]))
    raises(TypeError, "expected a process group", lambda: dist.all_reduce(torch.ones(1), group=3))
    raises(TypeError, "expected a list as `tensor_list`", lambda: dist.all_gather(torch.ones(SIZE, 1), torch.ones(1)))
    raises(TypeError, "expected a list as `object_list`", lambda: dist.broadcast_object_list("abc"))
    raises(TypeError, "wraps a Module", lambda: DistributedDataParallel(3))
    if SIZE > 1:
        raises(RuntimeError, "float32 (3,)", lambda: dist.all_reduce(mine(n=3 + RANK)))
        raises(RuntimeError, "mismatch", lambda: dist.all_reduce(mine([torch.int64, torch.float32][RANK % 2])))
        raises(RuntimeError, "running barrier", lambda: dist.barrier() if RANK == 1 else dist.all_reduce(mine()))
    t = mine()
    dist.all_reduce(t)  # all goes on after a refusal
    assert t[0].item() == sum(EVERYONE)


class Net(nn.Module):
    """With a batch norm, a branch that ranks may leave out, and parameters of two dtypes."""

    def __init__(self, extra: bool = False):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 300), nn.BatchNorm1d(300), nn.Linear(300, 4)
        self.scale = nn.Parameter(torch.ones(4, dtype=torch.float64))
        if extra:
            self.rare, self.never = nn.Linear(4, 4), nn.Linear(2, 2)

    def forward(self, x, rare=False):
        out = self.last(F.relu(self.norm(self.first(x)))) * self.scale.float()
        return self.rare(out) if rare else out


def batch():
    random = np.random.default_rng(3)
    x, y = random.normal(size=(16, 8)), random.normal(size=(16, 4))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def trained(options: dict):
    """Three steps under DDP on this rank's rows, and in one process on all of them; BatchNorm in evaluation mode."""
    torch.manual_seed(RANK)  # other numbers on every rank: construction must make them alike
    net = Net()
    wrapped = DistributedDataParallel(net, **options)
    alone = Net()
    alone.load_state_dict(net.state_dict())
    x, y = batch()
    for model, rows in ((wrapped, slice(RANK, None, SIZE)), (alone, slice(None))):
        model.eval()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for step in range(3):
            optimizer.zero_grad(set_to_none=step != 1)
            F.mse_loss(model(x[rows]), y[rows]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # after the sum: the same on all
            optimizer.step()
    return wrapped, alone


def data_parallel():
    for options in ({}, {"bucket_cap_mb": 0.001}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}):
        wrapped, alone = trained(options)
        for (name, p), q in zip(wrapped.module.named_parameters(), alone.parameters(), strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), atol=3e-6, err_msg=f"{options} {name}")
            told = [None] * SIZE
            dist.all_gather_object(told, p.detach().numpy().tobytes())
            assert len(set(told)) == 1, "the same to the last bit on every rank"
    small, _ = trained({"bucket_cap_mb": 0.001})
    assert len(small.reducer.buckets) >= 2 and small.reducer.rebuilt
    spans = small.timeline().spans
    assert [s.name for s in spans[1:]] == [f"bucket {i}" for i in range(len(spans) - 1)]
    assert "module.first.weight" in small.state_dict()


def buffers():
    net = DistributedDataParallel(Net())
    x, _ = batch()
    for _ in range(2):
        net(x[RANK::SIZE])
    mean = net.module.norm.running_mean.clone()
    net(x[RANK::SIZE])
    told = [None] * SIZE
    dist.all_gather_object(told, (mean.tolist(), net.module.norm.num_batches_tracked.item()))
    assert all(t[1] == 3 for t in told)
    first, weight = nn.BatchNorm1d(2), None
    first.running_mean.fill_(RANK)
    DistributedDataParallel(first)
    assert first.running_mean.tolist() == [0, 0] and weight is None


def accumulation():
    net = DistributedDataParallel(nn.Linear(3, 1, bias=False))
    x = torch.full((1, 3), float(RANK))
    everyone = [float(np.mean(EVERYONE))] * 3
    with net.no_sync():
        net(x).sum().backward()
    assert net.module.weight.grad[0].tolist() == [RANK] * 3, "inside no_sync each rank keeps its own"
    net(x).sum().backward()
    assert net.module.weight.grad[0].tolist() == [2 * v for v in everyone], "then all that was gathered is averaged"
    net.zero_grad()
    with net.no_sync():
        loss = net(x).sum()
    loss.backward()  # what counts is the forward
    assert net.module.weight.grad[0].tolist() == [RANK] * 3
    net.zero_grad()
    out = net(x).sum()
    with net.no_sync():
        out.backward()
    assert net.module.weight.grad[0].tolist() == everyone


def unfrozen():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net[0].weight.requires_grad_(False)
    wrapped = DistributedDataParallel(net)
    net[0].weight.requires_grad_(True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            wrapped(torch.ones(1, 2) * RANK).sum().backward()
    assert len(told) == 1 and "0.weight" in str(told[0].message)


def unused():
    net = DistributedDataParallel(Net(extra=True), find_unused_parameters=True)
    x, _ = batch()
    for _ in range(3):
        net.zero_grad()
        net(x, rare=RANK == 0).sum().backward()
        assert net.module.never.weight.grad is None, "nobody used it"
        grad = net.module.rare.weight.grad
        assert grad is not None, "rank 0 used it: all get the average"
        told = [None] * SIZE
        dist.all_gather_object(told, grad.tolist())
        assert all(t == told[0] for t in told)
    strict = DistributedDataParallel(Net(extra=True))
    strict(x).sum().backward()
    raises(RuntimeError, "never.weight", lambda: strict(x))
    raises(RuntimeError, "doesn't have any parameters", lambda: DistributedDataParallel(nn.ReLU()))
    if SIZE > 1:
        other = nn.Linear(2, 2 + RANK)
        raises(RuntimeError, "same model across all ranks", lambda: DistributedDataParallel(other))
    raises(ValueError, "must be positive", lambda: DistributedDataParallel(Net(), bucket_cap_mb=0))


def weakly():
    import gc
    import weakref

    net = Net()
    wrapped = DistributedDataParallel(net)
    seen = weakref.ref(wrapped.reducer)
    del wrapped
    gc.collect()
    assert seen() is None, "the parameters' hooks do not keep it alive"
    net(batch()[0]).sum().backward()


def overlap():
    """A slow backward behind the first bucket: its sum is done before backward ends."""

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            time.sleep(0.3)
            return g

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 600), nn.Linear(600, 600)

        def forward(self, x):
            return self.last(Slow.apply(self.first(x)))

    net = DistributedDataParallel(Two(), bucket_cap_mb=1)
    net(torch.ones(2, 4)).sum().backward()
    backward, first, *_ = net.timeline().spans
    assert first.end < backward.end, (first, backward)


def dies():
    if RANK == 1:
        raise KeyError("the data of rank 1 are missing")
    dist.barrier()


def leaves():
    if RANK != 1:
        dist.barrier()


def late():
    if RANK == 0:
        time.sleep(25)
    dist.barrier()


ALL = [collectives, groups, handles, refusals, data_parallel, buffers, accumulation, unfrozen, unused, weakly, overlap]

if __name__ == "__main__":
    wanted = sys.argv[1]
    for check in ALL if wanted == "all" else [globals()[wanted]]:
        check()
        if wanted == "all":
            dist.barrier()
    if wanted == "all":
        dist.destroy_process_group()
        raises(ValueError, "has not been initialized", dist.get_rank)
        print(f"rank {RANK} of {SIZE}: all done", flush=True)
