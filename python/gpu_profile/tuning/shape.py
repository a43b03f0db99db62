"""What an investigation.json may hold. It may come from elsewhere, or be damaged: everything that the commands read is checked once, here."""

from __future__ import annotations

import math
import os
import re
import shlex
from datetime import datetime
from typing import Any, Callable, Union

__all__ = ["TIME", "is_word", "problem_of"]

TIME = "%Y-%m-%dT%H:%M:%SZ"
_MOST = 1e300  # of a number; above it, arithmetic with floats fails

Check = Callable[[Any], bool]
# A check, [shape] of a list, {name: shape} of an object (others may be there; a name with ? may be absent or null).
Shape = Union[Check, list[Any], dict[str, Any]]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def is_word(value: Any) -> bool:
    """A word of a command line."""
    try:
        return _text(value) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _options(value: Any) -> bool:
    try:
        return is_word(value) and all(map(is_word, shlex.split(value)))
    except ValueError:
        return False


def _id(value: Any) -> bool:
    return _text(value) and re.fullmatch("[0-9a-f]{32}", value) is not None  # a part of a path


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _MOST and math.isfinite(value)


def _count(value: Any) -> bool:
    return _number(value) and isinstance(value, int) and 0 <= value < 1 << 31


def _time(value: Any) -> bool:
    try:
        datetime.strptime(value, TIME)
    except (TypeError, ValueError):
        return False
    return True


def _decision(value: Any) -> bool:
    return value in ("accepted", "rejected", "undecided")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_text, value))


_NUMBERS = ("base_ns", "new_ns", "change_pct", "low_pct", "high_pct", "noise_pct", "base_peak_bytes", "peak_bytes")
_COMPARED = {"verdict": _text, "lead": _texts, "warnings": [_text], "warning_codes?": [_text], "metric?": _text, "basis?": _text, "confidence?": _text, **{f"{name}?": _number for name in _NUMBERS}}
_CODE = {"commit": _text, "patch?": _text, "patch_sha256?": _text, "note?": _text, "untracked": [_text]}
_RECORDED = {"recordings": _texts, "recorded_at?": _time, "code?": _CODE}
_STATE = {**_RECORDED, "again": [{**_RECORDED, "same_code": _flag, "compared": _COMPARED}]}
_BASELINE = {**_STATE, "noise_pct?": _number, "verdict?": _text, "because?": _text, "warnings": [_text]}
_PREDICTION = {"change": _text, "gain_pct?": _number, "gain_low_pct?": _number, "gain_high_pct?": _number, "confidence?": _text, "assumes?": _text}
_TRIAL = {
    **_STATE, "note": _text, "base": _count, "same_code": _flag, "changes": [_text], "prediction?": _PREDICTION, "compared": _COMPARED, "held?": _text,
    "evaluation?": {"exit_code": _number, "problem?": _text}, "max_memory_mb?": _number, "decision": _decision, "because": _text,
}  # fmt: skip
_DOCUMENT = {
    "id?": _id, "command": [is_word], "command_text?": _text, "cwd": _text, "cwd_from_folder": _text, "record": _options, "repeat?": _count, "states": [{}],
    "total?": {"lead": _texts},
}  # fmt: skip


def problem_of(document: dict[str, Any]) -> str | None:
    """What is wrong with a document, as "states[1].base is missing"; None if nothing is. What may be absent is null afterwards."""
    wrong = _wrong(document, _DOCUMENT, "")
    for number, state in enumerate([] if wrong else document["states"]):
        wrong = wrong or _wrong(state, _BASELINE if number == 0 else _TRIAL, f"states[{number}]")
        if not wrong and number > 0:
            lone = _lone(state, number)
            wrong = f"states[{number}].{lone}" if lone else None
    return wrong


def _lone(trial: dict[str, Any], number: int) -> str | None:
    """What is there without that which it is about."""
    prediction = trial["prediction"] or {}
    if trial["base"] >= number:
        return "base is not an earlier state"
    if (prediction.get("gain_low_pct") is None) != (prediction.get("gain_high_pct") is None):
        return "prediction has half of an interval"
    return None


def _wrong(value: Any, shape: Shape, at: str) -> str | None:
    if isinstance(shape, list):
        parts = [(f"{at}[{number}]", each, shape[0]) for number, each in enumerate(value)] if isinstance(value, list) else None
    elif isinstance(shape, dict):
        parts = _members(value, shape, at) if isinstance(value, dict) else None
    else:
        parts = [] if shape(value) else None
    if parts is None:
        return f"{at} is missing" if value is None else f"{at} has an unexpected value"
    return next((found for found in (_wrong(each, part, name) for name, each, part in parts) if found), None)


def _members(value: dict[str, Any], shape: dict[str, Any], at: str) -> list[tuple[str, Any, Shape]]:
    parts: list[tuple[str, Any, Shape]] = []
    for name, part in shape.items():
        plain = name.rstrip("?")
        if value.setdefault(plain, None) is not None or plain == name:
            parts.append((f"{at}.{plain}".lstrip("."), value[plain], part))
    return parts
