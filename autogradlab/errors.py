"""Error texts: PyTorch's exception types and terms, in our own words.

Each function builds one exception; the caller raises it.  A text says what happened, to which tensor, and what to do.
"""


def describe(tensor) -> str:
    """A tensor in a few words: "float32 tensor of shape (2, 3) on cpu"."""
    return f"{tensor.dtype.name} tensor of shape {tuple(tensor.shape)} on {tensor.device}"


# Shapes ---------------------------------------------------------------------------------------------------------------


def cannot_broadcast(shapes, dim: int, sizes) -> RuntimeError:
    return RuntimeError(
        f"The shapes {' and '.join(str(tuple(s)) for s in shapes)} cannot be broadcast together: aligned from the "
        f"right, "
        f"the size of tensor a ({sizes[0]}) must match the size of tensor b ({sizes[1]}) at dimension {dim} "
        "(or one of them must be 1). Check the shapes, or add a dimension of size 1 with unsqueeze()."
    )


def view_impossible(shape, stride, new_shape, pair) -> RuntimeError:
    reason = ""
    if pair is not None:
        d, inner = pair
        reason = (
            f": dimensions {d} and {d + 1} do not lie one inside the other (stride[{d}] is {stride[d]}, not "
            f"{shape[d + 1]} * {stride[d + 1]} = {inner})"
        )
    return RuntimeError(
        f"view: shape {tuple(shape)} with stride {tuple(stride)} cannot be seen as {tuple(new_shape)} without moving "
        f"data{reason}. Use .reshape({', '.join(map(str, new_shape))}), which copies, or .contiguous() first."
    )


def wrong_number_of_elements(shape, numel: int) -> RuntimeError:
    return RuntimeError(
        f"shape {list(shape)} is invalid for input of size {numel}: the sizes must multiply to {numel} "
        "(one of them may be -1, to be worked out)."
    )


def two_sizes_inferred(shape) -> RuntimeError:
    return RuntimeError(f"only one dimension can be inferred: the shape {list(shape)} has more than one -1.")


def negative_size(shape) -> RuntimeError:
    return RuntimeError(f"a shape cannot have a negative dimension: got {list(shape)}.")


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return IndexError(
        f"Dimension out of range: got {dim}, expected a value from {low} to {high} for a {ndim}-dimensional tensor."
    )


def cannot_expand(shape, sizes, dim: int) -> RuntimeError:
    if dim < 0:
        return RuntimeError(
            f"expand: {tuple(sizes)} has fewer dimensions ({len(sizes)}) than the tensor of shape {tuple(shape)} "
            f"({len(shape)}). Give a size (or -1) for every dimension."
        )
    return RuntimeError(
        f"expand: the expanded size of the tensor ({sizes[dim]}) must match the existing size at dimension {dim}: a "
        f"tensor of "
        f"shape {tuple(shape)} cannot be expanded to {tuple(sizes)}. Only dimensions of size 1 are repeated; "
        "use repeat() to copy others."
    )


def bad_permutation(dims, ndim: int) -> RuntimeError:
    return RuntimeError(
        f"permute: the dims {tuple(dims)} must name each dimension of the tensor ({ndim} of them) exactly once."
    )


def outside_storage(shape, stride, offset: int, cells: int) -> RuntimeError:
    return RuntimeError(
        f"shape {tuple(shape)} with stride {tuple(stride)} from offset {offset} reaches out of bounds of the storage, "
        f"which has "
        f"{cells} elements."
    )


# Indexing -------------------------------------------------------------------------------------------------------------


def index_out_of_range(index: int, dim: int, size: int) -> IndexError:
    return IndexError(
        f"index {index} is out of bounds for dimension {dim} with size {size}: use {-size} to {size - 1}."
        if size
        else f"index {index} is out of bounds for dimension {dim} with size 0: the dimension is empty."
    )


def too_many_indices(ndim: int, given: int) -> IndexError:
    return IndexError(f"too many indices for tensor of dimension {ndim}: {given} were given.")


def negative_step(step: int) -> ValueError:
    return ValueError(
        f"step must be greater than zero: got a slice with step {step}. A negative step would need a negative stride, "
        f"which "
        "tensors do not have; use flip(), which copies."
    )


def mask_mismatch(mask_shape, shape, dim: int) -> IndexError:
    return IndexError(
        f"The shape of the mask {list(mask_shape)} does not match the shape of the indexed tensor {list(shape)} "
        f"at dimension {dim}: a boolean index must have the size of the dimensions it selects from."
    )


def bad_index(what: str) -> IndexError:
    return IndexError(
        f"a tensor is indexed by integers, slices, None, ..., lists and long, int, uint8 or bool tensors: got {what}."
    )


# Types and devices ----------------------------------------------------------------------------------------------------


def device_mismatch(name: str, tensors) -> RuntimeError:
    devices = sorted({str(t.device) for t in tensors})
    return RuntimeError(
        f"{name}: Expected all tensors to be on the same device, but found at least two devices, "
        f"{' and '.join(devices)} "
        f"({'; '.join(describe(t) for t in tensors)}). Move one of them with .to(device)."
    )


_REFUSED = {  # by name: not NotImplementedError, but what PyTorch raises
    "neg": (RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported: to invert a mask use `~`."),
    "relu": (RuntimeError, "Boolean inputs not supported for relu: convert them with .float() first."),
    "topk": (RuntimeError, "topk does not support bool dtypes: convert them with .int() first."),
}


def not_implemented(name: str, dtype) -> Exception:
    if name in _REFUSED and not dtype.name.startswith("float8"):
        kind, text = _REFUSED[name]
        return kind(text)
    return NotImplementedError(
        f'"{name}" not implemented for {dtype.legacy_name!r}: {dtype.name} tensors '
        + (
            "are for storage only; cast to float32 or bfloat16 first."
            if dtype.name.startswith("float8")
            else "do not support it."
        )
    )


def cannot_cast(name: str, given, wanted) -> RuntimeError:
    return RuntimeError(
        f"{name}: result type {given.legacy_name} can't be cast to the desired output type {wanted.legacy_name}: "
        f"{given.name} results would lose what makes them {given.name} in a tensor of {wanted.name}. Use the "
        "out-of-place form, or convert the tensor first."
    )


def wrong_dtype(name: str, needed: str, given) -> RuntimeError:
    return RuntimeError(f"{name}: expected {needed} but got dtype {given.legacy_name} ({given}).")


def mean_of_integers(given) -> RuntimeError:
    return RuntimeError(
        f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
        f"{given.legacy_name}. Convert first: x.float().mean()."
    )


# Autograd -------------------------------------------------------------------------------------------------------------


GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed: backward() leaves it None. Call "
    "retain_grad() on this tensor before backward(), or look at the leaf it was computed from."
)


def only_floats_require_grad(dtype) -> RuntimeError:
    return RuntimeError(
        f"only Tensors of floating point dtype can require gradients: this one is {dtype.name}. "
        "Make it with floats (2.0 rather than 2) or convert it with .float() first."
    )


def requires_grad_of_non_leaf() -> RuntimeError:
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables: this tensor is the result of an operation. To use "
        "it without "
        "gradients, call detach()."
    )


def nothing_to_differentiate(index: int) -> RuntimeError:
    return RuntimeError(
        f"element {index} of tensors does not require grad and does not have a grad_fn: nothing it was computed from "
        f"requires "
        "gradients, or it was cut off by detach() or no_grad(). Set requires_grad=True on what you want gradients for."
    )


def not_a_scalar(shape) -> RuntimeError:
    return RuntimeError(
        f"grad can be implicitly created only for scalar outputs: this output has shape {tuple(shape)}. Reduce it "
        "(.sum(), .mean()) or pass gradient=, a tensor of that shape."
    )


def gradient_shape(index: int, given, expected) -> RuntimeError:
    return RuntimeError(
        f"Mismatch in shape: grad_output[{index}] has a shape of {tuple(given)} and output[{index}] has a shape of "
        f"{tuple(expected)}. The gradient passed to backward must have the output's shape."
    )


def invalid_gradient(name: str, index: int, what: str) -> RuntimeError:
    return RuntimeError(f"Function {name} returned an invalid gradient at index {index}: {what}.")


def backward_twice(name: str) -> RuntimeError:
    return RuntimeError(
        f"Trying to backward through the graph a second time: {name} needs the tensors it saved, and they have "
        f"already been "
        "freed. Saved tensors are freed by backward() or autograd.grad(); pass retain_graph=True to the first call, "
        "or compute the output again. State carried over from an earlier step needs a detach()."
    )


def saved_freed(name: str, field: str) -> RuntimeError:
    return RuntimeError(
        f"{name}.{field} was read after the saved tensors have been freed: backward() frees them. Pass "
        f"retain_graph=True to keep "
        "them."
    )


def modified_in_place(tensor, consumer: str, produced_by: str | None, found: int, expected: int) -> RuntimeError:
    which = f"output of {produced_by}, " if produced_by else ""
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{describe(tensor)}, "
        f"{which}saved by {consumer}, is at version {found}; expected version {expected} instead. Use an out-of-place "
        f"form "
        "(y = y + 1 for y += 1), or clone() before writing."
    )


def write_to_leaf() -> RuntimeError:
    return RuntimeError(
        "a leaf Variable that requires grad is being used in an in-place operation: the graph would lose the value "
        "that gradients "
        "are wanted for. Write under torch.no_grad() (as optimizers do), or use the out-of-place form."
    )


def write_to_view_of_leaf() -> RuntimeError:
    return RuntimeError(
        "a view of a leaf Variable that requires grad is being used in an in-place operation: writing through the "
        "view changes the "
        "leaf. Write under torch.no_grad(), or clone() the leaf first."
    )


def write_to_view(origin: str, maker: str) -> RuntimeError:
    reason = {
        "multi_output": f"{maker} returns several views at once, and autograd cannot follow a write through one of "
        f"them. "
        "Use an out-of-place operation, or select the part with indexing or narrow()",
        "function": f"it was made inside the custom Function {maker} (or is an input handed through), which decided on "
        "its gradient. Let the Function return a clone()",
        "no_grad": "the view was made under no_grad() while gradients are now on, so it is not clear whether the "
        "write should be "
        "recorded. Make the view outside no_grad(), or write inside it",
        "inference": "the view was made in inference mode from a normal tensor, and its write cannot be recorded. "
        "Make the view "
        "outside inference_mode()",
    }[origin]
    return RuntimeError(f"a view is being modified in-place, which is forbidden here: {reason}.")


def write_to_inference() -> RuntimeError:
    return RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed: it keeps no version counter. Make a "
        "normal tensor "
        "with clone() and write to that."
    )


def save_inference() -> RuntimeError:
    return RuntimeError(
        "Inference tensors cannot be saved for backward: this operation needs the value later, and a tensor made in "
        "inference mode "
        "keeps no version counter. Use a clone() of it, or no_grad() instead of inference_mode()."
    )


def not_resized(name: str, shape, own) -> RuntimeError:
    return RuntimeError(
        f"{name}_: the result has shape {tuple(shape)}, the tensor written to has shape {tuple(own)}: it cannot be "
        "resized by an in-place operation."
    )


def overlapping_write() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location (it "
        "was "
        "expanded). Please clone() the tensor before performing the operation."
    )


def overlapping_operand() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location, so they would change while they are read. Please clone() the tensor before performing the operation."
    )


def ambiguous_truth(shape) -> RuntimeError:
    return RuntimeError(
        f"Boolean value of Tensor with more than one value is ambiguous: its shape is {tuple(shape)}. Say which you "
        f"mean: "
        ".any(), .all(), or compare shapes."
        if 0 not in shape
        else f"Boolean value of Tensor with no values is ambiguous: its shape is {tuple(shape)}."
    )


def not_one_element(shape) -> RuntimeError:
    return RuntimeError(
        f"a Tensor with shape {tuple(shape)} cannot be converted to Scalar: only one element tensors can be. Use "
        f"tolist() "
        "for all values, or index one element."
    )


def numpy_needs_detach() -> RuntimeError:
    return RuntimeError(
        "Can't call numpy() on Tensor that requires grad: NumPy would not record what happens to it. Use "
        "tensor.detach().numpy() "
        "instead."
    )


def numpy_of_device(device) -> TypeError:
    return TypeError(
        f"can't convert {device} device type tensor to numpy: its data are not in the host's memory. Use Tensor.cpu() "
        f"to copy "
        "the tensor to host memory first."
    )
