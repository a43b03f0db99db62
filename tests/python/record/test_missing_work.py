"""Work that was submitted but not recorded: counted by every importer, and no verdict is based on idle time that may have been busy.

Each trace is a real one with events taken out. `no records lost` is printed only when that was checked.
"""

import json

import pytest
from conftest import FIXTURES, recorded
from oracle.trace import unpacked

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
WHOLE = ["kineto/transformer", "kineto/graph", "kineto/small_kernels", "public/trace_filter__sampled_rank-0", "public/nccl_parser_config__nccl_data"]


def events_of(name):
    return json.loads(unpacked(recorded(name)))


@pytest.fixture
def made(tmp_path):
    """Writes a recording's events that `keep` wants."""

    def make(name, keep, more=()):
        trace = events_of(name)
        trace["traceEvents"] = [e for e in trace["traceEvents"] if keep(e)] + list(more)
        path = tmp_path / "trace.json"
        path.write_text(json.dumps(trace))
        return path

    return make


def losses(report):
    return {row["kind"]: row["count"] for row in report["losses"].rows}


def trust(report):
    return [line["text"] for line in report.document["trust"]]


def is_device(event):
    return event.get("cat") in DEVICE


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_whole_is_called_whole(program, name):
    report = program.report(recorded(name), "losses")
    assert "no records lost" in trust(report)
    assert not {kind for kind in losses(report) if "without" in kind}


def test_most_kernels_are_missing(program, made):
    kernels = [e for e in events_of("kineto/transformer")["traceEvents"] if e.get("cat") == "kernel"]
    kept = {e["args"]["correlation"] for e in kernels[::10]}
    path = made("kineto/transformer", lambda e: e.get("cat") != "kernel" or e["args"]["correlation"] in kept)
    report = program.report(path, "losses", "summary", "findings")
    assert losses(report)["launch_without_kernel"] + losses(report).get("work_at_edge", 0) == len(kernels) - len(kept)
    assert not any("no records lost" in line for line in trust(report))
    assert report.document["verdict"]["name"] == "cannot tell"
    assert "not recorded" in report.document["verdict"]["because"]
    assert all(finding["confidence"] == "low" for finding in report.document["findings"])
    assert not {f["id"] for f in report.document["findings"]} & {"idle-gaps", "small-kernels", "input-pipeline"}


def test_graph_launches_without_nodes(program, made):
    kernels = [e for e in events_of("kineto/graph")["traceEvents"] if e.get("cat") == "kernel"]
    kept = {id(None)} | {(e["args"]["correlation"], e["ts"]) for e in kernels[::2500]}
    path = made("kineto/graph", lambda e: e.get("cat") != "kernel" or (e["args"]["correlation"], e["ts"]) in kept)
    report = program.report(path, "losses", "summary")
    assert losses(report)["graph_without_nodes"] + losses(report).get("work_at_edge", 0) == 97
    assert report.document["verdict"]["name"] == "cannot tell"


def test_a_capture_of_graph_launches_without_nodes(program, made, tmp_path):
    launch = next(e for e in events_of("kineto/graph")["traceEvents"] if e.get("name") == "cudaGraphLaunch")
    more = [{**launch, "ts": launch["ts"] + 20 * i, "args": {**launch["args"], "correlation": 500_000 + i}} for i in range(130)]
    path = made("kineto/graph", lambda e: not is_device(e) and e.get("name") != "cudaGraphLaunch", more)
    capture = tmp_path / "run.gpuprof"
    assert program.run("export", "capture", path, "-o", capture).status == 0
    report = program.report(capture, "losses", "summary")
    assert losses(report)["graph_without_nodes"] == 130
    assert report.document["verdict"]["name"] == "cannot tell"


def test_no_device_record_at_all(program, made):
    path = made("kineto/input_bound", lambda e: not is_device(e) and e.get("cat") != "gpu_user_annotation")
    report = program.report(path, "losses", "summary")
    assert losses(report)["launch_without_kernel"] == 608
    assert losses(report)["copy_without_record"] == 52
    assert "no records lost" not in trust(report)
    assert "608 of 608 kernel launches" in " ".join(program.run("report", path).stdout.decode().split())


def test_device_work_whose_calls_were_not_recorded(program):
    """The program launches a quarter of a second ahead of the device, which is busy from the first moment to the last."""
    report = program.report(FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst", "losses", "summary")
    assert losses(report) == {"unmatched_launch": 2276, "work_at_edge": 262 + 1452 + 476 + 90}
    assert "no records lost" not in trust(report)
    assert any("2,276 device ops" in line for line in trust(report))
    assert any(line.startswith("completeness unknown: the work of 2,280 calls") for line in trust(report))
    assert report.document["verdict"]["name"] != "cannot tell"


def small_kernels_without_the_last(made, kept=lambda e: True):
    kernels = sorted((e for e in events_of("kineto/small_kernels")["traceEvents"] if e.get("cat") == "kernel"), key=lambda e: e["args"]["correlation"])
    last = {e["args"]["correlation"] for e in kernels[-20:]}
    return made("kineto/small_kernels", lambda e: kept(e) and (e.get("cat") != "kernel" or e["args"]["correlation"] not in last))


def test_few_launches_in_flight_at_the_end_are_no_loss(program, made):
    path = small_kernels_without_the_last(made, lambda e: e.get("name") != "cudaDeviceSynchronize")
    report = program.report(path, "losses", "summary")
    assert losses(report) == {"work_at_edge": 20}
    assert any("20 of 4,800 calls" in line for line in trust(report))


def test_launches_that_the_program_waited_for_were_not_in_flight(program, made):
    assert losses(program.report(small_kernels_without_the_last(made), "losses")) == {"launch_without_kernel": 20}



def test_completeness_is_unknown_without_launches(program, made):
    path = made("kineto/small_kernels", lambda e: e.get("cat") != "cuda_runtime")
    assert "completeness unknown: no kernel launches were recorded" in trust(program.report(path, "kernels"))


def test_categories_that_are_not_read_are_named(program, made):
    more = [{"ph": "X", "cat": cat, "name": "f", "pid": 1, "tid": 1, "ts": 1.0, "dur": 1.0}
            for cat in ["mtia_ccp_events"] * 3 + ["mtia_insight"] * 2]
    report = program.report(made("kineto/triton", lambda e: True, more), "losses", "summary")
    assert losses(report)["unknown_event"] == 5
    assert any("mtia_ccp_events (3), mtia_insight (2)" in line for line in trust(report))


def test_a_chrome_trace_of_another_kind(program, tmp_path):
    path = tmp_path / "trace.json"
    names = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rank 0"}}]
    path.write_text(json.dumps({"traceEvents": names + [
        {"ph": "X", "cat": "optimizer", "name": "step", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(6866)]}))
    outcome = program.run("report", path)
    assert outcome.status == 3
    (line,) = outcome.errors
    assert "not a GPU trace" in line and "6866 events" in line and "optimizer (6866)" in line


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "cut.json.gz"
    whole = (FIXTURES / "kineto/triton.json.gz").read_bytes()
    path.write_bytes(whole[:len(whole) * 3 // 4])
    return path


@pytest.mark.parametrize("arguments", [(), ("kernels",), ("losses",), ("summary",), ("--format", "md"), ("kernels", "--format", "md"), ("gaps", "--format", "json"),
                                       ("--format", "json")], ids=" ".join)
def test_damage_is_on_the_first_line_of_a_report(program, damaged, arguments):
    lines = program.run("report", damaged, *arguments).stdout.decode().splitlines()
    assert "the input is damaged" in lines[0] + (lines[1] if lines[0] == "{" else "")


@pytest.mark.parametrize("arguments", [("report", None, "kernels", "--format", "csv"), ("query", None, "SELECT 1"), ("query", None, "SELECT 1", "--format", "json"),
                                       ("export", "folded", None), ("export", "html", None), ("export", "csv", None)], ids=lambda a: " ".join(map(str, a)))
def test_damage_is_noted_beside_answers_without_room_for_it(program, damaged, arguments):
    outcome = program.run(*[damaged if a is None else a for a in arguments])
    assert outcome.status == 0 and "the input is damaged" in outcome.errors[0]


def test_damage_of_either_side_leads_a_comparison(program, damaged):
    lines = program.run("compare", FIXTURES / "kineto/triton.json.gz", damaged).stdout.decode().splitlines()
    assert lines[0].startswith("! NEW: the input is damaged")


def test_answers_to_sql_have_it_too(program, damaged):
    answer = json.loads(program.run("query", damaged, "SELECT 1", "--format", "json").stdout)
    assert next(iter(answer)) == "damaged" and "the input is damaged" in answer["damaged"]
    assert "damaged" not in json.loads(program.run("query", FIXTURES / "kineto/triton.json.gz", "SELECT 1", "--format", "json").stdout)


def test_a_comparison_says_what_was_not_recorded(program, made):
    whole = FIXTURES / "kineto/small_kernels.json.zst"
    kernels = [e for e in events_of("kineto/small_kernels")["traceEvents"] if e.get("cat") == "kernel"]
    left = {id(None)} | {e["args"]["correlation"] for e in kernels[::10]}
    path = made("kineto/small_kernels", lambda e: e.get("cat") != "kernel" or e["args"]["correlation"] in left)
    said = " ".join(program.run("compare", whole, path).stdout.decode().split())
    assert "NEW: at least" in said and "of the device work was not recorded" in said
    assert "was not recorded" not in program.run("compare", whole, whole).stdout.decode()


def test_refusals_say_it_too(program, tmp_path):
    whole = (FIXTURES / "kineto/triton.json.gz").read_bytes()
    path = tmp_path / "cut.json.gz"
    path.write_bytes(whole[:200])
    for command in ("report", "view", "export html", "export folded"):
        outcome = program.run(*command.split(), path)
        assert outcome.status in (3, 4) and "the input is damaged" in outcome.errors[0], command


@pytest.mark.parametrize(("format", "file"), [("perfetto", "ncu/kernels.raw.csv.gz"), ("chrome", "ncu/kernels.raw.csv.gz"), ("nsys", "ncu/kernels.raw.csv.gz"),
                                              ("speedscope", "ncu/kernels.raw.csv.gz"), ("folded", "ncu/kernels.raw.csv.gz"),
                                              ("pprof", "nvml/bursty.csv"), ("hatchet", "nvml/bursty.csv"), ("folded-python", "kineto/triton.json.gz")])
def test_nothing_to_export(program, tmp_path, format, file):
    out = tmp_path / "out"
    outcome = program.run("export", format, FIXTURES / file, "-o", out)
    assert outcome.status == 4 and len(outcome.errors) == 1
    assert not out.exists()
