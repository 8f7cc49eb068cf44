"""The benchmarks compute what they say: engine and NumPy agree on every workload.  Nothing is timed here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import workloads

import autogradlab as torch

ROOT = Path(__file__).resolve().parents[1]
WORK = {w.name: w for w in workloads.all_workloads(torch)}


@pytest.mark.parametrize("name", list(WORK))
def test_engine_and_floor_agree(name):
    workloads.check(WORK[name])


def test_a_wrong_answer_is_noticed():
    work = WORK["small operations, graph"]
    with pytest.raises(AssertionError):
        workloads.check(work._replace(engine=lambda: [v + 1 for v in work.engine()]))


def test_the_gpu_script_runs_whole_on_the_simulated_accelerator(tmp_path):
    command = [sys.executable, "benchmarks/gpu_check.py", "--device", "sim", "--quick", "--json", tmp_path / "g.json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "all right" in done.stdout, done.stdout + done.stderr
    found = json.loads((tmp_path / "g.json").read_text())
    assert found["simulated"] and found["parity"]["samples"] > 800 and not found["parity"]["operators wrong"]
    eager, compiled = (row["seconds"] for row in found["elementwise"] if row["what"].startswith("chain"))
    assert compiled < eager
