"""Typical wrong solutions of exercise 08: WRONG lists each with its task and the words its check must answer with."""

import warnings

import numpy as np

from .ch08_second_way import find_fault as named
from .ch08_second_way import judge_rate as judged
from .ch08_second_way import loss_and_gradients as slopes
from .ch08_second_way import one_epoch as epoch
from .ch08_second_way import review_loop as reviewed
from .ch08_second_way import train as trained


def without_the_two(w, b, x, y):
    loss, along_w, along_b = slopes(w, b, x, y)
    return loss, along_w / 2, along_b / 2


def gradients_are_sums(w, b, x, y):
    loss, along_w, along_b = slopes(w, b, x, y)
    return loss, along_w * x.size, along_b * x.size


def sums_throughout(w, b, x, y):
    return tuple(part * x.size for part in slopes(w, b, x, y))


def error_turned_round(w, b, x, y):
    loss, along_w, along_b = slopes(w, b, x, y)
    return loss, -along_w, -along_b


def forgets_x(w, b, x, y):
    loss, _, along_b = slopes(w, b, x, y)
    return loss, along_b, along_b


def never_compares(w, b, x, y):
    error = w * x + b - y
    return (error**2).mean(), (2 * error * x).mean(), (2 * error).mean()


def new_name(w, grad, lr):
    w = w - lr * grad
    grad[...] = 0


def two_new_names(w, grad, lr):
    w = w - lr * grad
    grad = np.zeros_like(grad)


def name_for_zero(w, grad, lr):
    w -= lr * grad
    grad = 0


def uphill(w, grad, lr):
    w += lr * grad
    grad[...] = 0


def hands_back_a_new_one(w, grad, lr):
    new = w - lr * grad
    grad[...] = 0
    return new


def hands_back_w(w, grad, lr):
    w -= lr * grad
    grad[...] = 0
    return w


def loss_afterwards(x, y, lr, epochs):
    w, b, losses = trained(x, y, lr, epochs)
    return w, b, [*losses[1:], slopes(w, b, x, y)[0]][:epochs]


def one_after_the_other(x, y, lr, epochs):
    w, b, losses = 0.0, 0.0, []
    for _ in range(epochs):
        losses.append(float(slopes(w, b, x, y)[0]))
        w = w - lr * slopes(w, b, x, y)[1]
        b = b - lr * slopes(w, b, x, y)[2]
    return w, b, losses


def slope_only(x, y, lr, epochs):
    w, losses = 0.0, []
    for _ in range(epochs):
        loss, along_w, _ = slopes(w, 0.0, x, y)
        losses.append(float(loss))
        w -= lr * along_w
    return w, 0.0, losses


def climbs(x, y, lr, epochs):
    return trained(x, y, -lr, epochs)


def returns_at_once(x, y, lr, epochs):
    w, b, losses = 0.0, 0.0, []
    for _ in range(epochs):
        loss, along_w, along_b = slopes(w, b, x, y)
        losses.append(float(loss))
        w, b = w - lr * along_w, b - lr * along_b
        return w, b, losses
    return w, b, losses


def no_losses(x, y, lr, epochs):
    return trained(x, y, lr, epochs)[:2]


def drops_the_last(w, b, x, y, lr, size):
    rows = len(x) // size * size
    return epoch(w, b, x[:rows], y[:rows], lr, size) if rows else (w, b, 0)


def divides_by_size(w, b, x, y, lr, size):
    steps = 0
    for start in range(0, len(x), size):
        some_x, some_y = x[start : start + size], y[start : start + size]
        error = w * some_x + b - some_y
        w, b = w - lr * (2 * error * some_x).sum() / size, b - lr * (2 * error).sum() / size
        steps += 1
    return w, b, steps


def uses_all_rows(w, b, x, y, lr, size):
    steps = len(range(0, len(x), size))
    for _ in range(steps):
        _, along_w, along_b = slopes(w, b, x, y)
        w, b = w - lr * along_w, b - lr * along_b
    return w, b, steps


def steps_at_the_end(w, b, x, y, lr, size):
    starts = range(0, len(x), size)
    found = [slopes(w, b, x[s : s + size], y[s : s + size]) for s in starts]
    return w - lr * sum(f[1] for f in found), b - lr * sum(f[2] for f in found), len(starts)


def counts_full_batches(w, b, x, y, lr, size):
    return (*epoch(w, b, x, y, lr, size)[:2], len(x) // size)


def along_the_old(w, grad, velocity, lr, momentum):
    w -= lr * velocity
    velocity *= momentum
    velocity += grad


def rate_inside(w, grad, velocity, lr, momentum):
    velocity *= momentum
    velocity += lr * grad
    w -= velocity


def running_mean(w, grad, velocity, lr, momentum):
    velocity[...] = momentum * velocity + (1 - momentum) * grad
    w -= lr * velocity


def velocity_by_name(w, grad, velocity, lr, momentum):
    velocity = momentum * velocity + grad
    w -= lr * velocity


def w_by_name(w, grad, velocity, lr, momentum):
    velocity *= momentum
    velocity += grad
    w = w - lr * velocity


def into_the_gradient(w, grad, velocity, lr, momentum):
    velocity *= momentum
    velocity += grad
    grad[...] = velocity
    w -= lr * grad


def _word(factor):
    return "diverges" if abs(factor) > 1 else "swings" if factor < 0 else "arrives"


def half_as_steep(x, lr):
    factor = 1 - lr * (x * x).mean()
    return factor, _word(factor)


def mean_squared(x, lr):
    factor = 1 - 2 * lr * x.mean() ** 2
    return factor, _word(factor)


def sum_of_squares(x, lr):
    factor = 1 - 2 * lr * (x * x).sum()
    return factor, _word(factor)


def what_is_taken(x, lr):
    factor = 2 * lr * (x * x).mean()
    return factor, _word(factor)


def negative_diverges(x, lr):
    factor, _ = judged(x, lr)
    return factor, "diverges" if factor < 0 else "arrives"


def never_diverges(x, lr):
    factor, _ = judged(x, lr)
    return factor, "swings" if factor < 0 else "arrives"


def reads_straight_on(steps):
    names = [what for what, _ in steps]
    early = "clear" in names and names.index("backward") < names.index("clear") < names.index("step")
    faults = [fault for fault in reviewed(steps) if fault != "clears before the step"]
    place = 1 if "does not record the loss" in faults else 0
    return tuple(faults[:place] + ["clears before the step"] * early + faults[place:])


def first_fault_only(steps):
    return reviewed(steps)[:1]


def misses_validation(steps):
    return tuple(fault for fault in reviewed(steps) if fault != "records validation")


def misses_clearing(steps):
    return tuple(fault for fault in reviewed(steps) if fault != "never clears")


def looks_for_clear(steps):
    names = [what for what, _ in steps]
    return ("clears before the step",) if names.index("clear") < names.index("step") else ()


def faults_as_a_list(steps):
    return list(reviewed(steps))


def first_step_only(x, y, lr, seen):
    return named(x, y, lr, seen[:1])


def no_column(x, y, lr, seen):
    found = named(x, y, lr, seen)
    return "none" if found == "column" else found


def long_steps_are_uncleared(x, y, lr, seen):
    found = named(x, y, lr, seen)
    return "never cleared" if found == "sum" else found


def exactly(x, y, lr, seen):
    for fault, sign in (("none", -1), ("uphill", 1)):
        w, path = 0.0, []
        for _ in seen:
            w += sign * lr * (2 * (w * x - y) * x).mean()
            path.append(w)
        if path == seen:
            return fault


def an_empty_batch(w, b, x, y, lr, size):
    steps = len(x) // size + 1
    for n in range(steps):
        rows = slice(n * size, (n + 1) * size)
        error = w * x[rows] + b - y[rows]
        with warnings.catch_warnings(action="ignore"):  # the mean of nothing
            w, b = w - lr * (2 * error * x[rows]).mean(), b - lr * (2 * error).mean()
    return w, b, steps


def clears_first(steps):
    names = [what for what, _ in steps]
    if "clear" in names and names.index("clear") < names.index("step"):
        return ("clears before the step",)
    return ()


def needs_a_validation(steps):
    recorded = dict(steps)
    return ("records validation",) if recorded["validate"] else ()


WRONG = (
    ("loss_and_gradients", without_the_two, "The factor 2 of the square is missing in the gradients"),
    ("loss_and_gradients", gradients_are_sums, "The loss is a mean and the gradients are sums"),
    ("loss_and_gradients", sums_throughout, "These are sums over the points"),
    ("loss_and_gradients", error_turned_round, "The signs are wrong"),
    ("loss_and_gradients", forgets_x, "The slope along w is missing its x"),
    ("loss_and_gradients", never_compares, "This must raise ValueError: shapes (3,) and (3, 1) are not the same"),
    ("step_and_clear", new_name, "w is as it was. `w = w - ...` makes a new array"),
    ("step_and_clear", two_new_names, "Nothing was written into either array"),
    ("step_and_clear", name_for_zero, "The gradient was not cleared"),
    ("step_and_clear", uphill, "The step goes uphill"),
    ("step_and_clear", hands_back_a_new_one, "A new array came back, and w is as it was"),
    ("step_and_clear", hands_back_w, "A function that writes into its argument returns nothing here"),
    ("train", one_after_the_other, "b's gradient was computed after w had moved"),
    ("train", loss_afterwards, "The losses were noted after each step"),
    ("train", slope_only, "Only w moves"),
    ("train", climbs, "The loss grows: gradients point uphill"),
    ("train", returns_at_once, "is the `return` inside of it?"),
    ("train", no_losses, "Return three things: w, b and the list of losses"),
    ("one_epoch", divides_by_size, "The incomplete batch was divided by the full size"),
    ("one_epoch", drops_the_last, "The last rows never take part"),
    ("one_epoch", uses_all_rows, "Every step used all rows"),
    ("one_epoch", steps_at_the_end, "All gradients belong to the line of the beginning"),
    ("one_epoch", counts_full_batches, "an incomplete last batch is a step as well"),
    ("momentum_step", along_the_old, "w moved along the old velocity"),
    ("momentum_step", rate_inside, "The learning rate went into the velocity"),
    ("momentum_step", running_mean, "That is a running mean"),
    ("momentum_step", velocity_by_name, "The velocity is as it was"),
    ("momentum_step", w_by_name, "w is as it was"),
    ("momentum_step", into_the_gradient, "The function changed its argument grad"),
    ("judge_rate", half_as_steep, "The factor 2 of the square is missing"),
    ("judge_rate", mean_squared, "The mean was squared"),
    ("judge_rate", sum_of_squares, "This is the sum over the points"),
    ("judge_rate", what_is_taken, "What is left of it is 1 minus that"),
    ("judge_rate", negative_diverges, "A negative one only changes sides"),
    ("judge_rate", never_diverges, "Beyond -1 the distance grows with every step"),
    ("review_loop", reads_straight_on, "A round is followed by the next"),
    ("review_loop", first_fault_only, "Only the first fault came back"),
    ("review_loop", misses_validation, "Validation is recorded, and nobody goes backward through it"),
    ("review_loop", misses_clearing, "Nothing clears the gradients here"),
    ("review_loop", looks_for_clear, "Clearing at the beginning of a round is no fault"),
    ("review_loop", faults_as_a_list, "a list came back where a tuple is expected"),
    ("find_fault", first_step_only, "The first step cannot tell"),
    ("find_fault", no_column, "the difference is a table of shape (n, n)"),
    ("find_fault", long_steps_are_uncleared, "Steps that are too long from the first on come from a sum"),
    ("find_fault", exactly, "None came back: no `return`, or none of the loops agreed"),
    ("one_epoch", an_empty_batch, "A batch without rows has no mean: nan"),
    ("review_loop", clears_first, "Clearing at the beginning of a round is no fault"),
    ("review_loop", needs_a_validation, "clear and validate may be missing"),
)
