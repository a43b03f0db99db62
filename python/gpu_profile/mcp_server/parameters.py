"""Parameters of tools: declared once, for the JSON Schema that clients see and for the check of a call."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from ..errors import Error

__all__ = ["Parameter", "checked", "json_schema"]

_USAGE = 2
_LONGEST_TEXT, _MOST_ITEMS = 100_000, 64
_TYPES: dict[str, Any] = {"text": str, "path": str, "texts": list, "paths": list, "whole": int, "flag": bool}
_NAMES = {"text": "a text", "path": "a path", "texts": "a list of texts", "paths": "a list of paths", "whole": "a whole number", "flag": "true or false"}


@dataclass(frozen=True)
class Parameter:
    """`kind`: text, path, texts, paths, whole or flag. `flag`: the option of the command line that it becomes."""

    name: str
    kind: str
    doc: str
    required: bool = False
    default: Any = None
    lowest: int = 0
    highest: int = 1_000_000
    choices: tuple[str, ...] = ()
    flag: str = ""


def json_schema(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """Return the JSON Schema of a call's arguments."""
    return {
        "type": "object",
        "properties": {each.name: _schema(each) for each in parameters},
        "required": [each.name for each in parameters if each.required],
        "additionalProperties": False,
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    found: dict[str, Any] = {"description": parameter.doc}
    if parameter.kind in ("text", "path"):
        found.update(type="string", maxLength=_LONGEST_TEXT)
    elif parameter.kind in ("texts", "paths"):
        found.update(type="array", items={"type": "string"}, maxItems=_MOST_ITEMS)
    elif parameter.kind == "whole":
        found.update(type="integer", minimum=parameter.lowest, maximum=parameter.highest)
    else:
        found.update(type="boolean")
    if parameter.choices:
        found["enum"] = list(parameter.choices)
    if parameter.default is not None:
        found["default"] = parameter.default
    return found


def checked(tool: str, parameters: tuple[Parameter, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with defaults. Raises Error for an unknown, missing or wrong one."""
    names = [each.name for each in parameters]
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"expected one of: {', '.join(names) or 'none'}"
            raise Error(_USAGE, f"{tool}: unknown argument '{name}'; {hint}")
    values = {}
    for each in parameters:
        value = given.get(each.name)
        if value is None:
            if each.required:
                raise Error(_USAGE, f"{tool}: missing argument '{each.name}': {each.doc}")
            value = [] if each.kind in ("texts", "paths") and each.default is None else each.default
        else:
            _check(tool, each, value)
        values[each.name] = value
    return values


def _check(tool: str, parameter: Parameter, value: Any) -> None:
    wanted = f"{tool}: '{parameter.name}' must be"
    if not isinstance(value, _TYPES[parameter.kind]) or (parameter.kind == "whole" and isinstance(value, bool)):
        raise Error(_USAGE, f"{wanted} {_NAMES[parameter.kind]}")
    if isinstance(value, int) and not isinstance(value, bool) and not parameter.lowest <= value <= parameter.highest:
        raise Error(_USAGE, f"{wanted} from {parameter.lowest:,} to {parameter.highest:,}, not {value:,}")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        return
    if not all(isinstance(text, str) for text in texts):
        raise Error(_USAGE, f"{wanted} {_NAMES[parameter.kind]}")
    if len(texts) > _MOST_ITEMS:
        raise Error(_USAGE, f"{wanted} at most {_MOST_ITEMS} items")
    for text in texts:
        if len(text) > _LONGEST_TEXT or "\0" in text:
            raise Error(_USAGE, f"{wanted} at most {_LONGEST_TEXT:,} characters, without zero bytes")
        if parameter.choices and text not in parameter.choices:
            raise Error(_USAGE, f"{wanted} one of: {', '.join(parameter.choices)}")
