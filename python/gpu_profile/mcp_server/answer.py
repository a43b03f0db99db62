"""Answers as JSON of a stated size: tables with handles and paging, texts without control characters, and the number of
what was omitted.

An answer has two members. `limits` is ours: what was omitted, and how to ask for it. `data` is what the program says
about a recording, and its texts contain names that the recorded program chose.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import Error

__all__ = ["bounded", "error", "page_of_lines", "shaped"]

_TOO_LARGE = 6
_LONGEST_CELL, _LONGEST_TEXT = 400, 2000  # characters
# Control characters except line feeds; what reorders or hides text: bidirectional controls, invisible characters, tags,
# variation selectors; halves of surrogate pairs, private use.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U0010ffff]"
)


def shaped(document: dict[str, Any], offset: int, limit: int) -> dict[str, Any]:
    """Return the program's JSON envelope as an answer: `limit` rows of each table from row `offset` on. The program was
    asked for offset + limit rows."""
    data = {name: value for name, value in document.items() if name not in ("tool", "version", "schema", "tables")}
    data["tables"] = [_table(table, offset, limit) for table in document.get("tables", [])]
    return data


def _table(table: dict[str, Any], offset: int, limit: int) -> dict[str, Any]:
    prefix = table.get("handle_prefix")
    rows = table["rows"][offset : offset + limit]
    columns = [{"name": column["name"], **({"unit": column["unit"]} if column.get("unit") else {})} for column in table["columns"]]
    if prefix:
        columns.insert(0, {"name": "handle"})
        rows = [[f"{prefix}-{offset + number}", *row] for number, row in enumerate(rows, 1)]
    total = None if table.get("more") else table["row_count"]  # a query stops at its limit, so that the rest is not counted
    return {"name": table["name"], "row_count": total, "offset": offset, "columns": columns, "rows": rows, "notes": table.get("notes", [])}


def page_of_lines(text: str, offset: int, limit: int) -> dict[str, Any]:
    """Return lines of a text as a table of one column."""
    lines = text.splitlines()
    rows = [[line] for line in lines[offset : offset + limit]]
    return {"tables": [{"name": "lines", "row_count": len(lines), "offset": offset, "columns": [{"name": "line"}], "rows": rows, "notes": []}]}


def bounded(data: dict[str, Any], most_bytes: int) -> str:
    """Return the answer as JSON of at most `most_bytes` bytes. Raises Error if not even its frame fits."""
    data = _safe(data, _LONGEST_TEXT)
    tables: list[dict[str, Any]] = data.get("tables", [])
    lists = {name: value for name, value in data.items() if isinstance(value, list) and name != "tables"}
    wholes = {name: len(value) for name, value in lists.items()}
    while True:
        text = _text(data, tables, {name: wholes[name] - len(value) for name, value in lists.items()}, most_bytes)
        excess = len(text.encode()) - most_bytes
        if excess <= 0:
            return text
        if not _shorten([table["rows"] for table in tables], excess) and not _shorten(list(lists.values()), excess):
            raise Error(_TOO_LARGE, f"the answer does not fit into {most_bytes:,} bytes even without rows; ask for fewer analyses")


def error(message: str, code: int) -> str:
    """Return an error as JSON: one line and the exit code of the program."""
    line = " ".join(message.removeprefix("gpu-profile: ").split())
    return json.dumps({"error": _safe(line, _LONGEST_TEXT), "exit_code": code}, ensure_ascii=False)


def _text(data: dict[str, Any], tables: list[dict[str, Any]], shortened: dict[str, int], most_bytes: int) -> str:
    left_out: list[dict[str, Any]] = []
    for table in tables:
        shown, total = table["offset"] + len(table["rows"]), table["row_count"]
        if total is None or shown < total:
            left_out.append({"table": table["name"], "rows": None if total is None else total - shown, "next_offset": shown})
    left_out += [{"list": name, "items": count} for name, count in shortened.items() if count > 0]
    return json.dumps({"limits": {"max_bytes": most_bytes, "left_out": left_out}, "data": data}, ensure_ascii=False, separators=(",", ":"))


def _shorten(lists: list[list[Any]], excess: int) -> bool:
    """Remove items from the end of the longest list, about as many as the excess takes. False if all are empty."""
    sizes = [sum(len(json.dumps(item, ensure_ascii=False).encode()) for item in items) for items in lists]
    if not any(lists):
        return False
    items = lists[max(range(len(lists)), key=lambda index: (sizes[index], len(lists[index])))]
    freed = 0
    while items and freed < max(1, excess // 2):  # half at a time, so that another list takes its share
        freed += len(json.dumps(items.pop(), ensure_ascii=False).encode())
    return True


def _safe(value: Any, longest: int) -> Any:
    """Return a value without unsafe characters; a text above `longest` characters is cut, and says how much is missing."""
    if isinstance(value, str):
        value = _UNSAFE.sub("\ufffd", value)
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value) - longest:,} more characters)"
    if isinstance(value, list):
        return [_safe(item, longest) for item in value]
    if isinstance(value, dict):
        return {_UNSAFE.sub("\ufffd", name): _safe(item, _LONGEST_CELL if name == "rows" else longest) for name, item in value.items()}
    return value
