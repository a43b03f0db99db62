"""When `record` records: delays, durations, ranges of annotations, the profiler's API, iterations, calls from Python, the
last seconds only. The fake program plays a script whose kernels are known; ranges come from the real `nvtx` client.
"""

import os
import subprocess
import sys

import pytest
from lengthened import lengthened
from patience import HANGS_S
from played import PLAY, fake_environment
from quick_recording import once, script  # noqa: F401
from recordings_of_cupti import ROOT, slow_kernels


@pytest.fixture
def run(program, script, tmp_path):
    """Records Python code that plays; returns the number of kernels, the rows of `ranges`, and standard error."""

    def record(code, *options, expected=0, rules="", script=script, lossless=True):
        capture = tmp_path / "run.gpuprof"
        capture.unlink(missing_ok=True)
        environment = fake_environment(program, rules, PYTHONPATH=str(ROOT / "python"))
        done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", *options, "--", sys.executable, "-c",
                               PLAY + code, script], env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == expected, done.stderr
        assert "breaks a rule" not in done.stderr
        if expected != 0:
            return 0, [], done.stderr
        report = program.report(capture, "kernels", "ranges", "losses")
        assert not (lossless and [r for r in report["losses"].rows if r["severity"] == "data"])
        return sum(row["count"] for row in report["kernels"].rows), report["ranges"].rows, done.stderr

    record.capture = tmp_path / "run.gpuprof"
    return record


def test_everything_without_a_window(run, once):
    assert run("for turn in range(3): play(turn)")[0] == 3 * once


@pytest.mark.parametrize("option", ["--delay", "--duration"])
def test_a_delay_leaves_out_the_beginning_and_a_duration_the_end(run, once, option):
    """The program plays before and after the moment, unless it is slower than that."""
    kernels = lengthened(lambda length: run(f"play(0); time.sleep({0.5 * length}); play(1)", option, str(0.25 * length))[0], lambda count: count == once)
    assert kernels == once


@pytest.mark.parametrize("options", [("--capture-range", "nvtx:wanted"), ("--capture-range", "nvtx:wanted@mine")])
def test_a_range_of_annotations(run, once, options):
    code = """
import nvtx
with nvtx.annotate("before", domain="mine"): play(0)
for turn in (1, 2):
    with nvtx.annotate("wanted", domain="mine"):
        with nvtx.annotate("inner", domain="mine"): play(turn)
    play(10 + turn)
with nvtx.annotate("after", domain="mine"): play(3)
"""
    kernels, ranges, _ = run(code, *options)
    assert kernels == 2 * once
    assert {row["path"]: row["count"] for row in ranges} == {"wanted": 2, "wanted/inner": 2}


def test_a_range_that_never_comes(run):
    assert run("play(0)", "--capture-range", "nvtx:absent")[0] == 0


def test_the_profiler_api(run, once):
    code = "play(0); cuda.cuProfilerStart(); play(1); play(2); cuda.cuProfilerStop(); play(3)"
    assert run(code, "--capture-range", "cudaProfilerApi")[0] == 2 * once


def test_iterations_by_calls(run, once):
    code = """
import gpu_profile
for turn in range(6):
    assert gpu_profile.step()
    play(turn)
"""
    assert run(code, "--capture-range", "iteration:2-4")[0] == 3 * once


def test_iterations_by_annotations(run, once):
    code = """
import nvtx
for turn in range(6):
    with nvtx.annotate("batch"): play(turn)
"""
    assert run(code, "--capture-range", "iteration:5-6:batch")[0] == 2 * once


def test_names_of_iterations_that_are_registered_one_by_one(run, once):
    """Python's client registers every text: each iteration has a handle of its own."""
    code = """
import nvtx
for turn in range(1, 41):
    with nvtx.annotate(f"step {turn}"): play(turn)
"""
    assert run(code, "--capture-range", "iteration:31-33")[0] == 3 * once


def test_start_and_stop_from_python(run, once):
    code = """
import gpu_profile
play(0)
for turn in (1, 2):
    assert gpu_profile.start()
    play(turn)
    assert gpu_profile.stop()
    play(turn + 10)
"""
    assert run(code, "--capture-range", "start-stop")[0] == 2 * once


# What is in flight: calls return at once, their work goes on for a fifth of a second (rule `causal` of the fake libcupti).


IN_FLIGHT = 10


@pytest.fixture(scope="module")
def slow_script(tmp_path_factory):
    return slow_kernels(tmp_path_factory.mktemp("slow"), IN_FLIGHT)


def test_work_in_flight_when_the_window_closes_is_kept(run, slow_script):
    """Switching its kind off at that moment would lose it; what is launched after it is omitted all the same."""
    code = """
import gpu_profile
assert gpu_profile.start()
play(0, b"start"); time.sleep(0.002)
assert gpu_profile.stop()
play(1, b"start"); time.sleep(0.7)
"""
    assert run(code, "--capture-range", "start-stop", rules="causal", script=slow_script)[0] == IN_FLIGHT


def test_work_in_flight_when_the_process_ends_is_counted(run, program, slow_script):
    kernels, _, _ = run("play(0, b'start'); import os; os._exit(0)", rules="causal", script=slow_script, lossless=False)
    losses = {row["kind"]: row["count"] for row in program.report(run.capture, "losses")["losses"].rows}
    assert kernels < IN_FLIGHT
    assert losses == {"unfinished_op": IN_FLIGHT - kernels}


def test_names_of_functions_are_asked_once(run, program):
    """CUPTI 13.2 takes long for each: asking for 4,094 at each opening of a window would be a pause of the program."""
    code = """
import gpu_profile
assert gpu_profile.start()
play(0)
"""
    run(code, "--capture-range", "start-stop", rules="fail cuptiGetCallbackName 1 after 2000")
    assert [row for row in program.report(run.capture, "api")["api"].rows if row["name"] == "cudaLaunchKernel"]


def test_a_window_of_every_annotation(run, once):
    """Windows that reopen while the kinds are still enabled cost no switching and lose nothing."""
    code = """
import nvtx
for turn in range(50):
    with nvtx.annotate("wanted"): play(turn)
"""
    assert run(code, "--capture-range", "nvtx:wanted")[0] == 50 * once


def test_a_layout_of_records_that_would_be_ours_too_is_refused(run):
    code = """
value, size = ctypes.c_uint8(1), ctypes.c_size_t(1)
answer = ctypes.CDLL(None).cuptiActivitySetAttribute(11, ctypes.byref(size), ctypes.byref(value))
assert answer == 27, answer
play(0)
"""
    run(code)


def test_start_and_stop_without_a_recorder():
    code = "import gpu_profile; assert gpu_profile.start() is False and gpu_profile.stop() is False and gpu_profile.step() is False"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, check=True)


def test_what_is_open_when_the_window_closes_ends_there(run):
    code = """
import gpu_profile, nvtx
gpu_profile.start()
begun = time.monotonic_ns()
nvtx.push_range("open"); time.sleep(0.05)
gpu_profile.stop()
print("open for", time.monotonic_ns() - begun, file=sys.stderr)
time.sleep(0.4)
gpu_profile.start()
nvtx.push_range("later"); nvtx.pop_range()
"""
    _, ranges, said = run(code, "--capture-range", "start-stop")
    lengths = {row["path"]: row["host_total_ns"] for row in ranges}
    assert set(lengths) == {"open", "later"}
    assert 50_000_000 <= lengths["open"] <= int(said.split("open for ")[1].split()[0])


def test_the_last_seconds_only(run, once):
    code = """
import nvtx
domain = "lasting"
nvtx.mark("named early", domain=domain)
for turn in range(6):
    with nvtx.annotate("turn", domain=domain): play(turn)
    time.sleep(0.4)
import os; os._exit(0)  # the interpreter's own end may take longer than what is kept
"""
    kernels, ranges, _ = run(code, "--keep-last", "0.5")
    assert once <= kernels < 6 * once
    assert kernels % once == 0
    # The name was registered in a part that is gone. Device work comes later than the annotation around it.
    assert [row["path"] for row in ranges] == ["turn"]
    assert 1 <= ranges[0]["count"] <= kernels // once


@pytest.mark.parametrize("wrong", ["nvtx:", "nvtx:@d", "iteration:3-2", "iteration:0-2", "iteration:x", "everything"])
def test_a_wrong_range_is_said(run, wrong):
    _, _, errors = run("play(0)", "--capture-range", wrong, expected=2)
    assert wrong in errors
    assert errors.count("\n") == 1
