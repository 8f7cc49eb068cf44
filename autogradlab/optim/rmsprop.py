"""RMSprop: steps divided by the root of a running mean of squared gradients.

Hinton's lecture 6; https://pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
"""

from autogradlab.backends import namespace

from .optimizer import Optimizer, counted, non_negative, refuse, zeros_like


class RMSprop(Optimizer):
    """p -= lr * gradient / (sqrt(v) + eps), v: the running mean of squared gradients, of which alpha is kept.

    centered: v less the square of the gradients' running mean.  momentum: as SGD's, over the scaled gradients.
    """

    def __init__(self, params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
                 momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
                 maximize: bool = False, differentiable: bool = False):  # fmt: skip
        non_negative(learning_rate=lr, epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay,
                     alpha_value=alpha)  # fmt: skip
        refuse("RMSprop", differentiable=differentiable, capturable=capturable)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })  # fmt: skip

    def update(self, p, grad, state, group, parameter):
        xp, alpha = namespace((p,)), group["alpha"]
        if counted(state) == 1:
            names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]
            state |= {name: zeros_like(parameter) for name in names}
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * p
        v = state["square_avg"].window
        v *= alpha
        v += grad * grad * (1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].window
            mean += (grad - mean) * (1 - alpha)
            v = v - mean * mean
        scaled = grad / (xp.sqrt(v) + group["eps"])
        if group["momentum"] > 0:
            kept = state["momentum_buffer"].window
            kept *= group["momentum"]
            kept += scaled
            scaled = kept
        p -= group["lr"] * scaled
