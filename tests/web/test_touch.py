"""Fingers: on the timeline one pans, two zoom, a tap selects and a long press measures; tables scroll natively."""

from pathlib import Path

import pytest
from drawn_sample import US, timeline
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


def place(page, track, share):
    """Return the point on the canvas at a share of its width, in a track's first row."""
    row = page.locator("li.name", has=page.get_by_text(track, exact=True)).bounding_box()
    canvas = page.locator(".lanes canvas").bounding_box()
    return canvas["x"] + share * canvas["width"], row["y"] + 9


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_help_names_gestures(visit, sample_page, is_accessible, scheme):
    page = timeline(visit, sample_page, has_touch=True, color_scheme=scheme)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_role("row", name="Long press, then drag")).to_contain_text("Measure a time range")
    is_accessible(page)
