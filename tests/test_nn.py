"""Modules: what they hold, how they are saved, called, printed and copied."""

import copy
import pickle

import numpy as np
import pytest

import autogradlab as torch
from autogradlab import nn


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1, bias=False))


def test_parameters_are_leaves_that_share_the_memory_of_their_data():
    data = torch.ones(2)
    p = nn.Parameter(data)
    assert isinstance(p, torch.Tensor) and p.requires_grad and p.is_leaf and p.data_ptr() == data.data_ptr()
    assert type(p * 2) is torch.Tensor and type(p.detach()) is torch.Tensor
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert not nn.Parameter(torch.ones(2), requires_grad=False).requires_grad
    twin = copy.deepcopy(p)
    assert isinstance(twin, nn.Parameter) and twin.data_ptr() != p.data_ptr()
    assert isinstance(pickle.loads(pickle.dumps(p)), nn.Parameter)
    with pytest.raises(TypeError, match="expected data to be a Tensor"):
        nn.Parameter([1.0])


def test_assignment_registers_and_names_are_dotted():
    m = net()
    assert [n for n, _ in m.named_parameters()] == ["0.weight", "0.bias", "2.weight"]
    assert [n for n, _ in m.named_modules()] == ["", "0", "1", "2"]
    m[0].weight = m[2].weight
    assert len(list(m.parameters())) == 2 and len(list(m.named_parameters(remove_duplicate=False))) == 3
    m.register_buffer("seen", torch.zeros(1), persistent=False)
    m.kept = nn.Buffer(torch.ones(1))
    assert [n for n, _ in m.named_buffers()] == ["seen", "kept"] and "seen" not in m.state_dict()
    m.kept = torch.zeros(2)
    assert "kept" in m._buffers
    del m.kept
    assert not hasattr(m, "kept")
    m[0].bias = None
    assert m[0].bias is None and "bias=False" in repr(m[0])


class Early(nn.Module):
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    ("does", "error", "says"),
    [
        (lambda: Early(nn.Parameter(torch.ones(1))), AttributeError, "cannot assign parameters before Module.__init__"),
        (lambda: Early(nn.Tanh()), AttributeError, "cannot assign module before Module.__init__"),
        (lambda: net()[0].register_parameter("a.b", None), KeyError, "parameter name can"),
        (lambda: net()[0].register_parameter("", None), KeyError, "empty string"),
        (lambda: net()[0].register_buffer("weight", torch.ones(1)), KeyError, "already exists"),
        (lambda: net()[0].register_parameter("x", torch.ones(1)), TypeError, "torch.nn.Parameter or None required"),
        (lambda: setattr(net()[0], "weight", torch.ones(1)), TypeError, "cannot assign 'torch.FloatTensor' as param"),
        (lambda: net().add_module("x", 1), TypeError, "int is not a Module subclass"),
        (lambda: net().nothing, AttributeError, "'Sequential' object has no attribute 'nothing'"),
        (lambda: nn.Module()(1), NotImplementedError, 'missing the required "forward"'),
        (lambda: net().get_submodule("0.weight"), AttributeError, "is not an nn.Module"),
        (lambda: net().get_parameter("0.nothing"), AttributeError, "has no attribute `nothing`"),
        (lambda: net().to(torch.int32), TypeError, "only accepts floating point"),
        (lambda: net().train(1), ValueError, "expected to be boolean"),
        (lambda: net()[5], IndexError, "out of range"),
        (lambda: nn.Module(width=3), TypeError, "unexpected keyword argument 'width'"),
    ],
)
def test_what_modules_refuse(does, error, says):
    with pytest.raises(error, match=says):
        does()


def test_state_dict_goes_out_and_comes_back():
    one, two = net(), net()
    state = one.state_dict()
    assert list(state) == ["0.weight", "0.bias", "2.weight"]
    assert state["0.weight"].data_ptr() == one[0].weight.data_ptr() and not state["0.weight"].requires_grad
    assert repr(two.load_state_dict(state)) == "<All keys matched successfully>"
    x = torch.randn(4, 2)
    assert torch.equal(one(x), two(x))
    weight = two[0].weight
    two.load_state_dict({k: v.clone() for k, v in state.items()}, assign=True)
    assert two[0].weight is not weight and isinstance(two[0].weight, nn.Parameter) and two[0].weight.requires_grad


def test_a_state_dict_that_does_not_fit_is_refused_with_all_that_is_wrong():
    with pytest.raises(RuntimeError) as caught:
        net().load_state_dict({"0.weight": torch.ones(2, 2), "0.bias": 3, "extra": torch.ones(1)})
    text = str(caught.value)
    assert text.startswith('Error(s) in loading state_dict for Sequential:\n\tMissing key(s) in state_dict: "2.weight"')
    assert 'Unexpected key(s) in state_dict: "extra"' in text
    assert "size mismatch for 0.weight: copying a param with shape torch.Size([2, 2])" in text
    assert "expected torch.Tensor or Tensor-like object" in text
    keys = net().load_state_dict({"extra": torch.ones(1)}, strict=False)
    assert keys.missing_keys == ["0.weight", "0.bias", "2.weight"] and keys.unexpected_keys == ["extra"]
    with pytest.raises(TypeError, match="dict-like"):
        net().load_state_dict([1])


def test_state_dict_hooks():
    m, seen = nn.Linear(1, 1), []
    m.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append("pre"))
    m.register_state_dict_post_hook(lambda module, state, prefix, meta: state.update(more=torch.ones(1)))
    m.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("more"))
    handle = m.register_load_state_dict_post_hook(lambda module, keys: seen.append(list(keys.missing_keys)))
    state = m.state_dict()
    assert "more" in state and m.load_state_dict(state).missing_keys == [] and seen == ["pre", []]
    handle.remove()
    m.load_state_dict(state)
    assert len(seen) == 2


def test_forward_hooks_run_in_order_and_replace():
    m, seen = nn.Linear(2, 2), []
    m.register_forward_pre_hook(lambda module, args: seen.append("pre"))
    m.register_forward_pre_hook(lambda module, args: (args[0] + 1,), prepend=True)
    m.register_forward_hook(
        lambda module, args, kwargs, out: seen.append((args[0][0, 0].item(), kwargs)), with_kwargs=True
    )
    double = m.register_forward_hook(lambda module, args, out: out * 2)
    x = torch.zeros(1, 2)
    out = m(x)
    assert torch.equal(out, 2 * nn.functional.linear(x + 1, m.weight, m.bias)) and seen == ["pre", (1.0, {})]
    double.remove()
    assert torch.equal(m(x), nn.functional.linear(x + 1, m.weight, m.bias))
    m.register_forward_hook(lambda module, args, out: seen.append("always"), always_call=True)
    with pytest.raises(RuntimeError):
        m(torch.zeros(1, 5))
    assert seen[-1] == "always"


def test_backward_hooks_see_and_replace_gradients():
    m, seen = nn.Linear(2, 1, bias=False), []
    with torch.no_grad():
        m.weight.copy_(torch.tensor([[2.0, 3.0]]))
    m.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 10,))
    m.register_full_backward_hook(
        lambda module, into, out: seen.append((into[0] if into[0] is None else into[0].tolist(), out[0].tolist()))
    )
    handle = m.register_full_backward_hook(lambda module, into, out: (into[0] + 1,))
    x = torch.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    assert seen == [([[20.0, 30.0]], [[10.0]])] and x.grad.tolist() == [[21.0, 31.0]]
    assert m.weight.grad.tolist() == [[10.0, 10.0]]
    handle.remove()
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        m(torch.ones(1, 2)).sum().backward()
    assert seen[-1] == (None, [[10.0]])


def test_modules_move_convert_freeze_and_are_copied():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    m(torch.randn(3, 2)).sum().backward()
    weight, grad = m[0].weight, m[0].weight.grad
    m.double()
    assert m[0].weight is weight and weight.dtype is torch.float64 and weight.grad is grad
    assert grad.dtype is torch.float64 and m[1].running_mean.dtype is torch.float64
    assert m[1].num_batches_tracked.dtype is torch.int64
    twin = copy.deepcopy(m)
    assert torch.equal(twin[0].weight, weight) and twin[0].weight is not weight
    other = pickle.loads(pickle.dumps(m))
    assert torch.equal(other[0].weight, weight) and repr(other) == repr(m)
    m.to("sim:0")
    assert (
        str(weight.device) == "sim:0"
        and str(m[1].running_mean.device) == "sim:0"
        and str(weight.grad.device) == "sim:0"
    )
    m.to("cpu", torch.float32).requires_grad_(False).zero_grad()
    assert weight.dtype is torch.float32 and not weight.requires_grad and weight.grad is None
    assert not m.eval()[1].training and m.train()[1].training


def test_containers():
    s = net()
    assert len(s) == 3 and s[-1] is s[2] and len(s[:2]) == 2 and len(s * 2) == 6 and len(s + s) == 6
    s.insert(0, nn.ReLU()).append(nn.GELU())
    assert [type(m).__name__ for m in s] == ["ReLU", "Linear", "Tanh", "Linear", "GELU"]
    del s[0]
    assert list(s._modules) == ["0", "1", "2", "3"] and type(s.pop(3)).__name__ == "GELU"
    rows = nn.ModuleList([nn.Tanh(), nn.Tanh()])
    rows += [nn.ReLU()]
    assert repr(rows) == "ModuleList(\n  (0-1): 2 x Tanh()\n  (2): ReLU()\n)" and len(rows[1:]) == 2
    named = nn.ModuleDict({"a": nn.Tanh()})
    named["b"] = nn.ReLU()
    assert list(named) == ["a", "b"] and "a" in named and named.pop("a") and len(named) == 1
    params = nn.ParameterList([torch.ones(2)])
    assert isinstance(params[0], nn.Parameter) and len(list(params.parameters())) == 1
    both = nn.ParameterDict({"x": torch.ones(1)}) | nn.ParameterDict({"y": torch.ones(2)})
    assert list(both.keys()) == ["x", "y"] and isinstance(both["y"], nn.Parameter)
    with pytest.raises(TypeError, match="iterable"):
        nn.ModuleList(3)


TEXTS = {
    "Linear(in_features=2, out_features=3, bias=True)": lambda: nn.Linear(2, 3),
    "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 2), padding=(1, 1), groups=2, bias=False)": lambda: nn.Conv2d(
        2, 4, 3, (1, 2), 1, groups=2, bias=False
    ),
    "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)": lambda: nn.BatchNorm1d(
        3
    ),
    "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)": lambda: nn.LayerNorm(3),
    "Embedding(3, 2, padding_idx=1)": lambda: nn.Embedding(3, 2, padding_idx=1),
    "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": lambda: nn.MaxPool2d(2),
    "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": lambda: nn.AvgPool1d(2),
    "Dropout(p=0.5, inplace=False)": lambda: nn.Dropout(),
    "ELU(alpha=1.0, inplace=True)": lambda: nn.ELU(inplace=True),
    "GELU(approximate='none')": lambda: nn.GELU(),
    "ReLU()": lambda: nn.ReLU(),
    "Softmax(dim=1)": lambda: nn.Softmax(1),
    "CrossEntropyLoss()": lambda: nn.CrossEntropyLoss(),
}


@pytest.mark.parametrize("text", TEXTS)
def test_layers_print_as_pytorch_s(text):
    assert repr(TEXTS[text]()) == text


def test_layers_start_within_pytorch_s_bounds():
    torch.manual_seed(0)
    layer = nn.Linear(100, 400)
    assert 0.0999 < layer.weight.abs().max().item() <= 0.1 and layer.bias.abs().max().item() <= 0.1
    conv = nn.Conv2d(4, 50, 5)
    assert 0.0999 < conv.weight.abs().max().item() <= 0.1
    assert abs(nn.Embedding(100, 100).weight.std().item() - 1) < 0.05
    assert nn.LayerNorm(3).weight.tolist() == [1, 1, 1] and nn.BatchNorm2d(2).bias.tolist() == [0, 0]


def test_initialisation():
    init, w = nn.init, torch.empty(200, 100)
    torch.manual_seed(0)
    assert abs(init.xavier_normal_(w).std().item() - (2 / 300) ** 0.5) < 2e-3
    bound = (6 / 300) ** 0.5
    assert 0.99 * bound < init.xavier_uniform_(w).abs().max().item() <= bound
    assert abs(init.kaiming_normal_(w, nonlinearity="relu").std().item() - (2 / 100) ** 0.5) < 5e-3
    assert 0.99 * (6 / 200) ** 0.5 < init.kaiming_uniform_(w, mode="fan_out").abs().max().item() <= (6 / 200) ** 0.5
    assert init.trunc_normal_(w, a=-0.5, b=0.5).abs().max().item() <= 0.5
    np.testing.assert_allclose((init.orthogonal_(w, gain=2).T @ w).numpy(), 4 * np.eye(100), atol=1e-4)
    assert init.eye_(torch.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert (init.sparse_(w, 0.3) == 0).sum(0).tolist() == [60] * 100
    kept = torch.randn(1, 4, 5, 5)
    assert torch.equal(nn.functional.conv2d(kept, init.dirac_(torch.empty(4, 4, 3, 3)), padding=1), kept)
    assert init.calculate_gain("tanh") == 5 / 3 and init.calculate_gain("leaky_relu", 1.0) == 1.0
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("nothing")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(torch.empty(3))


def test_clipping():
    p, q = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
    p.grad, q.grad = torch.tensor([3.0, 0.0, 0.0]), torch.tensor([4.0])
    u = nn.utils
    assert u.clip_grad_norm_([p, q, torch.zeros(2)], 10.0).item() == 5 and p.grad.tolist() == [3, 0, 0]
    assert u.clip_grad_norm_((t for t in (p, q)), 1.0).item() == 5
    np.testing.assert_allclose(p.grad.tolist() + q.grad.tolist(), [0.6, 0, 0, 0.8], rtol=1e-5)
    assert abs(u.clip_grad_norm_([p, q], 0.4, norm_type=float("inf")).item() - 0.8) < 1e-6
    u.clip_grad_value_([p, q], 0.1)
    assert abs(p.grad).max().item() < 0.1001 and abs(q.grad).max().item() < 0.1001
    assert u.clip_grad_norm_([], 1.0).item() == 0
    q.grad[0] = float("nan")
    with pytest.raises(RuntimeError, match="non-finite"):
        u.clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
    vector = u.parameters_to_vector([p, q])
    u.vector_to_parameters(vector + 2, [p, q])
    assert p.tolist() == [2, 2, 2] and q.tolist() == [2]


def test_tensors_are_copied_and_pickled_with_memory_of_their_own():
    base = torch.arange(6.0)
    view, whole = copy.deepcopy([base[2:], base])
    view[0] = 9
    assert whole.tolist() == [0, 1, 9, 3, 4, 5] and base.tolist() == [0, 1, 2, 3, 4, 5]
    leaf = torch.ones(2, requires_grad=True)
    (leaf * 2).sum().backward()
    twin = copy.deepcopy(leaf)
    twin.grad[0] = 7
    assert twin.requires_grad and leaf.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(leaf * 2)
    for given in (leaf, torch.ones(2, 3, device="sim:0"), torch.ones(2, dtype=torch.bfloat16), torch.tensor(3)):
        back = pickle.loads(pickle.dumps(given))
        assert back.tolist() == given.tolist() and back.dtype is given.dtype and back.device is given.device
        assert back.requires_grad == given.requires_grad
