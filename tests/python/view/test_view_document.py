"""What `export html` writes, against the tables and the report of the same file: nothing is lost, moved or counted twice."""

import json
from collections import Counter
from pathlib import Path

import pytest
from exported import tables_of
from many_kernels import KERNELS, write_many_kernels
from view_document import Document, payload

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAMPLES = FIXTURES / "instructions" / "samples.gpuprof"
RECORDINGS = [
    "kineto/input_bound.json.gz", "kineto/graph.json.zst", "kineto/transformer-stacks-shapes-memory.json.zst",
    "kineto/small_kernels.json.zst", "nsys/h100_2gpu_1s.sqlite.zst", "nsys/mock.sqlite.gz", "jax/mlp.xplane.pb.zst",
    "public/nccl_parser_config__nccl_data.json.zst",
]
SLICES = ["kernel", "memcpy", "memset", "api_call", "os_call", "op", "range", "python_call", "overhead", "device_range"]


def html_of(program, source, folder):
    out = folder / "view.html"
    outcome = program.run("export", "html", source, "-o", out)
    assert outcome.status == 0, outcome.errors
    return out.read_text()


@pytest.fixture(scope="module", params=RECORDINGS)
def shown(request, program, tmp_path_factory):
    source = FIXTURES / request.param
    document = Document.of_html(html_of(program, source, tmp_path_factory.mktemp("view")))
    return document, tables_of(program, source), program.report(source, "devices", "idle", "queue")


def test_every_event_is_drawn_once(shown):
    document, tables, _ = shown
    origin = int(document.manifest["time_origin_ns"])
    for name in SLICES:
        drawn = Counter()
        for lane in document.lanes(kind="slice", table=name):
            for piece in document.level(lane):
                drawn[piece["row"], piece["start"] + origin, piece["dur"]] += 1
        recorded = Counter((i, int(r["start"]), int(r["dur"])) for i, r in enumerate(tables.get(name, [])))
        assert drawn == recorded, name


def test_slices_that_share_a_row_do_not_overlap(shown):
    document = shown[0]
    rows = {}
    for lane in document.lanes(kind="slice"):
        rows.setdefault((lane["track"], lane["y"]), []).extend((s["start"], s["start"] + s["dur"]) for s in document.level(lane))
    for row in rows.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in zip(row, row[1:], strict=False))


def test_frames_of_events_are_those_of_the_sums(shown):
    document = shown[0]
    described = {member: document.manifest[member] for member in ("sums", "frames")}
    assert None not in described.values()
    known = payload(document.blobs[described["frames"]])[1]
    summed = payload(document.blobs[described["sums"]])[2]
    sums = {}
    for chunk, frame, count in zip(summed["chunk"], summed["frame"], summed["count"], strict=True):
        sums.setdefault(chunk, Counter())[frame] = count
    for lane in document.lanes(kind="slice"):
        for blob, count, *_, stacks in (chunk for chunk in lane["levels"][0]["chunks"] if len(chunk) == 7):
            frames = payload(document.blobs[stacks])[2]["frame"]
            assert len(frames) == count and all(frame is None or 0 <= frame < known for frame in frames)
            assert Counter(frame for frame in frames if frame is not None) == +sums.pop(blob, Counter())
    assert sums == {}  # every chunk with sums has frames


def test_fields_are_those_of_the_tables(shown):
    document, tables, _ = shown
    origin = int(document.manifest["time_origin_ns"])
    for described in document.manifest["tables"]:
        if described["name"] == "gap":
            continue
        columns = document.table(described["name"])
        recorded = tables[described["name"]]
        own = {"lane", "launch", "work_table", "work_row", "work_count"}
        assert set(columns) - own == set().union(*(row for row in recorded))
        for column, values in columns.items():
            if column in own:
                continue
            for value, row in zip(values, recorded, strict=True):
                expected = row.get(column)
                if column == "start":
                    assert value + origin == int(expected)
                elif value is None or isinstance(value, str):
                    assert value == expected
                else:
                    assert float(value) == float(expected)


def test_launches_lead_to_their_work_and_back(shown):
    document = shown[0]
    names = {t["name"] for t in document.manifest["tables"]}
    launched = Counter()
    for name in {"kernel", "memcpy", "memset"} & names:
        columns = document.table(name)
        calls = document.table("api_call") if "api_call" in names else {}
        for row, call in enumerate(columns.get("launch", [])):
            if call is not None:
                launched[call] += 1
                assert columns["correlation"][row] == calls["correlation"][call]
    if "api_call" in names:
        counts = document.table("api_call").get("work_count", [])
        assert {row: n for row, n in enumerate(counts) if n is not None} == dict(launched)


def test_busy_and_idle_are_those_of_the_report(shown):
    document, _, report = shown
    tracks = document.manifest["tracks"]
    busy, idle = {}, {}
    for lane in document.lanes(kind="slice"):
        track = tracks[lane["track"]]
        time = sum(s["dur"] for s in document.level(lane))
        if track["kind"] == "busy":
            busy[track["device"]] = time
        if track["kind"] == "idle":
            idle[track["device"], lane["label"]] = time
    assert busy == {row["device"]: row["busy_ns"] for row in report["devices"].rows}
    assert idle == {(row["device"], row["cause"]): row["total_ns"] for row in report["idle"].rows}
    for device, time in busy.items():
        assert time + sum(n for (d, _), n in idle.items() if d == device) == document.manifest["window_ns"]


def test_queues_of_streams_are_those_of_the_report(shown):
    document, _, report = shown
    tracks = document.manifest["tracks"]
    queues = {lane["track"]: document.level(lane) for lane in document.lanes(kind="value", label="queued ops")}
    found = sorted((tracks[tracks[track]["parent"]]["device"], max(value["value"] for value in values)) for track, values in queues.items())
    assert found == sorted((row["device"], row["most"]) for row in report["queue"].rows)
    for values in queues.values():
        assert values[-1]["value"] == 0
        assert all(a["time"] < b["time"] for a, b in zip(values, values[1:], strict=False))


def test_levels_hold_the_same_events(shown):
    document = shown[0]
    for lane in document.manifest["lanes"]:
        for level in range(1, len(lane["levels"])):
            rows = document.level(lane, level)
            assert sum(r["count"] for r in rows) == lane["events"]
            assert len(rows) <= len(document.level(lane, level - 1)) / 2


def test_names_are_counted(shown):
    document, tables, _ = shown
    names = document.names()
    found = dict(zip(zip(names.get("table", []), names["name"], strict=False), names.get("count", []), strict=False))
    for name in ("kernel", "op", "range", "api_call"):
        expected = Counter(row["name"] for row in tables.get(name, []) if "name" in row)
        assert {n: c for (t, n), c in found.items() if t == name} == dict(expected)


def test_report_is_the_first_answer(program, tmp_path):
    source = FIXTURES / "kineto/input_bound.json.gz"
    report = Document.of_html(html_of(program, source, tmp_path)).json("report")
    assert report["verdict"]["name"] == "input-bound"
    assert {t["name"] for t in report["tables"]} >= {"devices", "kernels", "idle", "gaps", "steps", "findings"}


def extents(document, lanes):
    return sorted((s["start"], s["start"] + s["dur"]) for lane in lanes for s in document.level(lane))


# Of the fourth, the report covers a part; of the last, the replay abstains.
@pytest.mark.parametrize("source", ["kineto/input_bound.json.gz", "kineto/graph.json.zst", "kineto/small_kernels.json.zst",
                                    "kineto/triton.json.gz", "nsys/mfu_2gpu_before.sqlite.zst", "nsys/h100_2gpu_1s.sqlite.zst"])
def test_the_critical_path_is_that_of_the_report_over_recorded_events(program, tmp_path, source):
    document = Document.of_html(html_of(program, FIXTURES / source, tmp_path))
    path = document.manifest["critical_path"]
    (table,) = (each for each in document.json("report")["tables"] if each["name"] == "criticalpath")
    part, total = ([column["name"] for column in table["columns"]].index(name) for name in ("part", "total_ns"))
    reported = Counter()
    for row in table["rows"]:
        reported[row[part]] += row[total]
    assert (path is None) == (not reported)
    if path is None:
        return
    assert {each["part"]: each["total_ns"] for each in path["parts"]} == reported
    assert sum(each["share_pct"] for each in path["parts"]) == pytest.approx(100)
    chain = extents(document, path["lanes"])
    assert all(a[1] <= b[0] for a, b in zip(chain, chain[1:], strict=False)), "parts follow one another"
    begin, end = document.manifest["part_ns"] or (0, document.manifest["window_ns"])
    assert begin <= chain[0][0] and chain[-1][1] <= end
    for lane in path["lanes"]:
        tables = {"kernel": ["kernel"], "copy": ["memcpy", "memset"], "launch call": ["api_call"], "other call": ["api_call"], "wait": ["api_call"]}.get(lane["label"], [])
        events = [each for table in tables for each in document.lanes(kind="slice", table=table) if (each["track"], each["y"]) == (lane["track"], lane["y"])]
        drawn = extents(document, events)
        for start, stop in extents(document, [lane]) if tables else []:
            over = [(a, b) for a, b in drawn if a < stop and b > start]
            assert over and over[0][0] <= start and stop <= over[-1][1], (lane["label"], start)


@pytest.mark.parametrize("source", ["nvidia-smi/h200-580.csv", "memory/growth.snapshot.pickle.gz"])
def test_samples_alone_are_shown(program, tmp_path, source):
    document = Document.of_html(html_of(program, FIXTURES / source, tmp_path))
    lanes = document.lanes(kind="value")
    assert lanes
    assert all(0 <= point["time"] <= document.manifest["window_ns"] for lane in lanes for point in document.level(lane))
    assert document.json("report")["verdict"]["name"] == ("memory" if "memory" in source else "cannot tell")


def test_counters_of_kernels_alone_are_shown(program, tmp_path):
    document = Document.of_html(html_of(program, KERNELS, tmp_path))
    assert (document.manifest["window_ns"], document.manifest["lanes"]) == (0, [])
    said, report = program.report(KERNELS, "findings"), document.json("report")
    assert report["verdict"] == said.document["verdict"]
    assert [finding["title"] for finding in report["findings"]] == [finding["title"] for finding in said.document["findings"]]


@pytest.mark.parametrize("copies", [1, 5])
def test_the_page_of_a_kernel_has_every_row_about_its_launch(program, tmp_path, copies):
    source = write_many_kernels(tmp_path / "many.csv", copies)
    document = Document.of_html(html_of(program, source, tmp_path))
    kernels = program.report(source, "limits")["limits"].rows
    assert len(kernels) == 9 * copies == len(document.manifest["kernels"])
    for name in ["advice", "stalls", "occupancy_curves", "roofline", "metrics", "tool_advice"]:
        said = program.report(source, name).document["tables"][0]
        launch = [column["name"] for column in said["columns"]].index("launch")
        for kernel, blob in zip(kernels, document.manifest["kernels"], strict=True):
            (table,) = [table for table in json.loads(document.blobs[blob])["tables"] if table["name"] == name]
            assert table["columns"] == said["columns"]
            assert table["rows"] == [row for row in said["rows"] if row[launch] == kernel["launch"]]
            assert table["row_count"] == len(table["rows"])


def rows_of(document, blob, name):
    (table,) = [table for table in json.loads(document.blobs[blob])["tables"] if table["name"] == name]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def test_kernels_with_samples_have_their_source_lines(program, tmp_path):
    counted = write_many_kernels(tmp_path / "counters.csv", 1, names={"transpose_naive": "transpose"})
    out = tmp_path / "page.html"
    sources = FIXTURES / "instructions"
    assert program.run("export", "html", counted, SAMPLES, "--sources", sources, "-o", out).status == 0
    document = Document.of_html(out.read_text())
    limits = program.report(counted, "limits")["limits"].rows
    (transpose,) = [row for row, kernel in enumerate(limits) if kernel["name"] == "transpose"]
    assert document.manifest["sampled"] == [
        {"name": "transpose", "samples": 850, "share_pct": 85, "kernel": transpose, "timeline": None},
        {"name": "library", "samples": 150, "share_pct": 15, "kernel": len(limits), "timeline": None},
    ]
    said = program.report(SAMPLES, "source", "--sources", sources)["source"].rows
    blobs = document.manifest["kernels"]
    assert len(blobs) == len(limits) + 1
    for row, blob in enumerate(blobs):
        name = "transpose" if row == transpose else "library" if row == len(limits) else None
        lines = rows_of(document, blob, "source")
        assert [(line["line"], line["samples"], line["text"]) for line in lines] == [(line["line"], line["samples"], line["text"]) for line in said if line["name"] == name]
        assert sum(stall["samples"] for stall in rows_of(document, blob, "line_stalls")) == sum(line["samples"] for line in lines)
    assert rows_of(document, blobs[transpose], "source")[0]["text"] == "out[x * n + y] = in[y * n + x];"


def test_sampled_functions_have_their_name_on_the_timeline(program, tmp_path):
    name = "void image::transpose<float>(float*, int)"
    args = {"device": 0, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}
    timeline = tmp_path / "timeline.json"
    timeline.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": name, "ts": 1, "dur": 5, "pid": 0, "tid": 7, "args": args}]}))
    out = tmp_path / "page.html"
    assert program.run("export", "html", timeline, SAMPLES, "-o", out).status == 0
    document = Document.of_html(out.read_text())
    assert [(kernel["name"], kernel["timeline"]) for kernel in document.manifest["sampled"]] == [("transpose", name), ("library", None)]


def test_samples_of_instructions_alone_are_shown_without_text_by_default(program, tmp_path):
    document = Document.of_html(html_of(program, SAMPLES, tmp_path))
    assert [kernel["name"] for kernel in document.manifest["sampled"]] == ["transpose", "library"]
    assert [line["text"] for line in rows_of(document, document.manifest["kernels"][0], "source")] == [None, None]


def test_source_folders_are_for_pages(program, tmp_path):
    outcome = program.run("export", "csv", SAMPLES, "--sources", tmp_path, "-o", tmp_path / "out.csv")
    assert (outcome.status, outcome.errors) == (2, ["gpu-profile: --sources applies to html only"])


def test_counters_of_kernels_have_no_times_to_compare(program, tmp_path):
    timeline = FIXTURES / "kineto/small_kernels.json.zst"
    for new, base in [(KERNELS, timeline), (timeline, KERNELS), (KERNELS, KERNELS)]:
        outcome = program.run("export", "html", new, "--base", base, "-o", tmp_path / "x.html")
        assert outcome.status == 4
        assert outcome.errors[0].startswith(f"gpu-profile: cannot compare {KERNELS} with {timeline if timeline in (new, base) else KERNELS}: the former has no timeline")
        assert not (tmp_path / "x.html").exists()


def test_nothing_at_a_time_is_said(program, tmp_path):
    outcome = program.run("export", "html", FIXTURES / "proton/matmul.hatchet", "-o", tmp_path / "x.html")
    assert outcome.status == 4
    assert "no timestamped events" in outcome.errors[0]


def test_hostile_names_stay_in_their_elements(program, tmp_path):
    trace = tmp_path / "hostile.json"
    name = '</script><script>alert(1)</script><!-- \\" onload=x'
    trace.write_text('{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "%s", "ts": 1, "dur": 2, "pid": 0, "tid": 7, '
                     '"args": {"device": 0, "stream": 7, "correlation": 1}}]}' % name)
    html = html_of(program, trace, tmp_path)
    assert "alert(1)" not in html.replace("\\u003cscript>alert(1)", "")
    assert Document.of_html(html).names()["name"] == [name.replace('\\"', '"')]
