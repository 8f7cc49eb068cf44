"""What ranks do together: all_reduce, broadcast, all_gather, reduce_scatter, barrier and their kin.

https://pytorch.org/docs/stable/distributed.html#collective-functions
"""

import enum
import functools
import inspect
import warnings

from autogradlab import late
from autogradlab.tensor import Tensor
from autogradlab.views import written

from .group import GroupMember, ProcessGroup, Work, group_of, need_tensor


class ReduceOp(enum.Enum):
    """How ranks' numbers are combined."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"


def _facts(name: str, t: Tensor, *more) -> tuple:
    return (name, t._dtype.name, tuple(t.shape), *more)


def _word(op) -> str:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"expected a ReduceOp such as ReduceOp.SUM, got {op!r}.")
    return op.value


def _need_list(name: str, value, argument: str) -> None:
    if not isinstance(value, list):
        raise TypeError(f"{name}(): expected a list as `{argument}`, got {type(value).__name__}.")


def start(group: ProcessGroup | None, facts: tuple, run, finish, async_op: bool, checked: bool = True) -> Work | None:
    """Hand a collective to its group; wait for it unless async_op.

    run(): on the group's thread; finish(what it gave): where it is waited for.  checked: the ranks compare facts first.
    """
    group = group_of(group)
    made = []

    def both():
        if checked and group.size > 1:
            group.transport.same(facts)
        made.append(run(group.transport))

    work = group.submit(Work(facts[0], both, lambda: finish(made.pop())))
    if async_op:
        return work
    work.wait()
    return None


def _put(group: ProcessGroup | None, tensor: Tensor, array) -> None:
    group_of(group).transport.put(tensor, array)
    written(tensor)


def _sent(group: ProcessGroup | None, tensor: Tensor):
    """A copy of what a tensor holds now: the program may go on and change it."""
    return group_of(group).transport.host(tensor.detach()).copy()


def collective(fn):
    """A function that does nothing but warn on a rank that is not in the group."""
    place = list(inspect.signature(fn).parameters).index("group")

    @functools.wraps(fn)
    def run(*args, **kwargs):
        group = args[place] if len(args) > place else kwargs.get("group")
        if isinstance(group, int) and group == GroupMember.NON_GROUP_MEMBER:
            warnings.warn(f"Running {fn.__name__} on a rank which does not belong to the given group.", stacklevel=2)
            return None
        return fn(*args, **kwargs)

    return run


@collective
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op: bool = False) -> Work | None:
    """Combine a tensor over all ranks, in place, so that all hold the same."""
    need_tensor("all_reduce", tensor)
    word, array = _word(op), _sent(group, tensor)
    return start(group, _facts("all_reduce", tensor, word), lambda t: t.all_reduce(array, word),
                 lambda a: _put(group, tensor, a), async_op)  # fmt: skip


@collective
def reduce(tensor, dst: int, op=ReduceOp.SUM, group=None, async_op: bool = False) -> Work | None:
    """Combine a tensor over all ranks; only rank dst has the result."""
    need_tensor("reduce", tensor)
    word, array, here = _word(op), _sent(group, tensor), group_of(group)
    to = here.local(dst)
    return start(group, _facts("reduce", tensor, word, dst), lambda t: t.all_reduce(array, word),
                 lambda a: _put(group, tensor, a) if here.rank == to else None, async_op)  # fmt: skip


@collective
def broadcast(tensor, src: int = 0, group=None, async_op: bool = False) -> Work | None:
    """Give all ranks what rank src holds, in place."""
    need_tensor("broadcast", tensor)
    source, array = group_of(group).local(src), _sent(group, tensor)
    return start(group, _facts("broadcast", tensor, src), lambda t: t.broadcast(array, source),
                 lambda a: _put(group, tensor, a), async_op)  # fmt: skip


@collective
def all_gather(tensor_list, tensor, group=None, async_op: bool = False) -> Work | None:
    """Put every rank's tensor into the list, in the order of ranks."""
    need_tensor("all_gather", tensor)
    size = group_of(group).size
    _need_list("all_gather", tensor_list, "tensor_list")
    if len(tensor_list) != size:
        raise ValueError(f"all_gather(): the list needs {size} tensors, one a rank, got {len(tensor_list)}.")
    for out in tensor_list:
        if need_tensor("all_gather", out, "tensor_list").shape != tensor.shape or out._dtype is not tensor._dtype:
            raise ValueError(
                "all_gather(): Tensor list must have identical shapes and dtypes with the tensor: it is "
                f"{tensor._dtype} {tuple(tensor.shape)}, one of the list is {out._dtype} {tuple(out.shape)}."
            )
    array = _sent(group, tensor)

    def finish(rows):
        for out, row in zip(tensor_list, rows, strict=True):
            _put(group, out, row)

    return start(group, _facts("all_gather", tensor), lambda t: t.all_gather(array), finish, async_op)


@collective
def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op: bool = False) -> Work | None:
    """Put every rank's tensor into one: behind each other along the first dimension, or stacked."""
    need_tensor("all_gather_into_tensor", input_tensor, "input_tensor")
    if output_tensor.numel() != input_tensor.numel() * group_of(group).size:
        raise ValueError(
            "output tensor size must be equal to world_size times input tensor size: got "
            f"{tuple(output_tensor.shape)} for {tuple(input_tensor.shape)} and {group_of(group).size} ranks."
        )
    array, shape = _sent(group, input_tensor), tuple(output_tensor.shape)
    return start(group, _facts("all_gather", input_tensor), lambda t: t.all_gather(array),
                 lambda rows: _put(group, output_tensor, rows.reshape(shape)), async_op)  # fmt: skip


@collective
def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op: bool = False) -> Work | None:
    """Combine the ranks' lists; rank i gets entry i."""
    size = group_of(group).size
    _need_list("reduce_scatter", input_list, "input_list")
    if len(input_list) != size:
        raise ValueError(f"reduce_scatter(): the list needs {size} tensors, one a rank, got {len(input_list)}.")
    return reduce_scatter_tensor(output, late.functions["stack"](list(input_list)).detach(), op, group, async_op)


@collective
def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op: bool = False) -> Work | None:
    """Combine the ranks' tensors; rank i gets piece i of the first dimension."""
    need_tensor("reduce_scatter_tensor", output, "output")
    size = group_of(group).size
    if input.numel() != output.numel() * size:
        raise ValueError(
            f"input tensor must be the same size as output size times world size: got {tuple(input.shape)} for "
            f"{tuple(output.shape)} and {size} ranks."
        )
    word, array = _word(op), _sent(group, input).reshape(size, *output.shape)
    return start(group, _facts("reduce_scatter", output, word), lambda t: t.reduce_scatter(array, word),
                 lambda a: _put(group, output, a), async_op)  # fmt: skip


@collective
def barrier(group=None, async_op: bool = False) -> Work | None:
    """Wait until every rank is here."""
    return start(group, ("barrier",), lambda t: t.barrier(), lambda _: None, async_op)


@collective
def send(tensor, dst: int, group=None, tag: int = 0) -> None:
    """Hand a tensor to one rank, which calls recv."""
    isend(tensor, dst, group, tag).wait()


@collective
def isend(tensor, dst: int, group=None, tag: int = 0) -> Work:
    """send() that does not wait."""
    need_tensor("send", tensor)
    here = group_of(group)
    to, array = here.local(dst), _sent(group, tensor)
    if to == here.rank:
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current process."
        )
    return start(group, ("send",), lambda t: t.send(array, to, tag), lambda _: None, True, checked=False)


@collective
def recv(tensor, src: int | None = None, group=None, tag: int = 0) -> int:
    """Take a tensor that another rank sends (any rank if src is None); returns that rank."""
    need_tensor("recv", tensor)
    source, array, came = None if src is None else group_of(group).local(src), _sent(group, tensor), []

    def finish(found):
        _put(group, tensor, found[0])
        came.append(group_of(group).ranks[found[1]])

    start(group, ("recv",), lambda t: t.receive(array, source, tag), finish, False, checked=False)
    return came[0]


@collective
def all_gather_object(object_list: list, obj, group=None) -> None:
    """Put every rank's object (anything pickle takes) into the list."""
    found = []
    _need_list("all_gather_object", object_list, "object_list")
    start(group, ("all_gather_object",), lambda t: t.objects(obj), found.extend, False)
    if len(object_list) != len(found):
        raise ValueError(f"all_gather_object(): the list needs {len(found)} places, got {len(object_list)}.")
    object_list[:] = found


@collective
def broadcast_object_list(object_list: list, src: int = 0, group=None) -> None:
    """Give all ranks the objects of rank src."""
    source = group_of(group).local(src)
    _need_list("broadcast_object_list", object_list, "object_list")
    mine = list(object_list) if group_of(group).rank == source else None

    def finish(found):
        object_list[:] = found[source]

    start(group, ("broadcast_object_list", src), lambda t: t.objects(mine), finish, False)
