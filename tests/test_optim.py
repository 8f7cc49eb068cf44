"""Optimizers against their formulas written out in NumPy, schedulers against closed forms."""

import copy
import math

import numpy as np
import pytest

import autogradlab as torch

optim = torch.optim
STEPS = 6
START = np.array([1.0, -2.0, 0.5])


def run(make, steps=STEPS, start=START):
    """The parameter after each step, with gradients that depend on it."""
    p = torch.tensor(start.tolist(), dtype=torch.float64).requires_grad_()
    optimizer, seen = make([p]), []
    for k in range(steps):
        optimizer.zero_grad()
        ((p**2).sum() * (k + 1) / 2 + p.sum()).backward()
        optimizer.step()
        seen.append(p.detach().numpy().copy())
    return seen


def grad_at(p, k):
    return p * (k + 1) + 1


def sgd(lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False):
    p, v, seen = START.copy(), None, []
    for k in range(STEPS):
        g = grad_at(p, k) * (-1 if maximize else 1) + weight_decay * p
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        p = p - lr * g
        seen.append(p)
    return seen


def adam(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, maximize=False, decoupled=False):
    p, m, v, top, seen = START.copy(), 0, 0, 0, []
    for k in range(STEPS):
        g = grad_at(p, k) * (-1 if maximize else 1)
        if decoupled:
            p = p * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        top = np.maximum(top, v)
        used = top if amsgrad else v
        m_hat, v_hat = m / (1 - betas[0] ** (k + 1)), used / (1 - betas[1] ** (k + 1))
        p = p - lr * m_hat / (np.sqrt(v_hat) + eps)
        seen.append(p)
    return seen


def rmsprop(lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, maximize=False):
    p, v, mean, buffer, seen = START.copy(), 0, 0, 0, []
    for k in range(STEPS):
        g = grad_at(p, k) * (-1 if maximize else 1) + weight_decay * p
        v, mean = alpha * v + (1 - alpha) * g * g, alpha * mean + (1 - alpha) * g
        step = g / (np.sqrt(v - mean * mean if centered else v) + eps)
        buffer = momentum * buffer + step
        p = p - lr * (buffer if momentum else step)
        seen.append(p)
    return seen


RULES = [
    ("SGD", sgd, {"lr": 0.1}),
    ("SGD", sgd, {"lr": 0.1, "weight_decay": 0.2}),
    ("SGD", sgd, {"lr": 0.1, "momentum": 0.9}),
    ("SGD", sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", sgd, {"lr": 0.01, "momentum": 0.5, "maximize": True}),
    ("Adam", adam, {}),
    ("Adam", adam, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3}),
    ("Adam", adam, {"lr": 0.1, "weight_decay": 0.3}),
    ("Adam", adam, {"lr": 0.1, "amsgrad": True, "betas": (0.1, 0.2)}),
    ("Adam", adam, {"lr": 0.1, "maximize": True}),
    ("AdamW", adam, {"lr": 0.1, "weight_decay": 0.3}),
    ("AdamW", adam, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.01}),
    ("RMSprop", rmsprop, {}),
    ("RMSprop", rmsprop, {"lr": 0.1, "alpha": 0.5, "eps": 1e-2, "weight_decay": 0.2}),
    ("RMSprop", rmsprop, {"momentum": 0.8}),
    ("RMSprop", rmsprop, {"centered": True, "momentum": 0.5, "maximize": True}),
]


@pytest.mark.parametrize(
    ("name", "formula", "settings"), RULES, ids=lambda v: str(v) if isinstance(v, (str, dict)) else ""
)
def test_a_rule_is_its_formula(name, formula, settings):
    wanted = formula(**settings, **({"decoupled": True} if name == "AdamW" else {}))
    found = run(lambda params: getattr(optim, name)(params, **settings))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_a_wrong_formula_would_be_seen():
    found = run(lambda params: optim.SGD(params, lr=0.1, momentum=0.9))
    assert not np.allclose(found, sgd(lr=0.1, momentum=0.9, nesterov=True))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_going_on_from_a_state_dict(name):
    settings = {"lr": 0.1, "momentum": 0.9} if name in ("SGD", "RMSprop") else {"lr": 0.1}
    make = getattr(optim, name)
    straight = run(lambda params: make(params, **settings), 6)
    p = torch.tensor(START.tolist(), dtype=torch.float64).requires_grad_()
    optimizer = make([p], **settings)
    for k in range(6):
        if k == 3:
            saved = copy.deepcopy(optimizer.state_dict())
            p = p.detach().clone().requires_grad_()
            optimizer = make([p], lr=123.0)
            optimizer.load_state_dict(saved)
        optimizer.zero_grad()
        ((p**2).sum() * (k + 1) / 2 + p.sum()).backward()
        optimizer.step()
    np.testing.assert_allclose(p.detach().numpy(), straight[-1], rtol=1e-12)


def parameter(*values):
    return torch.tensor(list(values) or [1.0], dtype=torch.float64).requires_grad_()


def test_groups_have_settings_of_their_own():
    a, b, c = parameter(), parameter(), parameter()
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    optimizer.add_param_group({"params": c, "lr": 0.0})
    (a + b + c).sum().backward()
    optimizer.step()
    assert (a.item(), b.item(), c.item()) == pytest.approx((0.9, 0.0, 1.0))
    assert [len(g["params"]) for g in optimizer.param_groups] == [1, 1, 1]


def test_parameters_without_gradients_are_left_alone():
    a, b = parameter(), parameter()
    optimizer = optim.Adam([a, b], lr=0.1, weight_decay=1.0)
    (a * 2).sum().backward()
    optimizer.step()
    assert b.item() == 1.0 and a.item() != 1.0 and b not in optimizer.state


def test_zero_grad():
    a = parameter()
    optimizer = optim.SGD([a], lr=0.1)
    (a * 2).sum().backward()
    kept = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is kept and a.grad.item() == 0
    optimizer.zero_grad()
    assert a.grad is None


def test_a_step_counts_as_a_write_and_takes_a_closure():
    a = parameter()
    optimizer = optim.SGD([a], lr=0.1)
    y = a.exp().sum()
    product = a * a

    def closure():
        optimizer.zero_grad()
        loss = (a * 3).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 3.0
    assert a.item() == pytest.approx(0.7) and y.item() == pytest.approx(math.e)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_hooks_of_a_step():
    a, seen = parameter(), []
    optimizer = optim.SGD([a], lr=0.1)
    before = optimizer.register_step_pre_hook(lambda *args: seen.append(("before", a.item())))
    optimizer.register_step_post_hook(lambda *args: seen.append(("after", round(a.item(), 6))))
    a.sum().backward()
    optimizer.step()
    before.remove()
    optimizer.step()
    assert seen == [("before", 1.0), ("after", 0.9), ("after", 0.8)]


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (lambda: optim.SGD([], lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD(parameter(), lr=0.1), TypeError, "iterable"),
        (lambda: optim.SGD([3.0], lr=0.1), TypeError, "can only optimize Tensors"),
        (lambda: optim.SGD([parameter() * 2], lr=0.1), ValueError, "non-leaf"),
        (lambda: optim.SGD([parameter()], lr=-0.1), ValueError, "Invalid learning rate"),
        (lambda: optim.SGD([parameter()], lr=0.1, nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam([parameter()], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0"),
        (lambda: optim.Adam([parameter()], eps=-1), ValueError, "Invalid epsilon"),
        (lambda: optim.Adam([{"params": {parameter()}}]), TypeError, "ordered collections"),
    ],
)
def test_what_is_refused(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


def test_one_parameter_in_two_groups_and_state_of_another_shape():
    a = parameter()
    optimizer = optim.SGD([a], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [a]})
    with pytest.raises(ValueError, match="number of parameter groups"):
        optim.SGD([{"params": [parameter()]}, {"params": [parameter()]}], lr=0.1).load_state_dict(
            optimizer.state_dict()
        )
    with pytest.raises(ValueError, match="match the size"):
        optim.SGD([parameter(), parameter()], lr=0.1).load_state_dict(optimizer.state_dict())


# Schedulers -----------------------------------------------------------------------------------------------------------


def rates(make, epochs=12, lr=0.5):
    """The rate in each epoch."""
    optimizer = optim.SGD([parameter()], lr=lr)
    scheduler, seen = make(optimizer), []
    for _ in range(epochs):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert scheduler.get_last_lr() == [optimizer.param_groups[0]["lr"]]
    return seen


def half_cosine(t, length, low=0.0, high=0.5):
    return low + (high - low) * (1 + math.cos(math.pi * t / length)) / 2


def restarts(t):
    """Runs of 3, 6, 12 epochs: how far into which run."""
    return (t, 3) if t < 3 else (t - 3, 6) if t < 9 else (t - 9, 12)


def low_then_falling(t):
    return 0.05 if t < 3 else 0.5 * 0.9 ** (t - 3)


S = optim.lr_scheduler
FORMS = [
    (lambda o: S.StepLR(o, 3, 0.1), lambda t: 0.5 * 0.1 ** (t // 3)),
    (lambda o: S.MultiStepLR(o, [2, 5], 0.5), lambda t: 0.5 * 0.5 ** ((t >= 2) + (t >= 5))),
    (lambda o: S.ExponentialLR(o, 0.9), lambda t: 0.5 * 0.9**t),
    (lambda o: S.LambdaLR(o, lambda t: 1 / (1 + t)), lambda t: 0.5 / (1 + t)),
    (lambda o: S.MultiplicativeLR(o, lambda t: 0.95), lambda t: 0.5 * 0.95**t),
    (lambda o: S.ConstantLR(o, 0.5, 4), lambda t: 0.25 if t < 4 else 0.5),
    (lambda o: S.LinearLR(o, 0.2, 1.0, 5), lambda t: 0.5 * (0.2 + 0.8 * min(t, 5) / 5)),
    (lambda o: S.CosineAnnealingLR(o, 12, 0.1), lambda t: half_cosine(t, 12, 0.1)),
    (lambda o: S.CosineAnnealingWarmRestarts(o, 4, eta_min=0.1), lambda t: half_cosine(t % 4, 4, 0.1)),
    (lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2), lambda t: half_cosine(*restarts(t))),
    (lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 20), S.ExponentialLR(o, 0.9)], [3]), low_then_falling),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "form"), FORMS, ids=lambda v: "")
def test_a_scheduler_is_its_closed_form(make, form):
    np.testing.assert_allclose(rates(make), [form(t) for t in range(12)], rtol=1e-9)


@pytest.mark.parametrize("make", [f[0] for f in FORMS[:3]] + [FORMS[7][0]])
def test_a_scheduler_goes_on_from_its_state(make):
    whole = rates(make)
    optimizer = optim.SGD([parameter()], lr=0.5)
    scheduler = make(optimizer)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    saved, kept = copy.deepcopy(scheduler.state_dict()), copy.deepcopy(optimizer.state_dict())
    optimizer = optim.SGD([parameter()], lr=0.5)
    scheduler = make(optimizer)
    scheduler.load_state_dict(saved)
    optimizer.load_state_dict(kept)
    seen = []
    for _ in range(7):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    np.testing.assert_allclose(seen, whole[5:], rtol=1e-9)


def test_a_plateau():
    optimizer = optim.SGD([parameter()], lr=1.0)
    scheduler, seen = S.ReduceLROnPlateau(optimizer, patience=1, factor=0.5, min_lr=0.2), []
    for loss in [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0]:
        optimizer.step()
        scheduler.step(loss)
        seen.append(optimizer.param_groups[0]["lr"])
    assert seen == [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2]


def test_a_scheduler_stepped_first_warns():
    optimizer = optim.SGD([parameter()], lr=1.0)
    scheduler = S.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    assert S._LRScheduler and issubclass(S.StepLR, S.LRScheduler)


def test_sgd_without_momentum_keeps_no_state_and_groups_are_printed_apart():
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)
    (a + b).sum().backward()
    optimizer.step()
    assert optimizer.state_dict()["state"] == {} and "weight_decay: 0\n\nParameter Group 1\n" in repr(optimizer)
