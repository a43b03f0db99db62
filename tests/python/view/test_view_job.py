"""The page of a job of many ranks: its data against the summaries, and the recordings of ranks that its server opens."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import HANGS_S
from test_view import HANGS_S, Server
from view_document import Document, payload, split_framed

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "ranks"
RANKS, STEPS = 8, range(10, 18)


@pytest.fixture(scope="module")
def capture(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    subprocess.run([program.path, "ranks", EXAMPLE, "--cache", folder, "--save", folder / "job.gpuprof"], check=True, capture_output=True, timeout=HANGS_S)
    return folder / "job.gpuprof"


@pytest.fixture(scope="module")
def document(program, capture):
    out = capture.with_name("job.html")
    assert program.run("export", "html", capture, "-o", out).status == 0
    return Document.of_html(out.read_text())


@pytest.fixture(scope="module")
def about(document):
    return json.loads(document.blobs[document.manifest["job"]["about"]])


@pytest.fixture(scope="module")
def bars(document):
    return {step: json.loads(document.blobs[blob]) for step, blob in document.manifest["job"]["steps"]}


def rows_of(program, capture, sql):
    return json.loads(program.run("query", capture, sql, "--format", "json").stdout)["tables"][0]["rows"]


def test_cells_are_the_rows_of_the_summaries(program, capture, document, about):
    columns = {"compute": "compute_ns", "host": "host_ns", "input": "input_ns", "exposed_comm": "exposed_comm_ns"}
    for quantity, blob in zip(about["quantities"], document.manifest["job"]["cells"], strict=True):
        table, rows, found = payload(document.blobs[blob])
        assert (table, rows) == ("job_cell", RANKS * len(STEPS))
        if quantity["name"] not in columns:
            continue
        cells = {(rank, step): found["value"][rank * len(STEPS) + i] * quantity["quantum"] for rank in range(RANKS) for i, step in enumerate(STEPS)}
        for rank, step, ns in rows_of(program, capture, f"SELECT rank, step, {columns[quantity['name']]} FROM rank_step"):
            assert abs(cells[rank, step] - ns) <= quantity["quantum"] / 2


def test_rounding_keeps_three_digits(document, about):
    for quantity, blob in zip(about["quantities"], document.manifest["job"]["cells"], strict=True):
        sizes = sorted(abs(value) * quantity["quantum"] for value in payload(document.blobs[blob])[2]["value"] if value)
        assert quantity["quantum"] == 1 or quantity["quantum"] <= sizes[len(sizes) // 2] / 1000
        assert math.log10(quantity["quantum"]).is_integer()


def test_ranks_steps_and_stragglers_are_those_of_the_tables(program, capture, about):
    said = program.report(capture, "ranks", "stragglers")
    assert about["steps"] == list(STEPS)
    assert about["ranks"]["rank"] == [row["rank"] for row in said["ranks"].rows]
    assert [about["hosts"][host] for host in about["ranks"]["host"]] == [row["host"] for row in said["ranks"].rows]
    assert about["ranks"]["file"] == [f"rank{rank:05}.json.gz" for rank in range(RANKS)]
    assert [unit["unit"] for unit in about["units"]] == [row["unit"] for row in said["stragglers"].rows]
    assert about["units"][0]["ranks"] == [5]
    assert about["recorded"] == [RANKS * len(STEPS)]


def test_no_folder_is_in_the_page(document):
    for blob in document.blobs:
        assert str(EXAMPLE.parent).encode() not in blob


def test_bars_cover_their_steps(program, capture, about, bars):
    lengths = {(rank, step): end - start for rank, step, start, end in rows_of(program, capture, "SELECT rank, step, from_time_ns, to_time_ns FROM rank_step")}
    for step, picture in bars.items():
        assert picture["step"] == STEPS[step]
        assert [bar["rank"] for bar in picture["bars"]] == list(range(RANKS))
        for bar in picture["bars"]:
            spans = sum(bar["spans"][::2])
            assert spans == sum(bar["sums_ns"]) == lengths[bar["rank"], STEPS[step]]
            assert bar["clock_error_ns"] < 50_000


def test_sums_of_bars_are_those_of_the_step(program, capture, about, bars):
    compute = {(rank, step): ns for rank, step, ns in rows_of(program, capture, "SELECT rank, step, compute_ns FROM rank_step")}
    at = about["parts"].index("compute")
    for step, picture in bars.items():
        for bar in picture["bars"]:
            assert bar["sums_ns"][at] == pytest.approx(compute[bar["rank"], STEPS[step]], rel=0.01)


def test_the_critical_path_has_no_hole_and_runs_through_the_straggler(bars):
    for picture in bars.values():
        path = picture["path"]
        assert all(before[2] == after[1] for before, after in zip(path, path[1:], strict=False))
        assert path[0][1] == 0
        own = {}
        for rank, start, end, transfer in path:
            assert start < end
            own[rank] = own.get(rank, 0) + (end - start) * (1 - transfer)
        assert max(own, key=own.get) == 5


def test_a_job_cannot_be_compared(program, capture, tmp_path):
    outcome = program.run("export", "html", capture, "--base", capture, "-o", tmp_path / "x.html")
    assert outcome.status == 4
    assert "no timeline" in outcome.errors[0]


@contextmanager
def served(program, *arguments):
    with subprocess.Popen([program.path, *arguments, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            server = Server(process)
            server.cookie = server.open()
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(HANGS_S)
            assert process.returncode == 0


@pytest.fixture(scope="module")
def job(program, tmp_path_factory):
    """A served copy of the example, so that files can disappear."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(EXAMPLE, folder / "ranks")
    with served(program, "ranks", "view", folder / "ranks", "--cache", folder / "cache") as server:
        server.files = folder / "ranks"
        yield server


def ask(server, path):
    status, headers, body = server.ask(path, headers={"Cookie": server.cookie})
    return status, headers, body


def test_a_server_has_every_step(job):
    manifest = json.loads(ask(job, "/manifest")[2])
    assert sorted(step for step, _ in manifest["job"]["steps"]) == list(range(len(STEPS)))


def test_a_step_leads_to_the_timeline_of_its_rank(job):
    assert json.loads(ask(job, "/recordings")[2]) == list(range(RANKS))
    status, headers, _ = ask(job, "/rank/5/step/14")
    assert status == 302
    start, end = re.fullmatch(r"/rank/5/#page=timeline&abs=(\d+)-(\d+)", headers["location"]).groups()
    status, _, body = ask(job, "/rank/5/manifest")
    manifest = json.loads(body)
    assert status == 200 and manifest["source"]["file"] == "rank00005.json.gz"
    origin = int(manifest["time_origin_ns"])
    assert 0 <= int(start) - origin < int(end) - origin <= manifest["window_ns"]
    assert ask(job, "/rank/5/")[2] == ask(job, "/")[2]
    assert ask(job, f"/rank/5/blobs/{manifest['report']}")[0] == 200


@pytest.mark.parametrize("path", ["/rank/8/manifest", "/rank/-1/manifest", "/rank/5x/manifest", "/rank/../manifest", "/rank//manifest", "/rank/5", "/rank/99999999999/manifest", "/rank/5/../../etc/passwd"])
def test_other_ranks_and_paths_are_not_found(job, path):
    assert ask(job, path)[0] == 404


@pytest.mark.parametrize("path", ["/recordings", "/rank/5/", "/rank/5/manifest", "/rank/5/step/14", "/rank/5/blobs/0"])
def test_recordings_of_ranks_need_the_cookie(job, path):
    assert job.ask(path)[0] == 401
    assert job.ask(path, headers={"Cookie": job.cookie, "Origin": "http://elsewhere.example"})[0] == 403


def test_what_is_no_file_is_not_opened(job):
    file = job.files / "rank00007.json.gz"
    file.unlink()
    assert 7 not in json.loads(ask(job, "/recordings")[2])
    status, _, body = ask(job, "/rank/7/manifest")
    assert status == 404 and b"is not there" in body
    os.mkfifo(file)  # opening it would wait for a writer
    assert ask(job, "/rank/7/manifest")[0] == 404


def test_other_recordings_have_no_ranks(program):
    with served(program, "view", EXAMPLE / "rank00000.json.gz") as server:
        assert json.loads(ask(server, "/manifest")[2])["job"] is None
        assert json.loads(ask(server, "/recordings")[2]) == []
        assert ask(server, "/rank/0/manifest")[0] == 404


def test_a_view_needs_recordings(program):
    outcome = program.run("ranks", "view")
    assert (outcome.status, outcome.errors) == (2, ["gpu-profile: name the recordings, or a folder with one file of each rank"])


def test_one_timeline_has_the_ranks_on_one_clock(program, tmp_path):
    """The clocks of the two hosts are 4 ms apart; the ends of sends and receives between ranks 1 and 5 are not."""
    with served(program, "ranks", "view", EXAMPLE, "--timeline", "1,5", "--cache", tmp_path) as server:
        manifest = json.loads(ask(server, "/manifest")[2])
        assert manifest["job"] is None
        wanted = next(table["blobs"] for table in manifest["tables"] if table["name"] == "kernel")
        framed = ask(server, f"/blobs/{','.join(map(str, wanted))}")[2]
    ends = {0: [], 1: []}
    for blob in split_framed(framed):
        columns = payload(blob)[2]
        for name, device, start, dur in zip(*(columns[name] for name in ("name", "device", "start", "dur")), strict=True):
            if b"SendRecv" in (name.encode() if isinstance(name, str) else name):
                ends[device].append(start + dur)
    assert len(ends[0]) > 50 and len(ends[1]) > 50
    distances = sorted(min(abs(end - other) for other in ends[1]) for end in ends[0])
    assert distances[len(distances) // 2] < 50_000


@pytest.mark.parametrize(("ranks", "message"), [
    ("9", "rank 9 has no recording"),
    ("x", "--timeline 'x' is not a list of ranks, as in 3,7 or 0-7"),
    ("0-16", "--timeline 0-16 names 17 ranks; the limit is 16"),
])
def test_wrong_timelines(program, tmp_path, ranks, message):
    outcome = program.run("ranks", "view", EXAMPLE, "--timeline", ranks, "--cache", tmp_path)
    assert outcome.status == 2 and message in outcome.errors[-1]
