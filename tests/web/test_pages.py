"""Overview, tables and charts of pages that the program writes: they say what the report says, and lead to the
timeline."""

import re
from pathlib import Path

import pytest
from played import record_played
from recordings_of_cupti import script_of
from waiting import reaches, wait_for_details, window

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
TWO_DEVICES = FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"
SAMPLES = FIXTURES / "nvidia-smi/h200-580.csv"
SEVERAL = [
    INPUT_BOUND,
    FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst",
    FIXTURES / "kineto/small_kernels.json.zst",
    TWO_DEVICES,
    SAMPLES,
]
PHONE = {"width": 375, "height": 812}
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture(params=SEVERAL, ids=lambda path: path.name.split(".")[0])
def recording(request):
    return request.param


def field(page, name):
    """Return the exact value of a field of the selected event."""
    return page.locator(f"section.details tr:has(th:text-is('{name}')) td").get_attribute("title")


def exact(cell):
    return int(cell.removesuffix(" ns").replace(",", ""))


def follow(page, handle):
    page.get_by_role("button", name=handle, exact=True).first.click()
    wait_for_details(page)


def copied(page):
    page.locator(".menu.save summary").click()
    page.get_by_role("button", name="Copy CSV").click()
    expect(page.locator(".menu.save [role=status]")).to_contain_text("Copied")
    page.keyboard.press("Escape")
    return page.evaluate("navigator.clipboard.readText()")


def rows(page, column):
    """Return the texts of a column of the visible table, from the rows that are on the page."""
    at = page.locator(".grid th").evaluate_all("heads => heads.map(head => head.dataset.column)").index(column)
    return [line.locator("td").nth(at).inner_text() for line in page.locator(".grid tbody tr[role=row]").all()]


def test_the_overview_of_a_damaged_recording_begins_with_that(visit, exported, tmp_path):
    path = tmp_path / "cut.json.gz"
    whole = INPUT_BOUND.read_bytes()
    path.write_bytes(whole[:len(whole) * 3 // 4])
    page = visit(exported(path), "page=overview")
    assert page.locator(".data-quality li").first.inner_text().startswith("! the input is damaged: ")


def test_a_recording_without_device_work_says_what_it_holds(visit, exported, program):
    page = visit(exported(SAMPLES), "page=overview")
    assert page.locator(".verdict h1").inner_text() == "cannot tell"
    metrics = page.locator("table.figures tbody th").all_inner_texts()
    assert metrics == [row["metric"] for row in program.report(SAMPLES, "samples")["samples"].rows]
    page.get_by_role("button", name="power").click()
    expect(page.locator("li.name.counter .text")).to_have_text(["power"])


@pytest.mark.parametrize("recording", SEVERAL[:-1], ids=lambda path: path.name.split(".")[0])
def test_the_first_page_says_what_the_report_says(visit, exported, program, recording):
    page = visit(exported(recording), "page=overview")
    page.wait_for_selector("article.answer")
    said = program.report(recording, "findings", "idle", "kernels", "devices")
    verdict = said.document["verdict"]
    assert page.locator(".verdict h1").inner_text() == verdict["name"]
    assert f"{verdict['share_pct']:.1f} %" in page.locator(".verdict dl").inner_text()
    assert page.locator(".data-quality li").count() == len(said.document["trust"])
    titles = page.locator(".finding h3").all_inner_texts()
    assert titles == [finding["title"] for finding in said.document["findings"]]
    for card, finding in zip(page.locator(".finding").all(), said.document["findings"], strict=True):
        assert finding["severity"] in card.locator(".severity").inner_text()
        assert exact(card.locator(".cost").get_attribute("title").removeprefix("Estimated cost: ").split(" of ")[0]) == finding["cost_ns"]
    bars = page.locator("section[aria-label='Idle time by cause'] .bars button").all()
    assert [exact(bar.get_attribute("title").split(" in ")[0]) for bar in bars] == [row["total_ns"] for row in sorted(said["idle"].rows, key=lambda row: row["device"])]
    kernels = page.locator("section[aria-label='Top kernels'] .bars button").all()
    assert [bar.get_attribute("title").split("\n")[0] for bar in kernels] == [row["name"] for row in said["kernels"].rows[: len(kernels)]]
    strips = page.locator(".strip button").all()
    assert len(strips) == len(said["devices"].rows)
    for strip, row in zip(strips, said["devices"].rows, strict=True):
        assert f"{row['busy_pct']:.1f} % busy" in strip.get_attribute("aria-label")


def test_predicted_changes_are_those_of_the_report(visit, exported, program):
    said = program.report(INPUT_BOUND, "whatif")["whatif"]
    page = visit(exported(INPUT_BOUND), "page=overview")
    lines = page.locator(".predictions tbody tr:not(.group)")
    order = ["recorded", "baseline", "floor", "single", "plan"]
    wanted = sorted(said.rows, key=lambda row: order.index(row["kind"]))
    expect(lines).to_have_count(len(wanted))
    longest = max(max(row["step_ns"], row["high_ns"] or 0) for row in wanted)
    for line, row in zip(lines.all(), wanted, strict=True):
        cells = line.locator("td").all()
        assert line.locator("th").inner_text().split("\n")[0] == row["change"]
        assert (row["assumes"] or "") in line.locator("th").inner_text()
        assert exact(cells[1].get_attribute("title")) == row["step_ns"]
        gain = "".join(f"{row[name]:.1f} %" for name in ["gain_pct"] if row[name] is not None)
        assert cells[2].inner_text().startswith(gain) and (gain == "") == (cells[2].inner_text() == "")
        if gain:
            assert f"{row['gain_low_pct']:.1f} % to {row['gain_high_pct']:.1f} %" in cells[2].inner_text()
        assert cells[3].inner_text() == (row["confidence"] or "")
        scale, fill = cells[0].locator(".track").bounding_box(), cells[0].locator(".fill").bounding_box()
        assert fill["width"] / scale["width"] == pytest.approx(row["step_ns"] / longest, abs=0.01)
        if row["low_ns"] is not None:
            left = cells[0].locator(".range").bounding_box()["x"] - scale["x"]
            assert left / scale["width"] == pytest.approx(row["low_ns"] / longest, abs=0.01)
    last = wanted[-1]
    expect(page.locator(".predictions .sum")).to_contain_text(f"{last['step_ns'] / 1e6:.3g} ms, {last['gain_pct']:.1f} % less")
    page.locator(".predictions").get_by_role("button", name="Show the table").click()
    expect(page.locator(".table h1")).to_have_text("whatif")


def test_no_prediction_says_why_and_what_to_record(visit, exported, program):
    (note,) = program.report(TWO_DEVICES, "whatif").document["tables"][0]["notes"]
    (path_note,) = program.report(TWO_DEVICES, "criticalpath").document["tables"][0]["notes"]
    page = visit(exported(TWO_DEVICES), "page=overview")
    expect(page.locator(".predictions p")).to_have_text([note])
    expect(page.locator(".predictions table")).to_have_count(0)
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.get_by_role("button", name="Critical path").click()
    expect(page.locator("section.path p")).to_have_text([path_note])


def test_a_gap_of_a_finding_is_shown_and_selected(visit, exported, program):
    gap = program.report(INPUT_BOUND, "gaps")["gaps"].rows[0]
    page = visit(exported(INPUT_BOUND), "page=overview")
    follow(page, "gap-1")
    begin, end = window(page)
    assert begin <= gap["start_ns"] and gap["start_ns"] + gap["dur_ns"] <= end
    assert (exact(field(page, "start")), exact(field(page, "duration")), field(page, "cause")) == (gap["start_ns"], gap["dur_ns"], gap["cause"])


def test_a_cause_of_a_finding_leads_to_its_longest_gap(visit, exported, program):
    said = program.report(TWO_DEVICES, "gaps", "idle", "findings")
    handle = next(re.search(r"idle-\d+", fact)[0] for finding in said.document["findings"] for fact in finding["evidence"] if "idle-" in fact)
    cause = said["idle"].rows[int(handle.removeprefix("idle-")) - 1]
    gap = next(row for row in said["gaps"].rows if (row["device"], row["cause"]) == (cause["device"], cause["cause"]))
    page = visit(exported(TWO_DEVICES), "page=overview")
    follow(page, handle)
    assert (exact(field(page, "start")), field(page, "cause")) == (gap["start_ns"], cause["cause"])


def test_a_kernel_of_a_finding_leads_to_its_longest_run_and_back_to_its_row(visit, exported, program):
    kernel = program.report(INPUT_BOUND, "kernels")["kernels"].rows[1]
    page = visit(exported(INPUT_BOUND), "page=overview")
    page.locator(".finding").filter(has_text="Layout conversions").get_by_text("Evidence").click()
    follow(page, "k-2")
    assert exact(field(page, "duration")) == kernel["max_ns"]
    expect(page.locator("section.details .full")).to_have_text(kernel["name"])
    page.get_by_role("button", name="Show in table").click()
    expect(page.locator(".table h1")).to_have_text("kernels")
    expect(page.locator("tr[aria-selected=true] td").first).to_have_attribute("title", kernel["name"])


def test_a_point_of_the_busy_strip_leads_there(visit, exported, program):
    length = program.report(INPUT_BOUND, "devices").document["source"]["window_ns"]
    page = visit(exported(INPUT_BOUND), "page=overview")
    box = page.locator(".strip button").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 20)
    begin, end = window(page)
    assert begin < length / 2 < end and end - begin < length / 10


@pytest.mark.parametrize("table", ["kernels", "api", "gaps", "ranges", "ops", "findings"])
def test_a_copied_table_is_the_csv_of_the_report(visit, exported, program, table):
    page = visit(exported(INPUT_BOUND), f"page=tables&table={table}", permissions=CLIPBOARD)
    said = program.run("report", INPUT_BOUND, table, "--format", "csv", "--limit", "0").stdout.decode()
    assert copied(page) == said


def test_the_filtered_and_sorted_rows_are_copied(visit, exported, program):
    page = visit(exported(INPUT_BOUND), "page=tables&table=kernels", permissions=CLIPBOARD)
    wanted = [row for row in program.report(INPUT_BOUND, "kernels")["kernels"].rows if row["mean_ns"] > 200e3 and "sm90" in row["name"]]
    page.get_by_role("searchbox").fill("sm90 mean_ns>200us")
    page.get_by_role("columnheader", name="mean (us)").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="mean (us)")).to_have_attribute("aria-sort", "descending")
    expect(page.locator(".table .status")).to_contain_text(f"{len(wanted)} of 48 rows")
    lines = copied(page).splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == [row["name"] for row in sorted(wanted, key=lambda row: -row["mean_ns"])]


def test_absent_values_sort_last_either_way(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=tables&table=kernels")
    head = page.get_by_role("columnheader", name="limiter")
    for sorting in ("ascending", "descending"):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", sorting)
        page.locator(".grid").evaluate("grid => grid.scrollTop = grid.scrollHeight")
        page.wait_for_selector("tr[aria-rowindex='49']")
        assert rows(page, "limiter")[-1] == "–"


def test_groups_add_up(visit, exported, program):
    page = visit(exported(INPUT_BOUND), "page=tables&table=kernels", permissions=CLIPBOARD)
    said = program.report(INPUT_BOUND, "kernels")["kernels"].rows
    page.get_by_label("Group by").select_option("limiter")
    expect(page.locator(".table .status")).to_contain_text("group")
    lines = [line.split(",") for line in copied(page).splitlines()]
    assert lines[0] == ["limiter", "rows", "count", "total_ns"]
    sums = {name: (int(count), int(total)) for name, _, count, total in lines[1:]}
    for name in sums:
        mine = [row for row in said if (row["limiter"] or "") == name]
        assert sums[name] == (sum(row["count"] for row in mine), sum(row["total_ns"] for row in mine))


def test_every_page_works_with_the_keyboard(visit, exported, program):
    gap = program.report(INPUT_BOUND, "gaps")["gaps"].rows[2]
    page = visit(exported(INPUT_BOUND), "page=tables&table=gaps")
    page.locator(".menu.save summary").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    expect(page.locator(".grid")).to_be_focused()
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"]:
        page.keyboard.press(key)
    wait_for_details(page)
    assert exact(field(page, "start")) == gap["start_ns"]


@pytest.mark.parametrize(("shown", "content"), [("overview", ".answer"), ("tables", "section.table"), ("charts", ".chart-list")])
def test_a_phone_scrolls_one_way_only(visit, exported, recording, shown, content):
    page = visit(exported(recording), f"page={shown}", viewport=PHONE)
    page.wait_for_selector(content)
    page.wait_for_timeout(500)  # charts grow to their data
    beyond = "[...document.querySelectorAll('html, body, main')].map(each => each.scrollWidth - each.clientWidth)"
    reaches(lambda: page.evaluate(beyond), [0, 0, 0])


@pytest.fixture(scope="module")
def started_late(program, tmp_path_factory):
    """A program that starts its work after a pause, so that its first answer covers a part."""
    folder = tmp_path_factory.mktemp("recorded")
    capture, script = folder / "run.gpuprof", script_of(FIXTURES / "cupti/memory_bound.jsonl.xz", folder, lanes=2)
    outcome = record_played(program, script, capture, "--sample", "0")
    assert outcome.status == 0, outcome.errors
    return capture


def test_an_answer_about_a_part_says_so_and_leads_to_the_right_times(visit, exported, program, started_late):
    gaps = program.report(started_late, "gaps")["gaps"].rows  # of the whole
    page = visit(exported(started_late), "page=overview")
    page.locator(".part").wait_for()
    page.locator(".part button").click()
    begin, end = window(page)
    page.goto(page.url.split("#")[0] + "#page=tables&table=gaps")
    page.locator(".grid td").first.wait_for()
    page.locator(".grid tbody tr[role=row]").first.click()
    wait_for_details(page)
    shown = exact(field(page, "start")), exact(field(page, "duration"))
    assert shown in [(gap["start_ns"], gap["dur_ns"]) for gap in gaps]
    assert begin <= shown[0] and sum(shown) <= end
