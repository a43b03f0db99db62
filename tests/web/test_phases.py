"""The iterations of a server as a track, and the page of its phases: the numbers are those of the report, and links lead to the timeline."""

import json
import re
import sys
from pathlib import Path

import pytest
from track_places import tip_at
from waiting import reaches, settled, wait_for_details

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "simulate"))
from serving import Engine, document  # noqa: E402

expect = pytest.importorskip("playwright.sync_api").expect

SERVER = ROOT / "examples/serving/rank0.trace.json.gz"
STEADY, ALL = "steady", "all"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A server with drafted tokens, dummy batches and chunked prompts."""
    path = tmp_path_factory.mktemp("drawn") / "drawn.json"
    engine = Engine("viewer")
    engine.dialect, engine.mode, engine.drafted, engine.dummies, engine.chunk, engine.ahead = "context", "piecewise", 2, True, 512, False
    path.write_text(document(engine.run(), True))
    return path


def exact(ns):
    return f"{ns:,} ns"


def shown(page, name):
    """The rows of a table of the page: each cell as its tooltip, where it has one, or its text. Rows that name a part come as that name."""
    table = page.get_by_label(name, exact=True).locator("table")
    cells = "rows => rows.map((row) => [...row.cells].map((cell) => cell.title || cell.innerText.trim()))"
    return reaches(lambda: table.locator("tbody tr").evaluate_all(cells), lambda rows: len(rows) > 0)


@pytest.mark.parametrize("which", ["example", "drawn"])
def test_the_page_has_the_numbers_of_the_report(visit, exported, program, drawn, which):
    recording = SERVER if which == "example" else drawn
    rows = program.report(recording, "phases")["phases"].rows
    page = visit(exported(recording), "page=phases")
    part, found = None, {}
    for name, *cells in shown(page, "Phases"):
        if not cells:
            part = {"Steady part": STEADY, "All iterations": ALL}[name]
        else:
            found[part, name.split()[-1]] = cells
    assert len(found) == len(rows)
    for row in rows:
        count, share, p50, p95, requests, tokens, output, busy, limit, ratio = found[row["part"], row["phase"]]
        assert count == f"{row['count']:,}"
        timed = row["wall_p50_ns"] is not None
        assert (p50, p95) == ((exact(row["wall_p50_ns"]), exact(row["wall_p95_ns"])) if timed else ("–", "–"))
        assert not timed or (share, busy) == (f"{row['share_pct']:.1f} %", f"{row['busy_pct']:.1f} %")
        assert tokens == ("–" if row["tokens_per_s"] is None else f"{round(row['tokens_per_s']):,}")
        assert output == ("–" if row["output_tokens_per_s"] is None else f"{round(row['output_tokens_per_s']):,}")
        assert limit == (f"{row['verdict']} ({row['verdict_pct']:.1f} %)" if timed else "–")
    idle = [cells for cells in shown(page, "Idle time of iterations by cause") if len(cells) > 1]
    timed = [row for row in rows if row["wall_ns"]]
    assert [cells[1:] for cells in idle] == [[exact(row[name]) for name in ("wall_ns", "idle_before_ns", "idle_graph_ns", "idle_inside_ns")] for row in timed]


@pytest.mark.parametrize("which", ["example", "drawn"])
def test_every_iteration_is_in_the_histogram_of_its_phase(visit, exported, program, drawn, which):
    recording = SERVER if which == "example" else drawn
    rows = [row for row in program.report(recording, "iterations")["iterations"].rows if row["wall_ns"]]
    page = visit(exported(recording), "page=phases")
    bars = page.locator("[aria-label='Wall times by phase'] rect[data-count]")
    read = "all => all.map((bar) => [bar.querySelector('title').textContent.split(':')[0], Number(bar.dataset.count)])"
    counts = {}
    for phase, count in reaches(lambda: bars.evaluate_all(read), lambda found: len(found) > 0):
        counts[phase] = counts.get(phase, 0) + count
    assert counts == {phase: sum(row["phase"] == phase for row in rows) for phase in {row["phase"] for row in rows}}


def test_the_slowest_iterations_lead_to_the_timeline(visit, exported, program, drawn):
    report = program.report(drawn, "phases", "iterations")
    medians = {row["phase"]: row["wall_p50_ns"] for row in reversed(report["phases"].rows)}  # those of the steady part come first
    rows = [row for row in report["iterations"].rows if row["wall_ns"] and row["wall_ns"] > medians[row["phase"]]]
    rows.sort(key=lambda row: medians[row["phase"]] - row["wall_ns"])
    page = visit(exported(drawn), "page=phases")
    found = shown(page, "Slowest iterations")
    assert [cells[3] for cells in found] == [exact(row["wall_ns"]) for row in rows[:10]]
    page.get_by_label("Slowest iterations", exact=True).locator("table button").first.click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")
    end = rows[0]["gpu_end_ns"]
    assert re.search(r"[#&]m=(\d+)-(\d+)", settled(page)).groups() == (str(end - rows[0]["wall_ns"]), str(end))


def test_the_track_says_number_phase_batch_and_times(visit, exported, program):
    rows = program.report(SERVER, "iterations")["iterations"].rows
    page = visit(exported(SERVER), "page=timeline&t=0-44870000")
    page.wait_for_selector("canvas[data-complete]")
    expect(page.get_by_label("Iterations by phase")).to_contain_text("prefill")
    row = rows[7]
    share = (row["gpu_end_ns"] - row["wall_ns"] / 2) / 44870000
    lines = reaches(lambda: tip_at(page, "iterations", share), lambda lines: lines and lines[0] == "iteration 7: decode")
    assert lines[1] == "4 requests, 4 decoded tokens" and lines[2].startswith("wall ") and "idle before its first op" in lines[2]
    assert lines[-1] == row["annotation"]
    page.mouse.down()
    page.mouse.up()
    end = row["gpu_end_ns"]
    reaches(lambda: re.search(r"[#&]m=(\d+)-(\d+)", settled(page)).groups(), (str(end - row["wall_ns"]), str(end)))


def test_without_iterations_there_is_neither_page_nor_track(visit, exported):
    page = visit(exported(ROOT / "examples/input_bound.json.gz"), "page=phases")
    expect(page.get_by_role("navigation", name="Pages").get_by_text("Phases", exact=True)).to_have_count(0)
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Overview")


def test_steps_whose_graphs_were_not_recorded_have_a_page_and_no_times(visit, exported, tmp_path):
    path = tmp_path / "opaque.json"
    engine = Engine("opaque")
    engine.mode = "full"
    engine.run()
    graphs = {event["args"]["correlation"] for event in engine.events if event["name"] == "cudaGraphLaunch"}
    text = json.loads(document(engine, True))
    text["traceEvents"] = [each for each in text["traceEvents"] if each.get("cat") != "kernel" or each["args"]["correlation"] not in graphs]
    path.write_text(json.dumps(text))
    page = visit(exported(path), "page=phases")
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Phases")


def test_a_kernel_of_a_graph_names_what_captured_it(visit, exported):
    page = visit(exported(SERVER, SERVER.parent / "capture_traces"), "page=timeline&sel=kernel:200")
    wait_for_details(page)
    named = page.locator("section.details tr", has=page.get_by_role("rowheader", name="captured in"))
    expect(named).to_contain_text("aten::mm [[4, 4096], [4096, 6144]] in LlamaDecoderLayer_")
