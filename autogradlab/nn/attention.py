"""Attention layers, and the transformer's encoder made of them.  (https://arxiv.org/abs/1706.03762)"""

import copy

from autogradlab.late import functions as torch
from autogradlab.ops.attention import over_all

from . import functional as F
from . import init
from .containers import ModuleList
from .layers import Dropout, Linear
from .module import Module
from .normalizations import LayerNorm
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear; the name is the one PyTorch prints."""


class MultiheadAttention(Module):
    """Attention by several heads, each with its own projections.  batch_first: (N, L, E) instead of (L, N, E)."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        kinds = {"device": device, "dtype": dtype}

        def made(wanted, *shape):
            return Parameter(torch["empty"](*shape, **kinds)) if wanted else None

        same = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", made(same, 3 * embed_dim, embed_dim))
        for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", made(not same, embed_dim, size))
        self.register_parameter("in_proj_bias", made(bias, 3 * embed_dim))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **kinds)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, made(add_bias_kv, 1, 1, embed_dim))
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for param in (self.bias_k, self.bias_v):
            if param is not None:
                init.xavier_normal_(param)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights: bool = True,
        attn_mask=None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ):
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            query, key, value = over_all(lambda t: t.transpose(0, 1), query, key, value)
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (out.transpose(0, 1) if swapped else out), weights


def _activation(given):
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return getattr(F, given)


class TransformerEncoderLayer(Module):
    """Self-attention and a network of two linear layers, each added to its input and normalised."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation=F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        kinds = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **kinds)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **kinds)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **kinds)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kinds)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kinds)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal: bool = False):
        masks = src_mask, src_key_padding_mask, is_causal
        if self.norm_first:
            x = src + self._attention(self.norm1(src), *masks)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + self._attention(src, *masks))
        return self.norm2(x + self._feed_forward(x))

    def _attention(self, x, mask, padding, causal):
        out, _ = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False, is_causal=causal)
        return self.dropout1(out)

    def _feed_forward(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """A layer several times over (copies of it), and a norm at the end if given."""

    def __init__(self, encoder_layer, num_layers: int, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)
