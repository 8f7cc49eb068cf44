"""torch.onnx.export: what onnxruntime gives is what the model gives; what cannot be exported is named."""

import numpy as np
import pytest
from operator_samples import WITHOUT, call, outputs, samples, tensors

import autogradlab as torch
import autogradlab.nn.functional as F
from autogradlab import late, nn
from autogradlab.onnx import OnnxExporterError, exportable

pytest.importorskip("onnxruntime")
# An operator of the table that ONNX says, by its own samples. (The rest are steps of functions: batch_norm and others.)
FUNCTIONS = {"batch_norm", "layer_norm", "embedding"}
SAID = [n for n in exportable() if n in late.operators and n not in WITHOUT and n not in FUNCTIONS]


@pytest.mark.parametrize("name", SAID)
def test_every_operator_that_is_said(name):
    done = 0
    for args, kwargs in samples(name, dtype=torch.float32, grad=False):
        given = tensors(args)

        def f(*given, args=args, kwargs=kwargs):
            given = iter(given)
            filled = [
                next(given) if isinstance(a, torch.Tensor) else
                type(a)(next(given) for _ in a) if isinstance(a, (list, tuple)) and tensors(a) else a for a in args
            ]  # fmt: skip
            found = outputs(call(name, filled, kwargs))
            return found[:1] if name == "max_pool" else found  # the positions beside the values have no form

        try:
            made = torch.onnx.export(f, tuple(given))
        except OnnxExporterError as refused:
            assert "Unsupported" in str(refused)
            continue
        try:
            found = made(*given)
        except Exception as error:  # onnxruntime has not every operator for every dtype
            if "NOT_IMPLEMENTED" in str(error) or "NotImplemented" in type(error).__name__:
                continue
            raise
        for a, b in zip(found, f(*given), strict=True):
            assert a.shape == tuple(b.shape) and a.dtype == b.numpy().dtype, name
            np.testing.assert_allclose(a, b.numpy(), rtol=2e-4, atol=1e-5)
        done += 1
    assert done, "no sample could be exported"


MODELS = {
    "image": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.AvgPool2d(1),
            nn.Flatten(), nn.Linear(16, 5), nn.LayerNorm(5), nn.GELU(), nn.Dropout(), nn.LogSoftmax(1),
        ),
        lambda: torch.randn(2, 3, 8, 8),
    ),
    "activations": (
        lambda: nn.Sequential(nn.Linear(6, 6), nn.SiLU(), nn.ELU(), nn.LeakyReLU(), nn.Softplus(), nn.Hardtanh(),
                              nn.Tanh(), nn.Softmax(-1), nn.Sigmoid(), nn.GELU(approximate="tanh")),
        lambda: torch.randn(4, 6),
    ),
    "words": (
        lambda: nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(12, 2)),
        lambda: torch.tensor([[1, 8, 0]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path):
    make, data = MODELS[name]
    model = make().train()
    x = data()
    made = torch.onnx.export(model, (x,), tmp_path / "m.onnx", input_names=["x"], output_names=["y"], verify=True)
    assert model.training, "the model is left in the mode it was in"
    model.eval()
    np.testing.assert_allclose(made(x)[0], model(x).detach().numpy(), rtol=1e-4, atol=1e-5)
    assert (tmp_path / "m.onnx").stat().st_size > 100
    graph = made.model_proto.graph
    assert [i.name for i in graph.input] == ["x"] and [o.name for o in graph.output] == ["y"]
    assert "0.weight" in {i.name for i in graph.initializer}


def test_attention():
    inner = nn.MultiheadAttention(8, 2, batch_first=True)

    def f(x):
        return inner(x, x, x)[0]

    x = torch.randn(2, 5, 8)
    np.testing.assert_allclose(torch.onnx.export(f, x)(x)[0], f(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_the_digits_model_learned_here_runs_there():
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    x, y = torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(digits)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(30):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    there = torch.onnx.export(model, (x,))(x)[0]
    np.testing.assert_allclose(there, model(x).detach().numpy(), rtol=1e-3, atol=1e-4)
    assert (there.argmax(1) == digits).mean() > 0.9


def test_what_cannot_be_exported_is_named():
    x = torch.randn(3, 3)
    for f, words in (
        (lambda x: x.cumsum(0), r"Unsupported: cumsum\(\) has no form in ONNX here.*test_onnx.py"),
        (lambda x: x.clone().add_(1), r"add\(\) writes in place"),
        (lambda x: x * 2 if x.sum() > 0 else x, "cannot be traced as a whole: it needs the values"),
        (lambda x: F.dropout(x, 0.5), "Unsupported: _noise"),
    ):
        with pytest.raises(OnnxExporterError, match=words):
            torch.onnx.export(f, (x,))
    net = nn.Linear(3, 3)
    for options, words in (
        ({"args": ()}, "needs example inputs"),
        ({"args": (x,), "input_names": ["a", "b"]}, "1 inputs, got 2 names"),
        ({"args": (x,), "output_names": ["a", "b"]}, "1 outputs, got 2 names"),
        ({"args": (x,), "dynamic_axes": {"x": {0: "n"}}}, "dynamic_axes is not offered"),
    ):
        with pytest.raises(OnnxExporterError, match=words):
            torch.onnx.export(net, **options)
    with pytest.raises(TypeError, match="takes 1 inputs"):
        torch.onnx.export(net, (x,))(x, x)


def test_without_the_packages_the_error_says_how_to_get_them(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match="pip install onnx onnxruntime"):
        torch.onnx.export(nn.Linear(2, 2), torch.ones(1, 2))


MIXED = {
    "half": lambda x: (x.half() * 2, x.half() + x, x.half().sum(), x.bfloat16().float()),
    "integers": lambda x: (x.int() / 2, x.int() * 1.5, x.int().sum(), x.int() + x, x.int() ** 2),
    "truths": lambda x: ((x > 0) * x, (x > 0).sum(), (x > 0) * 1, (x > 0) + x.int()),
    "0-d": lambda x: (x[0] * 2 + x.sum(), x[0] * x.amax(0, keepdim=True).sum(), x.mean() + 1),
}


@pytest.mark.parametrize("name", MIXED)
def test_operands_of_different_dtypes_and_numbers_of_no_dimension(name):
    x = torch.tensor([0.5, 2.0, -3.0])
    made = torch.onnx.export(MIXED[name], (x,), verify=True)
    for mine, theirs in zip(MIXED[name](x), made(x), strict=True):
        assert (tuple(mine.shape), str(mine.dtype).split(".")[1]) == (theirs.shape, theirs.dtype.name)
        assert mine.tolist() == theirs.tolist()


def test_tensors_inside_containers_and_keywords_are_inputs():
    def f(d, scale=None):
        return {"y": d["a"] + d["b"][0], "z": d["a"] * scale}

    d, scale = {"a": torch.ones(2), "b": [torch.arange(2.0)]}, torch.tensor(3.0)
    made = torch.onnx.export(f, (d,), kwargs={"scale": scale}, verify=True)
    assert [r.tolist() for r in made(d["a"], d["b"][0], scale)] == [[1, 2], [3, 3]]


def test_names_opsets_and_models_that_cannot_be():
    x = torch.ones(2)
    for words, options in (("each name once", {"output_names": ["input_0"]}), ("got 5", {"opset_version": 5}),
                           ("got 99", {"opset_version": 99}), ("got 'x'", {"opset_version": "x"})):  # fmt: skip
        with pytest.raises(OnnxExporterError, match=words):
            torch.onnx.export(lambda x: x * 2, (x,), **options)
    with pytest.raises(TypeError, match="a module or a function, got int"):
        torch.onnx.export(3, (x,))
