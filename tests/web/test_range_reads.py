"""What a measured range of a large recording reads: the chunks at its ends, however many events are between them. The time
that this takes is measured by bench/viewer/compare.py."""

import re

import pytest
from many_launches import write_many_launches
from sql_answers import sql
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect

KERNELS = 60_000
REQUESTS = "performance.getEntriesByType('resource').map(({name}) => name)"


def blobs_read(page):
    """Return the numbers of all blobs that the page has requested."""
    found = [re.search(r"/blobs/([\d,]+)$", url) for url in page.evaluate(REQUESTS)]
    return [int(blob) for each in found if each for blob in each[1].split(",")]


def test_a_drag_over_a_large_recording_reads_its_ends(new_page, served, program, tmp_path):
    recording = write_many_launches(tmp_path / "many.json", KERNELS)
    page = new_page()
    page.goto(served(recording))
    page.wait_for_selector("header.bar")
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_selector("canvas[data-complete]")
    manifest = page.evaluate("fetch('/manifest').then((reply) => reply.json())")
    before = reaches(lambda: blobs_read(page), lambda read: manifest["sums"] in read)  # they are read as soon as the timeline is drawn
    chunks = {chunk[0]: at for at, lane in enumerate(manifest["lanes"]) for chunk in lane["levels"][0]["chunks"] if len(lane["levels"]) > 1}
    assert len(chunks) > 40 and chunks.keys().isdisjoint(before)
    canvas = page.locator(".lanes canvas").bounding_box()
    x, y = lambda share: canvas["x"] + share * canvas["width"], canvas["y"] + 40
    page.mouse.move(x(0.2), y)
    page.mouse.down()
    page.mouse.move(x(0.801), y)
    page.mouse.move(x(0.8), y)
    page.mouse.up()
    drawer = page.locator(".range-drawer[data-answered]")
    expect(drawer).to_have_attribute("data-answered", re.compile(r"\d+-\d+"))
    begin, end = map(int, re.search(r"[#&]m=(\d+)-(\d+)", settled(page)).groups())
    expect(drawer).to_have_attribute("data-answered", f"{begin}-{end}")
    read = [chunks[blob] for blob in blobs_read(page) if blob in chunks]
    assert 0 < len(read) <= len(chunks) / 4
    assert max(read.count(lane) for lane in read) <= 3  # two ends, and the end that the pointer passed
    drawer.get_by_role("button", name="Show all").first.click()
    rows = drawer.locator("section[aria-label=Kernels] tbody tr").evaluate_all("(rows) => rows.map((row) => [row.querySelector('button').title, row.lastElementChild.textContent])")
    shown = {title.rsplit("\n", 1)[0]: (int(title.rsplit("\n", 1)[1].split(" ns")[0].replace(",", "")), int(count.replace(",", ""))) for title, count in rows}
    said = sql(program, recording, "select name, count(*) n, sum(overlap(start_ns, end_ns, {a}, {z})) ns from kernel where start_ns < {z} and end_ns > {a} group by name", begin, end)
    assert shown == {row["name"]: (row["ns"], row["n"]) for row in said}
    assert sum(row["n"] for row in said) > KERNELS / 2
