"""Eight GPUs and more: one heat strip, one matrix of causes of idle time, and findings above the fold."""

import pytest
from many_gpus import write_many_gpus
from waiting import window

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpus")
    return {count: write_many_gpus(folder / f"{count}.json", count) for count in (4, 8, 64)}


@pytest.fixture
def overview(visit, exported, recordings):
    def open_page(count, **options):
        page = visit(exported(recordings[count]), **options)
        page.wait_for_selector("article.answer section.busy")
        return page

    return open_page


def test_a_heat_strip_has_a_row_per_gpu_with_its_busy_share(overview, recordings, program):
    said = program.report(recordings[8], "devices")["devices"].rows
    page = overview(8)
    assert page.locator(".strip").count() == 0
    rows = page.locator("section.busy .heat-row")
    assert [row.inner_text().split("\n") for row in rows.all()] == [[f"GPU {row['device']}", f"{row['busy_pct']:.1f} %"] for row in said]
    assert page.locator("section.busy .heat-row rect").count() > 8


def test_a_time_of_the_heat_strip_leads_to_the_timeline(overview, recordings, program):
    page = overview(8)
    button = page.locator("section.busy .heat-row button").nth(3)
    box = button.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + 4)
    expect(page.locator("section.busy .readout")).to_contain_text("GPU 3: ")
    page.mouse.click(box["x"] + box["width"] / 3, box["y"] + 4)
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")
    begin, end = window(page)
    length = program.report(recordings[8], "devices").document["source"]["window_ns"]
    assert begin < length / 3 < end and end - begin < length / 8


def test_the_matrix_has_every_cause_of_every_gpu(overview, recordings, program):
    said = [row for row in program.report(recordings[8], "idle")["idle"].rows if row["total_ns"] > 0]
    page = overview(8)
    titles = page.locator(".idle-matrix button").evaluate_all("cells => cells.map((cell) => cell.title.split('; ')[0])")

    def count(row):
        return f"{row['count']:,} gap{'' if row['count'] == 1 else 's'}"

    wanted = [f"GPU {row['device']}, {row['cause']}: {row['total_ns']:,} ns, {row['share_pct']:.1f} % of its idle time, in {count(row)}" for row in said]
    assert sorted(titles) == sorted(wanted)
    page.locator(".idle-matrix button").nth(5).click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")


@pytest.mark.parametrize("size", [(1440, 900), (1920, 1080)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("count", [8, 64])
def test_findings_are_above_the_fold(overview, count, size):
    page = overview(count, viewport={"width": size[0], "height": size[1]})
    remedy = page.locator(".finding .remedy").first
    expect(remedy).to_be_visible()
    box = remedy.bounding_box()
    assert box["y"] + box["height"] < size[1]


def test_few_gpus_have_strips_and_lists(overview):
    page = overview(4)
    expect(page.locator(".strip")).to_have_count(4)
    assert page.locator(".idle-matrix").count() == 0


def test_pages_of_many_gpus_are_accessible_and_fit_phones(overview, is_accessible):
    is_accessible(overview(8))
    page = overview(8, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
