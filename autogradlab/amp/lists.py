"""What autocast does with each operator: PyTorch's lists, as far as the operators are offered here.

lower: run in the low precision, where products are fast and their rounding does little harm.  fp32: run in float32,
because sums, exponentials and losses lose too much.  promote: several operands, run in the widest of their dtypes.
Every other operator takes what it gets.  The CPU's lists are shorter: it gains less, so less is changed.

https://pytorch.org/docs/stable/amp.html#autocast-op-reference
"""

_PRODUCTS = """
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear matmul mm
    scaled_dot_product_attention
"""
_LOSSES = """
    binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy huber_loss kl_div l1_loss mse_loss nll_loss
    smooth_l1_loss
"""

_CPU = {
    "lower": f"{_PRODUCTS} prelu",
    "fp32": f"""
        {_LOSSES} binary_cross_entropy cdist prod quantile nanquantile trace
        cholesky inv solve qr svdvals
    """,
    "promote": "cat stack index_copy",
}
_CUDA = {
    "lower": f"{_PRODUCTS} addmv addr einsum mv prelu",
    "fp32": f"""
        {_LOSSES} acos asin cosh erfinv exp expm1 log log10 log1p log2 logsumexp pow reciprocal rsqrt sinh tan softplus
        layer_norm group_norm cosine_similarity cdist renorm
        cumprod cumsum log_softmax norm prod softmax sum matrix_norm vector_norm
    """,
    "promote": "addcdiv addcmul atan2 bilinear cat cross dot index_put scatter_add stack tensordot vdot",
}


def _by_name(lists: dict) -> dict:
    return {name: policy for policy, names in lists.items() for name in names.split()}


POLICIES = {"cpu": _by_name(_CPU), "cuda": _by_name(_CUDA), "sim": _by_name(_CUDA)}  # device type -> operator -> policy
