"""Back, Forward and reload over the drawn document of test_timeline.py, in a file opened from disk."""

import re

import pytest
from conftest import ROOT
from waiting import reaches, settled, window

expect = pytest.importorskip("playwright.sync_api").expect

US = 1000


def timeline(visit, sample_page, fragment=""):
    page = visit(sample_page("drawn"), f"page=timeline{fragment and '&'}{fragment}")
    page.wait_for_selector("canvas[data-complete]")
    return page


def selected(page):
    return page.locator("section.details .full")


def open_page(page, name):
    page.get_by_role("navigation", name="Pages").get_by_role("button", name=name).click()
    expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text(name)


def test_pages_and_selections_are_entries(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:0")
    expect(selected(page)).to_have_text(re.compile("gemm"))
    page.keyboard.press("ArrowRight")
    expect(selected(page)).to_have_text("relu")
    open_page(page, "Tables")
    page.go_back()
    expect(selected(page)).to_have_text("relu")
    page.go_back()
    expect(selected(page)).to_have_text(re.compile("gemm"))
    page.go_forward()
    expect(selected(page)).to_have_text("relu")
    page.go_forward()
    expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text("Tables")


def test_back_after_a_jump_returns_to_the_former_window(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    page.keyboard.press("w")
    before = window(page)
    page.keyboard.press("d")
    moved = window(page)
    assert moved != before
    page.keyboard.press("f")
    assert window(page) not in (before, moved)
    page.go_back()
    assert window(page) == moved
    page.go_forward()
    page.keyboard.press("0")
    reaches(lambda: window(page), (0, 100 * US))


def test_search_filter_and_highlight_come_back(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    search, tracks = page.get_by_role("searchbox", name="Search"), page.get_by_label("Filter tracks by name")
    page.get_by_role("button", name="Highlight same name").click()
    search.press_sequentially("gemm")
    expect(page.locator(".search [role=status]")).to_have_text("2 events, 1 name")
    page.keyboard.press("Enter")
    tracks.press_sequentially("stream")
    address = settled(page)
    assert "find=gemm" in address and "filter=stream" in address
    page.reload()
    page.wait_for_selector("canvas[data-complete]")
    expect(search).to_have_value("gemm")
    expect(tracks).to_have_value("stream")
    assert settled(page) == address
    page.go_back()
    expect(tracks).to_have_value("")
    expect(search).to_have_value("gemm")
    page.go_back()
    expect(selected(page)).to_have_text("relu")
    expect(search).to_have_value("gemm")
    page.go_back()
    expect(search).to_have_value("")
    assert "names=relu" in settled(page)
    page.go_back()
    assert "names=" not in settled(page)


def test_a_measured_range_is_one_entry_and_tracks_stay_as_they_were(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    page.get_by_role("button", name="Fold GPU 0: drawn").click()
    canvas = page.locator(".lanes canvas").bounding_box()
    y = canvas["y"] + 40
    page.mouse.move(canvas["x"] + 100, y)
    page.mouse.down()
    for x in range(110, 300, 10):
        page.mouse.move(canvas["x"] + x, y)
    page.mouse.up()
    page.wait_for_selector("section.measure table[data-device]")
    address = settled(page)
    open_page(page, "Charts")
    page.go_back()
    page.wait_for_selector("section.measure table[data-device]")
    assert settled(page) == address
    expect(page.get_by_role("button", name="Unfold GPU 0: drawn")).to_have_count(1)
    page.go_back()
    expect(page.locator("section.measure")).to_have_count(0)
    expect(page.get_by_role("button", name="Unfold GPU 0: drawn")).to_have_count(1)


def test_many_steps_in_a_row_end_in_an_address_that_is_right(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:0")
    expect(selected(page)).to_have_count(1)
    for _ in range(150):
        page.keyboard.press("m")
        page.keyboard.press("Escape")
    page.keyboard.press("0")
    assert "m=" not in settled(page) and "sel=" not in page.url


def test_back_returns_to_where_a_page_was_scrolled(visit, exported):
    page = visit(exported(ROOT / "examples" / "input_bound.json.gz"), "page=charts")
    charts = page.locator("article.chart-list")
    page.get_by_role("heading", name="Step").first.wait_for()
    place = lambda: page.evaluate("Math.max(...[...document.querySelectorAll('main, main > *')].map((part) => part.scrollTop))")
    page.get_by_role("heading", name="Step").first.scroll_into_view_if_needed()
    page.mouse.move(640, 400)
    page.mouse.wheel(0, 200)
    reaches(place, lambda top: top > 200)
    settled(page)
    scrolled = place()
    open_page(page, "Tables")
    reaches(place, 0)
    page.go_back()
    expect(charts).to_have_count(1)
    reaches(place, lambda top: abs(top - scrolled) <= 1)
    page.reload()
    reaches(place, lambda top: abs(top - scrolled) <= 1)


def test_a_browser_that_refuses_to_change_the_history_still_goes_back(visit, sample_page):
    page = timeline(visit, sample_page)
    page.add_init_script("history.pushState = history.replaceState = () => { throw new DOMException('refused', 'SecurityError'); }")
    page.reload()
    page.wait_for_selector("canvas[data-complete]")
    page.keyboard.press("w")
    near = window(page)
    open_page(page, "Tables")
    assert "page=tables" in settled(page)
    page.go_back()
    page.wait_for_selector("canvas[data-complete]")
    assert window(page) == near
    page.go_forward()
    expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text("Tables")


def test_the_drawer_and_its_flame_graph_come_back(visit, sample_page):
    page = timeline(visit, sample_page, "m=0-100000")
    drawer = page.locator(".range-drawer")
    first = drawer.locator(".flame .box").first
    page.get_by_role("button", name="Flame graph").click()
    whole = reaches(lambda: first.inner_text(), lambda text: text != "")
    page.get_by_label("Width:").select_option("device")
    box = drawer.locator(".flame .box", has_text="gemm").first
    box.click()
    zoomed = reaches(lambda: first.get_attribute("title").split("\n")[0], lambda name: "gemm" in name)
    page.get_by_label("Search the flame graph").press_sequentially("gem")
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(drawer.locator(".range-body")).to_have_count(0)
    address = settled(page)
    page.reload()
    page.wait_for_selector(".range-drawer[data-answered]")
    expect(drawer.locator(".range-body")).to_have_count(0)
    assert settled(page) == address
    page.go_back()
    expect(page.get_by_label("Search the flame graph")).to_have_value("gem")
    expect(page.get_by_label("Width:")).to_have_value("device")
    reaches(lambda: first.get_attribute("title").split("\n")[0], zoomed)
    page.go_back()
    expect(page.get_by_label("Search the flame graph")).to_have_value("")
    page.go_back()
    reaches(lambda: first.inner_text(), whole)
    expect(page.get_by_label("Width:")).to_have_value("device")
    page.go_back()
    expect(page.get_by_label("Width:")).to_have_value("host")
    page.go_back()
    expect(drawer.locator(".answer-tables")).to_be_visible()


def test_a_zoom_of_the_flame_graph_that_another_range_lacks_shows_its_callers(visit, sample_page):
    page = timeline(visit, sample_page, "m=0-100000&drawer=flame&flame=in:nothing of the kind&flame=time:nothing")
    expect(page.locator(".range-drawer .flame .box").first).to_contain_text("all threads")
    expect(page.get_by_label("Width:")).to_have_value("host")
