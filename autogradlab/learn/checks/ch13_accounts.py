"""Tasks 4, 5 and 6 of chapter 13's exercise: launches, bytes, and who waits."""

from . import ch13_fresh
from . import enumerated_dispatch as enumerated
from .enumerated_dispatch import Steps
from .task import Case, Check, Mistake, Task, same_but_for_rounding

BYTES = 'chapter 13, "a * b + c, three ways"'
LAUNCHES = 'chapter 13, "Launches and bytes"'

MULADD: Steps = [(("a", "b"), "t"), (("t", "c"), "y")]


# 4. accounts_as_written -----------------------------------------------------------------------------------------------


def _written(steps: Steps, nbytes: int) -> tuple[int, int]:
    alone = [enumerated.fused([step], [step[1]], nbytes) for step in steps]
    return len(alone), sum(moved for _, moved in alone)


accounts_as_written = Check(
    Task(
        name="accounts_as_written",
        parameters=("steps", "nbytes"),
        visible=(
            Case((MULADD, 4), (2, 24), "three tensors twice"),
            Case(([(("a",), "y")], 400), (1, 800), "one in, one out"),
            Case(([(("a", "a"), "y")], 4), (1, 8), "a is read once"),
            Case(([], 4), (0, 0)),
        ),
        reference=_written,
        fresh=ch13_fresh.programs,
        hidden="fresh programs",
        mistakes=(
            Mistake(
                lambda steps, nbytes: (len(steps), sum(len(set(inputs)) for inputs, _ in steps) * nbytes),
                "Only what is read was counted; each step writes its output too.",
            ),
            Mistake(
                lambda steps, nbytes: (len(steps), sum(len(inputs) + 1 for inputs, _ in steps) * nbytes),
                "An operand that is named twice is read once.",
            ),
            Mistake(
                lambda steps, nbytes: (len(steps), sum(len(set(inputs)) + 1 for inputs, _ in steps)),
                "These are tensors; each has nbytes bytes.",
            ),
            Mistake(
                lambda steps, nbytes: (
                    len(steps),
                    len({name for inputs, output in steps for name in (*inputs, output)}) * nbytes,
                ),
                "A tensor that is written by one kernel and read by the next is counted in both.",
            ),
            Mistake(lambda steps, nbytes: _written(steps, nbytes)[::-1], "Kernels come first, then bytes."),
        ),
        hint="For each step its different inputs, and one output; times nbytes.",
        read=BYTES,
    )
)


# 5. accounts_fused ----------------------------------------------------------------------------------------------------


def _all_steps(steps: Steps, needed: list, nbytes: int) -> tuple[int, int]:
    made = {output for _, output in steps}
    read = {name for inputs, _ in steps for name in inputs} - made
    return (1 if steps else 0), (len(read) + len(made & set(needed))) * nbytes


def _directly_needed(steps: Steps, needed: list, nbytes: int) -> tuple[int, int]:
    return _all_steps([step for step in steps if step[1] in needed], needed, nbytes)


def _alive(steps: Steps, needed: list) -> Steps:
    return [step for step in steps if enumerated.reaches(steps, step[1], needed)]


def _counted(read_inside: bool, write_all: bool):
    def accounts(steps: Steps, needed: list, nbytes: int) -> tuple[int, int]:
        alive = _alive(steps, needed)
        made = {output for _, output in alive}
        read = {name for inputs, _ in alive for name in inputs} - (set() if read_inside else made)
        written = made if write_all else made & set(needed)
        return (1 if alive else 0), (len(read) + len(written)) * nbytes

    return accounts


accounts_fused = Check(
    Task(
        name="accounts_fused",
        parameters=("steps", "needed", "nbytes"),
        visible=(
            Case((MULADD, ["t", "y"], 4), (1, 20), "three in, two out; t is not read again"),
            Case((MULADD, ["y"], 4), (1, 16), "three in, one out"),
            Case(([*MULADD, (("d", "e"), "z")], ["y"], 4), (1, 16), "z is needed by nobody: d and e are not read"),
            Case(([(("a",), "t"), (("t",), "u"), (("t", "u"), "y")], ["y"], 4), (1, 8), "one in, one out"),
            Case((MULADD, [], 4), (0, 0), "nothing is needed"),
            Case((MULADD, ["t"], 4), (1, 12), "the sum is left out"),
        ),
        reference=enumerated.fused,
        fresh=ch13_fresh.fusions,
        hidden="fresh programs and needs",
        mistakes=(
            Mistake(
                _counted(False, True),
                "A result was written that nobody needs afterwards: it stays in registers.",
            ),
            Mistake(_counted(True, False), "What was made inside is not read from memory: it is in registers."),
            Mistake(
                _all_steps,
                "A step that nothing needed depends on is left out, with what only it reads.",
            ),
            Mistake(_counted(True, True), "t was written and read again: what stays inside costs nothing."),
            Mistake(
                _directly_needed,
                "Only steps whose own result is needed were kept; what these are computed from is needed too.",
            ),
            Mistake(
                lambda steps, needed, nbytes: (len(_alive(steps, needed)), enumerated.fused(steps, needed, nbytes)[1]),
                "All that is left is one kernel.",
            ),
        ),
        hint="Backwards from what is needed: which steps stay? Then count what they read from outside and write.",
        read=BYTES,
    )
)


# 6. who_waits ---------------------------------------------------------------------------------------------------------


def _clocks(kernels: list, launch: float, shortest: float, rate: float, wrong: str = "") -> tuple[float, float]:
    host, free, idle = 0.0, 0.0, 0.0
    for n, nbytes in enumerate(kernels):
        host = (max(host, free) if wrong == "waits" else host) + launch
        begin = free if wrong == "never late" else max(host, free)
        idle += begin - free if n or wrong == "first" else 0.0
        takes = {"no floor": nbytes / rate, "both": shortest + nbytes / rate}
        free = begin + takes.get(wrong, max(shortest, nbytes / rate))
    return free, idle


def _wrongly(wrong: str):
    return lambda *args: _clocks(*args, wrong)


who_waits = Check(
    Task(
        name="who_waits",
        parameters=("kernels", "launch", "shortest", "rate"),
        visible=(
            Case(([8.0], 5.0, 2.0, 4.0), (7.0, 0.0), "handed over for 5, run for 2"),
            Case(([8.0, 8.0, 8.0], 5.0, 2.0, 4.0), (17.0, 6.0), "launch-bound: two pauses of 3"),
            Case(([80.0, 80.0], 5.0, 2.0, 4.0), (45.0, 0.0), "bandwidth-bound"),
            Case(([4.0, 4.0], 5.0, 2.0, 4.0), (12.0, 3.0), "a kernel takes 2 at least"),
            Case(([80.0, 4.0, 4.0], 5.0, 2.0, 4.0), (29.0, 0.0), "the host is ahead"),
            Case(([], 5.0, 2.0, 4.0), (0.0, 0.0)),
        ),
        reference=enumerated.when,
        fresh=ch13_fresh.queues,
        hidden="fresh queues of small and large kernels",
        mistakes=(
            Mistake(_wrongly("first"), "The wait for the first kernel lies before the kernels, not between them."),
            Mistake(_wrongly("waits"), "The host does not wait for the device: it hands over the next one at once."),
            Mistake(_wrongly("never late"), "A kernel cannot begin before it has been handed over."),
            Mistake(_wrongly("both"), "A kernel takes the longer of its two times, not both one after the other."),
            Mistake(_wrongly("no floor"), "A kernel takes `shortest` at least, however few its bytes."),
            Mistake(
                lambda kernels, launch, shortest, rate: (
                    launch * len(kernels),
                    _clocks(kernels, launch, shortest, rate)[1],
                ),
                "This is when the host is done. The last kernel still has to run.",
            ),
            Mistake(lambda *args: _clocks(*args)[::-1], "The end comes first, then the pauses."),
        ),
        hint="Two clocks: the host's goes on by `launch` each time; the device begins at the later of the two.",
        read=LAUNCHES,
        same=lambda args, expected, value: same_but_for_rounding(expected, value),
        raised=(("TypeError", "Before the first kernel the device has no time at which it became free."),),
    )
)
