"""save and load: what comes back, what a file can hold, and what a bad file says."""

import collections
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import autogradlab as torch
from autogradlab import nn


def there_and_back(value, **kwargs):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **kwargs)


DTYPES = "float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 uint8 bool".split()


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name):
    t = torch.tensor([0.0, 1.0, 2.0, -1.0]).to(getattr(torch, name))
    back = there_and_back(t)
    assert back.dtype is t.dtype and back.float().tolist() == t.float().tolist()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1), (2, 3, 4)])
def test_every_shape(shape):
    t = torch.randn(*shape)
    back = there_and_back(t)
    assert back.shape == t.shape and back.stride() == t.stride() and back.tolist() == t.tolist()


def test_structures_and_plain_values():
    value = {
        "a": [1, 2.5, None, True, "text", b"bytes", (1, (2,)), {3, 4}],
        3: float("inf"),
        (1, 2): torch.Size([2, 3]),
        "o": collections.OrderedDict(z=1, a=2),
        "c": collections.Counter({5: 2}),
        None: torch.float16,
        "d": torch.device("cpu"),
        "big": 2**100,
    }
    back = there_and_back(value)
    assert back == value and list(back) == list(value) and list(back["o"]) == ["z", "a"]
    for key, item in value.items():
        assert type(back[key]) is type(item)
    assert all(type(a) is type(b) for a, b in zip(back["a"], value["a"], strict=True))
    assert np.isnan(there_and_back(float("nan")))


def test_shared_memory_stays_shared_and_a_slice_brings_its_storage():
    base = torch.arange(12.0).reshape(3, 4)
    saved = {"base": base, "row": base[1], "column": base.t()[2], "same": base}
    back = there_and_back(saved)
    assert back["same"] is back["base"]
    back["row"].zero_()
    assert back["base"][1].tolist() == [0.0] * 4 and back["column"].tolist() == [2.0, 0.0, 10.0]
    assert there_and_back(base[1]).untyped_storage().nbytes() == 48
    assert there_and_back(base[1].clone()).untyped_storage().nbytes() == 16


def test_leaves_parameters_and_buffers():
    p = nn.Parameter(torch.ones(2), requires_grad=False)
    back = there_and_back([p, nn.Parameter(torch.ones(1)), torch.ones(1).requires_grad_(), nn.Buffer(torch.ones(1))])
    assert [type(t) for t in back] == [nn.Parameter, nn.Parameter, torch.Tensor, nn.Buffer]
    assert [t.requires_grad for t in back] == [False, True, True, False]
    x = torch.ones(2).requires_grad_()
    result = there_and_back(x * 2)
    assert result.is_leaf and result.requires_grad


def test_a_training_checkpoint(tmp_path):
    torch.manual_seed(0)
    make = lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))  # noqa: E731
    model = make()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    path = tmp_path / "checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    saved = torch.load(path, weights_only=True)
    other = make()
    other.load_state_dict(saved["model"])
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))
    again = torch.optim.Adam(other.parameters())
    again.load_state_dict(saved["optimizer"])
    assert saved["epoch"] == 3 and [p.name for p in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_where_it_goes():
    t = torch.ones(3, device="sim:1")
    assert there_and_back(t).device == torch.device("sim:1")
    assert there_and_back(t, map_location="cpu").device.type == "cpu"
    assert there_and_back(t, map_location=torch.device("sim:0")).device == torch.device("sim:0")
    assert there_and_back(t, map_location={"sim:1": "cpu"}).device.type == "cpu"
    seen = []
    back = there_and_back(t, map_location=lambda storage, where: seen.append(where) or storage)
    assert back.device.type == "cpu" and seen == ["sim:1"] and back.tolist() == [1.0] * 3
    assert there_and_back(t, map_location=lambda storage, where: None).device == torch.device("sim:1")
    with pytest.raises(TypeError, match="map_location"):
        there_and_back(t, map_location=3)


@pytest.mark.skipif(torch.cuda.is_available(), reason="without CUDA")
def test_saved_on_a_device_that_is_not_here():
    with pytest.raises(RuntimeError, match='map_location="cpu"'):
        there_and_back(torch.ones(2), map_location="cuda")


class Own:
    pass


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Own(), "the Own at the object"),
        ({"m": nn.Linear(1, 1)}, r"the Linear at the object\['m'\].*save its state_dict"),
        ([1, lambda: 0], r"the function at the object\[1\]"),
        (np.ones(3), "from_numpy"),
        (3 + 4j, "complex"),
    ],
)
def test_what_cannot_be_saved_leaves_the_earlier_file(tmp_path, value, says):
    path = tmp_path / "kept.pt"
    torch.save([1, 2], path)
    with pytest.raises(TypeError, match=says):
        torch.save(value, path)
    assert torch.load(path) == [1, 2] and len(list(tmp_path.iterdir())) == 1


def test_a_write_that_fails_leaves_the_earlier_file(tmp_path, monkeypatch):
    path = tmp_path / "kept.pt"
    torch.save([1, 2], path)

    def full(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="disk full"):
        torch.save([torch.ones(3)], path)
    assert torch.load(path) == [1, 2] and len(list(tmp_path.iterdir())) == 1


def test_a_list_that_contains_itself():
    value = [1]
    value.append(value)
    with pytest.raises(ValueError, match="contains itself"):
        torch.save(value, io.BytesIO())


def test_places_that_are_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="Parent directory"):
        torch.save(1, tmp_path / "no" / "file.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "no.pt")


def test_files_of_other_kinds(tmp_path):
    def load(content, name="f"):
        (tmp_path / name).write_bytes(content)
        return torch.load(tmp_path / name)

    with pytest.raises(EOFError, match="empty"):
        load(b"")
    with pytest.raises(RuntimeError, match="not a file that save"):
        load(b"hello")
    with pytest.raises(RuntimeError, match="this is a pickle.*\n.*numpy.savez"):
        load(pickle.dumps({"a": 1}))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(1))
    with pytest.raises(RuntimeError, match="this is a PyTorch file.*\n.*numpy.savez"):
        load(archive.getvalue())
    np.savez(tmp_path / "weights.npz", a=np.ones(2))
    with pytest.raises(RuntimeError, match="NumPy archive"):
        torch.load(tmp_path / "weights.npz")


def test_damaged_files():
    file = io.BytesIO()
    torch.save([torch.arange(1000.0)], file)
    whole = file.getvalue()
    for cut in (10, 1000, len(whole) - 5):
        with pytest.raises(RuntimeError, match="cut off or damaged"):
            torch.load(io.BytesIO(whole[:cut]))
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 255
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(io.BytesIO(bytes(turned)))


def forged(**changes):
    """A file whose one tensor says something else about itself."""
    file, made = io.BytesIO(), io.BytesIO()
    torch.save(torch.ones(4), file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w") as new:
        facts = json.loads(old.read("structure.json"))
        facts["object"].update(changes)
        new.writestr("structure.json", json.dumps(facts))
        new.writestr("storages/0.npy", old.read("storages/0.npy"))
    made.seek(0)
    return made


@pytest.mark.parametrize(
    "changes",
    [{"shape": [5]}, {"offset": 1}, {"stride": [-1]}, {"shape": [-4]}, {"storage": 7}, {"dtype": "complex64"},
     {"shape": "x"}, {"offset": 2**70}, {"stride": [2]}],
)  # fmt: skip
def test_a_forged_tensor_reads_nothing_beyond_its_storage(changes):
    with pytest.raises(RuntimeError, match="damaged, or from another version"):
        torch.load(forged(**changes))
    assert torch.load(forged()).tolist() == [1.0] * 4


def test_arrays_of_objects_are_not_unpickled():
    made = io.BytesIO()
    with zipfile.ZipFile(forged()) as old, zipfile.ZipFile(made, "w") as new:
        new.writestr("structure.json", old.read("structure.json"))
        array = io.BytesIO()
        np.save(array, np.array([Own()], dtype=object), allow_pickle=True)
        new.writestr("storages/0.npy", array.getvalue())
    made.seek(0)
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(made)


def test_numpy_can_read_it(tmp_path):
    torch.save({"w": torch.arange(3.0)}, tmp_path / "w.pt")
    with np.load(tmp_path / "w.pt") as archive:
        assert archive["storages/0"].tolist() == [0.0, 1.0, 2.0]
