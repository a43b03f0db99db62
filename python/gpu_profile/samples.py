"""GpuSample, one reading of one device, and SampleSeries, a list of them with tables and plots. The fields are time_s,
device and those of core/schema/metrics.def; a test compares them. Absent values are None.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .arguments import unknown
from .summary import data_frame

__all__ = ["GpuSample", "SampleSeries"]


class GpuSample(NamedTuple):
    """One reading of a device; `time_s` counts from the start of the monitor, including the warm-up."""

    time_s: float
    device: int
    util_gpu: float | None = None
    util_mem: float | None = None
    mem_used_mb: float | None = None
    mem_total_mb: float | None = None
    power_w: float | None = None
    energy_j: float | None = None
    temp_c: float | None = None
    sm_clock_mhz: float | None = None
    mem_clock_mhz: float | None = None
    pstate: int | None = None
    throttle_reasons: int | None = None
    pcie_gen: int | None = None
    pcie_width: int | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    xid_errors: int | None = None
    gpm_sm_active: float | None = None
    gpm_sm_occupancy: float | None = None
    gpm_tensor: float | None = None
    gpm_fp64: float | None = None
    gpm_fp32: float | None = None
    gpm_fp16: float | None = None
    gpm_dram: float | None = None
    gpm_pcie_tx_mbps: float | None = None
    gpm_pcie_rx_mbps: float | None = None
    gpm_nvlink_tx_mbps: float | None = None
    gpm_nvlink_rx_mbps: float | None = None


_WHOLE_FIELDS = frozenset(
    ("pstate", "throttle_reasons", "pcie_gen", "pcie_width", "ecc_corrected", "ecc_uncorrected", "xid_errors")
)


class SampleSeries(list[GpuSample]):
    """A list of samples in time order, with conversions to a table and a plot."""

    @classmethod
    def of_columns(cls, devices: Iterable[tuple[int, Mapping[str, array[float]]]]) -> SampleSeries:
        """Build a series from pairs of device number and columns by field name, NaN where absent."""
        series = cls()
        for device, columns in devices:
            times = columns["time_s"]
            named = [_values(field, columns.get(field), len(times)) for field in GpuSample._fields[2:]]
            series += [GpuSample(time, device, *rest) for time, *rest in zip(times, *named)]
        series.sort(key=lambda sample: (sample.time_s, sample.device))
        return series

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per sample and one column per field."""
        return data_frame([sample._asdict() for sample in self])

    def plot(self, fields: Sequence[str] = ("util_gpu", "mem_used_mb", "power_w")) -> Any:
        """Return a matplotlib Figure over time_s: one panel per field with values, one line per device."""
        try:
            from matplotlib import pyplot  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError as problem:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from problem
        lines = {field: self._lines(field) for field in fields}
        lines = {field: per_device for field, per_device in lines.items() if per_device}
        if not lines:
            raise ValueError(f"nothing to plot: no sample has a value for {', '.join(fields)}")
        figure, panels = pyplot.subplots(len(lines), 1, sharex=True, squeeze=False)
        for (field, per_device), panel in zip(lines.items(), panels[:, 0]):
            for device, (times, values) in per_device.items():
                # A sample holds until the next one, because the driver averages over the preceding window.
                panel.step(times, values, where="post", label=f"GPU {device}")
            panel.set_ylabel(field)
            if len(per_device) > 1:
                panel.legend()
        panels[-1, 0].set_xlabel("time_s")
        return figure

    def _lines(self, field: str) -> dict[int, tuple[list[float], list[float]]]:
        """Return times and values by device, from samples that have a value."""
        if field not in GpuSample._fields:
            raise ValueError(unknown("sample field", field, GpuSample._fields))
        lines: dict[int, tuple[list[float], list[float]]] = {}
        for sample in self:
            value = getattr(sample, field)
            if value is not None:
                times, values = lines.setdefault(sample.device, ([], []))
                times.append(sample.time_s)
                values.append(value)
        return lines


def _values(field: str, column: Sequence[float] | None, count: int) -> Sequence[float | None]:
    if column is None:
        return [None] * count
    if field in _WHOLE_FIELDS:
        return [None if math.isnan(value) else int(value) for value in column]
    return [None if math.isnan(value) else value for value in column]
