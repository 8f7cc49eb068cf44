"""Ranks of a notebook: what they say comes in order, errors by name, and none of them outlives its notebook."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autogradlab.learn import ranks as learn_ranks
from autogradlab.learn.ranks import RankError, missing, start_ranks

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = ROOT / "notebooks" / "part5_production_training" / "27_many_processes.ipynb"
needs_ranks = pytest.mark.skipif(missing() is not None, reason=f"{missing()} is missing")
BEGIN = "import autogradlab as torch\nimport autogradlab.distributed as dist\ndist.init_process_group('mpi')\n"


@pytest.fixture
def two():
    ranks = start_ranks(2)
    yield ranks
    ranks.stop()


@needs_ranks
def test_two_ranks(two, capsys):
    assert repr(two) == "2 ranks, started by mpiexec" and two.size == 2
    two.run(BEGIN + "t = torch.tensor([1.0 + dist.get_rank()])\ndist.all_reduce(t)\nprint(t.item())\ndist.get_rank()")
    assert capsys.readouterr().out == "rank 0 | 3.0\nrank 0 | 0\nrank 1 | 3.0\nrank 1 | 1\n"
    assert two.pull("t.item() + dist.get_rank()") == [3.0, 4.0]
    with pytest.raises(RankError, match="rank 1: KeyError: 'gone'") as caught:
        two.run("print('said')\nif dist.get_rank(): raise KeyError('gone')")
    assert "rank 0" not in str(caught.value) and capsys.readouterr().out == "rank 0 | said\nrank 1 | said\n"
    pids = two.pull("__import__('os').getpid()")
    folder = Path(two.folder)
    assert all(map(alive, pids)) and folder.is_dir()
    two.stop()
    two.stop()
    assert gone(pids) and not folder.exists()
    with pytest.raises(RuntimeError, match="run the cell with start_ranks again"):
        two.run("1")


@needs_ranks
def test_a_notebook_that_is_killed_takes_its_ranks_with_it():
    script = (
        "import os\nfrom autogradlab.learn.ranks import start_ranks\nranks = start_ranks(2)\n"
        "print(*ranks.pull('__import__(\"os\").getpid()'), ranks.cluster.controller.pid, ranks.folder, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=90, cwd=ROOT)
    *pids, folder = said.stdout.split()
    assert said.returncode == -signal.SIGKILL and len(pids) == 3, said
    assert gone(map(int, pids)) and not Path(folder).exists()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def gone(pids, seconds: float = 15) -> bool:
    pids, end = list(pids), time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(alive, pids))


@pytest.mark.parametrize("name", ["ipyparallel", "mpi4py"])
def test_one_process_where_something_is_missing(monkeypatch, capsys, name):
    monkeypatch.setitem(sys.modules, name, None)
    alone = start_ranks(2)
    try:
        assert f"as {name} is missing. To get them: pip install ipyparallel mpi4py mpich" in repr(alone)
        alone.run(BEGIN + "t = torch.ones(2)\ndist.all_reduce(t)\ndist.barrier()\nt")
        assert capsys.readouterr().out == "rank 0 | tensor([1., 1.])\n" and alone.pull("t.tolist()") == [[1.0, 1.0]]
        with pytest.raises(RankError, match="rank 0: ZeroDivisionError"):
            alone.run("1 / 0")
    finally:
        alone.stop()
    import autogradlab.distributed as dist

    assert not dist.is_initialized() and learn_ranks.mpi.world.__module__ == "autogradlab.distributed.mpi"


def test_the_chapter_runs_in_one_process_too():
    script = f"""
import nbformat, sys
sys.modules["mpi4py"] = sys.modules["ipyparallel"] = None
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in nbformat.read({str(CHAPTER)!r}, as_version=4).cells:
    if cell.cell_type == "code":
        shell.run_cell(cell.source).raise_error()
print("all of it")
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=90, cwd=ROOT)
    assert said.returncode == 0 and said.stdout.endswith("all of it\n"), said.stdout[-800:] + said.stderr[-800:]
    assert "as ipyparallel is missing" in said.stdout and "rank 0 | I am 0 of 1" in said.stdout


@pytest.mark.parametrize("wrong", [0, 17, "2", 2.0, True])
def test_bad_numbers_of_ranks(wrong):
    with pytest.raises(ValueError, match="expected 1 to 16 ranks"):
        start_ranks(wrong)
