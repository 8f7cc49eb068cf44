"""A kernel of one's own in a Function: softsign, x / (1 + |x|), on a GPU by CuPy and on the CPU by NumPy.  (D2 5.3)

python examples/custom_kernel.py            the derivative is 1 / (1 + |x|)**2
"""

import functools

import autogradlab as torch


@functools.cache
def kernels(kind: str):
    """(forward, backward) over raw arrays: two generated CUDA kernels, or the same in NumPy's words."""
    if kind == "cuda":
        import cupy

        return (
            cupy.ElementwiseKernel("T x", "T y", "y = x / (1 + abs(x))", "softsign"),
            cupy.ElementwiseKernel("T g, T x", "T d", "T s = 1 + abs(x); d = g / (s * s)", "softsign_backward"),
        )
    return lambda x: x / (1 + abs(x)), lambda g, x: g / (1 + abs(x)) ** 2


def run(which: int, *tensors):
    """Run a kernel on the tensors' memory; nothing is copied on the way there and back."""
    if tensors[0].device.type == "cuda":
        import cupy

        arrays = [cupy.from_dlpack(t.detach()) for t in tensors]
    else:
        arrays = [t.detach().numpy() for t in tensors]
    return torch.from_dlpack(kernels(tensors[0].device.type)[which](*arrays))


class Softsign(torch.autograd.Function):
    """Forward and backward of the same pair, whichever device the tensor is on."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return run(0, x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return run(1, grad, x)


def main() -> None:
    x = torch.linspace(-2, 2, 5, dtype=torch.float64, requires_grad=True)
    print("gradcheck:", torch.autograd.gradcheck(Softsign.apply, x))
    for device in ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]:
        leaf = x.detach().to(device).requires_grad_()
        y = Softsign.apply(leaf)
        y.sum().backward()
        print(f"on {device}: {[round(v, 4) for v in y.tolist()]}, slopes {[round(v, 4) for v in leaf.grad.tolist()]}")
    if not torch.cuda.is_available():
        print("no GPU here: the CUDA kernels were not run")


if __name__ == "__main__":
    main()
