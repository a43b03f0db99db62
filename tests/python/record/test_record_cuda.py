"""`gpu-profile record` of the fake CUDA program: what the capture holds equals what the fake libcupti delivered.

The script is a real recording (tests/fixtures/cupti); expected figures are computed here from its lines.
"""

import collections
import subprocess

import pytest
from injected import sanitized
from patience import HANGS_S
from played import fake_environment, record_played
from recordings_of_cupti import FIXTURES, KERN, kernels_in, lines, script_of

SCRIPTS = sorted(FIXTURES.glob("*.jsonl.xz"))
WANTED = ("cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset", "cudaMalloc", "cudaFree", "cudaHostAlloc")


@pytest.fixture(scope="session")
def converted(tmp_path_factory):
    """Scripts for the fake, by recording and version of CUPTI."""
    folder = tmp_path_factory.mktemp("scripts")
    return lambda recording=KERN, version="13.0": script_of(recording, folder, version)


def table(program, capture, name):
    return program.report(capture, name)[name].rows


@pytest.mark.parametrize("version", ["11.8", "12.1", "12.4", "12.8", "13.0"])
@pytest.mark.parametrize("recording", SCRIPTS, ids=lambda path: path.name.split(".")[0])
def test_the_capture_equals_the_script(program, converted, tmp_path, recording, version):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, converted(recording, version), capture, "--api", "all")
    assert outcome.status == 0, outcome.errors
    records = lines(recording)
    kernels = kernels_in(records)
    rows = table(program, capture, "kernels")
    assert sum(row["count"] for row in rows) == len(kernels)
    assert sum(row["total_ns"] for row in rows) == sum(r["end"] - r["start"] for r in kernels)
    copies = [r for r in records if r["kind"] == "MEMCPY"]
    rows = table(program, capture, "memcpy")
    assert sum(row["count"] for row in rows) == len(copies)
    assert sum(row["bytes"] for row in rows) == sum(r["bytes"] for r in copies)
    fills = [r for r in records if r["kind"] == "MEMSET"]
    assert sum(row["bytes"] for row in table(program, capture, "memset")) == sum(r["bytes"] for r in fills)
    calls = collections.Counter(r["kind"] for r in records)
    assert sum(row["count"] for row in table(program, capture, "api")) == calls["RUNTIME"] + calls["DRIVER"]
    assert [r["kind"] for r in table(program, capture, "losses") if r["severity"] == "data"] == []


def test_selected_calls_are_those_that_matter(program, converted, tmp_path):
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, converted(), capture).status == 0
    names = {row["name"] for row in table(program, capture, "api")}
    assert any(name.startswith("cudaLaunchKernel") for name in names)
    assert "cudaGetDevice" not in names
    rows = table(program, capture, "kernels")
    assert sum(row["count"] for row in rows) == len(kernels_in(lines()))


@pytest.mark.parametrize("rules", ["shuffle 3", "running 1", "late 5"])
def test_any_order_of_delivery(program, converted, tmp_path, rules):
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, converted(), capture, rules=rules).status == 0
    rows = table(program, capture, "kernels")
    assert sum(row["count"] for row in rows) == len(kernels_in(lines()))


def test_what_is_kept_back_is_counted(program, converted, tmp_path):
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, converted(), capture, rules="keep 1").status == 0
    losses = {row["kind"]: row["count"] for row in table(program, capture, "losses")}
    assert losses.get("recorder_loss", 0) >= 1


def test_a_refusal_is_said_with_its_code(program, converted, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, converted(), capture, rules="fail cuptiActivityEnable 35")
    assert outcome.status == 0
    place = next(row["place"] for row in table(program, capture, "losses") if row["kind"] == "recorder_refused")
    assert "35" in place


@pytest.mark.parametrize("function", ["cuptiGetVersion", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
                                      "cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivitySetAttribute",
                                      "cuptiSetThreadIdType", "cuptiGetCallbackName", "cuptiGetTimestamp",
                                      "cuptiActivityEnableRuntimeApi", "cuptiActivityGetNumDroppedRecords"])
@pytest.mark.parametrize("code", [1, 15, 39, 999])
def test_every_call_failing_leaves_the_program_alone(program, converted, tmp_path, function, code):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, converted(), capture, "--quiet", rules=f"fail {function} {code}")
    assert outcome.status == 0, outcome.errors
    assert program.run("report", capture, "losses").status == 0


@pytest.mark.parametrize("end", ["_exit", "quick", "abort", "kill", "thread"])
def test_any_death_leaves_a_readable_capture(program, converted, tmp_path, end):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, converted(), capture, "--quiet", arguments=["--end", end])
    assert outcome.status == {"abort": -6, "kill": -9}.get(end, 5)  # 5 is what the program ends with
    assert program.run("report", capture, "losses").status == 0


def test_a_flush_that_hangs_delays_the_end_by_two_seconds_at_most(program, converted, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, converted(), capture, "--quiet", rules="hang cuptiActivityFlushAll")
    assert outcome.status == 0


def test_samples_of_the_devices_come_along(program, converted, tmp_path):
    if sanitized(program):
        pytest.skip("a shell cannot have a library with a sanitizer in it")
    capture, driver = tmp_path / "run.gpuprof", tmp_path / "driver.txt"
    driver.write_text("device name=NVIDIA_H200\nset 0 util_gpu 60\nset 0 power_w 250\n")
    environment = fake_environment(program, GPUPROF_NVML=str(program.fakes / "libnvidia-ml.so.1"), GPUPROF_FAKE_NVML=str(driver))
    command = f"{program.fakes}/fake_program --script {converted()} --play 'time=start live'; sleep 0.5"
    subprocess.run([program.path, "record", "-o", capture, "--sample", "0.05", "--quiet", "--", "sh", "-c", command],
                   env=environment, check=True, timeout=HANGS_S)
    rows = {row["metric"]: row for row in table(program, capture, "samples")}
    assert rows["util.gpu"]["mean"] == pytest.approx(60)
    assert rows["util.gpu"]["count"] >= 5
    assert rows["power"]["max"] == 250
    assert sum(row["count"] for row in table(program, capture, "kernels")) > 0
    assert table(program, capture, "losses") == []


@pytest.mark.parametrize(("rules", "kind", "count"), [("unfinished 3", "unfinished_op", 3), ("zero_times 10", "untimed_op", None)])
def test_what_has_no_times_is_counted_and_in_no_sum(program, converted, tmp_path, rules, kind, count):
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, converted(), capture, "--quiet", rules=rules).status == 0
    losses = {row["kind"]: row["count"] for row in table(program, capture, "losses")}
    assert set(losses) <= {kind, "launch_without_kernel"}
    assert count is None or losses[kind] == count
    work = [r for r in lines() if r["kind"] in ("KERNEL", "MEMCPY", "MEMSET")]
    counted = sum(row["count"] for name in ("kernels", "memcpy", "memset") for row in table(program, capture, name))
    assert counted + losses[kind] == len(work)
    rows = table(program, capture, "kernels")
    lengths = [r["end"] - r["start"] for r in work if r["kind"] == "KERNEL"]
    assert sum(row["total_ns"] for row in rows) <= sum(lengths)
    assert all(row["total_ns"] > 0 for row in rows)
