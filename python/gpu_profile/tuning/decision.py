"""Whether a trial is kept: a pure function of what was measured. Only a change that is shown beyond the noise, with high
confidence, decides; everything else stays undecided and says what would decide it."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["DOUBTS", "Decision", "decide", "held"]


# Codes of the warnings of compare (compare/comparison_warnings.def) with which a difference says little about the change.
DOUBTS = frozenset({"different_hardware", "different_clocks", "different_recorders", "clocks_throttled", "work_not_recorded", "steps_not_comparable", "different_programs"})

UNKNOWN = "too noisy to check the prediction"


class Decision(NamedTuple):
    word: str  # accepted, rejected, undecided
    because: str


def decide(compared: dict[str, Any], evaluation: dict[str, Any] | None = None, max_memory_mb: float | None = None) -> Decision:
    if evaluation is not None and evaluation["exit_code"] == 1:
        return Decision("rejected", f"the evaluation failed: {evaluation['problem']}")
    if max_memory_mb is not None and compared["peak_bytes"] is not None and compared["peak_bytes"] > max_memory_mb * 1e6:
        return Decision("rejected", f"peak device memory is {compared['peak_bytes'] / 1e6:.1f} MB, the limit {max_memory_mb:g} MB")
    doubts = [text for text, code in zip(compared["warnings"], compared["warning_codes"]) if code in DOUBTS]
    if doubts:
        return Decision("undecided", f"{_measured(compared)}, but {doubts[0]}")
    said = compared["verdict"]
    if said in ("faster", "slower", "same") and compared["basis"] != "recordings":
        return Decision("undecided", f"{_measured(compared)}, but the variation between runs is unknown; repeat with three recordings of each state")
    if said == "slower" and compared["confidence"] == "high":
        return Decision("rejected", _change(compared))
    if said == "same":
        return Decision("rejected", f"no gain: {_change(compared)}; simpler code is kept")
    if evaluation is not None and evaluation["exit_code"] != 0:
        return Decision("undecided", f"the evaluation did not finish: {evaluation['problem']}")
    if max_memory_mb is not None and compared["peak_bytes"] is None:
        return Decision("undecided", "the recordings do not contain device memory; record it with --record '--memory'")
    if said == "faster" and compared["confidence"] == "high":
        return Decision("accepted", _change(compared))
    if said in ("faster", "slower"):
        return Decision("undecided", f"{_measured(compared)}, but with low confidence; repeat with three recordings of each state")
    return Decision("undecided", "neither a gain nor its absence is shown; record more steps or repeats")


def _change(compared: dict[str, Any]) -> str:
    if compared["change_pct"] is None:
        return str(compared["verdict"])
    return f"{compared['verdict']}, {_measured(compared)}"


def _measured(compared: dict[str, Any]) -> str:
    """The change without a verdict, for decisions that doubt it."""
    if compared["change_pct"] is None:
        return str(compared["verdict"])
    interval = "" if compared["low_pct"] is None else f" (95 %: {compared['low_pct']:+.1f} to {compared['high_pct']:+.1f} %)"
    return f"{compared['metric']} changed by {compared['change_pct']:+.1f} %{interval}"


def held(prediction: dict[str, Any] | None, compared: dict[str, Any]) -> str | None:
    """How the measured gain relates to the predicted one; None without a prediction or a measured change. An interval that fits no
    gain as well as the prediction confirms neither."""
    if prediction is None or prediction["gain_pct"] is None or compared["change_pct"] is None:
        return None
    low = prediction["gain_low_pct"] if prediction["gain_low_pct"] is not None else prediction["gain_pct"]
    high = prediction["gain_high_pct"] if prediction["gain_high_pct"] is not None else prediction["gain_pct"]
    if compared["low_pct"] is None or compared["high_pct"] is None:
        return UNKNOWN
    measured_low, measured_high = -compared["high_pct"], -compared["low_pct"]
    if measured_low > high:
        return "more than predicted"
    if measured_high < low:
        return "less than predicted"
    return UNKNOWN if measured_low <= 0 < low else "as predicted"
