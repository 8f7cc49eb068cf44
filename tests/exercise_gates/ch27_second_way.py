"""A second right way to solve exercise 27, written differently wherever there is a choice."""


def ring_round(held, t):
    n, new = len(held), []
    for rank, chunks in enumerate(held):
        left = held[rank - 1]
        came = (rank - 1 - t) % n
        new.append([left[c] + (v if t + 1 < n else 0.0) if c == came else v for c, v in enumerate(chunks)])
    return new


def ring_bytes(n, ranks, itemsize):
    sent = [0] * ranks
    for t in range(2 * ranks - 2):
        for rank in range(ranks):
            chunk = (rank - t) % ranks
            sent[rank] += itemsize * (n * (chunk + 1) // ranks - n * chunk // ranks)
    return sent


def fill_buckets(sizes, first, cap):
    buckets, room = [], 0
    for i in range(len(sizes) - 1, -1, -1):
        if room <= 0:
            room = cap if buckets else first
            buckets.append([])
        buckets[-1].append(i)
        room -= sizes[i]
    return buckets


def set_out(buckets, arrivals):
    found, latest = [], 0
    for bucket in buckets:
        for i in bucket:
            if latest is not None:
                latest = max(latest, arrivals.index(i) + 1) if i in arrivals else None
        found.append(latest)
    return found


def loss_factors(rows):
    mean = sum(rows) / len(rows)
    return [n / mean for n in rows]


def clipped_step(grads, max_norm, when):
    def weight(grad):
        return min(1.0, max_norm / (sum(g**2 for g in grad) ** 0.5 + 1e-6))

    size = len(grads)
    weights = [weight(grad) if when == "before" else 1.0 for grad in grads]
    mean = [sum(w * grad[k] for w, grad in zip(weights, grads, strict=True)) / size for k in range(len(grads[0]))]
    return mean if when == "before" else [weight(mean) * g for g in mean]


def accumulated(calls, ranks):
    own, summed, averages, apart, inside = [0.0] * ranks, 0.0, 0, set(), False
    for what, *rest in calls:
        if what == "forward" and inside:
            apart.add(rest[0])
        elif what == "backward":
            own = [g + new for g, new in zip(own, rest[1], strict=True)]
            if rest[0] not in apart:
                summed, own, averages = summed + sum(own) / ranks, [0.0] * ranks, averages + 1
        elif what in ("enter", "exit"):
            inside = what == "enter"
    return [summed + g for g in own], averages


SECOND_WAY = (
    ring_round,
    ring_bytes,
    fill_buckets,
    set_out,
    loss_factors,
    clipped_step,
    accumulated,
)
