#!/usr/bin/env python3
"""Measures the cost of reading decompression bombs: small files that unpack to gigabytes, or whose few bytes produce large rows.

    tests/soak/bombs.py BINARY [--mib 3] [--only TEXT] [--most-gib 2] [--most-seconds 60]

Each reader gets at least one bomb, packed with gzip and zstd and read twice: with the default limits, and with a raised
--unpack-ratio, so that only the memory limit applies. Every run must end with an answer (0) or a one-line refusal (3), below
`--most-gib` of resident memory and `--most-seconds` of CPU time. Prints a table. tests/python/files/test_bombs.py runs smaller bombs.
"""

import argparse
import ctypes
import functools
import os
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

BLOCK = 16 << 20  # bytes that are compressed once and then repeated


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, body):
    """A field of protobuf that holds bytes."""
    return varint(number << 3 | 2) + varint(len(body)) + body


def names(first, last):
    return b"".join(b"\x22\x04\x08" + varint(i << 7)[:3] for i in range(first, last))


KINETO = b'{"schemaVersion":1,"deviceProperties":[],"traceEvents":['
XPROF = b'{"metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},'
PROTON = b'[{"frame":{"name":"R"},"metrics":{},"children":['
SNAPSHOT = b"\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x0ddevice_traces\x94"
ENTRY = b"](}(\x8c\x06action\x94\x8c\x05alloc\x94\x8c\x04size\x94K\x01u\x94"  # remembered as number 7
PPROF = field(1, b"\x08\x01\x10\x02") + field(6, b"") + field(6, b"space") + field(6, b"bytes")

# Name: how the file begins, and what is repeated in it.
BOMBS = {
    "kineto kernels": (KINETO, b'{"ph":"X","cat":"kernel","ts":1,"dur":1},'),
    "kineto operators": (KINETO, b'{"ph":"X","cat":"cpu_op","ts":1,"dur":1},'),
    "kineto one string": (KINETO + b'{"ph":"X","name":"', b"a"),
    "kineto nesting": (KINETO, b"["),
    "xprof_json events": (XPROF, b'{"ph":"X","ts":1},'),
    "xprof_json numbers": (XPROF, b"1,"),
    "proton nodes": (PROTON, b"{},"),
    "proton metrics": (b'[{"frame":{"name":"R"},"children":[],"metrics":{', b'"a":1,'),
    "torch_snapshot none": (SNAPSHOT, b"N"),
    "torch_snapshot lists": (SNAPSHOT, b"]"),
    "torch_snapshot memo": (SNAPSHOT, b"\x94"),
    "torch_snapshot one event": (SNAPSHOT + ENTRY, b"h\x07"),
    "torch_timeline": (b"[", b"[1,1,1,0],"),
    "xplane events": (field(1, field(2, b"/host:CPU")), field(1, field(2, b"/host:CPU") + field(3, b"\x22\x00" * 500_000))),
    "xplane lines": (field(1, field(2, b"/host:CPU")), field(1, field(2, b"/host:CPU") + b"\x1a\x00" * 500_000)),
    "xplane names": (field(1, field(2, b"/host:CPU")), field(1, field(2, b"/host:CPU") + names(0, 1 << 14) + names(1 << 14, 2 << 14) * 30)),
    "pprof texts": (PPROF, b"\x32\x00"),
    "pprof places": (PPROF, field(4, b"\x08\x01" + b"\x22\x00" * 9_000) + field(2, b"\x08\x01\x10\x01") * 1000),
    "smi rows": (b"index, utilization.gpu [%]\n", b"0, 1\n"),
    "smi columns": (b"index, utilization.gpu [%]" + b", memory.used [MiB]" * 1000 + b"\n", b"0" + b",1" * 1001 + b"\n"),
    "dmon": (b"# gpu sm\n", b"0 1\n"),
    "smi one line": (b"index, utilization.gpu [%]\n", b"1"),
    "smi answers": (b"<nvidia_smi_log>\n<gpu>", b"<a>1</a>"),
    "series": (b"time_s,device,util_gpu\n", b"1,0,1\n"),
    "ncu": (b'"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n', b'"0","1","k","m","","1"\n'),
    "zeros": (b"", b"\x00"),
}


@functools.cache
def library():
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = zstd.ZSTD_compressBound.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    return zstd


def zstd(data):
    room = ctypes.create_string_buffer(library().ZSTD_compressBound(len(data)))
    size = library().ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:size]


def gzip(data, level=9):
    packer = zlib.compressobj(level, wbits=31)
    return packer.compress(data) + packer.flush()


PACKERS = {"gz": gzip, "zst": zstd}


def write(path, pack, head, unit, packed_bytes, unpacked_bytes):
    """As many blocks as fit: members of gzip and frames of zstd follow one another in a file."""
    block = unit * max(1, min(BLOCK, unpacked_bytes) // len(unit))
    packed = pack(block)
    count = max(1, min(packed_bytes // len(packed), unpacked_bytes // len(block)))
    path.write_bytes(pack(head) + packed * count)
    return len(head) + len(block) * count


def write_database(path, pack, unpacked_bytes):
    """Kernels whose rows are as short as rows can be."""
    plain = path.with_suffix(".plain")
    plain.unlink(missing_ok=True)
    database = sqlite3.connect(plain)
    database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)")
    database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1 FROM n",
                     (unpacked_bytes // 9,))
    database.commit()
    database.close()
    path.write_bytes(pack(plain.read_bytes()))
    plain.unlink()


# The peak that the kernel reports for a process includes that of the process which started it. So a small one starts the
# program, not this one, whose tests may have used any amount of memory.
STARTER = """
import os, sys
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)
"""


def read(binary, path, *options):
    """What a report says and takes, as `measured` returns it."""
    return measured([binary, "report", path, "kernels", "--format", "json", "--limit", "1", *options])


def measured(command, **how):
    """Exit status, lines of standard error, peak resident memory in bytes and CPU seconds. `how`: as for subprocess.run."""
    starter = [sys.executable, "-I", "-S", "-c", STARTER]
    done = subprocess.run([*starter, *map(str, command)], capture_output=True, check=True, **how)
    status, memory, seconds = done.stdout.split()
    return int(status), done.stderr.decode(errors="replace").splitlines(), int(memory), float(seconds)


def complaint(status, said, memory, seconds, most_memory, most_seconds):
    """What is wrong with a run; None when nothing is."""
    if status not in (0, 3) or len(said) > 1 or (status == 3 and not said):
        return f"status {status}: {said}"
    if memory > most_memory:
        return f"{memory >> 20} MiB of memory"
    return f"{seconds:.0f} s of CPU time" if seconds > most_seconds else None


def main():
    parser = argparse.ArgumentParser(description="Reads files that unpack to gigabytes.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--mib", type=float, default=3, help="most size of a compressed file")
    parser.add_argument("--unpacked-gib", type=float, default=3)
    parser.add_argument("--only", default="", help="bombs whose name has this")
    parser.add_argument("--most-gib", type=float, default=2)
    parser.add_argument("--most-seconds", type=float, default=60)
    options = parser.parse_args()
    wrong, runs, largest = 0, 0, 0
    print(f"{'bomb':28} {'file':>9} {'unpacked':>9} {'limits':8} {'exit':>4} {'memory':>9} {'CPU':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, ending in ((name, ending) for name in [*BOMBS, "nsys rows"] for ending in PACKERS if options.only in name):
            path = Path(folder) / f"bomb.{ending}"
            if name in BOMBS:
                size = write(path, PACKERS[ending], *BOMBS[name], int(options.mib * 2**20), int(options.unpacked_gib * 2**30))
            else:
                size = 256 << 20
                write_database(path, PACKERS[ending], size)
            for limits, more in (("usual", ()), ("memory", ("--unpack-ratio", "1e6"))):
                status, said, memory, seconds = read(options.binary.resolve(), path, *more)
                error = complaint(status, said, memory, seconds, options.most_gib * 2**30, options.most_seconds)
                runs, wrong, largest = runs + 1, wrong + (error is not None), max(largest, memory)
                print(f"{name + ' ' + ending:28} {path.stat().st_size >> 10:5} KiB {size >> 20:5} MiB {limits:8} {status:4} {memory >> 20:5} MiB "
                      f"{seconds:5.1f} s{'  ' + error if error else ''}", flush=True)
    print(f"{runs} runs, at most {largest >> 20} MiB, {wrong} errors")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
