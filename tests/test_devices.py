"""Devices, and the simulated accelerator: data apart, refusals, transfers, and a namespace no larger than CuPy's."""

import importlib.util
import inspect
import pickle

import numpy as np
import pytest
from device_list import ACCELERATORS

import autogradlab as torch
from autogradlab.backends import cupy, simulated


def test_a_device_is_one_object():
    assert torch.device("cuda:1") is torch.device("cuda", 1) and torch.device("cuda") is not torch.device("cuda:0")
    assert str(torch.device("sim", 1)) == "sim:1" and repr(torch.device("cpu")) == "device(type='cpu')"
    assert pickle.loads(pickle.dumps(torch.device("sim:0"))) is torch.device("sim:0")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpu", "Expected one of cpu, cuda, sim"),
        ("cuda:x", "cuda:x"),
        ("cpu:1", "no device cpu:1"),
        ("sim:9", "only 2"),
    ],
)
def test_devices_that_do_not_exist(name, words):
    with pytest.raises(RuntimeError, match=words):
        torch.zeros(1, device=name)


def test_cuda_without_a_gpu_says_why():
    assert torch.cuda.is_available() == (torch.cuda.device_count() > 0)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match=r"cuda is not available \(.+\).*doctor"):
            torch.zeros(1, device="cuda")
        assert cupy.problem()


def test_the_accelerator_can_be_forced(monkeypatch):
    monkeypatch.setenv("AUTOGRADLAB_ACCELERATOR", "sim")
    assert str(torch.accelerator()) == "sim:0"


def test_transfers_copy_and_gradients_come_back():
    x = torch.ones(3, requires_grad=True)
    there = x.to("sim:1")
    assert str(there.device) == "sim:1" and there.cpu() is not x and x.to("cpu") is x
    (there * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0] and str(x.grad.device) == "cpu"
    assert str(there.to("sim:0").device) == "sim:0"


@pytest.mark.parametrize("other", ["sim:0", "sim:1"])
def test_operands_on_two_devices_are_refused_by_name(other):
    here, there = torch.ones(3), torch.ones(3, device=other)
    for call in (
        lambda: here + there,
        lambda: there @ here,
        lambda: torch.cat([there, here]),
        lambda: there.add_(here),
    ):
        with pytest.raises(RuntimeError, match="same device.*cpu and " + other):
            call()


def test_a_single_number_of_the_cpu_may_stand_beside_an_accelerator_s():
    there = torch.ones(3, device="sim")
    assert (there * torch.tensor(2.0)).device.type == "sim" and (torch.tensor(2.0) * there).tolist() == [2.0, 2.0, 2.0]


def test_numpy_cannot_reach_the_device_by_accident():
    there = torch.arange(3.0, device="sim")
    array = there.window
    for call in (
        lambda: np.asarray(array),
        lambda: np.add(array, 1),
        lambda: array + np.ones(3),
        lambda: there.numpy(),
    ):
        with pytest.raises(TypeError):
            call()
    assert there.cpu().numpy().tolist() == [0.0, 1.0, 2.0]


def test_the_namespace_refuses_what_cupy_does_not_have():
    xp = simulated.backend(0).xp
    a = xp.ones(3)
    with pytest.raises(TypeError, match="sum has no keyword where"):
        xp.sum(a, where=a > 0)
    with pytest.raises(TypeError, match="sort has no keyword stable"):
        xp.sort(a, stable=True)
    with pytest.raises(AttributeError, match="'trapezoid'"):
        _ = xp.trapezoid
    assert isinstance(xp.sum(a), simulated.SimArray) and xp.sum(a).shape == (), "0-d arrays, never scalars"


@pytest.mark.skipif(
    importlib.util.find_spec("cupy") is None, reason="compares with the real CuPy where it is installed"
)
def test_the_table_is_cupy_s():
    import cupy as real

    missing = [name for name in simulated.CUPY if not hasattr(real, name)]
    assert not missing
    assert all(hasattr(real.random.Generator, n) or hasattr(cupy.Draws, n) for n in simulated.DRAWS)
    for name, words in simulated.CUPY.items():
        if not isinstance(getattr(real, name), real.ufunc):
            takes = inspect.signature(getattr(real, name)).parameters.values()
            known = {p.name for p in takes}
            assert set(words.split()) <= known or any(p.kind is p.VAR_KEYWORD for p in takes), name


def test_views_and_storages_work_on_the_device():
    x = torch.arange(12.0, device="sim").reshape(3, 4)
    part = x.t()[1:, ::2]
    part.mul_(10)
    assert x.tolist() == [[0, 10, 20, 30], [4, 5, 6, 7], [8, 90, 100, 110]]
    assert part.untyped_storage() is x.untyped_storage() and part.data_ptr() - x.data_ptr() == 4
    assert torch.cuda.manual_seed_all(1) is None


def test_random_numbers_of_a_device_repeat():
    torch.manual_seed(5)
    first = torch.randn(4, device="sim:1")
    torch.manual_seed(5)
    assert torch.equal(torch.randn(4, device="sim:1"), first)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("device", ACCELERATORS)
def test_float8_on_an_accelerator_is_what_it_is_on_the_cpu(device, name):
    dtype = getattr(torch, name)
    every = torch.tensor(np.arange(256, dtype="uint8").view(dtype.numpy).astype("float32"))
    random = np.random.default_rng(0)
    values = np.concatenate(
        [every.numpy(), random.normal(size=4000) * 10.0 ** random.integers(-6, 6, 4000), [0.0, -0.0]]
    )
    finite = np.sort(every.numpy()[np.isfinite(every.numpy())])
    x = torch.tensor(np.concatenate([values, (finite[:-1] + finite[1:]) / 2]), dtype=torch.float32)
    here, there = x.to(dtype), x.to(device).to(dtype)
    assert there.dtype is dtype and there.element_size() == 1
    np.testing.assert_array_equal(there.cpu().float().numpy(), here.float().numpy())
    np.testing.assert_array_equal(there.float().cpu().numpy(), here.float().numpy())
    assert np.array_equal(np.signbit(there.float().cpu().numpy()), np.signbit(here.float().numpy()))
    np.testing.assert_array_equal(here.to(device).float().cpu().numpy(), here.float().numpy())
    y = torch.tensor([[1.5, -2.0], [0.25, 448.0]]).to(device, dtype)
    assert y.tolist() == [[1.5, -2.0], [0.25, 448.0]] and y[0, 1].item() == -2 and y.t()[0].tolist() == [1.5, 0.25]
    assert torch.cat([y, y.clone()]).float().sum().item() == 2 * 447.75
    z = torch.zeros(2, 2, dtype=dtype, device=device)
    assert z.copy_(torch.full((2, 2), 3, dtype=torch.uint8)).tolist() == [[3, 3], [3, 3]]
    assert torch.ones(2, dtype=dtype, device=device).tolist() == [1, 1]
    assert repr(torch.ones(1, dtype=dtype, device=device)).startswith("tensor([1.]")


def test_random_numbers_of_a_gpu_have_a_state_that_can_be_kept():
    draws = cupy.Draws(np.random.default_rng, np.argsort, 7)  # NumPy in CuPy's place
    draws.random(3)
    kept = draws.bit_generator.state
    first = [draws.random(4), draws.standard_normal(2), draws.permutation(5)]
    draws.bit_generator.state = kept
    again = [draws.random(4), draws.standard_normal(2), draws.permutation(5)]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True)) and sorted(first[2]) == list(range(5))
    assert draws.bit_generator.state != kept and not np.array_equal(draws.random(4), first[0])
