"""`ranks reduce` with files that are larger than its memory: the same bytes, within the limit, or an error that says what to do."""

import json
import os
import resource
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))

import bombs

LAUNCHES = 40  # per step
MB = 1_000_000
PLENTY = 1 << 40

STEP_US = 4000
HEAD = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}}
END = '{"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 999}\n]}\n'
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
REDUCED = {"Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096, "Group size": 8, "dtype": "BFloat16", "Process Group Name": "0",
           "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"}


class Number:
    """A number that grows with the step."""

    def __init__(self, first, per_step):
        self.first, self.per_step = first, per_step


def at(microseconds):
    return Number(1_000_000 + microseconds, STEP_US)


def host(kind):
    yield {"ph": "X", "cat": "user_annotation", "name": Number(0, 1), "pid": 7, "tid": 7, "ts": at(0), "dur": STEP_US - 10}
    for i in range(LAUNCHES):
        yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": at(10 + 20 * i), "dur": 5,
               "args": {"correlation": Number(i, LAUNCHES)}}


def device(kind):
    for i in range(LAUNCHES):
        reduces = i % 10 == 9
        stream = 13 if reduces else 7
        args = {"device": 0, "context": 1, "stream": stream, "correlation": Number(i, LAUNCHES), "grid": [8 * (i % 3 + 1), 1, 1], "block": [128, 1, 1]}
        if reduces:
            args |= REDUCED | {"Seq": Number(i // 10, LAUNCHES // 10)}
        yield {"ph": "X", "cat": "kernel", "name": REDUCE if reduces else f"gemm_{i % 7}", "pid": 0, "tid": stream, "ts": at(100 + 90 * i + kind),
               "dur": 60 + kind * i % 25, "args": args}


def template(events):
    """The text of a step with a place for each number that grows, and these numbers."""
    numbers = []

    def place(number):
        numbers.append(number)
        return "<number>"

    text = "".join(json.dumps(event, default=place) + ",\n" for event in events).replace("%", "%%")
    text = text.replace('"name": "<number>"', '"name": "ProfilerStep#%d"').replace('"<number>"', "%d")
    return text, numbers


def write_rank(path, size, parts):
    """A file of about `size` bytes. `parts`: lists of functions, whose events follow each other in a pass over all steps."""
    steps = size // sum(len(template(part(0))[0]) for group in parts for part in group)
    with open(path, "w") as file:
        file.write(json.dumps(HEAD)[:-1] + ', "traceEvents": [\n')
        for group in parts:
            texts = [template(event for part in group for event in part(kind)) for kind in range(5)]
            for step in range(steps):
                text, numbers = texts[step % len(texts)]
                file.write(text % tuple(number.first + number.per_step * step for number in numbers))
        file.write(END)
    return path


def reduce(program, file, summary, memory, environment=None, limit=None):
    """Exit status, what it said, and the most memory that it held, in bytes."""
    words = [program.path, "ranks", "reduce", file, "-o", summary, "--memory", memory]
    status, said, held, _ = bombs.measured(words, env=os.environ | (environment or {}), preexec_fn=limit)
    return status, "\n".join(said), held


@pytest.mark.measures
@pytest.mark.parametrize(("size", "memory", "parts"), [(200 * MB, 128 * MB, [(host, device)]), (200 * MB, 128 * MB, [(host,), (device,)]),
                                                       (200 * MB, 128 * MB, [(device,), (host,)])], ids=["by time", "host first", "kernels first"])
def test_a_file_larger_than_the_memory_gives_the_same_summary(program, tmp_path, size, memory, parts):
    file = write_rank(tmp_path / "rank.json", size, parts)
    assert reduce(program, file, tmp_path / "whole", PLENTY)[0] == 0
    status, said, held = reduce(program, file, tmp_path / "bounded", memory, {"TMPDIR": str(tmp_path)})
    assert (status, said) == (0, "")
    assert held <= memory
    assert (tmp_path / "bounded").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bounded", "rank.json", "whole"]


def test_a_full_disk_is_an_error_that_says_what_to_do(program, tmp_path):
    file = write_rank(tmp_path / "rank.json", 100 * MB, [(host, device)])
    small = 2 * MB
    status, said, _ = reduce(program, file, tmp_path / "summary", 48 * MB, {"TMPDIR": str(tmp_path)}, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, small)))
    assert status == 6
    assert said.startswith(f"gpu-profile: cannot write temporary data to {tmp_path}: File too large")
    assert said.endswith("; set TMPDIR to a folder with more room")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["rank.json"]
