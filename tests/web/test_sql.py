"""The SQL page: a served page answers with tables and marks on the timeline, a page in a file says what it needs."""

import re
from pathlib import Path

import pytest
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "input_bound.json.gz"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def sql_page(new_page, served):
    page = new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.goto(served(EXAMPLE))
    page.wait_for_selector("header.bar")
    page.get_by_role("button", name="SQL", exact=True).click()
    page.get_by_label("SQL", exact=True).click()
    yield page
    assert page.wrong == []


def run(page, sql):
    page.get_by_label("SQL", exact=True).fill(sql)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")


def test_words_are_completed_and_the_answer_is_a_table(sql_page):
    page = sql_page
    offered = page.get_by_role("listbox", name="Completions")
    page.keyboard.type("SELECT short_n")
    expect(offered.get_by_role("option", selected=True)).to_have_text(re.compile(r"short_name\("))
    page.keyboard.press("Tab")
    page.keyboard.type("name) AS kernel, count(*), sum(du")
    page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    page.keyboard.type("r_ns) AS total_ns FROM kern")
    options = offered.get_by_role("option")
    expect(options.first).to_have_text(re.compile("^kernel "))
    page.keyboard.press("ArrowDown")
    second = options.nth(1).locator("code").inner_text()
    expect(offered.get_by_role("option", selected=True).locator("code")).to_have_text(second)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.type(" GROUP BY 1 ORDER BY 3 DESC")
    page.keyboard.press("Escape")
    expect(page.get_by_label("SQL", exact=True)).to_have_value("SELECT short_name(name) AS kernel, count(*), sum(dur_ns) AS total_ns FROM kernel GROUP BY 1 ORDER BY 3 DESC")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("gridcell").first).to_have_text(re.compile("bn_bw_1C11_kernel_new"))
    expect(page.get_by_role("columnheader", name="total_ns", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Mark"))).to_have_count(0)  # sums have no time


def test_rows_with_times_are_marks_on_the_timeline(sql_page):
    page = sql_page
    run(page, "SELECT name, start_ns, dur_ns FROM kernel ORDER BY dur_ns DESC LIMIT 12")
    page.get_by_role("button", name="Mark 12 rows on the timeline").click()
    page.wait_for_selector("canvas[data-complete]")
    blue = lambda: page.evaluate(TICKS)
    assert reaches(blue, lambda count: count > 0)
    group = page.get_by_role("group", name="Rows of the SQL answer")
    group.get_by_role("button", name="12 rows of the SQL answer").click()
    expect(page.get_by_role("gridcell")).to_have_count(36)  # the answer is still there
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("canvas[data-complete]")
    expect(page.get_by_role("heading", name="Measured range", exact=False).last).to_be_visible()
    page.get_by_role("button", name="Clear", exact=True).click()
    assert reaches(blue, lambda count: count > 0)
    page.get_by_role("button", name="Clear marks").click()
    expect(group).to_have_count(0)
    reaches(blue, 0)


# Pixels of the accent colour in the strip at the lower edge of the ruler.
TICKS = """() => {
  const canvas = document.querySelector('.lanes canvas');
  const scale = canvas.width / canvas.clientWidth;
  const data = canvas.getContext('2d').getImageData(0, Math.round(49 * scale), canvas.width, 1).data;
  let found = 0;
  for (let i = 0; i < data.length; i += 4) found += data[i] === 11 && data[i + 1] === 87 && data[i + 2] === 194;
  return found;
}"""


def test_a_query_is_cancelled(sql_page):
    page = sql_page
    run(page, ENDLESS)
    expect(page.get_by_text(re.compile(r"Running, \d+ s"))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_have_text("The query was cancelled.")
    run(page, "SELECT 1 AS one")
    expect(page.get_by_role("columnheader", name="one")).to_be_visible()


def test_bounds_and_mistakes_are_said(sql_page):
    page = sql_page
    expect(page.get_by_text("Read-only. Up to 10,000 rows, 16 MiB and 30 s per query.")).to_be_visible()
    run(page, "SELECT a.name FROM op AS a, kernel LIMIT 10001")
    expect(page.get_by_text("these are its first 10,000 rows")).to_be_visible()
    run(page, "SELECT nam FROM kernel")
    expect(page.get_by_role("alert")).to_have_text(re.compile("did you mean 'name'"))
    run(page, "ATTACH 'x.db' AS x")
    expect(page.get_by_role("alert")).to_have_text(re.compile("queries are read-only"))


def test_recipes_of_the_cookbook_run(sql_page):
    page = sql_page
    examples = page.get_by_label("Examples")
    questions = [each.inner_text() for each in examples.locator("option").all()[1:]]
    assert len(questions) == 20
    for number, question in enumerate(questions):
        examples.select_option(str(number))
        sql = page.get_by_label("SQL", exact=True).input_value()
        assert sql.startswith(("SELECT", "WITH")), question
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_text_is_in_the_address(sql_page):
    page = sql_page
    page.keyboard.type("SELECT 'a&b=c' AS text")
    page.keyboard.press("Escape")
    settled(page)
    page.reload()
    expect(page.get_by_label("SQL", exact=True)).to_have_value("SELECT 'a&b=c' AS text")


def test_it_is_accessible(sql_page, is_accessible):
    page = sql_page
    page.keyboard.type("SELECT na")
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    is_accessible(page)
    run(page, "SELECT name, start_ns, dur_ns FROM kernel")
    expect(page.get_by_role("button", name=re.compile("^Mark"))).to_be_visible()
    is_accessible(page)


def test_a_file_says_that_sql_needs_the_program(visit, exported, is_accessible):
    page = visit(exported(EXAMPLE), "page=sql")
    expect(page.get_by_text("SQL needs the program")).to_be_visible()
    expect(page.locator(".only-served code")).to_have_text("gpu-profile view input_bound.json.gz")
    is_accessible(page)
