"""Packs the folder of a part into one file of bounded size.

The most informative files come first: the report, the results, the output of checks. Evidence follows, small files before large
ones. A recording that is too large is cut to a prefix, because every prefix of a capture is readable; other files are skipped.
The report lists both.
"""

import io
import os
import tarfile
import zlib
from pathlib import Path

LIMIT_BYTES = 16 * 1000 * 1000
FIRST = ("report.md", "results.json", "machine.json", "journal.jsonl")
LEAST_PREFIX = 64 * 1024  # of a recording: shorter ones tell nothing
HEADER = 2048  # of a file in the archive, with its padding


def plan(files, limit):
    """[(file, bytes of it to take or None for all)] that fit, and what does not: files are (name, size, size when compressed)."""
    first = [file for file in files if file[0] in FIRST or file[0].endswith(("said.json", "verdict.json"))]
    rest = sorted((file for file in files if file not in first), key=lambda file: file[2])
    taken, trimmed, room = [], [], limit
    for name, size, packed in [*first, *rest]:
        if packed + HEADER <= room:
            taken.append((name, None))
            room -= packed + HEADER
        elif name.endswith(".gpuprof") and room > LEAST_PREFIX + HEADER:
            taken.append((name, room - HEADER))
            trimmed.append(f"{name}: the first {room - HEADER:,} of {size:,} bytes")
            room = 0
        else:
            trimmed.append(f"{name}: left out, {size:,} bytes")
    return taken, trimmed


class Archive:
    """Writes the archive of a folder, as often as asked; remembers how well each file compresses."""

    def __init__(self, folder, path, limit=LIMIT_BYTES):
        self.folder, self.path, self.limit, self.known = Path(folder), Path(path), limit, {}

    def write(self, note):
        """Writes it; `note` is called with what was trimmed before the files are read, to say so in the report."""
        room = self.limit - 64 * 1024  # the report grows by what is said there
        while True:
            taken, trimmed = plan(self._files(), room)
            note(trimmed)
            data = self._pack(taken)
            if len(data) <= self.limit or room < LEAST_PREFIX:
                break
            room -= len(data) - self.limit + LEAST_PREFIX
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_bytes(data)
        os.replace(beside, self.path)
        return trimmed

    def _files(self):
        found = []
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.name.endswith(".new"):
                found.append((str(path.relative_to(self.folder)), path.stat().st_size, self._packed_size(path)))
        return found

    def _packed_size(self, path):
        size = path.stat().st_size
        key = (path, size, path.stat().st_mtime_ns)
        if key not in self.known:
            self.known[key] = size if path.suffix in (".gz", ".xz", ".gpuprof") else len(zlib.compress(path.read_bytes(), 1))
        return self.known[key]

    def _pack(self, taken):
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as archive:
            for name, size in taken:
                with open(self.folder / name, "rb") as file:
                    data = file.read(size)  # None: all of it
                entry = tarfile.TarInfo(f"{self.folder.name}/{name}")
                entry.size, entry.mtime = len(data), int((self.folder / name).stat().st_mtime)
                archive.addfile(entry, io.BytesIO(data))
        return target.getvalue()


def unpack(path, folder):
    """Puts an archive back where it came from: how a rerun on a fresh machine goes on."""
    with tarfile.open(path) as archive:
        for entry in archive:
            target = Path(folder) / entry.name
            if entry.isfile() and ".." not in target.parts:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.extractfile(entry).read())
