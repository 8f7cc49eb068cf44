"""Tasks 3, 4 and 6 of chapter 08's exercise: the loop, its batches and its rate."""

from . import ch08_fresh
from . import enumerated_descent as descent
from .arrays import Array
from .ch08_fresh import floats
from .ch08_step import LOOP, close
from .task import Case, Check, Mistake, Task

RATE = 'chapter 08, "How large a step?"'
REAL = 'chapter 08, "The same loop on real data"'

# 3. train -------------------------------------------------------------------------------------------------------------


def _loop(step, after: bool = False):
    """Training with this step; after: the loss is noted after it."""

    def train(x: Array, y: Array, lr: float, epochs: int) -> tuple:
        w, b, losses = 0.0, 0.0, []
        for _ in range(epochs):
            before = descent.loss(w, b, x.values, y.values)
            w, b = step(w, b, x.values, y.values, lr)
            losses.append(descent.loss(w, b, x.values, y.values) if after else before)
        return w, b, losses

    return train


def _one_after_the_other(w: float, b: float, x: tuple, y: tuple, lr: float) -> tuple:
    w, _ = descent.step(w, b, x, y, lr)
    return w, descent.step(w, b, x, y, lr)[1]


def _without_height(w: float, b: float, x: tuple, y: tuple, lr: float) -> tuple:
    return descent.step(w, b, x, y, lr)[0], b


_train = _loop(descent.step)
X, Y = floats(0, 1, 2), floats(1, 3, 8)

train = Check(
    Task(
        name="train",
        parameters=("x", "y", "lr", "epochs"),
        visible=(
            Case((X, Y, 0.1, 1), (38 / 30, 0.8, [74 / 3]), "one step from the flat line"),
            Case((X, Y, 0.1, 0), (0.0, 0.0, []), "no step at all"),
            Case((floats(1), floats(2), 0.25, 2), (1.0, 1.0, [4.0, 0.0]), "at the goal after one step"),
            Case((X, Y, 0.1, 3), _train(X, Y, 0.1, 3), "the loss before each step"),
        ),
        reference=_train,
        fresh=ch08_fresh.trainings,
        hidden="fresh points, rates and numbers of epochs",
        mistakes=(
            Mistake(
                _loop(descent.step, after=True),
                "The losses were noted after each step. The loss of an epoch is that of the line it began with.",
            ),
            Mistake(
                _loop(_one_after_the_other),
                "b's gradient was computed after w had moved. Both gradients belong to the same line: compute both, "
                "then move both.",
            ),
            Mistake(_loop(_without_height), "Only w moves. b has a gradient too."),
            Mistake(
                _loop(lambda w, b, x, y, lr: descent.step(w, b, x, y, -lr)),
                "The loss grows: gradients point uphill, so a step is minus lr times the gradient.",
            ),
            Mistake(
                lambda x, y, lr, epochs: _train(x, y, lr, epochs)[:2],
                "Return three things: w, b and the list of losses.",
            ),
            Mistake(
                lambda x, y, lr, epochs: (*_train(x, y, lr, epochs)[:2], *_train(x, y, lr, epochs)[2][-1:]),
                "Only the last loss came back; return the list with the loss of every epoch.",
            ),
            Mistake(
                lambda x, y, lr, epochs: _train(x, y, lr, min(epochs, 1)),
                "The loop ended after its first round: is the `return` inside of it?",
            ),
        ),
        hint="In each epoch: loss and gradients (task 1), note the loss, move w and b against their gradients.",
        read=LOOP,
        same=close,
    )
)


# 4. one_epoch ---------------------------------------------------------------------------------------------------------


def _batches(step=descent.step, keep=lambda rows, n, size: True, count=len):
    """An epoch with this step, of the batches to keep."""

    def one_epoch(w: float, b: float, x: Array, y: Array, lr: float, size: int) -> tuple:
        n = len(x.values)
        rows = [part for part in descent.parts(n, size) if keep(part, n, size)]
        for part in rows:
            w, b = step(w, b, x.values[part], y.values[part], lr)
        return w, b, count(rows)

    return one_epoch


def _divided_by_size(w: float, b: float, x: Array, y: Array, lr: float, size: int) -> tuple:
    def step(w, b, x, y, lr):
        return descent.step(w, b, x, y, lr * len(x) / size)

    return _batches(step)(w, b, x, y, lr, size)


def _whole_each_time(w: float, b: float, x: Array, y: Array, lr: float, size: int) -> tuple:
    rows = descent.parts(len(x.values), size)
    for _ in rows:
        w, b = descent.step(w, b, x.values, y.values, lr)
    return w, b, len(rows)


def _stepped_at_the_end(w: float, b: float, x: Array, y: Array, lr: float, size: int) -> tuple:
    rows = descent.parts(len(x.values), size)
    ends = [descent.step(w, b, x.values[part], y.values[part], lr) for part in rows]
    return w + sum(end[0] - w for end in ends), b + sum(end[1] - b for end in ends), len(rows)


def _one_epoch(w: float, b: float, x: Array, y: Array, lr: float, size: int) -> tuple:
    return descent.one_epoch(w, b, x.values, y.values, lr, size)


EMPTY = "A batch without rows has no mean: nan. One batch too many was made, behind the end of the data."
FIVE = (floats(1, 2, 1, 2, 3), floats(1, 1, 2, 2, 3))

one_epoch = Check(
    Task(
        name="one_epoch",
        parameters=("w", "b", "x", "y", "lr", "size"),
        visible=(
            Case((0.0, 0.0, floats(1, 1), floats(1, 3), 0.25, 1), (1.5, 1.5, 2), "two steps, one for each row"),
            Case(
                (0.0, 0.0, floats(1, 1), floats(1, 3), 0.25, 2), (1.0, 1.0, 1), "one step, with the mean of both rows"
            ),
            Case((0.0, 0.0, *FIVE, 0.1, 2), _one_epoch(0.0, 0.0, *FIVE, 0.1, 2), "rows 0 and 1, 2 and 3, then 4 alone"),
            Case((1.0, 0.0, *FIVE, 0.1, 5), _one_epoch(1.0, 0.0, *FIVE, 0.1, 5), "all rows in one batch"),
            Case((1.0, 0.0, *FIVE, 0.1, 9), _one_epoch(1.0, 0.0, *FIVE, 0.1, 9), "a batch larger than the data"),
        ),
        reference=_one_epoch,
        fresh=ch08_fresh.epochs,
        hidden="fresh points and sizes, with and without an incomplete last batch",
        mistakes=(
            Mistake(
                _batches(keep=lambda part, n, size: part.stop - part.start == size),
                "The last rows never take part: an incomplete batch is a batch too.",
            ),
            Mistake(
                _divided_by_size,
                "The incomplete batch was divided by the full size. Its loss is the mean over the rows that it has.",
            ),
            Mistake(
                _stepped_at_the_end,
                "All gradients belong to the line of the beginning: each batch has to see the line that the batch "
                "before it left.",
            ),
            Mistake(_whole_each_time, "Every step used all rows. A step uses the rows of its batch alone."),
            Mistake(
                _batches(keep=lambda part, n, size: part.start == 0),
                "Only the first batch was used.",
            ),
            Mistake(
                lambda *args: _one_epoch(*args)[:2],
                "Return three things: w, b and the number of steps.",
            ),
            Mistake(
                lambda w, b, x, y, lr, size: (*_one_epoch(w, b, x, y, lr, size)[:2], len(x.values) // size),
                "The steps are right, their number is not: an incomplete last batch is a step as well.",
            ),
        ),
        explain=lambda args, value: EMPTY if type(value) is tuple and "nan" in repr(value[:2]) else None,
        hint="For start in range(0, len(x), size): the rows are start to start + size, and a slice ends with the data.",
        read=REAL,
        same=close,
    )
)


# 6. judge_rate --------------------------------------------------------------------------------------------------------


def verdict(factor: float) -> str:
    """In one word, what steps with this factor do."""
    return "diverges" if abs(factor) > 1 else "swings" if factor < 0 else "arrives"


def _judge_rate(x: Array, lr: float) -> tuple[float, str]:
    factor = descent.factor(x.values, lr)
    return factor, verdict(factor)


def _other_factor(change):
    """Judged by a factor that this function of (mean of x * x, mean of x, number of rows, lr) makes."""

    def judge(x: Array, lr: float) -> tuple[float, str]:
        n = len(x.values)
        factor = change(sum(p * p for p in x.values) / n, sum(x.values) / n, n, lr)
        return factor, verdict(factor)

    return judge


judge_rate = Check(
    Task(
        name="judge_rate",
        parameters=("x", "lr"),
        visible=(
            Case((floats(1, -1), 0.25), (0.5, "arrives"), "every step halves the distance"),
            Case((floats(1, -1), 0.75), (-0.5, "swings"), "halved too, on the other side"),
            Case((floats(1, -1), 1.25), (-1.5, "diverges"), "every step lands farther away"),
            Case((floats(0, 1, 2, 3), 0.1), (0.3, "arrives"), "the mean of x * x is 3.5"),
            Case(
                (floats(0, 2, 4, 6), 0.1), (-1.8, "diverges"), "x doubled, the same rate: a valley four times as steep"
            ),
        ),
        reference=_judge_rate,
        fresh=ch08_fresh.rates,
        hidden="fresh inputs and rates",
        mistakes=(
            Mistake(
                _other_factor(lambda squares, mean, n, lr: 1 - lr * squares),
                "The factor 2 of the square is missing: the slope of the loss is 2 * mean(x * x) times the distance.",
            ),
            Mistake(
                _other_factor(lambda squares, mean, n, lr: 1 - 2 * lr * mean**2),
                "The mean was squared. Take the mean of the squares: the points pull on w with x * x each.",
            ),
            Mistake(
                _other_factor(lambda squares, mean, n, lr: 1 - 2 * lr * squares * n),
                "This is the sum over the points; the loss is a mean.",
            ),
            Mistake(
                _other_factor(lambda squares, mean, n, lr: 2 * lr * squares - 1),
                "The sign is wrong: a small rate leaves the distance nearly as it is, so its factor is near 1.",
            ),
            Mistake(
                _other_factor(lambda squares, mean, n, lr: 2 * lr * squares),
                "That is the part of the distance that a step takes away. What is left of it is 1 minus that.",
            ),
            Mistake(
                lambda x, lr: (_judge_rate(x, lr)[0], "diverges" if _judge_rate(x, lr)[0] < 0 else "arrives"),
                "The factor is right. A negative one only changes sides; the distance grows where the factor is "
                "larger than 1 without its sign.",
            ),
            Mistake(
                lambda x, lr: (_judge_rate(x, lr)[0], "swings" if _judge_rate(x, lr)[0] < 0 else "arrives"),
                "The factor is right. Beyond -1 the distance grows with every step: that is no swinging any more.",
            ),
        ),
        hint="factor = 1 - lr * 2 * mean(x * x); beyond 1 in size it diverges, below 0 it swings, else it arrives.",
        read=RATE,
        same=close,
    )
)
