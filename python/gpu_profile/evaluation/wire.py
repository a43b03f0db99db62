"""Messages between the evaluator and a worker: one JSON header, then raw blocks of bytes.

    | 4 bytes, big endian: length of the header | header, JSON | block 0 | block 1 | ...

The header's "blocks" lists their sizes. Nothing is unpickled: a module under test can only inject text and bytes. Each
header carries the token that the evaluator generated for this worker; a message without it is rejected. Messages travel
on a socket known only to the worker, so that output of the module is never mistaken for an answer.
"""

from __future__ import annotations

import hmac
import json
import socket
import struct
import time
from typing import Any

__all__ = ["Forged", "receive", "send"]

_HEADER_LIMIT = 64 << 20


class Forged(Exception):
    """A message that the worker's code cannot produce."""


def send(link: socket.socket, token: str, header: dict[str, Any], blocks: list[bytes] | None = None) -> None:
    blocks = blocks or []
    text = json.dumps({**header, "token": token, "blocks": [len(block) for block in blocks]}).encode()
    link.sendall(struct.pack(">I", len(text)) + text)
    for block in blocks:
        link.sendall(block)


def receive(link: socket.socket, token: str, deadline: float | None = None) -> tuple[dict[str, Any], list[bytes]]:
    """Return the next message. Raises EOFError if the other end is closed, TimeoutError after `deadline`
    (time.monotonic)."""
    (length,) = struct.unpack(">I", _exactly(link, 4, deadline))
    if length > _HEADER_LIMIT:
        raise Forged
    header: Any
    try:
        header = json.loads(bytes(_exactly(link, length, deadline)))
        sizes = [int(size) for size in header["blocks"]]
        honest = hmac.compare_digest(str(header["token"]), token) and all(size >= 0 for size in sizes)
    except (ValueError, TypeError, KeyError) as problem:
        raise Forged from problem
    if not honest:
        raise Forged
    return header, [bytes(_exactly(link, size, deadline)) for size in sizes]


def _exactly(link: socket.socket, size: int, deadline: float | None) -> bytearray:
    out = bytearray(size)
    view, done = memoryview(out), 0
    while done < size:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        link.settimeout(left)
        try:
            count = link.recv_into(view[done:], min(size - done, 1 << 20))
        except socket.timeout as problem:  # a separate type until Python 3.10
            raise TimeoutError from problem
        if count == 0:
            raise EOFError
        done += count
    return out
