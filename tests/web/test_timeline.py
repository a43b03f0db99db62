"""The timeline over a document of a dozen events, drawn in web/test/sample_documents.ts: 100 us, one thread, one device.

    main       |step 1 from 5 to 95; aten::mm 8-16; calls at 10, 44, 80|
    busy       |20-40, 50-60, 90-100|          idle: input pipeline 0-20, 60-80; launch 40-50, 80-90
    stream 7   |gemm 20-30, relu 50-60, gemm 90-100|    stream 13 |HtoD 25-40|
"""

import re

import pytest
from drawn_sample import US, timeline
from waiting import reaches, settled, wait_for_details, window

expect = pytest.importorskip("playwright.sync_api").expect

def place(page, track, time_ns, view=(0, 100 * US)):
    """Return the point on the canvas of a time in a track's first row."""
    row = page.locator("li.name", has=page.get_by_text(track, exact=True)).bounding_box()
    canvas = page.locator(".lanes canvas").bounding_box()
    return canvas["x"] + (time_ns - view[0]) / (view[1] - view[0]) * canvas["width"], row["y"] + 9


def click(page, track, time_ns):
    page.mouse.click(*place(page, track, time_ns))


def colour(page, x, y):
    return page.evaluate(
        """([x, y]) => {
      const canvas = document.querySelector('.lanes canvas');
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / box.width;
      return [...canvas.getContext('2d').getImageData((x - box.x) * scale, (y - box.y) * scale, 1, 1).data].slice(0, 3);
    }""",
        [x, y],
    )


def rows(page, section):
    """Return the lines of a table of the panel: name -> its other cells."""
    lines = page.locator(f"section.{section} tr").all()
    return {line.locator("th").inner_text(): [cell.inner_text() for cell in line.locator("td").all()] for line in lines}


def test_busy_time_is_drawn_and_idle_time_is_not(visit, sample_page):
    page = timeline(visit, sample_page)
    page.mouse.move(5, 5)
    white = [255, 255, 255]
    for time, busy in [(10, False), (30, True), (45, False), (55, True), (70, False), (95, True)]:
        point, (x, y) = place(page, "busy", time * US), place(page, "idle", time * US)
        reaches(lambda point=point: colour(page, *point) != white, busy)
        reaches(lambda x=x, y=y: colour(page, x, y + 6) != white, not busy)


def test_a_measured_range_shows_busy_and_idle_time(visit, sample_page):
    page = timeline(visit, sample_page, "m=22000-85000")
    page.wait_for_selector("section.measure table[data-device]")
    found = rows(page, "measure")
    assert found["duration"][0] == "63.0 us"
    assert found["busy"] == ["28.0 us", "44.4 %"]
    assert [cells for name, cells in found.items() if name.endswith("input pipeline")] == [["20.0 us", "31.7 %"]]
    assert [cells for name, cells in found.items() if name.endswith("launch")] == [["15.0 us", "23.8 %"]]
    assert (found["kernels"][0], found["copies"][0], found["API calls"][0]) == ("1", "1", "2")


def test_a_drag_on_the_ruler_measures(visit, sample_page):
    page = timeline(visit, sample_page)
    canvas = page.locator(".lanes canvas").bounding_box()
    y = canvas["y"] + 40
    page.mouse.move(canvas["x"] + 0.2 * canvas["width"], y)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 0.35 * canvas["width"], y)
    page.mouse.move(canvas["x"] + 0.4 * canvas["width"], y)
    page.mouse.up()
    page.wait_for_selector("section.measure table[data-device]")
    begin, end = map(int, re.search(r"m=(\d+)-(\d+)", settled(page)).groups())
    assert abs(begin - 20 * US) < 200 and abs(end - 40 * US) < 200
    page.get_by_role("region", name="Measured range").get_by_role("button", name="Clear").click()
    expect(page.locator("section.measure")).to_have_count(0)


def test_a_click_selects_and_links_lead_to_the_launch_and_back(visit, sample_page):
    page = timeline(visit, sample_page)
    click(page, "stream 7", 55 * US)
    page.wait_for_selector("dl.related")
    assert page.locator("section.details .full").inner_text() == "relu"
    assert rows(page, "details")["start"] == ["50.000 us"]
    page.get_by_role("button", name="cudaLaunchKernel").click()
    page.wait_for_selector("dl.related:has-text('submitted')")
    assert rows(page, "details")["start"] == ["44.000 us"]
    page.get_by_role("button", name="relu").click()
    page.wait_for_selector("dl.related:has-text('launched by')")
    assert rows(page, "details")["start"] == ["50.000 us"]


def test_absent_fields_are_not_shown_as_0(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    page.wait_for_selector("dl.related")
    wait_for_details(page)
    assert "grid x" not in rows(page, "details")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("section.details td:text('90.000 us')")
    reaches(lambda: rows(page, "details")["grid x"], ["64"])


def test_arrows_go_from_event_to_event(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    page.wait_for_selector("dl.related")
    for key, start in [("ArrowLeft", "20.000 us"), ("ArrowRight", "50.000 us"), ("ArrowRight", "90.000 us")]:
        page.keyboard.press(key)
        page.wait_for_selector(f"section.details td:text('{start}')")
    page.keyboard.press("Escape")
    expect(page.locator("section.details")).to_have_count(0)


def test_a_gap_says_its_cause(visit, sample_page):
    page = timeline(visit, sample_page)
    click(page, "idle", 70 * US)
    page.wait_for_selector("section.details")
    assert page.locator("section.details .full").inner_text() == "input pipeline"
    assert rows(page, "details")["duration"] == ["30.0 us = 30,000 ns"]


def test_search_walks_through_matches(visit, sample_page):
    page = timeline(visit, sample_page)
    page.keyboard.press("/")
    page.keyboard.type("/^void gemm/")
    expect(page.locator(".search [role=status]")).to_have_text("2 events, 1 name")
    for key, start in [("Enter", "20.000 us"), ("Enter", "90.000 us"), ("Shift+Enter", "20.000 us")]:
        page.keyboard.press(key)
        page.wait_for_selector(f"section.details td:text('{start}')")
        expect(page.locator(".search [role=status]")).to_have_text(f"{1 + (start == '90.000 us')} of 2 events, 1 name")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".search [role=status]")).to_have_text("2 of 2 events, 1 name; continued at the end")


def test_matches_are_marked_and_the_name_that_begins_like_the_text_comes_first(visit, sample_page):
    page = timeline(visit, sample_page)
    page.keyboard.press("/")
    page.keyboard.type("mm")
    items = page.locator(".matches .name-text")
    expect(items.first).to_contain_text("aten::mm")
    expect(items.first.locator("mark")).to_have_text("mm")


def test_a_name_chosen_from_the_list_is_shown_without_the_list(visit, sample_page):
    page = timeline(visit, sample_page)
    page.keyboard.press("/")
    page.keyboard.type("gemm")
    page.locator(".matches li:not(.hide) button").first.click()
    page.wait_for_selector("section.details td:text('20.000 us')")
    expect(page.locator(".matches")).to_have_count(0)
    expect(page.locator(".lanes canvas")).to_be_focused()


def test_tracks_fold_pin_hide_filter_and_move(visit, sample_page):
    page = timeline(visit, sample_page)
    shows = lambda where, names: expect(page.locator(f"{where} li.name .text")).to_have_text(names)
    press = lambda name: (page.get_by_role("button", name=name).focus(), page.keyboard.press("Enter"))
    above, device = ["train.py 4711", "main"], ["GPU 0: drawn", "busy", "idle", "stream 7", "stream 13", "power"]
    shows(".scroller", above + device)
    press("Fold GPU 0: drawn")
    shows(".scroller", above + device[:1])
    press("Unfold GPU 0: drawn")
    press("Pin power to the top")
    shows(".pinned", ["power"])
    shows(".scroller", above + device[:-1])
    press("Hide busy")
    shows(".scroller", [*above, "GPU 0: drawn", "idle", "stream 7", "stream 13"])
    press("Show 1 hidden track")
    press("Move stream 13 up")
    shows(".scroller", [*above, "GPU 0: drawn", "busy", "idle", "stream 13", "stream 7"])
    page.get_by_label("Filter tracks by name").fill("stream 7")
    shows(".scroller", ["GPU 0: drawn", "stream 7"])


def test_zoom_stays_at_the_pointer_down_to_nanoseconds(visit, sample_page):
    page = timeline(visit, sample_page)
    canvas = page.locator(".lanes canvas").bounding_box()
    page.mouse.move(canvas["x"] + round(0.25 * canvas["width"]), canvas["y"] + 300)
    pixel = 100 * US / canvas["width"]
    page.keyboard.down("Control")
    for _ in range(20):
        page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    begin, end = window(page)
    assert end - begin <= 12 and abs(begin - 25 * US) <= pixel
    page.keyboard.press("0")
    assert window(page) == (0, 100 * US)


def test_keys_zoom_and_move(visit, sample_page):
    page = timeline(visit, sample_page)
    page.keyboard.press("w")
    begin, end = window(page)
    assert end - begin < 100 * US
    page.keyboard.press("d")
    moved = window(page)
    assert moved[0] > begin and abs((moved[1] - moved[0]) - (end - begin)) < 50
    page.keyboard.press("s")
    assert window(page)[1] - window(page)[0] > end - begin


def test_a_late_frame_does_not_zoom_the_other_way(visit, sample_page):
    page = timeline(visit, sample_page)
    page.keyboard.press("w")
    begin, end = window(page)
    page.evaluate("""async () => {
      const key = (type) => dispatchEvent(new KeyboardEvent(type, { key: 'w' }));
      const now = performance.now.bind(performance);
      performance.now = () => now() + 200; // the next frames began long before
      key('keydown');
      performance.now = now;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      key('keyup');
    }""")
    after = window(page)
    assert begin < after[0] < after[1] < end


def test_an_address_restores_the_view(visit, sample_page):
    page = timeline(visit, sample_page)
    click(page, "stream 7", 55 * US)
    page.wait_for_selector("dl.related")
    page.keyboard.press("f")
    page.keyboard.press("m")
    page.get_by_role("button", name="Fold main").click()
    at = window(page)
    fragment = page.url.split("#")[1]
    again = timeline(visit, sample_page, fragment)
    again.wait_for_selector("dl.related")
    assert window(again) == at
    assert again.url.split("#")[1] == fragment
    expect(again.locator("section.details .full")).to_have_text("relu")
    reaches(lambda: rows(again, "measure")["duration"][0], "10.0 us")
    expect(again.get_by_role("button", name="Unfold main")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_system_and_the_switch(visit, sample_page, scheme):
    page = timeline(visit, sample_page, color_scheme=scheme)
    ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = "rgb(255, 255, 255)"
    reaches(lambda: ground() == light, scheme == "light")
    page.locator("button.theme").click()
    reaches(lambda: ground() == light, scheme != "light")
    canvas = page.locator(".lanes canvas").bounding_box()
    reaches(lambda: colour(page, canvas["x"] + 5, canvas["y"] + 600) == [255, 255, 255], scheme != "light")


@pytest.mark.parametrize("chosen", [False, True])
def test_printing_uses_the_light_theme(visit, sample_page, chosen):
    page = timeline(visit, sample_page, color_scheme="light" if chosen else "dark")
    if chosen:
        page.locator("button.theme").click()
    look = """() => {
      const canvas = document.querySelector('.lanes canvas');
      const drawn = canvas.getContext('2d').getImageData(5, canvas.height - 5, 1, 1).data;
      return [getComputedStyle(document.body).backgroundColor, `rgb(${[...drawn].slice(0, 3).join(', ')})`];
    }"""
    page.evaluate(f"addEventListener('beforeprint', () => (window.printed = ({look})()))")
    page.pdf()
    reaches(lambda: page.evaluate("window.printed"), ["rgb(255, 255, 255)"] * 2)
    page.wait_for_function(f"new Set([...({look})(), 'rgb(20, 23, 28)']).size === 1")


def test_hostile_names_are_text(visit, sample_page):
    page = visit(sample_page("hostile"))
    for name in ("Timeline", "Tables", "Charts", "Overview", "Timeline"):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_selector(f"main.{name.lower()} > :not(:text('Reading the report'))")
    page.wait_for_selector("canvas[data-complete]")
    box = page.locator(".lanes canvas").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.click(box["x"] + 100, box["y"] + 60)
    page.wait_for_selector("section.details .full")
    page.keyboard.press("/")
    page.keyboard.type("script")
    page.wait_for_selector(".matches li")
    assert "<script>" in page.locator("section.details .full").inner_text()
    assert page.title() != "owned"
    assert page.locator("img").count() == 0


def test_the_policy_lets_nothing_else_run(visit, sample_page):
    page = timeline(visit, sample_page, expected="Content Security Policy")
    page.evaluate("""() => {
      window.ran = [];
      const script = document.createElement('script');
      script.textContent = 'window.ran.push("inline")';
      document.body.append(script);
      const image = document.createElement('div');
      image.innerHTML = '<img src="data:," onerror="window.ran.push(1)">';
      document.body.append(image);
      addEventListener('securitypolicyviolation', (event) => window.ran.push(event.violatedDirective));
    }""")
    page.wait_for_timeout(200)
    ran = page.evaluate("window.ran")
    assert "inline" not in ran and 1 not in ran


def test_too_many_matches_to_mark_are_reported(visit, sample_page):
    page = visit(sample_page("synthetic"), "page=timeline")  # of 100,000 events
    page.wait_for_selector("canvas[data-complete]")
    page.keyboard.press("/")
    page.keyboard.type("e")
    expect(page.locator(".mark-limit")).to_have_text(re.compile(r"[5-9]\d,\d{3} .*50,000"))
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("Escape")  # clears the search
    expect(page.locator(".mark-limit")).to_be_empty()


def test_a_link_to_an_event_that_the_recording_lacks_shows_an_error(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:99")
    expect(page.locator(".problem")).to_contain_text("99 of kernel")


def test_a_filter_or_search_without_a_match_says_so(visit, sample_page):
    page = timeline(visit, sample_page)
    page.get_by_label("Filter tracks by name").fill("nothing is called this")
    expect(page.locator(".scroller")).to_contain_text("No tracks")
    page.get_by_role("searchbox", name="Search").fill("nothing is called this")
    expect(page.locator(".search [role=status]")).to_contain_text("No matches")


def test_the_critical_path_is_marked_on_request(visit, sample_page):
    page = timeline(visit, sample_page)
    row, inside = page.locator("li.name", has=page.get_by_text("stream 7", exact=True)).bounding_box(), 16  # css pixels; the band is at the bottom
    point = lambda time: (place(page, "stream 7", time * US)[0], row["y"] + inside)
    before = {time: colour(page, *point(time)) for time in (25, 55)}
    page.keyboard.press("c")
    reaches(lambda: colour(page, *point(55)) != before[55], True)
    assert colour(page, *point(25)) == before[25]
    expect(page.get_by_role("button", name="Critical path")).to_have_attribute("aria-pressed", "true")
    reaches(lambda: rows(page, "path")["kernel"], ["20.0 us", "25.0 %"])
    page.mouse.move(*point(55))
    expect(page.locator(".tooltip")).to_contain_text("critical path: kernel, 10.0 us (kernel in all: 25.0 % of the path)")
    page.mouse.move(*place(page, "main", 70 * US))
    expect(page.locator(".tooltip")).to_contain_text("critical path: host code, 20.0 us")
    assert "path=1" in settled(page)
    page.get_by_role("button", name="Critical path").click()
    reaches(lambda: colour(page, *point(55)), before[55])
    expect(page.locator("section.path")).to_have_count(0)


def test_a_document_without_a_critical_path_says_so(visit, sample_page):
    page = visit(sample_page("hostile"), "page=timeline&path=1")
    expect(page.locator("section.path")).to_contain_text("No critical path")
