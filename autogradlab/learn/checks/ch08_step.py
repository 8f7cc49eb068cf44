"""Tasks 1, 2 and 5 of chapter 08's exercise: the loss and its slopes, and the step that writes into its parameters."""

from . import ch08_fresh
from . import enumerated_descent as descent
from .arrays import Array, scalars
from .ch08_fresh import floats, written
from .task import Case, Check, Mistake, Raises, Task, same_but_for_rounding

LINE = 'chapter 08, "A line to find"'
STEP = 'chapter 08, "One step, and three ways to get it wrong"'
LOOP = 'chapter 08, "The whole loop"'


def close(args: tuple, expected: object, value: object) -> bool:
    """Equal but for rounding, and NumPy's numbers count as Python's."""
    return same_but_for_rounding(expected, scalars(value))


# 1. loss_and_gradients ------------------------------------------------------------------------------------------------


def _loss_and_gradients(w: float, b: float, x: Array, y: Array) -> tuple | Raises:
    if x.shape != y.shape:
        shapes = (str(x.shape), str(y.shape))
        return Raises("ValueError", f"shapes {shapes[0]} and {shapes[1]} are not the same", shapes)
    return descent.loss_and_gradients(w, b, x.values, y.values)


def _with(change):
    """The loss and its slopes, the slopes changed by this function of (along w, along b, number of rows)."""

    def wrong(w: float, b: float, x: Array, y: Array) -> tuple:
        loss, along_w, along_b = descent.loss_and_gradients(w, b, x.values, y.values)
        return (loss, *change(along_w, along_b, len(x.values)))

    return wrong


def _sums(w: float, b: float, x: Array, y: Array) -> tuple:
    return tuple(part * len(x.values) for part in descent.loss_and_gradients(w, b, x.values, y.values))


X, Y = floats(0, 1, 2), floats(1, 3, 8)


def _refused(x: Array, y: Array) -> Case:
    return Case((1.0, 0.0, x, y), _loss_and_gradients(1.0, 0.0, x, y))


loss_and_gradients = Check(
    Task(
        name="loss_and_gradients",
        parameters=("w", "b", "x", "y"),
        visible=(
            Case((2.0, 1.0, X, Y), (3.0, -4.0, -2.0), "the errors are 0, 0 and -3"),
            Case((0.0, 0.0, X, Y), (74 / 3, -38 / 3, -8.0), "the errors are -1, -3 and -8"),
            Case((1.0, 0.0, floats(1, 2, shape=(2, 1)), floats(1, 2, shape=(2, 1))), (0.0, 0.0, 0.0), "at the bottom"),
            _refused(floats(1, 2, 3), floats(1, 2, 3, shape=(3, 1))),
            _refused(floats(1, 2), floats(1)),
        ),
        reference=_loss_and_gradients,
        fresh=ch08_fresh.lines,
        hidden="fresh lines and points against central differences, shapes that differ",
        mistakes=(
            Mistake(
                _with(lambda along_w, along_b, n: (along_w / 2, along_b / 2)),
                "The factor 2 of the square is missing in the gradients.",
            ),
            Mistake(
                _with(lambda along_w, along_b, n: (along_w * n, along_b * n)),
                "The loss is a mean and the gradients are sums: the gradient of a mean is a mean too.",
            ),
            Mistake(_sums, "These are sums over the points; the loss is their mean."),
            Mistake(
                _with(lambda along_w, along_b, n: (-along_w, -along_b)),
                "The signs are wrong: the error is the line minus y, and a gradient points uphill.",
            ),
            Mistake(
                _with(lambda along_w, along_b, n: (along_b, along_b)),
                "The slope along w is missing its x: when w grows by 1, the line grows by x at each point.",
            ),
            Mistake(
                _with(lambda along_w, along_b, n: (along_b, along_w)),
                "The two gradients have changed places: first that of w, then that of b.",
            ),
        ),
        hint="With error = w * x + b - y: the loss is the mean of error ** 2; its slopes are means of 2 * error * ...",
        read=LINE,
        same=close,
    )
)


# 2. step_and_clear ----------------------------------------------------------------------------------------------------


def _like(array: Array, values) -> Array:
    return Array(array.dtype, array.shape, tuple(values))


def _moved(w: Array, grad: Array, by: float) -> Array:
    return _like(w, (p + by * g for p, g in zip(w.values, grad.values, strict=True)))


def _kept(array: Array) -> Array:
    return _like(array, array.values)


def _cleared(array: Array) -> Array:
    return _like(array, (0.0,) * len(array.values))


step_and_clear = Check(
    Task(
        name="step_and_clear",
        parameters=("w", "grad", "lr"),
        visible=(
            Case(
                (written(floats(1, 2)), written(floats(10, -10)), 0.1),
                (None, floats(0, 3), floats(0, 0)),
                "w is 0.1 * grad lower, in its own memory",
            ),
            Case((written(floats(5)), written(floats(0.5)), 2.0), (None, floats(4), floats(0))),
            Case((written(floats(1, 2, 3)), written(floats(0, 0, 0)), 0.1), (None, floats(1, 2, 3), floats(0, 0, 0))),
        ),
        reference=lambda w, grad, lr: (None, _moved(w, grad, -lr), _cleared(grad)),
        fresh=ch08_fresh.steps,
        hidden="fresh numbers, written into the arrays that were given",
        mistakes=(
            Mistake(
                lambda w, grad, lr: (None, _kept(w), _cleared(grad)),
                "w is as it was. `w = w - ...` makes a new array and gives it the name w inside the function; whoever "
                "called holds the old one. Write into it: `w -= ...`, and before the gradient is cleared.",
            ),
            Mistake(
                lambda w, grad, lr: (None, _kept(w), _kept(grad)),
                "Nothing was written into either array: `w = ...` gives a name to a new array, `w -= ...` and "
                "`w[...] = ...` write.",
            ),
            Mistake(
                lambda w, grad, lr: (None, _moved(w, grad, -lr), _kept(grad)),
                "The gradient was not cleared: the next backward pass would add to it. `grad[...] = 0` writes zeros; "
                "`grad = 0` only gives the name to something else.",
            ),
            Mistake(lambda w, grad, lr: (None, _moved(w, grad, lr), _cleared(grad)), "The step goes uphill: minus."),
            Mistake(
                lambda w, grad, lr: (_moved(w, grad, -lr), _kept(w), _cleared(grad)),
                "A new array came back, and w is as it was. A parameter has to stay the object it is.",
            ),
            Mistake(
                lambda w, grad, lr: (_moved(w, grad, -lr), _moved(w, grad, -lr), _cleared(grad)),
                "Both arrays are right. A function that writes into its argument returns nothing here, so that nobody "
                "takes it for one that makes a new array.",
            ),
        ),
        hint="`w -= lr * grad` writes into w, `grad[...] = 0` into grad; there is no return.",
        read=STEP,
    )
)


# 5. momentum_step -----------------------------------------------------------------------------------------------------


def _momentum(velocity_of, lr_inside: bool = False, uses_old: bool = False):
    """A step along a velocity that this function of (velocity, gradient, lr, momentum) makes."""

    def step(w: Array, grad: Array, velocity: Array, lr: float, momentum: float) -> tuple:
        pairs = zip(velocity.values, grad.values, strict=True)
        new = _like(velocity, (velocity_of(v, g, lr, momentum) for v, g in pairs))
        along = velocity if uses_old else new
        return None, _moved(w, along, -1.0 if lr_inside else -lr), new

    return step


_right_momentum = _momentum(lambda v, g, lr, m: m * v + g)
START = (written(floats(1, 1)), floats(2, -4), written(floats(0, 0)), 0.1, 0.9)
MOVING = (written(floats(1, 1)), floats(2, -4), written(floats(10, 10)), 0.1, 0.5)

momentum_step = Check(
    Task(
        name="momentum_step",
        parameters=("w", "grad", "velocity", "lr", "momentum"),
        visible=(
            Case(MOVING, (None, floats(0.3, 0.9), floats(7, 1)), "half of the old velocity is left, plus the gradient"),
            Case(START, (None, floats(0.8, 1.4), floats(2, -4)), "at rest: a plain step"),
            Case((written(floats(0)), floats(0), written(floats(1)), 0.5, 0.9), (None, floats(-0.45), floats(0.9))),
        ),
        reference=_right_momentum,
        fresh=ch08_fresh.momenta,
        hidden="fresh numbers, written into the arrays that were given",
        mistakes=(
            Mistake(
                _momentum(lambda v, g, lr, m: m * v + g, uses_old=True),
                "w moved along the old velocity. First the velocity takes up the gradient, then w moves along it.",
            ),
            Mistake(
                _momentum(lambda v, g, lr, m: m * v + lr * g, lr_inside=True),
                "The learning rate went into the velocity. In PyTorch's rule it scales the step: w -= lr * velocity.",
            ),
            Mistake(
                _momentum(lambda v, g, lr, m: m * v + (1 - m) * g),
                "That is a running mean. PyTorch's momentum adds the whole gradient: momentum * velocity + grad.",
            ),
            Mistake(
                _momentum(lambda v, g, lr, m: v + g),
                "The velocity was not slowed down: only momentum times the old velocity is left.",
            ),
            Mistake(
                lambda w, grad, velocity, lr, momentum: (
                    *_right_momentum(w, grad, velocity, lr, momentum)[:2],
                    _kept(velocity),
                ),
                "The velocity is as it was, so the next step knows nothing of this one: write into it "
                "(`velocity *= ...`, `velocity += ...`).",
            ),
            Mistake(
                lambda w, grad, velocity, lr, momentum: (
                    None,
                    _kept(w),
                    _right_momentum(w, grad, velocity, lr, momentum)[2],
                ),
                "w is as it was: write into it (`w -= ...`).",
            ),
            Mistake(
                lambda w, grad, velocity, lr, momentum: (None, _moved(w, grad, -lr), _kept(velocity)),
                "w took a plain step. With momentum it moves along the velocity.",
            ),
        ),
        hint="velocity becomes momentum * velocity + grad, then w becomes w - lr * velocity; both in place.",
        read=LOOP,
    )
)
