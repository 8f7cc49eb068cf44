"""Who works and who waits on the simulated accelerator: batches that are brought, gradients that are exchanged.

The programs really run on the device "sim"; their times are its clock's model (autogradlab/backends/clock.py), not
measured.  (D1 5.1, D5 4.3, chapters 05 and 27)
"""

from __future__ import annotations

from collections import defaultdict
from html import escape

import ipywidgets as widgets

import autogradlab as torch
from autogradlab import nn, viz
from autogradlab.learn.panel import Panel, note, row
from autogradlab.observe.spans import spelled

BATCHES = 3
LAYERS = 6
BUCKETS = (1, 2, 3, 6)
KERNELS, COPIES = "sim:0", "sim:0 copies"
SCENARIOS = {
    "batches": "batches are brought and worked on",
    "buckets": "gradients are exchanged after or during backward",
}
MEMORY = {"ordinary memory": False, "pinned memory": True}
STREAM = {"the stream of the kernels": False, "a stream of their own": True}
LOSS = {"at each step": True, "at the end": False}
EXCHANGE = {"after backward": False, "during backward": True}


class Scenarios:
    """Two programs and what they are told to do.  Knows nothing of widgets; each choice is run once and remembered."""

    def __init__(self):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.weight = torch.randn(512, 1024).to("sim")
            self.ordinary = [torch.randn(512, 512) for _ in range(BATCHES)]
            self.layers = nn.Sequential(*[nn.Linear(512, 512, bias=False) for _ in range(LAYERS)]).to("sim")
            inputs = torch.randn(384, 512).to("sim")
        self.pinned = [batch.pin_memory() for batch in self.ordinary]
        self.loss = self.layers(inputs).square().mean()
        self._seen: dict = {}

    def batches(self, pinned: bool, side: bool, each: bool):
        """A timeline of three batches: copied to the device, multiplied, and their losses added up.

        pinned: from pinned memory; side: in a second stream; each: `.item()` at each step, else once at the end.
        """
        return self._once(("batches", pinned, side, each), lambda t: self._batches(t, pinned, side, each))

    def buckets(self, buckets: int, during: bool):
        """A timeline of a backward pass through six layers whose gradients go to another process in buckets.

        during: a bucket sets out as soon as its gradients are there, else all of them after backward.  Exchanging is
        timed as one copy of the bucket's bytes over PCIe; the optimizer's step waits for all of it.
        """
        if buckets not in BUCKETS:
            raise ValueError(f"explore_timeline: buckets must be one of {BUCKETS}, but it is {buckets!r}.")
        return self._once(("buckets", buckets, during), lambda t: self._buckets(t, buckets, during))

    def _once(self, key, run):
        if key not in self._seen:
            torch.accelerator.synchronize("sim")  # nothing is left over from before
            timeline = torch.observe.timeline()
            run(timeline)
            self._seen[key] = timeline
        return self._seen[key]

    def _batches(self, timeline, pinned: bool, side: bool, each: bool) -> None:
        kernels = torch.accelerator.current_stream("sim")
        copies = torch.Stream("sim") if side else kernels
        with timeline:
            total = 0.0
            for batch in self.pinned if pinned else self.ordinary:
                with copies:
                    x = batch.to("sim", non_blocking=True)
                kernels.wait_stream(copies)
                loss = (x @ self.weight).relu().mean()
                total = total + (loss.item() if each else loss)
            if not each:
                total.item()

    def _buckets(self, timeline, buckets: int, during: bool) -> None:
        main, side = torch.accelerator.current_stream("sim"), torch.Stream("sim")
        last_first = list(self.layers.parameters())[::-1]  # the order in which backward comes to them
        size = LAYERS // buckets
        groups = [last_first[i : i + size] for i in range(0, LAYERS, size)]
        sent = []

        def send(group) -> None:
            flat = torch.cat([p.grad.reshape(-1) for p in group])
            side.wait_stream(main)
            with side:
                sent.append(flat.to("cpu", non_blocking=True))

        hooks = [group[-1].register_post_accumulate_grad_hook(lambda _, g=group: send(g)) for group in groups if during]
        try:
            with timeline:
                self.loss.backward(retain_graph=True)
                for group in [] if during else groups:
                    send(group)
                main.wait_stream(side)
                with torch.no_grad():  # a step's kernels; the parameters stay, for the next choice
                    for p in last_first:
                        p - 0.1 * p.grad
        finally:
            for hook in hooks:
                hook.remove()
            for p in last_first:
                p.grad = None


def waits(timeline) -> list[tuple[str, str, float]]:
    """(who waits, for what, seconds in all): Python as the timeline says, the device by what ends its pauses."""
    found: dict = defaultdict(float)
    for span in timeline.spans:
        if span.lane == "host" and span.name.startswith("wait"):
            what = "a batch to arrive" if "from host" in span.name else "a number from the device"
            found["Python", what] += span.seconds
    arrivals = [s.end for s in timeline.spans if s.lane == COPIES]
    free = 0.0
    for span in (s for s in timeline.spans if s.lane == KERNELS):
        if span.start > free + 1e-12:
            copied = any(abs(end - span.start) < 1e-12 for end in arrivals)
            found["the device", "a copy" if copied else "Python to hand over work"] += span.start - free
        free = span.end
    return [(who, what, seconds) for (who, what), seconds in found.items()]


def told(timeline) -> str:
    """A timeline in words: how long in all, how busy, who waits for whom."""
    lines = [
        f"{spelled(timeline.seconds)} in all, by the model; kernels {spelled(timeline.busy(KERNELS))}, "
        f"copies {spelled(timeline.busy(COPIES))}"
    ]
    lines += [f"{who} waits for {what}: {spelled(seconds)}" for who, what, seconds in waits(timeline)]
    return "\n".join(lines)


def _choice(label: str, options, value) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, value=value, description=label, tooltip=label,
                            style={"description_width": "initial"}, layout=widgets.Layout(width="auto"))  # fmt: skip


class _View:
    """The controls of both scenarios, the picture of the chosen one, and a list of what was tried."""

    def __init__(self, scenario: str):
        self.model = Scenarios()
        self.scenario = _choice("what runs", [(words, name) for name, words in SCENARIOS.items()], scenario)
        self.controls = {
            "batches": [
                _choice("batches in", list(MEMORY), "ordinary memory"),
                _choice("copies in", list(STREAM), "the stream of the kernels"),
                _choice(".item()", list(LOSS), "at each step"),
            ],
            "buckets": [
                _choice("buckets", list(BUCKETS), 1),
                _choice("exchange", list(EXCHANGE), "after backward"),
            ],
        }
        self.rows = {name: row(controls) for name, controls in self.controls.items()}
        self.picture, self.words, self.tried = note(), note(), {}
        for control in [self.scenario, *self.controls["batches"], *self.controls["buckets"]]:
            control.observe(self.show, "value")
        self.show()

    def chosen(self) -> str:
        """The settings of the scenario in words."""
        return ", ".join(f"{c.description} {c.value}" for c in self.controls[self.scenario.value])

    def timeline(self):
        values = [c.value for c in self.controls[self.scenario.value]]
        if self.scenario.value == "batches":
            return self.model.batches(MEMORY[values[0]], STREAM[values[1]], LOSS[values[2]])
        return self.model.buckets(values[0], EXCHANGE[values[1]])

    def text(self) -> str:
        """The text twin."""
        return f"{self.chosen()}\n{told(self.timeline())}"

    def show(self, _=None) -> None:
        for name, shown in self.rows.items():
            shown.layout.display = "" if name == self.scenario.value else "none"
        found = self.timeline()
        self.picture.value = viz.timeline(found).html
        tried = self.tried.setdefault(self.scenario.value, {})
        tried[self.chosen()] = found.seconds
        list_of = "".join(f"<tr><td>{spelled(s)}</td><td>{escape(c)}</td></tr>" for c, s in tried.items())
        self.words.value = (
            f"<pre>{escape(self.text())}</pre><details><summary>tried so far: {len(tried)}</summary>"
            f'<table aria-label="Times of what was tried">{list_of}</table></details>'
        )


def explore_timeline(scenario: str = "batches") -> Panel:
    """Choose how batches are brought, or gradients exchanged; see who works, who waits, and how long all of it takes.

    scenario: "batches" or "buckets", the one that is shown first.
    """
    if scenario not in SCENARIOS:
        raise ValueError(f"explore_timeline: scenario must be one of {list(SCENARIOS)}, but it is {scenario!r}.")
    view = _View(scenario)
    legend = (
        "one lane for Python (the host), one for kernels, one for copies; dashed: Python waits. Times of the simulated "
        "accelerator's clock, a model; exchanging a bucket is timed as a copy over PCIe"
    )
    text = view.text()
    static = f"<pre>{escape(text)}</pre><p><i>(run this cell to choose)</i></p>"
    children = [view.scenario, *view.rows.values(), view.picture, note(f"<small>{legend}</small>"), view.words]
    return Panel(children, text=text, static=static)
