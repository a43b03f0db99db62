"""The page of a job of many ranks: the heat map, a step as bars, stragglers, and the way to the recording of a rank."""

import re

import pytest
from conftest import ROOT
from job_page import SLOW, cell_box, colours_in, compute_of, readout
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect

HOSTILE = "<img src=x onerror=alert(1)>"


def test_the_page_is_the_first_one_and_names_the_straggler(page_of):
    page = page_of("gpu")
    expect(page.get_by_role("navigation").get_by_role("button")).to_have_text(["Job", "Tables", "SQL"])
    first = page.locator(".stragglers li").first
    expect(first.locator("header")).to_contain_text(f"rank {SLOW}")
    expect(first.locator("header")).to_contain_text("slow GPU")
    for word in ("cost per step", "alone", "the time of other ranks", "Compare the clock"):
        expect(first).to_contain_text(word)


def test_a_cell_has_the_value_of_its_row(page_of, jobs, program):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14&cells=compute")
    value = compute_of(program, jobs("gpu")[1])[SLOW, 14]
    assert f"{value / 1e6:.3g} ms" in readout(page)
    box = cell_box(page)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator(".heat .tooltip")
    expect(tip).to_contain_text(f"rank {SLOW}")
    expect(tip).to_contain_text("step 14")
    expect(tip).to_contain_text(f"{value / 1e6:.3g} ms")


def test_a_hover_takes_less_than_a_frame(page_of):
    page = page_of("gpu")
    box = page.locator(".heat canvas").bounding_box()
    for i in range(40):
        page.mouse.move(box["x"] + 100 + 8 * i, box["y"] + 20 + 2 * i)
    assert page.evaluate("performance.getEntriesByName('hover').length") >= 40


def test_lost_ranks_are_counted_and_hatched(page_of):
    page = page_of("cut")
    lost = page.get_by_role("list", name="Lost recordings")
    expect(lost.get_by_role("listitem")).to_have_text(["14 of 16 ranks have a recording", "2 cut: 2, 9", "1 missing: 5", "1 unreadable: 11"])
    page.evaluate("location.hash = 'page=job&rank=5&jobstep=12'")
    reaches(lambda: readout(page), lambda text: "missing: no file" in text)
    hatched = colours_in(page, cell_box(page))
    assert len(hatched) == 2 and (255, 255, 255) in hatched
    page.evaluate("location.hash = 'page=job&rank=0&jobstep=12'")
    reaches(lambda: readout(page), lambda text: "rank 0" in text)
    assert len(colours_in(page, cell_box(page))) == 1
    page.evaluate("location.hash = 'page=job&rank=2&jobstep=29'")
    reaches(lambda: readout(page), lambda text: "not recorded: the file is cut" in text)
    assert colours_in(page, cell_box(page)) == hatched


def test_a_click_on_a_straggler_moves_everything(page_of):
    page = page_of("gpu", fragment="rank=0&jobstep=10")
    page.get_by_role("button", name=f"rank {SLOW}", exact=True).click()
    reaches(lambda: readout(page), lambda text: text.startswith(f"rank {SLOW}"))
    details = page.get_by_role("region", name="Selected rank")
    expect(details.locator("h2")).to_contain_text(f"Rank {SLOW}")
    step = re.search(r"step (\d+)", details.locator("h2").inner_text())[1]
    expect(page.locator(".waterfall h2")).to_have_text(f"Step {step} over ranks")
    expect(details.locator("code")).to_have_text(f"gpu-profile view rank0000{SLOW}.json.gz")
    assert f"rank={SLOW}&jobstep={step}" in settled(page)


def test_bars_cover_the_step_and_the_straggler_is_critical(page_of):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14")
    page.locator(".waterfall select").select_option(index=0)
    page.wait_for_selector(".waterfall canvas[data-complete]")
    text = page.locator("#bar-readout").inner_text()
    assert text.startswith(f"Rank {SLOW}: ")
    assert "own compute" in text and "critical for" in text and "error of its clock" in text
    page.locator(".waterfall canvas").press("ArrowUp")
    expect(page.locator("#bar-readout")).to_contain_text(f"Rank {SLOW - 1}: ")
    expect(page.locator("#bar-readout")).to_contain_text("waiting for other ranks")
    box = page.locator(".waterfall canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    expect(page.locator(".waterfall .tooltip")).to_contain_text("bar of")


def test_a_step_that_is_not_in_the_file_is_named(page_of):
    page = page_of("gpu")
    choices = page.locator(".waterfall select").locator("option").all_inner_texts()
    assert len(choices) == 9
    missing = next(step for step in range(10, 30) if not any(choice.startswith(f"{step} ") for choice in choices))
    page.evaluate(f"location.hash = 'page=job&rank=0&jobstep={missing}'")
    expect(page.locator(".missing-step")).to_contain_text(f"Step {missing} is not in this file")
    expect(page.locator(".waterfall canvas")).to_have_count(0)


def test_arrows_move_the_cell_and_orders_move_the_ranks(page_of):
    page = page_of("gpu", fragment="rank=0&jobstep=10")
    canvas = page.locator(".heat canvas")
    canvas.press("ArrowDown")
    canvas.press("ArrowRight")
    reaches(lambda: readout(page), lambda text: text.startswith("rank 1") and "step 11" in text)
    canvas.press("End")
    reaches(lambda: readout(page), lambda text: "step 29" in text)
    canvas.press("Home")
    canvas.press("ArrowUp")
    canvas.press("ArrowUp")  # stays in the first row
    reaches(lambda: readout(page), lambda text: text.startswith("rank 0") and "step 10" in text)
    page.locator(".heat select").nth(1).select_option("price")
    top = cell_box(page)["y"]
    canvas.press("ArrowUp")
    reaches(lambda: readout(page), lambda text: text.startswith(f"rank {SLOW}"))
    reaches(lambda: cell_box(page)["y"], lambda y: y < top)
    assert "rows=price" in settled(page)
    assert page.locator("#heat-readout").get_attribute("role") == "status"


def test_each_quantity_is_drawn(page_of):
    page = page_of("cut")
    choices = page.locator(".heat select").first.locator("option")
    titles = choices.all_inner_texts()
    assert {"Own time above peers", "Step time above the median", "Compute", "Idle, host", "Idle, input", "Waiting", "Exposed communication"} <= set(titles)
    seen = set()
    for title in titles:
        page.locator(".heat select").first.select_option(label=title)
        reaches(lambda title=title: readout(page), lambda text, title=title: title.lower() in text)
        seen.add(readout(page))
    assert len(seen) == len(titles)


@pytest.mark.parametrize("name", ["gpu", "cut", "link"])
def test_the_page_is_accessible(page_of, is_accessible, name):
    page = page_of(name)
    is_accessible(page)


def test_narrow_pages_do_not_scroll_sideways(page_of):
    page = page_of("gpu", viewport={"width": 800, "height": 900})
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 800


def test_hostile_names_are_text(page_of):
    job = {"rename": HOSTILE + "{}", "ranks": ("--host-from", "^(<.*>)rank")}
    page = page_of("gpu", "--no-distributed", job=job)
    expect(page.locator(".cell-details")).to_contain_text(HOSTILE)
    page.locator(".heat select").nth(1).select_option("host")
    reaches(lambda: readout(page), lambda text: HOSTILE in text)
    assert page.locator("img").count() == 0
    assert page.locator(".open-rank code").inner_text() == f"gpu-profile view '{HOSTILE}rank0000{SLOW}.json.gz'"


def test_a_served_job_leads_to_the_recording_of_a_rank(new_page, served, jobs, tmp_path):
    files = jobs("gpu")[0]
    page = new_page()
    page.goto(served(files, "--cache", tmp_path, command=("ranks", "view")))
    page.get_by_role("button", name=f"rank {SLOW}", exact=True).click()
    step = int(re.search(r"step (\d+)", page.locator(".cell-details h2").inner_text())[1])
    assert len(page.locator(".waterfall select").locator("option").all()) == 20
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=f"Open the recording of rank {SLOW} at step {step}").click()
    rank = opened.value
    expect(rank.locator("header .source")).to_have_text(f"rank0000{SLOW}.json.gz")
    expect(rank.get_by_role("heading", name=re.compile("^Measured range"))).to_be_visible()
    assert re.search(rf"/rank/{SLOW}/#page=timeline&t=\d+-\d+&m=\d+-\d+&", settled(rank))
    duration = rank.locator(".measure tr").filter(has_text="duration").locator("td").first
    recorded = page.locator("#heat-readout").inner_text()
    assert abs(float(duration.inner_text().split()[0]) - float(re.search(r"\((\d+) ms\)", recorded)[1])) <= 2


def test_a_recording_that_is_gone_is_named_with_its_command(new_page, served, jobs, tmp_path):
    files, capture = jobs("gpu", "--ranks", "0,1,2,3,4,5,6,7")
    moved = files.rename(tmp_path / "elsewhere")
    page = new_page()
    page.goto(served(capture))
    expect(page.locator(".open-rank")).to_contain_text("not there any more")
    expect(page.locator(".open-rank code")).to_contain_text("gpu-profile view rank0000")
    moved.rename(files)


def test_view_of_a_folder_of_ranks_opens_the_job_with_all_timelines(served, new_page, monkeypatch, tmp_path):
    """The job comes first, its straggler is named, the timelines of all ranks are next to it, and every rank has its own pages."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page = new_page()
    page.goto(served(ROOT / "examples" / "ranks"))
    page.wait_for_selector(".heat canvas[data-complete]")
    expect(page.get_by_role("navigation").get_by_role("button")).to_have_text(["Job", "Timeline", "Tables", "SQL"])
    expect(page.locator(".stragglers li header").first).to_contain_text("rank 5")
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_selector(".lanes canvas[data-complete]")
    names = page.locator("ul.names").last.inner_text()
    assert [rank for rank in range(8) if f"rank {rank}" in names] == list(range(8))
    chosen = page.get_by_label("Recording")
    chosen.select_option("rank 5")
    page.wait_for_url("**/rank/5/**")
    expect(page.get_by_role("navigation").get_by_role("button", name="Overview")).to_be_visible()
    page.get_by_role("button", name="Charts", exact=True).click()
    page.get_by_label("Recording").select_option("rank 3")
    page.wait_for_url("**/rank/3/#page=charts*")
    page.get_by_label("Recording").select_option("all ranks")
    page.wait_for_selector(".heat canvas[data-complete]")
