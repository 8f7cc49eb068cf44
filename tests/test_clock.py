"""The simulated accelerator's clock, streams, pinned memory; timelines, profiles and their pictures."""

import json
import threading

import pytest

import autogradlab as torch
from autogradlab import nn, observe, viz
from autogradlab.backends.clock import Clock, Figures, clock

N = 1000
MB = N * N * 4


@pytest.fixture
def x():
    return torch.randn(N, N, device="sim:0")


def spans(t, lane):
    return [s for s in t.spans if s.lane == lane]


def test_a_kernel_takes_its_traffic_or_its_arithmetic_and_the_host_goes_on(x):
    f = Figures()
    with torch.observe.timeline() as t:
        y = x + x  # the first kernel waits for nothing
        y @ x
    add, product = spans(t, "sim:0")
    assert add.bytes == 3 * MB and add.seconds == pytest.approx(3 * MB / f.memory)
    assert product.operations == 2 * N**3 and product.seconds == pytest.approx(2 * N**3 / f.float32)
    assert product.start >= add.end and product.operator == "mm"
    assert [s.name for s in spans(t, "host")] == ["launch add", "launch matmul"]
    assert spans(t, "host")[-1].end < product.end


@pytest.mark.parametrize("value", [1, 0.5])
def test_addcmul_is_one_kernel_and_makes_nothing_in_between(x, value):
    with torch.observe.timeline() as t:
        made = torch.addcmul(x, x, x, value=value)
    (kernel,) = spans(t, "sim:0")
    assert (kernel.name, kernel.bytes) == ("addcmul", 4 * MB)
    assert torch.equal(made.cpu(), torch.addcmul(x.cpu(), x.cpu(), x.cpu(), value=value))
    fused = torch.compile(lambda x: torch.addcmul(x, x, x) + 1)
    fused(x)
    with torch.observe.timeline() as t:
        fused(x)
    assert [s.bytes for s in spans(t, "sim:0")] == [2 * MB]  # inside a larger kernel it costs nothing


def test_views_cost_nothing(x):
    with torch.observe.timeline() as t:
        x.t()[:10].reshape(10, 1, N).expand(10, 3, N)
    assert t.spans == []


def test_half_precision_moves_half_and_multiplies_faster(x):
    h = x.half()
    with torch.observe.timeline() as t:
        h @ h
    (product,) = spans(t, "sim:0")
    assert product.seconds == pytest.approx(2 * N**3 / Figures().half)
    assert product.bytes <= 2 * MB


@pytest.mark.parametrize(
    "ask", [lambda x: x.sum().item(), lambda x: bool(x.sum() > 0), lambda x: x.cpu(), lambda x: repr(x[0, 0])]
)
def test_what_asks_for_numbers_waits(x, ask):
    with torch.observe.timeline() as t:
        x @ x
        assert t.waited() == 0
        ask(x)
    assert t.waited() > 0.9e-4
    assert spans(t, "sim:0 copies")[-1].start >= spans(t, "sim:0")[-1].end


def test_a_copy_from_ordinary_memory_stops_the_host_and_one_from_pinned_memory_need_not():
    a = torch.randn(N, N)
    pinned = a.pin_memory()
    assert pinned.is_pinned() and not a.is_pinned() and pinned.equal(a) and pinned.pin_memory() is pinned
    waits = []
    for source, options in ((a, {}), (a, {"non_blocking": True}), (pinned, {}), (pinned, {"non_blocking": True})):
        with torch.observe.timeline() as t:
            there = source.to("sim:0", **options)
        assert there.cpu().equal(a)
        waits.append(t.waited() > 0)
        (copied,) = spans(t, "sim:0 copies")[:1]
        assert copied.seconds == pytest.approx(MB / Figures().pcie, rel=0.02)
    assert waits == [True, True, True, False]
    with pytest.raises(RuntimeError, match="only memory of the CPU can be pinned"):
        there.pin_memory()


def test_copies_overlap_with_work_only_on_a_stream_of_their_own(x):
    pinned, other = torch.randn(N, N).pin_memory(), torch.Stream("sim:0")

    def overlap(copying):
        torch.Stream("sim:0").device.backend.synchronize()
        with torch.observe.timeline() as t:
            x @ x
            with copying:
                pinned.to("sim:0", non_blocking=True)
            x @ x
        (copied,) = spans(t, "sim:0 copies")
        return any(s.start < copied.end and s.end > copied.start for s in spans(t, "sim:0"))

    assert not overlap(torch.no_grad())
    assert overlap(other)
    assert torch.autograd.grad  # the block left its stream
    assert spans_of_next(x) == "sim:0"


def spans_of_next(x) -> str:
    with torch.observe.timeline() as t:
        x + 1
    return next(s.lane for s in t.spans if s.lane != "host")


def test_streams_wait_for_events_and_events_tell_the_time(x):
    first, second = torch.Stream("sim:0"), torch.Stream("sim:0")
    begin, end = (torch.Event("sim:0", enable_timing=True) for _ in range(2))
    with torch.observe.timeline() as t:
        with first:
            begin.record()
            x @ x
            end.record()
        second.wait_stream(first)
        with second:
            x + 1
    assert not end.query() and not first.query()
    a, b = (s for s in t.spans if s.lane != "host")
    assert b.start >= a.end
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) == pytest.approx(a.seconds * 1e3, rel=0.1)
    second.synchronize()
    assert second.query()
    with pytest.raises(ValueError, match="enable_timing=True"):
        begin.elapsed_time(torch.Event("sim:0"))
    with pytest.raises(ValueError, match="recorded"):
        begin.elapsed_time(torch.Event("sim:0", enable_timing=True))
    with pytest.raises(RuntimeError, match="belong to accelerators"):
        torch.Stream("cpu")


def test_two_devices_work_side_by_side_and_copy_over_their_link(x):
    y = torch.randn(N, N, device="sim:1")
    x.device.backend.synchronize(), y.device.backend.synchronize()
    with torch.observe.timeline() as t:
        x @ x
        y @ y
        there = x.to("sim:1")
        there + y
    (one,), (two, last) = spans(t, "sim:0"), spans(t, "sim:1")
    assert two.start < one.end
    (copied,) = spans(t, "sim:1 copies")
    assert copied.start >= one.end and last.start >= copied.end
    assert copied.seconds == pytest.approx(2e-6 + MB / Figures().link) and t.waited() == 0
    assert there.cpu().equal(x.cpu())


def test_a_scaler_asks_once_however_many_parameters_there_are():
    waits = []
    for layers in (1, 8):
        model = nn.Sequential(*[nn.Linear(16, 16) for _ in range(layers)]).to("sim:0")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("sim")
        for _ in range(2):
            with torch.observe.timeline() as t:
                optimizer.zero_grad()
                with torch.autocast("sim"):
                    loss = model(torch.ones(4, 16, device="sim:0")).square().mean()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
        waits.append(sum(s.name.startswith("copy to host") for s in spans(t, "sim:0 copies")))
    assert waits[0] == waits[1] <= 4


def test_the_same_program_has_the_same_times_every_time(x):
    def run():
        clock.reset()
        with torch.observe.timeline() as t:
            (x @ x).relu().sum().item()
        return t.spans

    assert run() == run()


def test_a_clock_of_other_figures():
    mine = Clock(Figures(memory=1e9, launch=0.0, kernel=0.0))
    seen = []
    mine.recorders.append(seen.append)
    mine.launch("sim:0", "add", 2_000_000)
    mine.wait(["sim:0"])
    assert [round(s.seconds, 6) for s in seen] == [0, 0.002, 0.002] and mine.host == pytest.approx(0.002)


def test_a_timeline_in_words_as_a_picture_and_as_a_trace_file(x, tmp_path):
    with torch.observe.timeline() as t:
        w = torch.ones(N, N, device="sim:0", requires_grad=True)
        (x @ w).sum().backward()
    text = str(t)
    assert "time of the model" in text and "sim:0: mm" in text and "sim:0: MmBackward0" in text
    shown = viz.timeline(t)
    assert "a model, not measured" in shown.svg and shown.svg.count("<title>") == len(t.spans) and "mm" in str(shown)
    events = json.loads((tmp_path / "t.json").read_text() if t.chrome(tmp_path / "t.json") else "")["traceEvents"]
    assert len([e for e in events if e["ph"] == "X"]) == len(t.spans)
    with pytest.raises(TypeError, match="timeline: expected what"):
        viz.timeline([1])


def test_a_profile_measures_operators_and_nodes(tmp_path):
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(4, 8)
    with torch.profile() as p:
        with torch.observe.record_function("forward"):
            out = model(x)
        out.sum().backward()
        with pytest.raises(RuntimeError):
            x @ x
    names = {name: n for name, n, _, _ in p.rows()}
    assert names["cpu: addmm"] == 2 and names["backward: AddmmBackward0"] == 2 and names["program: forward"] == 1
    assert all(0 <= s.start <= s.end for s in p.spans) and "cpu: relu" in str(p) and "time measured" in str(p)
    assert "addmm" in p.key_averages().table(5) and p.export_chrome_trace(tmp_path / "a" / "p.json")
    assert "measured" in viz.timeline(p).svg
    assert next(s.bytes for s in p.spans if s.name == "relu") == 2 * 4 * 8 * 4


def test_repeated_positions_add_up_in_half_precision_on_an_accelerator():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        table = torch.zeros(3, 2, dtype=dtype, device="sim:0").requires_grad_()
        where = torch.tensor([0, 2, 0], device="sim:0")
        table[where].sum().backward()
        assert table.grad.tolist() == [[2, 2], [0, 0], [1, 1]] and table.grad.dtype is dtype
        with torch.no_grad():
            table.index_put_((where,), torch.ones(3, 2, dtype=dtype, device="sim:0"), accumulate=True)
            table.index_add_(0, where, torch.ones(3, 2, dtype=dtype, device="sim:0"))
        assert table.tolist() == [[4, 4], [0, 0], [2, 2]]
        with torch.no_grad():
            table.scatter_add_(0, where[:, None].expand(3, 2), torch.ones(3, 2, dtype=dtype, device="sim:0"))
        assert table.tolist() == [[6, 6], [0, 0], [3, 3]]


def test_torch_accelerator_by_pytorch_s_names(x, monkeypatch):
    monkeypatch.setenv("AUTOGRADLAB_ACCELERATOR", "sim")
    it = torch.accelerator
    assert str(it()) == "sim:0" and it.is_available() and it.device_count() == 2 and it.current_device_index() == 0
    assert str(it.current_accelerator()) == "sim" and torch.ones(1, device=it.current_accelerator()).device is it()
    x @ x
    assert not it.current_stream().query()
    it.synchronize()
    assert it.current_stream().query()


def test_a_timeline_and_a_profile_inside_themselves_and_used_again(x):
    for record in (observe.timeline(), torch.profile()):
        with record:
            with record:
                x + 1
            x * 2
        once = len(record.spans)
        with pytest.raises(ZeroDivisionError), record:
            x + 1
            raise ZeroDivisionError
        x + 3
        with record:
            x * 2
        assert len(record.spans) == 2 * once
        starts = [s.start for s in record.spans if s.lane in ("host", "sim:0")]
        assert starts[once // 2] > 0 and min(starts[once:]) >= max(starts[: once // 2])


def test_a_timeline_names_no_operator_that_failed(x):
    with observe.timeline() as t:
        with pytest.raises(RuntimeError):
            x + torch.ones(3, device="cpu")
        x.exp()
        worker = threading.Thread(target=lambda: x + 1)
        worker.start()
        worker.join()
    assert {s.operator for s in t.spans} == {"exp", ""} and not clock.recorders


def test_streams_and_events_refuse_what_they_are_not():
    stream, other, event = torch.Stream("sim:0"), torch.Stream("sim:1"), torch.Event("sim:0", enable_timing=True)
    for call in (lambda: event.record(3), lambda: event.wait("a"), lambda: stream.wait_event(3),
                 lambda: stream.wait_stream(event), lambda: stream.record_event(stream),
                 lambda: event.elapsed_time(3)):  # fmt: skip
        with pytest.raises(TypeError, match="to be a torch."):
            call()
    with pytest.raises(RuntimeError, match="does not match the recording stream's device sim:1"):
        event.record(other)
    with stream:
        current = torch.accelerator.current_stream("sim:0")
    assert current == stream and hash(current) == hash(stream) and current != other
    assert torch.accelerator.current_stream("sim:0") == torch.accelerator.current_stream("sim:0") != stream
