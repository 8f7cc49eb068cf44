"""Engines that do not have PyTorch's names, as far as they can do the small workloads: for a look beside us.

Each is used only where it is installed (pip install autograd mygrad) and asked for with --beside.
"""

from collections.abc import Iterator

import floors
import numpy as np
from workloads import Workload, nudge


def autograd(module) -> Iterator[Workload]:
    """HIPS autograd: gradients of functions."""
    numpy = module.numpy
    arrays = [np.random.default_rng(k).standard_normal((1000, 1000)).astype("f") for k in range(3)]
    both = module.value_and_grad(lambda abc: numpy.sum(numpy.tanh(abc[0] * abc[1] + abc[2])))

    def engine():
        loss, gradients = both(tuple(arrays))
        return [loss, *gradients]

    yield Workload("elementwise, 1M numbers", engine, lambda: floors.elementwise(*arrays), nudge(*arrays), 4)


def mygrad(module) -> Iterator[Workload]:
    """MyGrad: tensors over NumPy arrays."""
    a, b = np.ones(4, "f"), np.full(4, 0.99, "f")
    x, y = module.tensor(a), module.tensor(b)
    yield Workload("small operations, graph", lambda: [(x * y + x).data], lambda: [a * b + a], lambda: None, 2)
    arrays = [np.random.default_rng(k).standard_normal((1000, 1000)).astype("f") for k in range(3)]

    def engine():
        leaves = [module.tensor(v) for v in arrays]
        loss = module.sum(module.tanh(leaves[0] * leaves[1] + leaves[2]))
        loss.backward()
        return [loss.data, *(leaf.grad for leaf in leaves)]

    yield Workload("elementwise, 1M numbers", engine, lambda: floors.elementwise(*arrays), nudge(*arrays), 4)


PEERS = {"autograd": autograd, "mygrad": mygrad}
