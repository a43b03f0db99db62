"""The options that libgpuprof.so declares (gpuprof_options_json), so that their names and layout are defined in one
place: the option structures of its functions, filled from Python's names and units.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import native
from .errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Option", "filled", "options_of"]

_TYPES: dict[str, Any] = {
    "text": ctypes.c_char_p, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f64": ctypes.c_double,
}


class Option(NamedTuple):
    """One option; core/schema/option_kind.h explains the kinds."""

    field: str
    type: str
    offset: int
    kind: str
    default: Any  # in Python's units
    parameter: str | None  # of bench() or GpuMonitor
    flag: str | None  # of the command
    stopping: bool  # controls when sampling ends

    @property
    def name(self) -> str:
        """The key of its value in filled()."""
        return self.parameter or self.field

    def native(self, value: Any) -> Any:
        """Convert a Python value to the library's form."""
        return _NATIVE[self.kind](value)


def _text(value: str | os.PathLike[str] | None) -> bytes | None:
    return None if value is None else os.fsencode(value)


# 0 means the library's default, so zero seconds are passed as -1.
def _time_ns(seconds: float | None) -> int:
    return 0 if seconds is None else round(seconds * 1e9) or -1


# A limit cannot be zero; less than a nanosecond is passed as 1.
def _limit_ns(seconds: float | None) -> int:
    return 0 if seconds is None else round(seconds * 1e9) or 1


_NATIVE: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "ordinal": lambda value: value,
    "whole": lambda value: value or 0,
    "share": lambda value: value or 0,
    "amount": lambda value: value or 0,
    "span": lambda seconds: round(seconds * 1e9),
    "time": _time_ns,
    "limit": _limit_ns,
    "on": bool,
    "off": lambda value: not value,
}


@functools.cache
def options_of(structure: str) -> tuple[Option, ...]:
    """Return the options of "bench" or "monitor", in field order. Raises GpuBackendError without the library."""
    found = (Option(**one) for one in _declarations()[structure]["options"])
    return tuple(sorted(found, key=lambda option: option.offset))


def filled(structure: str, values: Mapping[str, Any]) -> Any:
    """Return the structure with these values; missing ones keep the library's defaults."""
    made = _type_of(structure)()
    made.size = ctypes.sizeof(made)
    for option in options_of(structure):
        if option.name in values:
            setattr(made, option.field, option.native(values[option.name]))
    return made


@functools.cache
def _declarations() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(native.library().gpuprof_options_json())
    return found


@functools.cache
def _type_of(structure: str) -> type[ctypes.Structure]:
    fields = [("size", ctypes.c_size_t), *((option.field, _TYPES[option.type]) for option in options_of(structure))]
    made = type(f"gpuprof_{structure}_options", (ctypes.Structure,), {"_fields_": fields})
    wrong = [option.field for option in options_of(structure) if getattr(made, option.field).offset != option.offset]
    if wrong or ctypes.sizeof(made) != _declarations()[structure]["size"]:
        raise Error(6, f"cannot use libgpuprof.so: it declares only a part of gpuprof_{structure}_options")
    return made
