"""What one call takes of memory: by the framework where that is device memory, else by the kernel's record of the process;
and what the driver's management library (NVML) says of the whole device meanwhile, read by the evaluator, outside of the
side's process. The two differ by contexts, code, workspaces of libraries, and by other processes: `outside_mb`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .side import Side

__all__ = ["Footprint", "footprint_of"]

_MIB = 1024.0 * 1024.0


class Footprint(NamedTuple):
    """MiB; None is not known. `source` counted peak and current: "torch", "cupy" or "process"."""

    source: str = "process"
    peak_mb: float | None = None
    current_mb: float | None = None
    reserved_mb: float | None = None  # most that the framework kept from the driver, used or not
    device_used_mb: float | None = None  # most that was in use on the device, by all processes
    device_reason: str | None = None  # why that is not known

    @property
    def outside_mb(self) -> float | None:
        return None if self.device_used_mb is None or self.reserved_mb is None else self.device_used_mb - self.reserved_mb


def footprint_of(side: Side, case: int, seed: int) -> Footprint:
    """Of one call of a case."""
    side.reset_peak()
    region = _region() if side.ask("memory")[0]["source"] else None
    answer, _ = side.ask("call", case=case, seed=seed)
    used, reason = _device(region)
    if not answer["peak"]:  # none of the device's: the work is not there
        peak, current = side.memory()
        return Footprint("process", _mib(peak), _mib(current), device_reason="no framework has device memory")
    return Footprint(answer["source"], _mib(answer["peak"]), _mib(answer["current"]), _mib(answer["reserved"]), used, reason)


def _mib(count: int | None) -> float | None:
    return None if count is None else count / _MIB


def _region() -> Any:
    from ..region import Options, Region

    return Region(Options(interval_s=0.01))


def _device(region: Any) -> tuple[float | None, str | None]:
    if region is None:
        return None, None
    (summary, *_), _samples = region.finish()
    used = summary.mem_used_max_mb
    return used, None if used is not None else "; ".join(summary.notes) or "the driver does not say it"
