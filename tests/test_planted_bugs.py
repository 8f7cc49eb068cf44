"""The tests of derivatives, tested: with a bug planted in an operator's formula each must fail."""

import pytest
from test_operators import (
    DIFFERENTIABLE,
    STEPS,
    test_gradients_are_those_of_central_differences,
    test_second_derivatives_are_those_of_central_differences,
)

import autogradlab as torch
from autogradlab import late

first_order = test_gradients_are_those_of_central_differences
second_order = test_second_derivatives_are_those_of_central_differences
del test_gradients_are_those_of_central_differences, test_second_derivatives_are_those_of_central_differences

CURVED = [
    "mul",
    "div",
    "exp",
    "log",
    "tanh",
    "sigmoid",
    "softmax",
    "log_softmax",
    "matmul",
    "pow",
    "sqrt",
    "var",
    "prod",
]


def plant(monkeypatch, name: str, bug) -> None:
    """Change what an operator's gradient formulas return."""

    def changed(formula):
        if formula is None or formula[0] is None:
            return formula
        fn, *rest = formula
        return (lambda *args: each(fn(*args), bug), *rest)

    op = late.operators[name]
    for recipes in ("recipes", "plain"):
        monkeypatch.setattr(op, recipes, {})
    monkeypatch.setattr(op, "formulas", tuple(changed(f) for f in op.formulas))
    if op.joint:
        monkeypatch.setattr(op, "joint", changed(op.joint))


def each(result, bug):
    """A formula returns one gradient, or several."""
    if isinstance(result, (list, tuple)):
        return type(result)(None if r is None else bug(r) for r in result)
    return bug(result)


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n not in STEPS | {"sgn", "sign"}])
def test_a_gradient_one_percent_too_large_is_found(name, monkeypatch):
    plant(monkeypatch, name, lambda g: g * 1.01)
    with pytest.raises(AssertionError):
        first_order(name, "cpu")


@pytest.mark.parametrize("name", [n for n in CURVED if n in DIFFERENTIABLE])
def test_a_gradient_that_cannot_be_differentiated_is_found(name, monkeypatch):
    plant(monkeypatch, name, lambda g: g.detach() if isinstance(g, torch.Tensor) else g)
    first_order(name, "cpu")
    with pytest.raises(AssertionError):
        second_order(name)
