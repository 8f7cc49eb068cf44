"""save and load: tensors in a zip archive of NumPy arrays, with a JSON file that says how they belong together.

    structure.json      dicts, lists, tuples, numbers, texts; a tensor is a view of a numbered storage
    storages/0.npy      each storage once, whole: tensors that shared memory share it again; a saved slice of a large
                        tensor brings the large one along, as in PyTorch (clone() the slice first)

Nothing in such a file is ever run: unlike a pickle, it can be loaded from anywhere.  Any program with NumPy reads it.
https://pytorch.org/docs/stable/notes/serialization.html
"""

import base64
import collections
import contextlib
import io
import json
import math
import os
import zipfile

import numpy

from . import devices, dtypes, shapes
from .nn.parameter import Buffer, Parameter
from .size import Size
from .storage import UntypedStorage
from .tensor import Tensor, view_of

FORMAT = "autogradlab 1"
_SEQUENCES = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", Size: "Size"}
_MAPPINGS = {dict: "dict", collections.OrderedDict: "OrderedDict", collections.Counter: "Counter"}
_TENSORS = {Tensor: "Tensor", Parameter: "Parameter", Buffer: "Buffer"}
_MAKERS = {name: kind for kinds in (_SEQUENCES, _MAPPINGS, _TENSORS) for kind, name in kinds.items()}
_DTYPES = {d.name: d for d in dtypes.ALL}


# Writing --------------------------------------------------------------------------------------------------------------


class _Writer:
    """The structure of an object in JSON's terms, and the storages met on the way."""

    def __init__(self):
        self.storages, self.numbers, self.tensors, self.inside = [], {}, {}, set()

    def encode(self, value, where: str):
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if kind is dtypes.dtype:
            return {"dtype": value.name}
        if kind is devices.device:
            return {"device": str(value)}
        if kind in _TENSORS:
            return self.tensor(value)
        if kind not in _SEQUENCES and kind not in _MAPPINGS:
            raise TypeError(
                f"save: cannot save the {kind.__name__} at {where}. A file holds tensors, numbers, texts, None, and "
                f"dicts, lists, tuples and sets of them{_advice(value)}."
            )
        if id(value) in self.inside:
            raise ValueError(f"save: the {kind.__name__} at {where} contains itself.")
        self.inside.add(id(value))
        if kind in _SEQUENCES:
            items = [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
            made = items if kind is list else {_SEQUENCES[kind]: items}
        else:
            pairs = [[self.encode(k, f"a key of {where}"), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            made = {_MAPPINGS[kind]: pairs}
        self.inside.remove(id(value))
        return made

    def tensor(self, t: Tensor) -> dict:
        if id(t) not in self.tensors:
            self.tensors[id(t)] = len(self.tensors)
            return {
                _TENSORS[type(t)]: self.tensors[id(t)], "storage": self.storage(t), "dtype": t.dtype.name,
                "shape": list(t.shape), "stride": list(t.stride()), "offset": t.storage_offset(),
                "requires_grad": t.requires_grad, **({"persistent": t.persistent} if type(t) is Buffer else {}),
            }  # fmt: skip
        return {"same": self.tensors[id(t)]}

    def storage(self, t: Tensor) -> int:
        memory = t.memory
        if id(memory.buffer) not in self.numbers:
            self.numbers[id(memory.buffer)] = len(self.storages)
            cells = memory.device.backend.to_host(memory.buffer)
            if t.dtype.in_numpy and cells.nbytes % t.dtype.itemsize == 0:
                cells = cells.view(t.dtype.numpy)
            self.storages.append((memory, cells))
        return self.numbers[id(memory.buffer)]


def _advice(value) -> str:
    if hasattr(value, "state_dict"):
        return "; save its state_dict()"
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return "; make it a tensor or a number first: torch.from_numpy(a), a.item()"
    return ""


def save(obj, f, pickle_module=None, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True) -> None:
    """Write tensors, and what holds them, to a path or to a file open for binary writing.

    A file that is there already is replaced in one step, when the new one is complete.  Nothing is pickled: the last
    three arguments are PyTorch's, and mean nothing here.
    """
    writer = _Writer()
    structure = writer.encode(obj, "the object")
    facts = {
        "format": FORMAT,
        "storages": [{"device": str(m.device), "bytes": int(cells.nbytes)} for m, cells in writer.storages],
        "object": structure,
    }
    with _opened(f) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("structure.json", json.dumps(facts, allow_nan=False))
        for n, (_, cells) in enumerate(writer.storages):
            with archive.open(f"storages/{n}.npy", "w", force_zip64=True) as entry:
                numpy.lib.format.write_array(entry, cells, allow_pickle=False)


@contextlib.contextmanager
def _opened(f):
    """A file to write to; a path's is written beside it and takes its place at the end."""
    if hasattr(f, "write"):
        yield f
        return
    path = os.path.realpath(os.fsdecode(f))
    if not os.path.isdir(os.path.dirname(path)):
        raise RuntimeError(f"Parent directory {os.path.dirname(path)} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):  # a device, a pipe, a directory (which open() refuses)
        with open(path, "wb") as file:
            yield file
        return
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise


# Reading --------------------------------------------------------------------------------------------------------------


class _Corrupt(RuntimeError):
    """The file says something that cannot be."""


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, facts: dict, place):
        self.archive, self.facts, self.place = archive, facts, place
        self.storages, self.tensors = {}, {}

    def decode(self, value):
        if type(value) is list:
            return [self.decode(v) for v in value]
        if type(value) is not dict:
            return value
        (name, content), *_ = value.items()
        if name == "float":
            return float(content)
        if name == "bytes":
            return base64.b64decode(content, validate=True)
        if name == "dtype":
            return _DTYPES[content]
        if name == "device":
            return devices.device(content)
        if name == "same":
            return self.tensors[content]
        kind = _MAKERS[name]
        if kind in _TENSORS:
            return self.tensor(kind, content, value)
        if kind in _SEQUENCES:
            return kind(self.decode(v) for v in content)
        made = kind()
        made.update({self.decode(k): self.decode(v) for k, v in content})
        return made

    def tensor(self, kind, number: int, facts: dict) -> Tensor:
        storage, dtype = self.storage(facts["storage"]), _DTYPES[facts["dtype"]]
        shape, stride, offset = tuple(facts["shape"]), tuple(facts["stride"]), facts["offset"]
        if len(shape) != len(stride) or not all(type(n) is int and n >= 0 for n in (*shape, *stride, offset)):
            raise _Corrupt(f"a tensor of shape {shape} with stride {stride} and offset {offset}")
        last = offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
        if shapes.numel(shape) and (last + 1) * dtype.itemsize > storage.nbytes():
            raise _Corrupt(f"a tensor of shape {shape} that reaches beyond its storage of {storage.nbytes()} bytes")
        made = view_of(storage, shape, stride, offset, dtype, storage.device)
        made.__class__ = kind
        if kind is Buffer:
            made.persistent, made._is_buffer = bool(facts["persistent"]), True
        self.tensors[number] = made
        return made.requires_grad_(facts["requires_grad"])

    def storage(self, number: int) -> UntypedStorage:
        if number not in self.storages:
            facts = self.facts["storages"][number]
            with self.archive.open(f"storages/{number}.npy") as entry:
                cells = numpy.lib.format.read_array(io.BytesIO(entry.read()), allow_pickle=False)
            if cells.ndim != 1 or cells.nbytes != facts["bytes"]:
                raise _Corrupt(f"storage {number} has {cells.nbytes} bytes for {facts['bytes']}")
            buffer = numpy.ascontiguousarray(cells.astype(cells.dtype.newbyteorder("="), copy=False)).view(numpy.uint8)
            self.storages[number] = self.place(UntypedStorage(devices.cpu, buffer=buffer), facts["device"])
        return self.storages[number]


def _placer(map_location):
    """From map_location to a function (storage on the CPU, where it was saved) -> storage."""

    def move(storage, where) -> UntypedStorage:
        device = devices.resolve(where)
        if device.type == "cpu":
            return storage
        try:
            backend = device.backend
        except Exception as error:
            raise RuntimeError(
                f"Attempting to deserialize object on {device}, which this machine does not offer ({error}). Use "
                'torch.load with map_location="cpu" to map your storages to the CPU.'
            ) from error
        return UntypedStorage(device, buffer=backend.from_host(storage.buffer))

    if map_location is None:
        return move
    if isinstance(map_location, dict):
        return lambda storage, was: move(storage, map_location.get(was, was))
    if isinstance(map_location, (str, devices.device)):
        return lambda storage, was: move(storage, map_location)
    if not callable(map_location):
        raise TypeError(f"map_location: expected a device, a dict or a function, got {type(map_location).__name__}.")

    def ask(storage, was):
        found = map_location(storage, was)
        return move(storage, was) if found is None else found

    return ask


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """What save() wrote, from a path or a file open for binary reading.

    map_location: a device for everything; a dict from saved to new devices; or a function (storage on the CPU, saved
    device) that returns a storage, or None for the saved device.  weights_only: every load is safe here, whatever it
    says; the other arguments are PyTorch's, and mean nothing here.
    """
    place = _placer(map_location)
    if hasattr(f, "read") and not hasattr(f, "seek"):
        raise AttributeError("load: the file object has no seek(): read it into io.BytesIO first.")
    with contextlib.nullcontext(f) if hasattr(f, "read") else open(os.fsdecode(f), "rb") as file:
        start = file.tell()
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive, place)
        except (zipfile.BadZipFile, EOFError) as error:
            file.seek(start)
            raise _not_ours(file.read(64), error) from error


def _read(archive: zipfile.ZipFile, place):
    names = archive.namelist()
    if "structure.json" not in names:
        raise _foreign(names)
    try:
        facts = json.loads(archive.read("structure.json"))
        if facts.get("format") != FORMAT:
            raise _Corrupt(f"format {facts.get('format')!r}, where this version reads {FORMAT!r}")
        return _Reader(archive, facts, place).decode(facts["object"])
    except (_Corrupt, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise RuntimeError(f"load: the file is damaged, or from another version: {error}.") from error


_CONVERT = (
    "Convert it where PyTorch is installed:\n"
    '    numpy.savez("weights.npz", **{k: v.numpy() for k, v in torch.load(path).items()})\n'
    "and read that here:\n"
    '    {k: torch.from_numpy(v) for k, v in numpy.load("weights.npz").items()}'
)


def _foreign(names: list) -> RuntimeError:
    if any(name.endswith("data.pkl") for name in names):
        return RuntimeError(f"load: this is a PyTorch file, a pickle, which can run code when read. {_CONVERT}")
    if names and all(name.endswith(".npy") for name in names):
        return RuntimeError("load: this is a NumPy archive (.npz): read it with numpy.load and torch.from_numpy.")
    return RuntimeError(f"load: a zip archive without structure.json, so not written by save(): it has {names[:5]}.")


def _not_ours(head: bytes, error) -> Exception:
    if not head:
        return EOFError("load: the file is empty: Ran out of input.")
    if head.startswith(b"PK"):
        return RuntimeError(f"load: the file is cut off or damaged ({error}): copy or download it again.")
    if head.startswith(b"\x80"):
        return RuntimeError(f"load: this is a pickle, as old versions of PyTorch write, which can run code. {_CONVERT}")
    return RuntimeError(f"load: not a file that save() wrote: it starts with {head[:16]!r}.")
