"""Custom Functions and gradcheck; every gradcheck has a twin with a planted bug that must fail."""

import gc
import weakref

import pytest
from device_list import DEVICES

import autogradlab as torch
from autogradlab.autograd import Function, GradcheckError, gradcheck, gradgradcheck
from autogradlab.autograd.function import once_differentiable


def leaf(*values, dtype=torch.float64, device="cpu"):
    return torch.tensor(list(values), dtype=dtype, device=device, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x**2


class WrongCube(Cube):
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0] ** 2


class HiddenCube(Cube):
    """Right once; its second derivative is lost, as the slope is worked out behind autograd's back."""

    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x.detach() ** 2
        return x**3

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


class Exp(Function):
    """Saves its own output; in the form with setup_context."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Scale(Function):
    """A tensor, a number and a flag; two outputs, one of them whole numbers."""

    @staticmethod
    def forward(ctx, x, factor, flag=True):
        ctx.factor = factor
        return x * factor, (x > 0).long()

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.factor, None, None


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", [Cube, Exp])
def test_a_right_function_passes_both_checks(function, device):
    x = leaf(0.5, -1.2, 2.0, device=device)
    assert gradcheck(function.apply, (x,)) and gradgradcheck(function.apply, (x,))
    assert gradcheck(function.apply, (x,), fast_mode=True)
    assert function.apply(x).grad_fn.name() == f"{function.__name__}Backward"


@pytest.mark.parametrize("fast", [False, True])
def test_a_planted_bug_is_found(fast):
    x = leaf(0.5, -1.2, 2.0)
    with pytest.raises(
        GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0.*numerical.*analytical"
    ):
        gradcheck(WrongCube.apply, (x,), fast_mode=fast)
    assert not gradcheck(WrongCube.apply, (x,), raise_exception=False, fast_mode=fast)
    assert x.tolist() == [0.5, -1.2, 2.0], "the inputs are as they were"


def test_what_the_first_check_misses_the_second_finds():
    x = leaf(2.0)
    assert gradcheck(HiddenCube.apply, (x,)) and not gradgradcheck(HiddenCube.apply, (x,), raise_exception=False)


def test_gradcheck_of_several_inputs_and_outputs():
    a, b = leaf(1.0, 2.0), leaf(3.0)
    assert gradcheck(lambda a, b, k: (a * b * k, (a + b).sin()), (a, b, 2.0))
    assert gradgradcheck(lambda a, b: a * b, (a, b))


def test_kinks_and_edges_fail_and_say_so():
    with pytest.raises(GradcheckError, match="kink"):
        gradcheck(torch.relu, (leaf(0.0),))
    with pytest.raises(GradcheckError):
        gradcheck(torch.log, (leaf(0.0),))


def test_gradcheck_refuses_what_it_cannot_check():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(torch.sin, (torch.ones(2),))
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(torch.sin, (leaf(1.0, dtype=torch.float32),), atol=1e-1)
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(torch.sin, (torch.ones(1, dtype=torch.float64).expand(3).requires_grad_(),))


def test_inputs_that_are_no_tensors_and_outputs_without_gradient():
    x = leaf(1.0, -2.0)
    y, whole = Scale.apply(x, 4)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0] and not whole.requires_grad and whole.tolist() == [1, 0]


def test_needs_input_grad_and_unused_outputs():
    seen = []

    class Both(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * 2, b * 3

        @staticmethod
        def backward(ctx, ga, gb):
            seen.append((ctx.needs_input_grad, gb.tolist()))
            return ga * 2, gb * 3

    a = leaf(1.0)
    Both.apply(a, torch.ones(1, dtype=torch.float64))[0].sum().backward()
    assert seen == [((True, False), [0.0])] and a.grad.item() == 2.0


def test_saved_tensors_are_checked_and_freed():
    x = leaf(1.0, 2.0)
    h = x * 2
    y = Cube.apply(h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*CubeBackward"):
        y.sum().backward()
    z = Cube.apply(x).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


def test_mark_dirty_writes_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    y = x * 1
    z = Double.apply(y)
    assert z is y and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def short(ctx, g):
    return ()


def wrong_shape(ctx, g):
    return g.sum().expand(5)


def no_tensor(ctx, g):
    return 3.0


@pytest.mark.parametrize(
    ("backward", "error", "words"),
    [
        (short, RuntimeError, r"incorrect number of gradients \(expected 1, got 0\)"),
        (
            wrong_shape,
            RuntimeError,
            r"invalid gradient at index 0: got a gradient of shape \(5,\) for an input of shape \(2,\)",
        ),
        (no_tensor, RuntimeError, "returned a float as gradient"),
    ],
)
def test_a_backward_that_returns_the_wrong_thing_is_named(backward, error, words):
    broken = type("Broken", (Cube,), {"backward": staticmethod(backward)})
    with pytest.raises(error, match=words):
        broken.apply(leaf(1.0, 2.0)).sum().backward()


def test_a_gradient_for_a_number_is_refused():
    class Times(Function):
        @staticmethod
        def forward(ctx, x, index, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * 2, g, for_the_factor

    x, index = leaf(1.0, 2.0), torch.tensor([0, 1])
    for_the_factor = None
    Times.apply(x, index, 2.0).sum().backward()  # one for an integer tensor is ignored
    assert x.grad.tolist() == [2.0, 2.0]
    for_the_factor = torch.ones(2)
    with pytest.raises(RuntimeError, match="different than None at position 3, but the corresponding forward input"):
        Times.apply(x, index, 2.0).sum().backward()


def test_a_function_is_not_instantiated():
    with pytest.raises(RuntimeError, match="Cube.apply"):
        Cube()


def test_once_differentiable():
    class Once(Cube):
        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return 3 * g * ctx.saved_tensors[0] ** 2

    x = leaf(2.0)
    (g,) = torch.autograd.grad(Once.apply(x), x, create_graph=True)
    assert g.item() == 12.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()
    with pytest.raises(RuntimeError, match="differentiated"):
        torch.autograd.grad(g, x)


def test_a_custom_function_dies_by_reference_counting():
    gc.collect()
    gc.disable()
    try:
        y = Exp.apply(leaf(1.0)).sum()
        node = weakref.ref(y.grad_fn.next_functions[0][0])
        y.backward()
        del y
        assert node() is None and gc.collect() == 0
    finally:
        gc.enable()
