"""How much communication is exposed, in which step, and behind what: the overlap of charts, the track and the findings."""

import re

import pytest
from many_gpus import STEP, exposed_us, write_many_gpus
from track_places import tip_at
from waiting import reaches, window

expect = pytest.importorskip("playwright.sync_api").expect

WORST = 4  # step


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return write_many_gpus(tmp_path_factory.mktemp("gpus") / "four.json", 4, worst=WORST)


@pytest.fixture
def overlap(visit, exported):
    def open_page(recording, **options):
        page = visit(exported(recording), "page=charts", **options)
        page.wait_for_selector("#overlap .heat-grid")
        return page

    return open_page


def us(ns):
    """Three digits, as the page shows them."""
    return f"{ns / 1000:.{0 if ns >= 100_000 else 1}f} us"


def exact(text):
    return int(re.search(r"([\d,]+) ns", text)[1].replace(",", ""))


def test_bars_are_exposed_and_hidden_communication_of_the_report(overlap, four, program):
    said = program.report(four, "devices")["devices"].rows
    bars = overlap(four).locator("#overlap .segments")
    expect(bars).to_have_count(4)
    titles = [bar.locator("span").evaluate_all("spans => spans.map((span) => span.title)") for bar in bars.all()]
    drawn = [[exact(title) for title in bar] for bar in titles]
    assert drawn == [[row["exposed_comm_ns"], row["comm_busy_ns"] - row["exposed_comm_ns"]] for row in said]


def test_a_cell_says_how_much_is_exposed_and_behind_what(overlap, four, program):
    said = program.report(four, "communication")["communication"].rows
    page = overlap(four)
    for device in (0, 3):
        line = page.locator("#overlap .heat-row button").nth(device)

        def point(line=line):  # charts above may still move it
            line.scroll_into_view_if_needed()
            box = line.bounding_box()
            page.mouse.move(box["x"] + box["width"] * (WORST + 0.5) / 6, box["y"] + 5)
            return page.locator("#overlap .readout").inner_text()

        reaches(point, lambda text, device=device: text.startswith(f"GPU {device}, ProfilerStep#{WORST}"))
        cell = next(each for each in said if each["device"] == device and each["step"] == f"ProfilerStep#{WORST}")
        assert cell["exposed_ns"] == exposed_us(device, WORST, WORST) * 1000
        wanted = f"GPU {device}, ProfilerStep#{WORST}: {us(cell['exposed_ns'])} of {us(cell['comm_ns'])} exposed, most of it in ncclDevKernel_AllReduce"
        readout = page.locator("#overlap .readout")
        expect(readout).to_contain_text(wanted)
        expect(readout).to_contain_text("hidden most behind Kernel<cutlass_80_wmma_gemm> (150 us)")


def test_the_most_exposed_step_is_first_and_leads_to_its_track(overlap, four, program):
    rows = program.report(four, "communication")["communication"].rows
    worst = max(rows, key=lambda row: row["exposed_ns"])
    page = overlap(four)
    first = page.locator("#overlap .worst button").first
    expect(first).to_have_text(f"GPU {worst['device']}, {worst['step']}")
    first.click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")
    expect(page.locator("li.name.communication.chosen")).to_have_count(1)
    begin, end = window(page)
    assert begin <= worst["start_ns"] and worst["start_ns"] + worst["dur_ns"] <= end < worst["start_ns"] + 1.5 * worst["dur_ns"]


def test_the_track_of_communication_has_what_is_exposed_and_what_is_hidden(visit, exported, tmp_path):
    recording = write_many_gpus(tmp_path / "one.json", 1, worst=WORST)
    page = visit(exported(recording), "page=timeline")
    page.wait_for_selector("canvas[data-complete]")
    length = 6 * STEP - 1
    share = lambda at: (WORST * STEP + at) / length  # noqa: E731
    hidden = tip_at(page, "communication", share(300))
    assert hidden[0] == "hidden" and "communication, 150 us" in hidden
    exposed = reaches(lambda: tip_at(page, "communication", share(420)), lambda lines: lines[0] == "exposed")
    assert "communication, 60.0 us" in exposed
    expect(page.get_by_label("Communication", exact=True)).to_contain_text("exposed: no other kernel runs")


def test_a_finding_leads_to_the_track(visit, exported, tmp_path):
    recording = write_many_gpus(tmp_path / "eight.json", 8, worst=WORST)
    page = visit(exported(recording))
    link = page.get_by_role("button", name="Show the most exposed communication on the timeline")
    link.first.click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")
    expect(page.locator("li.name.communication.chosen")).to_have_count(1)


def test_many_gpus_are_one_picture_and_no_pairs_of_streams_are_listed(overlap, tmp_path, program):
    recording = write_many_gpus(tmp_path / "many.json", 24, worst=WORST)
    page = overlap(recording)
    expect(page.locator("#overlap .heat-row")).to_have_count(24)
    assert page.locator("#overlap .segments").count() == 0
    assert "stream 7" not in page.locator("#overlap").inner_text()
    page.get_by_role("button", name="All pairs of streams").click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Tables")


def test_keys_reach_the_rows(overlap, four):
    page = overlap(four)
    page.locator("#overlap .heat-row button").nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator("li.name.communication.chosen")).to_have_count(1)
