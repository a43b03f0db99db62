"""The page of a job of 1,024 ranks and 20 steps, used as a person does: more ranks than lines of pixels, some of them lost."""

import re

import pytest
from job_page import cell_box, colours_in, readout
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect

RANKS, STEPS = 1024, 20
SLOW, LATE = 777, "host of ranks 320-327"  # the slow GPU, and the host whose input is late
LATE_STEPS = {12, 14, 16, 18}
MISSING = range(300, 304)  # a whole line of the picture
FILES = ("--no-flows", "--no-operators", "--missing", "5,300-303", "--cut", "9,512", "--empty", "640")
MOST_BYTES = 8_000_000 * STEPS // 100  # of 1,000 ranks and 100 steps, 8 MB


@pytest.fixture
def page(page_of):
    return page_of("wide-1024", *FILES, fragment=f"rank={SLOW}&jobstep=15")


def go_to(page, rank, step):
    page.evaluate(f"location.hash = 'page=job&rank={rank}&jobstep={step}'")
    reaches(lambda: readout(page), lambda text: re.match(rf"rank {rank}\b.*step {step}\b", text))
    page.locator(".heat-cursor").scroll_into_view_if_needed()  # the mouse reaches only what is in the window
    return cell_box(page)


def test_the_job_is_one_small_file_and_is_drawn(page, exported, jobs, record_property):
    path = exported(jobs("wide-1024", *FILES)[1])
    assert path.stat().st_size <= MOST_BYTES
    expect(page.locator(".heat")).to_contain_text("1,024 ranks, 20 steps")
    painted, drawn = page.evaluate("""[performance.getEntriesByName('first-contentful-paint')[0].startTime,
                                       ...performance.getEntriesByName('heat map').slice(0, 1).map((each) => each.startTime + each.duration)]""")
    assert 0 < drawn
    for name, value in (("bytes", path.stat().st_size), ("first paint, ms", round(painted)), ("heat map drawn, ms", round(drawn))):
        record_property(name, value)


def test_every_lost_rank_is_counted_and_marked(page):
    expect(page.get_by_role("list", name="Lost recordings").get_by_role("listitem")).to_have_text(
        ["1018 of 1,024 ranks have a recording", "5 missing: 5, 300, 301, 302, 303", "2 cut: 9, 512", "1 unreadable: 640"])
    for rank, said in ((5, "missing: no file"), (MISSING[1], "missing: no file"), (512, "not recorded: the file is cut"), (640, "unreadable")):
        box = go_to(page, rank, 29)
        assert said in readout(page)
        assert len(colours_in(page, end_of_line(box))) > 1, rank
    assert len(colours_in(page, end_of_line(go_to(page, 100, 29)))) == 1


def end_of_line(box):
    """The mark right of the last step, where a line says that one of its ranks is lost: others may cover the cell itself."""
    return {"x": box["x"] + box["width"] + 6, "y": box["y"] - 2, "width": 5, "height": box["height"] + 4}


def test_zoomed_in_a_lost_cell_is_hatched(page):
    go_to(page, MISSING[0], 15)
    canvas = page.locator(".heat canvas")
    canvas.focus()
    for _ in range(5):
        canvas.press("+")
    hatched = reaches(lambda: cell_box(page), lambda box: box["height"] > 8)
    assert len(colours_in(page, hatched)) == 2
    canvas.press("ArrowUp")  # rank 299 was recorded
    reaches(lambda: readout(page), lambda text: text.startswith("rank 299"))
    assert len(colours_in(page, cell_box(page))) == 1
    canvas.press("0")
    reaches(lambda: cell_box(page)["height"], lambda height: height < 8)


def test_the_table_of_stragglers_moves_the_heat_map_and_the_waterfall(page):
    names = page.locator(".stragglers li header button")
    expect(names).to_have_text([f"rank {SLOW}", LATE])  # by price: 14.9 and 8.1 ms
    names.nth(1).click()
    reaches(lambda: readout(page), lambda text: re.match(r"rank 32[0-7]\b", text))
    step = int(re.search(r"step (\d+)", readout(page))[1])
    assert step in LATE_STEPS
    expect(page.locator(".waterfall h2")).to_have_text(f"Step {step} over ranks")
    page.wait_for_selector(".waterfall canvas[data-complete]")
    expect(page.locator("#bar-readout")).to_contain_text("waiting for input")
    expect(page.locator(".cell-details h2")).to_contain_text(f"step {step}")
    names.nth(0).click()
    reaches(lambda: readout(page), lambda text: text.startswith(f"rank {SLOW} "))
    page.locator(".waterfall select").select_option(index=0)
    page.wait_for_selector(".waterfall canvas[data-complete]")
    expect(page.locator("#bar-readout")).to_contain_text(f"Rank {SLOW}: ")
    assert f"rank={SLOW}&" in settled(page)


def test_the_waterfall_has_200_bars_and_the_straggler_among_them(page):
    page.locator(".waterfall select").select_option(index=0)
    page.wait_for_selector(".waterfall canvas[data-complete]")
    expect(page.locator(".waterfall")).to_contain_text("200 of 1,024 ranks: ")
    assert page.locator("#bar-readout").inner_text().startswith(f"Rank {SLOW}: ")


def test_the_slow_rank_stands_out_although_it_is_less_than_a_pixel_high(page):
    box = go_to(page, SLOW, 15)
    canvas = page.locator(".heat canvas").bounding_box()
    assert canvas["height"] < RANKS
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".heat .tooltip")).to_contain_text(f"rank {SLOW}")
    others = colours_in(page, go_to(page, 100, 15))
    assert colours_in(page, go_to(page, SLOW, 15)).isdisjoint(others)


def test_price_orders_the_ranks_and_a_click_selects_one(page):
    page.locator(".heat select").nth(1).select_option("price")
    top = page.locator(".heat canvas").bounding_box()["y"]
    reaches(lambda: cell_box(page)["y"], lambda y: y - top < 12)  # among the first of them
    box = cell_box(page)
    page.mouse.click(box["x"] + 2.5 * (box["width"] + 4), box["y"] + 200)
    reaches(lambda: readout(page), lambda text: not text.startswith(f"rank {SLOW} "))
    assert "rows=price" in settled(page)


def test_a_wheel_with_ctrl_zooms_to_the_pointer(page):
    box = go_to(page, SLOW, 15)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    shown = page.locator(".heat").get_by_text(re.compile(r"^\d+ of 1,024 ranks"))
    expect(shown).to_be_visible()
    assert int(shown.inner_text().split()[0]) < RANKS // 3
    reaches(lambda: cell_box(page)["height"], lambda height: height > box["height"])  # the rank stays in view, and is taller
