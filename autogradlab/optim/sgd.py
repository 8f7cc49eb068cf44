"""Stochastic gradient descent, with momentum.  https://pytorch.org/docs/stable/generated/torch.optim.SGD.html"""

from .optimizer import Optimizer, non_negative, refuse, zeros_like


class SGD(Optimizer):
    """p -= lr * v, where v = momentum * v + gradient (v is the gradient itself without momentum).  (D1 6.5)

    dampening: the gradient's part in v is 1 - dampening, from the second step on.  weight_decay: its multiple of p is
    added to the gradient.  nesterov: step along gradient + momentum * v.  maximize: climb instead.
    """

    def __init__(self, params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
                 nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 differentiable: bool = False, fused: bool | None = None):  # fmt: skip
        non_negative(learning_rate=lr, momentum_value=momentum, weight_decay_value=weight_decay)
        refuse("SGD", differentiable=differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening.")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    def update(self, p, grad, state, group, parameter):
        momentum = group["momentum"]
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * p
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = zeros_like(parameter)
                v = kept.window
                v += grad
            else:
                v = kept.window
                v *= momentum
                v += grad if not group["dampening"] else (1 - group["dampening"]) * grad
            grad = grad + momentum * v if group["nesterov"] else v
        p -= group["lr"] * grad
