"""Damaged jobs: files that are cut anywhere, emptied, swapped, renamed or of another's rank, and hostile summaries. `ranks` answers
with a row for every rank and counts what is lost, or refuses in one line. It never crashes.
"""

import ctypes
import gzip
import json
import random
import re
import shutil
import struct
import sys
import zlib

import pytest
from conftest import FIXTURES
from nightly import NIGHTLY, times

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT))

from tests.ranks import generate  # noqa: E402

RANKS = 16
TABLE = 2  # kind of chunk
CUTS = 50


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A job of 16 ranks without faults, one file each."""
    folder = tmp_path_factory.mktemp("job")
    assert generate.main(["clean-16", str(folder), "--steps", "2", "--level", "1", "--no-operators"]) in (0, None)
    (folder / "truth.json").unlink()
    return folder


@pytest.fixture
def copy(job, tmp_path):
    return shutil.copytree(job, tmp_path / "job")


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


class Ranks:
    def __init__(self, program, cache):
        self.program, self.cache = program, cache

    def refused(self, *arguments):
        done = self.program.run("ranks", *arguments, "--cache", self.cache)
        assert done.status in (2, 3), done
        assert len(done.errors) == 1
        return done.errors[0]

    def rows(self, *arguments):
        """The table ranks, and what the first answer says of them."""
        done = self.program.run("ranks", *arguments, "ranks", "--cache", self.cache, "--format", "json", "--limit", "0")
        assert done.status == 0, done
        (table,) = json.loads(done.stdout)["tables"]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row, strict=True)) for row in table["rows"]]

    def statuses(self, *arguments):
        return {row["rank"]: row["status"] for row in self.rows(*arguments)}


@pytest.fixture
def ranks(program, shared_cache):
    return Ranks(program, shared_cache)


def cuts():
    """Half of the ranks, and a place for each of them. All fifty places are cut in some file; at night, in every file."""
    for first in range(0, CUTS, 1 if NIGHTLY else RANKS // 2):
        for half in (0, 1) if NIGHTLY else (first // (RANKS // 2) % 2,):
            yield half, {rank: (first + rank // 2) % CUTS for rank in range(half, RANKS, 2)}


def test_files_cut_at_fifty_places(ranks, job, tmp_path):
    """Each run cuts half of the files, each at another place."""
    seen = set()
    for half, places in cuts():
        seen.update(places.values())
        paths = []
        for rank, path in enumerate(sorted(job.iterdir())):
            if rank in places:
                whole = path.read_bytes()
                path = tmp_path / path.name
                path.write_bytes(whole[: int(len(whole) * (places[rank] + 0.5) / CUTS)])
            paths.append(path)
        found = ranks.rows(*paths)
        assert [row["rank"] for row in found] == list(range(RANKS))
        assert {row["status"] for row in found if row["rank"] % 2 != half} == {"whole"}
        assert {row["status"] for row in found if row["rank"] % 2 == half} <= {"cut", "unreadable"}
        assert all(row["reason"] for row in found if row["status"] != "whole")
    assert seen == set(range(CUTS))


def test_the_first_line_counts(program, shared_cache, copy):
    for rank, size in ((2, 0), (5, 5_000), (7, 5_000)):
        path = copy / f"rank{rank:05}.json.gz"
        path.write_bytes(path.read_bytes()[:size])
    (copy / "rank00011.json.gz").unlink()
    (copy / "notes.txt").write_text("nothing")
    said = program.run("ranks", copy, "--cache", shared_cache).stdout.decode()
    assert re.search(r"14 of 16 ranks: 2 cut, 1 unreadable, 1 missing", said), said


def test_empty_files(ranks, copy):
    for rank in (0, 15):
        (copy / f"rank{rank:05}.json.gz").write_bytes(b"")
    assert ranks.statuses(copy) == {rank: "unreadable" if rank in (0, 15) else "whole" for rank in range(RANKS)}
    for rank in range(RANKS):
        (copy / f"rank{rank:05}.json.gz").write_bytes(b"")
    assert "none of the 16 files is of a rank" in ranks.refused(copy)


def without_file(rows):
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


def test_swapped_and_renamed_files_are_what_they_say(ranks, job, copy):
    expected = without_file(ranks.rows(job))
    first, second = copy / "rank00003.json.gz", copy / "rank00012.json.gz"
    first.rename(copy / "third")
    second.rename(first)
    (copy / "third").rename(second)
    assert without_file(ranks.rows(copy)) == expected
    for number, path in enumerate(sorted(copy.iterdir())):
        path.rename(copy / f"trace-{number * 37 % 101}.json.gz")
    assert without_file(ranks.rows(copy)) == expected


def test_two_files_of_one_rank_are_named(ranks, job, tmp_path):
    generate.main(["clean-16", str(tmp_path / "job"), "--steps", "2", "--level", "1", "--no-operators", "--claims", "3:5"])
    (tmp_path / "job" / "truth.json").unlink()
    said = ranks.refused(tmp_path / "job")
    assert "rank00003.json.gz and" in said and "rank00005.json.gz are both of rank 5" in said


def test_a_second_copy_is_skipped(ranks, copy):
    shutil.copy(copy / "rank00004.json.gz", copy / "again.json.gz")
    assert ranks.statuses(copy) == dict.fromkeys(range(RANKS), "whole")


def test_a_rank_outside_the_job(ranks, tmp_path):
    generate.main(["clean-16", str(tmp_path / "job"), "--steps", "2", "--level", "1", "--no-operators", "--claims", "3:99"])
    (tmp_path / "job" / "truth.json").unlink()
    found = ranks.statuses(tmp_path / "job")
    assert found[3] == "missing"
    assert found[99] == "whole"


def test_two_jobs_in_one_folder(ranks, job, tmp_path):
    generate.main(["foreign", str(tmp_path / "both"), "--steps", "2", "--level", "1", "--no-operators"])
    (tmp_path / "both" / "truth.json").unlink()
    said = ranks.refused(tmp_path / "both")
    assert "the files are of 2 jobs; choose one with --job N; job 1 has 8 files: ranks 0-7 of 8" in said
    assert "; job 2 has 4 files: ranks 0-3 of 4" in said
    assert ranks.statuses(tmp_path / "both", "--job", "1") == dict.fromkeys(range(8), "whole")
    assert ranks.statuses(tmp_path / "both", "--job", "2") == dict.fromkeys(range(4), "whole")
    assert "are both of rank " in ranks.refused(tmp_path / "both", "--job", "all")
    for wrong in ("0", "3", "x"):
        assert f"there is no --job {wrong}; job 1 has 8 files" in ranks.refused(tmp_path / "both", "--job", wrong)


def test_a_restart_in_the_same_folder(ranks, job, tmp_path):
    """The same ranks once more, an hour later: another attempt, even if the first one lacks some ranks."""
    both = shutil.copytree(job, tmp_path / "both")
    for rank in range(RANKS):
        text = gzip.decompress((job / f"rank{rank:05}.json.gz").read_bytes())
        base = re.search(rb'"baseTimeNanoseconds": ?(\d+)', text)
        if base:
            text = text.replace(base[0], b'"baseTimeNanoseconds": %d' % (int(base[1]) + 3_600_000_000_000))
        else:
            text = re.sub(rb'"ts": ?(\d+)', lambda found: b'"ts": %d' % (int(found[1]) + 3_600_000_000), text)
        (both / f"restart1-rank{rank:05}.json.gz").write_bytes(gzip.compress(text))
    (both / "rank00001.json.gz").unlink()
    said = ranks.refused(both)
    assert "the files are of 2 jobs" in said
    assert ranks.statuses(both, "--job", "2") == dict.fromkeys(range(RANKS), "whole")
    assert ranks.statuses(both, "--job", "1") == {rank: "missing" if rank == 1 else "whole" for rank in range(RANKS)}
    for rank in range(RANKS):  # half of the ranks of each: nothing is there twice
        (both / (f"restart1-rank{rank:05}.json.gz" if rank < 8 else f"rank{rank:05}.json.gz")).unlink(missing_ok=True)
    assert "the files are of 2 jobs" in ranks.refused(both)


def chunks(capture):
    """Kind, sequence number and payload of each chunk (docs/reference/capture-format.md)."""
    at = 0
    while at < len(capture):
        kind, size, sequence, _ = struct.unpack_from("<IIII", capture, at + 8)
        yield kind, sequence, capture[at + 28 : at + 28 + size]
        at += 28 + size


def with_checksums(pieces):
    out = b""
    for kind, sequence, payload in pieces:
        header = b"\x89gpuprof" + struct.pack("<IIII", kind, len(payload), sequence, zlib.crc32(payload))
        out += header + struct.pack("<I", zlib.crc32(header)) + payload
    return out


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return value, at


def as_varint(value):
    out = b""
    while value > 0x7F:
        value, out = value >> 7, out + bytes([value & 0x7F | 0x80])
    return out + bytes([value])


def plain(payload, zstd):
    """The payload of a table without compression, so that a changed byte is a changed name, number or size."""
    length, at = varint(payload, 0)
    at += length
    _, at = varint(payload, at)
    head, sizes = payload[:at], []
    for _ in range(4):
        size, at = varint(payload, at)
        sizes.append(size)
    out = head + b"".join(as_varint(sizes[part]) * 2 for part in (0, 2))
    for size, stored in (sizes[:2], sizes[2:]):
        part = payload[at : at + stored]
        at += stored
        if stored < size:
            made = ctypes.create_string_buffer(size)
            assert zstd.ZSTD_decompress(made, ctypes.c_size_t(size), part, ctypes.c_size_t(stored)) == size
            part = made.raw
        out += part
    return out


def hostile(capture, chance, zstd):
    """The capture with some bytes of its tables changed, and right checksums."""
    made = []
    for kind, sequence, payload in chunks(capture):
        changed = bytearray(plain(payload, zstd))
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 8)) if kind == TABLE else 0):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        made.append((kind, sequence, bytes(changed)))
    return with_checksums(made)


def test_hostile_summaries(ranks, program, tmp_path):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    whole = tmp_path / "whole"
    whole.mkdir()
    for file in sorted((ROOT / "examples" / "ranks").iterdir()):
        assert program.run("ranks", "reduce", file, "-o", whole / f"{file.name[:9]}.gpuprof").status == 0
    folder = tmp_path / "hostile"
    answered, trials = 0, times(60, 20)
    for seed in range(trials):
        chance = random.Random(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        victims = chance.sample(range(8), chance.choice((1, 1, 2, 8)))
        for number, summary in enumerate(sorted(whole.iterdir())):
            content = summary.read_bytes()
            (folder / summary.name).write_bytes(hostile(content, chance, zstd) if number in victims else content)
        done = program.run("ranks", folder, "--cache", ranks.cache, "--format", "json")
        assert done.status in (0, 2, 3), (seed, done)
        assert len(done.errors) == (done.status != 0), (seed, done)
        answered += done.status == 0
    assert answered > trials / 2
