"""GpuSummary: the activity of one device during one region. The fields are those of core/schema/summary_fields.def, in
that order; a test compares the two. A figure that was not measured is None, never 0; an unknown text is empty.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .errors import Error

__all__ = ["GpuSummary"]


@dataclasses.dataclass(frozen=True)
class GpuSummary:
    """One device over one region. Shares are in percent, memory in MiB; `notes` explain the figures and the reasons for
    absent ones."""

    device: int = 0
    name: str = ""
    uuid: str = ""
    backend: str = ""
    duration_s: float | None = None
    interval_s: float | None = None
    n_samples: int = 0
    util_gpu_mean: float | None = None
    util_gpu_std: float | None = None
    util_gpu_min: float | None = None
    util_gpu_max: float | None = None
    util_gpu_p5: float | None = None
    util_gpu_p50: float | None = None
    util_gpu_p95: float | None = None
    util_gpu_p99: float | None = None
    idle_pct: float | None = None
    active_pct: float | None = None
    util_mem_mean: float | None = None
    mem_used_mean_mb: float | None = None
    mem_used_max_mb: float | None = None
    mem_total_mb: float | None = None
    mem_util_pct: float | None = None
    power_mean_w: float | None = None
    power_max_w: float | None = None
    energy_j: float | None = None
    energy_uncertainty_j: float | None = None
    energy_basis: str = ""
    temp_mean_c: float | None = None
    temp_max_c: float | None = None
    sm_clock_mean_mhz: float | None = None
    sm_clock_max_mhz: float | None = None
    sm_clock_limit_mhz: float | None = None
    mem_clock_mean_mhz: float | None = None
    busy_time_est_s: float | None = None
    throttle_pct: float | None = None
    throttle_power_pct: float | None = None
    throttle_thermal_pct: float | None = None
    throttle_hw_pct: float | None = None
    gpm_sm_active_mean: float | None = None
    gpm_sm_occupancy_mean: float | None = None
    gpm_tensor_mean: float | None = None
    gpm_dram_mean: float | None = None
    gap_s: float | None = None
    jitter_p99_ms: float | None = None
    sampler_cpu_pct: float | None = None
    pattern: str = ""
    sparkline: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> GpuSummary:
        """Convert a JSON object of this program or a newer one; unknown fields are ignored."""
        known: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            value = values.get(field.name)
            if value is None:
                continue
            if field.name == "notes":
                value = tuple(value)
            elif field.name in _REAL_FIELDS:
                value = float(value)
            known[field.name] = value
        return cls(**known)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in order, with plain JSON values: notes as a list, NaN as None."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def to_json(self) -> str:
        """Return one line of JSON with the keys of to_dict(), like `gpu-profile --json`."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def format(self) -> str:
        """Return the text that the command line shows; without the library, a short form."""
        try:
            from . import native

            return native.summary_text(self.to_json()).rstrip("\n")
        except (Error, ImportError):
            lines = [f"gpu-profile: GPU {self.device}, {self.duration_s or 0:.3g} s, {self.n_samples} samples"]
            return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def with_note(self, note: str) -> GpuSummary:
        """Return a copy with an additional note."""
        return dataclasses.replace(self, notes=(*self.notes, note))

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row, so that summaries of several runs can be concatenated."""
        return data_frame([self.to_dict()])

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        from . import html

        return html.preformatted(self.format())


_REAL_FIELDS = frozenset(field.name for field in dataclasses.fields(GpuSummary) if str(field.type).startswith("float"))


def deviation(value: float) -> str:
    """Format a deviation with two significant digits, never with an exponent such as 2.2e+02."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}"


def data_frame(rows: list[dict[str, Any]]) -> Any:
    """Return a pandas DataFrame of these rows. Raises ImportError with the package to install."""
    try:
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as problem:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from problem
    return pandas.DataFrame(rows)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
