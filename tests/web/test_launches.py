"""From device work to what submitted it: arrows of all launches of a range, the Python line of a kernel, its source line."""

import pytest
from conftest import ROOT
from sql_answers import length_of, sql
from waiting import reaches

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
SMALL = ROOT / "tests" / "fixtures" / "kineto" / "small_kernels.json.zst"
PYTHON = ROOT / "tests" / "fixtures" / "kineto" / "transformer-stacks-shapes-memory.json.zst"

LAUNCHED = """with work as (select start_ns, correlation from kernel union all select start_ns, correlation from memcpy
              union all select start_ns, correlation from memset)
              select count(*) n from work where start_ns >= {a} and start_ns < {z} and correlation in (select correlation from api_call)"""


def launches(program, recording, a, z):
    return sql(program, recording, LAUNCHED, a, z)[0]["n"]


def test_arrows_of_all_launches_of_a_range(visit, exported, program):
    length = length_of(program, EXAMPLE)
    a, z = round(0.22 * length), round(0.24 * length)
    page = visit(exported(EXAMPLE), f"page=timeline&m={a}-{z}&t={a}-{z}")
    page.wait_for_selector("canvas[data-complete]")
    canvas = page.locator(".lanes canvas")
    before = canvas.screenshot()
    page.get_by_role("button", name="Launch arrows").click()
    wanted = launches(program, EXAMPLE, a, z)
    assert wanted > 10
    expect(page.get_by_text(f"{wanted:,} launches", exact=True)).to_be_visible()
    reaches(lambda: canvas.screenshot() != before, True)
    page.reload()
    expect(page.get_by_role("button", name="Launch arrows")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text(f"{wanted:,} launches", exact=True)).to_be_visible()
    page.get_by_role("button", name="Launch arrows").click()
    expect(page.get_by_text(f"{wanted:,} launches", exact=True)).to_have_count(0)


def test_more_launches_than_arrows_are_counted(visit, exported, program):
    length = length_of(program, SMALL)
    wanted = launches(program, SMALL, 0, length)
    assert wanted > 2000
    page = visit(exported(SMALL), f"page=timeline&m=0-{length}&launches=1")
    expect(page.get_by_text(f"the first 2,000 of {wanted:,} launches", exact=True)).to_be_visible()


def test_the_python_function_of_a_kernel_and_the_time_since_its_launch_began(visit, exported, program):
    """This recorder names functions by the line that defines them, so no line is said to have launched the kernel."""
    page = visit(exported(PYTHON), "page=timeline&sel=kernel:20")
    related = page.locator("dl.related")
    function = related.locator("dt", has_text="Python function").locator("xpath=following-sibling::dd[1]").get_by_role("button")
    expect(function).to_contain_text(".py(")
    expect(related.get_by_text("Python line")).to_have_count(0)
    row = sql(program, PYTHON, "select k.start_ns - a.start_ns ns from kernel k join api_call a on a.correlation = k.correlation order by k.start_ns limit 1 offset 20")[0]
    said = related.locator("dt", has_text="launched by").locator("xpath=following-sibling::dd[1]/small").inner_text()
    assert said == f"{row['ns'] / 1000:.3g} us earlier" and row["ns"] > 0
    function.click()
    expect(page.locator("section.details h2 span")).to_have_text("Python function")
