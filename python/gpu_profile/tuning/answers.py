"""What the program says about the recordings of an investigation, as plain values."""

from __future__ import annotations

import json
import re
from typing import Any

from .. import program
from ..errors import Error

__all__ = ["compared", "evaluated", "findings", "first_answer", "predicted", "predictions"]

_PREDICTED = re.compile(r"predicted with `([^`]+)`")


def rows(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    for table in document["tables"]:
        if table["name"] == name:
            columns = [column["name"] for column in table["columns"]]
            return [dict(zip(columns, row)) for row in table["rows"]]
    return []


def _json(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(program.answer(*arguments, "--format", "json"))
    return document


def first_answer(recording: str) -> dict[str, Any]:
    """The verdict of a recording, and what lessens the trust in it."""
    document = _json("report", recording)
    verdict = document.get("verdict") or {}
    return {
        "verdict": verdict.get("name"),
        "because": verdict.get("because"),
        "warnings": [line["text"] for line in document.get("trust", []) if line.get("warning")],
    }


def predictions(recording: str) -> list[dict[str, Any]]:
    """Each known change alone, the largest predicted gain first. Gains in percent of a step."""
    document = program.report(recording, "whatif", limit=0)
    found = rows(document, "whatif")
    recorded = next((row["step_ns"] for row in found if row["kind"] == "recorded"), None)
    return [_prediction(row, recorded) for row in found if row["kind"] == "single"]


def predicted(recording: str, changes: list[str]) -> dict[str, Any]:
    """The prediction of these changes together. Raises Error for an unknown change, or if nothing can be predicted."""
    document = _json("whatif", recording, "--limit", "0", *(word for change in changes for word in ("--change", change)))
    found = rows(document, "whatif")
    recorded = next((row["step_ns"] for row in found if row["kind"] == "recorded"), None)
    kind = "single" if len(changes) == 1 else "together"
    for row in found:
        if row["kind"] == kind:
            return {**_prediction(row, recorded), "change": ", ".join(changes)}
    raise Error(4, f"no prediction of {', '.join(changes)} for {recording}: the change has no effect on it")


def _prediction(row: dict[str, Any], recorded: float | None) -> dict[str, Any]:
    """The gain under the same profiler is what recordings of a trial can show; its range is as wide as that of the
    gain without the profiler's cost."""
    under = None if not recorded or row["profiled_step_ns"] is None else 100 * (1 - row["profiled_step_ns"] / recorded)
    gain, low, high = row["gain_pct"], row["gain_low_pct"], row["gain_high_pct"]
    shift = 0 if under is None or gain is None else under - gain
    return {
        "change": row["change"],
        "gain_pct": gain if under is None else under,
        "gain_low_pct": None if low is None else low + shift,
        "gain_high_pct": None if high is None else high + shift,
        "confidence": row["confidence"],
        "assumes": row["assumes"],
    }


def findings(recording: str) -> list[dict[str, Any]]:
    """Findings with their remedies; `change` is the change of whatif that predicts the remedy, if one does."""
    found = rows(program.report(recording, "findings", limit=0), "findings")
    names = ("id", "severity", "title", "remedy", "confidence", "share_pct")
    return [{**{name: row[name] for name in names}, "change": _change_of(row["evidence"])} for row in found]


def _change_of(evidence: str | None) -> str | None:
    match = _PREDICTED.search(evidence or "")
    return match[1] if match else None


def compared(base: list[str], new: list[str]) -> dict[str, Any]:
    """The verdict of `compare`; further recordings of a side are repeats. `change_pct` is of the metric that it is about."""
    repeats = [word for flag, files in (("--repeat-base", base[1:]), ("--repeat-new", new[1:])) for file in files for word in (flag, file)]
    document = _json("compare", base[0], new[0], "metrics", "--limit", "0", *repeats)
    lead: list[str] = document["lead"]
    warnings = [line for line in document["trust"] if line["warning"]]
    metrics = {row["metric"]: row for row in rows(document, "metrics")}
    about = document["verdict"].get("metric")
    row = metrics.get(about, {})
    peak = metrics.get("peak_memory", {})
    return {
        "verdict": document["verdict"]["name"],
        "lead": lead,
        "warnings": [line["text"] for line in warnings],
        "warning_codes": [line["code"] for line in warnings],
        "metric": about,
        **{name: row.get(name) for name in ("base_ns", "new_ns", "change_pct", "low_pct", "high_pct", "noise_pct", "confidence", "basis")},
        "base_peak_bytes": peak.get("base_bytes"),
        "peak_bytes": peak.get("new_bytes"),
    }


def evaluated(baseline: str, optimized: str, inputs: str | None, max_memory_mb: float | None) -> dict[str, Any]:
    """What `evaluate` says: whether results are equal and constraints hold."""
    import subprocess

    words = [program.binary(), "evaluate", baseline, optimized, "--json"]
    words += [] if inputs is None else [f"--inputs={inputs}"]
    words += [] if max_memory_mb is None else [f"--max-memory-mb={max_memory_mb:g}"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"exit_code": done.returncode, "problem": said[-1] if said else f"evaluate failed with exit code {done.returncode}"}
    wrong = [each["text"] for each in (*document.get("violations", []), *document.get("failures", []))]
    return {"exit_code": done.returncode, "verdict": document.get("verdict"), "speedup": document.get("speedup"), "problem": "; ".join(wrong) or None}
