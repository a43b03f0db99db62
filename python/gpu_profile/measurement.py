"""Results of benchmarks as values: Measurement of one function, Comparison of two.

The library measures and computes (measure/, docs/how-it-works/benchmarking-method.md); here its JSON becomes attributes with the
unit in their name. What was not measured is None, never 0. Samples are ns per call, in time order, without those
dropped for throttling. This module contains values only and runs nothing.
"""

from __future__ import annotations

import dataclasses
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from .summary import data_frame, deviation

if TYPE_CHECKING:
    from .bench_memory import MemoryUse

__all__ = ["Comparison", "Interval", "Measurement", "WarmupResult", "scaled_ns"]


class Interval(NamedTuple):
    """An interval that contains the true value with probability ``level``; in ns, or a ratio."""

    low: float
    high: float
    level: float


class WarmupResult(NamedTuple):
    """The calls before sampling."""

    calls: int
    time_ns: int
    first_ns: float | None
    last_ns: float | None
    settled: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of a candidate with a baseline. ``speedup`` is baseline / candidate: 2 means half the time."""

    baseline: str
    candidate: str
    speedup: float | None
    interval: Interval | None
    verdict: str  # "faster", "slower", "same", "cannot tell"
    reason: str
    paired: bool
    min_effect: float

    @classmethod
    def of(cls, values: dict[str, Any], baseline: str, candidate: str) -> Comparison:
        """Convert the object of gpuprof_bench_compare_json."""
        interval = None
        if values["speedup_low"] is not None:
            interval = Interval(values["speedup_low"], values["speedup_high"], values["level"])
        return cls(baseline, candidate, values["speedup"], interval, values["verdict"], values["reason"],
                   values["paired"], values["min_effect"])

    def to_dict(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["interval"] = None if self.interval is None else self.interval._asdict()
        return values

    def __str__(self) -> str:
        text = f"{self.candidate} vs. {self.baseline}: {self.verdict}"
        if self.speedup is not None:
            text += f", speedup {self.speedup:.4g}"
        if self.interval is not None:
            text += f" ({self.interval.low:.4g} to {self.interval.high:.4g}, {self.interval.level * 100:.1f} %)"
        return f"{text}; {self.reason}"


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """The time of one call, with its uncertainty and the measurement conditions."""

    name: str
    timer: str  # "cuda events", "host"
    samples: array[float]
    median_ns: float | None
    interval: Interval | None  # of the median, ns
    mean_ns: float | None
    std_ns: float | None
    min_ns: float | None
    max_ns: float | None
    p5_ns: float | None
    p25_ns: float | None
    p75_ns: float | None
    p95_ns: float | None
    noise: float | None  # std / mean
    precision: float | None  # half the interval's width / median
    bimodal: bool
    drift: float | None
    outliers: int
    stopped: str  # reason for the end of sampling
    warmup: WarmupResult
    calls: int
    batch: int  # calls per sample
    cold: bool
    graph: bool
    blocking: bool
    sampling_time_ns: int
    host_ns: float | None
    throttled_left_out: int
    throttled_kept: int
    device: int | None
    device_name: str | None
    sm_clock_mhz: float | None
    sm_clock_min_mhz: float | None
    sm_clock_max_mhz: float | None
    mem_clock_mhz: float | None
    throttle: str | None
    power_w: float | None
    temp_c: float | None
    cycles: float | None
    energy_per_call_j: float | None
    bytes_per_s: float | None
    flop_per_s: float | None
    bytes_pct: float | None  # of the peak
    flop_pct: float | None  # of the peak of flops_as
    peak_bytes_per_s: float | None
    peak_flop_per_s: float | None
    peak_source: str | None
    bytes_from: str | None = None  # "given", "at least"
    flops_from: str | None = None  # "given", "torch.utils.flop_counter"
    flops_as: str | None = None
    memory: MemoryUse | None = None
    notes: tuple[str, ...] = ()
    energy_per_call_uncertainty_j: float | None = None  # plus or minus
    energy_basis: str | None = None  # "counter", "power"
    threads: int | None = None  # that ran or waited for a CPU for a tenth of the sampling; host timer only
    waiting: float | None = None  # their share of waiting

    @classmethod
    def of(cls, values: dict[str, Any], samples: array[float]) -> Measurement:
        """Convert an object of gpuprof_bench_json and its samples."""
        known = {field.name for field in dataclasses.fields(cls)}
        statistics, conditions = values["statistics"], values["conditions"]
        merged = {**conditions, **statistics, **values}
        taken = {name: merged[name] for name in known & merged.keys()}
        interval = statistics["median_interval"]
        taken.update(
            samples=samples,
            interval=None if interval is None else Interval(interval["low"], interval["high"], interval["level"]),
            outliers=statistics["outliers_low"] + statistics["outliers_high"],
            warmup=WarmupResult(*(values["warmup"][name] for name in WarmupResult._fields)),
            notes=tuple(values["notes"]),
        )
        return cls(**taken)

    @property
    def median_ms(self) -> float | None:
        return None if self.median_ns is None else self.median_ns / 1e6

    @property
    def throttled(self) -> bool | None:
        """Whether clocks were throttled during the retained samples; None if unknown."""
        return None if self.throttle is None else self.throttled_kept > 0

    def compare(self, baseline: Measurement, min_effect: float = 0.01) -> Comparison:
        """Compare this measurement with a baseline from another time. bench_compare() alternates samples and is more
        reliable."""
        from .bench_native import compare

        found = compare(baseline.samples, self.samples, False, min_effect)
        return Comparison.of(found, baseline.name, self.name)

    def to_dict(self, samples: bool = True) -> dict[str, Any]:
        """Return plain values for JSON; the samples as a list, or omitted."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["interval"] = None if self.interval is None else self.interval._asdict()
        values["warmup"] = self.warmup._asdict()
        values["memory"] = None if self.memory is None else self.memory.to_dict()
        values["notes"] = list(self.notes)
        values["samples"] = self.samples.tolist()
        if not samples:
            del values["samples"]
        return values

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per sample: sample, time_ns."""
        return data_frame([{"sample": i, "time_ns": value} for i, value in enumerate(self.samples)])

    def format(self) -> str:
        """Return a readable summary of a few lines."""
        return "\n".join([self._first_line(), *("  " + line for line in self._lines())])

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        from . import html

        return html.preformatted(self.format())

    def _first_line(self) -> str:
        if self.median_ns is None:
            return f"{self.name}: no samples, timer: {self.timer}"
        text = f"{self.name}: {scaled_ns(self.median_ns)}"
        if self.interval is not None:
            low, high = scaled_ns(self.interval.low), scaled_ns(self.interval.high)
            text += f" ({low} to {high}, {self.interval.level * 100:.1f} %)"
        return f"{text}, timer: {self.timer}"

    def _lines(self) -> list[str]:
        lines = []
        if self.median_ns is not None:
            times = ("mean", self.mean_ns), ("min", self.min_ns), ("p5", self.p5_ns), ("p95", self.p95_ns)
            shown = " · ".join(f"{name} {scaled_ns(value)}" for name, value in times if value is not None)
            noise = "" if self.noise is None else f" · noise {deviation(self.noise * 100)} %"
            lines.append(f"{shown}{noise}")
        lines.append(f"{len(self.samples)} samples of {self.batch} call{'s' * (self.batch != 1)}, stopped by: {self.stopped} · "
                     f"warm-up {self.warmup.calls} calls{'' if self.warmup.settled else ', not settled'}")
        lines += [line for line in (self._device_line(), self._rate_line()) if line]
        if self.memory is not None:
            lines.append(f"memory {self.memory}")
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def _device_line(self) -> str:
        if self.device is None:
            return ""
        parts = [self.device_name or f"GPU {self.device}", "graph" if self.graph else "", "cold" if self.cold else "hot"]
        parts.append("" if self.sm_clock_mhz is None else f"SM {self.sm_clock_mhz:.0f} MHz")
        left_out = self.throttled_left_out
        parts.append(f"{left_out} samples dropped for throttling" if left_out else "")
        parts.append(f"throttled: {self.throttle}" if self.throttled else "")
        return " · ".join(filter(None, parts))

    def _rate_line(self) -> str:
        least = "at least " if self.bytes_from == "at least" else ""
        off = self.energy_per_call_uncertainty_j
        rates = (
            (least, self.bytes_per_s, 1e9, "GB/s", _share(self.bytes_pct, self.peak_bytes_per_s, 1e9, "GB/s", "")),
            ("", self.flop_per_s, 1e12, "TFLOP/s", _share(self.flop_pct, self.peak_flop_per_s, 1e12, "TFLOP/s", self.flops_as)),
            ("", self.energy_per_call_j, 1, "J per call", "" if off is None else f" +- {deviation(off)}"),
        )
        return " · ".join(f"{head}{value / scale:.4g} {unit}{tail}" for head, value, scale, unit, tail in rates if value is not None)


def _share(pct: float | None, peak: float | None, scale: float, unit: str, kind: str | None) -> str:
    return "" if pct is None or peak is None else f" ({pct:.3g} % of {peak / scale:.4g} {unit}{f', {kind}' if kind else ''})"


def scaled_ns(ns: float) -> str:
    """Format a time with a suitable unit: "12.3 us"."""
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns:.4g} ns"
