"""Tensors by themselves: making, attributes, dtypes, printing, and the way to Python and NumPy."""

import copy
import math
import subprocess
import sys
import warnings

import ml_dtypes
import numpy as np
import pytest
from device_list import DEVICES

import autogradlab as torch
from autogradlab import dtypes

# Making ---------------------------------------------------------------------------------------------------------------


def test_from_numpy_shares_memory_whatever_the_layout():
    source = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (source, source.T, source[1:, ::2], source[:, 1]):
        t = torch.from_numpy(array)
        assert t.stride() == tuple(s // 4 for s in array.strides)
        t.mul_(-1)
        assert np.array_equal(t.numpy(), array)
        assert t.untyped_storage().nbytes() == 4 * (
            1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
        )


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 .got 1."),
        ("text", TypeError, "Could not infer dtype of str"),
        ([None], RuntimeError, "NoneType"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type <U1"),
        (np.zeros(2, complex), TypeError, "complex128"),
        ([1j], TypeError, "complex numbers are not offered"),
        ([2**70], ValueError, "Overflow"),
    ],
)
def test_data_that_is_no_tensor_is_refused(data, error, words):
    with pytest.raises(error, match=words):
        torch.tensor(data)


def test_integers_that_do_not_fit_are_refused_rather_than_wrapped():
    with pytest.raises(RuntimeError, match="int8 without overflow"):
        torch.tensor([300], dtype=torch.int8)


@pytest.mark.parametrize("device", DEVICES)
def test_making_on_a_device(device):
    for t in (torch.zeros(2, 3, device=device), torch.arange(3, device=device), torch.rand(2, device=device),
              torch.tensor([1.0], device=device), torch.empty_strided((2, 2), (1, 2), device=device)):  # fmt: skip
        assert t.device is torch.device(device) and torch.zeros_like(t).device is t.device


def test_random_numbers_repeat_from_a_seed_and_differ_without():
    torch.manual_seed(3)
    first, second = torch.randn(4), torch.randn(4)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(4), first) and not torch.equal(first, second)
    assert sorted(torch.randperm(5).tolist()) == [0, 1, 2, 3, 4]


def test_like_keeps_the_order_of_the_dimensions():
    t = torch.zeros(2, 3).t()
    assert torch.ones_like(t).stride() == (1, 3) and t.clone().stride() == (1, 3)
    assert torch.ones_like(torch.zeros(1, 3).expand(2, 3)).stride() == (3, 1)


# Attributes -----------------------------------------------------------------------------------------------------------


def test_attributes():
    t = torch.zeros(2, 3, 4)[1:, ::2]
    assert t.shape == (1, 2, 4) and t.shape.numel() == 8 and t.stride() == (12, 8, 1) and t.storage_offset() == 12
    assert t.data_ptr() - t._base.data_ptr() == 48 and t.nbytes == 32 and t.untyped_storage().nbytes() == 96
    assert t.size(-1) == 4 and len(t) == 1 and t.dim() == t.ndim == 3 and not t.is_contiguous()


def test_a_tensor_takes_attributes_of_the_user_and_can_be_copied():
    t = torch.ones(2)
    t.note = "mine"
    assert t.note == "mine"
    assert copy.deepcopy(torch.float32) is torch.float32 and copy.copy(t.device) is t.device


def test_the_old_storage_warns_and_works():
    with pytest.warns(UserWarning, match="untyped_storage"):
        old = torch.arange(3.0).storage()
    assert len(old) == 3 and old.tolist() == [0.0, 1.0, 2.0] and old[1] == 1.0


# dtypes ---------------------------------------------------------------------------------------------------------------


def test_promotion_is_symmetric_and_holds_both():
    plain = [d for d in dtypes.ALL if d not in dtypes.FLOAT8]
    for a in plain:
        for b in plain:
            c = torch.promote_types(a, b)
            assert c is torch.promote_types(b, a) and c.category == max(a.category, b.category)
            if a.category == b.category == dtypes.INT:
                assert torch.iinfo(c).min <= min(torch.iinfo(a).min, torch.iinfo(b).min)
                assert torch.iinfo(c).max >= max(torch.iinfo(a).max, torch.iinfo(b).max)
            if a.category == b.category == dtypes.FLOAT:
                assert torch.finfo(c).max >= max(torch.finfo(a).max, torch.finfo(b).max)
                assert torch.finfo(c).eps <= min(torch.finfo(a).eps, torch.finfo(b).eps)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16"])
def test_narrow_floats_round_to_nearest_even_and_saturate_or_overflow(name):
    kind = getattr(torch, name)
    x = torch.tensor([1 / 3, 1.0625, 1e6, -1e6, 0.0, float("inf"), float("nan")])
    wide = x.to(kind).float()
    info = torch.finfo(kind)
    assert abs(wide[0].item() - 1 / 3) <= info.eps / 4
    assert wide[6].isnan().item()
    if name.startswith("float8"):
        assert wide[2].item() == info.max and wide[3].item() == -info.max, "saturates"
    elif name == "float16":
        assert wide[2].item() == math.inf
    assert info.bits == 8 * x.to(kind).element_size()


def test_bfloat16_sums_run_in_float32():
    assert torch.ones(10_000).bfloat16().sum().item() == 9984  # 10,000 rounded to bfloat16; adding in it stops at 256
    assert float(np.ones(10_000, ml_dtypes.bfloat16).sum()) == 256


def test_ml_dtypes_is_not_imported_before_it_is_needed():
    code = "import sys, autogradlab as t; t.ones(2) + 1; assert 'ml_dtypes' not in sys.modules; t.ones(2).bfloat16()"
    subprocess.run([sys.executable, "-c", code], check=True)


# Printing -------------------------------------------------------------------------------------------------------------

PRINTED = {
    "tensor(3.)": lambda: torch.tensor(3.0),
    "tensor([1.0000, 2.5000])": lambda: torch.tensor([1.0, 2.5]),
    "tensor([1., inf])": lambda: torch.tensor([1.0, math.inf]),
    "tensor([1.0000e+10, 1.0000e+00])": lambda: torch.tensor([1e10, 1.0]),
    "tensor([-1.,  2.])": lambda: torch.tensor([-1.0, 2.0]),
    "tensor([True])": lambda: torch.tensor([True]),
    "tensor([], dtype=torch.int64)": lambda: torch.zeros(0, dtype=torch.int64),
    "tensor([], size=(2, 0))": lambda: torch.zeros(2, 0),
    "tensor([0, 1], dtype=torch.int32)": lambda: torch.tensor([0, 1], dtype=torch.int32),
    "tensor([1.5000], dtype=torch.bfloat16)": lambda: torch.tensor([1.5]).bfloat16(),
    "tensor([1.], requires_grad=True)": lambda: torch.tensor([1.0], requires_grad=True),
    "tensor([2.], grad_fn=<MulBackward0>)": lambda: torch.tensor([1.0], requires_grad=True) * 2,
    "tensor([0.], device='sim:0')": lambda: torch.zeros(1, device="sim"),
    "tensor([   0,    1,    2,  ..., 1998, 1999])".replace("1998, 1999", "1997, 1998, 1999"): lambda: torch.arange(
        2000
    ),
    "tensor([[0, 1],\n        [2, 3]])": lambda: torch.arange(4).reshape(2, 2),
}


@pytest.mark.parametrize("text", list(PRINTED))
def test_tensors_print_as_pytorch_prints_them(text):
    assert repr(PRINTED[text]()) == text


def test_print_options_change_and_come_back():
    try:
        torch.set_printoptions(precision=2, sci_mode=True)
        assert repr(torch.tensor([1.0])) == "tensor([1.00e+00])"
    finally:
        torch.set_printoptions(profile="default")
    assert repr(torch.tensor([1.0])) == "tensor([1.])"


def test_results_with_names_print_as_pytorch_s():
    text = repr(torch.tensor([1.0, 3.0]).max(dim=0))
    assert text == "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))"
    assert repr(torch.zeros(2, 3).shape) == "torch.Size([2, 3])"


# To Python and NumPy --------------------------------------------------------------------------------------------------


def test_to_python():
    t = torch.tensor([[1, 2], [3, 4]])
    assert t.tolist() == [[1, 2], [3, 4]] and t[0, 1].item() == 2 and [10, 20, 30][t[0, 1]] == 30
    assert (
        float(torch.tensor(2)) == 2.0 and f"{torch.tensor(3.14159):.2f}" == "3.14" and bool(torch.tensor([0])) is False
    )
    assert torch.tensor([1.5]).bfloat16().item() == 1.5


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bool(torch.zeros(2)), RuntimeError, "more than one value is ambiguous"),
        (lambda: torch.zeros(2).item(), RuntimeError, "cannot be converted to Scalar"),
        (lambda: len(torch.tensor(1)), TypeError, "len.. of a 0-d tensor"),
        (lambda: iter(torch.tensor(1)), TypeError, "0-d tensor"),
        (lambda: torch.ones(2, requires_grad=True).numpy(), RuntimeError, "requires grad.*detach"),
        (lambda: torch.ones(2, device="sim").numpy(), TypeError, "sim:0.*cpu"),
        (lambda: torch.ones(2).bfloat16().numpy(), TypeError, "BFloat16"),
        (lambda: [1, 2][torch.tensor(1.0)], TypeError, "integer tensors of a single element"),
        (lambda: torch.zeros(2, 3) @ torch.zeros(2, 3), RuntimeError, "mat1 and mat2 shapes cannot be multiplied"),
        (lambda: torch.zeros(2) @ torch.zeros(2, dtype=torch.float64), RuntimeError, "same dtype.*float32 != float64"),
        (
            lambda: torch.zeros(3, 4) + torch.zeros(3),
            RuntimeError,
            r"size of tensor a \(4\) must match.*tensor b \(3\)",
        ),
        (lambda: torch.add(torch.ones(1)), TypeError, r"add\(\): missing 1 required.*add\(input, other, \*, alpha=1\)"),
        (lambda: torch.ones(2) + "a", TypeError, "unsupported operand"),
        (lambda: torch.tensor([True]) - torch.tensor([True]), RuntimeError, "Subtraction.*bool tensor.*logical_not"),
        (lambda: torch.tensor([1]).mean(), RuntimeError, "floating point.*Long"),
        (lambda: torch.zeros(3).add_(torch.zeros(2, 3)), RuntimeError, "shape"),
        (
            lambda: torch.zeros(3, dtype=torch.int64).add_(1.5),
            RuntimeError,
            "can't be cast to the desired output type Long",
        ),
        (
            lambda: torch.arange(9.0).as_strided((4, 4), (4, 1)),
            RuntimeError,
            "out of bounds of the storage.*9 elements",
        ),
        (lambda: torch.device("gpu"), RuntimeError, "Expected one of cpu, cuda, sim.*gpu"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_numpy_beside_a_tensor():
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    assert (np.float32(2) * t).requires_grad and (t * np.float64(3)).dtype is torch.float32
    assert (t * np.ones(2)).dtype is torch.float64
    np.testing.assert_array_equal(np.asarray(torch.ones(2)), np.ones(2))


def test_copying_a_tensor_with_tensor_says_what_to_use():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.tensor(torch.ones(1))
    assert "detach().clone()" in str(seen[0].message)


@pytest.mark.parametrize("write", [
    lambda v, d: torch.ones(2, dtype=d).fill_(v),
    lambda v, d: torch.ones(2, dtype=d).masked_fill(torch.tensor([True, True]), v),
    lambda v, d: torch.full((2,), v, dtype=d),
    lambda v, d: torch.full_like(torch.ones(2), v, dtype=d),
    lambda v, d: torch.ones(2, dtype=d).index_fill(0, torch.tensor([0, 1]), v),
])  # fmt: skip
def test_a_number_that_is_written_fits_the_dtype(write):
    assert write(-1, torch.uint8).tolist() == [255, 255] and write(1e20, torch.bool).tolist() == [True, True]
    assert write(float("-inf"), torch.float16).tolist() == [float("-inf")] * 2
    for value, dtype in ((300, torch.uint8), (math.nan, torch.int64), (-1e9, torch.float16), (2**40, torch.int32)):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            write(value, dtype)


def test_where_clamp_and_pow_refuse_a_number_that_does_not_fit_an_integer_dtype():
    x = torch.ones(2, dtype=torch.uint8)
    for call in (lambda: torch.where(x > 0, x, 300), lambda: x.clamp(max=300), lambda: x**300):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()
    assert (x + 300).tolist() == [45, 45]  # sums wrap round


def test_a_dtype_may_be_python_s_and_nothing_else_that_is_no_dtype():
    made = torch.zeros(2, dtype=int), torch.ones((2,), dtype=bool), torch.ones(2).to(float), torch.rand(2, dtype=float)
    assert [t.dtype for t in made] == [torch.int64, torch.bool, torch.float64, torch.float64]
    assert torch.tensor([1.5], dtype=int).sum(dtype=float).dtype is torch.float64
    for make in (torch.zeros, torch.rand, torch.full):
        with pytest.raises(TypeError, match="must be torch.dtype, not str"):
            make(*[(2,), 1][: 1 + (make is torch.full)], dtype="float32")
    for size in (1.5, "a", (2, "a")):
        with pytest.raises(TypeError, match="a size must be an integer"):
            torch.zeros(size)


def test_seeds_are_integers_of_64_bits():
    assert torch.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
    assert torch.manual_seed(3) is torch.default_generator and isinstance(torch.default_generator, torch.Generator)
    for seed, error in ((2**64, ValueError), (1.5, RuntimeError)):
        with pytest.raises(error):
            torch.Generator().manual_seed(seed)


def test_numbers_are_copied_and_legacy_names_of_types_are_dtypes():
    assert torch.ones(2).copy_(3).tolist() == [3, 3] and torch.ones(2).type("torch.LongTensor").dtype is torch.int64
    with pytest.raises(ValueError, match="invalid type"):
        torch.ones(2).type("torch.NoTensor")


@pytest.mark.parametrize(("call", "error"), [
    (lambda: torch.meshgrid(torch.ones(2, 2)), RuntimeError),
    (lambda: torch.meshgrid([1.0], [2.0]), TypeError),
    (lambda: torch.zeros(0).argmin(), IndexError),
    (lambda: torch.nn.Conv2d(1, 2, 0)(torch.ones(1, 1, 3, 3)), RuntimeError),
])  # fmt: skip
def test_empty_and_misshapen_input_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_warnings_made_errors_do_not_stop_infinities():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.tensor([0.0, -1.0], requires_grad=True)
        (x.log().sqrt() / x).sum().backward()
        assert torch.tensor([3e38]).mul_(10).item() == float("inf")
        assert (torch.tensor([1]) / 0).item() == torch.tensor([3e38, 3e38]).sum().item() == float("inf")


@pytest.mark.parametrize("call", [
    lambda: torch.equal([1], [1]), lambda: torch.outer([1], [2]), lambda: torch.numel(3),
    lambda: torch.mm(torch.ones(2, 2), 1), lambda: torch.reshape([1], (1,)),
])  # fmt: skip
def test_what_is_no_tensor_is_named(call):
    with pytest.raises(TypeError, match="must be Tensor, not (list|int)"):
        call()


def test_requires_grad_is_a_bool():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="must be a bool"):
        x.requires_grad = 5
    with pytest.raises(TypeError, match="must be bool"):
        x.requires_grad_("yes")
    with pytest.raises(TypeError, match="has to be a tensor"):
        x.data = 3


def test_memory_is_shared_with_other_libraries_by_dlpack():
    x = torch.arange(6.0).reshape(2, 3)
    there = np.from_dlpack(x)
    there[0, 0] = 9
    assert x[0, 0].item() == 9
    back = torch.from_dlpack(there.T if hasattr(there, "T") else there)
    assert back.shape == (3, 2) and back.stride() == (1, 3) and back.data_ptr() == x.data_ptr()
    assert torch.from_dlpack(x).data_ptr() == x.data_ptr() != torch.from_dlpack(x, copy=True).data_ptr()
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(x.clone().requires_grad_())
    with pytest.raises(BufferError, match="simulated"):
        x.to("sim").__dlpack__()
    with pytest.raises(TypeError, match="got list"):
        torch.from_dlpack([1.0])
    with pytest.raises(AttributeError, match="cuda_array_interface"):
        _ = x.__cuda_array_interface__
    assert not hasattr(x, "__cuda_array_interface__")


def test_the_example_of_a_kernel_of_ones_own():
    import runpy
    from pathlib import Path

    space = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "custom_kernel.py"))
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(space["Softsign"].apply, x)
    assert torch.allclose(space["Softsign"].apply(x), torch.nn.functional.softsign(x))
