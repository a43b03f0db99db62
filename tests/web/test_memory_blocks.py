"""Blocks of memory over time: who holds it at the cursor, what grows, how fragmented it is, and the peak."""

import json
import re
from pathlib import Path

import pytest
from waiting import reaches

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SNAPSHOT = FIXTURES / "memory/growth.snapshot.pickle.gz"
TIMELINE = FIXTURES / "memory/memory_analysis__memory_timeline.raw.zst"
TRANSFORMER = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
ACCOUNT = FIXTURES / "memory/account"


@pytest.fixture
def blocks(visit, exported):
    def open_page(recording, fragment="page=charts", **options):
        page = visit(exported(recording), fragment, **options)
        page.wait_for_selector("#memory-blocks .blocks path")
        return page

    return open_page


def held_by(page):
    """Return bytes and names of the list, largest first, at most six."""
    rows = page.locator("#memory-blocks .holders summary")
    return [(int(row.get_attribute("title").split(" bytes")[0].replace(",", "")), row.locator(".label").inner_text()) for row in rows.all()]


def wanted(rows):
    return [row["bytes"] for row in rows][:6]


def cursor(page):
    return int(page.locator("#memory-blocks .blocks").get_attribute("aria-valuenow"))


@pytest.mark.parametrize("recording", [SNAPSHOT, TIMELINE, TRANSFORMER, ACCOUNT], ids=lambda path: path.name.split(".")[0])
def test_who_holds_memory_at_the_cursor_is_what_the_report_says(blocks, program, recording):
    """At the peak first, then at times chosen by keys and by the pointer."""
    page = blocks(recording)
    rows = program.report(recording, "allocations")["allocations"].rows
    assert [size for size, _ in held_by(page)] == wanted(rows)
    assert [name for _, name in held_by(page) if not name.startswith(("no recorded", "unknown"))] == [row["owner"] for row in rows[:6] if row["owner"]]
    plot = page.locator("#memory-blocks .blocks")
    plot.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    rect = page.locator("#memory-blocks .blocks rect").first

    def choose(share):  # charts above may still move it
        rect.scroll_into_view_if_needed()
        box = rect.bounding_box()
        page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] - 4)
        return cursor(page)

    time = cursor(page)
    for share in (None, 0.3, 0.8):
        if share is not None:
            time = reaches(lambda at=share: choose(at), lambda now, before=time: now != before)
        rows = program.report(recording, "allocations", "--at", f"{time}ns")["allocations"].rows
        reaches(lambda: [size for size, _ in held_by(page)], wanted(rows))


def test_the_growth_of_a_snapshot_is_its_headline(blocks, program):
    first = program.report(SNAPSHOT, "growth")["growth"].rows[0]
    page = blocks(SNAPSHOT, "")
    headline = page.get_by_label("Growth of memory").locator("h1")
    expect(headline).to_have_text(f"{first['owner']} grows by {first['grown_bytes'] >> 20} MiB")
    assert headline.get_attribute("title") == f"{first['grown_bytes']:,} bytes"
    assert page.locator("h1").count() == 1
    expect(page.get_by_label("Growth of memory")).to_contain_text(f"{first['allocations']} allocations, {first['releases']} releases")


def test_blocks_that_grew_are_marked(blocks, program):
    """The hatched blocks are those of growing stacks, allocated between the two moments and not released by then."""
    growing = {(row["owner"], row["stack"]): row for row in program.report(SNAPSHOT, "growth")["growth"].rows if row["grown_bytes"] > 0}
    moments = next((row["from_ns"], row["to_ns"]) for row in growing.values())
    made = program.report(SNAPSHOT, "memory_trace")["memory_trace"].rows

    def is_grown(row):
        begin, length = row["start_ns"], row["dur_ns"]
        return (row["owner"], row["stack"]) in growing and begin is not None and moments[0] < begin <= moments[1] and (length is None or begin + length > moments[1])

    wanted = [row for row in made if row["bytes"] > 0 and is_grown(row)]
    assert sum(row["bytes"] for row in wanted) == sum(row["grown_bytes"] for row in growing.values())
    page = blocks(SNAPSHOT)
    expect(page.locator("#memory-blocks path.grown")).to_have_count(len(wanted))
    expect(page.locator("#memory-blocks .growth-moment")).to_have_count(2)


def test_fragmentation_at_the_end_is_that_of_the_report(blocks, program):
    said = program.report(SNAPSHOT, "fragmentation")["fragmentation"].rows[0]
    page = blocks(SNAPSHOT)
    titles = page.locator("#memory-blocks .segments span").evaluate_all("spans => spans.map((span) => span.title)")
    drawn = [int(re.search(r"([\d,]+) bytes", title)[1].replace(",", "")) for title in titles]
    assert drawn == [said["allocated_bytes"], said["pending_bytes"], said["largest_free_bytes"], said["free_bytes"] - said["largest_free_bytes"]]
    assert sum(drawn) == said["reserved_bytes"]
    expect(page.locator(".fragmentation")).to_contain_text(f"{said['fragmented_pct']:.1f} % of the free memory is in smaller ones")


def test_a_block_under_the_pointer_says_who_allocated_it_and_until_when(blocks, program):
    page = blocks(SNAPSHOT, "")
    block = page.locator("#memory-blocks path.block[data-row]").first
    row = program.report(SNAPSHOT, "memory_trace")["memory_trace"].rows[int(block.get_attribute("data-row"))]
    wanted = f"{row['bytes'] >> 20}.0 MiB of {row['owner'] or 'an unknown owner'}, since before the recording, not released"

    def said():
        box = block.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return page.locator("#memory-blocks .keys").inner_text()

    reaches(said, lambda text: wanted in text)


def test_a_stack_is_shown_innermost_first(blocks, program):
    page = blocks(SNAPSHOT)
    row = program.report(SNAPSHOT, "allocations")["allocations"].rows[0]
    holder = page.locator("#memory-blocks .holders li").first
    holder.locator("summary").click()
    assert holder.locator(".stack li").all_inner_texts() == row["stack"].split(";")[::-1]


def test_a_memory_timeline_has_its_curve_by_category(blocks, program):
    """16,845 events without addresses and without a device."""
    said = program.report(TIMELINE, "memory")["memory"].rows[0]
    page = blocks(TIMELINE, "")
    expect(page.locator("#memory-blocks .peak-mark text")).to_have_text(f"peak {said['peak_bytes'] / 2**30:.2f} GiB")
    categories = {row["category"] for row in program.report(TIMELINE, "memory_trace")["memory_trace"].rows}
    expect(page.locator("#memory-blocks .blocks path.block")).to_have_count(len(categories))
    expect(page.locator("#memory-blocks .about").first).to_contain_text("releases cannot be matched")


def test_the_peak_is_marked_on_the_timeline(exported, program):
    said = program.report(TRANSFORMER, "memory")["memory"].rows[0]
    text = exported(TRANSFORMER).read_text()
    manifest = json.loads(re.search(r'<script type="application/json" id="manifest">(.*?)</script>', text, re.S)[1])
    lane = next(lane for lane in manifest["lanes"] if lane["label"] == "memory allocated")
    assert lane["peak"] == [said["at_ns"], said["peak_bytes"]]


def test_without_allocations_there_are_no_blocks(visit, exported):
    page = visit(exported(FIXTURES / "kineto/input_bound.json.gz"), "page=charts")
    page.wait_for_selector("#overlap")
    assert page.locator("#memory-blocks").count() == 0


def test_blocks_are_accessible(blocks, is_accessible):
    is_accessible(blocks(SNAPSHOT, ""))
