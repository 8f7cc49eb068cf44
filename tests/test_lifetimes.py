"""Lifetimes: everything is freed by reference counting alone, at once, while the collector is off."""

import gc
import weakref

import pytest

import autogradlab as torch
from autogradlab import late, nn
from autogradlab.utils.checkpoint import checkpoint

late.load_all()  # loading a file leaves work to the collector; what is looked at here is what programs make


@pytest.fixture(autouse=True)
def without_the_collector():
    gc.collect()
    gc.freeze()  # what is there already is not looked through again and again
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


class Freed:
    """Objects that must be gone once the function that made them has returned."""

    def __init__(self):
        self.watched = []

    def __call__(self, thing):
        self.watched.append((repr(thing)[:60], weakref.ref(thing)))
        return thing

    def check(self):
        assert self.watched
        assert not [name for name, ref in self.watched if ref() is not None]
        assert gc.collect() == 0, "something was left to the collector"


def freed(program):
    """Run it; what it watched must be dead afterwards."""
    watch = Freed()
    gc.collect()
    program(watch)
    watch.check()


def leaf(*shape):
    return torch.randn(*shape or (3,)).requires_grad_()


def test_a_graph_that_never_runs():
    def program(watch):
        x = watch(leaf())
        y = watch((x * 2).exp())
        watch(y.grad_fn), watch(y.grad_fn.next_functions[0][0]), watch(y.sum())

    freed(program)


def test_a_graph_after_backward_and_what_it_saved():
    def program(watch):
        x = watch(leaf())
        y = watch(x.exp())
        loss = (y * y).sum()
        loss.backward()
        watch(x.grad), watch(loss.grad_fn)

    freed(program)


def test_the_middle_of_a_graph_goes_before_its_end():
    x = leaf()
    y = x * 2
    middle = weakref.ref(y)
    z = y + 1
    del y
    assert middle() is None and z.requires_grad


def test_saved_tensors_go_during_backward():
    x = leaf()
    y = (x * 2).exp()
    saved = weakref.ref(y)
    z = y * y
    del y
    assert saved() is not None
    z.sum().backward()
    assert saved() is None


@pytest.mark.parametrize("create", [False, True])
def test_second_derivatives(create):
    def program(watch):
        x = watch(leaf())
        (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
        watch(g)
        (h,) = torch.autograd.grad(g.sum(), x, create_graph=create)
        watch(h)

    freed(program)


def test_views_and_writes():
    def program(watch):
        x = watch(leaf(4))
        base = watch(x * 1)
        view = watch(base[1:])
        view.mul_(2)
        watch(view.grad_fn), watch(base.grad_fn)
        base.sum().backward()

    freed(program)


def test_hooks():
    def program(watch):
        x = watch(leaf())
        y = watch(x * 2)
        seen = []
        y.register_hook(lambda g: seen.append(g.shape))
        y.retain_grad()
        y.grad_fn.register_prehook(lambda g: None)
        y.grad_fn.register_hook(lambda a, b: None)
        x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.shape))
        torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: seen.append(len(grads)))
        y.sum().backward()
        watch(y.grad)
        assert len(seen) == 3

    freed(program)


def test_a_hook_that_captures_its_tensor_is_the_users_own_cycle():
    def program():
        y = leaf() * 2
        y.register_hook(lambda g: y)
        return weakref.ref(y)

    gone = program()
    assert gone() is not None
    gc.collect()
    assert gone() is None


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        ctx.note = "kept"
        return y

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


def test_a_custom_function_that_saves_its_output():
    def program(watch):
        x = watch(leaf())
        y = watch(Square.apply(x))
        watch(y.grad_fn)
        y.sum().backward()
        watch(Square.apply(x))

    freed(program)


def test_a_checkpoint():
    def program(watch):
        x = watch(leaf())
        y = watch(checkpoint(lambda x: watch(x.exp()).sin(), x))
        watch(y.grad_fn)
        y.sum().backward()
        unused = watch(checkpoint(lambda x: x.exp().sin(), x))
        watch(unused.grad_fn)

    freed(program)


def test_nested_checkpoints_and_one_that_fails():
    def program(watch):
        x = watch(leaf())
        inner = lambda x: watch(x.exp()).sin()  # noqa: E731
        y = watch(checkpoint(lambda x: checkpoint(inner, x).exp(), x))
        y.sum().backward()
        runs = iter([torch.exp, lambda x: x + 1])
        z = watch(checkpoint(lambda x: next(runs)(x), x))
        with pytest.raises(RuntimeError):
            z.sum().backward()

    watch = Freed()
    program(watch)
    watch.check()


def test_saved_tensors_hooks():
    def program(watch):
        x = watch(leaf())
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            y = watch(x.exp().sin())
        y.sum().backward()
        with torch.autograd.graph.save_on_cpu():
            watch(x.exp().sin())

    freed(program)


def test_a_step_of_an_optimizer():
    def program(watch):
        model = nn.Linear(3, 2)
        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
            optimizer = watch(kind(model.parameters(), lr=0.1))
            model(torch.ones(1, 3)).sum().backward()
            scheduler = watch(torch.optim.lr_scheduler.StepLR(optimizer, 1))
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        for p in model.parameters():
            watch(p)
        watch(model)

    freed(program)


def test_casts_go_with_the_autocast_block():
    def program(watch):
        w = watch(leaf(3, 3))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = watch(w @ w)
            cast = y.grad_fn.next_functions[0][0]
            watch(cast)
        del y, cast
        with torch.autocast("cpu", dtype=torch.bfloat16):
            (w @ w).float().sum().backward()

    freed(program)


def test_an_exception_in_backward():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("no")

    watch = Freed()

    def program():
        x = watch(leaf())
        y = watch(Fails.apply(x.exp()))
        try:
            (y * y).sum().backward()
        except KeyError:
            pass

    program()
    assert not [name for name, ref in watch.watched if ref() is not None]
    assert torch.is_grad_enabled()


def test_a_refused_second_backward():
    def program(watch):
        x = watch(leaf())
        y = (x * x).sum()
        y.backward()
        try:
            y.backward()
        except RuntimeError:
            pass
        watch(y)

    freed(program)


def test_a_generator_under_no_grad():
    @torch.no_grad()
    def numbers(x):
        while True:
            yield x * 2

    def program(watch):
        x = watch(leaf())
        for y in numbers(x):
            watch(y)
            break

    freed(program)


def test_jacobians_and_gradcheck():
    def program(watch):
        x = watch(torch.randn(3, dtype=torch.float64).requires_grad_())
        watch(torch.autograd.functional.hessian(lambda x: (x**3).sum(), x))
        torch.autograd.gradcheck(torch.exp, x)

    freed(program)


def test_a_long_chain_is_freed_without_recursion():
    x = leaf(1)
    y = x
    for _ in range(20_000):
        y = y * 1.0001
    gone = weakref.ref(y)
    del y
    assert gone() is None


def test_memory_stays_flat_over_training_steps():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    counts = []
    for _ in range(8):
        checkpoint(model, torch.randn(4, 8)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        counts.append(len(gc.get_objects()))
    assert counts[-1] - counts[4] <= 10


def address(t) -> int:
    return t.untyped_storage().data_ptr()


def test_a_leaf_takes_over_its_first_gradient_only_if_nobody_else_holds_it():
    """The engine counts references to decide; the count differs between versions of Python, and must be right."""
    a, b = (torch.ones(4, 5).requires_grad_() for _ in range(2))
    (a + b).backward(torch.ones(4, 5))  # one array arrives at both
    assert address(a.grad) != address(b.grad)
    a.grad.mul_(3)
    assert torch.equal(b.grad, torch.ones(4, 5))

    seed = torch.ones(4, 5)
    c = torch.ones(4, 5).requires_grad_()
    (c + 0.0).backward(seed)  # the caller's own
    assert address(c.grad) != address(seed)

    d = torch.ones(300, 300).requires_grad_()
    seen = []
    d.register_hook(lambda g: seen.append(g))  # a hook kept it
    (d * 2).backward(torch.ones(300, 300))
    assert address(seen[0]) != address(d.grad)


def test_a_gradient_that_nobody_else_holds_is_not_copied(monkeypatch):
    from autogradlab import engine, late

    copies = []
    make = late.functions["empty_strided"]
    monkeypatch.setitem(late.functions, "empty_strided", lambda *a, **k: copies.append(a) or make(*a, **k))
    x = torch.ones(4, 5).requires_grad_()
    (x * 2).sum().backward()
    w = torch.ones(5, 3).requires_grad_()
    (torch.ones(4, 5) @ w).sum().backward()
    assert not copies
    monkeypatch.setattr(engine, "HOLDERS", engine.HOLDERS - 1)
    y = torch.ones(4, 5).requires_grad_()
    (y * 2).sum().backward()
    assert len(copies) == 1, "one holder fewer must be one too few: the limit is not the number of holders"
