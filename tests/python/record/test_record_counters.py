"""`gpu-profile counters` and `record --counters` on the fake CUDA program and the fake range profiler.

The fake (tests/fakes/cupti/range_profiler.cc) is strict about the order of calls and the sizes of structures: the program ends
with 70 when the collector breaks a rule, so that a status of 0 asserts all of them. Values are 1000 * place of the metric +
number of the launch.
"""

import collections
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from injected import sanitized
from nightly import pairs
from patience import HANGS_S
from played import PLAY, fake_environment
from program import Outcome
from recordings_of_cupti import kernels_in, lines, script_of_records, without_capture

TRIAGE = 12  # metrics, one pass of the fake
PLANNING = """cuptiProfilerInitialize cuptiDeviceGetChipName cuptiProfilerGetCounterAvailability cuptiProfilerHostInitialize
    cuptiProfilerHostGetNumOfPasses cuptiProfilerHostGetConfigImageSize cuptiProfilerHostGetConfigImage""".split()
MEASURING = """cuptiRangeProfilerEnable cuptiRangeProfilerGetCounterDataSize cuptiRangeProfilerCounterDataImageInitialize
    cuptiRangeProfilerSetConfig cuptiRangeProfilerStart cuptiRangeProfilerStop cuptiRangeProfilerDecodeData""".split()
EVALUATING = ["cuptiRangeProfilerGetCounterDataInfo", "cuptiProfilerHostEvaluateToGpuValues"]
CODES = [1, 7, 8, 14, 26, 27, 33, 35, 40, 41, 42, 43, 44, 45, 46, 999]
FOR_ALL = {14, 26, 27, *range(33, 47)}  # no later launch will be better
FORBIDDEN = [35, 40]


@pytest.fixture(scope="session")
def script(tmp_path_factory):
    return script_of_records(lines(), tmp_path_factory.mktemp("scripts"))


def wait_for(condition):
    until = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


class Run:
    def __init__(self, program, folder, script, *options, command="counters", fake="", rules="", play="time=start inline",
                 arguments=(), status=0, environment=(), ranks=0):
        self.program, self.capture = program, folder / "run.gpuprof"
        target = [program.fakes / "fake_program", "--script", script, "--play", play, *arguments]
        if ranks:
            each = f"WORLD_SIZE={ranks} RANK=$rank {shlex.join(map(str, target))}"
            target = ["sh", "-c", f"for rank in {' '.join(map(str, range(ranks)))}; do {each} & done; wait"]
        done = subprocess.run([program.path, command, "-o", self.capture, "--force", *options, "--", *target], capture_output=True, timeout=HANGS_S,
                              env=fake_environment(program, rules, GPUPROF_FAKE_COUNTERS=fake, **dict(environment)), check=False)
        self.outcome = Outcome(done.returncode, done.stdout, done.stderr)
        assert self.outcome.status == status, self.outcome.errors

    def table(self, name):
        return self.program.stored(self.capture, name)

    def measured(self):
        return collections.Counter(row["name"].split("(")[0] for row in self.table("profiled_kernel"))

    def losses(self, kind):
        return {row["place"]: int(row["count"]) for row in self.table("loss") if row["kind"] == kind}

    def says(self, pattern):
        return any(re.search(pattern, line) for line in self.outcome.errors)


def shapes_of(records):
    return collections.Counter((r["name"], r["gridX"], r["gridY"], r["gridZ"], r["blockX"], r["blockY"], r["blockZ"])
                               for r in kernels_in(records))


def test_every_shape_is_measured_beside_the_trace(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "2")
    rows = run.table("profiled_kernel")
    assert len(rows) == sum(min(2, count) for count in shapes_of(lines()).values())
    assert {row["tool"] for row in rows} == {"gpu-profile counters"}
    assert {(row["kind"], row["cache_mode"], row["clock_mode"], row["passes"]) for row in rows} == {("kernel", "warm", "none", "1")}
    recorded = {(r["gridX"], r["gridY"], r["blockX"], r["blockY"], r["registersPerThread"]) for r in kernels_in(lines())}
    assert {tuple(int(row[c]) for c in ("grid_x", "grid_y", "block_x", "block_y", "registers")) for row in rows} == recorded
    # The timeline is that of the first run, and the second one's process is not in the capture.
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert len(run.table("process")) == 1
    assert {row["process"] for row in rows} == {run.table("process")[0]["key"]}
    assert run.table("device")
    assert run.losses("unmeasured_kernel") == {}


MAPPING = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
""" + PLAY.replace("sys.argv[1]", "sys.argv[2]") + "play(0, b'start')"


def test_counters_are_planned_with_the_cupti_that_the_program_mapped(program, tmp_path, script):
    """The planner begins with the loader's libcupti; the program has mapped another one, which the first run shows."""
    own, capture = tmp_path / "own/libcupti.so.13", tmp_path / "run.gpuprof"
    own.parent.mkdir()
    shutil.copy2(program.fakes / "libcupti.so.13", own)
    done = subprocess.run([program.path, "counters", "-o", capture, "--set", "triage", "--", sys.executable, "-c", MAPPING, own, script],
                          env=fake_environment(program, GPUPROF_FAKE_COUNTERS=""), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    assert f"measuring with the program's own CUPTI, {own}" in " ".join(done.stderr.split()), done.stderr
    assert program.stored(capture, "profiled_kernel")
    assert {row["value"] for row in program.stored(capture, "meta") if row["key"] == "cupti_path"} == {str(own)}


def test_what_was_measured_is_found_in_the_timeline(program, tmp_path, script):
    """One command from the program to the kernels with their counters: each has its handle, launch shape and occupancy."""
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "1")
    report = program.report(run.capture, "limits", "kernels", "metrics")
    names = {f"k-{i + 1}": row["name"] for i, row in enumerate(report["kernels"].rows)}
    assert len(report["limits"].rows) == len(shapes_of(lines()))
    assert all(names[row["kernel"]] == row["name"] for row in report["limits"].rows)
    assert {row["metric"] for row in report["metrics"].rows} >= {"Duration", "DRAM Throughput", "Achieved Occupancy", "Grid Size", "Registers Per Thread"}
    assert report["limits"].rows[0]["kernel"] in program.run("report", run.capture, "kernel").stdout.decode()


def test_values_units_and_durations(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", "--launches", "1")
    launch, = run.table("profiled_kernel")
    counters = {row["metric"]: row for row in run.table("kernel_counter")}
    assert len(counters) == TRIAGE
    assert {row["launch"] for row in counters.values()} == {launch["launch"]}
    assert (counters["gpu__time_duration.sum"]["value"], counters["gpu__time_duration.sum"]["unit"]) == ("1001.0", "ns")
    assert counters["sm__cycles_elapsed.max"]["value"] == "2001.0"
    assert counters["dram__bytes_read.sum"]["unit"] == "byte"
    assert counters["l1tex__t_sector_hit_rate.pct"]["unit"] == "%"
    assert launch["dur"] == "1001"


def test_filter_launches_and_skip(program, tmp_path, script):
    counts = collections.Counter(r["name"] for r in kernels_in(lines()) if "transpose" in r["name"])
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "transpose", "--launches", "1000", "--skip", "1")
    assert sum(run.measured().values()) == sum(count - 1 for count in counts.values())
    assert set(run.measured()) == {"transpose_naive", "transpose_tiled"}
    assert min(int(row["occurrence"]) for row in run.table("profiled_kernel")) == 1


def test_one_run(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--counters", "triage", "--quiet", "--sample", "0", command="record")
    assert len(run.table("profiled_kernel")) == sum(min(3, count) for count in shapes_of(lines()).values())
    assert run.table("kernel") == []
    assert run.table("device")[0]["vendor"] == "nvidia"
    assert len(run.table("process")) == 1


def test_cost_is_said_before_it_is_paid(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "details", "--budget", "0.2")
    assert run.says(r"measuring \d+ kernels? \([\d.]+ % of the kernel time\), 3 launches of each, 5 passes: about ")
    assert run.says(r"left out: \d+ kernels? \([\d.]+ % of the kernel time\) beyond the budget; raise --budget")


def test_the_budget_ends_measuring(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--budget", "1", rules="slow cuptiRangeProfilerStop 1100")
    assert len(run.table("profiled_kernel")) == 1
    assert run.says(r"not measured: \d+ launches after the budget was used up \(first: .*\): raise --budget")


def test_a_metric_that_the_chip_lacks_is_left_out(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", fake="unknown=dram__bytes")
    metrics = {row["metric"] for row in run.table("kernel_counter")}
    assert len(metrics) == TRIAGE - 2
    assert run.says("GH100 does not have dram__bytes_read.sum, dram__bytes_write.sum")


@pytest.mark.parametrize(("function", "code"), pairs(PLANNING, FORBIDDEN, [code for code in CODES if code not in FORBIDDEN]))
def test_planning_is_refused_in_a_sentence(program, tmp_path, script, function, code):
    run = Run(program, tmp_path, script, rules=f"fail {function} {code}", status=5 if code in FORBIDDEN else 4)
    line, = run.outcome.errors
    assert line.startswith("gpu-profile: cannot measure counters: ")
    assert function in line or "has none of these counters" in line
    assert not run.capture.exists()


@pytest.mark.parametrize(("function", "code"),
                         pairs(MEASURING, [code for code in CODES if code in FOR_ALL], [code for code in CODES if code not in FOR_ALL]))
def test_a_refused_measurement_never_touches_the_program(program, tmp_path, script, function, code):
    once = function in MEASURING[:2]  # per context
    run = Run(program, tmp_path, script, "--set", "triage", rules=f"fail {function} {code}" + ("" if once else " after 1"))
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert len(run.table("profiled_kernel")) == (0 if once else 1)
    refused = run.losses("unmeasured_kernel")
    tried = sum(count for place, count in refused.items() if f"{function} answered {code}" in place)
    assert tried == (1 if code in FOR_ALL or function == "cuptiRangeProfilerStop" else 3)
    assert run.says(f"{function} answered {code}")
    assert run.says(r"not measured: \d+ launches after CUPTI had refused for good")


@pytest.mark.parametrize("code", [1, 999])
@pytest.mark.parametrize("function", EVALUATING)
def test_an_image_that_cannot_be_evaluated_costs_its_values(program, tmp_path, script, function, code):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy|gemm", rules=f"fail {function} {code} after 2")
    assert len(run.table("profiled_kernel")) == 2
    assert all(f"{function} answered {code}" in place for place in run.losses("unmeasured_kernel"))
    assert run.losses("unmeasured_kernel")


def test_what_is_no_number_is_absent(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", "--launches", "1",
              fake="value=dram__bytes_read.sum:nan value=sm__cycles_active.avg:inf")
    metrics = {row["metric"] for row in run.table("kernel_counter")}
    assert len(metrics) == TRIAGE - 2
    assert list(run.losses("missing_counter").values()) == [2]


def test_mixed_launches_are_not_told_as_one(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", "--launches", "1", fake="mixed=1")
    assert run.table("kernel_counter") == []
    assert any("2 launches were measured as one" in place for place in run.losses("unmeasured_kernel"))


def test_dropped_ranges_are_counted(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", "--launches", "1", fake="dropped=3")
    assert 3 in run.losses("unmeasured_kernel").values()


def test_a_hanging_replay_is_survived_and_named(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--hang", "3", fake="hang=gemm", status=-9)
    assert run.says(r"the replay of gemm_naive\(.*\) did not end within [\d.]+ s; the program was ended")
    assert any("gemm_naive" in place for place in run.losses("hung_replay"))
    assert set(run.measured()) >= {"saxpy", "strided_copy"}
    assert "gemm_naive" not in run.measured()
    assert len(run.table("kernel")) == len(kernels_in(lines()))


def test_a_crash_of_evaluation_costs_one_launch(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "1", fake="crash=gemm")
    measured = run.measured()
    assert "gemm_naive" not in measured
    assert {"saxpy", "fma_peak", "divergent"} <= set(measured)
    assert run.says("the process that calls CUPTI was killed by signal 6 .* in cuptiProfilerHostEvaluateToGpuValues; the values of one "
                    "launch are lost")


def renamed(records, old, new):
    return [{**r, "name": new} if r["kind"] == "KERNEL" and old in r["name"] else r for r in records]


def test_collectives_are_never_replayed(program, tmp_path):
    records = renamed(lines(), "gemm_naive", "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    script = script_of_records(records, tmp_path)
    run = Run(program, tmp_path, script, "--set", "triage", fake="hang=nccl")
    assert not any("nccl" in name for name in run.measured())
    assert run.says("left out: ncclDevKernel_AllReduce_Sum_f32_RING_LL; these kernels wait for other GPUs and would hang")
    run = Run(program, tmp_path, script, "--counters", "triage", "--quiet", "--sample", "0", command="record", fake="hang=nccl")
    assert run.says(r"not measured: \d+ kernels that wait for other GPUs .*first: ncclDevKernel_AllReduce_Sum_f32_RING_LL")


def test_threads_take_turns(program, tmp_path):
    script = script_of_records(without_capture(lines()), tmp_path)
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "50", arguments=("--threads", "4"))
    assert sum(run.measured().values()) == sum(min(50, 4 * count) for count in shapes_of(lines()).values())
    assert run.losses("unmeasured_kernel") == {}


def test_graph_launches_are_counted(program, tmp_path):
    script = script_of_records(lines(graphs=True), tmp_path)
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy")
    assert run.says(r"not measured: 5 launches of CUDA graphs: graphs are not replayed node by node")


@pytest.mark.parametrize("end", ["exit", "_exit", "quick", "abort", "kill"])
def test_ends_of_the_program(program, tmp_path, script, end):
    status = {"abort": -6, "kill": -9}.get(end, 5)
    if sanitized(program) and end == "abort":
        pytest.skip("the sanitizer has its own end")
    run = Run(program, tmp_path, script, "--counters", "triage", "--quiet", "--sample", "0", command="record",
              arguments=("--end", end), status=status)
    assert len(run.table("profiled_kernel")) == sum(min(3, count) for count in shapes_of(lines()).values())


def test_a_range_in_one_pass(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--range", "nvtx:turn", arguments=("--nvtx", "--times", "2"))
    rows = run.table("profiled_kernel")
    assert [(row["kind"], row["range"], row.get("name", "")) for row in rows] == [("range", "turn", "")] * 2
    assert len(run.table("kernel_counter")) == 2 * TRIAGE
    run = Run(program, tmp_path, script, "--set", "details", "--range", "nvtx:turn", status=2)
    assert run.says("ranges are measured in one pass, but details needs 5 on GH100; use --set triage")


@pytest.mark.parametrize(("options", "text"), [
    (("--set", "nonsense"), "'nonsense' is neither a set (triage, sol, "),
    (("--range", "turn"), "invalid --range 'turn'; expected nvtx:NAME"),
    (("--cache", "flush"), "--cache flush needs CUPTI 13.4 or later; "),
    (("--clock", "base"), "--clock base needs CUPTI 13.4 or later; "),
    (("--kernel", "("), "invalid pattern '('"),
])
def test_wrong_options(program, tmp_path, script, options, text):
    run = Run(program, tmp_path, script, *options, status=2)
    assert any(text in line for line in run.outcome.errors), run.outcome.errors


def test_nothing_matches(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--kernel", "no such kernel", status=4)
    assert run.says("no kernels to measure: check --kernel and --skip")


def test_a_newer_library_controls_the_cache(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--cache", "flush", "--kernel", "saxpy", rules="version 130400")
    assert {row["cache_mode"] for row in run.table("profiled_kernel")} == {"flush"}


def clocks_of(tmp_path, program, script, *options, before="", rules="", **more):
    """The run, and what was done to the clocks."""
    log = tmp_path / "clocks"
    log.write_text(before)
    run = Run(program, tmp_path, script, "--set", "triage", "--kernel", "saxpy", *options, rules="version 130400\n" + rules,
              environment={"GPUPROF_FAKE_CLOCKS": str(log)}, **more)
    return run, log.read_text().split("\n")[:-1]


@pytest.mark.parametrize("mode", ["base", "boost"])
def test_clocks_are_locked_and_unlocked(program, tmp_path, script, mode):
    run, clocks = clocks_of(tmp_path, program, script, "--clock", mode)
    assert clocks == [mode, "unlocked"]
    assert {row["clock_mode"] for row in run.table("profiled_kernel")} == {mode}


def test_another_tools_lock_stays(program, tmp_path, script):
    run, clocks = clocks_of(tmp_path, program, script, "--clock", "base", before="locked by another tool\n")
    assert clocks == ["locked by another tool"]
    assert run.says("another tool has locked the clocks")
    assert {row["clock_mode"] for row in run.table("profiled_kernel")} == {"external"}


def test_clocks_are_unlocked_after_a_hang(program, tmp_path, script):
    run, clocks = clocks_of(tmp_path, program, script, "--clock", "base", "--hang", "1", rules="hang cuptiRangeProfilerStop after 1", status=-9)
    assert clocks == ["base", "unlocked"]
    assert run.says("saxpy")


def test_clocks_are_unlocked_when_the_launcher_is_killed(program, tmp_path, script):
    log = tmp_path / "clocks"
    log.write_text("")
    target = [program.fakes / "fake_program", "--script", script, "--play", "time=start inline"]
    environment = fake_environment(program, "version 130400\nhang cuptiRangeProfilerStop", GPUPROF_FAKE_CLOCKS=str(log), GPUPROF_FAKE_COUNTERS="")
    with subprocess.Popen([program.path, "counters", "-o", tmp_path / "run.gpuprof", "--set", "triage", "--clock", "base", "--", *target],
                          env=environment, stderr=subprocess.DEVNULL, start_new_session=True) as launcher:
        wait_for(lambda: log.read_text() == "base\n")
        launcher.kill()
    wait_for(lambda: log.read_text() == "base\nunlocked\n")
    with contextlib.suppress(ProcessLookupError):
        os.killpg(launcher.pid, signal.SIGKILL)  # the program still hangs


@pytest.mark.parametrize(("code", "status", "text"), [(35, 5, "not permitted; boost clocks need root"), (27, 4, "not supported on this GPU"),
                                                      (999, 4, "CUPTI answers 999")])
def test_clocks_that_cannot_be_locked(program, tmp_path, script, code, status, text):
    run, clocks = clocks_of(tmp_path, program, script, "--clock", "boost", rules=f"fail cuptiClockControlLock {code}", status=status)
    assert clocks == []
    assert run.says(f"cannot lock the clocks: {text}")
    assert run.says("measure with --clock none")


def test_another_version_in_the_program_is_refused(program, tmp_path):
    recording = script_of_records(lines(), tmp_path, version="12.8")
    run = Run(program, tmp_path, recording, "--set", "triage")
    assert run.measured() == {}
    assert any("the program uses CUPTI 26" in place for place in run.losses("recorder_refused")) or run.says("CUPTI 26")


def test_options_of_record_that_need_each_other(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--kernel", "saxpy", command="record", status=2)
    assert run.says("--kernel selects kernels for --counters; add --counters SET")
    run = Run(program, tmp_path, script, "--counters", "sol", "--trace", "nvtx", command="record", status=2)
    assert run.says("--counters needs CUDA; add cuda to --trace")


def test_processes_are_those_of_the_trace(program, tmp_path, script):
    """Which of two processes without ranks is which in the second run is unknown: absent, not guessed."""
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "1", arguments=("--spawn", "1"))
    traced = {row["process"] for row in run.table("kernel")}
    assert len(traced) == 2
    assert {row.get("process", "") for row in run.table("profiled_kernel")} == {""}
    assert len(run.table("profiled_kernel")) == 2 * len(shapes_of(lines()))


def test_processes_with_ranks_are_found_by_them(program, tmp_path, script):
    run = Run(program, tmp_path, script, "--set", "triage", "--launches", "1", ranks=2)
    assert sorted(filter(None, (row["rank"] for row in run.table("process")))) == ["0", "1"]  # not of the shell
    measured = collections.Counter(row.get("process", "") for row in run.table("profiled_kernel"))
    assert measured == {row["process"]: len(shapes_of(lines())) for row in run.table("kernel")}
