"""`gpu-profile counters --set source`: counters of instructions, on the fake CUDA program and the fake SASS metrics.

The fake (tests/fakes/cupti/sass_metrics.cc) is strict about the order of calls and the sizes of structures, as in test_record_stalls.py.
"""

import gzip

import pytest
from nightly import pairs
from recordings_of_cupti import kernels_in, lines, script_of_records, without_capture
from test_record_counters import CODES, Run

from conftest import FIXTURES

SCALE = "_Z5scalePfPKffi"
EXECUTED, SECTORS, IDEAL = "smsp__sass_inst_executed", "smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"
BEGINNING = ["cuptiSassMetricsGetProperties", "cuptiSassMetricsSetConfig", "cuptiSassMetricsEnable"]
ENDING = ["cuptiSassMetricsGetDataProperties", "cuptiSassMetricsFlushData", "cuptiSassMetricsDisable", "cuptiSassMetricsUnsetConfig"]


@pytest.fixture(scope="session")
def script(tmp_path_factory):
    return script_of_records(lines(), tmp_path_factory.mktemp("scripts"))


@pytest.fixture
def counted(program, tmp_path, script):
    cubin = tmp_path / "kernels"
    cubin.write_bytes(gzip.decompress((FIXTURES / "cubin/kernels.sm_90a.cubin.gz").read_bytes()))

    def run(*options, more="", command="counters", script=script, **rest):
        scene = tmp_path / "counts"
        scene.write_text(f"""module {cubin}
count saxpy {SCALE} 0 16 {EXECUTED}=10 {SECTORS}=320 {IDEAL}=40
count saxpy {SCALE} 0 128 {EXECUTED}=7
{more}
""")
        selected = ("--set", "source") if command == "counters" else ("--counters", "source", "--quiet", "--sample", "0")
        environment = {**dict(rest.pop("environment", ())), "GPUPROF_FAKE_STALLS": str(scene)}
        return Run(program, tmp_path, script, *selected, "--kernel", "saxpy", *options, command=command, environment=environment, **rest)

    return run


def values_of(run):
    return {(int(row["offset"]), row["metric"]): float(row["value"]) for row in run.table("instruction_counter")}


def expected(launches):
    return {(16, EXECUTED): 10 * launches, (16, SECTORS): 320 * launches, (16, IDEAL): 40 * launches, (128, EXECUTED): 7 * launches}


@pytest.mark.parametrize("more", ["", "split"])
def test_lines_have_counters(counted, program, more):
    run = counted("--launches", "2", more=more)
    assert values_of(run) == expected(2)
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert run.table("profiled_kernel") == []
    rows = program.report(run.capture, "source")["source"].rows
    assert [(row["line"], row["sectors"], row["ideal_sectors"], row["executed"]) for row in rows] == [(5, 640, 80, 20), (6, None, None, 14)]
    assert run.says("counters of 2 instructions, 2 with a source line")
    assert run.says("2 launches measured")


def test_one_run(counted):
    assert values_of(counted(command="record")) == expected(3)


def test_with_samples(counted):
    run = counted("--stalls", "--launches", "1", more=f"sample saxpy {SCALE} 0 16 3=40")
    saxpys = sum("saxpy" in record["name"] for record in kernels_in(lines()))
    assert values_of(run) == {**expected(1), (16, "samples.long_scoreboard"): 40 * saxpys}


def test_a_chip_without_a_metric(counted):
    run = counted("--launches", "1", fake="unknown=wavefronts")
    assert run.says("GH100 does not have smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared, ")
    assert values_of(run) == expected(1)


@pytest.mark.parametrize("code", [1, 27])
def test_a_chip_without_any(counted, code):
    run = counted(rules=f"fail cuptiSassMetricsGetProperties {code}", status=4)
    assert run.says("cannot measure counters: GH100 has none of these counters")


@pytest.mark.parametrize(("function", "code"), pairs(BEGINNING[1:] + ENDING, CODES))
def test_a_refusal_never_touches_the_program(counted, function, code):
    run = counted(rules=f"fail {function} {code}")
    assert len(run.table("kernel")) == len(kernels_in(lines()))
    assert any(f"{function} answered {code}" in place for place in run.losses("unmeasured_kernel"))
    assert run.says(f"{function} answered {code}")


def test_a_range_is_refused(counted):
    assert counted("--range", "nvtx:turn", status=2).says("--set source counts the instructions of single launches")


def test_threads(counted, tmp_path):
    script = script_of_records(without_capture(lines()), tmp_path)
    run = counted("--launches", "50", arguments=("--threads", "4"), script=script)
    assert values_of(run) == expected(12)
