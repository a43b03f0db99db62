"""gpu_profile for PyTorch: the same names, with automatic device and synchronisation.

Unless given, ``device`` is PyTorch's current device at the start of the region, and ``sync_fn`` is
torch.cuda.synchronize for the monitored devices. A region does not initialise CUDA: before the program has used it,
there is nothing to wait for. PyTorch is imported when the first region starts; if it is missing, that raises
ImportError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import decorator
from . import monitor as plain
from .repeats import MultiRunResult, run_repeatedly
from .reporting import Report, deliver

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from .arguments import Device

__all__ = ["GpuMonitor", "gpu_profile", "profile_repeats", "synchronize"]


class GpuMonitor(plain.GpuMonitor):
    """gpu_profile.GpuMonitor, with ``device=None`` for the current device."""

    def __init__(
        self,
        device: Device | None = None,
        interval_s: float = 0.2,
        backend: str = "auto",
        strict: bool = False,
        sync_fn: Callable[[], object] | None = None,
        warmup_s: float = 0.0,
        store_samples: bool = False,
        max_samples: int | None = None,
        capture: str | os.PathLike[str] | None = None,
    ) -> None:
        self._is_current = device is None
        super().__init__(
            0 if device is None else device,
            interval_s,
            backend,
            strict,
            self._wait if sync_fn is None else sync_fn,
            warmup_s,
            store_samples,
            max_samples,
            capture,
        )

    def start(self) -> Self:
        if self._is_current:
            cuda = _torch().cuda
            self._devices = str(cuda.current_device() if cuda.is_initialized() else 0)
        return super().start()

    def _wait(self) -> None:
        synchronize(self._devices)


if TYPE_CHECKING:
    from .decorator import gpu_profile as gpu_profile
else:

    def gpu_profile(
        device=None,
        interval_s=0.2,
        backend="auto",
        strict=False,
        sync_fn=None,
        warmup_s=0.0,
        store_samples=False,
        report=True,
        return_profile=False,
        repeats=1,
        warmup_runs=0,
        max_samples=None,
    ):
        """gpu_profile.gpu_profile, with ``device=None`` for the current device."""
        monitor = (device, interval_s, backend, strict, sync_fn, warmup_s, store_samples, max_samples)
        return decorator.profiler(GpuMonitor, monitor, report, return_profile, repeats, warmup_runs)


def profile_repeats(
    fn: Callable[[], object],
    repeats: int = 5,
    warmup_runs: int = 1,
    device: Device | None = None,
    interval_s: float = 0.2,
    backend: str = "auto",
    strict: bool = False,
    sync_fn: Callable[[], object] | None = None,
    warmup_s: float = 0.0,
    report: Report = None,
) -> MultiRunResult:
    """gpu_profile.profile_repeats, with ``device=None`` for the current device."""
    result = run_repeatedly(GpuMonitor(device, interval_s, backend, strict, sync_fn, warmup_s), fn, repeats, warmup_runs)
    deliver(report, [result])
    return result


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
