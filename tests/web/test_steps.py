"""Two steps next to each other, of a recording or of two: what differs is what SQL says, and the address keeps it."""

import re
from pathlib import Path

import pytest
from sql_answers import sql
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
SMALL = FIXTURES / "kineto/small_kernels.json.zst"
BEFORE, AFTER = FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst", FIXTURES / "nsys/mfu_2gpu_after.sqlite.zst"


def differences(page, title):
    """The exact times in A and in B, by name, of all rows of a table."""
    section = page.locator(".differences-of-ranges").get_by_label(title, exact=True)
    section.wait_for()
    if (more := section.get_by_role("button", name="Show all")).count():
        more.click()
    rows = {}
    for text in section.locator("th button").evaluate_all("all => all.map((each) => each.title)"):
        name, a, b = re.fullmatch(r"(.+)\n(nothing|[\d,]+ ns) in A, (nothing|[\d,]+ ns) in B", text).groups()
        rows[name] = [0 if time == "nothing" else int(re.sub(r"\D", "", time)) for time in (a, b)]
    return rows


def ordered(program, recording):
    steps = program.report(recording, "steps")["steps"].rows
    return steps, sorted(steps, key=lambda step: step["dur_ns"])


@pytest.mark.parametrize("recording", [INPUT_BOUND, SMALL, AFTER], ids=lambda path: path.name.split(".")[0])
def test_fastest_median_and_slowest_are_those_of_the_report(visit, exported, program, recording):
    steps, by_length = ordered(program, recording)
    page = visit(exported(recording), "page=steps")
    expect(page.locator(".timelines canvas[data-complete]")).to_have_count(2)
    options = page.get_by_label("A", exact=True).locator("option").all_inner_texts()
    named = [by_length[0], by_length[(len(steps) - 1) // 2], by_length[-1]]
    for text, kind, step in zip(options, ("fastest", "median", "slowest"), named):
        assert text.startswith(f"{kind} step ({step['step']})")
    assert len(options) == 3 + len(steps)


def test_differences_add_up_to_those_of_the_steps(visit, exported, program):
    _, by_length = ordered(program, INPUT_BOUND)
    page = visit(exported(INPUT_BOUND), "page=steps")
    a, b = by_length[0], by_length[-1]
    found = differences(page, "Idle time by cause")
    for side, step in enumerate((a, b)):
        idle = step["dur_ns"] - step["gpu_busy_ns"]
        assert sum(times[side] for times in found.values()) == idle


LAUNCHED = """select k.name name, count(*) n, sum(k.dur_ns) ns from kernel k left join api_call a on a.correlation = k.correlation
              where coalesce(a.start_ns, k.start_ns) >= {a} and coalesce(a.start_ns, k.start_ns) < {z} group by k.name"""


@pytest.mark.parametrize("recording", [INPUT_BOUND, SMALL], ids=lambda path: path.name.split(".")[0])
def test_kernels_belong_to_the_step_that_launched_them(visit, exported, program, recording):
    """Whenever they ran: a device that lags behind its host does not lose the end of a step."""
    _, by_length = ordered(program, recording)
    page = visit(exported(recording), "page=steps")
    found = differences(page, "Kernels")
    for side, step in enumerate((by_length[0], by_length[-1])):
        said = sql(program, recording, LAUNCHED, step["start_ns"], step["start_ns"] + step["dur_ns"])
        assert {name: times[side] for name, times in found.items() if times[side]} == {row["name"]: row["ns"] for row in said}


def test_steps_leave_the_timeline_as_it_was(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=timeline&t=1000000-3000000&sel=kernel:3")
    page.wait_for_selector("section.details tr")
    before = settled(page)
    page.get_by_role("button", name="Steps", exact=True).click()
    expect(page.locator(".timelines canvas[data-complete]")).to_have_count(2)
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_selector("section.details tr")
    assert settled(page) == before


def test_the_headline_names_the_median_step_as_the_steps_page_does(visit, exported, program):
    """The headline is of a step replayed without the recording; next to it is the step that was recorded."""
    _, by_length = ordered(program, INPUT_BOUND)
    median = by_length[(len(by_length) - 1) // 2]["dur_ns"]
    page = visit(exported(INPUT_BOUND), "page=overview")
    expect(page.locator(".verdict .also")).to_contain_text(f"the median step took {median / 1e6:.3g} ms as recorded")
    page.get_by_role("button", name="Steps", exact=True).click()
    expect(page.get_by_label("A", exact=True).locator("option").nth(1)).to_contain_text(f"· {median / 1e6:.3g} ms")


def test_a_choice_is_kept_by_the_address_and_swapped(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=steps")
    page.get_by_label("A", exact=True).select_option("step-2")
    expect(page.locator(".timelines h3").first).to_contain_text("ProfilerStep#1")
    page.get_by_role("button", name="Swap").click()
    expect(page.locator(".timelines h3").nth(1)).to_contain_text("ProfilerStep#1")
    assert "beside=slowest,step-2" in settled(page)
    page.reload()
    expect(page.locator(".timelines h3").nth(1)).to_contain_text("ProfilerStep#1")
    page.go_back()
    expect(page.locator(".timelines h3").first).to_contain_text("ProfilerStep#1")


def test_measured_and_kept_ranges_are_entries(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=steps&m=1000000-2000000&keep=1:3000000-5000000:warm")
    options = page.get_by_label("B", exact=True).locator("option")
    reaches(options.all_inner_texts, lambda texts: {"measured range · 1.00 ms", "kept range 1: warm · 2.00 ms"} <= set(texts))
    page.get_by_label("B", exact=True).select_option("kept-1")
    expect(page.locator(".timelines h3").nth(1)).to_contain_text("kept range 1: warm")


def test_a_row_leads_to_the_timeline(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=steps")
    page.locator(".differences-of-ranges th button").first.click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")
    expect(page.get_by_role("region", name="Selected event")).to_be_visible()


def test_both_timelines_begin_at_their_step(visit, exported, program):
    _, by_length = ordered(program, INPUT_BOUND)
    page = visit(exported(INPUT_BOUND), "page=steps")
    windows = reaches(lambda: page.evaluate("location.hash"), lambda text: "t=" in text)
    assert windows
    canvases = page.locator(".timelines canvas")
    expect(canvases).to_have_count(2)
    before = [canvases.nth(i).evaluate("canvas => canvas.toDataURL()") for i in (0, 1)]
    canvases.first.hover()
    page.keyboard.press("w")
    reaches(lambda: [canvases.nth(i).evaluate("canvas => canvas.toDataURL()") != before[i] for i in (0, 1)], [True, True])


def test_each_side_of_a_comparison_can_show_its_own_step(visit, program, tmp_path, is_accessible):
    out = tmp_path / "pair.html"
    assert program.run("export", "html", AFTER, "--base", BEFORE, "-o", out).status == 0
    page = visit(out)
    page.get_by_label("NEW", exact=True).select_option("slowest")
    steps = program.report(AFTER, "steps")["steps"].rows
    longest = max(step["dur_ns"] for step in steps)
    expect(page.locator(".timelines output")).to_contain_text(f"→ {longest / 1e6:.1f} ms")
    assert "own=slowest" in settled(page)
    page.reload()
    expect(page.locator(".timelines output")).to_contain_text(f"→ {longest / 1e6:.1f} ms")
    page.get_by_label("Aligned at").select_option("1")
    expect(page.get_by_label("NEW", exact=True)).to_have_value("")
    is_accessible(page)


def test_the_page_of_steps_is_accessible(visit, exported, is_accessible):
    page = visit(exported(INPUT_BOUND), "page=steps")
    page.locator(".differences-of-ranges").wait_for()
    is_accessible(page)
