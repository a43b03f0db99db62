"""Fingers: on the timeline one pans, two zoom, a tap selects and a long press measures; two zoom the heat map of a job;
tables and pages scroll natively."""

from pathlib import Path

import pytest
from drawn_sample import US, timeline
from track_places import place
from waiting import reaches, settled, window

expect = pytest.importorskip("playwright.sync_api").expect

INPUT_BOUND = Path(__file__).resolve().parents[2] / "examples" / "input_bound.json.gz"


class Fingers:
    """Dispatches touches as the browser gets them from a screen."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.page = page

    def put(self, kind, *points):
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})

    def drag(self, *paths, hold=0):
        """Move each finger along its line; `hold`: rest this many ms before."""
        self.put("touchStart", *(begin for begin, _ in paths))
        self.page.wait_for_timeout(hold)
        for part in range(1, 11):
            self.put("touchMove", *((x + (to_x - x) * part / 10, y + (to_y - y) * part / 10) for (x, y), (to_x, to_y) in paths))
        self.put("touchEnd")


@pytest.fixture
def touched(visit, sample_page):
    page = timeline(visit, sample_page, has_touch=True)
    return page, Fingers(page)


def test_two_fingers_zoom_and_one_pans(touched):
    page, fingers = touched
    at = lambda share: place(page, "stream 7", share)
    fingers.drag((at(0.4), at(0.2)), (at(0.6), at(0.8)))
    begin, end = window(page)
    assert (begin, end) == (pytest.approx(100 * US / 3, abs=2 * US), pytest.approx(200 * US / 3, abs=2 * US))
    fingers.drag((at(0.6), at(0.3)))
    moved = window(page)
    assert moved[1] - moved[0] == pytest.approx(end - begin, abs=2)
    assert moved[0] - begin == pytest.approx(0.3 * (end - begin), rel=0.05)
    assert "sel=" not in page.url and "m=" not in page.url


def test_a_tap_selects(touched):
    page, fingers = touched
    fingers.put("touchStart", place(page, "stream 7", 0.25))
    fingers.put("touchEnd")
    expect(page.locator("section.details")).to_contain_text("gemm")
    assert window(page) == (0, 100 * US)


def test_a_long_press_measures(touched):
    page, fingers = touched
    at = lambda share: place(page, "stream 7", share)
    fingers.drag((at(0.2), at(0.5)), hold=700)
    page.locator(".range-drawer").wait_for()
    measured = page.locator("section.measure")
    expect(measured).to_contain_text("30.0 us")
    assert window(page) == (0, 100 * US)
    fingers.drag((at(0.3), at(0.2)))  # without the press it measures nothing
    expect(measured).to_contain_text("30.0 us")


def test_tables_and_drawers_scroll_natively(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=tables&table=kernels", has_touch=True)
    grid = page.locator(".grid")
    grid.wait_for()
    assert grid.evaluate("each => getComputedStyle(each).touchAction") == "manipulation"
    box = grid.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] - 40)
    Fingers(page).drag((middle, (middle[0], middle[1] - 200)))
    assert reaches(lambda: grid.evaluate("each => each.scrollTop"), lambda top: top > 100)
    settled(page)
    assert "page=tables" in page.url  # no row was opened


def test_two_fingers_zoom_the_heat_map_and_one_scrolls(page_of):
    page = page_of("gpu", fragment="rank=2&jobstep=10", has_touch=True)
    part = page.get_by_role("group", name="Part of the heat map").get_by_role("status")
    said = page.locator("#heat-readout")
    canvas, fingers = page.locator(".heat canvas"), Fingers(page)
    at = lambda x, y: (canvas.bounding_box()["x"] + x, canvas.bounding_box()["y"] + y)
    width, height = canvas.bounding_box()["width"], canvas.bounding_box()["height"]
    expect(part).to_have_text("8 ranks, 20 steps")
    selected = said.inner_text()
    left, right, y = 0.45 * width, 0.55 * width, 0.4 * height
    fingers.drag((at(left, y), at(left - 0.05 * width, y)), (at(right, y), at(right + 0.05 * width, y)))
    zoomed = reaches(part.inner_text, lambda text: text.startswith("4 of 8 ranks; steps"))
    first, last = (int(word) for word in zoomed.split("steps ")[1].split(" to "))
    assert last - first in (8, 9)  # cells are twice as large: 9 or 10 of 20 steps
    assert said.inner_text().removesuffix(" (outside the part shown)") == selected  # a pinch selects no cell
    assert page.evaluate("visualViewport.scale") == 1
    fingers.drag((at(left, y), at(left - 0.1 * width, y)), (at(right, y), at(right - 0.1 * width, y)))
    reaches(part.inner_text, lambda text: text != zoomed and int(text.split("steps ")[1].split(" to ")[0]) > first)
    moved = part.inner_text()
    fingers.drag((at(left, y), at(left, y - 200)))
    reaches(lambda: canvas.evaluate("each => each.closest('.page').scrollTop"), lambda top: top > 100)
    assert part.inner_text() == moved
    x, y = at(left, 4)
    fingers.put("touchStart", (x, max(y, 60)))
    fingers.put("touchEnd")
    reaches(said.inner_text, lambda text: text != selected and "outside" not in text)


def test_the_help_names_gestures(visit, sample_page, is_accessible):
    page = timeline(visit, sample_page, has_touch=True)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_role("row", name="Long press, then drag")).to_contain_text("Measure a time range")
    is_accessible(page)
