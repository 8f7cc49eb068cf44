"""Learning rate schedulers: each call of step() gives the optimizer's groups their next rate.  (D3 6.2, D5 3)

Most compute a rate from the one before, as PyTorch's do, so that rates changed by hand or by another scheduler are
taken along.  https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from .base import LRScheduler, _LRScheduler  # noqa: F401
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts  # noqa: F401
from .plateau import ReduceLROnPlateau  # noqa: F401
from .sequential import SequentialLR  # noqa: F401
from .steps import (  # noqa: F401
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    StepLR,
)
