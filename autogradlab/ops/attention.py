"""Attention: means of values, weighted by how well keys fit a query.  (https://arxiv.org/abs/1706.03762)"""

import math

from autogradlab import dtypes, late
from autogradlab.convert import autocasts
from autogradlab.table import explained, nn_functions, operator

from .choose import where
from .create import ones, zeros
from .join import cat
from .kinds import floating
from .linalg import matmul
from .padding import pad
from .reduce import sum as total


@operator(accepts=floating, public=(), samples=lambda make: [((make(2, 3), -1), {})])
class safe_softmax:
    """Softmax along dim, but zeros instead of nan for a row of -inf: a query that may attend to nothing."""

    def arguments(input, dim):
        return (input,), {"dim": dim % max(input.dim(), 1)}

    def kernel(xp, a, /, dim):
        largest = xp.max(a, axis=dim, keepdims=True) if a.size else xp.zeros_like(a)
        out = xp.exp(a - xp.where(largest == -xp.inf, xp.zeros_like(largest), largest))
        sums = xp.sum(out, axis=dim, keepdims=True)
        out /= sums + (sums == 0)
        return out

    def grad_a(g, result, dim):
        weighted = g * result
        return weighted - result * total(weighted, dim=(dim,), keepdim=True)


@autocasts("scaled_dot_product_attention")
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p: float = 0.0, is_causal: bool = False, scale=None, enable_gqa=False
):
    """softmax(query @ key.T * scale + mask) @ value.

    query: (..., L, E); key: (..., S, E); value: (..., S, Ev).  attn_mask: bool (True may attend) or numbers to add.
    is_causal: no query sees keys behind its own place.  scale: 1 / sqrt(E) unless said otherwise.
    """
    for name, given in (("query", query), ("key", key), ("value", value)):
        if given.dim() < 2:
            raise RuntimeError(
                f"Expected query, key, and value to all be at least 2 dimensional, but got {name} of dimension "
                f"{given.dim()}."
            )
        if given._dtype is not query._dtype:
            raise RuntimeError(
                f"Expected query, key, and value to have the same dtype, but got query.dtype: {query._dtype} and "
                f"{name}.dtype: {given._dtype} instead."
            )
    if attn_mask is not None and is_causal:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True.")
    if query._dtype.is_half:  # rounded once
        wide = (t.float() for t in (query, key, value))
        mask = attn_mask.float() if attn_mask is not None and attn_mask._dtype.is_half else attn_mask
        out = scaled_dot_product_attention(*wide, mask, dropout_p, is_causal, scale, enable_gqa)
        return out.to(query._dtype)
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    scores = matmul(query * (query.shape[-1] ** -0.5 if scale is None else scale), key.transpose(-2, -1))
    if is_causal:
        size = query.shape[-2], key.shape[-2]
        attn_mask = ones(size, dtype=dtypes.bool_, device=query._device).tril()
    if attn_mask is not None:
        scores = scores + additive(attn_mask, query._dtype)
    weights = safe_softmax.function(scores, -1)
    if dropout_p:
        weights = late.nn_functions["dropout"](weights, dropout_p)
    return matmul(weights, value)


def additive(mask, dtype, blocked: bool = False):
    """A mask as numbers to add: -inf where a bool mask says `blocked`."""
    if mask._dtype is dtypes.bool_:
        nothing = zeros((), dtype=dtype, device=mask._device)
        return where(mask, nothing - math.inf, nothing) if blocked else where(mask, nothing, nothing - math.inf)
    if not mask._dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of masks are supported, got {mask._dtype}")
    return mask


def over_all(fn, *tensors) -> tuple:
    """fn of each tensor; one that stands there several times stays one."""
    made = {id(t): fn(t) for t in tensors}
    return tuple(made[id(t)] for t in tensors)


def _projected(query, key, value, weights, bias):
    """Queries, keys and values out of their inputs, by three weights or by one that holds them below each other."""
    linear = late.nn_functions["linear"]
    if not isinstance(weights, tuple):
        if query is key is value:
            packed = linear(query, weights, bias).unflatten(-1, (3, query.shape[-1]))
            return packed.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous().unbind(0)
        weights = weights.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _check(query, key, value, key_padding_mask, attn_mask, embed_dim, heads, is_causal) -> None:
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D tensor")
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For batched (3-D) or unbatched (2-D) `query`, expected `key` and `value` to be {query.dim()}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != query.dim() - 1:
        raise AssertionError(
            f"expected `key_padding_mask` to be {query.dim() - 1}-D but found {key_padding_mask.dim()}-D tensor"
        )
    if query.shape[-1] != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}")
    if embed_dim % heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {heads}")
    if key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")


def _merged_mask(attn_mask, key_padding_mask, dtype, batch, heads, targets, sources):
    """Both masks as numbers to add to the scores (batch * heads, targets, sources); None if there is none."""
    mask = None
    if attn_mask is not None:
        expected = (targets, sources) if attn_mask.dim() == 2 else (batch * heads, targets, sources)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {expected}."
            )
        mask = additive(attn_mask, dtype, blocked=True)
        mask = mask.unsqueeze(0) if mask.dim() == 2 else mask
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, sources):
            raise AssertionError(
                f"expecting key_padding_mask shape of {(batch, sources)}, but got {tuple(key_padding_mask.shape)}"
            )
        padding = additive(key_padding_mask, dtype, blocked=True).view(batch, 1, 1, sources)
        padding = padding.expand(-1, heads, -1, -1).reshape(batch * heads, 1, sources)
        mask = padding if mask is None else mask + padding
    return mask


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight,
    out_proj_bias,
    training: bool = True,
    key_padding_mask=None,
    need_weights: bool = True,
    attn_mask=None,
    use_separate_proj_weight: bool = False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
):
    """Attention by several heads at once: (L, N, E) gives (L, N, E), and the weights (N, L, S) if asked for.

    Masks: True (or -inf) hides a key.  Each head has E / num_heads of the numbers.
    """
    _check(query, key, value, key_padding_mask, attn_mask, embed_dim_to_check, num_heads, is_causal)
    single = query.dim() == 2
    if single:
        query, key, value = over_all(lambda t: t.unsqueeze(1), query, key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    targets, batch, size = query.shape
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        is_causal = False
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(query, key, value, weights, in_proj_bias)
    mask = _merged_mask(attn_mask, key_padding_mask, q._dtype, batch, num_heads, targets, key.shape[0])
    if bias_k is not None:
        k, v = cat.function([k, bias_k.repeat(1, batch, 1)]), cat.function([v, bias_v.repeat(1, batch, 1)])
        mask = None if mask is None else pad(mask, (0, 1))
    heads = batch * num_heads
    q, k, v = (t.reshape(t.shape[0], heads, size // num_heads).transpose(0, 1) for t in (q, k, v))
    k, v = k if static_k is None else static_k, v if static_v is None else static_v
    if add_zero_attn:
        nothing = zeros((heads, 1, size // num_heads), dtype=k._dtype, device=k._device)
        k, v = cat.function([k, nothing], 1), cat.function([v, nothing], 1)
        mask = None if mask is None else pad(mask, (0, 1))
    heads = (num_heads, average_attn_weights) if need_weights else None
    out, weights = _attend(q, k, v, mask, dropout_p if training else 0.0, is_causal, heads)
    out = out.transpose(0, 1).reshape(targets * batch, size)
    out = late.nn_functions["linear"](out, out_proj_weight, out_proj_bias)
    out = out.view(targets, batch, out_proj_weight.shape[0])
    return (out.squeeze(1), weights if weights is None else weights.squeeze(0)) if single else (out, weights)


def _attend(q, k, v, mask, dropout_p, is_causal, heads):
    """The attention of (batch * heads, length, size), and its weights if heads = (their number, whether averaged)."""
    if heads is None:
        return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal), None
    scores = matmul(q * q.shape[-1] ** -0.5, k.transpose(-2, -1))
    weights = late.functions["softmax"](scores if mask is None else scores + mask, -1)
    out = matmul(late.nn_functions["dropout"](weights, dropout_p) if dropout_p else weights, v)
    number, average = heads
    weights = weights.view(q.shape[0] // number, number, *weights.shape[1:])
    return out, weights.mean(1) if average else weights


for _fn in (scaled_dot_product_attention, multi_head_attention_forward):
    nn_functions[_fn.__name__] = explained(_fn)
