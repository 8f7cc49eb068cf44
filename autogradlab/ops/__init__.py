"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.  Which file has what:

    pointwise      + - * / % **, abs, reciprocal          reduce        sum, mean, var, prod, all, any, norm
    elementary     exp, log, sin, sqrt, sigmoid, relu     extremes      max, min, amax, argmax
    special        asinh, erfc, logit, nan_to_num         running       cumsum, cumprod, cummax
    two_numbers    atan2, hypot, xlogy, lerp, addcmul     statistics    var_mean, quantile, cov, histc
    rounding       sign, floor, round                     order         sort, topk, kthvalue, median
    compare        == <, isnan, logical_, bitwise_        search        unique, isin, searchsorted
    choose         maximum, clamp, where

    create         tensor, zeros, arange, linspace        shape         view, reshape, permute, expand, squeeze
    random         rand, randn, bernoulli, Generator      slices        select, slices, as_strided, split, unbind
    copy           clone, to, copy_, fill_, detach        diagonals     diagonal, diag, tril, triu, trace
    persist        deepcopy, pickle                       join          cat, stack, flip, roll, repeat
    index          x[...], x[...] = v, index_put          pieces        hstack, tensor_split, rot90, tile
    gather         gather, scatter, index_select, _add    scatter       scatter_reduce, index_copy, index_fill, take
    masks          masked_fill, masked_select, nonzero

    linalg         matmul, mm, bmm, mv, dot, addmm        contract      the sums of products gradients are made of
    products       einsum, tensordot, cross, kron         distances     cdist, dist
    decompose      inv, det, cholesky, qr, svd, solve     softmax       softmax, log_softmax

and those of layers, which are loaded with nn.functional:

    activation     gelu, silu, elu, hardtanh, prelu       linear        linear, bilinear
    attention      scaled_dot_product_attention           loss          nll_loss, mse_loss, binary_cross_entropy
    convolution    conv1d to conv3d, transposed           normalization layer_norm, batch_norm, group_norm
    patches        unfold, fold                           pooling       max_pool2d, avg_pool2d, adaptive
    padding        pad                                    dropout, embedding

What blocks share: kinds (flags), samples (what each is tested with), float8 (kept as bytes on accelerators).
out: out= for what is no block.
"""

from . import (
    activation,
    adopt,
    choose,
    compare,
    contract,
    copy,
    create,
    diagonals,
    distances,
    elementary,
    extremes,
    gather,
    index,
    join,
    linalg,
    masks,
    order,
    persist,
    pieces,
    pointwise,
    products,
    random,
    reduce,
    rounding,
    running,
    scatter,
    search,
    shape,
    slices,
    softmax,
    special,
    statistics,
    two_numbers,
)

from . import out  # isort: skip - last: it adds to what the others export

__all__ = [
    "activation", "adopt", "choose", "compare", "contract", "copy", "create", "diagonals", "distances",
    "elementary", "extremes", "gather", "index", "join", "linalg", "masks",
    "order", "out", "persist", "pieces", "pointwise", "products",
    "random", "reduce", "rounding", "running", "scatter", "search", "shape", "slices", "softmax", "special",
    "statistics", "two_numbers",
]  # fmt: skip
