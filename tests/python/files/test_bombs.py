"""Files that unpack to far more than they are: refused by their limits, and the message says which. tests/soak/bombs.py has large ones."""

import functools
import json
import lzma
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "soak"))

import bombs
import small_bombs

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


def with_name(name):
    """A trace of one step, whose kernels have this name."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}]
    for number in range(20):
        correlation = {"correlation": number + 1}
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10 + 40 * number, "dur": 5, "args": correlation})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 20 + 40 * number, "dur": 15,
                       "args": {**correlation, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [32, 1, 1]}})
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events})


@pytest.mark.parametrize("command", [["report"], ["report", "FILE", "kernels", "sequences"], ["query", "FILE", "SELECT demangle(name), short_name(name) FROM kernel"],
                                     *(["export", kind, "FILE", "-o", "out"] for kind in ("html", "nsys", "perfetto", "folded", "pprof", "chrome"))])
def test_a_name_that_stands_for_gigabytes(program, tmp_path, command):
    """Of each part there are two in the next one: 2^25 pairs of a name of 290 bytes."""
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "_Z1fSt4pairIiiE" + "".join(f"S_IS{letters[level]}_S{letters[level]}_E" for level in range(24))
    file = tmp_path / "trace.json"
    file.write_text(with_name(name))
    arguments = [str(file) if word == "FILE" else word for word in command] + ([] if "FILE" in command else [str(file)])
    status, said, memory, seconds = bombs.measured([program.path, *arguments], cwd=tmp_path)
    assert status == 0, said
    assert memory < 220 << 20 and seconds < 20


def test_a_name_that_is_shown_as_recorded_is_counted(program, tmp_path):
    (tmp_path / "trace.json").write_text(with_name("_Z1fSt4pairIiiE" + "".join(f"S_IS{letter}_S{letter}_E" for letter in "0123456789ABCDEFGH")))
    losses = program.run("report", tmp_path / "trace.json", "losses", "--format", "csv").stdout.decode()
    assert "long_name" in losses


def test_pipes_named_as_files(program, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = program.run("report", pipe, "--pipe-wait", "0.05")
    assert outcome.status == 3 and len(outcome.errors) == 1
    assert str(pipe) in outcome.errors[0] and "0.05 s" in outcome.errors[0] and "--pipe-wait" in outcome.errors[0]
    outcome = program.run("report", "/dev/zero")
    assert outcome.status == 3 and "/dev/zero: it is a device" in outcome.errors[0]


@pytest.mark.parametrize("name", ["flight/nccl_trace_rank_0", "nvidia-smi/h200-580-q.xml"])
def test_a_sparse_file_is_refused_by_its_size(program, tmp_path, name):
    """A terabyte that takes no room, of formats that are read whole."""
    file = tmp_path / "sparse"
    shutil.copy(ROOT / "tests" / "fixtures" / name, file)
    os.truncate(file, 1 << 40)
    status, said, memory, seconds = bombs.read(program.path, file)
    assert status == 3 and "larger than the limit of" in said[0], said
    assert memory < 220 << 20 and seconds < 20


@pytest.mark.parametrize("words", [["ranks", "JOB", "--cache", "cache"], ["report", "FILE", "ranks"], ["report", "FILE", "hangs"]])
def test_groups_that_stand_for_hundreds_of_millions_of_ranks(program, tmp_path, words):
    """Two summaries of 33 kB, with 4,000 groups of 131,072 ranks."""
    job = tmp_path / "job"
    job.mkdir()
    for packed in (ROOT / "tests" / "fixtures" / "hostile" / "ranks-group-bomb").iterdir():
        (job / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    command = [{"JOB": job, "FILE": job / "r0.gpuprof"}.get(word, word) for word in words]
    status, said, memory, seconds = bombs.measured([program.path, *command], cwd=tmp_path)
    assert status in (0, 3) and memory < 300 << 20 and seconds < 20, (status, said, memory, seconds)


@pytest.mark.parametrize("kind", ["folded", "folded-python"])
def test_deep_stacks_are_refused_with_their_size(program, tmp_path, kind):
    """A line of folded stacks repeats the frames of all callers: 50,000 nested ones are gigabytes of text."""
    file = tmp_path / "nested.json"
    file.write_bytes(small_bombs.SHAPES["nested ranges of kernels" if kind == "folded" else "nested Python functions"]())
    status, said, memory, seconds = bombs.measured([program.path, "export", kind, file, "-o", tmp_path / "out"])
    assert status == 3 and "MiB of text" in said[0] and "frames are nested" in said[0], said
    assert memory < 500 << 20 and seconds < 20
    assert not (tmp_path / "out").exists()


def test_samples_that_refer_to_one_place_again_and_again(program, tmp_path):
    """23 kB of pprof: 2.8 million samples, each of which names a location of 9,000 lines."""
    file = tmp_path / "bomb.gz"
    bombs.write(file, bombs.gzip, *bombs.BOMBS["pprof places"], small_bombs.MOST_BYTES, 31 << 20)
    status, said, memory, seconds = bombs.read(program.path, file)
    assert status == 0 and memory < 300 << 20 and seconds < 20, (status, said, memory, seconds)


def test_a_page_of_many_threads_and_streams(program, tmp_path):
    """Each is a row of the timeline, found without looking through all others."""
    events = [small_bombs.complete("cpu_op", "op", i, 1, thread=i) for i in range(50_000)]
    events += [small_bombs.complete("kernel", "k", 20 + 40 * i, 15, device=0, stream=i) for i in range(50_000)]
    file = tmp_path / "trace.json"
    file.write_bytes(small_bombs.trace(events))
    status, said, memory, seconds = bombs.measured([program.path, "export", "html", file, "-o", tmp_path / "page.html"])
    assert status == 0 and memory < 600 << 20 and seconds < 15, (status, said, memory, seconds)
