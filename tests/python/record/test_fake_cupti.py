"""The fakes of libcuda and libcupti: what a client receives from them is what was recorded, or what a rule says.

The client is a program of its own for each test, as the fakes keep their state for the life of a process. Offsets of fields
are written down here once more, apart from those of tests/fakes/cupti/script.py.
"""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
FAKES = TESTS / "fakes"
RECORDINGS = TESTS / "fixtures" / "cupti"
sys.path.insert(0, str(FAKES / "cupti"))

import script as scripts  # noqa: E402  (needs the path above)
from patience import HANGS_S  # noqa: E402

CLIENT = TESTS / "python" / "cupti_client.py"
KINDS = {"KERNEL": 10, "MEMCPY": 1, "MEMSET": 2, "DRIVER": 4, "RUNTIME": 5, "OVERHEAD": 17, "MEMORY2": 49, "DEVICE": 8,
         "CONTEXT": 9, "STREAM": 37, "GRAPH_TRACE": 51, "SYNCHRONIZATION": 38, "CUDA_EVENT": 36}
NUMBERS = {number: kind for kind, number in KINDS.items()}
WORK = ["KERNEL", "MEMCPY", "MEMSET"]


@pytest.fixture(scope="session")
def fakes(program):
    folder = program.fakes
    assert (folder / "libcupti.so.13").exists(), f"{folder} is not built"
    return folder


@pytest.fixture
def run_client(fakes, tmp_path):
    """Plays a recording to the client; returns what it received: a list of records, and facts."""

    def run(recording="kern", kinds=tuple(KINDS), version="13.0", lanes=1, rules="", expect=0, **client):
        script = tmp_path / "script"
        scripts.write_script(RECORDINGS / f"{recording}.jsonl.xz", script, version, lanes)
        environment = dict(os.environ, GPUPROF_FAKE_CUPTI_SCRIPT=rules, GPUPROF_FAKE_CUDA_SCRIPT=str(script))
        wishes = dict(client, fakes=str(fakes), kinds=[KINDS[kind] for kind in kinds])
        done = subprocess.run([sys.executable, str(CLIENT), json.dumps(wishes)], env=environment, capture_output=True,
                              text=True, timeout=HANGS_S)
        assert done.returncode == expect, done.stderr
        answer = json.loads(done.stdout)
        assert answer["breaches"] == 0, done.stderr
        return answer

    return run


def recorded(recording, kinds=tuple(KINDS)):
    records = scripts.read_recording(RECORDINGS / f"{recording}.jsonl.xz")
    return [record for record in records if record["kind"] in kinds]


def compared(record):
    """The fields that the client reads, of a recorded or a received record."""
    fields = {"KERNEL": "start end completed deviceId contextId streamId correlationId gridX gridY gridZ blockX blockY blockZ "
                        "registersPerThread staticSharedMemory dynamicSharedMemory graphNodeId graphId name",
              "MEMCPY": "copyKind srcKind dstKind bytes start end deviceId contextId streamId correlationId graphNodeId",
              "MEMSET": "value bytes start end deviceId streamId correlationId memoryKind",
              "DRIVER": "cbid start end processId threadId correlationId returnValue",
              "RUNTIME": "cbid start end processId threadId correlationId returnValue",
              "OVERHEAD": "overheadKind objectKind processId threadId start end",
              "MEMORY2": "op memoryKind correlationId address bytes timestamp processId deviceId contextId streamId name",
              "DEVICE": "id name globalMemorySize numMultiprocessors l2CacheSize numThreadsPerWarp coreClockRate",
              "CONTEXT": "contextId deviceId nullStreamId", "STREAM": "contextId streamId priority flag",
              "GRAPH_TRACE": "correlationId start end deviceId graphId contextId streamId",
              "SYNCHRONIZATION": "type start end correlationId contextId streamId cudaEventId",
              "CUDA_EVENT": "correlationId contextId streamId eventId"}[record["kind"]]
    return (record["kind"], *(record[field] for field in fields.split()))


def named(answer):
    return [dict(record, kind=NUMBERS[record["kind"]]) for record in answer["records"]]


def multiset(records):
    return collections.Counter(map(compared, records))


@pytest.mark.parametrize("recording", ["kern", "memory_bound", "overlap"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_the_client_receives_what_was_recorded(run_client, recording, lanes):
    answer = run_client(recording, lanes=lanes)
    assert multiset(named(answer)) == multiset(recorded(recording))
    assert answer["dropped"] == 0
    if lanes == 1:
        assert list(map(compared, named(answer))) == list(map(compared, recorded(recording)))


@pytest.mark.parametrize("version", scripts.VERSIONS)
def test_each_version_has_its_lengths(run_client, version):
    answer = run_client(version=version)
    assert answer["version"] == scripts.VERSIONS[version][0]
    assert multiset(named(answer)) == multiset(recorded("kern"))
    lengths = {"13.0": 216, "12.8": 208, "12.4": 208, "12.1": 208, "11.8": 200}
    assert answer["lengths"]["10"] == lengths[version]


def test_only_kinds_that_were_switched_on_come(run_client):
    assert multiset(named(run_client(kinds=WORK))) == multiset(recorded("kern", WORK))


def test_single_functions_come_without_their_kind(run_client):
    answer = run_client(kinds=[], functions=["cudaLaunchKernel_v7000", "cuLaunchKernel"])
    wanted = [r for r in recorded("kern", ["RUNTIME", "DRIVER"]) if r["name"] in ("cudaLaunchKernel_v7000", "cuLaunchKernel")]
    assert wanted and multiset(named(answer)) == multiset(wanted)


def buffers_filled(records, lanes, buffer_bytes):
    """Each lane fills one buffer after another with whole records."""
    threads, filled, left = scripts.threads_of(records), 0, [0] * lanes
    for record in records:
        lane, length = scripts.lane_of(record, lanes, threads), len(scripts.encode(record, "13.0", scripts.Text())[0])
        if length > left[lane]:
            filled, left[lane] = filled + 1, buffer_bytes
        left[lane] -= length
    return filled


def test_small_buffers_lose_nothing(run_client):
    answer = run_client(buffer_bytes=1024, lanes=3)
    assert multiset(named(answer)) == multiset(recorded("kern"))
    assert answer["buffers"] == buffers_filled(recorded("kern"), 3, 1024) > 30


def test_no_buffers_means_counted_losses(run_client):
    answer = run_client(most_buffers=1, buffer_bytes=4096)
    assert answer["dropped"] + len(answer["records"]) == len(recorded("kern"))
    assert 0 < len(answer["records"]) < len(recorded("kern"))


def test_copies_have_correlation_ids_of_their_own(run_client):
    answer = run_client(kinds=WORK, lanes=2, play="copies=3 repeat=2 live")
    of_work = [r["correlationId"] for r in answer["records"]]
    once = [r["correlationId"] for r in recorded("kern", WORK)]
    assert len(of_work) == 6 * len(once)
    assert len(set(of_work)) == 6 * len(set(once))


def test_shuffle_changes_order_only(run_client):
    answer = run_client(rules="shuffle 7")
    assert multiset(named(answer)) == multiset(recorded("kern"))
    assert list(map(compared, named(answer))) != list(map(compared, recorded("kern")))


def test_late_buffers_come_in_the_end(run_client):
    answer = run_client(rules="late 50", wait_ms=1000)
    assert multiset(named(answer)) == multiset(recorded("kern"))


def test_kept_buffers_never_come(run_client):
    whole = run_client(buffer_bytes=4096)
    answer = run_client(rules="keep 2", buffer_bytes=4096)
    assert answer["buffers"] == whole["buffers"] - 2


def test_zero_times_and_unfinished_kernels(run_client):
    zero = [r for r in run_client(kinds=WORK, rules="zero_times 4")["records"] if r["start"] == r["end"] == 0]
    assert len(zero) == len(recorded("kern", WORK)) // 4
    unfinished = [r for r in run_client(kinds=["KERNEL"], rules="unfinished 3")["records"] if r["end"] == 0]
    assert len(unfinished) == 3 and all(r["start"] > 0 for r in unfinished)


def test_running_kernels_wait_for_a_forced_flush(run_client):
    assert run_client(kinds=["KERNEL"], rules="running 1", flush=0)["records"] == []
    assert len(run_client(kinds=["KERNEL"], rules="running 1", flush=1)["records"]) == len(recorded("kern", ["KERNEL"]))


def test_functions_fail_with_the_code_of_the_rule(run_client):
    answer = run_client(kinds=WORK, rules="fail cuptiActivityEnable 35 after 1; fail cuptiActivityFlushAll 999")
    assert answer["enabled"] == [0, 35, 35]
    assert answer["flushed"] == 999 and answer["records"] == []


def test_a_second_subscriber_is_refused_by_name(run_client):
    assert run_client(rules="subscriber Nsight")["subscribed"] == [39, "Nsight"]
    assert run_client()["subscribed"] == [0, ""]


def test_external_ids_precede_calls(run_client):
    answer = run_client(kinds=["RUNTIME"], external=[4, 77], play="inline")
    runtime = [r["correlationId"] for r in answer["records"]]
    assert answer["external"] == [[4, 77, correlation] for correlation in runtime]


def test_a_completion_after_the_end(run_client):
    answer = run_client(kinds=WORK, rules="after_teardown", finalize=True)
    assert answer["before_finalize"] == 0
    assert multiset(named(answer)) == multiset(recorded("kern", WORK))


def test_callbacks_enclose_calls(run_client):
    answer = run_client(kinds=[], callbacks=["cudaMalloc_v3020"], play="inline")
    calls = [r["correlationId"] for r in recorded("kern", ["RUNTIME"]) if r["name"] == "cudaMalloc_v3020"]
    assert answer["callbacks"] == [[site, "cudaMalloc_v3020", call] for call in calls for site in (0, 1)]


def test_another_clock_is_in_the_records(run_client):
    """Half a tick a nanosecond, so that spans halve."""
    answer = run_client(kinds=["KERNEL"], slow_clock=True, play="time=start")
    spans = sorted(r["end"] - r["start"] for r in answer["records"])
    expected = sorted((r["end"] - r["start"]) / 2 for r in recorded("kern", ["KERNEL"]))
    for span, half in zip(spans, expected, strict=True):
        assert abs(span - half) <= 0.2 * half + 1000


@pytest.mark.parametrize("how, status", [("exit", 5), ("_exit", 5), ("quick", 5), ("thread", 5), ("abort", -6), ("kill", -9)])
def test_the_program_ends_as_told(fakes, tmp_path, how, status):
    script = tmp_path / "script"
    scripts.write_script(RECORDINGS / "kern.jsonl.xz", script)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(fakes), GPUPROF_FAKE_CUPTI=str(fakes / "libcupti.so.13"))
    command = [fakes / "fake_program", "--script", script, "--threads", "2", "--fork", "2", "--nvtx", "--end", how]
    assert subprocess.run(command, env=environment, timeout=HANGS_S).returncode == status


def test_the_program_without_cuda(fakes):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    assert subprocess.run([fakes / "fake_program", "--no-cuda", "--nvtx"], env=environment, timeout=HANGS_S).returncode == 0
