"""GradScaler: multiply the loss so that small float16 gradients do not vanish, divide again before the step.  (D5 3)

The scale doubles after `growth_interval` good steps and halves after one with inf or nan, which is skipped.
https://pytorch.org/docs/stable/amp.html#gradient-scaling
"""

import enum
import warnings

from autogradlab import cuda, dtypes, late
from autogradlab.modes import no_grad
from autogradlab.tensor import Tensor


class OptState(enum.Enum):
    """Where an optimizer is between two calls of update()."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh_state() -> dict:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses, unscales gradients, skips steps with inf or nan, and adapts the scale.

    device: where the gradients are; "cuda" without CUDA is switched off, with a warning.  init_scale, growth_factor,
    backoff_factor, growth_interval: the scale's start, what it is multiplied by, and after how many good steps in a
    row.  enabled: False makes every method do nothing but step the optimizer.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True):  # fmt: skip
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and not cuda.is_available():
            warnings.warn("GradScaler is enabled, but CUDA is not available. Disabling.", stacklevel=2)
            self._enabled = False
        if self._enabled:
            assert growth_factor > 1.0, f"The growth factor must be > 1.0: got {growth_factor}."
            assert backoff_factor < 1.0, f"The backoff factor must be < 1.0: got {backoff_factor}."
        self._init_scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._scale = None  # a tensor, made on the device of the first loss
        self._states = {}  # id of an optimizer -> its state

    # The three steps of a training step ------------------------------------------------------------------------------

    def scale(self, outputs):
        """The loss (or several, in a list, tuple or other iterable) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale_on(outputs.device)
        if not hasattr(outputs, "__iter__") or isinstance(outputs, str):
            raise ValueError(
                f"outputs must be a Tensor or an iterable of Tensors, but scale() got a {type(outputs).__name__}."
            )
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def unscale_(self, optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place; once, before they are clipped."""
        if not self._enabled:
            return
        self._need_scale("unscale_")
        state = self._state(optimizer)
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step(): call it before, and update() after both.")
        state["found_inf_per_device"] = self._unscale(optimizer, allow_fp16=False)
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), after unscale_ if that was not called; skipped if a gradient was inf or nan."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._need_scale("step")
        state = self._state(optimizer)
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        found = state["found_inf_per_device"]
        assert len(found) > 0, (
            "No inf checks were recorded for this optimizer: none of its parameters has a gradient. Call backward() on "
            "the scaled loss first."
        )
        result = None
        if not sum(f.item() for f in found.values()):
            result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    @no_grad()
    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to what the steps since the last update found, or set it."""
        if not self._enabled:
            return
        self._need_scale("update")
        if new_scale is not None:
            self._scale.fill_(new_scale)
        else:
            found = [f.item() for state in self._states.values() for f in state["found_inf_per_device"].values()]
            assert len(found) > 0, "No inf checks were recorded prior to update: call step() or unscale_() before it."
            self._adapt(any(found))
        self._states = {}

    def _adapt(self, overflowed: bool) -> None:
        if overflowed:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale.item() * self._growth_factor
            if grown < dtypes.finfo(dtypes.float32).max:  # it never grows to inf
                self._scale.fill_(grown)
            self._growth_tracker = 0

    # What they are made of --------------------------------------------------------------------------------------------

    def _scale_on(self, device) -> Tensor:
        """The scale as a tensor on a device."""
        if self._scale is None:
            self._scale = late.functions["full"]((), float(self._init_scale), dtype=dtypes.float32, device=device)
        return self._scale.to(device)

    def _need_scale(self, name: str) -> None:
        assert self._scale is not None, (
            f"Attempted {name} but the scale is None: no loss was scaled yet. Call scaler.scale(loss).backward() "
            f"before scaler.{name}()."
        )

    def _state(self, optimizer) -> dict:
        return self._states.setdefault(id(optimizer), _fresh_state())

    @no_grad()
    def _unscale(self, optimizer, allow_fp16: bool) -> dict:
        """Divide gradients by the scale; one flag a device says whether any was inf or nan, without waiting for it."""
        found, inverse = {}, 1.0 / self._scale.item()
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is dtypes.float16 and not allow_fp16:
                    raise ValueError(
                        "Attempting to unscale FP16 gradients: keep the parameters in float32 and let autocast choose "
                        "lower precision for the operations."
                    )
                bad = (~grad.isfinite()).any()
                grad.mul_(inverse)
                seen = found.get(grad.device)
                found[grad.device] = bad if seen is None else seen | bad
        return {device: bad.float() for device, bad in found.items()}

    # Settings and state -----------------------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale now; 1.0 if switched off."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale) if self._scale is None else self._scale.item()

    def is_enabled(self) -> bool:
        return self._enabled

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def state_dict(self) -> dict:
        """What a checkpoint keeps; empty if switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict) -> None:
        """Go on where a checkpoint stopped.  Nothing happens if switched off."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
