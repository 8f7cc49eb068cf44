"""Autocast and GradScaler."""

import threading
import warnings

import pytest

import autogradlab as torch
from autogradlab import nn
from autogradlab.amp import GradScaler, custom_bwd, custom_fwd

F = nn.functional
BF16, F16, F32, F64 = torch.bfloat16, torch.float16, torch.float32, torch.float64


def numbers(*shape, dtype=F32):
    return torch.randn(*shape, dtype=dtype).requires_grad_()


# Autocast -------------------------------------------------------------------------------------------------------------

LISTS = [
    ("lower", lambda a, b: a @ b, BF16),
    ("lower", lambda a, b: torch.mm(a, b), BF16),
    ("lower", lambda a, b: F.linear(a, b), BF16),
    ("lower", lambda a, b: torch.bmm(a[None], b[None]), BF16),
    ("lower", lambda a, b: torch.addmm(a, a, b), BF16),
    ("fp32", lambda a, b: F.mse_loss(a.bfloat16(), b.bfloat16()), F32),
    ("fp32", lambda a, b: a.bfloat16().prod(), F32),
    ("promote", lambda a, b: torch.cat([a.bfloat16(), b]), F32),
    ("promote", lambda a, b: torch.stack([a.bfloat16(), b]), F32),
    ("as it is", lambda a, b: a + b, F32),
    ("as it is", lambda a, b: a.bfloat16() * b.bfloat16(), BF16),
    ("as it is", lambda a, b: a.exp(), F32),
    ("as it is", lambda a, b: a.double() @ b.double(), F64),
]


@pytest.mark.parametrize(("kind", "fn", "dtype"), LISTS, ids=[f"{v[0]} {i}" for i, v in enumerate(LISTS)])
def test_the_lists(kind, fn, dtype):
    a, b = numbers(3, 3), numbers(3, 3)
    with torch.autocast("cpu"):
        assert fn(a, b).dtype is dtype


@pytest.mark.parametrize("join", [torch.cat, torch.stack])
def test_another_half_precision_fits_beside_a_float32_before_it_only(join):
    half, brain, single = torch.ones(2, dtype=F16), torch.ones(2, dtype=BF16), torch.ones(2)
    with torch.autocast("cpu", dtype=BF16):
        assert join([single, half]).dtype is F32 and join([brain, single]).dtype is F32
        for given in ([half], [half, brain], [half, single], [brain, half], [torch.ones(2, dtype=F64), half]):
            with pytest.raises(RuntimeError, match="Unexpected floating ScalarType torch.float16.*cast that tensor"):
                join(given)


def test_gradients_have_the_dtype_of_their_leaves():
    a, b = numbers(3, 3), numbers(3, 3)
    with torch.autocast("cpu", dtype=BF16):
        y = a @ b
    y.float().sum().backward()
    assert a.grad.dtype is F32 and torch.allclose(a.grad, b.detach().sum(1).expand(3, 3), rtol=2e-2, atol=2e-2)


def test_nesting_and_switching_off():
    a = numbers(2, 2)
    with torch.autocast("cpu", dtype=BF16):
        with torch.autocast("cpu", enabled=False):
            assert (a @ a).dtype is F32 and not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", dtype=F16):
            assert (a @ a).dtype is F16 and torch.get_autocast_dtype("cpu") is F16
        assert (a @ a).dtype is BF16 and torch.get_autocast_dtype("cpu") is BF16
    assert (a @ a).dtype is F32 and not torch.is_autocast_enabled("cpu")
    with pytest.raises(KeyError), torch.autocast("cpu"):
        raise KeyError
    assert not torch.is_autocast_enabled("cpu")


def test_a_leaf_is_cast_once():
    w, x = numbers(3, 3), torch.ones(3, 3)
    with torch.autocast("cpu", dtype=BF16):
        first, second = ((x @ w).grad_fn.next_functions[1][0] for _ in range(2))
        assert first is second
        with torch.autocast("cpu", cache_enabled=False):
            third, fourth = ((x @ w).grad_fn.next_functions[1][0] for _ in range(2))
            assert third is not fourth
    with torch.autocast("cpu", dtype=BF16):
        assert (x @ w).grad_fn.next_functions[1][0] is not first


def test_what_the_cache_is_asked_for():
    """The tensor, its version and the mode: a leaf that was written to, or cast under no_grad, is cast anew."""
    w, x = torch.ones(2, 2).requires_grad_(), torch.ones(2, 2)
    with torch.autocast("cpu", dtype=BF16):
        assert (x @ w)[0, 0].item() == 2
        with torch.no_grad():
            w.mul_(3)
            assert (x @ w)[0, 0].item() == 6
        y = x @ w
        assert y.requires_grad and y[0, 0].item() == 6
        torch.clear_autocast_cache()
    y.float().sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_both_uses_of_a_cached_cast_reach_the_leaf():
    w, x = torch.ones(2, 2).requires_grad_(), torch.ones(2, 2)
    with torch.autocast("cpu", dtype=BF16):
        y = (x @ w) + (x @ w)
    y.float().sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_as_a_decorator():
    a = numbers(2, 2)

    @torch.autocast("cpu", dtype=BF16)
    def product(x):
        return x @ x

    assert product(a).dtype is BF16 and product(a).dtype is BF16 and (a @ a).dtype is F32


def test_autocast_belongs_to_a_thread():
    a, seen = torch.ones(2, 2), []
    with torch.autocast("cpu", dtype=BF16):
        thread = threading.Thread(target=lambda: seen.append((a @ a).dtype))
        thread.start()
        thread.join()
        assert (a @ a).dtype is BF16
    assert seen == [F32]


def test_settings_without_a_block():
    before = torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", F16)
    torch.set_autocast_enabled("cpu", True)
    try:
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is F16 and torch.is_autocast_enabled("cpu")
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", before)
    assert torch.get_autocast_dtype("cpu") is BF16 and not torch.is_autocast_enabled("cpu")
    assert torch.is_autocast_cache_enabled()


def test_what_autocast_refuses():
    with pytest.raises(RuntimeError, match="unsupported autocast device_type"):
        torch.autocast("toaster")
    with pytest.raises(ValueError, match="device_type"):
        torch.autocast(torch.device("cpu"))
    with pytest.warns(UserWarning, match="not supported. Disabling"), torch.autocast("cpu", dtype=F64):
        assert not torch.is_autocast_enabled("cpu")


def test_the_simulated_accelerator_has_cudas_lists():
    a = torch.randn(2, 2, device="sim")
    with torch.autocast("sim"):
        assert (a @ a).dtype is F16 and (a @ a).softmax(0).dtype is F32
        assert (torch.ones(2, 2) @ torch.ones(2)).dtype is F32


def test_in_place_operators_keep_the_dtype_they_write_to():
    a = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=BF16):
        a.add_(a @ a)
    assert a.dtype is F32 and a.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_custom_functions():
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((g @ b.t()).dtype)
            return (g @ b.t()).float(), (a.t() @ g).float()

    class Wide(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=F32)
        def forward(ctx, a):
            seen.append((a.dtype, torch.is_autocast_enabled("cpu")))
            return a @ a

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append(torch.is_autocast_enabled("cpu"))
            return g

    a, b = numbers(2, 2), numbers(2, 2)
    with torch.autocast("cpu", dtype=BF16):
        out = Product.apply(a, b)
    out.float().sum().backward()
    assert out.dtype is BF16 and seen == [BF16]
    with torch.autocast("cpu", dtype=BF16):
        Wide.apply(a.bfloat16()).sum().backward()
    assert seen[1:] == [(F32, False), False]
    with pytest.raises(ValueError, match="device_type"):
        custom_fwd(lambda ctx: None, device_type=3)


# GradScaler -----------------------------------------------------------------------------------------------------------


def training(scaler, gradients, lr=1.0):
    """Steps with given gradients of one parameter: its value and the scale after each."""
    p = torch.zeros(1).requires_grad_()
    optimizer, seen = torch.optim.SGD([p], lr=lr), []
    for g in gradients:
        optimizer.zero_grad()
        scaler.scale((p * g).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append((p.item(), scaler.get_scale()))
    return seen


def test_growth_and_backoff():
    scaler = GradScaler("cpu", init_scale=8.0, growth_interval=2)
    inf, nan = float("inf"), float("nan")
    assert training(scaler, [1.0, 1.0, inf, 1.0, nan, 1.0, 1.0]) == [
        (-1.0, 8.0), (-2.0, 16.0), (-2.0, 8.0), (-3.0, 8.0), (-3.0, 4.0), (-4.0, 4.0), (-5.0, 8.0),
    ]  # fmt: skip


def test_scaled_gradients_are_unscaled_once():
    p = torch.zeros(1).requires_grad_()
    optimizer, scaler = torch.optim.SGD([p], lr=1.0), GradScaler("cpu", init_scale=4.0)
    scaler.scale(p.sum()).backward()
    assert p.grad.item() == 4.0
    scaler.unscale_(optimizer)
    assert p.grad.item() == 1.0
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert p.item() == -1.0
    with pytest.raises(RuntimeError, match="already been called since"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"after step"):
        scaler.unscale_(optimizer)
    scaler.update()


def test_two_optimizers_one_of_which_overflows():
    a, b = torch.zeros(1).requires_grad_(), torch.zeros(1).requires_grad_()
    one, two = torch.optim.SGD([a], lr=1.0), torch.optim.SGD([b], lr=1.0)
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale((a + b * float("inf")).sum()).backward()
    scaler.step(one)
    scaler.step(two)
    scaler.update()
    assert (a.item(), b.item(), scaler.get_scale()) == (-1.0, 0.0, 2.0)


def test_what_a_step_returns():
    p = torch.zeros(1).requires_grad_()
    optimizer, scaler = torch.optim.SGD([p], lr=1.0), GradScaler("cpu", init_scale=4.0)
    scaler.scale(p.sum()).backward()
    assert scaler.step(optimizer) is None
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: None)


def test_errors_of_the_scaler():
    p = torch.zeros(1).requires_grad_()
    optimizer = torch.optim.SGD([p], lr=1.0)
    fresh = GradScaler("cpu")
    for call in (lambda: fresh.step(optimizer), lambda: fresh.unscale_(optimizer), fresh.update):
        with pytest.raises(AssertionError, match="scale"):
            call()
    scaler = GradScaler("cpu")
    scaler.scale(torch.ones(1))
    with pytest.raises(AssertionError, match="No inf checks were recorded"):
        scaler.step(optimizer)  # no gradients
    with pytest.raises(AssertionError, match="No inf checks were recorded"):
        scaler.update()
    for words in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError, match="factor must be"):
            GradScaler("cpu", **words)
    with pytest.raises(ValueError, match="Tensor or an iterable"):
        scaler.scale(3.0)
    half = torch.zeros(1, dtype=F16).requires_grad_()
    scaler.scale(half.float().sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=1.0))


def test_several_outputs_and_a_new_scale():
    scaler = GradScaler("cpu", init_scale=2.0)
    a, (b, c) = scaler.scale([torch.ones(1), (torch.ones(1), torch.ones(1))])
    assert a.item() == b.item() == c.item() == 2.0
    scaler.update(16.0)
    assert scaler.get_scale() == 16.0
    scaler.update(torch.tensor(4.0))
    assert scaler.scale(torch.ones(1)).item() == 4.0


def test_state_and_settings():
    scaler = GradScaler("cpu", init_scale=8.0, growth_interval=3)
    training(scaler, [1.0, 1.0])
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 2,
    }  # fmt: skip
    other = GradScaler("cpu")
    other.load_state_dict(state)
    assert training(other, [1.0]) == [(-1.0, 16.0)] and other.state_dict()["_growth_tracker"] == 0
    with pytest.raises(RuntimeError, match="state dict is empty"):
        other.load_state_dict({})
    other.set_growth_factor(4.0), other.set_backoff_factor(0.25), other.set_growth_interval(1)
    assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (4.0, 0.25, 1)
    assert training(other, [1.0, float("inf")]) == [(-1.0, 64.0), (-1.0, 16.0)]


def test_a_scaler_that_is_switched_off():
    scaler = GradScaler("cpu", enabled=False)
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    assert training(scaler, [1.0, 2.0]) == [(-1.0, 1.0), (-3.0, 1.0)] and not scaler.is_enabled()


@pytest.mark.skipif(torch.cuda.is_available(), reason="without CUDA")
def test_the_old_names_warn_and_are_switched_off():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scaler = torch.cuda.amp.GradScaler()
        with torch.cuda.amp.autocast():
            assert not torch.is_autocast_enabled("cuda") and (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is F32
    assert not scaler.is_enabled()
    assert [w.category for w in said] == [FutureWarning, UserWarning, FutureWarning, UserWarning]
    assert "torch.amp.GradScaler('cuda'" in str(said[0].message) and "Disabling" in str(said[1].message)
