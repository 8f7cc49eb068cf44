"""Optimizers: what is done to parameters with their gradients.  (D1 6.5, D5 3)

https://pytorch.org/docs/stable/optim.html
"""

from . import lr_scheduler  # noqa: F401
from .adam import Adam, AdamW  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .rmsprop import RMSprop  # noqa: F401
from .sgd import SGD  # noqa: F401
