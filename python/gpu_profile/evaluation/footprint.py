"""Memory use of one call: from the framework if it uses device memory, otherwise from the kernel's accounting of the
process; and the use of the whole device during the call, from NVML, read by the evaluator outside the side's process.
The difference is `outside_mb`: contexts, code, workspaces of libraries, and other processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .side import Side

if TYPE_CHECKING:
    from ..monitor import GpuMonitor

__all__ = ["Footprint", "footprint_of"]

_MIB = 1024.0 * 1024.0


class Footprint(NamedTuple):
    """Memory in MiB; None if unknown. `source` is the source of peak and current: "torch", "cupy" or "process"."""

    source: str = "process"
    peak_mb: float | None = None
    current_mb: float | None = None
    reserved_mb: float | None = None  # peak held by the framework, in use or cached
    device_used_mb: float | None = None  # peak use of the device by all processes
    device_reason: str | None = None  # reason if unknown

    @property
    def outside_mb(self) -> float | None:
        return None if self.device_used_mb is None or self.reserved_mb is None else self.device_used_mb - self.reserved_mb


def footprint_of(side: Side, case: int, seed: int) -> Footprint:
    """Return the footprint of one call of a case."""
    side.reset_peak()
    monitor = _started() if side.ask("memory")[0]["source"] else None
    answer, _ = side.ask("call", case=case, seed=seed)
    used, reason = _device(monitor)
    if not answer["peak"]:  # no device memory: the work is not on the device
        peak, current = side.memory()
        return Footprint("process", _mib(peak), _mib(current), device_reason="no framework has device memory")
    return Footprint(answer["source"], _mib(answer["peak"]), _mib(answer["current"]), _mib(answer["reserved"]), used, reason)


def _mib(count: int | None) -> float | None:
    return None if count is None else count / _MIB


def _started() -> GpuMonitor:
    from ..monitor import GpuMonitor

    return GpuMonitor(interval_s=0.01).start()


def _device(monitor: GpuMonitor | None) -> tuple[float | None, str | None]:
    if monitor is None:
        return None, None
    monitor.stop()
    summary = monitor.summary
    used = summary.mem_used_max_mb
    return used, None if used is not None else "; ".join(summary.notes) or "not reported by the driver"
