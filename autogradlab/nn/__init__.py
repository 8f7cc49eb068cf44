# ruff: noqa: F401
"""torch.nn: modules, their parameters, and what they are made of.

Source: https://pytorch.org/docs/stable/nn.html
"""

import importlib

from . import functional, init, parameter, utils
from .activations import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)  # fmt: skip
from .attention import (
    MultiheadAttention,
    TransformerEncoder,
    TransformerEncoderLayer,
)  # fmt: skip
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .convolutions import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    CircularPad1d,
    CircularPad2d,
    ConstantPad1d,
    ConstantPad2d,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    Fold,
    MaxPool1d,
    MaxPool2d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReplicationPad1d,
    ReplicationPad2d,
    Unfold,
    ZeroPad1d,
    ZeroPad2d,
)  # fmt: skip
from .layers import (
    Bilinear,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    Embedding,
    Flatten,
    Identity,
    Linear,
    Unflatten,
)  # fmt: skip
from .losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    PairwiseDistance,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
)  # fmt: skip
from .module import Module
from .normalizations import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    LayerNorm,
    RMSNorm,
)  # fmt: skip
from .parameter import Buffer, Parameter

__all__ = [name for name in dir() if not name.startswith("_")]


def __getattr__(name: str):
    if name in ("parallel", "DataParallel"):  # several devices and processes, loaded when asked for
        parallel = importlib.import_module("autogradlab.nn.parallel")
        return parallel if name == "parallel" else parallel.DataParallel
    raise AttributeError(f"module 'autogradlab.nn' has no attribute {name!r}")
