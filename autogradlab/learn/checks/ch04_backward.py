"""Tasks 5 to 8 of chapter 04's exercise: what a gradient is summed over, and a shape that should have been refused."""

from . import ch04_fresh, enumerated
from . import enumerated_broadcasting as broadcasting
from .arrays import Array
from .task import Case, Check, Mistake, Raises, Task, identical

Ints = tuple[int, ...]
BACKWARDS = 'chapter 04, "Backwards: what was repeated is summed"'
SILENT = 'chapter 04, "The bug that raises nothing"'


def numbers(*values: float, shape: Ints | None = None, dtype: str = "float64") -> Array:
    """An array of these numbers; a vector unless a shape is given."""
    return Array(dtype, (len(values),) if shape is None else shape, tuple(map(float, values)))


# 5. summed_dims -------------------------------------------------------------------------------------------------------

summed_dims = Check(
    Task(
        name="summed_dims",
        parameters=("shape", "target"),
        visible=(
            Case(((64, 10), (10,)), (0,), "a bias: put in front of it was the batch"),
            Case(((64, 10), (64, 1)), (1,), "a column was repeated along dimension 1"),
            Case(((64, 10), (64, 10)), (), "nothing was repeated"),
            Case(((2, 8, 5, 5), (1, 1, 5, 5)), (0, 1), "the mask of chapter 04"),
            Case(((5, 2, 6), (2, 1)), (0, 2), "dimension 0 was put in front, dimension 2 repeated"),
            Case(((3, 4), ()), (0, 1), "one number met everything"),
            Case(((3, 1), (1, 1)), (0,), "1 met 1 in dimension 1: nothing was repeated there"),
            Case(((1, 3), (3,)), (0,), "put in front, although its size is 1: the target has no such dimension"),
            Case(((0, 3), (1, 3)), (0,), "repeated 0 times: a sum without terms"),
        ),
        reference=broadcasting.summed_dims,
        fresh=ch04_fresh.targets,
        hidden="fresh shapes, sizes of 0 and 1",
        mistakes=(
            Mistake(
                lambda shape, target: tuple(
                    d
                    for d, sizes in enumerate(zip(shape, (1,) * (len(shape) - len(target)) + target, strict=True))
                    if sizes[0] != sizes[1]
                ),
                "A dimension that was put in front is summed also if its size is 1: the target does not have it.",
            ),
            Mistake(
                lambda shape, target: tuple(range(len(shape) - len(target))),
                "Only the dimensions that were put in front are there. A dimension of size 1 that grew is summed too.",
            ),
            Mistake(
                lambda shape, target: tuple(
                    d for d in broadcasting.summed_dims(shape, target) if d >= len(shape) - len(target)
                ),
                "The dimensions that were put in front are missing: the target was repeated along them as well.",
            ),
            Mistake(
                lambda shape, target: tuple(
                    d - len(shape) + len(target)
                    for d in broadcasting.summed_dims(shape, target)
                    if d >= len(shape) - len(target)
                ),
                "The dimensions are counted in the target. They belong to the gradient, which may have more in front.",
            ),
            Mistake(
                lambda shape, target: (
                    *range(len(shape) - len(target)),
                    *(len(shape) - len(target) + d for d, size in enumerate(target) if size == 1),
                ),
                "Where 1 met 1 nothing was repeated, so nothing is summed there.",
            ),
            Mistake(
                lambda shape, target: (
                    *range(len(shape) - len(target)),
                    *(d for d, size in enumerate(target) if size == 1),
                ),
                "The dimensions behind those in front are counted in the target. In the gradient's shape they come "
                "later, by as many as were put in front.",
            ),
            Mistake(
                lambda shape, target: tuple(d for d, size in enumerate(shape) if d >= len(target) or size != target[d]),
                "The shapes are lined up at the left here; line them up at the right.",
            ),
        ),
        hint="First all dimensions in front of the target's; behind them, those where the two sizes differ.",
        read=BACKWARDS,
    )
)


# 6. sum_to_shape ------------------------------------------------------------------------------------------------------


def _first_cells(g: Array, target: Ints) -> Array:
    """The gradient of one of the elements each element was read for."""
    first: dict[Ints, float] = {}
    for index, number in zip(enumerated.indices(g.shape), g.values, strict=True):
        first.setdefault(broadcasting.partner(index, target), number)
    return Array(g.dtype, target, tuple(first.values()))


def _means(g: Array, target: Ints) -> Array:
    sums = broadcasting.sum_to_shape(g, target)
    return Array(g.dtype, target, tuple(number * len(sums.values) / len(g.values) for number in sums.values))


def _kept(g: Array, target: Ints) -> Array:
    """Summed with keepdims, and left so."""
    padded = (1,) * (len(g.shape) - len(target)) + target
    return broadcasting.sum_to_shape(g, padded)


def _only_in_front(g: Array, target: Ints) -> Array:
    return broadcasting.sum_to_shape(g, g.shape[len(g.shape) - len(target) :])


def _squeezed(g: Array, target: Ints) -> Array:
    dims = broadcasting.summed_dims(g.shape, target)
    sums = broadcasting.sum_to_shape(g, target)
    return Array(g.dtype, tuple(size for d, size in enumerate(g.shape) if d not in dims), sums.values)


GRID = numbers(1, 2, 3, 4, 5, 6, shape=(2, 3))

sum_to_shape = Check(
    Task(
        name="sum_to_shape",
        parameters=("g", "target"),
        visible=(
            Case((GRID, (3,)), numbers(5, 7, 9), "the sum over dimension 0, which broadcasting had put in front"),
            Case((GRID, (2, 1)), numbers(6, 15, shape=(2, 1)), "the sum over dimension 1, which stays, with size 1"),
            Case((GRID, ()), numbers(21, shape=()), "the sum over everything"),
            Case((GRID, (2, 3)), GRID, "nothing was repeated"),
            Case((numbers(*range(8), shape=(2, 2, 2)), (2, 1)), numbers(10, 18, shape=(2, 1)), "dimensions 0 and 2"),
            Case((numbers(1, 2, shape=(2, 1), dtype="float32"), (1, 1)), numbers(3, shape=(1, 1), dtype="float32")),
            Case((numbers(shape=(0, 3)), (3,)), numbers(0, 0, 0), "a sum without terms is 0"),
        ),
        reference=broadcasting.sum_to_shape,
        fresh=ch04_fresh.gradients,
        hidden="fresh shapes, float32 and float64, no elements",
        mistakes=(
            Mistake(
                lambda g, target: g,
                "The gradient came back as it was. Broadcasting had repeated numbers to reach its shape; what each "
                "of them received must be added up again.",
            ),
            Mistake(
                _means,
                "These are means. A number that was used n times receives the sum of n gradients, not their mean.",
            ),
            Mistake(_first_cells, "Only one of the gradients that meet in a number was kept. All of them are added."),
            Mistake(
                lambda g, target: broadcasting.sum_to_shape(g, ()),
                "Everything was summed. In NumPy `axis=None` means all dimensions; an empty tuple, `axis=()`, none.",
            ),
            Mistake(_kept, "The numbers are right; dimensions that were put in front must go: reshape to the target."),
            Mistake(_squeezed, "A dimension that was summed but is in the target stays there, with size 1 (keepdims)."),
            Mistake(
                _only_in_front,
                "Only the dimensions in front are summed. A dimension in which the target has size 1 is summed too.",
            ),
        ),
        hint="Sum over summed_dims(g.shape, target) with keepdims=True, then reshape to the target.",
        read=BACKWARDS,
    )
)


# 7. add_and_backward --------------------------------------------------------------------------------------------------


def _unsummed(a: Array, b: Array, g: Array) -> tuple[Array, Array, Array]:
    return broadcasting.add_and_backward(a, b, g)[0], g, g


def _swapped(a: Array, b: Array, g: Array) -> tuple[Array, Array, Array]:
    c, grad_a, grad_b = broadcasting.add_and_backward(a, b, g)
    return c, grad_b, grad_a


ROW, COLUMN = numbers(10, 20, 30), numbers(1, 2, shape=(2, 1))
HALF = numbers(1, 2, dtype="float32")

add_and_backward = Check(
    Task(
        name="add_and_backward",
        parameters=("a", "b", "g"),
        visible=(
            Case(
                (GRID, ROW, numbers(1, 1, 1, 1, 1, 1, shape=(2, 3))),
                (
                    numbers(11, 22, 33, 14, 25, 36, shape=(2, 3)),
                    numbers(1, 1, 1, 1, 1, 1, shape=(2, 3)),
                    numbers(2, 2, 2),
                ),
                "every number of b was used in 2 rows",
            ),
            Case(
                (ROW, COLUMN, GRID),
                (
                    numbers(11, 21, 31, 12, 22, 32, shape=(2, 3)),
                    numbers(5, 7, 9),
                    numbers(6, 15, shape=(2, 1)),
                ),
                "both were repeated, so both gradients are sums",
            ),
            Case(
                (HALF, HALF, numbers(3, 4, dtype="float32")),
                (numbers(2, 4, dtype="float32"), numbers(3, 4, dtype="float32"), numbers(3, 4, dtype="float32")),
                "one shape: both gradients equal g, each in memory of its own",
            ),
            Case(
                (HALF, numbers(5, shape=()), numbers(3, 4)),
                (numbers(6, 7), numbers(3, 4, dtype="float32"), numbers(7, shape=())),
                "a gradient has the dtype of its operand",
            ),
        ),
        reference=broadcasting.add_and_backward,
        fresh=ch04_fresh.additions,
        hidden="fresh shapes and dtypes, memory of its own for each gradient",
        mistakes=(
            Mistake(
                _unsummed,
                "g came back for both. A gradient has the shape of its operand: sum over what was repeated (task 6).",
            ),
            Mistake(_swapped, "The two gradients have changed places: the second result is that of a."),
            Mistake(
                lambda a, b, g: broadcasting.add_and_backward(a, b, g)[1:],
                "Return three things: the sum, the gradient of a, and the gradient of b.",
            ),
            Mistake(
                lambda a, b, g: (
                    broadcasting.add_and_backward(a, b, g)[0],
                    g,
                    broadcasting.sum_to_shape(g, b.shape, b.dtype),
                ),
                "Only b's gradient was summed. Either operand can be the one that was repeated, or both.",
            ),
        ),
        hint="The sum is a + b; what arrives at each operand is sum_to_shape(g, its shape), in its dtype.",
        read=BACKWARDS,
        shared="The numbers are right, but the two gradients, or a gradient and g, are one array. Whoever owns a "
        "gradient may add to it in place, and would change the other too: give each its own memory (.copy()).",
    )
)


# 8. mse_loss ----------------------------------------------------------------------------------------------------------


def _mse_loss(predicted: Array, target: Array) -> float | Raises:
    if predicted.shape == target.shape:
        return broadcasting.mean_square(predicted, target)
    shapes = (str(predicted.shape), str(target.shape))
    return Raises("ValueError", f"shapes {shapes[0]} and {shapes[1]} are not the same", shapes)


def _one_number(args: tuple, expected: float, value: object) -> bool:
    """A Python float or NumPy's own kind of number."""
    if isinstance(value, Array) and value.shape == ():
        value = float(value.values[0])
    return identical(numbers(expected), numbers(value)) if type(value) is float else False


def _refused(predicted: Array, target: Array) -> Case:
    return Case((predicted, target), _mse_loss(predicted, target))


mse_loss = Check(
    Task(
        name="mse_loss",
        parameters=("predicted", "target"),
        visible=(
            Case((numbers(1, 2, 3), numbers(1, 4, 6)), 13 / 3, "(0 + 4 + 9) / 3"),
            Case((numbers(1, 2, shape=(2, 1)), numbers(2, 4, shape=(2, 1))), 2.5, "(1 + 4) / 2"),
            _refused(numbers(1, 2, 3, shape=(3, 1)), numbers(1, 2, 3)),
            _refused(numbers(1, 2, 3), numbers(1, 2, 3, shape=(3, 1))),
            _refused(numbers(1, 2, 3), numbers(2)),
        ),
        reference=_mse_loss,
        fresh=ch04_fresh.losses,
        hidden="fresh numbers, shapes that differ and would broadcast",
        mistakes=(
            Mistake(
                lambda predicted, target: broadcasting.mean_square(predicted, target) * len(predicted.values),
                "This is the sum of the squares; the loss is their mean.",
            ),
            Mistake(
                lambda predicted, target: (
                    sum(abs(x - y) for x, y in zip(predicted.values, target.values, strict=True))
                    / len(predicted.values)
                ),
                "These are distances, not their squares.",
            ),
        ),
        hint="First compare the two shapes and raise; then the mean of (predicted - target) ** 2.",
        raised=(
            (
                "AssertionError",
                "`assert` raises an error of another type, and is passed over under `python -O`: write "
                "`if ...: raise ValueError(...)`.",
            ),
        ),
        read=SILENT,
        same=_one_number,
    )
)
