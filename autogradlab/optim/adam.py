"""Adam and AdamW: steps scaled by running means of gradients and of their squares.

Kingma and Ba, https://arxiv.org/abs/1412.6980; Loshchilov and Hutter, https://arxiv.org/abs/1711.05101.
"""

import math

from autogradlab.backends import namespace

from .optimizer import Optimizer, counted, non_negative, refuse, zeros_like


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps); m, v: running means of gradients and of their squares, both freed of their start.

    betas: how much of m and v is kept at each step.  weight_decay: its multiple of p is added to the gradient, or, if
    decoupled_weight_decay, taken off p itself.  amsgrad: divide by the largest v so far.  (D5 3)
    """

    def __init__(self, params, lr: float = 1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
                 decoupled_weight_decay: bool = False):  # fmt: skip
        non_negative(learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        refuse(type(self).__name__, differentiable=differentiable, capturable=capturable)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta} (expected 0 to less than 1).")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def update(self, p, grad, state, group, parameter):
        xp, (beta1, beta2), lr = namespace((p,)), group["betas"], group["lr"]
        step = counted(state)
        if step == 1:
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter), zeros_like(parameter)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(parameter)
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p *= 1 - lr * group["weight_decay"]
            else:
                grad = grad + group["weight_decay"] * p
        m, v = state["exp_avg"].window, state["exp_avg_sq"].window
        m += (grad - m) * (1 - beta1)
        v *= beta2
        v += grad * grad * (1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"].window
            xp.maximum(largest, v, out=largest)
            v = largest
        scale = xp.sqrt(v) / math.sqrt(1 - beta2**step)
        scale += group["eps"]
        p -= lr / (1 - beta1**step) * (m / scale)


class AdamW(Adam):
    """Adam with decoupled weight decay, 0.01 unless said otherwise.  (D5 3)"""

    def __init__(self, params, lr: float = 1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip
