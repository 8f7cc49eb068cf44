"""Convolutions, pooling and padding as modules."""

import math

from autogradlab.late import functions as torch

from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def spread(value, n: int) -> tuple:
    """One number for all dimensions, or one for each."""
    return (value,) * n if isinstance(value, int) else tuple(value)


class _Conv(Module):
    """What convolutions share.  weight: (out, in / groups, *kernel), uniform within 1 / sqrt(fan in)."""

    dims, transposed = 2, False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels, self.groups, n = in_channels, out_channels, groups, self.dims
        self.kernel_size, self.stride, self.dilation = spread(kernel_size, n), spread(stride, n), spread(dilation, n)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got "
                f"padding_mode='{padding_mode}'"
            )
        self.padding = padding if isinstance(padding, str) else spread(padding, n)
        self.padding_mode, self.output_padding = padding_mode, (0,) * n
        ends = (out_channels, in_channels // groups)
        if self.transposed:
            ends = (in_channels, out_channels // groups)
        self.weight = Parameter(torch["empty"](*ends, *self.kernel_size, device=device, dtype=dtype))
        made = Parameter(torch["empty"](out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        function, padding = getattr(F, f"conv{self.dims}d"), self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._both_ends(), mode=self.padding_mode), 0
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _both_ends(self) -> list:
        """The padding as F.pad wants it."""
        ends = []
        for d in reversed(range(self.dims)):
            whole = self.dilation[d] * (self.kernel_size[d] - 1) if self.padding == "same" else 0
            before = whole // 2 if isinstance(self.padding, str) else self.padding[d]
            ends += [before, whole - before if isinstance(self.padding, str) else before]
        return ends

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        usual = {"padding": 0, "dilation": 1, "output_padding": 0}
        for name, number in usual.items():
            if getattr(self, name) != (number,) * len(getattr(self, name)):
                text += f", {name}={getattr(self, name)}"
        text += f", groups={self.groups}" if self.groups != 1 else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class Conv1d(_Conv):
    """A convolution over (N, C, L) or (C, L)."""

    dims = 1


class Conv2d(_Conv):
    """A convolution over (N, C, H, W) or (C, H, W)."""


class Conv3d(_Conv):
    """A convolution over (N, C, D, H, W) or (C, D, H, W)."""

    dims = 3


class _ConvTranspose(_Conv):
    """What transposed convolutions share.  weight: (in, out / groups, *kernel)."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups: int = 1,
        bias: bool = True,
        dilation=1,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )
        self.output_padding = spread(output_padding, self.dims)

    def forward(self, input, output_size=None):
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        function = getattr(F, f"conv_transpose{self.dims}d")
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input, output_size) -> list:
        """The output padding that gives the wanted size."""
        wanted = list(output_size)[-self.dims :]
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[-self.dims :], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        if any(not low <= w < low + s for w, low, s in zip(wanted, least, self.stride, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{[low + s - 1 for low, s in zip(least, self.stride, strict=True)]} (for an input of "
                f"{list(input.shape[-self.dims :])})"
            )
        return [w - low for w, low in zip(wanted, least, strict=True)]


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution over (N, C, L) or (C, L)."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution over (N, C, H, W) or (C, H, W)."""


# Pooling --------------------------------------------------------------------------------------------------------------


class _MaxPool(Module):
    """What maximum pooling shares."""

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices: bool = False, ceil_mode: bool = False
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class MaxPool1d(_MaxPool):
    """The largest of every stretch."""

    function = F.max_pool1d


class MaxPool2d(_MaxPool):
    """The largest of every patch."""

    function = F.max_pool2d


class AvgPool1d(Module):
    """The mean of every stretch."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True):
        super().__init__()
        self.kernel_size = spread(kernel_size, 1)
        self.stride = spread(kernel_size if stride is None else stride, 1)
        self.padding, self.ceil_mode, self.count_include_pad = spread(padding, 1), ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """The mean of every patch."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return F.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip

    extra_repr = AvgPool1d.extra_repr


class AdaptiveAvgPool1d(Module):
    """The mean of as many stretches as output_size says."""

    function = F.adaptive_avg_pool1d

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(AdaptiveAvgPool1d):
    """The mean of as many patches as output_size says."""

    function = F.adaptive_avg_pool2d


# Patches and padding --------------------------------------------------------------------------------------------------


class Unfold(Module):
    """All patches of images as columns."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class Fold(Unfold):
    """The sum of patches in columns, as images."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"


class _Pad(Module):
    """Cells at the ends of the last dimensions, by the mode of the class."""

    dims, mode = 2, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = spread(padding, 2 * self.dims)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


def _pads(name: str, base, mode: str = "constant"):
    says = f"Cells at the ends of the last dimensions: {name}."
    for n in (1, 2):
        fields = {"dims": n, "mode": mode, "__doc__": says, "__module__": __name__}
        yield type(f"{name}{n}d", (base,), fields)


ZeroPad1d, ZeroPad2d = _pads("ZeroPad", _Pad)
ConstantPad1d, ConstantPad2d = _pads("ConstantPad", _ConstantPad)
ReflectionPad1d, ReflectionPad2d = _pads("ReflectionPad", _Pad, "reflect")
ReplicationPad1d, ReplicationPad2d = _pads("ReplicationPad", _Pad, "replicate")
CircularPad1d, CircularPad2d = _pads("CircularPad", _Pad, "circular")
