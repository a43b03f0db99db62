"""The result of an evaluation: a table, the fixed lines, or one JSON object; and the exit code.

The fixed lines are a contract (docs/reference/commands/evaluate.md): always six figures, `nan` for an unknown or refused one,
then one line per violation.
"""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from .footprint import Footprint
from .session import Evaluation
from .timing import CUDA

__all__ = ["exit_code", "figures", "fixed_lines", "json_text", "table"]


def figures(evaluation: Evaluation) -> dict[str, float | None]:
    """Return the six figures in print order. A refused time is None."""
    times = {name: median(values) for name, values in evaluation.times.items()}
    refused = evaluation.violations.void
    speedup = evaluation.ratio.speedup if evaluation.ratio and not refused else None
    own = None if refused else times.get("optimized")
    alone = evaluation.alone_times.get("optimized")
    kernel = own if refused or not alone else median(alone)
    memory = evaluation.memory.get("optimized", Footprint())
    return {
        "speedup": speedup, "baseline_ms": times.get("baseline"), "optimized_ms": own, "kernel_time_ms": kernel,
        "peak_memory_mb": memory.peak_mb, "current_memory_mb": memory.current_mb,
    }


def fixed_lines(evaluation: Evaluation) -> str:
    lines = []
    for name, value in figures(evaluation).items():
        digits = 2 if name.endswith("_mb") else 4
        lines.append(f"{name}: {'nan' if value is None else format(value, f'.{digits}f')}")
    lines += [f"Constraint violated: {violation.text}" for violation in evaluation.violations.all()]
    return "".join(line + "\n" for line in lines)


def exit_code(evaluation: Evaluation) -> int:
    """Return 3 if a side failed, 1 if a constraint was violated, otherwise 0; codes of core/base/exit_code.h."""
    if evaluation.failures:
        return 3
    return 1 if evaluation.violations.all() else 0


def table(evaluation: Evaluation) -> str:
    shown = {name: f"{median(values):.4f} ms" for name, values in evaluation.times.items()}
    refused = evaluation.violations.void
    rows: list[tuple[str, ...]] = [("", "baseline", "optimized")]
    rows.append(("time, median", shown.get("baseline", "-"), "refused" if refused else shown.get("optimized", "-")))
    rows.append(("fastest", *(_of(evaluation.times.get(name), min) if not (refused and name == "optimized") else "refused" for name in _SIDES)))
    if evaluation.timer == CUDA:
        rows.append(("without launch gaps", *(_of(evaluation.alone_times.get(name), median) if not (refused and name == "optimized") else "refused" for name in _SIDES)))
        rows.append(("by the host's clock", *(_of(evaluation.host_times.get(name), median) for name in _SIDES)))
    rows.append(("import", *(_ms(evaluation.import_ms.get(name)) for name in _SIDES)))
    memory = [evaluation.memory.get(name, Footprint()) for name in _SIDES]
    rows.append((f"peak memory ({memory[1].source})", *(_mb(each.peak_mb) for each in memory)))
    if any(each.device_used_mb is not None for each in memory):
        rows.append(("device in use (NVML)", *(_mb(each.device_used_mb) for each in memory)))
        rows.append(("not reserved by the side", *(_mb(each.outside_mb) for each in memory)))
    if evaluation.compared:
        rows.append(("difference, relative", "", f"{evaluation.violations.relative:.1e}"))
    if errors := evaluation.errors.worst():
        rows.append(("error against float64", f"{errors.baseline:.1e}", f"{errors.optimized:.1e}"))
    text = "".join(f"{head:<24}{one:>16}{other:>16}\n" for head, one, other in rows)
    return text + _verdict_line(evaluation) + _apart(evaluation)


_SIDES = ("baseline", "optimized")


def _median(values: list[float] | None) -> float | None:
    return median(values) if values else None


def _of(values: list[float] | None, choose: Any) -> str:
    return f"{choose(values):.4f} ms" if values else "-"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"


def _mb(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} MB"


def _verdict_line(evaluation: Evaluation) -> str:
    samples = f"timer: {evaluation.timer}, {evaluation.options.repeat} samples of {evaluation.batch} call{'s' if evaluation.batch > 1 else ''}"
    if evaluation.violations.void:
        return f"verdict: refused ({samples})\n"
    if not evaluation.ratio:
        return f"verdict: none; a side failed ({samples})\n"
    ratio = evaluation.ratio
    wrong = ", but constraints are violated" if evaluation.violations.all() else ""
    interval = "too few samples for an interval"
    if ratio.low is not None and ratio.high is not None:
        interval = f"95 % interval {ratio.low:.4f} to {ratio.high:.4f}"
    return f"verdict: {ratio.verdict}, speedup {ratio.speedup:.4f} ({interval}){wrong} ({samples})\n"


def _apart(evaluation: Evaluation) -> str:
    """Say why the medians give another speedup than the rounds, where they do."""
    ratio, times = evaluation.ratio, evaluation.times
    if evaluation.violations.void or not ratio or ratio.low is None or ratio.high is None:
        return ""
    medians = median(times["baseline"]) / max(median(times["optimized"]), 1e-9)
    if ratio.low <= medians <= ratio.high:
        return ""
    return (f"The medians alone would give {medians:.4f}: other work on this machine slowed some rounds. The speedup compares the two times of each "
            "round.\n")


def json_text(evaluation: Evaluation, version: str) -> str:
    ratio, errors = evaluation.ratio, evaluation.errors.worst()
    void = evaluation.violations.void
    document: dict[str, Any] = {"tool": "gpu-profile", "version": version, "command": "evaluate", **figures(evaluation)}
    refused = void or not ratio
    document["speedup_low"], document["speedup_high"] = (None, None) if refused or not ratio else (ratio.low, ratio.high)
    document["interval_by"] = None if refused or not ratio else ratio.source
    verdict = ratio.verdict if ratio else None
    document["verdict"] = "refused" if void else verdict
    document |= {
        "timer": evaluation.timer, "timer_reason": evaluation.timer_reason, "samples": evaluation.options.repeat, "calls_per_sample": evaluation.batch,
        "baseline_samples_ms": evaluation.times.get("baseline"), "optimized_samples_ms": evaluation.times.get("optimized"),
        "baseline_host_ms": _median(evaluation.host_times.get("baseline")), "optimized_host_ms": _median(evaluation.host_times.get("optimized")),
        "baseline_kernel_ms": _median(evaluation.alone_times.get("baseline")),
        "import_ms": evaluation.import_ms, "floor_ms": evaluation.floor_ms, 
        "memory": {name: {**each._asdict(), "outside_mb": each.outside_mb} for name, each in evaluation.memory.items()},
        "relative_error": evaluation.violations.relative if evaluation.compared else None,
        "reference_error": errors and {"optimized": errors.optimized, "baseline": errors.baseline, "ratio": errors.ratio},
        "timed_results_checked": evaluation.timed.checked, "timed_results_wrong": evaluation.timed.wrong, "checking_s": evaluation.timed.taken_s,
        "violations": [{"text": v.text, "refused": v.voids} for v in evaluation.violations.all()],
        "failures": [{"side": failure.side, "text": str(failure)} for failure in evaluation.failures],
        "exit_code": exit_code(evaluation),
    }
    return json.dumps(document, allow_nan=False) + "\n"
