"""What is done to a program before it runs: what nobody needs goes, what is computed twice is shared, what works
element by element is fused.
"""

from dataclasses import replace

from autogradlab import dtypes

from .program import Program, Ref, Step, rebuilt
from .region import Part, Region


def results_of(program: Program) -> set[int]:
    """The numbers that are returned."""
    found = set()
    rebuilt(program.result, lambda v: found.add(v.number) if isinstance(v, Ref) else v)
    return found


def without_dead(program: Program) -> Program:
    """Drop the steps whose results nobody uses."""
    needed, kept = results_of(program), []
    for step in reversed(program.steps):
        if step.has_effects or not needed.isdisjoint(step.outputs):
            needed.update(step.inputs)
            kept.append(step)
    return program.with_steps(kept[::-1])


def without_repeats(program: Program) -> Program:
    """Compute once what is computed twice, where nobody could tell: it is neither returned nor written to."""
    fixed = results_of(program) | program.written
    known, same, kept = {}, {}, []
    for step in program.steps:
        step = replace(step, inputs=tuple(same.get(n, n) for n in step.inputs))
        if step.kind == "function":
            step.arguments = rebuilt(step.arguments, lambda v: _renumbered(v, same))
        touched = {*step.inputs, *step.outputs}
        if step.kind == "kernel" and fixed.isdisjoint(step.outputs) and program.written.isdisjoint(touched):
            inputs = tuple(("number", repr(program.constants[n].item()), program.values[n].dtype)
                           if program.values[n].origin == "number" else n for n in step.inputs)  # fmt: skip
            key = step.what, inputs, repr(step.options), step.recorded
            before = known.setdefault(key, step)
            if before is not step:
                same.update(zip(step.outputs, before.outputs, strict=True))
                continue
        kept.append(step)
    return program.with_steps(kept)


def _renumbered(value, same: dict):
    return Ref(same.get(value.number, value.number)) if isinstance(value, Ref) else value


# Fusion ---------------------------------------------------------------------------------------------------------------


def can_fuse(program: Program, step: Step) -> bool:
    """Whether a step works element by element and touches no memory that is written in place."""
    op = step.what
    if step.kind != "kernel" or not op.pointwise or op.joint or op.facts or op.outputs or op.mixes or op.variadic:
        return False
    values = [program.values[n] for n in (*step.inputs, *step.outputs)]
    return (
        program.written.isdisjoint({*step.inputs, *step.outputs})
        and all(v.device is values[-1].device or v.origin == "number" for v in values)
        and all(v.dtype not in dtypes.FLOAT8 for v in values)
        and 0 not in values[-1].shape
    )


def fused(program: Program) -> Program:
    """Join neighbouring steps that work element by element into regions, each run as one kernel."""
    groups = _Groups(program)
    for position, step in enumerate(program.steps):
        if can_fuse(program, step):
            groups.place(position)
    return program.with_steps(groups.ordered())


class _Groups:
    """Which steps go together.  A step joins the group that made one of its inputs unless that would make a circle."""

    def __init__(self, program: Program):
        self.program, self.steps = program, program.steps
        self.maker = {n: i for i, s in enumerate(self.steps) for n in s.outputs}
        self.before = [{self.maker[n] for n in s.inputs if n in self.maker} for s in self.steps]
        self.group: dict[int, list[int]] = {}  # position of a step -> the positions of its group
        last = None
        for i, s in enumerate(self.steps):  # what has effects stays in its order, and so does what sees them
            if s.has_effects or not program.written.isdisjoint({*s.inputs, *s.outputs}):
                self.before[i] |= {last} if last is not None else set()
                last = i

    def place(self, position: int) -> None:
        mine = self.group[position] = [position]
        for producer in sorted(self.before[position]):
            theirs = self.group.get(producer)
            if theirs is None or theirs is mine or not self._alike(producer, position):
                continue
            if not self._leads(theirs, mine) and not self._leads(mine, theirs):
                mine = theirs + mine
                for p in mine:
                    self.group[p] = mine

    def _alike(self, a: int, b: int) -> bool:
        a, b = self.steps[a], self.steps[b]
        shape = self.program.values[a.outputs[0]].shape
        return shape == self.program.values[b.outputs[0]].shape and a.recorded == b.recorded

    def _leads(self, start: list[int], end: list[int]) -> bool:
        """Whether a way leads from one group to another through steps outside both."""
        inside = {*start, *end}
        todo, seen = [q for p in end for q in self._sources(p) if q not in inside], set()
        while todo:
            p = todo.pop()
            for q in self._sources(p):
                if q in start:
                    return True
                if q not in seen and q not in inside:
                    seen.add(q)
                    todo.append(q)
        return False

    def _sources(self, position: int) -> set[int]:
        """What must run before a step: of its whole group, since that runs at once."""
        group = self.group.get(position, [position])
        return set().union(*(self.before[p] for p in group)) - set(group)

    def ordered(self) -> list[Step]:
        """The steps, groups as fused ones, each after all it needs and otherwise in the program's order."""
        units, done = [], set()
        todo = list(range(len(self.steps)))
        waiting = {p: self._sources(p) for p in todo}
        while todo:
            p = next(p for p in todo if waiting[p] <= done)
            group = self.group.get(p, [p])
            units.append(self.steps[p] if len(group) == 1 else self._fuse([self.steps[q] for q in sorted(group)]))
            done.update(group)
            todo = [q for q in todo if q not in done]
        return units

    def _fuse(self, steps: list[Step]) -> Step:
        program = self.program
        made = {n for s in steps for n in s.outputs}
        inputs = list(dict.fromkeys(n for s in steps for n in s.inputs if n not in made))
        inputs.sort(key=lambda n: program.values[n].origin == "number")
        used = results_of(program).union(*(s.inputs for s in self.steps if made.isdisjoint(s.outputs)))
        outputs = [n for s in steps for n in s.outputs if n in used]
        local = {n: i for i, n in enumerate([*inputs, *(n for s in steps for n in s.outputs)])}
        kinds = [program.values[n].dtype for n in local]
        parts = [self._part(s, local) for s in steps]
        numbers = {local[n]: program.constants[n] for n in inputs if program.values[n].origin == "number"}
        region = Region(
            program.values[outputs[0]].shape, kinds, numbers, parts, [local[n] for n in outputs],
            [program.values[n].stride for n in outputs],
        )  # fmt: skip
        taken = tuple(n for n in inputs if local[n] not in numbers)
        return Step("fused", region, taken, tuple(outputs), recorded=steps[0].recorded, line=steps[0].line)

    def _part(self, s: Step, local: dict) -> Part:
        out = s.outputs[0]
        result = self.program.values[out].dtype
        return Part(s.what, tuple(local[n] for n in s.inputs), local[out], s.options, s.computing, result)
