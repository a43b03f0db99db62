"""Files that unpack to far more than they are: refused by their limits, and the message says which. tests/soak/bombs.py has large ones."""

import functools
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soak"))

import bombs

UNPACKED = 24 << 20
pack = functools.partial(bombs.gzip, level=4)  # some need half a minute at the highest level, for hardly smaller files
REFUSED_BY_MEMORY = ("xprof_json numbers", "proton nodes", "torch_snapshot lists", "torch_snapshot one event", "torch_timeline", "xplane events",
                     "pprof texts", "smi columns", "series")


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_memory_is_bounded(program, tmp_path, name):
    file = tmp_path / "bomb.gz"
    bombs.write(file, pack, *bombs.BOMBS[name], 1 << 20, UNPACKED)
    status, said, memory, seconds = bombs.read(program.path, file, "--memory-gib", "0.03")
    assert bombs.complaint(status, said, memory, seconds, 220 << 20, 60) is None
    if name in REFUSED_BY_MEMORY:
        assert status == 3 and len(said) == 1
        assert str(file) in said[0] and "0.03 GiB" in said[0] and "--memory-gib" in said[0]


def test_a_database_is_bounded(program, tmp_path):
    file = tmp_path / "bomb.gz"
    bombs.write_database(file, pack, UNPACKED)
    status, said, _, _ = bombs.read(program.path, file, "--memory-gib", "0.01")
    assert status == 3 and "--memory-gib" in said[0]


@pytest.mark.parametrize("ending", bombs.PACKERS)
def test_unpacking_is_bounded(program, tmp_path, ending):
    file = tmp_path / f"bomb.{ending}"
    bombs.write(file, bombs.PACKERS[ending], *bombs.BOMBS["kineto one string"], 1 << 20, 200 << 20)
    status, said, memory, _ = bombs.read(program.path, file)
    assert status == 3 and len(said) == 1
    assert str(file) in said[0] and "200 times" in said[0] and "--unpack-ratio" in said[0]
    assert memory < 220 << 20
    file.write_bytes(bombs.PACKERS[ending](file.read_bytes()))  # twice: not unpacked twice
    outcome = program.run("report", file)
    assert outcome.status == 3 and "unknown format" in outcome.errors[0]


def test_pipes_named_as_files(program, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = program.run("report", pipe, "--pipe-wait", "0.05")
    assert outcome.status == 3 and len(outcome.errors) == 1
    assert str(pipe) in outcome.errors[0] and "0.05 s" in outcome.errors[0] and "--pipe-wait" in outcome.errors[0]
    outcome = program.run("report", "/dev/zero")
    assert outcome.status == 3 and "/dev/zero: it is a device" in outcome.errors[0]
