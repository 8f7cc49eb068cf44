"""nn.functional: layers and losses against NumPy, by hand; derivatives come from the operators' samples too."""

import math

import numpy as np
import pytest

import autogradlab as torch
from autogradlab.autograd import gradcheck, gradgradcheck

F = torch.nn.functional
rng = np.random.default_rng(0)


def make(*shape, low=-2.0, high=2.0, grad=True):
    return torch.tensor(rng.uniform(low, high, shape), dtype=torch.float64).requires_grad_(grad)


VALUES = np.array([-50.0, -3.0, -1.0, -0.3, 0.0, 0.4, 1.0, 3.0, 7.0, 50.0])
SIGMOID = 1 / (1 + np.exp(-VALUES))
EXPECTED = {
    "gelu": (F.gelu, [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in VALUES]),
    "gelu tanh": (
        lambda x: F.gelu(x, approximate="tanh"),
        0.5 * VALUES * (1 + np.tanh(math.sqrt(2 / math.pi) * (VALUES + 0.044715 * VALUES**3))),
    ),
    "silu": (F.silu, VALUES * SIGMOID),
    "mish": (F.mish, VALUES * np.tanh(np.logaddexp(0, VALUES))),
    "softplus": (F.softplus, np.where(VALUES > 20, VALUES, np.logaddexp(0, VALUES))),
    "logsigmoid": (F.logsigmoid, -np.logaddexp(0, -VALUES)),
    "elu": (F.elu, np.where(VALUES > 0, VALUES, np.expm1(np.minimum(VALUES, 0)))),
    "selu": (
        F.selu,
        1.0507009873554805 * np.where(VALUES > 0, VALUES, 1.6732632423543772 * np.expm1(np.minimum(VALUES, 0))),
    ),
    "celu": (lambda x: F.celu(x, 2.0), np.where(VALUES > 0, VALUES, 2 * np.expm1(np.minimum(VALUES, 0) / 2))),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), np.where(VALUES > 0, VALUES, 0.1 * VALUES)),
    "relu6": (F.relu6, np.clip(VALUES, 0, 6)),
    "hardtanh": (F.hardtanh, np.clip(VALUES, -1, 1)),
    "hardsigmoid": (F.hardsigmoid, np.clip(VALUES + 3, 0, 6) / 6),
    "hardswish": (F.hardswish, VALUES * np.clip(VALUES + 3, 0, 6) / 6),
    "softsign": (F.softsign, VALUES / (1 + abs(VALUES))),
    "tanhshrink": (F.tanhshrink, VALUES - np.tanh(VALUES)),
    "softshrink": (F.softshrink, np.sign(VALUES) * np.maximum(abs(VALUES) - 0.5, 0)),
    "hardshrink": (F.hardshrink, np.where(abs(VALUES) > 0.5, VALUES, 0)),
    "threshold": (lambda x: F.threshold(x, 0.5, 9.0), np.where(VALUES > 0.5, VALUES, 9)),
    "glu": (F.glu, VALUES[:5] * SIGMOID[5:]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_activations(name):
    function, expected = EXPECTED[name]
    np.testing.assert_allclose(function(torch.tensor(VALUES)).numpy(), expected, rtol=1e-13, atol=1e-300)


IN_PLACE = "relu relu6 elu selu celu leaky_relu hardtanh hardsigmoid hardswish mish silu".split()


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_activations_have_the_same_values_and_gradients(name):
    x = make(3, 4)
    plain = getattr(F, name)(x)
    written = x * 1
    assert getattr(F, name)(written, inplace=True) is written and written._version == 1
    np.testing.assert_array_equal(written.detach().numpy(), plain.detach().numpy())
    one, two = (torch.autograd.grad(t.sum(), x)[0] for t in (plain, written))
    np.testing.assert_array_equal(one.numpy(), two.numpy())


def log_softmax(z):
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def test_cross_entropy():
    x, t, w = make(5, 3), np.array([0, 2, 1, 2, 0]), np.array([0.5, 1.0, 2.0])
    logs = log_softmax(x.detach().numpy())
    each = -logs[np.arange(5), t]
    tt, tw = torch.tensor(t), torch.tensor(w)
    assert np.isclose(F.cross_entropy(x, tt).item(), each.mean())
    assert np.isclose(F.cross_entropy(x, tt, weight=tw).item(), (each * w[t]).sum() / w[t].sum())
    np.testing.assert_allclose(F.cross_entropy(x, tt, reduction="none", ignore_index=2).detach(), each * (t != 2))
    assert np.isclose(F.cross_entropy(x, tt, ignore_index=2).item(), each[t != 2].mean())
    smooth = 0.9 * each - 0.1 * logs.mean(1)
    assert np.isclose(F.cross_entropy(x, tt, label_smoothing=0.1).item(), smooth.mean())
    soft = torch.tensor(np.eye(3)[t])
    assert np.isclose(F.cross_entropy(x, soft).item(), each.mean())
    assert np.isclose(F.cross_entropy(x, soft, label_smoothing=0.1).item(), smooth.mean())
    image = x.T.reshape(1, 3, 5, 1)
    assert np.isclose(F.cross_entropy(image, tt.reshape(1, 5, 1)).item(), each.mean())
    assert np.isclose(F.cross_entropy(x[0], tt[0]).item(), each[0])
    assert F.cross_entropy(x * 1e4, tt).isfinite()
    for kwargs in ({}, {"weight": tw}, {"label_smoothing": 0.2}, {"ignore_index": 2}):
        assert gradcheck(lambda a, kw=kwargs: F.cross_entropy(a, tt, **kw), x)
        assert gradgradcheck(lambda a, kw=kwargs: F.cross_entropy(a, tt, **kw), x)


@pytest.mark.parametrize(
    ("does", "error"),
    [
        (lambda: F.cross_entropy(make(3, 4), torch.tensor([0, 1, 4])), IndexError),
        (lambda: F.cross_entropy(make(3, 4), torch.tensor([0, 1])), ValueError),
        (lambda: F.cross_entropy(make(3, 4), torch.tensor([0, 1, 2]), reduction="most"), ValueError),
        (lambda: F.cross_entropy(make(3, 4), torch.tensor([0, 1, 2]), label_smoothing=2.0), RuntimeError),
        (lambda: F.binary_cross_entropy(make(3) * 9, make(3)), RuntimeError),
        (lambda: F.binary_cross_entropy(make(3, low=0.1, high=0.9), make(2)), ValueError),
        (lambda: F.huber_loss(make(3), make(3), delta=0), RuntimeError),
        (lambda: F.dropout(make(3), 1.5), ValueError),
        (lambda: F.embedding(torch.tensor([3]), make(3, 2)), IndexError),
        (lambda: F.layer_norm(make(3, 4), (3,)), RuntimeError),
        (lambda: F.batch_norm(make(1, 3), None, None, training=True), ValueError),
        (lambda: F.conv2d(make(1, 3, 5, 5), make(2, 4, 3, 3)), RuntimeError),
        (lambda: F.conv2d(make(1, 3, 5, 5), make(2, 3, 6, 3)), RuntimeError),
        (lambda: F.conv2d(make(3, 5), make(2, 3, 3, 3)), RuntimeError),
        (lambda: F.conv2d(make(1, 3, 5, 5), make(2, 3, 3, 3), padding="same", stride=2), RuntimeError),
        (lambda: F.max_pool2d(make(1, 1, 4, 4), 2, padding=2), RuntimeError),
        (lambda: F.pad(make(2, 3), (1,)), RuntimeError),
        (lambda: F.pad(make(2, 3), (1, 1), mode="mirror"), NotImplementedError),
        (lambda: F.one_hot(torch.tensor([3]), 2), RuntimeError),
        (lambda: F.gelu(torch.tensor([1, 2])), NotImplementedError),
        (lambda: F.glu(make(3)), RuntimeError),
    ],
)
def test_refusals(does, error):
    with pytest.raises(error):
        does()


def test_losses():
    x, y, p, t = make(3, 4), make(3, 4), make(3, 4, low=0.1, high=0.9), make(3, 4, low=0.0, high=1.0)
    a, b, c, d = (v.detach().numpy() for v in (x, y, p, t))
    e = a - b
    found = {
        "mse": (F.mse_loss(x, y), (e**2).mean()),
        "l1": (F.l1_loss(x, y, reduction="sum"), abs(e).sum()),
        "smooth": (F.smooth_l1_loss(x, y, beta=0.5), np.where(abs(e) < 0.5, e**2, abs(e) - 0.25).mean()),
        "huber": (F.huber_loss(x, y, delta=0.5), np.where(abs(e) < 0.5, e**2 / 2, 0.5 * (abs(e) - 0.25)).mean()),
        "bce": (F.binary_cross_entropy(p, t), -(d * np.log(c) + (1 - d) * np.log(1 - c)).mean()),
        "logits": (F.binary_cross_entropy_with_logits(x, t), (np.logaddexp(0, a) - a * d).mean()),
        "kl": (F.kl_div(x, t, reduction="batchmean"), (d * (np.log(d) - a)).sum() / 3),
        "kl log": (F.kl_div(x, y, reduction="sum", log_target=True), (np.exp(b) * (b - a)).sum()),
        "nll": (F.nll_loss(x, torch.tensor([0, 1, 3])), -(a[0, 0] + a[1, 1] + a[2, 3]) / 3),
    }
    for name, (ours, expected) in found.items():
        assert np.isclose(ours.item(), expected), name
    cosine = F.cosine_similarity(x, y).detach().numpy()
    np.testing.assert_allclose(cosine, (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1))
    np.testing.assert_allclose(F.normalize(x).detach().numpy(), a / np.linalg.norm(a, axis=1, keepdims=True))
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(x, make(4))


def test_a_weighted_mean_of_ignored_targets_alone_is_nan_without_a_gradient():
    x = make(2, 3)
    loss = F.cross_entropy(x, torch.tensor([1, 1]), ignore_index=1)
    loss.backward()
    assert loss.isnan() and x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_linear_and_the_layout_of_its_gradients():
    x, w, b = make(2, 3, 4), make(5, 4), make(5)
    out = F.linear(x, w, b)
    np.testing.assert_allclose(out.detach().numpy(), x.detach().numpy() @ w.detach().numpy().T + b.detach().numpy())
    names = [out.grad_fn.name(), out.grad_fn.next_functions[0][0].name()]
    assert names == ["ViewBackward0", "AddmmBackward0"]
    out.sum().backward()
    assert w.grad.stride() == (4, 1)
    flat = F.linear(x[0], w)
    assert flat.grad_fn.name() == "MmBackward0" and flat.grad_fn.next_functions[1][0].name() == "TBackward0"
    assert gradcheck(F.bilinear, (make(3, 2), make(3, 4), make(5, 2, 4), make(5)))


def conv_by_hand(x, w, stride, padding, dilation, groups):
    n, c, h, width = x.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    o, ci, kh, kw = w.shape
    oh = (h + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    ow = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    out = np.zeros((n, o, oh, ow))
    for k in range(o):
        first = k // (o // groups) * ci
        for i in range(oh):
            for j in range(ow):
                rows = slice(i * stride, i * stride + dilation * (kh - 1) + 1, dilation)
                columns = slice(j * stride, j * stride + dilation * (kw - 1) + 1, dilation)
                out[:, k, i, j] = (x[:, first : first + ci, rows, columns] * w[k]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize(("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)])
def test_convolution_by_hand(stride, padding, dilation, groups):
    x, w = make(2, 4, 6, 5), make(4, 4 // groups, 3, 2)
    out = F.conv2d(x, w, None, stride, padding, dilation, groups)
    by_hand = conv_by_hand(x.detach().numpy(), w.detach().numpy(), stride, padding, dilation, groups)
    np.testing.assert_allclose(out.detach().numpy(), by_hand)
    assert gradcheck(lambda a, b: F.conv2d(a, b, None, stride, padding, dilation, groups), (x, w))
    y = torch.randn(*out.shape, dtype=torch.float64)  # the transposed convolution is its transpose
    transposed = F.conv_transpose2d(
        y, w, None, stride, padding, _rest(x, out, w, stride, padding, dilation), groups, dilation
    )
    assert np.isclose((out * y).sum().item(), (x * transposed).sum().item())


def _rest(x, out, w, stride, padding, dilation):
    return [x.shape[d] - ((out.shape[d] - 1) * stride - 2 * padding + dilation * (w.shape[d] - 1) + 1) for d in (2, 3)]


def test_convolution_s_padding_words_and_unbatched_inputs():
    x, w = make(3, 7), make(2, 3, 4)
    assert F.conv1d(x, w, padding="same").shape == (2, 7) and F.conv1d(x, w, padding="valid").shape == (2, 4)
    assert torch.equal(F.conv1d(x, w, padding="valid"), F.conv1d(x.unsqueeze(0), w)[0])
    assert F.conv2d(make(0, 3, 5, 5), make(2, 3, 3, 3)).shape == (0, 2, 3, 3)


def test_pooling():
    x = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
    out, where = F.max_pool2d(x, 2, return_indices=True)
    assert out.tolist() == [[[[5, 7], [13, 15]]]] and where.tolist() == [[[[5, 7], [13, 15]]]]
    out.sum().backward()
    assert x.grad.sum().item() == 4 and x.grad[0, 0, 1, 1].item() == 1
    assert F.avg_pool2d(x, 2).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert F.avg_pool2d(x, 2, padding=1, count_include_pad=False)[0, 0, 0, 0].item() == 0
    assert F.avg_pool2d(x, 2, divisor_override=1)[0, 0, 0, 0].item() == 10
    assert F.max_pool2d(x, 3, stride=2, ceil_mode=True).tolist() == [[[[10, 11], [14, 15]]]]
    assert F.adaptive_avg_pool2d(x, 1).item() == 7.5 and F.adaptive_avg_pool2d(x, (2, None)).shape == (1, 1, 2, 4)
    assert F.max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 5.0]]), 2).tolist() == [[3, 5]]
    assert F.avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 5.0]]), 2).tolist() == [[2, 3.5]]


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_padding_as_numpy_pads(mode, numpy_mode):
    x = make(2, 3, 4, 5)
    out = F.pad(x, (1, 2, 2, 1), mode=mode)
    np.testing.assert_array_equal(
        out.detach(), np.pad(x.detach().numpy(), ((0, 0), (0, 0), (2, 1), (1, 2)), numpy_mode)
    )
    assert gradcheck(lambda a: F.pad(a, (1, 2, 2, 1), mode=mode), x)


def test_constant_padding_crops_too():
    x = torch.arange(6.0).reshape(2, 3)
    assert F.pad(x, (-1, 1), value=9.0).tolist() == [[1, 2, 9], [4, 5, 9]]


def test_unfold_and_fold():
    x = make(1, 2, 4, 4)
    columns = F.unfold(x, 2)
    assert columns.shape == (1, 8, 9) and torch.equal(columns[0, :4, 0], x[0, 0, :2, :2].reshape(-1))
    counts = F.fold(F.unfold(x * 0 + 1, 2), (4, 4), 2)
    assert counts[0, 0].tolist()[0] == [1, 2, 2, 1] and torch.equal(F.fold(columns, (4, 4), 2) / counts, x)


def normalised(a, axes):
    return (a - a.mean(axes, keepdims=True)) / np.sqrt(a.var(axes, keepdims=True) + 1e-5)


def test_normalisation():
    x, w, b = make(2, 4, 3), make(4), make(4)
    a, scale, shift = x.detach().numpy(), w.detach().numpy()[:, None], b.detach().numpy()[:, None]
    bn = F.batch_norm(x, None, None, w, b, training=True)
    np.testing.assert_allclose(bn.detach(), normalised(a, (0, 2)) * scale + shift)
    np.testing.assert_allclose(F.layer_norm(x, (4, 3)).detach(), normalised(a, (1, 2)))
    np.testing.assert_allclose(F.layer_norm(x, (3,), None, torch.ones(3).double()).detach(), normalised(a, 2) + 1)
    grouped = normalised(a.reshape(2, 2, 2, 3), (2, 3)).reshape(2, 4, 3)
    np.testing.assert_allclose(F.group_norm(x, 2, w, b).detach(), grouped * scale + shift)
    np.testing.assert_allclose(F.instance_norm(x).detach(), normalised(a, 2))
    np.testing.assert_allclose(F.rms_norm(x, (3,), eps=0.1).detach(), a / np.sqrt((a**2).mean(2, keepdims=True) + 0.1))
    assert bn.grad_fn.name() == "NativeBatchNormBackward0" and len(bn.grad_fn.next_functions) == 3
    for function in (
        lambda a, w, b: F.batch_norm(a, None, None, w, b, training=True),
        lambda a, w, b: F.group_norm(a, 2, w, b),
        lambda a, w, b: F.layer_norm(a.transpose(1, 2), (4,), w, b),
    ):
        assert gradcheck(function, (x, w, b)) and gradgradcheck(function, (x, w, b))


def test_batch_norm_follows_the_batches():
    bn = torch.nn.BatchNorm1d(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    bn(x)
    np.testing.assert_allclose(bn.running_mean.numpy(), [0.2, 0.4], rtol=1e-6)
    np.testing.assert_allclose(bn.running_var.numpy(), [0.9 + 0.2, 0.9 + 0.8], rtol=1e-6)
    bn.eval()(x)
    assert bn.num_batches_tracked.item() == 1
    mean = torch.nn.BatchNorm1d(2, momentum=None)
    mean(x), mean(x * 3)
    np.testing.assert_allclose(mean.running_mean.numpy(), [4, 8], rtol=1e-6)


def test_embedding_and_one_hot():
    w, index = make(5, 3), torch.tensor([[0, 2], [2, 2]])
    out = F.embedding(index, w, padding_idx=0)
    assert torch.equal(out[1, 0], w[2])
    out.sum().backward()
    assert w.grad[:, 0].tolist() == [0, 0, 3, 0, 0]
    by_frequency = torch.autograd.grad(F.embedding(index, w, scale_grad_by_freq=True).sum(), w)[0]
    assert by_frequency[:, 0].tolist() == [1, 0, 1, 0, 0]
    shortened = torch.ones(2, 4)
    F.embedding(torch.tensor([1]), shortened, max_norm=1.0)
    np.testing.assert_allclose(shortened.norm(dim=1).numpy(), [2, 1], rtol=1e-5)
    assert F.one_hot(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert torch.nn.Embedding(3, 2, padding_idx=1).weight[1].tolist() == [0, 0]


def test_dropout():
    torch.manual_seed(0)
    x = torch.ones(10_000, requires_grad=True)
    d = F.dropout(x, 0.25)
    assert abs((d == 0).float().mean().item() - 0.25) < 0.02 and d.grad_fn.name() == "MulBackward0"
    assert set(d.unique().tolist()) == {0.0, np.float32(1 / 0.75)}
    d.sum().backward()
    assert torch.equal(x.grad, d.detach())
    assert F.dropout(x, 0.5, training=False) is x and F.dropout(x, 0.0) is x and not F.dropout(x, 1.0).any()
    channels = F.dropout2d(torch.ones(4, 50, 3, 3))
    assert all(len(c.unique()) == 1 for c in channels.reshape(200, 9))


def attention(q, k, v, mask=0.0):
    scores = q @ np.swapaxes(k, -2, -1) / math.sqrt(q.shape[-1]) + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def test_attention():
    q, k, v = make(2, 2, 5, 4), make(2, 2, 5, 4), make(2, 2, 5, 3)
    a, b, c = (t.detach().numpy() for t in (q, k, v))
    sdpa = F.scaled_dot_product_attention
    np.testing.assert_allclose(sdpa(q, k, v).detach(), attention(a, b, c))
    causal = np.triu(np.full((5, 5), -np.inf), 1)
    np.testing.assert_allclose(sdpa(q, k, v, is_causal=True).detach(), attention(a, b, c, causal))
    allowed = torch.tensor(causal == 0)
    np.testing.assert_allclose(sdpa(q, k, v, allowed).detach(), attention(a, b, c, causal))
    assert not sdpa(q, k, v, torch.zeros(5, 5).bool()).isnan().any()
    assert gradcheck(lambda *t: sdpa(*t, is_causal=True), (q, k, v))
    with pytest.raises(RuntimeError, match="is_causal"):
        sdpa(q, k, v, allowed, is_causal=True)


def test_multihead_attention_is_its_heads_side_by_side():
    torch.manual_seed(0)
    m = torch.nn.MultiheadAttention(4, 2).double()
    x = make(3, 2, 4)
    out, weights = m(x, x, x)
    a, w, bias = x.detach().numpy(), m.in_proj_weight.detach().numpy(), m.in_proj_bias.detach().numpy()
    q, k, v = (t.transpose(1, 0, 2) for t in np.split(a @ w.T + bias, 3, -1))
    heads = [attention(q[..., s], k[..., s], v[..., s]) for s in (slice(0, 2), slice(2, 4))]
    joined = np.concatenate(heads, -1).transpose(1, 0, 2) @ m.out_proj.weight.detach().numpy().T
    np.testing.assert_allclose(out.detach(), joined + m.out_proj.bias.detach().numpy())
    assert weights.shape == (2, 3, 3) and np.allclose(weights.sum(-1).detach(), 1)
    bare, nothing = m(x, x, x, need_weights=False)
    np.testing.assert_allclose(bare.detach(), out.detach())
    assert nothing is None
    hidden = torch.tensor([[False, False, True]] * 2)
    _, seen = m(x, x, x, key_padding_mask=hidden)
    assert seen[..., 2].abs().max().item() == 0
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double().eval()
    assert layer(x).shape == x.shape
    with pytest.raises(AssertionError, match="embedding dimension"):
        m(make(3, 2, 5), x, x)


@pytest.mark.parametrize("name", ["leaky_relu", "hardtanh", "relu6", "softshrink", "hardshrink", "relu"])
def test_second_derivatives_of_straight_lines_are_zeros_and_not_missing(name):
    x = torch.tensor([-2.0, 0.3, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(getattr(F, name)(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((g * g).sum(), x)
    assert second.tolist() == [0, 0, 0]


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_normalisation_takes_float32_parameters_beside_half_precision(half):
    x, weight = torch.arange(24.0).reshape(4, 2, 3).to(half).requires_grad_(), torch.ones(3, requires_grad=True)
    out = F.layer_norm(x, (3,), weight, torch.zeros(3))
    out.sum().backward()
    assert (out.dtype, x.grad.dtype, weight.grad.dtype) == (half, half, torch.float32)
    two = torch.zeros(2), torch.ones(2)
    for made in (
        F.batch_norm(x, *two, two[1], two[0]),
        F.batch_norm(x, *two, training=True),
        F.group_norm(x, 2, two[1]),
    ):
        assert made.dtype is half
    with pytest.raises(RuntimeError, match="mixed dtype"):
        F.layer_norm(x, (3,), weight.double())
