"""What to say to a learner who wrote a value into a "Your turn" cell."""

import autogradlab as torch


def check_answer(given, expected, *, shares_with=None) -> str:
    """One line: not done (None), right, or what is wrong.  Lists and numbers count as tensors.

    shares_with: a tensor whose memory the answer must read, where "without a copy" is part of the task.
    """
    if given is None:
        return "Not done yet."
    expected = torch.as_tensor(expected).detach()
    try:
        tensor = given.detach() if isinstance(given, torch.Tensor) else torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        return f"Not yet: a tensor is asked for, and this is of type {type(given).__name__}."
    if tensor.shape != expected.shape:
        return f"Not yet: the shape should be {tuple(expected.shape)}; it is {tuple(tensor.shape)}."
    if not torch.allclose(tensor.to(torch.float64), expected.to(torch.float64), rtol=1e-4, atol=1e-6):
        if tensor.dim() == 0:
            return f"Not yet: {tensor.item():g} is not the number."
        return f"Not yet: the shape {tuple(tensor.shape)} is right, the values are not."
    if shares_with is not None and tensor.data_ptr() != shares_with.data_ptr():
        return "Not yet: the values are right, but they were copied on the way."
    return "Right."
