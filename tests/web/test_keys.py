"""Keys of the page, without a pointer: search, help, the palette, and selecting from a cold start."""

import re

import pytest
from conftest import ROOT, WEB
from drawn_sample import timeline
from waiting import reaches, window

expect = pytest.importorskip("playwright.sync_api").expect

def search(page):
    return page.get_by_role("searchbox", name="Search events")


def start_is(page, start):
    expect(page.locator("section.details")).to_contain_text(start)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_matches_are_stepped_through_while_the_search_keeps_its_text(visit, sample_page):
    page = timeline(visit, sample_page)
    press(page, "/")
    page.keyboard.type("gemm")
    expect(page.locator(".search [role=status]")).to_have_text("2 events, 1 name")
    press(page, "Enter")
    start_is(page, "20.000 us")
    press(page, "n")
    start_is(page, "90.000 us")
    press(page, "Shift+N")
    start_is(page, "20.000 us")
    expect(search(page)).to_have_value("gemm")
    before = window(page)
    press(page, "w")
    after = window(page)
    assert after[1] - after[0] < before[1] - before[0]
    expect(search(page)).to_have_value("gemm")


def test_escape_closes_step_by_step(visit, sample_page):
    page = timeline(visit, sample_page)
    press(page, "/")
    page.keyboard.type("relu")
    expect(page.locator(".matches li")).not_to_have_count(0)
    press(page, "Enter")
    start_is(page, "50.000 us")
    press(page, "/")
    expect(search(page)).to_be_focused()
    press(page, "Escape")
    expect(search(page)).not_to_be_focused()
    expect(search(page)).to_have_value("relu")
    expect(page.locator(".matches")).to_have_count(0)
    press(page, "Escape")
    expect(search(page)).to_have_value("")
    start_is(page, "50.000 us")
    press(page, "Escape")
    expect(page.locator("section.details")).to_have_count(0)


def test_arrows_select_from_a_cold_start_and_the_selection_is_read_out(visit, sample_page):
    page = timeline(visit, sample_page)
    spoken = page.locator(".panel > .spoken[role=status]")
    expect(spoken).to_be_empty()
    press(page, "ArrowRight")
    expect(spoken).to_have_text("step 1, range, 90.0 us, starts at 5.00 us, on main")
    press(page, "ArrowDown")
    expect(spoken).to_have_text(re.compile("^aten::mm, operator, 8.00 us, starts at 8.000 us, on main"))
    press(page, "ArrowDown", "ArrowDown")  # the call; then the next track
    expect(spoken).to_have_text(re.compile("idle time.* on idle"))
    press(page, "ArrowDown")
    expect(spoken).to_have_text(re.compile("on stream 7"))
    press(page, "ArrowUp")
    expect(spoken).to_have_text(re.compile("on idle"))


def test_a_question_mark_shows_all_keys(visit, sample_page, is_accessible):
    page = timeline(visit, sample_page, "sel=kernel:1")
    expect(page.locator("section.details")).to_have_count(1)
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    for line in ("Next / previous match", "Show the whole recording", "Ctrl+K", "Zoom to the box"):
        expect(dialog).to_contain_text(line)
    is_accessible(page)
    before = window(page)
    press(page, "w")
    assert window(page) == before
    press(page, "Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("section.details")).to_have_count(1)
    press(page, "w")
    assert window(page) != before


@pytest.mark.parametrize(
    ("typed", "choice", "arrives"),
    [
        ("charts", "Charts page", ("nav[aria-label=Pages] [aria-current=page]", "Charts")),
        ("stream 13", "stream 13 (GPU 0: drawn) track", ("li.name.chosen", "stream 13")),
        ("rel", "relu kernel", ("section.details .full", "relu")),
    ],
)
def test_the_palette_leads_to_pages_tracks_and_kernels(visit, sample_page, is_accessible, typed, choice, arrives):
    page = visit(sample_page("drawn"), "fold=3")
    press(page, "Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(typed)
    expect(dialog.locator("[aria-selected=true]")).to_have_text(choice)
    is_accessible(page)
    press(page, "Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator(arrives[0])).to_contain_text(arrives[1])
    page.go_back()
    expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text("Overview")


def test_the_palette_leads_to_tables(visit, exported):
    page = visit(exported(ROOT / "examples" / "input_bound.json.gz"))
    press(page, "Control+k")
    page.keyboard.type("memc")
    expect(page.locator(".destinations [aria-selected=true]")).to_have_text(re.compile("^memcpy"))
    press(page, "ArrowDown", "ArrowUp", "Enter")
    expect(page.locator("section.table h1")).to_have_text("memcpy")
    press(page, "/")
    expect(page.get_by_label("Filter rows")).to_be_focused()
    press(page, "Control+k", "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_buttons_of_tracks_are_one_tab_stop(visit, sample_page):
    page = timeline(visit, sample_page)
    label = lambda: page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.get_by_label("Filter tracks by name").focus()
    press(page, "Tab")  # no tracks are pinned
    reaches(label, "Fold train.py 4711")
    press(page, "ArrowRight")
    reaches(label, "Move train.py 4711 up")
    press(page, "ArrowDown", "ArrowDown")
    reaches(label, "Move GPU 0: drawn up")
    press(page, "End")
    reaches(label, "Hide GPU 0: drawn")
    press(page, "Tab")
    reaches(lambda: page.evaluate("document.activeElement.tagName"), "CANVAS")
    press(page, "Shift+Tab")
    reaches(label, "Hide GPU 0: drawn")
    press(page, "ArrowDown", "Enter")
    expect(page.get_by_role("button", name="Show 1 hidden track")).to_have_count(1)


def test_labels_contain_the_visible_text(visit, sample_page, viewer_built):
    page = timeline(visit, sample_page, "sel=kernel:1&m=0-50000&find=relu")
    expect(page.locator("section.measure table")).not_to_have_count(0)
    page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run(document, {runOnly: ['label-content-name-mismatch']})")["violations"]
    assert [node["html"] for each in found for node in each["nodes"]] == []
    for field in page.locator("input[placeholder]").all():
        said, shown = field.get_attribute("aria-label"), field.get_attribute("placeholder")
        assert said.startswith(shown), (said, shown)


def test_a_search_is_limited_and_says_by_what(visit, sample_page):
    page = timeline(visit, sample_page)
    status = page.locator(".search [role=status]")
    press(page, "/")
    page.keyboard.type("stream:7 dur>=10us")
    expect(status).to_have_text("3 events, 2 names (on stream 7, dur>=10us)")
    press(page, "Enter")
    start_is(page, "20.000 us")
    press(page, "n", "n")
    start_is(page, "90.000 us")
    search(page).fill("dur>10")
    expect(status).to_have_text("cannot read 'dur>10': expected a duration with a unit, such as dur>500us")
    search(page).fill("kernel:")
    expect(status).to_have_text("3 events, 2 names (kernels)")
    search(page).fill("krnl:gemm")
    expect(status).to_contain_text("No matches; filters are kernel: op:")


def test_g_steps_through_the_gaps_by_their_length(visit, exported, program):
    recording = ROOT / "tests/fixtures/nsys/h100_2gpu_1s.sqlite.zst"
    gaps = program.report(recording, "gaps")["gaps"].rows
    wanted = [(gap["device"], gap["start_ns"], gap["dur_ns"]) for gap in gaps]
    assert [length for *_, length in wanted] == sorted((length for *_, length in wanted), reverse=True)
    page = visit(exported(recording), "page=tables")
    cell = lambda name: page.locator(f"section.details tr:has(th:text-is('{name}')) td").get_attribute("title")
    number = lambda name: int(re.sub(r"\D", "", cell(name).split("=")[-1]))
    shown = lambda: (number("device"), number("start"), number("duration"))
    for key, at in [("g", 0), ("g", 1), ("g", 2), ("Shift+G", 1), ("Shift+G", 0), ("Shift+G", len(wanted) - 1), ("g", 0)]:
        press(page, key)
        reaches(shown, wanted[at])


def test_l_leads_from_work_to_its_launch_and_back(visit, sample_page):
    page = timeline(visit, sample_page, "sel=kernel:1")
    name = lambda: page.locator("section.details .full").inner_text()
    kernel = reaches(name, lambda text: text != "")
    expect(page.locator("section.details dt").first).to_have_text("launched by")
    press(page, "l")
    reaches(name, lambda text: text != kernel and "Launch" in text)
    press(page, "l")
    reaches(name, kernel)


def test_digits_open_pages_and_are_typed_in_fields(visit, sample_page):
    page = visit(sample_page("drawn"))
    buttons = page.get_by_role("navigation", name="Pages").get_by_role("button")
    for at, label in list(enumerate(buttons.all_inner_texts()))[::-1]:
        press(page, str(at + 1))
        expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text(label)
    press(page, "9")
    press(page, "/")
    page.keyboard.type("2")
    expect(search(page)).to_have_value("2")
    expect(page.locator("nav[aria-label=Pages] [aria-current=page]")).to_have_text("Timeline")


def test_a_slash_on_another_page_reaches_the_search_before_the_next_key(visit, sample_page):
    """What is typed at once would open pages otherwise. Four turns of the microtask queue are less than a frame."""
    page = visit(sample_page("drawn"), "page=overview")
    page.locator("main :is(h1, h2)").first.wait_for()
    focused = page.evaluate(
        """async () => {
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
            for (let i = 0; i < 4; ++i) await Promise.resolve();
            return document.activeElement.type;
        }"""
    )
    assert focused == "search"
