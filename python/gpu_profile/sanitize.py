"""Makes text sanitized in terminals and spreadsheets, by the rules of docs/reference/formats/csv.md (core/base/text/utf8.h and
csv.h)."""

from __future__ import annotations

import re

__all__ = ["sanitized", "printable_lines"]

_BEGINS_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def sanitized(text: str) -> str:
    """Return `text` as a CSV field: an apostrophe before a formula, no control characters."""
    guard = text.startswith("'") or (text[:1] in _BEGINS_FORMULA and text != "" and not _NUMBER.fullmatch(text))
    return ("'" if guard else "") + _CONTROL.sub("\ufffd", text)


def printable_lines(text: str) -> str:
    """Return `text` as lines for a terminal."""
    return _CONTROL.sub("\ufffd", re.sub("[\r\t]", " ", text))
