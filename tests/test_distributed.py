"""Several processes for real, by mpiexec; and what one process can check: the sampler, DataParallel, refusals."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autogradlab as torch
import autogradlab.distributed as dist
import autogradlab.nn.functional as F
from autogradlab import nn
from autogradlab.distributed import mpi
from autogradlab.utils.data import DataLoader, DistributedSampler, TensorDataset

ROOT = Path(__file__).resolve().parents[1]
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
needs_mpi = pytest.mark.skipif(not MPIEXEC or mpi.problem() is not None, reason=f"no MPI here: {mpi.problem()}")


def ranks(n: int, *command, seconds: int = 60):
    """Run a script on n ranks: (exit status, what they said)."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [MPIEXEC, "-n", str(n), sys.executable, "-m", "mpi4py", *map(str, command)],
        capture_output=True, text=True, timeout=seconds, env=environment, cwd=ROOT,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@needs_mpi
@pytest.mark.parametrize("n", [1, 2, 4])
def test_collectives_and_data_parallel(n):
    code, said = ranks(n, "tests/ranks.py", "all")
    assert code == 0 and said.count("all done") == n, said


@needs_mpi
def test_a_rank_that_dies_ends_all_with_its_message():
    code, said = ranks(3, "tests/ranks.py", "dies")
    assert code != 0 and "the data of rank 1 are missing" in said and "rank 1 ended with KeyError" in said


@needs_mpi
def test_a_rank_that_leaves_is_not_waited_for():
    code, said = ranks(3, "tests/ranks.py", "leaves", seconds=15)
    assert code != 0 and "waits for rank 1, which has ended" in said


@needs_mpi
def test_the_example_learns_the_same_as_one_process():
    code, said = ranks(2, "examples/ddp_digits.py", "--epochs", 1)
    assert code == 0 and float(said.partition("whole batch: ")[2].split()[0]) < 1e-5, said


@needs_mpi
def test_ranks_of_a_notebook(monkeypatch):
    """ipyparallel starts the ranks; %%px in a notebook runs cells on them as `execute` does here."""
    ipyparallel = pytest.importorskip("ipyparallel")
    monkeypatch.setenv("PATH", str(Path(MPIEXEC).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    cell = """
import autogradlab as torch
import autogradlab.distributed as dist

dist.init_process_group("mpi")
t = torch.tensor([1.0 + dist.get_rank()])
dist.all_reduce(t)
total, size = t.item(), dist.get_world_size()
dist.destroy_process_group()
"""
    with ipyparallel.Cluster(engines="mpi", n=2, log_level=40) as cluster:
        view = cluster[:]
        view.execute(cell, block=True)
        assert view.pull(("total", "size"), block=True) == [[3.0, 2]] * 2


def test_one_process_without_a_group():
    assert not dist.is_initialized()
    for call in (dist.get_rank, lambda: dist.all_reduce(torch.ones(1)), lambda: dist.barrier()):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()
    with pytest.raises(ValueError, match="its place is taken by mpi"):
        dist.init_process_group("gloo")
    with pytest.raises(ValueError, match="Unknown backend 'smoke'"):
        dist.init_process_group("smoke")
    with pytest.raises(TypeError, match="timedelta"):
        dist.init_process_group("mpi", timeout=3)


def test_without_mpi_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert not dist.is_available()
    with pytest.raises(RuntimeError, match=r"doesn't have MPI.*pip install mpi4py mpich.*mpiexec -n 4"):
        dist.init_process_group("mpi")


# The sampler ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [8, 10, 3, 1])
@pytest.mark.parametrize("drop", [False, True])
def test_the_sampler_gives_each_rank_as_much(n, drop):
    parts = [list(DistributedSampler(range(n), 4, r, shuffle=False, drop_last=drop)) for r in range(4)]
    assert {len(p) for p in parts} == {n // 4 if drop else -(-n // 4)}
    if not drop:
        assert set(sum(parts, [])) == set(range(n))
        assert parts[1][:1] == [1 % n]


def test_the_sampler_shuffles_by_epoch_and_alike_on_all_ranks():
    data = TensorDataset(torch.arange(12))
    samplers = [DistributedSampler(data, 3, r, seed=4) for r in range(3)]
    seen = []
    for epoch in (0, 1, 0):
        for s in samplers:
            s.set_epoch(epoch)
        rows = [torch.cat([b for (b,) in DataLoader(data, 2, sampler=s)]).tolist() for s in samplers]
        assert sorted(sum(rows, [])) == list(range(12))
        seen.append(rows)
    assert seen[0] == seen[2] != seen[1]
    with pytest.raises(ValueError, match="Invalid rank 3, rank should be in the interval"):
        DistributedSampler(data, 3, 3)


# DataParallel ---------------------------------------------------------------------------------------------------------


def test_data_parallel_over_two_simulated_devices():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to("sim:0")
    x, y = torch.randn(6, 4, device="sim:0"), torch.randn(6, 2, device="sim:0")
    F.mse_loss(net(x), y).backward()
    plain = [p.grad.cpu() for p in net.parameters()]
    net.zero_grad()
    wrapped = nn.DataParallel(net, ["sim:0", "sim:1"])
    with torch.observe.timeline() as t:
        out = wrapped(x)
        F.mse_loss(out, y).backward()
    assert str(out.device) == "sim:0" and out.shape == (6, 2)
    for p, g in zip(net.parameters(), plain, strict=True):
        assert str(p.grad.device) == "sim:0" and torch.allclose(p.grad.cpu(), g, rtol=1e-5, atol=1e-7)
    assert {"sim:0", "sim:1"} <= set(t.lanes), "both devices work"
    assert sum(s.name == "copy from sim:0" for s in t.spans) >= 5, "input and four parameters travel at every forward"
    assert wrapped(x[:1]).shape == (1, 2), "one row needs one device"


def test_data_parallel_gathers_what_modules_return_and_refuses_strangers():
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, x, k=1):
            return {"scaled": x * self.w * k, "parts": (x, x.sum())}

    net = nn.DataParallel(Pair().to("sim:0"), ["sim:0", "sim:1"])
    out = net(torch.ones(4, 2, device="sim:0"), k=3)
    assert out["scaled"].shape == (4, 2) and out["scaled"].sum().item() == 24 and out["parts"][1].tolist() == [4, 4]
    with pytest.raises(RuntimeError, match=r"must have its parameters.*sim:0.*found one of them on device: cpu \(w\)"):
        nn.DataParallel(Pair(), ["sim:0", "sim:1"])
