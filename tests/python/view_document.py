"""A document of the viewer (docs/reference/formats/viewer.md), read by an independent implementation: from an HTML file or from
the server."""

import base64
import gzip
import itertools
import json
import re
import struct

SEGMENT = re.compile(r'<script type="application/octet-stream" class="segment" data-first="(\d+)" data-count="(\d+)">([^<]*)</script>')
MANIFEST = re.compile(r'<script type="application/json" id="manifest">([^<]*)</script>')


def split_framed(data):
    blobs, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        blobs.append(data[at + 4: at + 4 + length])
        assert len(blobs[-1]) == length
        at += 4 + length
    return blobs


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size: self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def text(self):
        return self.take(self.varint())


def payload(data):
    """Return (table name, rows, {column: list of values or None}) of an uncompressed payload (docs/reference/capture-format.md)."""
    head = Cursor(data)
    table, rows, front_raw, front_stored, values_raw, values_stored = head.text().decode(), *(head.varint() for _ in range(5))
    assert front_raw == front_stored and values_raw == values_stored
    front, values = Cursor(head.take(front_raw)), Cursor(head.take(values_raw))
    return table, rows, dict(column(front, values, rows) for _ in range(front.varint()))


def column(front, values, rows):
    name, kind, _ = front.text().decode(), front.byte(), front.text()
    present = [True] * rows
    if front.byte():
        bits = front.take((rows + 7) // 8)
        present = [bool(bits[i // 8] >> i % 8 & 1) for i in range(rows)]
    encoding, width, parameter = front.byte(), front.byte(), Cursor(front.text())
    planes = [values.take(rows) for _ in range(width)]
    numbers = [sum(plane[i] << 8 * k for k, plane in enumerate(planes)) for i in range(rows)]
    if kind == 5:
        entries = [parameter.text()] if encoding == 0 else [parameter.text() for _ in range(parameter.varint())]
        out = [entries[n].decode(errors="replace") for n in (numbers if encoding else [0] * rows)]
    elif encoding == 0:
        out = [parameter.signed()] * rows
    elif encoding == 4:
        entries = [parameter.signed() for _ in range(parameter.varint())]
        out = [entries[n] for n in numbers]
    elif encoding == 5:
        out = numbers
    else:
        base = parameter.signed()
        if encoding == 1:
            out = [base + n for n in numbers]
        else:
            steps = numbers if encoding == 2 else [n >> 1 ^ -(n & 1) for n in numbers]
            out = list(itertools.accumulate(steps, initial=base))[1:]
    if kind == 4:
        out = [struct.unpack("<d", struct.pack("<Q", n % 2**64))[0] for n in out]
    else:
        out = [(n + 2**63) % 2**64 - 2**63 if isinstance(n, int) else n for n in out]
    return name, [value if there else None for value, there in zip(out, present, strict=True)]


class Document:
    def __init__(self, manifest, blobs):
        self.manifest, self.blobs = manifest, blobs

    @classmethod
    def of_html(cls, html):
        (manifest,) = MANIFEST.findall(html)
        blobs = []
        for first, count, text in SEGMENT.findall(html):
            assert int(first) == len(blobs)
            blobs += split_framed(gzip.decompress(base64.b64decode(text, validate=True)))
            assert len(blobs) == int(first) + int(count)
        document = cls(json.loads(manifest), blobs)
        assert len(blobs) == document.manifest["blob_count"]
        return document

    def level(self, lane, level=0):
        """Return the rows of a level as dictionaries, checking the manifest's statements about its chunks."""
        rows, events, busy = [], 0, 0
        for blob, count, start, end, events_before, time_before, *stacks in lane["levels"][level]["chunks"]:
            table, n, columns = payload(self.blobs[blob])
            assert table == ("slice" if lane["kind"] == "slice" else "value") and n == count
            assert (events_before, time_before) == (events, busy)
            for each in stacks:
                table, n, frames = payload(self.blobs[each])
                assert (table, n, level, list(frames)) == ("stack", count, 0, ["frame"])
                columns |= frames
            chunk = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
            if lane["kind"] == "slice":
                assert chunk[0]["start"] == start and max(r["start"] + r["dur"] for r in chunk) == end
                events += sum(r.get("count", 1) for r in chunk)
                busy += sum(r.get("busy", r["dur"]) for r in chunk)
            else:
                assert (chunk[0]["time"], chunk[-1]["time"]) == (start, end)
                events += sum(r.get("count", 1) for r in chunk)
            rows += chunk
        return rows

    def lanes(self, **members):
        return [lane for lane in self.manifest["lanes"] if all(lane[k] == v for k, v in members.items())]

    def table(self, name):
        (table,) = (t for t in self.manifest["tables"] if t["name"] == name)
        columns = {c["name"]: [] for c in table["columns"]}
        rows = 0
        for blob in table["blobs"]:
            given, n, chunk = payload(self.blobs[blob])
            assert given == name
            rows += n
            for column_name, values in columns.items():
                values += chunk.get(column_name, [None] * n)
        assert rows == table["rows"]
        return columns

    def json(self, member):
        return json.loads(self.blobs[self.manifest[member]])

    def names(self):
        return payload(self.blobs[self.manifest["names"]])[2] if self.manifest["names"] is not None else {"name": []}
