"""Arrow streams of libgpuprof.so through ctypes: conversion to Python values, and export as capsules. Structures follow
the Arrow C data and stream interfaces. Reads only the types that present/query/arrow.cc writes.
"""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["Stream", "capsule", "values"]


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    """struct ArrowArrayStream."""

    release: Any


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]

_NUMBERS: dict[str, Any] = {"l": ctypes.c_int64, "i": ctypes.c_int32, "g": ctypes.c_double}
_CAPSULE_NAME = b"arrow_array_stream"



# Streams inside capsules, by address, until the capsule is destroyed.
_given: dict[int, Stream] = {}
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def capsule(stream: Stream) -> object:
    """Return an Arrow PyCapsule that releases the stream unless a consumer took it over."""
    address = ctypes.addressof(stream)
    _given[address] = stream
    made: object = _new_capsule(address, _CAPSULE_NAME, _forget)
    return made


def _release_capsule(given: int) -> None:
    stream = _given.pop(_capsule_pointer(given, _CAPSULE_NAME))
    if stream.release:
        stream.release(ctypes.byref(stream))


_forget = _Destructor(_release_capsule)  # kept for the life of the process, because capsules may be destroyed last


def values(stream: Stream, names: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the single batch as Python values, by the given names. Releases the stream."""
    schema, array = _Schema(), _Array()
    try:
        if stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) != 0:
            raise MemoryError
        if stream.get_next(ctypes.byref(stream), ctypes.byref(array)) != 0:
            raise MemoryError
        columns = zip(names, range(array.n_children))
        return {name: _column(schema.children[at].contents, array.children[at].contents) for name, at in columns}
    finally:
        for held in (array, schema, stream):
            if held.release:
                held.release(ctypes.byref(held))


def _column(schema: _Schema, array: _Array) -> list[Any]:
    rows = array.length
    kind = schema.format.decode()
    if rows == 0:
        return []
    there = _bits(array.buffers[0], rows) if array.buffers[0] else None
    if kind == "b":
        found: list[Any] = [bool(bit) for bit in _bits(array.buffers[1], rows)]
    else:
        found = list((_NUMBERS[kind] * rows).from_address(array.buffers[1]))
    if schema.dictionary:
        texts = _texts(array.dictionary.contents)
        found = [texts[index] if there is None or there[row] else None for row, index in enumerate(found)]
    elif there is not None:
        found = [value if there[row] else None for row, value in enumerate(found)]
    return found


def _bits(address: int, rows: int) -> list[int]:
    packed = ctypes.string_at(address, (rows + 7) // 8)
    return [packed[row >> 3] >> (row & 7) & 1 for row in range(rows)]


def _texts(array: _Array) -> list[str]:
    offsets = (ctypes.c_int32 * (array.length + 1)).from_address(array.buffers[1])
    packed = ctypes.string_at(array.buffers[2], offsets[array.length])
    return [packed[offsets[at] : offsets[at + 1]].decode() for at in range(array.length)]
