"""What a person sees first: the page that holds what was recorded, remedies without scrolling, names of folders, the
same numbers for steps as the command line."""

import shutil
from pathlib import Path

import pytest
from waiting import reaches, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
COUNTERS = FIXTURES / "ncu/kernels.raw.csv.gz"
SNAPSHOT = FIXTURES / "memory/growth.snapshot.pickle.gz"
BEFORE, AFTER = FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst", FIXTURES / "nsys/mfu_2gpu_after.sqlite.zst"
LAPTOP = {"width": 1440, "height": 900}
LARGE = {"width": 3840, "height": 2160}


def shown_page(page):
    return page.locator("header nav [aria-current=page]").inner_text()


def test_remedies_are_on_the_first_screen(visit, exported):
    page = visit(exported(INPUT_BOUND), viewport=LAPTOP)
    remedies = page.locator(".finding .remedy")
    remedies.first.wait_for()
    for remedy in (remedies.nth(0), remedies.nth(1)):
        box = remedy.bounding_box()
        assert box["y"] + box["height"] <= LAPTOP["height"]
    assert page.locator(".finding details[open]").count() == 1
    page.locator(".finding").nth(1).get_by_text("Evidence").click()
    expect(page.locator(".finding").nth(1).locator("li").first).to_be_visible()


def test_a_wide_screen_is_used(visit, exported):
    page = visit(exported(INPUT_BOUND), viewport=LARGE)
    findings = page.locator(".finding")
    findings.first.wait_for()
    assert page.locator("article.answer").bounding_box()["width"] > 3000
    assert findings.nth(0).bounding_box()["y"] == findings.nth(1).bounding_box()["y"]


def test_counters_alone_open_on_the_kernels(visit, exported):
    page = visit(exported(COUNTERS))
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Kernels")


def test_a_memory_snapshot_opens_on_its_growth_and_its_blocks(visit, exported, program):
    page = visit(exported(SNAPSHOT))
    assert reaches(lambda: shown_page(page), "Overview")
    page.locator("#memory-blocks path.block").first.wait_for()
    rows = program.report(SNAPSHOT, "allocations")["allocations"].rows
    holders = page.locator("#memory-blocks .holders summary")
    expect(holders).to_have_count(min(6, len(rows)))
    assert [holder.get_attribute("title") for holder in holders.all()] == [f"{row['bytes']:,} bytes" for row in rows[:6]]
    expect(page.locator("h1")).to_contain_text("grows by")


def test_folders_and_several_files_are_named_as_that(visit, program, tmp_path):
    folder = tmp_path / "a run"
    folder.mkdir()
    for name in ("1.json.gz", "2.json.gz"):
        shutil.copy(INPUT_BOUND, folder / name)
    for given, named in (([folder], "folder a run"), (sorted(folder.iterdir()), "2 files"), ([folder / "1.json.gz"], "1.json.gz")):
        out = tmp_path / "page.html"
        assert program.run("export", "html", *given, "-o", out).status == 0
        expect(visit(out).locator(".bar .source")).to_have_text(named)


def test_steps_of_a_comparison_are_those_of_compare(visit, program, tmp_path):
    out = tmp_path / "pair.html"
    assert program.run("export", "html", AFTER, "--base", BEFORE, "-o", out).status == 0
    said = program.comparison(BEFORE, AFTER, "metrics", "steps")
    pairs = [row for row in said["steps"].rows if row["only_in"] is None]
    samples = said["metrics"].rows[0]
    assert len([row for row in said["steps"].rows if row["base_ns"] is not None]) == samples["base_samples"]
    assert len([row for row in said["steps"].rows if row["new_ns"] is not None]) == samples["new_samples"]
    page = visit(out)
    expect(page.get_by_label("Aligned at").locator("option")).to_have_text([row["name"] for row in pairs])


def test_cause_and_thread_of_a_gap_are_links(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=timeline&sel=gap:0")
    wait_for_details(page)
    details = page.get_by_role("region", name="Selected event")
    details.locator("tr:has(th:text-is('cause')) button").click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Tables")
    expect(page.locator(".grid tr[aria-selected=true]")).to_contain_text("input pipeline")
    page.go_back()
    details.locator("tr:has(th:text-is('host thread')) button").click()
    expect(details.locator("h2 span")).not_to_have_text("gap")


def test_the_panel_keeps_its_width(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=timeline")
    border = page.get_by_role("separator", name="Width of the panel")
    before = page.locator("aside.panel").bounding_box()["width"]
    border.focus()
    page.keyboard.press("ArrowLeft")
    assert reaches(lambda: page.locator("aside.panel").bounding_box()["width"], lambda width: width > before)
    wider = page.locator("aside.panel").bounding_box()["width"]
    box = border.bounding_box()
    page.mouse.move(box["x"] + 2, 300)
    page.mouse.down()
    page.mouse.move(box["x"] - 98, 300)
    page.mouse.up()
    dragged = reaches(lambda: page.locator("aside.panel").bounding_box()["width"], lambda width: width > wider + 80)
    page.reload()
    assert reaches(lambda: page.locator("aside.panel").bounding_box()["width"], dragged)
