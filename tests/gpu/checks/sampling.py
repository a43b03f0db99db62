"""Part 1: NVML, GPM, energy and hardware counters over time, while the GPU is busy."""

import json
import statistics

from harness.check import Checks
from harness.recording import record, storm, workload

CHECKS = Checks("part1")


def busy(case, seconds):
    """A command that keeps the GPU busy: the CUDA program, else PyTorch. Also a small one lasts, so that a sampler that waits for a CPU
    misses a small part of it: of a large one no energy could be told."""
    seconds = case.seconds(seconds, small=2)
    if not case.machine.missing(["programs"]):
        return storm(case, "busy", seconds)
    reason = case.machine.missing(["torch"])
    return case.skip(f"nothing keeps the GPU busy here: {reason}") if reason else workload(case, "steps.py", "busy", seconds)


def sampled(case, seconds=5):
    """The summary of `profile --json`, and the capture of its samples."""
    summary, capture = case.folder / "summary.json", case.folder / "samples.gpuprof"
    done = case.run([case.machine.program, "profile", "--interval", "0.1", "--backend", "nvml", "--output", summary, "--capture", capture, "--", *busy(case, seconds)])
    if not case.expect(done.ok and summary.exists(), f"no summary: {done.why()}"):
        return None
    case.evidence(summary), case.evidence(capture)
    answer = json.loads(summary.read_text())
    return (answer[0] if isinstance(answer, list) else answer.get("devices", [answer])[0]), capture


@CHECKS.add("NVML: util.gpu above 50 %, power, clocks, memory and energy of a busy GPU are there")
def sampling_nvml(case):
    found = sampled(case)
    if not found:
        return
    summary, _ = found
    case.measured(f"util.gpu {summary['util_gpu_mean']} %, {summary['power_mean_w']} W, {summary['sm_clock_mean_mhz']} MHz, {summary['mem_used_max_mb']} MiB, "
                  f"{summary['energy_j']} J, jitter p99 {summary['jitter_p99_ms']} ms, sampler {summary['sampler_cpu_pct']} %", **summary)
    for name in ("util_gpu_mean", "power_mean_w", "sm_clock_mean_mhz", "mem_used_max_mb", "energy_j", "temp_mean_c"):
        case.expect(summary[name] is not None, f"{name} is absent: {'; '.join(summary['notes'])[:200]}", of_times=name == "energy_j")
    case.expect((summary["util_gpu_mean"] or 0) > 50, f"util.gpu is {summary['util_gpu_mean']} % of a GPU that was kept busy")


@CHECKS.add("GPM (Hopper and later): gpm.sm.active above 50 % of a busy GPU")
def sampling_gpm(case):
    found = sampled(case)
    if not found:
        return
    summary, _ = found
    if summary["gpm_sm_active_mean"] is None:
        case.skip(f"no GPM here: {'; '.join(summary['notes'])[:300] or 'the driver gives none'}")
    case.measured(f"gpm.sm.active {summary['gpm_sm_active_mean']:.1f} %, occupancy {summary['gpm_sm_occupancy_mean']} %, dram {summary['gpm_dram_mean']} %")
    case.expect(summary["gpm_sm_active_mean"] > 50, f"gpm.sm.active is {summary['gpm_sm_active_mean']:.1f} %")


@CHECKS.add("counters over time: pm.sm.active above 50 % of a busy GPU, at 1000 Hz, with little lost")
def pm_sampling(case):
    capture = record(case, busy(case, 5), "--sample", "0,pm")
    rows = {row["metric"]: row for row in capture.rows("samples")}
    if "pm.sm.active" not in rows:
        said = [line for line in capture.done.err.splitlines() if "counters over time" in line]
        case.skip(f"no counters were sampled: {said[0] if said else capture.done.why()}")
    active = rows["pm.sm.active"]
    case.measured(f"{len(rows)} counters, {active['count']:,} samples; pm.sm.active p50 {active['p50']} %; lost: {capture.lost()}", metrics=sorted(rows))
    case.expect((active["p50"] or 0) > 50, f"pm.sm.active is {active['p50']} % (median) of a GPU that was kept busy")


@CHECKS.add("samples of a recording: util.gpu and power next to the kernels of one capture")
def samples_while_recording(case):
    capture = record(case, busy(case, 4), "--sample", "0.1")
    rows = {row["metric"]: row for row in capture.rows("samples")}
    case.measured(f"{sorted(rows)}; {capture.totals()['kernel'][0]:,} kernels")
    for name in ("util.gpu", "power"):
        case.expect(name in rows, f"{name} was not sampled")
    case.expect(capture.totals()["kernel"][0] > 0, "no kernel was recorded next to the samples")


@CHECKS.add("`top --once` shows every GPU, `nvidia-smi` as a backend agrees on the memory in use")
def top_and_smi(case):
    shown = case.run([case.machine.program, "top", "--once"])
    case.expect(shown.ok and shown.out.strip(), f"top: {shown.why()}")
    used = []
    for backend in ("nvml", "smi"):
        path = case.folder / f"{backend}.json"
        done = case.run([case.machine.program, "profile", "--backend", backend, "--output", path, "--", "sleep", "1"])
        if case.expect(done.ok and path.exists(), f"{backend}: {done.why()}"):
            case.evidence(path)
            answer = json.loads(path.read_text())
            used.append((answer[0] if isinstance(answer, list) else answer.get("devices", [answer])[0])["mem_used_max_mb"])
    case.measured(f"memory in use: {used} MiB")
    if len(used) == 2 and None not in used:
        case.expect(abs(used[0] - used[1]) <= max(64, 0.05 * statistics.mean(used)), f"memory in use differs: {used} MiB")
