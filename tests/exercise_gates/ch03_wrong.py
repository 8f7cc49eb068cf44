"""Typical wrong solutions of exercise 03: WRONG lists each with its task and the words its check must answer with."""


def column_major(shape):
    strides, step = [], 1
    for size in shape:
        strides.append(step)
        step *= size
    return tuple(strides)


def a_list(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def in_bytes(shape):
    strides, step = [], 8
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def zero_size_kept(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def never_reversed(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)


def keeps_its_list(shape, strides=[]):  # noqa: B006
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def no_offset(index, shape, stride, offset):
    cell = 0
    for i, size, step in zip(index, shape, stride, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
        cell += (i % size) * step
    return cell


def negative_as_it_stands(index, shape, stride, offset):
    for i, size in zip(index, shape, strict=True):
        if not -size <= i < size:
            raise IndexError(i)
    return offset + sum(i * step for i, step in zip(index, stride, strict=True))


def no_bounds(index, shape, stride, offset):
    return offset + sum(i % size * step for i, size, step in zip(index, shape, stride, strict=True))


def as_if_contiguous(index, shape, stride, offset):
    cell = 0
    for i, size in zip(index, shape, strict=True):
        cell = cell * size + i % size
    return offset + cell


def all_strides_compared(shape, stride):
    return 0 in shape or stride == zero_size_kept(shape)


def forgets_empty(shape, stride):
    step = 1
    for size, s in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and s != step:
            return False
        step *= max(size, 1)
    return True


def only_falling(shape, stride):
    return all(a >= b for a, b in zip(stride, stride[1:], strict=False))


def returns_nothing(shape, stride):
    step = 1
    for size, s in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and s != step:
            return False
        step *= size


def strides_of_a_copy(shape, stride, dims):
    new_shape = tuple(shape[d] for d in dims)
    return new_shape, zero_size_kept(new_shape)


def strides_left(shape, stride, dims):
    return tuple(shape[d] for d in dims), stride


def backwards(shape, stride, dims):
    dims = [d % len(shape) for d in dims]
    sizes, steps = [0] * len(dims), [0] * len(dims)
    for k, d in enumerate(dims):
        sizes[d], steps[d] = shape[k], stride[k]
    return tuple(sizes), tuple(steps)


def repeats_allowed(shape, stride, dims):
    return tuple(shape[d] for d in dims), tuple(stride[d] for d in dims)


def keeps_the_stride(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    return tuple(new_shape), (0,) * added + stride


def expands_to_a_copy(shape, stride, new_shape):
    return tuple(new_shape), zero_size_kept(new_shape)


def minus_one_kept(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    steps = [0] * added
    for size, step, wanted in zip(shape, stride, new_shape[added:], strict=True):
        steps.append(step if wanted in (-1, size) else 0)
    return tuple(new_shape), tuple(steps)


def grows_anything(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    sizes, steps = list(new_shape), [0] * added
    for d, (size, step) in enumerate(zip(shape, stride, strict=True)):
        wanted = new_shape[added + d]
        sizes[added + d] = size if wanted == -1 else wanted
        steps.append(step if wanted in (-1, size) else 0)
    return tuple(sizes), tuple(steps)


def changes_the_list(new_shape, numel):
    known = 1
    for size in new_shape:
        known *= size if size != -1 else 1
    for d, size in enumerate(new_shape):
        if size == -1:
            new_shape[d] = numel // known
    return tuple(new_shape)


def never_multiplies(new_shape, numel):
    known = 1
    for size in new_shape:
        known *= size if size != -1 else 1
    return tuple(numel // known if size == -1 else size for size in new_shape)


def divides_by_zero(new_shape, numel):
    known = 1
    for size in new_shape:
        known *= size if size != -1 else 1
    if list(new_shape).count(-1) > 1 or numel % known or (-1 not in new_shape and known != numel):
        raise RuntimeError(new_shape)
    return tuple(numel // known if size == -1 else size for size in new_shape)


def floats(new_shape, numel):
    known = 1
    for size in new_shape:
        known *= size if size != -1 else 1
    return tuple(numel / known if size == -1 else size for size in new_shape)


def only_contiguous(shape, stride, new_shape):
    return zero_size_kept(new_shape) if forgets_empty(shape, stride) else None


def always_a_view(shape, stride, new_shape):
    return zero_size_kept(new_shape)


def scaled_by_the_last(shape, stride, new_shape):
    return tuple(stride[-1] * step for step in zero_size_kept(new_shape))


def merges_in_place(shape, stride):
    batch, heads, seq, head_dim = shape
    return (batch, seq, heads * head_dim), (seq * heads * head_dim, heads * head_dim, 1)


def never_moves_the_heads(shape, stride):
    batch, heads, seq, head_dim = shape
    if stride == zero_size_kept(shape):
        return (batch, seq, heads * head_dim), zero_size_kept((batch, seq, heads * head_dim))
    return None


def minus_one_grows(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    shape, stride = (1,) * added + shape, (0,) * added + stride
    return new_shape, tuple(s if n == m else 0 for n, m, s in zip(shape, new_shape, stride, strict=True))


def negative_sizes(new_shape, numel):
    known = 1
    for size in new_shape:
        known *= size if size != -1 else 1
    if new_shape.count(-1) > 1 or known == 0 and -1 in new_shape or (-1 in new_shape and numel % known):
        raise RuntimeError("does not fit")
    if -1 not in new_shape and known != numel:
        raise RuntimeError("does not fit")
    return tuple(numel // known if size == -1 else size for size in new_shape)


def drops_ones(shape, stride, new_shape):
    return tuple(step for size, step in zip(shape, stride, strict=True) if size != 1)


def none_in_a_pair(shape, stride):
    batch, heads, seq, dim = shape
    found = stride[0], stride[2], stride[3]
    return (batch, seq, heads * dim), found if stride[1] == dim * stride[3] or heads == 1 else None


WRONG = (
    ("contiguous_strides", column_major, "This is column-major"),
    ("contiguous_strides", a_list, "a list came back where a tuple is expected"),
    ("contiguous_strides", in_bytes, "These are bytes of float64"),
    ("contiguous_strides", zero_size_kept, "A size of 0 made the strides before it 0"),
    ("contiguous_strides", never_reversed, "put them back in the order of the shape"),
    ("contiguous_strides", keeps_its_list, "a default argument, keeps a value"),
    ("storage_index", no_offset, "The storage offset is missing"),
    ("storage_index", negative_as_it_stands, "A negative index counts from the end"),
    ("storage_index", no_bounds, "This must raise IndexError"),
    ("storage_index", as_if_contiguous, "This is the cell in a contiguous tensor"),
    ("is_contiguous", all_strides_compared, "The stride of a dimension of size 1 counts here"),
    ("is_contiguous", forgets_empty, "A tensor without elements is contiguous"),
    ("is_contiguous", only_falling, "Falling strides that end in 1 are not enough"),
    ("is_contiguous", returns_nothing, "The function ends without a `return`"),
    ("permute", strides_of_a_copy, "A permutation copies nothing"),
    ("permute", strides_left, "the strides were not"),
    ("permute", backwards, "This is the opposite permutation"),
    ("permute", repeats_allowed, "This must raise RuntimeError"),
    ("expand", keeps_the_stride, "A dimension that grew from 1 kept its stride"),
    ("expand", expands_to_a_copy, "Expanding copies nothing"),
    ("expand", minus_one_kept, "A -1 stayed in the shape"),
    ("expand", grows_anything, "A size that is not 1 was changed"),
    ("infer_shape", changes_the_list, "The function changed its argument new_shape"),
    ("infer_shape", never_multiplies, "`//` drops the remainder"),
    ("infer_shape", divides_by_zero, "The known sizes multiply to 0"),
    ("infer_shape", floats, "float where int is expected"),
    ("view_stride", only_contiguous, "This asks whether the tensor is contiguous"),
    ("view_stride", always_a_view, "The old strides decide whether there is a view"),
    ("view_stride", scaled_by_the_last, "All strides were built from the last one"),
    ("merge_heads", merges_in_place, "where there is no view then, return None"),
    ("merge_heads", never_moves_the_heads, "None came back. merge_heads stands on your permute"),
    ("expand", minus_one_grows, "A -1 was taken for a size that grows"),
    ("infer_shape", negative_sizes, "Two other negative numbers can multiply to the right one"),
    ("view_stride", drops_ones, "1 strides are needed, one for each size of new_shape"),
    ("merge_heads", none_in_a_pair, "Where there is no view, return None alone"),
)
