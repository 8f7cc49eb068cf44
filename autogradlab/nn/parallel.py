"""nn.parallel: DistributedDataParallel, and DataParallel, which it replaced.

https://pytorch.org/docs/stable/nn.html#dataparallel-layers-multi-gpu-distributed
"""

import copy

from autogradlab import devices
from autogradlab.distributed.data_parallel import DistributedDataParallel  # noqa: F401
from autogradlab.table import functions
from autogradlab.tensor import Tensor

from .module import Module


class DataParallel(Module):
    """One process, several devices: the batch is cut, the module copied at every forward, the outputs gathered.

    Gradients meet in backward, on the first device, through the copies.  device_ids: devices such as "sim:0"; all of
    the accelerator's kind by default.  It shows what DistributedDataParallel avoids: all parameters are copied each
    time, and one device with more to do than the others.
    """

    def __init__(self, module: Module, device_ids=None, output_device=None, dim: int = 0):
        super().__init__()
        kind = devices.accelerator().type
        given = range(devices.count(kind)) if device_ids is None else device_ids
        found = [devices.resolve(d if isinstance(d, (str, devices.device)) else f"{kind}:{d}") for d in given]
        if not found:
            raise RuntimeError("DataParallel needs at least one device.")
        self.module, self.dim = module, dim
        self.devices = found
        self.output_device = found[0] if output_device is None else devices.resolve(output_device)
        for name, t in [*module.named_parameters(), *module.named_buffers()]:
            if t.device is not found[0]:
                raise RuntimeError(
                    f"module must have its parameters and buffers on device {found[0]} (device_ids[0]) but found one "
                    f"of them on device: {t.device} ({name}). Move it with module.to({str(found[0])!r})."
                )

    def forward(self, *args, **kwargs):
        parts = list(zip(*[scatter(v, self.devices, self.dim) for v in (args, kwargs)], strict=False))
        if len(parts) == 1:
            return self.module(*parts[0][0], **parts[0][1])
        copies = replicate(self.module, self.devices[: len(parts)])
        return gather([c(*a, **k) for c, (a, k) in zip(copies, parts, strict=True)], self.output_device, self.dim)


def scatter(value, places, dim: int = 0) -> list:
    """One value for each device: tensors cut along `dim`, everything else as it is."""
    if isinstance(value, Tensor):
        return [t.to(d) for t, d in zip(value.chunk(len(places), dim), places, strict=False)]
    if isinstance(value, (list, tuple)) and value:
        return [type(value)(v) for v in zip(*[scatter(v, places, dim) for v in value], strict=False)]
    if isinstance(value, dict) and value:
        rows = zip(*[scatter(v, places, dim) for v in value.values()], strict=False)
        return [dict(zip(value, row, strict=True)) for row in rows]
    return [value] * len(places)


def gather(outputs: list, place, dim: int = 0):
    """The devices' outputs as one, on one device."""
    first = outputs[0]
    if isinstance(first, Tensor):
        moved = [t.to(place) for t in outputs]
        return functions["stack"](moved) if not first.dim() else functions["cat"](moved, dim)
    if isinstance(first, dict):
        return {k: gather([o[k] for o in outputs], place, dim) for k in first}
    if isinstance(first, (list, tuple)):
        return type(first)(gather(list(row), place, dim) for row in zip(*outputs, strict=True))
    return first


def replicate(module: Module, places) -> list[Module]:
    """A copy of the module on each device; its parameters are copies that lead gradients back to the originals."""
    return [_copied(module, place) for place in places]


def _copied(module: Module, place) -> Module:
    made = copy.copy(module)
    made.__dict__ = {
        k: v.copy() if k in ("_parameters", "_buffers", "_modules") else v for k, v in vars(module).items()
    }
    for name, p in module._parameters.items():
        made._parameters.pop(name)
        made.__dict__[name] = None if p is None else p.to(place)
    for name, b in module._buffers.items():
        made._buffers[name] = None if b is None else b.to(place)
    for name, child in module._modules.items():
        made._modules[name] = None if child is None else _copied(child, place)
    return made
