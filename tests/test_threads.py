"""Threads: each has modes of its own, and may run backward beside others."""

import threading

import autogradlab as torch
from autogradlab import modes


def in_threads(work, count: int = 8) -> list:
    """work(i) in as many threads at once; what they returned.  An exception in one is raised here."""
    results, failures, barrier = [None] * count, [], threading.Barrier(count)

    def run(i):
        try:
            barrier.wait()
            results[i] = work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]
    return results


def test_a_new_thread_starts_with_gradients_on():
    with torch.no_grad(), torch.autocast("cpu"), torch.autograd.detect_anomaly():
        seen = in_threads(lambda i: (torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), modes.state.flags), 2)
    assert seen == [(True, False, 0)] * 2


def test_modes_do_not_leak_between_threads():
    x = torch.ones(3).requires_grad_()

    def work(i):
        found = []
        for _ in range(200):
            if i % 2:
                with torch.no_grad():
                    found.append((x * 2).requires_grad)
            else:
                found.append((x * 2).requires_grad)
        return set(found)

    assert in_threads(work) == [{True}, {False}] * 4


def test_concurrent_backward_on_one_shared_leaf():
    x = torch.zeros(5000, dtype=torch.float64).requires_grad_()

    def work(i):
        for _ in range(40):
            (x * (i + 1)).sum().backward()

    in_threads(work)
    assert torch.equal(x.grad, torch.full((5000,), 40.0 * 36, dtype=torch.float64))


def test_first_gradients_of_one_leaf_at_the_same_time():
    for _ in range(50):
        x = torch.zeros(1000, dtype=torch.float64).requires_grad_()
        in_threads(lambda i, x=x: (x * 2).sum().backward(), 4)
        assert torch.equal(x.grad, torch.full((1000,), 8.0, dtype=torch.float64))


def test_concurrent_backward_through_one_shared_graph():
    x = torch.linspace(0, 1, 50, dtype=torch.float64).requires_grad_()
    out = (x.exp() * x.sin()).sum()
    (want,) = torch.autograd.grad(out, x, retain_graph=True)

    def work(i):
        return [torch.autograd.grad(out, x, retain_graph=True)[0] for _ in range(30)]

    for found in in_threads(work):
        assert all(torch.equal(g, want) for g in found)
    in_threads(lambda i: out.backward(retain_graph=True))
    assert torch.allclose(x.grad, 8 * want)


def test_forward_and_backward_in_many_threads():
    w = torch.randn(20, 20, dtype=torch.float64)

    def work(i):
        x = torch.full((20,), float(i), dtype=torch.float64).requires_grad_()
        for _ in range(20):
            x.grad = None
            (w @ x).tanh().sum().backward()
        return x.grad

    together = in_threads(work)
    for i, g in enumerate(together):
        assert torch.equal(g, work(i))


def test_one_checkpointed_graph_in_many_threads():
    from autogradlab.utils.checkpoint import checkpoint

    x = torch.linspace(0, 1, 20, dtype=torch.float64).requires_grad_()
    out = checkpoint(lambda x: x.exp().sin(), x, preserve_rng_state=False).sum()
    (want,) = torch.autograd.grad(out, x, retain_graph=True)
    for g in in_threads(lambda i: torch.autograd.grad(out, x, retain_graph=True)[0]):
        assert torch.equal(g, want)


def test_hooks_and_saved_tensors_hooks_of_one_thread():
    x = torch.ones(4).requires_grad_()
    packed = []

    def work(i):
        if i:
            return (x.exp() * 2).sum().backward()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
            for _ in range(10):
                x.exp()

    in_threads(work, 4)
    assert len(packed) == 10
