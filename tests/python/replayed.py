"""Recorded series with known numbers, and their expected summary.

`expected()` computes the statistics from the file independently (mean and deviation of the standard library,
percentiles between closest ranks), sharing no code with the program. `write()` creates a series from columns.
"""

import csv
import statistics
import time
from pathlib import Path

from patience import HANGS_S

BURSTY = Path(__file__).resolve().parents[1] / "fixtures" / "nvml" / "bursty.csv"
MIB = 1024 * 1024

# Bits of NVML's throttle reasons that hold clocks down (nvml.h, NvmlClocksEventReasons).
POWER, HEAT, HARDWARE = 0x4, 0x20 | 0x40, 0x8 | 0x80


def all_at_once(path):
    """Return the backend that plays the whole recording without delay."""
    return f"replay:{path}@max"


def write(path, **columns):
    """Write a series file with these columns, None as an empty cell. Return the backend that plays it without delay."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    return all_at_once(path)


def profiler(recording):
    """gpu_profile on a recording, with a list that collects the reports."""
    from gpu_profile import gpu_profile

    def decorator(**options):
        return gpu_profile(backend=recording, **{"report": decorator.reports.append, **options})

    decorator.reports = []
    return decorator


def read(path):
    """Return the columns of a recording in the units of the package, as lists."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    scales = {"mem_used": ("mem_used_mb", 1 / MIB), "power_mw": ("power_w", 1e-3), "energy_mj": ("energy_j", 1e-3)}
    columns = {}
    for name in rows[0]:
        field, scale = scales.get(name, (name, 1))
        columns[field] = [float(row[name]) * scale for row in rows]
    return columns


def percentile(values, p):
    ordered = sorted(values)
    rank = p / 100 * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


def share(values, condition):
    return 100 * sum(map(condition, values)) / len(values)


def expected(path):
    """Return every figure of the summary of a recording with the columns of bursty.csv."""
    at = read(path)
    util, power, temp, clock, throttle = at["util_gpu"], at["power_w"], at["temp"], at["sm_mhz"], at["throttle"]
    duration = at["t_s"][-1] - at["t_s"][0]
    figures = {
        "duration_s": duration,
        "n_samples": len(util),
        "util_gpu_mean": statistics.fmean(util),
        "util_gpu_std": statistics.stdev(util),
        "util_gpu_min": min(util),
        "util_gpu_max": max(util),
        "idle_pct": share(util, lambda value: value < 5),
        "active_pct": share(util, lambda value: value >= 50),
        "util_mem_mean": statistics.fmean(at["util_mem"]),
        "mem_used_mean_mb": statistics.fmean(at["mem_used_mb"]),
        "mem_used_max_mb": max(at["mem_used_mb"]),
        "power_mean_w": statistics.fmean(power),
        "power_max_w": max(power),
        "energy_j": at["energy_j"][-1] - at["energy_j"][0],
        "temp_mean_c": statistics.fmean(temp),
        "temp_max_c": max(temp),
        "sm_clock_mean_mhz": statistics.fmean(clock),
        "sm_clock_max_mhz": max(clock),
        "mem_clock_mean_mhz": statistics.fmean(at["mem_mhz"]),
        "busy_time_est_s": duration * statistics.fmean(util) / 100,
        "throttle_pct": share(throttle, lambda bits: int(bits) & (POWER | HEAT | HARDWARE) != 0),
        "throttle_power_pct": share(throttle, lambda bits: int(bits) & POWER != 0),
        "throttle_thermal_pct": share(throttle, lambda bits: int(bits) & HEAT != 0),
        "throttle_hw_pct": share(throttle, lambda bits: int(bits) & HARDWARE != 0),
    }
    figures |= {f"util_gpu_p{p}": percentile(util, p) for p in (5, 50, 95, 99)}
    return figures


def until(condition, seconds=HANGS_S):
    """Wait until the condition holds and return True, or False where it does not within a time that is long on a busy machine too."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(holds)
