"""`gpu-profile record --sample pm`: hardware counters over time, from the fake libcupti that plays recorded ones.

The series were recorded on a GPU (tests/fixtures/README.md). What the fake made is in its log; what the capture holds is
compared with the series and with that log. Whatever goes wrong with counters, the command is untouched.
"""

import csv
import gzip
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nightly import NIGHTLY, times
from patience import HANGS_S
from played import fake_environment
from program import Outcome

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests/fixtures/pm"
# Our names in the order of importance, with the beginning of CUPTI's.
COUNTERS = {
    "pm.sm.active": "sm__cycles_active", "pm.sm.issue": "sm__inst_executed_realtime",
    "pm.tensor.active": "sm__pipe_tensor_cycles_active", "pm.dram.read": "dramc__read_throughput",
    "pm.dram.write": "dramc__write_throughput", "pm.sm.warps": "tpc__warps_active_shader_cs",
    "pm.fma.issue": "sm__inst_executed_pipe_fma", "pm.pcie.read": "pcie__read_bytes", "pm.pcie.write": "pcie__write_bytes",
    "pm.l2.hit": "lts__average_t_sector_hit_rate", "pm.ctas": "gr__ctas_launched", "pm.l1.hit": "l1tex__t_sector_hit_rate",
}
CALLS = """cuptiProfilerInitialize cuptiDeviceGetChipName cuptiPmSamplingGetCounterAvailability cuptiProfilerHostInitialize
    cuptiProfilerHostConfigAddMetrics cuptiProfilerHostGetConfigImageSize cuptiProfilerHostGetConfigImage
    cuptiProfilerHostGetNumOfPasses cuptiPmSamplingEnable cuptiPmSamplingSetConfig cuptiPmSamplingGetCounterDataSize
    cuptiPmSamplingCounterDataImageInitialize cuptiPmSamplingStart cuptiPmSamplingDecodeData cuptiPmSamplingGetCounterDataInfo
    cuptiPmSamplingCounterDataGetSampleInfo cuptiProfilerHostEvaluateToGpuValues cuptiPmSamplingStop""".split()
SLEEP = "import sys, time; time.sleep(float(sys.argv[1])); print('said'); sys.exit(7)"


class Series:
    def __init__(self, name, folder):
        text = gzip.decompress((FIXTURES / f"{name}.csv.gz").read_bytes()).decode()
        self.file = folder / f"{name}.csv"
        self.file.write_text(text)
        self.names, *rows = csv.reader(io.StringIO(text))
        self.rows = [[float(cell) for cell in row] for row in rows]

    def column(self, name):
        index = next(i for i, each in enumerate(self.names) if name in each)
        return [row[index] for row in self.rows]


@pytest.fixture
def series(tmp_path):
    return Series("small_kernels", tmp_path)


class Run:
    """One recorded run of a command that sleeps, says a word and ends with 7."""

    def __init__(self, program, folder, series, sample="0,pm", seconds=0.4, fake="", rules="", environment=None, during=None, python=sys.executable):
        self.capture, self.log = folder / "run.gpuprof", folder / "log.txt"
        self.program = program
        self.environment = fake_environment(program, rules, GPUPROF_FAKE_PM=f"series={series.file} log={self.log} {fake}",
                                            **(environment or {}))
        began = time.monotonic()
        started = subprocess.Popen([program.path, "record", "-o", self.capture, "--quiet", "--sample", sample, "--",
                                    python, "-c", SLEEP, str(seconds)], env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        if during:
            during(started.pid)
        stdout, stderr = started.communicate(timeout=HANGS_S)
        self.took = time.monotonic() - began
        self.outcome = Outcome(started.returncode, stdout, stderr)
        assert (self.outcome.status, self.outcome.stdout) == (7, b"said\n"), self.outcome.errors
        self.said = [line for line in self.outcome.errors if "counters over time" in line]

    def table(self, name):
        return self.program.stored(self.capture, name)

    def samples(self):
        """(device, metric) -> [(time, value)]"""
        found = {}
        for row in self.table("sample"):
            if row["metric"].startswith("pm."):
                found.setdefault((int(row["device"] or 0), row["metric"]), []).append((int(row["time"]), float(row["value"])))
        return found

    def lost(self):
        return sum(int(row["count"]) for row in self.table("loss") if row["kind"] == "recorder_loss")

    def made(self):
        """What the fake sampled: (device, first time, interval, samples) of each start."""
        return [tuple(map(int, line.split())) for line in self.log.read_text().splitlines()]


def test_values_and_times_are_those_of_the_counters(program, tmp_path, series):
    run = Run(program, tmp_path, series)
    assert run.said == []
    (device, first, interval, count), = run.made()
    samples = run.samples()
    assert {metric for _, metric in samples} == set(COUNTERS)
    for metric, name in COUNTERS.items():
        recorded = series.column(name)
        # The first one starts before sampling and is omitted.
        assert samples[device, metric] == [(first + i * interval, recorded[(i + 1) % len(recorded)]) for i in range(count)]
    assert interval == 1_000_000
    assert count > times(200, 0)  # of 400, on an idle machine
    assert run.lost() == 0
    rows = {row["metric"]: row for row in program.report(run.capture, "samples")["samples"].rows}
    assert list(rows) == [name for name in rows if name.startswith("pm.")]
    assert {name: row["unit"] for name, row in rows.items()} == {name: "count" if name == "pm.ctas" else "%" for name in COUNTERS}


def test_nothing_is_lost_at_a_kilohertz_for_seconds(program, tmp_path, series):
    run = Run(program, tmp_path, series, seconds=times(4, 2), fake="evaluate_us=100")
    (_, _, _, count), = run.made()
    assert count >= times(3500, 1)
    assert {len(values) for values in run.samples().values()} == {count}
    assert run.lost() == 0


@pytest.mark.parametrize(("sample", "counters", "interval"), [
    ("pm:sm@200", {"pm.sm.active", "pm.sm.issue", "pm.tensor.active", "pm.sm.warps", "pm.fma.issue", "pm.ctas"}, 5_000_000),
    ("pm:memory@5000", {"pm.sm.active", "pm.dram.read", "pm.dram.write", "pm.pcie.read", "pm.pcie.write", "pm.l2.hit", "pm.l1.hit"},
     200_000),
])
def test_sets_and_rates(program, tmp_path, series, sample, counters, interval):
    run = Run(program, tmp_path, series, sample="0," + sample)
    assert {metric for _, metric in run.samples()} == counters
    (_, _, taken, count), = run.made()
    assert taken == interval
    assert {len(values) for values in run.samples().values()} == {count}


def test_every_device_is_sampled(program, tmp_path, series):
    run = Run(program, tmp_path, series, rules="devices 3")
    assert {device: count for device, _, _, count in run.made()} == {
        device: len(values) for (device, metric), values in run.samples().items() if metric == "pm.sm.active"}
    assert len(run.made()) == 3


def test_plain_names_are_taken_and_unknown_ones_said(program, tmp_path):
    plain = Series("plain_names", tmp_path)
    run = Run(program, tmp_path, plain, fake="chip=GA102")
    assert {metric for _, metric in run.samples()} == {"pm.sm.active", "pm.sm.issue", "pm.pcie.read", "pm.pcie.write"}
    line, = run.said
    assert "GA102" in line
    assert "pm.tensor.active" in line
    (_, first, interval, count), = run.made()
    recorded = plain.column("sm__cycles_active")
    assert run.samples()[0, "pm.sm.active"] == [(first + i * interval, recorded[(i + 1) % len(recorded)]) for i in range(count)]


def test_what_does_not_fit_one_pass_is_dropped_from_the_end(program, tmp_path, series):
    run = Run(program, tmp_path, series, fake="per_pass=5")
    assert {metric for _, metric in run.samples()} == set(list(COUNTERS)[:5])
    line, = run.said
    for name in list(COUNTERS)[5:]:
        assert name in line


def test_a_gpu_without_a_trigger_by_time_is_sampled_by_its_clock(program, tmp_path, series):
    run = Run(program, tmp_path, series, fake="by_time=no chip=GA100")
    assert len(run.samples()) == len(COUNTERS)
    line, = run.said
    assert "cycles" in line


@pytest.mark.parametrize("fake", ["", "by_time=no"])
def test_the_first_cupti_with_pm_sampling_has_a_shorter_structure(program, tmp_path, series, fake):
    run = Run(program, tmp_path, series, fake=f"config=60 {fake}")
    assert len(run.samples()) == len(COUNTERS)
    assert len(run.said) == bool(fake)


@pytest.mark.parametrize("fake", ["oom=100", "lap=100:40"])
def test_a_buffer_that_ran_over_is_a_counted_gap(program, tmp_path, series, fake):
    run = Run(program, tmp_path, series, seconds=0.8, fake=fake)
    values = run.samples()[0, "pm.sm.active"]
    times = [when for when, _ in values]
    assert times == sorted(set(times))
    gaps = [b - a for a, b in zip(times, times[1:]) if b - a > 1_500_000]
    assert len(gaps) == 1
    missing = round(gaps[0] / 1e6) - 1
    assert run.lost() == missing
    assert missing == 40 or "oom" in fake
    assert "were lost" in run.said[-1]
    # Counts agree with what was made: nothing is invented.
    assert len(times) + missing == round((times[-1] - times[0]) / 1e6) + 1
    if "lap" in fake:
        recorded = series.column("sm__cycles_active")
        assert [v for _, v in values] == [recorded[(i + 1) % len(recorded)] for i in range(len(times) + 40) if not 99 <= i < 139]


@pytest.mark.parametrize("code", [35, 26, 999, 7])
@pytest.mark.parametrize("call", CALLS)
def test_every_refusal_is_one_line(program, tmp_path, series, call, code):
    run = Run(program, tmp_path, series, seconds=0.2, rules=f"fail {call} {code}")
    line, = [each for each in run.said if "were lost" not in each]
    if call == "cuptiProfilerHostConfigAddMetrics":
        assert "no counter of set" in line
    else:
        assert f"{call} answered {code}" in line
    remedy = {35: "NVreg_RestrictProfilingToAdminUsers=0", 26: "dcgmi profile --pause", 999: "GPUPROF_CUPTI", 7: "other profiler"}
    assert remedy[code] in line or "no counter of set" in line
    if call != "cuptiPmSamplingStop":
        assert run.samples() == {}


def test_failing_to_clean_up_costs_nothing(program, tmp_path, series):
    run = Run(program, tmp_path, series, rules="fail cuptiPmSamplingDisable 999; fail cuptiProfilerHostDeinitialize 999")
    (_, _, _, count), = run.made()
    assert {len(values) for values in run.samples().values()} == {count}


@pytest.mark.parametrize(("when", "call"), [("", "cuInit"), ("", "cuptiPmSamplingEnable"), ("", "cuptiProfilerHostInitialize"),
                                           ("after 3", "cuptiPmSamplingDecodeData"), ("", "cuptiPmSamplingStop"),
                                           ("", "cuptiPmSamplingDisable")])
def test_a_driver_that_hangs_holds_up_nobody(program, tmp_path, series, when, call):
    run = Run(program, tmp_path, series, seconds=0.3, rules=f"hang {call} {when}")
    # The call never returns, and yet the command and `record` have ended. How soon needs an idle machine.
    assert not NIGHTLY or run.took < 0.3 + 2 + 1.5  # the rest is the start of two interpreters
    assert any(call in line for line in run.said)


def test_a_driver_that_hangs_in_the_middle_is_given_up(program, tmp_path, series):
    run = Run(program, tmp_path, series, seconds=5, rules="hang cuptiPmSamplingDecodeData after 30")
    line = run.said[0]
    assert "did not answer in cuptiPmSamplingDecodeData" in line
    count = len(run.samples()[0, "pm.sm.active"])
    assert count > times(900, 0)
    assert run.lost() > times(2000, 0)


def counter_processes(parent):
    found = []
    for folder in Path("/proc").iterdir():
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == parent and (folder / "comm").read_text().strip() == "gpuprof-counter":
                found.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            pass
    return found


def wait_for_process(parent, other_than=None):
    until = time.monotonic() + HANGS_S
    while time.monotonic() < until:
        for pid in counter_processes(parent):
            if pid != other_than:
                return pid
        time.sleep(0.01)
    raise AssertionError("no process samples counters")


def test_a_killed_sampler_is_started_again(program, tmp_path, series):
    def kill(parent):
        pid = wait_for_process(parent)
        time.sleep(1.6)  # some is written by then
        os.kill(pid, signal.SIGKILL)
        wait_for_process(parent, other_than=pid)

    run = Run(program, tmp_path, series, seconds=3, during=kill)
    assert "was killed by signal 9" in run.said[0]
    times = [when for when, _ in run.samples()[0, "pm.sm.active"]]
    assert times == sorted(set(times))
    gaps = [b - a for a, b in zip(times, times[1:]) if b - a > 1_500_000]
    assert len(gaps) == 1
    assert abs(run.lost() - (gaps[0] / 1e6 - 1)) <= 1  # the two samplers do not tick alike


def test_a_sampler_that_dies_ever_again_is_left_alone(program, tmp_path, series):
    def kill(parent):
        pid = None
        for _ in range(4):
            pid = wait_for_process(parent, other_than=pid)
            time.sleep(1)  # it samples by then
            os.kill(pid, signal.SIGKILL)

    run = Run(program, tmp_path, series, seconds=9, during=kill)
    assert len([line for line in run.said if "was killed" in line]) == 4
    assert "ended" in run.said[3]


def test_the_sampler_ends_with_the_launcher(program, tmp_path, series):
    def kill(parent):
        kill.pid = wait_for_process(parent)
        os.kill(parent, signal.SIGKILL)

    with pytest.raises(AssertionError):  # the launcher is dead, the command is not waited for
        Run(program, tmp_path, series, seconds=0.5, during=kill)
    until = time.monotonic() + HANGS_S
    while time.monotonic() < until and Path(f"/proc/{kill.pid}").exists():
        time.sleep(0.02)
    assert not Path(f"/proc/{kill.pid}").exists()


@pytest.mark.parametrize(("environment", "words"), [
    ({"GPUPROF_CUPTI": "/no/such/libcupti.so"}, "/no/such/libcupti.so"),
    ({"LD_LIBRARY_PATH": "/nonexistent"}, "libcuda.so.1"),
])
def test_without_the_libraries_it_is_one_line(program, tmp_path, series, environment, words):
    run = Run(program, tmp_path, series, environment=environment)
    line, = run.said
    assert words in line


def test_a_libcupti_without_pm_sampling_is_named(program, tmp_path, series):
    old = tmp_path / "libcupti.so.12"
    source = tmp_path / "old.c"
    source.write_text("int cuptiGetVersion(unsigned* v) { *v = 22; return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", old, source], check=True)
    run = Run(program, tmp_path, series, environment={"GPUPROF_CUPTI": str(old)})
    line, = run.said
    assert "12.6" in line
    assert str(old) in line


@pytest.fixture
def own_cupti(program, tmp_path):
    """A Python of its own, and where the libcupti of its packages is; `answering(code)` makes one that answers every call so."""
    python, library = tmp_path / "venv/bin/python3", tmp_path / "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13"
    for folder in (python.parent, library.parent):
        folder.mkdir(parents=True)
    python.symlink_to(sys.executable)

    def answering(code):
        names = set(re.findall(r"cupti\w+", (ROOT / "collect/pm/pm_symbols.def").read_text()))
        source = tmp_path / "newer.c"
        tell = 'void fake_cupti_started(void) { ((void (*)(void))dlsym(dlopen("%s", RTLD_NOW), __func__))(); }\n' % (program.fakes / "libcupti.so.13")
        source.write_text("#include <dlfcn.h>\nvoid fake_cupti_call(unsigned domain, unsigned function) {}\n" + tell + "".join(f"int {name}(void* given) {{ return {code}; }}\n" for name in sorted(names)))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)

    return python, library, answering


@pytest.mark.parametrize("code", [15, 999])
def test_a_cupti_that_is_newer_than_the_driver_is_passed_over(program, tmp_path, series, own_cupti, code):
    """What CUPTI answers to its first call where the driver is older (knowledge of the real libraries: 12.x 15, 13.x 999)."""
    python, _, answering = own_cupti
    answering(code)
    run = Run(program, tmp_path, series, python=python)
    assert run.samples() and not run.said, run.said
    assert {row["key"]: row["value"] for row in run.table("meta")}["counters.cupti"] == str((program.fakes / "libcupti.so.13").resolve())


def test_any_other_refusal_is_final(program, tmp_path, series, own_cupti):
    python, _, answering = own_cupti
    answering(35)
    run = Run(program, tmp_path, series, python=python)
    assert not run.samples() and "cuptiProfilerInitialize answered 35" in run.said[0]


def test_the_cupti_of_the_programs_own_python_comes_first(program, tmp_path, series, own_cupti):
    python, library, _ = own_cupti
    shutil.copy2(program.fakes / "libcupti.so.13", library)
    run = Run(program, tmp_path, series, python=python)
    assert run.samples()
    assert {row["key"]: row["value"] for row in run.table("meta")}["counters.cupti"] == str(library.resolve())


def test_samplers_are_no_processes_of_the_recording(program, tmp_path, series):
    run = Run(program, tmp_path, series, sample="0.1,pm")
    commands = [row["command"] for row in run.table("process")]
    assert len(commands) == 1
    assert "time.sleep" in commands[0]


@pytest.mark.parametrize("word", ["pm:nosuch", "pm@0", "pm@50001", "pm@x", "often", "-1", "1,2", "pm,pm:sm", ""])
def test_wrong_words_are_one_clear_line(program, tmp_path, word):
    outcome = program.run("record", "-o", tmp_path / "x", f"--sample={word}", "--", "true")
    assert outcome.status == 2
    assert len(outcome.errors) == 1
    assert not list(tmp_path.iterdir())
