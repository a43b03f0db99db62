"""gpu_profile for PyTorch: the same names, with automatic device and synchronisation.

Unless given, ``device`` is PyTorch's current device at the start of the region, and ``sync_fn`` is
torch.cuda.synchronize for the monitored devices. A region does not initialise CUDA: before the program has used it,
there is nothing to wait for. PyTorch is imported when the first region starts; if it is missing, that raises
ImportError.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import decorator
from . import monitor as plain
from . import repeats as plain_repeats

if TYPE_CHECKING:
    from typing_extensions import Self

    from .arguments import Device
    from .repeats import MultiRunResult

__all__ = ["GpuMonitor", "gpu_profile", "profile_repeats", "synchronize"]

F = TypeVar("F", bound=Callable[..., Any])


def _parameters_of(plain: Callable[..., Any]) -> Callable[[F], F]:
    """Give a function the visible parameters of `plain`, with ``device=None``."""
    found = inspect.signature(plain).parameters.values()
    signature = inspect.Signature([one.replace(default=None) if one.name == "device" else one for one in found])

    def shown(function: F) -> F:
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return shown


class GpuMonitor(plain.GpuMonitor):
    """gpu_profile.GpuMonitor, with ``device=None`` for the current device."""

    @_parameters_of(plain.GpuMonitor.__init__)
    def __init__(self, device: Device | None = None, *arguments: Any, **named: Any) -> None:
        super().__init__(0 if device is None else device, *arguments, **named)
        self._is_current = device is None
        if self._sync_fn is None:
            self._sync_fn = self._wait

    def start(self) -> Self:
        if self._is_current:
            cuda = _torch().cuda
            self._options = {**self._options, "device": str(cuda.current_device() if cuda.is_initialized() else 0)}
        return super().start()

    def _wait(self) -> None:
        synchronize(self._options["device"])


if TYPE_CHECKING:
    from .decorator import gpu_profile as gpu_profile
else:

    @_parameters_of(decorator.gpu_profile)
    def gpu_profile(device=None, *arguments, **named):
        """gpu_profile.gpu_profile, with ``device=None`` for the current device."""
        return decorator.gpu_profile(device, *arguments, **named, _monitor=GpuMonitor)


@_parameters_of(plain_repeats.profile_repeats)
def profile_repeats(
    fn: Callable[[], object],
    repeats: int = 5,
    warmup_runs: int = 1,
    device: Device | None = None,
    *arguments: Any,
    **named: Any,
) -> MultiRunResult:
    """gpu_profile.profile_repeats, with ``device=None`` for the current device."""
    return plain_repeats.profile_repeats(
        fn, repeats, warmup_runs, device, *arguments, **named, _monitor=GpuMonitor  # type: ignore[arg-type]  # this monitor accepts None
    )


def synchronize(devices: str = "all") -> None:
    """Wait for the work of the devices; returns immediately if the program has not used CUDA."""
    cuda = _torch().cuda
    if not cuda.is_initialized():
        return
    numbers = devices.split(",")
    if not all(number.isdigit() for number in numbers):  # "all", or UUIDs, which PyTorch does not accept
        numbers = [str(number) for number in range(cuda.device_count())]
    for number in numbers:
        cuda.synchronize(int(number))


def _torch() -> Any:
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as problem:
        raise ImportError(
            "gpu_profile.torch needs PyTorch: pip install torch, or use gpu_profile.gpu_profile with sync_fn"
        ) from problem
    return torch
