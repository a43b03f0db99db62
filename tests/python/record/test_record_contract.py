"""What CUPTI and the driver ask of the recorder and give only once, by the fakes (tests/fakes/cupti/contract.h, with the sources).

Every test with a fake fails when one of these rules is broken (conftest.py); here are those that a plain recording does not come to.
"""

import re
import subprocess
import sys

import pytest
from other_client import count, data_losses
from patience import HANGS_S
from played import PLAY, fake_environment, record_played
from program import Outcome
from recordings_of_cupti import KERN, ROOT, kernels_in, lines, quick_script, script_of, script_of_records
from test_record_counters import Run

SEVERAL = "version 130400; driver 13030"
ONCE = len(kernels_in(lines()))


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return quick_script(tmp_path_factory.mktemp("quick"))


@pytest.fixture
def run(program, quick, tmp_path):
    """Record Python code that plays; return the capture and what was said."""

    def record(code, *options, rules=""):
        capture = tmp_path / "run.gpuprof"
        done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", *options, "--", sys.executable, "-c", PLAY + code, quick],
                              env=fake_environment(program, rules, PYTHONPATH=str(ROOT / "python")), capture_output=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr
        return capture, Outcome(done.returncode, done.stdout, done.stderr)

    return record


def devices(program, capture):
    return [(row["name"], row["sms"]) for row in program.stored(capture, "device")]


# Records of devices come at the driver's initialisation.

LATER = "play(0, b'start'); import gpu_profile; [gpu_profile.step() for i in range(3)]; play(1, b'start'); time.sleep(0.5)"
KEPT = """
import gpu_profile
for turn in range(8):
    gpu_profile.step()
    play(turn, b"start")
    time.sleep(0.4 if turn == 6 else 0.15)
"""


@pytest.mark.parametrize("rules", ["", SEVERAL])
@pytest.mark.parametrize("options", [("--delay", "0.01"), ("--steps", "2:3"), ("--capture-range", "nvtx:nothing"), ("--capture-range", "cudaProfilerApi")])
def test_devices_are_known_whenever_the_window_opens(program, run, options, rules):
    capture, _ = run(LATER, *options, rules=rules)
    assert [sms for _, sms in devices(program, capture)] == ["132"]


@pytest.mark.parametrize("options", [("--keep-last", "0.3"), ("--keep-slow", "1")])
def test_devices_outlive_the_part_in_which_they_came(program, run, options):
    capture, _ = run(KEPT, *options)
    assert [sms for _, sms in devices(program, capture)] == ["132"]


# Windows.


@pytest.mark.parametrize("rules", ["", SEVERAL, "slow cuptiActivityEnable 20"])
def test_a_window_that_a_callback_opens_has_its_first_work(program, run, rules, breaches):
    """Another thread would wait for CUPTI's lock, which the callback holds."""
    code = "play(0); cuda.cuProfilerStart(); play(1); cuda.cuProfilerStop(); play(2)"
    capture, _ = run(code, "--capture-range", "cudaProfilerApi", rules=rules)
    assert count(program, capture) == ONCE
    assert data_losses(program, capture) == set()


@pytest.mark.parametrize("rules", ["", SEVERAL])
def test_the_first_window_does_not_wait_for_code_of_every_module(program, run, rules):
    """Kernels that are switched on when modules are loaded cost time for each; 1,500 ms here, and the program waits for 100."""
    code = "play(0); import gpu_profile; gpu_profile.start(); play(1); gpu_profile.stop()"
    capture, _ = run(code, "--capture-range", "start-stop", rules=f"modules 300 5; {rules}")
    assert count(program, capture) == ONCE
    assert not [row for row in program.report(capture, "losses")["losses"].rows if "window" in row["place"]]


# The end.


@pytest.mark.parametrize("rules", ["", "late_teardown", SEVERAL + "; late_teardown"])
@pytest.mark.parametrize("first", [[], ["--nvtx-first"]])
def test_the_last_flush_precedes_the_end_of_the_driver(program, script, tmp_path, first, rules):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, script, capture, "--sample", "0", rules=rules, arguments=[*first, "--end", "exit"])
    assert outcome.status == 5, outcome.errors
    assert count(program, capture) == ONCE
    assert data_losses(program, capture) == set()


# Sampling of warps.


@pytest.fixture
def sampled(program, tmp_path, script):
    def run(*options, more="", script=script, **rest):
        scene = tmp_path / "stalls"
        scene.write_text("sample saxpy _Z5scalePfPKffi 0 16 3=40\n" + more)
        environment = {"GPUPROF_FAKE_STALLS": str(scene)}
        return Run(program, tmp_path, script, "--stalls", "--sample", "0", *options, command="record", environment=environment, **rest)

    return run


def test_warps_are_sampled_by_the_first_interface(sampled):
    run = sampled(rules=SEVERAL)
    assert run.table("instruction_counter")
    assert {row["value"] for row in run.table("meta") if row["key"] == "cupti_interface"} == {"V1"}


def test_kernels_are_traced_one_after_the_other_while_warps_are_sampled(sampled):
    run = sampled()
    assert run.table("instruction_counter")
    assert len(run.table("kernel")) == ONCE
    assert run.losses("serialized_kernels") == {"warps were sampled": ONCE}
    assert run.says("kernels run one after the other")


@pytest.mark.parametrize("options", [("--delay", "0.01"), ("--capture-range", "cudaProfilerApi")])
def test_warps_of_a_window(sampled, quick, options):
    arguments = ("--profiler-range", "--times", "2", "--sleep-ms", "50") if "cudaProfilerApi" in options else ("--times", "40")
    run = sampled(*options, arguments=arguments, script=quick, play="time=paced inline live")
    assert run.table("instruction_counter")
    assert run.table("kernel")


# Captures.


def captured(begin):
    """The recording with one kernel's launch between the begin and the end of a capture, by ids of the runtime's functions."""
    records = lines()
    kernel = next(r for r in kernels_in(records) if "saxpy" in r["name"])
    call = next(r for r in records if r["kind"] == "RUNTIME" and r["correlationId"] == kernel["correlationId"])
    last, at = max(r.get("correlationId", 0) for r in records), records.index(call)
    named = {315: "cudaStreamBeginCapture_v10000", 319: "cudaStreamEndCapture_v10000", 562: "cudaStreamBeginRecaptureToGraph_v13030"}
    around = [{**call, "cbid": cbid, "name": named[cbid], "correlationId": last + 1 + i} for i, cbid in enumerate((begin, 319))]
    return [*records[:at], around[0], call, around[1], *records[at + 1:]]


@pytest.mark.parametrize(("begin", "rules"), [(315, ""), (562, "version 130400")])
def test_launches_into_graphs_are_not_replayed(program, tmp_path, begin, rules):
    """Their captures are followed by callbacks: a callback may not ask the driver."""
    run = Run(program, tmp_path, script_of_records(captured(begin), tmp_path), "--set", "triage", "--kernel", "saxpy", "--launches", "1000",
              rules=rules, play="inline live")
    assert run.measured()["saxpy"] == sum("saxpy" in r["name"] for r in kernels_in(lines())) - 1
    assert run.says(r"not measured: 1 launches during stream capture \(first: .*saxpy.*\): those of the captured stream go into a CUDA graph")


def test_a_recapture_is_a_capture(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, script_of_records(captured(562), tmp_path), capture, "--sample", "0", rules="version 130400", play="inline live")
    assert outcome.status == 0
    names = {row["name"] for row in program.report(capture, "api")["api"].rows}
    assert any(re.match("cudaStreamBeginRecaptureToGraph", name) for name in names)


# The fake itself.


def test_a_breach_is_written_down(run, breaches):
    run("""
cupti = ctypes.CDLL("libcupti.so.13")
cupti.cuptiActivityEnable(3)
play(0)
""")
    assert breaches.take() == ["the kind KERNEL makes kernels run one after the other"]
