"""compile(): whatever a function reads may change between two calls, and the answer is that of the function itself."""

import collections
import copy
import dataclasses
import itertools
import pickle
import random
import time
import types

import numpy as np
import pytest

import autogradlab as torch
from autogradlab import nn


def one():
    return torch.arange(1.0, 4.0)


SCALE = 2.0


class Slots:
    __slots__ = ("scale",)


class Scales:
    factor, several = 2.0, [1.0]

    def by(self, x):
        return x * SCALE

    @property
    def twice(self):
        return SCALE * 2

    @staticmethod
    def less(x):
        return x - SCALE


class Layer(nn.Module):
    def forward(self, x):
        return self.helper(x)

    def helper(self, x):
        return x * SCALE


class Deeper(Layer):
    def forward(self, x):
        return super().forward(x) + 1


@dataclasses.dataclass
class Settings:
    scale: float


def calls(f, change, *args):
    """f before and after a change."""
    first = f(one(), *args)
    change()
    return first, f(one(), *args)


def where_it_lies(compile):
    f, base = compile(lambda x: x.t()[1:] * 1), torch.arange(12.0).reshape(6, 2)
    return [f(base[i : i + 2]) for i in range(4)]


def arguments_that_share_memory(compile):
    def f(x, y):
        before = y * 2
        x.add_(1)
        return before + y * 2

    f, x = compile(f), one()
    return f(one(), one()), f(x, x.view(3)), x, f(x, x)


def an_argument_that_is_read_from_outside_too(compile):
    w = one()
    f = compile(lambda x: x * w)
    return f(w), f(one() + 1), f(w)


def an_argument_that_shares_memory_with_a_tensor_outside(compile):
    w = one()

    def f(x):
        before = w * 2
        x.add_(1)
        return before + w * 2

    f = compile(f)
    return f(one()), f(w.view(3)), f(one())


def tensors_put_into_an_argument(compile):
    def f(xs, d):
        xs[0], d["h"] = xs[1], d["h"] * 2
        return xs[0] + d["h"]

    f, xs, d = compile(f), [one(), one() + 1], {"h": one()}
    return [[f(xs, d), *xs, d["h"]] for _ in range(3)]


def an_equal_tensor_instead(compile):
    w, found = torch.tensor([2.0], requires_grad=True), []
    f = compile(lambda x: x * w)
    for _ in range(3):
        f(one()).sum().backward()
        found.append(w.grad)
        w = torch.tensor([2.0], requires_grad=True)
    return found


def a_state_of_one_number(compile):
    kept = [torch.zeros(1)]

    def f(x):
        kept[0] = kept[0] + x
        return kept[0]

    f = compile(f)
    return [f(torch.tensor([v])) for v in (0.0, 0.0, 1.0, 2.0)]


def an_equal_object_instead(compile):
    settings = Settings(2.0)
    f = compile(lambda x: x * settings.scale)
    first = f(one())
    settings = Settings(2.0)
    return first, *calls(f, lambda: setattr(settings, "scale", 5.0))


def signs_of_zero(compile):
    c, x = 0.0, torch.tensor([-0.0])
    f, g, h = compile(lambda x: 1 / (x + c)), compile(lambda x: (1 / (x + 0.0), 1 / (x + -0.0))), compile(torch.add)
    first = f(x)
    c = -0.0
    return first, f(x), g(x), g(x), [1 / h(x, v) for v in (0.0, -0.0, 0)]


def types_are_themselves(compile):
    f = compile(lambda x: x * 2 if type(x) is torch.Tensor else x * {nn.Parameter: 3}[type(x)])
    return [f(x) for x in (one(), one(), nn.Parameter(one()), nn.Parameter(one()))]


def slots(compile):
    o = Slots()
    o.scale = 2.0
    f, g = compile(lambda x: x * o.scale), compile(lambda x, o: x * o.scale)
    return *calls(f, lambda: setattr(o, "scale", 3.0)), *calls(g, lambda: setattr(o, "scale", 4.0), o)


def sets_queues_and_arrays(compile):
    s, d, a = {1}, collections.deque([2.0], 1), np.ones(2)
    f, g, h = (compile(lambda x: x * len(s)), compile(lambda x: x * d[0]), compile(lambda x, a: x * float(a[0])))
    return calls(f, lambda: s.add(2)), calls(g, lambda: d.append(5.0)), calls(h, lambda: a.fill(7.0), a)


def methods_read_globals(compile):
    scales = Scales()
    f = compile(lambda x, o: o.by(x) + o.twice + Scales.less(x) + scales.by(x))
    both = []
    for function, *args in ((f, scales), (compile(Layer()),), (compile(Deeper()),)):
        globals()["SCALE"] = 2.0
        both += calls(function, lambda: globals().update(SCALE=5.0), *args)
    globals()["SCALE"] = 2.0
    return both


def classes(compile):
    class Mine(Scales):
        def by(self, x):
            return x * 3

    mine = Mine()
    f = compile(lambda x: mine.by(x) * Mine.factor * sum(Mine.several))
    Scales.factor, Scales.several = 2.0, [1.0]
    return (
        *calls(f, lambda: setattr(Scales, "factor", 3.0)),
        *calls(f, lambda: Scales.several.append(4.0)),
        *calls(f, lambda: setattr(Mine, "by", lambda self, x: x - 1)),
    )


def functions(compile):
    def inner(x, a=2.0, *, b=3.0):
        return x * a + b * inner.c

    inner.c = 1.0
    f, g = compile(inner), compile(lambda x: inner(x))
    return (
        *calls(f, lambda: setattr(inner, "__defaults__", (5.0,))),
        *calls(f, lambda: inner.__kwdefaults__.update(b=7.0)),
        *calls(g, lambda: setattr(inner, "c", 9.0)),
    )


def the_order_of_keys(compile):
    d = {"a": 1.0, "b": 2.0}

    def f(x):
        for v in d.values():
            x = x * 2 + v
        return x

    return calls(compile(f), lambda: d.update(a=d.pop("a")))


def iterators(compile):
    count, numbers = itertools.count(), iter([1.0, 2.0, 3.0])
    f, g = compile(lambda x: x + next(count)), compile(lambda x, it: x + next(it))
    return [(f(one()), g(one(), numbers)) for _ in range(3)]


def dice(compile):
    mine, draw = random.Random(3), np.random.default_rng(3)
    own = mine.random
    fs = (lambda x: x + mine.random()), (lambda x: x + own()), (lambda x: x + float(draw.random()))
    return [compile(f)(one()) for f in fs for _ in range(2)]


def seeds(compile):
    def f(x):
        torch.manual_seed(3)
        return x + torch.rand(3)

    def g(x):
        return torch.rand(3, generator=torch.Generator().manual_seed(1)) + x

    f, g, found = compile(f), compile(g), []
    for i in range(3):
        torch.manual_seed(i)
        found += f(one()), g(one()), torch.rand(2)
    return found


def sizes_asked_for_otherwise(compile):
    f, g = compile(lambda x: x / torch.numel(x)), compile(lambda x: x / torch.Tensor.size(x, 0))
    return [h(torch.ones(n)) for h in (f, g) for n in (2, 3, 4)]


def what_a_tensor_belongs_to(compile):
    asked = (
        lambda x: x * (2 if x.is_leaf else 3),
        lambda x: x * (2 if x.grad_fn is None else 3),
        lambda x: x * (2 if x._base is None else 3),
        lambda x: x * x._version,
        lambda x: x * x.storage_offset(),
    )
    base = torch.arange(6.0)
    leaf, written = one().requires_grad_(), one().add_(1)
    return [[f(x) for x in (one(), leaf, leaf * 1, base[:3], base[3:], written)] for f in map(compile, asked)]


def hooks_of_a_layer(compile):
    layer, found = nn.Linear(3, 2), []
    nn.init.ones_(layer.weight)
    layer.register_full_backward_hook(lambda m, grads, _: (grads[0] * 5,))
    f = compile(lambda x: layer(x * 2) - layer.bias)
    for _ in range(3):
        x = one().requires_grad_()
        f(x).sum().backward()
        found.append(x.grad)
    return found


def as_strided_counts_from_the_storage(compile):
    f, g = compile(lambda x: x.as_strided((2,), (2,))), compile(lambda x: (x * 2).as_strided((2,), (2,)))
    base = torch.arange(8.0)
    return [h(base[i : i + 4]) for h in (f, g) for i in range(3)]


def the_same_list_twice(compile):
    f = compile(lambda xs, ys: xs[0] * (2 if xs is ys else 3))
    xs = [one()]
    return f(xs, xs), f(xs, [xs[0]]), f([one()], [one()])


def a_name_that_hides_a_base_s(compile):
    class Mine(Scales):
        def by(self, x):
            return super().by(x) * self.factor

    Scales.factor = 2.0
    mine = Mine()
    f = compile(mine.by)
    return *calls(f, lambda: setattr(Mine, "factor", 7.0)), *calls(f, lambda: setattr(mine, "factor", 9.0))


def a_module_in_a_closure(compile):
    settings = types.ModuleType("settings_of_a_user")
    settings.scale, settings.more = 2.0, types.SimpleNamespace(value=3.0)
    f = compile(lambda x: x * settings.scale + settings.more.value)
    change = lambda: setattr(settings.more, "value", 4.0)  # noqa: E731
    return *calls(f, change), *calls(f, lambda: setattr(settings, "scale", 5.0))


PROGRAMS = [
    where_it_lies, arguments_that_share_memory, an_argument_that_is_read_from_outside_too,
    an_argument_that_shares_memory_with_a_tensor_outside, tensors_put_into_an_argument, an_equal_tensor_instead,
    a_state_of_one_number, an_equal_object_instead, signs_of_zero, types_are_themselves, slots, sets_queues_and_arrays,
    methods_read_globals, classes, functions, the_order_of_keys, iterators, dice, seeds, sizes_asked_for_otherwise,
    what_a_tensor_belongs_to, hooks_of_a_layer, as_strided_counts_from_the_storage,
    the_same_list_twice, a_name_that_hides_a_base_s, a_module_in_a_closure,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*recompile_limit")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_same_as_uncompiled(program):
    assert shown(program(torch.compile)) == shown(program(lambda f: f))


def shown(found):
    if isinstance(found, torch.Tensor):
        return found.tolist(), found.requires_grad
    return [shown(v) for v in found]


def test_a_clock_is_not_frozen():
    clock = time.perf_counter_ns
    f = torch.compile(lambda x: x.double() * 0 + clock() % 1_000_000_007)
    assert not f(one()).equal(f(one())) and "perf_counter_ns" in str(f.breaks[0])


def test_what_is_equal_and_cannot_change_is_not_traced_again():
    sizes = (2, 3.0, "a")
    f = torch.compile(lambda x: x * sizes[0])
    f(one())
    sizes = tuple([2, 3.0, "a"])
    assert f(one()).tolist() == [2, 4, 6] and f.count == 1 and not f.breaks


def test_what_was_given_is_given_back_itself():
    xs, d = [one()], {"a": one()}
    f, g, h = torch.compile(lambda xs: xs), torch.compile(lambda: d), torch.compile(lambda xs: [xs[0], xs])
    for _ in range(2):
        assert f(xs) is xs and g() is d and h(xs)[1] is xs
    assert "was there before" in str(f.breaks[0])


def test_a_copy_of_a_compiled_module_is_its_own():
    layer = torch.compile(nn.Linear(3, 2))
    before = layer(one())
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        with torch.no_grad():
            other.weight.zero_()
        assert other(one()).equal(other.bias) and layer(one()).equal(before)
        assert other._compiled.count == 1 and other._compiled.fn is other._orig_mod
