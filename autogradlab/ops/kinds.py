"""What operators of one kind have in common, as flags for their blocks."""

from autogradlab import dtypes

pointwise = {"pointwise": True, "in_place": True}
binary = {**pointwise, "autocast": "promote"}
function = {**pointwise, "floats": True, "autocast": "fp32"}  # integers become floats first


def not_bool(dtype) -> bool:
    """Arithmetic that bools do not have."""
    return dtype is not dtypes.bool_


def floating(dtype) -> bool:
    """What integers and bools do not have."""
    return dtype.is_floating_point
