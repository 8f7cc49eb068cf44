"""Every operator we offer, by PyTorch's own sample inputs: results, gradients, strides, refusals (see opinfo.py)."""

import warnings

import both
import exclusions
import opinfo
import pytest
import torch

from autogradlab import late

OFFERED = opinfo.offered()


@pytest.mark.parametrize("name", OFFERED)
def test_the_samples_agree(name, record_property):
    op, counts, found = OFFERED[name], {"samples": 0, "left out": 0, "not offered": 0}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in opinfo.DTYPES:
            for case in opinfo.cases(op, dtype) if dtype in op.dtypes else ():
                counts["samples"] += 1
                try:
                    said = list(opinfo.problems(case, exclusions.random(case)))
                except both.NotOffered:
                    counts["not offered"] += 1
                    continue
                left = [what for form, what in said if exclusions.reason(case, form)]
                counts["left out"] += bool(left)
                found += [f"{case} [{form}] {what}" for form, what in said if not exclusions.reason(case, form)]
    for what, count in counts.items():
        record_property(what, count)
    assert not found, f"{len(found)} differences, such as\n" + "\n".join(found[:8])
    compared = counts["samples"] - counts["not offered"]
    assert 10 * counts["left out"] <= compared, f"of {compared} samples {counts['left out']} are left out"


@pytest.mark.parametrize("name", [n for n, op in OFFERED.items() if op.error_inputs_func])
def test_wrong_calls_are_refused_alike(name, record_property):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = list(opinfo.error_problems(OFFERED[name]))
    record_property("wrong calls", len(results))
    found = [f"{case} {said}" for case, said in results if said and not exclusions.reason(case, "error")]
    assert not found, f"{len(found)} differences, such as\n" + "\n".join(found[:8])


# PyTorch's OpInfo has no entry of its own for these: aliases of what is compared, makers of tensors, tools.
NO_ENTRY = """
    Generator as_tensor asarray can_cast chain_matmul detach from_dlpack from_numpy get_rng_state initial_seed
    is_floating_point is_nonzero is_tensor manual_seed numel promote_types rand randperm result_type seed
    set_rng_state tensor
"""


def test_public_functions_without_samples_are_known(record_property):
    """Every function that PyTorch and autogradlab both have is compared, or is listed with the reason above."""
    entries = [name for op in OFFERED.values() for name in (op.name, *(a.name for a in op.aliases))]
    compared = {name.split(".")[-1] for name in entries}
    shared = {n for n in late.functions.files if callable(getattr(torch, n, None)) and not n.endswith("_")}
    missing = sorted(shared - compared - set(NO_ENTRY.split()))
    record_property("functions compared", len(shared & compared))
    assert not missing, "functions without a sample"
    assert not set(NO_ENTRY.split()) & compared, "these have samples by now"
