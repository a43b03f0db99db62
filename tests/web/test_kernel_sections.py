"""Parts of the pages of kernels: occupancy curves and source lines say what the report says; every page is accessible and
fits a narrow screen."""

import math
from pathlib import Path

import pytest
from many_kernels import KERNELS, write_many_kernels
from waiting import reaches, settled, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SAMPLES = FIXTURES / "instructions" / "samples.gpuprof"
TIMELINE = FIXTURES / "kineto" / "small_kernels.json.zst"
PHONE = {"width": 360, "height": 740}
LOW = 6  # a launch with low occupancy
TRANSPOSE = 2
LINE = "transpose.cu:4"
PAGES = ["launch=6", "launch=2&line=transpose.cu:4", "sampled=library"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Counters of kernels; one of them is called like a function of SAMPLES."""
    return write_many_kernels(tmp_path_factory.mktemp("counted") / "counted.csv", 1, names={"transpose_naive": "transpose"})


@pytest.fixture
def kernels(visit, exported, counted):
    """Open a page of a kernel in a recording with counters and samples."""
    def open_page(fragment, *more, **options):
        page = visit(exported(counted, SAMPLES, *more), f"page=kernels&{fragment}", **options)
        page.wait_for_selector(".kernel section[aria-label='Source lines']")
        return page

    return open_page


def percent(value):
    """One decimal place; halves round up, as in the page."""
    return f"{math.floor(10 * value + 0.5) / 10:.1f} %"


def test_occupancy_curves_say_what_the_report_says(kernels, program):
    said = [row for row in program.report(KERNELS, "occupancy_curves")["occupancy_curves"].rows if row["launch"] == LOW]
    page = kernels(f"launch={LOW}")
    section = page.locator("section[aria-label='Occupancy curves']")
    expect(section.locator("svg path.curve")).to_have_count(3)
    expect(section.locator(".own-value")).to_have_text(["64 threads: 15.6 %, limited by shared memory", "38 registers: 15.6 %, limited by shared memory", "40,000 B: 15.6 %, limited by shared memory"])
    raised = [row["raised_by"] for row in said if row["own"]]
    assert raised[1] is None and raised[0] == "blocks of 384 threads: 75.0 %"
    expect(section.locator(".raised")).to_have_text([f"Raised by {raised[0]}", "No change of registers alone raises it.", f"Raised by {raised[2]}"])
    summary = section.locator("details:not(.save) > summary").first
    summary.focus()
    page.keyboard.press("Enter")
    lines = section.locator("details:not(.save)").first.locator("tbody tr")
    threads = [row for row in said if row["resource"] == "threads"]
    expect(lines).to_have_count(len(threads))
    for line, row in zip(lines.all(), threads, strict=True):
        assert line.locator("td").all_inner_texts() == [percent(row["occupancy_pct"]), str(row["blocks_per_sm"]), row["limiter"] or "none"]
    assert "64 (this kernel)" in lines.nth(1).inner_text()


def test_the_marked_point_lies_on_its_curve(kernels):
    page = kernels(f"launch={LOW}")
    for curve in page.locator("section[aria-label='Occupancy curves'] svg").all():
        assert curve.evaluate("""svg => {
            const path = svg.querySelector('path.curve'), mark = svg.querySelector('circle');
            const [x, y] = ['cx', 'cy'].map(name => Number(mark.getAttribute(name)));
            const points = Array.from({length: 2001}, (_, i) => path.getPointAtLength(path.getTotalLength() * i / 2000));
            return Math.min(...points.map(point => Math.hypot(point.x - x, point.y - y)));
        }""") < 1


def test_source_lines_say_what_the_report_says(kernels, program):
    folder = FIXTURES / "instructions"
    said = program.report(SAMPLES, "source", "--sources", folder)["source"].rows
    stalls = program.report(SAMPLES, "line_stalls")["line_stalls"].rows
    page = kernels(f"launch={TRANSPOSE}", "--sources", folder)
    lines = page.locator("section[aria-label='Source lines'] tbody tr")
    mine = [row for row in said if row["name"] == "transpose"]
    expect(lines).to_have_count(len(mine))
    for line, row in zip(lines.all(), mine, strict=True):
        assert line.locator("th").inner_text() == f"transpose.cu:{row['line']}"
        cells = line.locator("td").all_inner_texts()
        assert cells[:2] == [row["text"], percent(row["kernel_pct"])]
        reasons = ", ".join(f"{each['reason']} {percent(each['share_pct'])}" for each in stalls if each["line"] == row["line"])
        assert line.locator(".stack").get_attribute("aria-label") == reasons
    assert lines.first.locator("td").all_inner_texts()[3:5] == ["7,549,747", "1,677,721"]


def test_source_lines_are_sorted_and_kept_in_the_address(kernels):
    page = kernels(f"launch={TRANSPOSE}")
    section = page.locator("section[aria-label='Source lines']")
    names = section.locator("tbody th")
    expect(names).to_have_text(["transpose.cu:4", "transpose.cu:3"])
    section.get_by_role("button", name="line", exact=True).click()
    expect(names).to_have_text(["transpose.cu:3", "transpose.cu:4"])
    section.get_by_role("button", name="share", exact=True).press("Enter")
    expect(names).to_have_text(["transpose.cu:4", "transpose.cu:3"])
    section.get_by_role("button", name="transpose.cu:4").press("Enter")
    expect(section.locator(".reasons .full")).to_have_text(LINE)
    assert "line=transpose.cu:4" in settled(page)
    page.reload()
    expect(section.locator(".reasons .label")).to_have_text(["selected (issued, no stall)", "long_scoreboard", "lg_throttle"])
    section.get_by_role("button", name="transpose.cu:4").click()
    expect(section.locator(".reasons")).to_have_count(0)
    assert "line=" not in settled(page)


def test_samples_alone_have_pages(visit, exported):
    page = visit(exported(SAMPLES))
    expect(page.locator(".kernel h1")).to_have_text("transpose")
    expect(page.locator(".kernel")).to_contain_text("--sources DIR")
    page.locator("nav[aria-label='Sampled kernels']").get_by_role("button", name="library").click()
    expect(page.locator(".kernel h1")).to_have_text("library")
    expect(page.locator(".kernel")).to_contain_text("compile it with nvcc -lineinfo")
    assert "sampled=library" in settled(page)
    page.get_by_role("button", name="Tables", exact=True).click()
    page.locator("nav[aria-label=Tables]").get_by_role("button", name="source").click()
    page.locator("tr[aria-rowindex='4']").click()
    expect(page.locator(".reasons .full")).to_have_text("transpose.cu:3")


def test_lines_of_a_served_recording_have_their_text(new_page, served):
    page = new_page()
    page.goto(served(SAMPLES, "--sources", FIXTURES / "instructions"))
    page.get_by_role("button", name="Kernels", exact=True).click()
    expect(page.locator(".source-lines .code").first).to_have_text("out[x * n + y] = in[y * n + x];")


def test_the_filter_of_counters_is_kept(kernels):
    page = kernels(f"launch={LOW}")
    page.locator(".kernel .table").get_by_role("searchbox").fill("dram__bytes_read")
    expect(page.locator(".kernel .status")).to_contain_text("1 of")
    page.locator("nav[aria-label='Kernels with counters']").get_by_role("button", name="saxpy").click()
    expect(page.locator(".kernel h1")).to_contain_text("saxpy")
    expect(page.locator(".kernel .status")).to_contain_text("1 of")
    assert "countershow=filter:dram__bytes_read" in settled(page)
    page.reload()
    expect(page.locator(".kernel").get_by_role("searchbox")).to_have_value("dram__bytes_read")


def test_a_kernel_of_an_exported_timeline_leads_to_its_counters_and_back(visit, exported, program, tmp_path):
    name = program.report(TIMELINE, "kernels")["kernels"].rows[1]["name"]
    counted = write_many_kernels(tmp_path / "renamed.csv", 1, names={"saxpy": name})
    page = visit(exported(counted, TIMELINE), "page=kernels")
    page.locator("nav[aria-label='Kernels with counters'] button").first.wait_for()
    page.locator(f"nav[aria-label='Kernels with counters'] button[title='{name}']").click()
    for _ in range(2):
        page.get_by_role("button", name="Show on the timeline").click()
        wait_for_details(page)
        expect(page.locator("section.details .full")).to_have_text(name)
        page.get_by_role("button", name="Show counters").click()
        expect(page.locator(".kernel .full")).to_have_text(name)


@pytest.mark.parametrize("fragment", PAGES)
def test_pages_of_kernels_are_accessible(kernels, is_accessible, fragment):
    page = kernels(fragment)
    for summary in page.locator(".kernel summary").all():
        summary.click()
    is_accessible(page)


@pytest.mark.parametrize("launch", range(9))
def test_every_recorded_kernel_is_accessible(visit, exported, is_accessible, launch):
    page = visit(exported(KERNELS), f"page=kernels&launch={launch}")
    page.wait_for_selector(".kernel section.table")
    is_accessible(page)


@pytest.mark.parametrize("fragment", PAGES)
def test_a_phone_scrolls_one_way_only(kernels, is_accessible, fragment):
    page = kernels(fragment, "--sources", FIXTURES / "instructions", viewport=PHONE)
    for summary in page.locator(".kernel summary").all():
        summary.click()
    beyond = "[...document.querySelectorAll('html, body, main, .kernel')].map(each => each.scrollWidth - each.clientWidth)"
    reaches(lambda: page.evaluate(beyond), [0, 0, 0, 0])
    is_accessible(page)
