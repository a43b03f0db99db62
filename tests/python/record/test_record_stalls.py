"""`record --stalls` and `gpu-profile counters --stalls` on the fake CUDA program and the fake PC sampling.

The fake (tests/fakes/cupti/pc_sampling.cc) is strict about the order of calls and the sizes of structures and records: the program ends with 70
when the collector breaks a rule, so that a status of 0 asserts all of them. The cubins are compiled ones, so that instructions really have lines.
"""

import collections
import gzip
import re

import pytest
from injected import sanitized
from nightly import pairs
from recordings_of_cupti import kernels_in, lines, script_of_records
from test_record_counters import CODES, Run

from conftest import FIXTURES

SCALE, ADD = "_Z5scalePfPKffi", "add_kernel"
OFFSETS = (0x10, 0x80)  # lines 5 and 6 of kernels.cu
OLDER = (18, 20, 21)  # CUPTI 11.8 to 12.1, 12.2 and 12.3: records and data grew one after the other
SETUP = """cuptiPCSamplingEnable cuptiPCSamplingGetNumStallReasons cuptiPCSamplingGetStallReasons
    cuptiPCSamplingSetConfigurationAttribute cuptiPCSamplingStart""".split()
ENDING = ["cuptiPCSamplingStop", "cuptiPCSamplingGetData", "cuptiPCSamplingDisable"]
SETTINGS = {1: "sampling period", 2: "stall reasons", 3: "scratch buffer", 4: "hardware buffer", 5: "continuous collection", 6: "start and stop",
            8: "sampling data", 9: "worker's sleep"}

RUNS, GEMMS = (sum(name in record["name"] for record in kernels_in(lines())) for name in ("saxpy", "gemm_naive"))


@pytest.fixture(scope="session")
def script(tmp_path_factory):
    return script_of_records(lines(), tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="session")
def cubins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cubins")
    for name in ("kernels", "add"):
        (folder / name).write_bytes(gzip.decompress((FIXTURES / f"cubin/{name}.sm_90a.cubin.gz").read_bytes()))
    return folder


@pytest.fixture
def sampled(program, tmp_path, script, cubins):
    """Runs a command with samples of saxpy at two lines of kernels.cu, of gemm_naive at one of add.py, and what `more` says."""

    def run(*options, more="", command="record", **rest):
        scene = tmp_path / "stalls"
        scene.write_text(f"""module {cubins / 'kernels'}
module {cubins / 'add'}
sample saxpy {SCALE} 0 {OFFSETS[0]} 3=40 4=30 7=10
sample saxpy {SCALE} 0 {OFFSETS[1]} 5=7
sample gemm_naive {ADD} 1 16 6=5
{more}
""")
        arguments = ("--quiet", "--sample", "0") if command == "record" else ()
        environment = {**dict(rest.pop("environment", ())), "GPUPROF_FAKE_STALLS": str(scene)}
        return Run(program, tmp_path, script, "--stalls", *arguments, *options, command=command, environment=environment, **rest)

    return run


def test_names_of_functions_are_freed_once_at_the_end(program, sampled):
    """Records share them, so they are freed after the last one was read; freeing one twice would end the program."""
    if sanitized(program):
        pytest.skip("a sanitizer keeps freed memory mapped")
    run = sampled(environment={"GPUPROF_FAKE_CLIENT_MEMORY": "1"})
    assert run.says("fake libcupti: 0 of 2 names of functions were not freed"), run.outcome.errors
    assert counts_of(run) == expected(RUNS, GEMMS)


def counts_of(run):
    counts = collections.Counter()
    for row in run.table("instruction_counter"):
        counts[row.get("function"), int(row["offset"]), row["metric"]] += float(row["value"])
    return counts


def expected(runs, gemms):
    scale = "scale(float*, float const*, float, int)"
    return {(scale, OFFSETS[0], "samples.long_scoreboard"): 40 * runs, (scale, OFFSETS[0], "samples.long_scoreboard_not_issued"): 30 * runs,
            (scale, OFFSETS[0], "samples.selected"): 10 * runs, (scale, OFFSETS[1], "samples.wait"): 7 * runs,
            (ADD, 16, "samples.no_instructions"): 5 * gemms}


def test_samples_have_reasons_and_lines(sampled, program):
    run = sampled()
    assert counts_of(run) == expected(RUNS, GEMMS)
    rows = run.table("instruction_counter")
    assert {(row["file"], row["line"]) for row in rows if row["function"] != ADD} == {("/opt/example/kernels.cu", "5"), ("/opt/example/kernels.cu", "6")}
    assert {row["file"] for row in rows if row["function"] == ADD} == {"/opt/example/add.py"}
    assert {row["unit"] for row in rows} == {"samples"}
    assert {row["process"] for row in rows} == {run.table("process")[0]["key"]}
    assert not any(row.get("launch") for row in rows)
    # The timeline is recorded too.
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert run.says(r"\d+ warp samples at 3 instructions, 100.0 % with a source line; gpu-profile report FILE source")


def test_report_and_exports(sampled, program, tmp_path):
    run = sampled()
    source = program.report(run.capture, "source")["source"].rows
    assert (source[0]["line"], source[0]["stall"]) == (5, "long_scoreboard")
    assert source[0]["samples"] == 50 * RUNS  # what was not issued is a part of it, and not added
    folded = program.run("export", "folded-source", run.capture).stdout.decode()
    assert f";/opt/example/kernels.cu:5;long_scoreboard {40 * RUNS}\n" in folded
    assert "not_issued" not in folded
    pprof = tmp_path / "samples.pb.gz"
    assert program.run("export", "pprof-source", run.capture, "-o", pprof).status == 0
    assert b"/opt/example/kernels.cu" in gzip.decompress(pprof.read_bytes())


def test_counters_runs_twice(sampled):
    run = sampled(command="counters")
    assert counts_of(run) == expected(RUNS, GEMMS)
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert run.table("profiled_kernel") == []
    assert {row["process"] for row in run.table("instruction_counter")} == {run.table("process")[0]["key"]}
    assert run.says("second run: sampling warps")


def test_counters_and_samples_need_three_runs(sampled):
    run = sampled("--set", "triage", "--launches", "1", command="counters")
    assert counts_of(run) == expected(RUNS, GEMMS)
    assert run.table("profiled_kernel")
    assert run.says("third run: sampling warps")


def test_only_the_window_is_sampled(sampled):
    """The annotation `turn` surrounds each play."""
    run = sampled("--capture-range", "nvtx:turn", arguments=("--nvtx", "--times", "2"))
    assert counts_of(run) == expected(2 * RUNS, 2 * GEMMS)
    run = sampled("--capture-range", "nvtx:nothing", arguments=("--nvtx",))
    assert run.table("instruction_counter") == []
    run = sampled("--range", "nvtx:turn", command="counters", arguments=("--nvtx",))
    assert counts_of(run) == expected(RUNS, GEMMS)


@pytest.mark.parametrize("page", [1, 2])
def test_pages(sampled, page):
    assert counts_of(sampled(more=f"page {page}")) == expected(RUNS, GEMMS)


def test_what_is_left_comes_with_disable(sampled):
    assert counts_of(sampled(more="late 2")) == expected(RUNS, GEMMS)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_library_has_smaller_records(sampled, version):
    assert counts_of(sampled(rules=f"version {version}")) == expected(RUNS, GEMMS)


def test_contexts_that_end(sampled):
    assert counts_of(sampled(more="destroy")) == expected(RUNS, GEMMS)


def test_a_second_context_of_a_gpu_is_said(sampled):
    run = sampled(more="contexts 2")
    assert counts_of(run) == expected(RUNS, GEMMS)
    assert any("CUPTI samples one context per GPU at a time" in place for place in run.losses("recorder_refused"))


def test_losses_are_said(sampled):
    run = sampled(more="dropped 12\nothers 3")
    total = 57 * RUNS + 5 * GEMMS + 15
    assert run.losses("lost_sample") == {f"GPU 0: the hardware dropped 12 of {total:,} warp samples": 12}
    assert run.losses("sample_without_line") == {"GPU 0: kernels that CUPTI does not show, such as the driver's": 3}
    assert run.says("the hardware dropped 12 of .* sample less often")


def test_an_overflow_is_said(sampled):
    run = sampled(more="full")
    assert run.table("instruction_counter") == []
    assert list(run.losses("lost_sample").values()) == [1]
    assert run.says("the sample buffer overflowed, .* 1 time; sample less often")
    assert run.says("no warp was sampled")


def test_what_has_no_line_says_why(sampled, tmp_path, cubins):
    plain = tmp_path / "plain"
    image = (cubins / "kernels").read_bytes()
    plain.write_bytes(image.replace(b".debug_line", b".debug_lost"))
    run = sampled(more=f"module {plain}\nsample divergent {SCALE} 2 16 3=1\nsample transpose nothing 0 16 3=1\nsample strided library 9 16 3=1")
    assert {re.sub(".*: ", "", place) for place in run.losses("sample_without_line")} == {
        "it was compiled without line information; compile with -lineinfo", "their module does not contain the function",
        "their module was not seen when it was loaded"}


@pytest.mark.parametrize(("function", "code"), pairs(SETUP, CODES))
def test_a_refusal_is_one_sentence(sampled, function, code):
    run = sampled(rules=f"fail {function} {code}")
    assert run.table("instruction_counter") == []
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert sum("cannot sample the warps of GPU 0" in line and f"({function} answered {code})" in line for line in run.outcome.errors) == 1
    assert any(f"{function} answered {code}" in place for place in run.losses("recorder_refused"))
    assert run.says("gpu-profile record works without --stalls")


@pytest.mark.parametrize(("function", "code"), pairs(ENDING, [8], [code for code in CODES if code != 8]))
def test_a_refusal_at_the_end_costs_samples(sampled, function, code):
    run = sampled(rules=f"fail {function} {code}")
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    if (function, code) == ("cuptiPCSamplingGetData", 8):
        assert run.losses("lost_sample")
    else:
        assert any(f"{function} answered {code}" in place for place in run.losses("recorder_refused"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_is_checked(sampled, setting):
    run = sampled(rules=f"fail attribute{setting} 7")
    assert any(f"({SETTINGS[setting]} answered 7)" in place for place in run.losses("recorder_refused"))


def test_a_cubin_without_a_key_has_no_lines(sampled):
    run = sampled(rules="fail cuptiGetCubinCrc 999")
    assert sum(run.losses("sample_without_line").values()) == 57 * RUNS + 5 * GEMMS
    assert any("cuptiGetCubinCrc answered 999" in place for place in run.losses("recorder_refused"))


@pytest.mark.parametrize("function", ["cuptiPCSamplingStop", "cuptiPCSamplingGetData", "cuptiPCSamplingDisable"])
def test_a_hanging_end_is_survived(sampled, function):
    run = sampled(rules=f"hang {function}")
    assert len(run.table("kernel")) == len(kernels_in(lines()))


@pytest.mark.parametrize("end", ["exit", "_exit", "quick"])
def test_ends_of_the_program(sampled, end):
    run = sampled(arguments=("--end", end), status=5)
    assert counts_of(run) == expected(RUNS, GEMMS)


def test_threads(sampled):
    run = sampled(arguments=("--threads", "4"))
    assert counts_of(run) == expected(4 * RUNS, 4 * GEMMS)


@pytest.mark.parametrize(("options", "text"), [
    (("--stall-period", "1000"), "invalid --stall-period '1000'; expected a power of two from 2^5 to 2^31, such as 2^14"),
    (("--stall-period", "2^4"), "invalid --stall-period '2^4'"),
    (("--counters", "sol"), "--stalls and --counters need the same hardware"),
    (("--trace", "nvtx"), "--stalls needs CUDA; add cuda to --trace"),
])
def test_wrong_options(sampled, options, text):
    assert sampled(*options, status=2).says(re.escape(text))


def test_the_period_is_kept(sampled):
    for given, cycles in (("2^17", "131072"), ("2048", "2048")):
        facts = {row["key"]: row["value"] for row in sampled("--stall-period", given).table("meta")}
        assert facts["stall_period_cycles"] == cycles
