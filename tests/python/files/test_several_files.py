"""Folders and several files as one recording: against the sums of the single files and against what json reads in them."""

import json
import shutil

import pytest
from conftest import FIXTURES
from oracle.trace import unpacked
from exported import tables_of

import gpu_profile

RANKS = [FIXTURES / "public" / f"trace_filter__sampled_rank-{rank}.json.zst" for rank in (0, 1)]
DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


@pytest.fixture
def ranks(tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for file in RANKS:
        shutil.copy(file, folder)
    return folder


def rows(program, *arguments):
    """The rows of one analysis as dictionaries."""
    outcome = program.run("report", *arguments, "--format", "json", "--limit", "0")
    assert outcome.status == 0, outcome.errors
    table = json.loads(outcome.stdout)["tables"][0]
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


def asked(program, *arguments):
    outcome = program.run("query", *arguments, "--format", "json")
    assert outcome.status == 0, outcome.errors
    return json.loads(outcome.stdout)["tables"][0]["rows"]


def test_ranks_are_as_their_events_say(program, ranks):
    events = [json.loads(unpacked(file))["traceEvents"] for file in RANKS]
    kernels = [[e for e in each if e.get("ph") == "X" and e.get("cat") == "kernel"] for each in events]
    found = asked(program, ranks, """SELECT p.rank, count(*), sum(k.dur_ns), min(k.start_ns), count(DISTINCT k.device)
                                     FROM kernel k JOIN process p ON k.process = p.key GROUP BY p.rank ORDER BY p.rank""")
    assert [row[:3] for row in found] == [[rank, len(each), sum(round(e["dur"] * 1000) for e in each)] for rank, each in enumerate(kernels)]
    starts = [min(e["ts"] for e in each) * 1000 for each in kernels]
    assert found[1][3] - found[0][3] == starts[1] - starts[0], "both ranks write the time of day"
    names = asked(program, ranks, "SELECT name FROM process ORDER BY rank")
    assert [name for name, in names] == [f"pyper:trainer:0:{rank} (rank {rank}, {RANKS[rank].name})" for rank in (0, 1)]


def test_sums_are_those_of_the_files(program, ranks):
    single = [rows(program, file, "devices")[0] for file in RANKS]
    together = rows(program, ranks, "devices")
    for column in ("device", "busy_ns", "kernel_busy_ns", "comm_busy_ns", "overlap_ns", "kernels", "memcpys", "memsets", "streams"):
        assert [row[column] for row in together] == [row[column] for row in single]
    assert together == rows(program, *RANKS, "devices")


def test_exports_hold_every_file(program, ranks, tmp_path):
    for form, name in (("capture", "a.gpuprof"), ("chrome", "a.json"), ("nsys", "a.sqlite")):
        assert program.run("export", form, ranks, "-o", tmp_path / name).status == 0
        assert asked(program, tmp_path / name, "SELECT count(*), sum(dur_ns), count(DISTINCT process) FROM kernel") == asked(
            program, ranks, "SELECT count(*), sum(dur_ns), count(DISTINCT process) FROM kernel")
    outcome = program.run("compare", ranks, tmp_path / "a.gpuprof")
    assert outcome.status == 0 and b"same" in outcome.stdout


def test_python_opens_folders_and_several_files(ranks):
    folder, files = gpu_profile.open(ranks), gpu_profile.open(*RANKS)
    assert len(folder.kernels) == len(files.kernels) == sum(len(gpu_profile.open(file).kernels) for file in RANKS)
    assert folder.verdict == files.verdict


def event(name, category, ts, **more):
    return {"ph": "X", "cat": category, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": 10} | more


def test_equal_ids_of_two_hosts_stay_apart(program, tmp_path):
    for number, host in enumerate(("alpha", "beta")):
        (tmp_path / host).mkdir()
        (tmp_path / host / "trace.json").write_text(json.dumps({"baseTimeNanoseconds": 1_700_000_000 * 10**9, "traceEvents": [
            event("cudaLaunchKernel", "cuda_runtime", number, args={"correlation": 3}),
            event(f"of_{host}", "kernel", 20 + number, args={"correlation": 3, "device": 0, "stream": 7}),
        ]}))
    tables = asked(program, tmp_path / "alpha", tmp_path / "beta", """
        SELECT k.name, k.device, k.process = c.process, c.start_ns FROM kernel k JOIN api_call c ON c.process = k.process AND
        c.correlation = k.correlation ORDER BY k.name""")
    assert tables == [["of_alpha", 0, 1, 0], ["of_beta", 1, 1, 1000]]
    losses = rows(program, tmp_path / "alpha", tmp_path / "beta", "losses")
    assert [row["kind"] for row in losses] == ["clocks_of_hosts"], "every launch has its call"
    exported = tmp_path / "both.pftrace"
    assert program.run("export", "perfetto", tmp_path / "alpha", tmp_path / "beta", "-o", exported).status == 0
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
    read = schema.Trace.FromString(exported.read_bytes())
    pids = [p.track_descriptor.process.pid for p in read.packet if p.track_descriptor.HasField("process")]
    assert len(pids) == len(set(pids)) == 2 and 7 in pids


@pytest.mark.parametrize(("names", "ranks", "devices"), [
    (("node_4711.1.pt.trace.json", "node_4711.2.pt.trace.json"), (None, None), [0]),  # windows of one process
    (("a.json", "b.json"), (3, 3), [0]),
    (("a.json", "b.json"), (0, 1), [0, 1]),
    (("a.json", "b.json"), (None, None), [0, 1]),  # two containers, for all that is known
])
def test_gpus_without_uuid(program, tmp_path, names, ranks, devices):
    for at, (name, rank) in enumerate(zip(names, ranks)):
        job = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 8}}
        (tmp_path / name).write_text(json.dumps({"baseTimeNanoseconds": 1_700_000_000 * 10**9, **job, "traceEvents": [
            event("cudaLaunchKernel", "cuda_runtime", 1000 * at, pid=4711, args={"correlation": 3}),
            event("gemm", "kernel", 1000 * at + 20, pid=0, args={"correlation": 3, "device": 0, "stream": 7}),
        ]}))
    assert [row["device"] for row in rows(program, tmp_path, "devices")] == devices


def test_what_cannot_be_read_is_a_loss(program, ranks):
    (ranks / "README.txt").write_text("Ranks of Tuesday.")
    (ranks / "empty.json").write_text("")
    (ranks / "cut.json.gz").write_bytes(RANKS[0].read_bytes()[:20_000])
    (ranks / "noise.gpuprof").write_bytes(b"GPUP" + bytes(range(256)) * 10)
    (ranks / ".hidden").write_text("{")
    (ranks / "folder").mkdir()
    losses = rows(program, ranks, "losses")
    by_kind = {kind: sorted(row["place"] for row in losses if row["kind"] == kind) for kind in {row["kind"] for row in losses}}
    assert by_kind["unread_file"] == [f"cannot read {ranks}/empty.json: the input is empty"]
    assert set(by_kind["foreign_file"]) == {"README.txt", "noise.gpuprof"}
    assert any("cut.json.gz" in place for place in by_kind["bad_compression"])
    assert {row["device"] for row in rows(program, ranks, "devices")} >= {0, 1}
    named = rows(program, RANKS[0], ranks / "README.txt", "losses")
    assert "README.txt: unknown format" in next(row["place"] for row in named if row["kind"] == "unread_file")


def test_one_recording_in_two_formats_counts_once(program):
    folder = FIXTURES / "jax"
    single = asked(program, folder / "mlp.xplane.pb.zst", "SELECT count(*) FROM kernel")
    assert asked(program, folder, "SELECT count(*) FROM kernel") == single != [[0]]
    assert [(row["kind"], row["place"]) for row in rows(program, folder, "losses")] == [("second_copy", "mlp.trace.json.zst")]


@pytest.mark.parametrize(("prepare", "arguments", "status", "said"), [
    (lambda f: None, ["."], 3, "no files"),
    (lambda f: (f / "inner").mkdir(), ["."], 3, "subfolders are not read"),
    (lambda f: (f / "a.txt").write_text("x"), ["."], 3, "none of the 1 files"),
    (lambda f: (f / "a.json").write_text(""), [".", "devices"], 3, "./a.json: the input is empty"),
    (lambda f: shutil.copy(RANKS[0], f / "a.gz"), ["a.gz", "a.gz"], 2, "duplicate file 'a.gz'"),
    (lambda f: shutil.copy(RANKS[0], f / "a.gz"), ["a.gz", "b.gz"], 2, "'b.gz'"),
])
def test_clear_errors(program, tmp_path, monkeypatch, prepare, arguments, status, said):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = program.run("report", *arguments)
    assert (outcome.status, outcome.stdout, len(outcome.errors)) == (status, b"", 1)
    assert said in outcome.errors[0]


def test_tables_of_a_folder_name_their_file(program, ranks):
    tables = tables_of(program, ranks)
    keys = {row["key"] for row in tables["process"]}
    assert {row["process"] for row in tables["kernel"]} == keys == {f"{RANKS[0].name}:4037", f"{RANKS[1].name}:4045"}
    assert {row["process"] for row in tables["thread"]} == keys
    assert {row["thread"] for row in tables["op"]} <= {row["key"] for row in tables["thread"]}


def test_samples_beside_a_recording_do_not_change_its_predictions(program):
    recording = FIXTURES / "kineto/input_bound.json.gz"
    samples = FIXTURES / "nvml/bursty.csv"
    assert rows(program, recording, "whatif") == rows(program, recording, samples, "whatif")


def test_a_log_folder_of_jax_is_its_last_run(program, tmp_path):
    """As jax.profiler.start_trace writes it: plugins/profile/TIME. The one run that is read is the last."""
    for run, whole in (("2026_01_01", False), ("2026_01_02", True)):
        folder = tmp_path / "plugins/profile" / run
        folder.mkdir(parents=True)
        (folder / "vm.xplane.pb.gz").write_bytes((FIXTURES / "jax/mlp.xplane.pb.zst").read_bytes() if whole else b"")
    one, other = program.report(tmp_path).document, program.report(FIXTURES / "jax/mlp.xplane.pb.zst").document
    assert one["verdict"] == other["verdict"] and [table["rows"] for table in one["tables"]] == [table["rows"] for table in other["tables"]]


def test_ranks_that_are_added_up_are_compared_as_well(program):
    folder = FIXTURES.parents[1] / "examples/ranks"
    lines = program.run("report", folder).stdout.decode().splitlines()
    assert lines[0].startswith("! 8 ranks are added up here") and "rank 5 (slow GPU) costs 15.9 ms per step" in " ".join(" ".join(lines[:3]).split())
    assert lines[-1].endswith("gpu-profile ranks " + str(folder))
