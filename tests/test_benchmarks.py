"""The benchmarks compute what they say: engine and NumPy agree on every workload.  Nothing is timed here."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import workloads

import autogradlab as torch

WORK = {w.name: w for w in workloads.all_workloads(torch)}


@pytest.mark.parametrize("name", list(WORK))
def test_engine_and_floor_agree(name):
    workloads.check(WORK[name])


def test_a_wrong_answer_is_noticed():
    work = WORK["small operations, graph"]
    with pytest.raises(AssertionError):
        workloads.check(work._replace(engine=lambda: [v + 1 for v in work.engine()]))
