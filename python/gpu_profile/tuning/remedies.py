"""What to try next: findings with remedies, and predictions that no finding names, without what was tried already."""

from __future__ import annotations

from typing import Any

__all__ = ["next_remedies"]

_LEAST_GAIN_PCT = 1.0  # predictions below it are not worth a trial


def next_remedies(findings: list[dict[str, Any]], predictions: list[dict[str, Any]], tried: list[str]) -> list[dict[str, Any]]:
    """The largest predicted gain first; findings without a prediction follow in their order."""
    tried = [change.partition("=")[0] for change in tried]
    by_change = {each["change"]: each for each in predictions}
    named = {each["change"] for each in findings if each["change"]}
    found = [{"title": each["title"], "remedy": each["remedy"], "prediction": by_change.get(each["change"])} for each in findings if each["change"] not in tried]
    for change, each in by_change.items():
        if change in named or change in tried or (each["gain_pct"] or 0) < _LEAST_GAIN_PCT:
            continue
        found.append({"title": f"Prediction without a finding: {change}", "remedy": None, "prediction": each})
    return sorted(found, key=lambda each: -(each["prediction"]["gain_pct"] or 0) if each["prediction"] else 0.0)
