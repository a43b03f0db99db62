"""The shared libraries and glibc version that an ELF file needs, read from the file, because machines without compilers lack readelf.

Supports 64-bit little-endian files only, the kind that is packed. Source: the System V ABI, chapters 4 and 5, and the LSB for
versions.
"""

import ctypes
import re
import struct
from pathlib import Path

DYNAMIC, VERNEED, NEEDED = 6, 0x6FFFFFFE, 1


def sections(data):
    """(type, offset, size, link) of each section."""
    at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for number in range(count):
        kind, = struct.unpack_from("<I", data, at + number * size + 4)
        offset, length, link = struct.unpack_from("<QQI", data, at + number * size + 24)
        yield kind, offset, length, link


def text(data, at):
    return data[at : data.index(b"\0", at)].decode()


def needs(path):
    """({library}, {version}) such as ({"libc.so.6"}, {"GLIBC_2.34"}); two empty sets for a file that is not ELF."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return set(), set()
    libraries, versions, table = set(), set(), list(sections(data))
    for kind, offset, length, link in table:
        names = table[link][1] if link < len(table) else 0
        if kind == DYNAMIC:
            for at in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == NEEDED:
                    libraries.add(text(data, names + value))
        elif kind == VERNEED:
            versions |= set(_versions(data, offset, names))
    return libraries, versions


def _versions(data, at, names):
    while True:
        _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
        entry = at + first
        for _ in range(count):
            _, _, _, name, more = struct.unpack_from("<IHHII", data, entry)
            yield text(data, names + name)
            entry += more
        if not following:
            return
        at += following


def newest_glibc(versions):
    """(2, 34) of {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBCXX_3.4.30"}."""
    found = [tuple(map(int, match[1].split("."))) for match in (re.fullmatch(r"GLIBC_([\d.]+)", each) for each in versions) if match]
    return max(found, default=(2, 0))


def glibc_here():
    """This machine's, or None where it has another libc."""
    try:
        version = ctypes.CDLL(None).gnu_get_libc_version
    except (AttributeError, OSError):
        return None
    version.restype = ctypes.c_char_p
    return tuple(map(int, version().decode().split(".")[:2]))


def missing_here(wanted_glibc, libraries, beside):
    """Why a program cannot run on this machine, as a sentence, or None."""
    here = glibc_here()
    wanted = ".".join(map(str, wanted_glibc))
    if here is None:
        return f"the binaries need glibc {wanted}: this machine has another C library; build them here"
    if here < tuple(wanted_glibc):
        return f"the binaries need glibc {wanted}: this machine has {'.'.join(map(str, here))}; build and pack on an older system"
    for name in sorted(libraries):
        if not (Path(beside) / name).exists() and not _can_load(name):
            return f"the binaries need {name}: this machine does not have it; install it, or put it next to the program"
    return None


def _can_load(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
