"""compile(): the same results and gradients as eager, traced again when something changed, and clear about breaks."""

import gc
import warnings

import pytest

import autogradlab as torch
import autogradlab.nn.functional as F
from autogradlab import nn
from autogradlab.compiler import blocks


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """So that small tensors are cut into several blocks."""
    before, blocks.BLOCK = blocks.BLOCK, 1 << 12
    yield
    blocks.BLOCK = before


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def kinds(compiled) -> list[str]:
    return [step.kind for step in compiled.graphs[-1].steps]


def twice(f, *args, **options):
    """Compiled, called while it is traced and once more, which is what the test looks at."""
    compiled = torch.compile(f, **options)
    compiled(*args)
    return compiled, compiled(*args)


# Fusing ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (70, 1000), (300, 1, 301)], ids=str)
def test_a_region_computes_what_eager_computes(shape):
    x = torch.randn(shape, requires_grad=True)
    compiled, out = twice(gelu, x)
    assert kinds(compiled) == ["fused"]
    assert out.equal(gelu(x)) and type(out.grad_fn).__name__ == "CompiledFunctionBackward"
    weights = torch.randn(shape)
    (mine,), (plain,) = torch.autograd.grad(out, x, weights), torch.autograd.grad(gelu(x), x, weights)
    assert torch.allclose(mine, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", ["transposed", "sliced", "broadcast rows", "broadcast columns", "expanded"])
def test_blocks_of_any_layout(layout):
    base = torch.randn(500, 400)
    x = {"transposed": base.t(), "sliced": base[::2, 1:], "expanded": base[:, :1].expand(500, 400)}.get(layout, base)
    b = {"broadcast rows": torch.randn(400), "broadcast columns": torch.randn(500, 1)}.get(layout, torch.randn(x.shape))
    x, b = x.detach().requires_grad_(), b.requires_grad_()

    def f(x, b):
        return torch.tanh(x * b + 1) * b

    _, out = twice(f, x, b)
    plain = f(x, b)
    assert out.stride() == plain.stride() and out.equal(plain)
    for mine, theirs in zip(
        torch.autograd.grad(out.sum(), (x, b)), torch.autograd.grad(plain.sum(), (x, b)), strict=True
    ):
        assert torch.allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def test_what_is_used_elsewhere_leaves_the_region():
    x = torch.randn(50, 40, requires_grad=True)

    def f(x):
        a = x.exp()
        b = a * 2 + 1
        return (a.sum() + b.sum()) * x.mean(), a

    compiled, (total, a) = twice(f, x)
    assert kinds(compiled)[0] == "fused" and len(compiled.graphs[0].steps[0].outputs) == 2
    plain, plain_a = f(x)
    assert a.equal(plain_a) and torch.allclose(total, plain)
    mine = torch.autograd.grad(total + a.sum(), x)[0]
    assert torch.allclose(mine, torch.autograd.grad(plain + plain_a.sum(), x)[0], rtol=1e-5)


def test_a_circle_through_another_step_is_not_fused():
    x = torch.randn(6, 6)

    def f(x):
        a = x * 2 + 1
        return a * a.sum() + a  # the sum needs a, and the last steps need the sum

    compiled, out = twice(f, x)
    assert kinds(compiled) == ["fused", "sum", "fused"] or kinds(compiled) == ["fused", "kernel", "fused"]
    assert out.equal(f(x))


def test_nothing_dead_and_nothing_twice():
    x = torch.randn(4, 4)

    def f(x):
        x.cos().sum()
        return (x @ x).sum() + (x @ x).max()

    compiled, out = twice(f, x)
    names = [step.name for step in compiled.graphs[0].steps]
    assert names.count("mm") == 1 and "cos" not in names
    assert torch.allclose(out, f(x))


def test_two_results_alike_stay_two():
    _, (a, b) = twice(lambda x: (x + 1, x + 1), torch.ones(2))
    a.add_(1)
    assert b.tolist() == [2, 2]


def test_the_report_counts_kernels_and_bytes():
    x = torch.randn(1000)
    compiled, _ = twice(gelu, x)
    report = compiled.explain()
    assert report.kernels == (9, 1)
    assert report.bytes[1] == 8000  # x is read and the result written
    assert report.made == (9 * 4000, 4000)
    assert "9 as written, 1 as compiled" in str(report) and "tanh" in str(report)
    assert "fused_mul" in repr(compiled.graphs[0]) and "tanh" in repr(compiled.graphs[0])


def test_a_second_derivative():
    x = torch.randn(7, dtype=torch.float64, requires_grad=True)
    compiled, _ = twice(gelu, x)

    def second(f):
        (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad((first * first).sum(), x)[0]

    assert torch.allclose(second(compiled), second(gelu), rtol=1e-12)
    assert torch.autograd.gradgradcheck(compiled, x)


def test_backward_twice_and_a_changed_input_are_refused():
    x = torch.randn(5, requires_grad=True)
    compiled, out = twice(gelu, x)
    out.sum().backward(retain_graph=True)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()
    out = compiled(x)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_a_graph_dies_by_reference_counting():
    x = torch.randn(5, requires_grad=True)
    compiled, _ = twice(gelu, x)
    gc.collect()
    gc.disable()
    try:
        before = len([o for o in gc.get_objects() if isinstance(o, torch.Tensor)])
        compiled(x).sum().backward()
        x.grad = None
        assert len([o for o in gc.get_objects() if isinstance(o, torch.Tensor)]) == before
    finally:
        gc.enable()


def test_threads_of_fused_kernels():
    before = torch.get_num_threads()
    x = torch.randn(300_000)
    results = []
    try:
        for n in (1, 3):
            torch.set_num_threads(n)
            results.append(twice(gelu, x)[1])
            assert torch.get_num_threads() == n
    finally:
        torch.set_num_threads(before)
    assert results[0].equal(results[1])
    for wrong, error in ((0, RuntimeError), (1.5, TypeError)):
        with pytest.raises(error, match="set_num_threads expects"):
            torch.set_num_threads(wrong)


def test_an_error_in_a_block_reaches_the_caller():
    compiled = torch.compile(lambda a, b: (a + 1) // b)
    a, b = torch.ones(200_000, dtype=torch.int64), torch.ones(200_000, dtype=torch.int64)
    compiled(a, b)
    b[-1] = 0
    with pytest.raises(RuntimeError, match="division"):
        compiled(a, b)


# Guards ---------------------------------------------------------------------------------------------------------------


def test_traced_again_for_other_dtypes_and_flags_but_not_for_other_sizes():
    compiled = torch.compile(gelu)
    for shape in ((3,), (4,), (9,)):
        assert compiled(torch.ones(shape)).equal(gelu(torch.ones(shape)))
    assert compiled.count == 1
    assert compiled(torch.ones(3, dtype=torch.float64)).dtype is torch.float64
    compiled(torch.ones(3, requires_grad=True))
    with torch.no_grad():
        assert not compiled(torch.ones(3, requires_grad=True)).requires_grad
    assert compiled.count == 4


def test_sizes_that_the_function_asked_for_or_its_steps_depend_on():
    for f in (lambda x: x * 2 / x.shape[0], lambda x: x * 2 / len(x), lambda x: (x * 2 + 1).mean()):
        compiled = torch.compile(f)
        for n in (2, 3, 4):
            x = torch.arange(n, dtype=torch.float32)
            assert torch.allclose(compiled(x), f(x))
        assert compiled.count == 3
    fixed = torch.compile(gelu, dynamic=False)
    fixed(torch.ones(2)), fixed(torch.ones(3))
    assert fixed.count == 2


def test_a_number_that_changes():
    compiled = torch.compile(lambda x, k: x * k + 1)
    x = torch.ones(2)
    assert [compiled(x, k).tolist() for k in (2, 3, 2.0, True)] == [[3, 3], [4, 4], [3, 3], [2, 2]]
    ints = torch.ones(2, dtype=torch.int64)
    assert compiled(ints, 2).dtype is torch.int64 and compiled(ints, 2.0).dtype is torch.float32


SCALE = 2.0
TABLE = {"w": [torch.ones(3)]}


def test_globals_closures_and_containers_are_watched(monkeypatch):
    shift = 1.0

    def f(x):
        return x * SCALE + shift + TABLE["w"][0]

    compiled, x = torch.compile(f), torch.zeros(3)
    steps = [lambda: None, lambda: monkeypatch.setitem(globals(), "SCALE", 3.0)]
    for step in steps:
        step()
        assert compiled(x + 1).equal(f(x + 1))
    shift = 5.0
    assert compiled(x).equal(f(x))
    monkeypatch.setitem(TABLE["w"].__class__([0]) and TABLE, "w", [torch.full((3,), 7.0)])
    assert compiled(x).tolist() == [12, 12, 12]
    TABLE["w"][0] = torch.zeros(3)
    assert compiled(x).tolist() == [5, 5, 5]
    TABLE["w"][0].add_(1)  # the same tensor with other numbers: no reason to trace again
    count = compiled.count
    assert compiled(x).tolist() == [6, 6, 6] and compiled.count == count


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5)
        self.last, self.factor = nn.Linear(8, 2), 1.0

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.norm(self.first(x))) * self.factor + 0.1))


def test_a_module_trains_as_uncompiled():
    models = []
    for wrap in (lambda m: m, torch.compile):
        torch.manual_seed(0)
        model = Small()
        run = wrap(model)
        optimizer = torch.optim.SGD(run.parameters(), lr=0.1)
        torch.manual_seed(1)
        x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
        for step in range(6):
            if step == 3:
                model.factor = 0.5
            optimizer.zero_grad()
            F.cross_entropy(run(x), y).backward()
            optimizer.step()
        run.eval()
        models.append((run(x), model))
    (plain, a), (compiled, b) = models
    assert torch.allclose(plain, compiled, rtol=1e-5)
    assert torch.allclose(a.norm.running_mean, b.norm.running_mean, rtol=1e-5)
    assert a.norm.num_batches_tracked.item() == b.norm.num_batches_tracked.item() == 6


def test_a_compiled_module_has_what_the_module_has():
    model = Small()
    compiled = torch.compile(model)
    assert compiled._orig_mod is model and compiled.factor == 1.0 and compiled.first is model.first
    assert list(compiled.state_dict())[0] == "_orig_mod.first.weight"
    compiled(torch.randn(3, 4))
    handle = model.first.register_forward_hook(lambda module, args, out: out * 0)
    model.eval()
    assert compiled(torch.randn(3, 4)).equal(model(torch.randn(3, 4))), "a new hook is noticed"
    handle.remove()
    model.last.bias = nn.Parameter(torch.full((2,), 9.0))
    x = torch.randn(3, 4)
    assert compiled(x).equal(model(x))
    model.double()
    assert compiled(x.double()).dtype is torch.float64


def test_too_many_traces_are_given_up_with_a_warning():
    compiled = torch.compile(lambda x, k: x * k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(12):
            assert compiled(torch.ones(1), float(k)).item() == k
    assert compiled.count == 9 and len(caught) == 1 and "recompile_limit" in str(caught[0].message)


# Options --------------------------------------------------------------------------------------------------------------


def test_options_as_pytorch():
    assert torch.compile(gelu, disable=True) is gelu
    for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        torch.compile(gelu, mode=mode)(torch.ones(2))
    eager, _ = twice(gelu, torch.ones(2), backend="eager")
    assert "fused" not in kinds(eager)

    @torch.compile(fullgraph=True)
    def decorated(x):
        return x + 1

    assert decorated(torch.ones(1)).item() == 2 and decorated.__name__ == "decorated"
    for wrong, text in (
        ({"mode": "fast"}, "Unrecognized mode=fast"),
        ({"backend": "tvm"}, "Invalid backend"),
        ({"mode": "default", "options": {}}, "Either mode or options"),
    ):
        with pytest.raises(RuntimeError, match=text):
            torch.compile(gelu, **wrong)
    with pytest.raises(RuntimeError, match="requires a callable, but got int"):
        torch.compile(3)


def test_is_compiling_and_reset():
    seen = []
    compiled = torch.compile(lambda x: seen.append(torch.compiler.is_compiling()) or x + 1)
    compiled(torch.ones(1))
    assert seen == [True] and not torch.compiler.is_compiling()
    torch.compiler.reset()
    assert compiled.count == 0
    assert "1 as compiled" in str(torch.compiler.explain(gelu)(torch.ones(2)))


def test_on_an_accelerator_a_region_is_one_launch():
    x = torch.randn(50, 40, device="sim:0").requires_grad_()
    compiled, out = twice(gelu, x)
    plain = gelu(x)
    assert kinds(compiled) == ["fused"] and str(out.device) == "sim:0" and out.equal(plain)

    def launches(f):
        with torch.observe.timeline() as t:
            f()
        return sum(s.lane == "sim:0" for s in t.spans)

    assert launches(lambda: compiled(x)) == 1 and launches(lambda: gelu(x)) == 9
    weights = torch.randn(50, 40, device="sim:0")
    before = launches(lambda: torch.autograd.grad(gelu(x), x, weights))
    assert launches(lambda: torch.autograd.grad(compiled(x), x, weights)) <= 3 < before
    (a,), (b,) = torch.autograd.grad(compiled(x), x, weights), torch.autograd.grad(gelu(x), x, weights)
    assert torch.allclose(a, b, rtol=1e-5, atol=1e-6)
