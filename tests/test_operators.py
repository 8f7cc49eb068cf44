"""Every operator of the table, by its own samples: values, derivatives, layouts, dtypes, devices, in-place forms."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from device_list import ACCELERATORS, DEVICES
from operator_samples import OPERATORS, WITHOUT, call, outputs, samples, tensors

import autogradlab as torch
from autogradlab import late
from autogradlab.operators import handed_to

TESTED = [n for n in OPERATORS if n not in WITHOUT]
DIFFERENTIABLE = [n for n in TESTED if late.operators[n].formulas and n not in ("floor_divide", "cast")]
IN_PLACE = [n for n in TESTED if late.operators[n].in_place]
# Steps and kinks: the derivative is defined as 0 there, central differences see a cliff.
STEPS = {"remainder", "fmod", "floor", "ceil", "trunc", "round", "trunc_divide", "floor_quotient"}


def test_every_operator_has_samples_or_a_reason():
    missing = [n for n in OPERATORS if n not in WITHOUT and (late.operators[n].samples is None or not samples(n))]
    assert not missing, "operators without sample inputs"
    assert WITHOUT <= set(OPERATORS), "reasons for operators that do not exist"


def values(result):
    """Results as float64 arrays on the host."""
    return [np.asarray(t.detach().cpu().to(torch.float64).numpy()) for t in outputs(result)]


@pytest.mark.parametrize("name", TESTED)
def test_results_own_their_memory_and_say_their_dtype(name):
    op = late.operators[name]
    for args, kwargs in samples(name):
        for out in outputs(call(name, args, kwargs)):
            assert out.window.dtype == out.dtype.numpy
            assert tuple(out.window.shape) == tuple(out.shape)
            if op.geometry is None:
                for given in tensors(args):
                    assert not np.shares_memory(out.window, given.window), "a kernel must return a fresh array"
            else:
                assert out.untyped_storage() is args[0].untyped_storage()


@pytest.mark.parametrize("device", ACCELERATORS)
@pytest.mark.parametrize("name", TESTED)
def test_accelerators_agree_with_the_cpu(name, device):
    exact = device.startswith("sim")  # NumPy computes underneath; a GPU rounds its own way
    for (args, kwargs), (there, _) in zip(samples(name), samples(name, device=device), strict=True):
        here, far = call(name, args, kwargs), call(name, there, kwargs)
        for a, b in zip(outputs(here), outputs(far), strict=True):
            assert str(b.device) == device and a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
        for a, b in zip(values(here), values(far), strict=True):
            np.testing.assert_allclose(a, b, rtol=0 if exact else 1e-6, atol=0 if exact else 1e-8)


@pytest.mark.parametrize("name", [n for n in TESTED if late.operators[n].geometry and late.operators[n].kernel])
def test_geometry_agrees_with_numpy(name):
    """A view made by arithmetic on strides shows what NumPy's own function shows."""
    for args, kwargs in samples(name, grad=False):
        inputs, options = late.operators[name].bind(args, kwargs)
        expected = late.operators[name].kernel(np, inputs[0].numpy(), **options)
        np.testing.assert_array_equal(call(name, args, kwargs).numpy(), expected)


def test_a_kernel_that_is_no_more_than_an_array_function_is_called_as_it():
    found = {n: handed_to(op.kernel, len(op.inputs)) for n, op in late.operators.items() if op.kernel}
    assert (
        found["add"] == "add" and found["mul"] == "multiply" and found["asin"] == "arcsin" and found["mm"] == "matmul"
    )
    others = ("rsub", "relu", "where", "rsqrt", "softmax", "cat")  # in other order, of other operands, of several steps
    assert not any(found[name] for name in others)
    for name in filter(found.get, TESTED):
        for args, _ in samples(name, grad=False):
            windows = [t.window for t in args if isinstance(t, torch.Tensor)]
            if len(windows) == len(late.operators[name].inputs):
                expected = late.operators[name].kernel(np, *windows)
                np.testing.assert_array_equal(
                    late.operators[name].kernel_on(args[0].device.backend)(*windows), expected
                )


def test_a_formula_is_not_handed_options_that_nobody_gave():
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    plain, scaled = (a + b).grad_fn, torch.add(a, b, alpha=2).grad_fn
    assert not plain.recipe.options and plain._saved_alpha == 1
    assert scaled.recipe.options == ("alpha",) and scaled._saved_alpha == 2
    (torch.add(a, b, alpha=2) + a.sub(b, alpha=3) + (a - b)).sum().backward()
    assert a.grad.tolist() == [3.0] * 3 and b.grad.tolist() == [-2.0] * 3


def loss_of(name, args, kwargs, weights):
    """One number that every element of every floating point output moves by its own weight."""
    total = 0
    for i, out in enumerate(outputs(call(name, args, kwargs))):
        if out.dtype.is_floating_point:
            weight = torch.tensor(weights[i % len(weights)][: out.numel()]).to(out.device)
            total = total + (out * weight.reshape(tuple(out.shape))).sum()
    return total


# Not the samples' seeds: weights in line with the inputs would hide the gradient of a normalization.
WEIGHTS = [np.random.default_rng(100 + k).uniform(0.5, 1.5, 400) for k in range(4)]


def central_differences(f, leaf, eps=1e-6):
    """The gradient of f() by moving each element of a leaf a little, in float64."""
    grad = np.zeros(tuple(leaf.shape))
    with torch.no_grad():
        for index in np.ndindex(*leaf.shape):
            before = leaf[index].item()
            leaf[index] = before + eps
            high = float(f())
            leaf[index] = before - eps
            low = float(f())
            leaf[index] = before
            grad[index] = (high - low) / (2 * eps)
    return grad


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_central_differences(name, device):
    checked = 0
    for args, kwargs in samples(name, device=device):
        leaves = [t for t in tensors(args) if t.requires_grad]
        loss = loss_of(name, args, kwargs, WEIGHTS)
        if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
            continue
        grads = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
        for leaf, grad in zip(leaves, grads, strict=True):
            assert grad.shape == leaf.shape and grad.dtype is leaf.dtype and grad.device is leaf.device
            expected = central_differences(lambda a=args, k=kwargs: loss_of(name, a, k, WEIGHTS), leaf)
            np.testing.assert_allclose(grad.cpu().numpy(), expected, rtol=2e-5, atol=2e-6)
            checked += 1
    assert checked, "no sample has a gradient to check"


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n not in STEPS])
def test_second_derivatives_are_those_of_central_differences(name):
    """The recorded gradient has a gradient of its own: that of (grad * weights).sum() by central differences."""
    for args, kwargs in samples(name):
        leaves = [t for t in tensors(args) if t.requires_grad and 0 < t.numel() <= 24]
        if not leaves:
            continue

        def slope(args=args, kwargs=kwargs, leaves=leaves):
            loss = loss_of(name, args, kwargs, WEIGHTS)
            if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
                return None
            grads = torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
            return sum((g * torch.tensor(WEIGHTS[1][: g.numel()]).reshape(tuple(g.shape))).sum() for g in grads)

        outer = slope()
        if outer is None:
            continue
        if outer.requires_grad:
            seconds = torch.autograd.grad(outer, leaves, allow_unused=True, materialize_grads=True)
        else:  # the gradient claims to be constant
            seconds = [torch.zeros(*leaf.shape, dtype=leaf.dtype) for leaf in leaves]

        def flat_slope(slope=slope):
            with torch.enable_grad():
                return slope().detach()

        for leaf, second in zip(leaves, seconds, strict=True):
            expected = central_differences(flat_slope, leaf, eps=1e-5)
            np.testing.assert_allclose(second.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", IN_PLACE)
def test_the_in_place_form_writes_what_the_other_returns(name):
    op = late.operators[name]
    for args, kwargs in samples(name, grad=False):
        if not isinstance(args[0], torch.Tensor):
            continue
        expected = call(name, args, kwargs)
        if expected.shape != args[0].shape or expected.dtype.category > args[0].dtype.category:
            continue
        target = args[0].clone()
        pointer, version = target.data_ptr(), target._version
        assert op.write(target, *args[1:], **kwargs) is target
        assert target.data_ptr() == pointer and target._version == version + 1
        np.testing.assert_allclose(target.numpy(), expected.to(target.dtype).numpy())


@pytest.mark.parametrize("name", [n for n in IN_PLACE if n in DIFFERENTIABLE])
def test_the_in_place_form_has_the_same_gradients(name):
    for (args, kwargs), (again, _) in zip(samples(name), samples(name), strict=True):
        expected = call(name, args, kwargs)
        if expected.shape != args[0].shape:
            continue
        leaves = [t for t in tensors(args) if t.requires_grad]
        others = [t for t in tensors(again) if t.requires_grad]
        written = late.operators[name].write(again[0] * 1, *again[1:], **kwargs)
        weights = torch.tensor(WEIGHTS[0][: expected.numel()]).reshape(tuple(expected.shape))
        one = torch.autograd.grad((expected * weights).sum(), leaves, allow_unused=True, materialize_grads=True)
        two = torch.autograd.grad((written * weights).sum(), others, allow_unused=True, materialize_grads=True)
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy())


def refuses(name, dtype) -> bool:
    """Linear algebra's libraries have no half precision, nor has PyTorch there."""
    accepts = late.operators[name].accepts
    return accepts is not None and not accepts(dtype)


HALF = {"float16": 2**-10, "bfloat16": 2**-7}


@pytest.mark.parametrize("dtype", list(HALF))
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_half_precision_is_float32_rounded_once(name, dtype):
    half = getattr(torch, dtype)
    if refuses(name, half):
        return
    for args, kwargs in samples(name, dtype=half):
        floats = [_like(a, torch.float32) for a in args]
        for low, high in zip(outputs(call(name, args, kwargs)), outputs(call(name, floats, kwargs)), strict=True):
            if low.dtype.is_floating_point:
                assert low.dtype is half
                rounded = high.detach().to(half).float().numpy()
                np.testing.assert_allclose(low.detach().float().numpy(), rounded, rtol=HALF[dtype] / 100, atol=1e-7)


def _like(value, dtype):
    if isinstance(value, list):
        return [_like(v, dtype) for v in value]
    if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
        return value.detach().to(dtype).requires_grad_(value.requires_grad)
    return value


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_half_precision_gradients_have_the_leaf_s_dtype(name):
    if refuses(name, torch.bfloat16):
        return
    for args, kwargs in samples(name, dtype=torch.bfloat16):
        leaves = [t for t in tensors(args) if t.requires_grad]
        total = sum(o.sum() for o in outputs(call(name, args, kwargs)) if o.dtype.is_floating_point)
        if not total.requires_grad:
            continue
        for leaf, grad in zip(leaves, torch.autograd.grad(total, leaves, allow_unused=True), strict=True):
            assert grad is None or grad.dtype is leaf.dtype and grad.window.dtype == leaf.dtype.numpy


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("name", [n for n in TESTED if late.operators[n].pointwise])
def test_integers_and_bools_compute_or_are_refused_by_name(name, dtype):
    for args, kwargs in samples(name, dtype=getattr(torch, dtype)):
        try:
            result = call(name, args, kwargs)
        except RuntimeError as error:
            assert name.split("_")[0] in str(error) or "integer" in str(error).lower() or "bool tensor" in str(error)
            continue
        for out in outputs(result):
            assert out.window.dtype == out.dtype.numpy


def test_float8_is_refused_with_the_way_out():
    x = torch.ones(2).to(torch.float8_e4m3fn)
    with pytest.raises(RuntimeError, match="not implemented for 'Float8_e4m3fn'.*cast to float32"):
        x + x
    assert x.clone().dtype is torch.float8_e4m3fn and x[0].float().item() == 1


def test_no_operator_warns_on_values_that_have_a_result():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autogradlab\.")
        x = torch.tensor([0.0, -1.0, float("inf")])
        assert (1 / x).tolist()[0] == float("inf")
        assert x.log().isnan().tolist() == [False, True, False]
        assert torch.zeros(0).mean().isnan()


def test_numpy_s_errstate_does_not_reach_into_operators():
    with np.errstate(all="raise"):
        assert (torch.ones(1) / 0).item() == float("inf") and torch.zeros(2).log().tolist() == [float("-inf")] * 2


def test_arguments_are_read_once():
    with pytest.raises(TypeError, match="stack.*holds a NoneType"):
        torch.stack(t for t in (torch.ones(1), None))
    with pytest.raises(TypeError, match=r"^round\(\).*unexpected keyword argument 'self'"):
        torch.ones(1).round(self=torch.ones(1))


def test_a_sum_that_overflows_is_inf_and_says_nothing():
    program = (
        "import warnings; warnings.simplefilter('error'); import autogradlab as torch;"
        "x = torch.full((4,), 1e38); print(x.sum().item(), (x - x.sum()).sum().item(), x.mean().item())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["inf", "-inf", "inf"], "")


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_by_symmetric_matrices(upper):
    """It reads one triangle; its gradient is that for a symmetric matrix, shared by both."""
    x = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)

    def factor(x):
        return torch.linalg.cholesky(x @ x.mT + 3 * torch.eye(3, dtype=torch.float64), upper=upper)

    assert torch.autograd.gradcheck(factor, x) and torch.autograd.gradgradcheck(factor, x)
    made = factor(x).detach()
    made = made.mT if upper else made
    np.testing.assert_allclose((made @ made.mT).numpy(), (x @ x.mT).detach().numpy() + 3 * np.eye(3))
