"""Tables without end: rows beyond those of the report, filter and order over all of them, columns, and saved files."""

import csv
import io
import re
from pathlib import Path

import pytest
from many_launches import write_many_launches
from waiting import reaches, settled, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

TWO_DEVICES = Path(__file__).resolve().parents[1] / "fixtures/nsys/h100_2gpu_1s.sqlite.zst"
KERNELS = 20_000  # more than two chunks of rows
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return write_many_launches(tmp_path_factory.mktemp("many") / "many.json", KERNELS)


def csv_of(program, recording, table):
    result = program.run("report", recording, table, "--format", "csv", "--limit", "0")
    assert result.status == 0, result.errors
    return result.stdout.decode()


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


def saved(page, label):
    """Return the name and the text of the file that the menu saves."""
    page.locator(".menu.save summary").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).click()
    text = Path(waiting.value.path()).read_text()
    page.keyboard.press("Escape")
    return waiting.value.suggested_filename, text


def first_cells(page, column):
    at = page.locator(".grid th").evaluate_all("heads => heads.map(head => head.dataset.column)").index(column)
    return page.locator(f".grid tbody tr[role=row] td:nth-child({at + 1})").evaluate_all("cells => cells.map(cell => cell.title)")


@pytest.mark.parametrize("table", ["gpu_trace", "api_trace", "gaps", "sequences", "kernels"])
def test_saved_csv_is_that_of_the_program(visit, exported, program, many, table):
    page = visit(exported(many), f"page=tables&table={table}")
    name, text = saved(page, "Save CSV")
    assert name == f"many {table}.csv"
    assert text == csv_of(program, many, table)


def test_csv_of_a_recording_of_two_devices_is_that_of_the_program(visit, exported, program):
    wanted = csv_of(program, TWO_DEVICES, "gaps")
    page = visit(exported(TWO_DEVICES), "page=tables&table=gaps")
    expect(page.locator(".table .status")).to_have_text(f"{len(records(wanted)):,} rows")
    assert saved(page, "Save CSV")[1] == wanted


def test_the_server_gives_rows_beyond_the_report(new_page, served, program, many):
    rows = records(csv_of(program, many, "gpu_trace"))
    page = new_page()
    page.goto(served(many))
    page.get_by_role("button", name="Tables", exact=True).click()
    page.get_by_role("navigation", name="Tables").get_by_role("button", name="gpu trace").click()
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    last = page.locator(f"tr[aria-rowindex='{KERNELS + 1}']")
    expect(last.locator("td").first).to_have_attribute("title", f"{int(rows[-1]['start_ns']):,} ns")
    assert saved(page, "Save CSV")[1] == csv_of(program, many, "gpu_trace")


def test_every_row_is_reached_and_few_are_on_the_page(visit, exported, program, many, is_accessible):
    rows = records(csv_of(program, many, "gpu_trace"))
    page = visit(exported(many), "page=tables&table=gpu_trace")
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(KERNELS + 1))
    for row in (12_345, KERNELS - 1, 8192):
        grid.evaluate("(grid, row) => grid.scrollTop = row * 24", row)
        shown = page.locator(f"tr[aria-rowindex='{row + 2}'] td").nth(1)
        expect(shown).to_have_attribute("title", f"{int(rows[row]['dur_ns']):,} ns")
        reaches(page.locator(".grid tr").count, lambda count: count < 100)
    is_accessible(page)
    grid.focus()
    for key in ("Home", "ArrowDown", "PageDown"):
        page.keyboard.press(key)
    expect(grid).to_have_attribute("aria-activedescendant", re.compile(r"^row-\d{2,}$"))
    active = grid.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    page.keyboard.press("Enter")  # leads to the timeline
    assert "page=timeline" in settled(page)
    wait = page.locator("section.measure")
    expect(wait).to_be_visible()


def test_filter_and_order_cover_all_rows_and_return_with_the_address(visit, exported, program, many):
    rows = [row for row in records(csv_of(program, many, "gpu_trace")) if int(row["dur_ns"]) > 40_000 and "kernel_3" in row["name"]]
    wanted = sorted(rows, key=lambda row: -int(row["dur_ns"]))
    page = visit(exported(many), "page=tables&table=gpu_trace")
    page.get_by_label("Filter rows").fill("duration>40us kernel_3")
    head = page.get_by_role("columnheader", name="duration")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.locator(".table .status")).to_have_text(f"{len(wanted)} of {KERNELS:,} rows")
    shown = [f"{int(row['dur_ns']):,} ns" for row in wanted]
    reaches(lambda: first_cells(page, "dur_ns"), lambda cells: cells == shown[: len(cells)] and len(cells) > 10)
    assert records(saved(page, "Save CSV")[1]) == wanted
    address = settled(page)
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_label("Filter rows")).to_have_value("duration>40us kernel_3")
    reaches(lambda: first_cells(page, "dur_ns"), lambda cells: cells == shown[: len(cells)] and len(cells) > 10)


def test_columns_are_chosen_and_stay_chosen(visit, exported, program, many, is_accessible):
    page = visit(exported(many), "page=tables&table=gpu_trace", permissions=CLIPBOARD)
    page.get_by_text("Columns", exact=True).click()
    for name in ("context", "source", "destination"):
        page.get_by_role("checkbox", name=name, exact=True).uncheck()
    is_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_text("Columns: 13 of 16")).to_be_focused()
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_text("Columns: 13 of 16")).to_be_visible()
    text = saved(page, "Save CSV")[1]
    wanted = records(csv_of(program, many, "gpu_trace"))
    assert records(text) == [{name: cell for name, cell in row.items() if name not in ("context", "src", "dst")} for row in wanted]


def test_groups_count_all_rows(visit, exported, program, many):
    page = visit(exported(many), "page=tables&table=gpu_trace")
    page.get_by_label("Group by").select_option(label="name")
    expect(page.locator(".table .status")).to_have_text("280 groups")
    groups = records(saved(page, "Save CSV")[1])
    assert sum(int(group["rows"]) for group in groups) == KERNELS
    kernels = {row["name"]: row["total_ns"] for row in records(csv_of(program, many, "kernels"))}
    assert {group["name"]: group["dur_ns"] for group in groups} == kernels


def test_markdown_shows_what_the_page_shows(visit, exported, many):
    page = visit(exported(many), "page=tables&table=kernels")
    name, text = saved(page, "Save Markdown")
    lines = text.splitlines()
    assert name == "many kernels.md"
    assert len(lines) == 2 + 280
    assert lines[0].startswith("| name | count | total (us) | share (%) |")
    cells = page.locator(".grid tbody tr[role=row]").first.locator("td").all_inner_texts()
    assert lines[2].split(" | ")[1:4] == cells[1:4]


def test_a_printed_table_has_every_column_and_says_where_the_other_rows_are(visit, exported, many):
    page = visit(exported(many), "page=tables&table=gpu_trace&show=sort:-dur_ns")
    page.get_by_role("grid").wait_for()
    page.emulate_media(media="print")
    expect(page.get_by_text("Rows 1 to 1,000 of 20,000.")).to_be_visible()
    reaches(page.locator(".grid tbody tr[role=row]").count, 1000)
    page.set_viewport_size({"width": 680, "height": 900})
    clipped = "[...document.querySelectorAll('html, body, main, .grid, .grid td')].filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.className || each.tagName)"
    reaches(lambda: page.evaluate(clipped), [])
