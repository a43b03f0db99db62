"""Several runs of the same code: the GpuSummary of each, and the variation of the figures between runs.

A figure that a run did not measure is excluded from its statistics; without any figure, all statistics are None. The
standard deviation is that of a sample (n - 1), and None for fewer than two figures.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

from .arguments import Device, check_runs, unknown
from .monitor import GpuMonitor
from .reporting import Report, deliver
from .summary import GpuSummary, data_frame, deviation

__all__ = ["MultiRunResult", "RunStats", "profile_repeats"]


@dataclasses.dataclass(frozen=True)
class RunStats:
    """One figure over several runs; `values` are in run order."""

    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, figures: Iterable[float | None]) -> RunStats:
        values = tuple(figure for figure in figures if figure is not None)
        if not values:
            return cls()
        mean = math.fsum(values) / len(values)
        std = None
        if len(values) > 1:
            std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
        return cls(mean, std, min(values), max(values), values)

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "values": list(self.values)}


class _Shown(NamedTuple):
    name: str
    field: str
    unit: str


_SHOWN = (
    _Shown("duration", "duration_s", "s"),
    _Shown("util_gpu", "util_gpu_mean", "%"),
    _Shown("power", "power_mean_w", "W"),
    _Shown("energy", "energy_j", "J"),
    _Shown("peak_memory", "mem_used_max_mb", "MiB"),
    _Shown("peak_temp", "temp_max_c", "C"),
)


@dataclasses.dataclass(frozen=True)
class MultiRunResult:
    """The summaries of several runs on one device, in order.

    `note` gives the reason if there are fewer runs than requested. `other_devices` has the same for the other monitored
    devices.
    """

    runs: tuple[GpuSummary, ...]
    note: str = ""
    other_devices: tuple[MultiRunResult, ...] = ()

    @classmethod
    def of_runs(cls, runs: Iterable[Sequence[GpuSummary]], note: str = "") -> MultiRunResult:
        """Build the result from the summaries of all devices, run by run."""
        first, *others = (cls(tuple(run), note) for run in zip(*runs))
        return dataclasses.replace(first, other_devices=tuple(others))

    @property
    def duration(self) -> RunStats:
        return self.stats_for("duration_s")

    @property
    def util_gpu(self) -> RunStats:
        return self.stats_for("util_gpu_mean")

    @property
    def power(self) -> RunStats:
        return self.stats_for("power_mean_w")

    @property
    def energy(self) -> RunStats:
        return self.stats_for("energy_j")

    @property
    def peak_memory(self) -> RunStats:
        return self.stats_for("mem_used_max_mb")

    @property
    def peak_temp(self) -> RunStats:
        return self.stats_for("temp_max_c")

    def stats_for(self, field: str) -> RunStats:
        """Return the statistics of a numeric field of GpuSummary. Raises ValueError for any other field."""
        if field not in _NUMBERS:
            raise ValueError(unknown("numeric field of GpuSummary", field, _NUMBERS))
        return RunStats.of(getattr(run, field) for run in self.runs)

    def format(self) -> str:
        """Return one line per figure with mean, deviation and range over the runs, as on the command line."""
        name = next((run.name for run in self.runs if run.name), "")
        device = f"GPU {self.runs[0].device} {name}".rstrip() if self.runs else "no GPU"
        lines = [f"gpu-profile: {device}, over {len(self.runs)} run{'s' * (len(self.runs) != 1)}"]
        for shown, stats in self._measured():
            spread = "" if stats.std is None else f" +- {deviation(stats.std)}"
            line = f"  {shown.name:<11} mean {stats.mean:.4g} {shown.unit}{spread}, {stats.min:.4g} to {stats.max:.4g}"
            missing = len(self.runs) - len(stats.values)
            lines.append(f"{line} (not measured in {missing})" if missing else line)
        return "\n".join(lines + [f"  note: {note}" for note in self._notes()])

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as GpuSummary.to_dict() and the statistics by name, like `gpu-profile --repeats N --json`.

        `note` and `other_devices` are included if not empty.
        """
        values: dict[str, Any] = {
            "runs": [run.to_dict() for run in self.runs],
            "stats": {shown.name: {"unit": shown.unit, **stats.to_dict()} for shown, stats in self._measured()},
        }
        if self.note:
            values["note"] = self.note
        if self.other_devices:
            values["other_devices"] = [other.to_dict() for other in self.other_devices]
        return values

    def to_json(self) -> str:
        """Return one line of JSON with the keys of to_dict()."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per run."""
        return data_frame([run.to_dict() for run in self.runs])

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        from . import html

        rows = [(shown.name, s.mean, s.std, s.min, s.max, shown.unit) for shown, s in self._measured()]
        return html.table(("", "mean", "std", "min", "max", "unit"), rows)

    def _measured(self) -> list[tuple[_Shown, RunStats]]:
        """Yield the commonly compared figures that at least one run has."""
        found = [(shown, self.stats_for(shown.field)) for shown in _SHOWN]
        return [(shown, stats) for shown, stats in found if stats.values]

    def _notes(self) -> list[str]:
        """Return the distinct notes of the runs."""
        said = [self.note] if self.note else []
        for run in self.runs:
            said += [note for note in run.notes if note not in said]
        return said


_NUMBERS = tuple(
    field.name
    for field in dataclasses.fields(GpuSummary)
    if str(field.type).startswith("float") or field.name == "n_samples"
)


def profile_repeats(
    fn: Callable[[], object],
    repeats: int = 5,
    warmup_runs: int = 1,
    device: Device = 0,
    interval_s: float = 0.2,
    backend: str = "auto",
    strict: bool = False,
    sync_fn: Callable[[], object] | None = None,
    warmup_s: float = 0.0,
    report: Report = None,
    *,
    _monitor: type[GpuMonitor] = GpuMonitor,
) -> MultiRunResult:
    """Call fn() `warmup_runs` times unmonitored, then `repeats` times monitored. Exceptions of fn are raised.

    ``repeats``: default 5. ``warmup_runs``: default 1. ``report``: as in gpu_profile, default None (no report): True
    prints the result to standard error, a callable receives it. The other arguments are those of GpuMonitor.
    """
    result = run_repeatedly(_monitor(device, interval_s, backend, strict, sync_fn, warmup_s), fn, repeats, warmup_runs)
    deliver(report, [result])
    return result


def run_repeatedly(monitor: GpuMonitor, fn: Callable[[], object], repeats: int, warmup_runs: int) -> MultiRunResult:
    check_runs(repeats, warmup_runs)
    for _ in range(warmup_runs):
        fn()
    runs = []
    for _ in range(repeats):
        with monitor:
            fn()
        runs.append(monitor.summaries)
    return MultiRunResult.of_runs(runs)
