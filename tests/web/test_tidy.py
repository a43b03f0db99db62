"""What is not there takes one line, what is shown once is not shown twice, names and numbers can be read at any width, and links and
dialogs lead back to where they came from."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from waiting import reaches, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TRANSFORMER = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
COUNTERS = FIXTURES / "ncu/transformer.raw.csv.gz"
BASE, NEW = (FIXTURES / f"nsys/mfu_2gpu_{when}.sqlite.zst" for when in ("before", "after"))
PHONE = {"width": 390, "height": 844}
# Numbers that are on another line than their units.
BROKEN = r"""() => {
  const found = [], number = /[+−-]?\d[\d.,]* ?(?:%|ns|us|ms|s|W|J|[kMGT]?(?:i?B|Hz|FLOP)(?:\/s)?)(?![\w])/g;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest(".spoken")) continue;
    for (const match of node.data.matchAll(number)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = [...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top));
      if (new Set(tops).size > 1) found.push(node.data);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def compared(program, tmp_path_factory):
    out = tmp_path_factory.mktemp("compared") / "page.html"
    assert program.run("export", "html", NEW, "--base", BASE, "-o", out).status == 0
    return out


def test_every_picture_with_colours_of_kinds_has_their_legend(visit, exported, compared):
    page = visit(exported(TRANSFORMER), "page=charts")
    legends = lambda chart: page.locator(f"#{chart} .kinds li")
    expect(legends("durations").first).to_be_visible()
    page.get_by_label("width").select_option("device")
    expect(legends("flame").first).to_be_visible()
    assert legends("flame").all_inner_texts() == legends("durations").all_inner_texts() == legends("share").all_inner_texts()
    page.get_by_label("width").select_option("host")
    expect(legends("flame")).to_have_count(0)
    page = visit(compared)
    expect(page.locator(".timelines .kinds")).to_contain_text("communication")


def test_tables_are_in_groups_and_those_without_rows_are_one_line(visit, exported, program):
    page = visit(exported(TRANSFORMER), "page=tables")
    tables = page.get_by_role("navigation", name="Tables")
    help_text = program.run("report", "--help").stdout.decode()
    for group in tables.locator("section").all():
        heading = group.get_attribute("aria-label")
        assert heading in help_text
        assert all(int(count.replace(",", "")) > 0 for count in group.locator("small").all_inner_texts())
    expect(tables.get_by_role("region", name="Memory").get_by_role("button").first).to_contain_text("memory")
    expect(tables.get_by_role("button", name="collectives", exact=True)).to_be_hidden()
    tables.get_by_text(re.compile(r"^\d+ tables without rows$")).click()
    tables.get_by_role("button", name="collectives", exact=True).click()
    expect(page.get_by_role("heading", name="collectives", level=1)).to_be_visible()
    expect(tables.get_by_role("button", name="collectives", exact=True)).to_be_visible()


def test_a_chart_without_data_is_one_line_after_the_others(visit, exported):
    page = visit(exported(TRANSFORMER), "page=charts")
    page.wait_for_selector("#memory svg")
    missing = page.locator(".chart-section.missing")
    expect(missing.first).to_be_visible()
    lowest = max(box.bounding_box()["y"] for box in page.locator(".chart-section:not(.missing)").all())
    for chart in missing.all():
        box = chart.bounding_box()
        assert box["height"] < 40 and box["y"] > lowest


def test_flat_curves_are_sentences(visit, exported):
    page = visit(exported(COUNTERS), "page=kernels")
    curves = page.get_by_role("region", name="Occupancy curves")
    expect(curves.locator(".flat")).to_have_count(2)
    expect(curves.locator(".flat").first).to_have_text("Registers: 18.8 % with every value that fits; the launch has 168 registers.")
    expect(curves.locator("svg path.curve")).to_have_count(1)


def test_nothing_is_said_twice(visit, exported, compared):
    page = visit(exported(COUNTERS), "page=kernels")
    name = page.locator(".kernel h1").inner_text().split(" ", 1)[1]
    assert page.locator(".kernel > header").inner_text().count(name) == 1
    page = visit(exported(TRANSFORMER), "page=timeline")
    expect(page.get_by_role("region", name="Causes of idle time")).to_be_visible()
    page = visit(exported(TRANSFORMER), "page=timeline&sel=kernel:500")
    wait_for_details(page)
    expect(page.get_by_role("region", name="Causes of idle time")).to_have_count(0)
    assert page.locator("section.details th").all_inner_texts().count("duration") == 1
    expect(page.locator("section.details tr:has(th:text-is('duration')) td")).to_have_text("160 us = 160,447 ns")
    page = visit(compared)
    assert page.get_by_role("region", name="Verdict").inner_text().count("+32.") == 1


def test_a_neighbour_of_the_same_name_has_its_launch_shape_beside_it(visit, exported):
    page = visit(exported(TRANSFORMER), "page=timeline&sel=kernel:500")
    wait_for_details(page)
    expect(page.locator(".related")).to_contain_text("320, 512; gap 1.18 us")
    page = visit(exported(COUNTERS), "page=kernels")
    shapes = page.get_by_role("navigation", name="Kernels with counters").locator("button > small").filter(has_text="× 128")
    expect(shapes).to_have_count(5)
    assert len(set(shapes.all_inner_texts())) == 5


def test_numbers_stay_with_their_units_on_a_phone(visit, exported, compared):
    for path in (exported(TRANSFORMER), exported(INPUT_BOUND), compared):
        page = visit(path, viewport=PHONE)
        for name in page.get_by_role("navigation", name="Pages").get_by_role("button").all_inner_texts():
            page.get_by_role("button", name=name, exact=True).click()
            page.wait_for_selector("main :is(h1, h2)")
            reaches(lambda: page.evaluate(BROKEN), [])
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_both_timelines_of_a_comparison_are_seen_in_a_window_of_900_pixels(visit, compared):
    for width in (900, 1440):
        page = visit(compared, viewport={"width": width, "height": 900})
        page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
        for side in page.locator(".timelines .side").all():
            box = side.bounding_box()
            assert box["y"] + box["height"] <= 900


def test_the_focus_is_somewhere_after_the_palette(visit, exported):
    page = visit(exported(TRANSFORMER), "page=tables")
    where = lambda: page.evaluate("[document.activeElement.tagName, document.activeElement.textContent]")
    button = page.locator(".list button").first
    button.focus()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("charts")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chart-list")
    reaches(lambda: where()[0], "MAIN")
    page.keyboard.press("Control+k")
    page.keyboard.type("timeline")
    page.keyboard.press("Enter")
    page.wait_for_selector("canvas[data-complete]")
    reaches(lambda: where()[0], lambda tag: tag in ("MAIN", "CANVAS"))


def test_a_dialog_opens_right_after_another_was_closed(visit, exported):
    page = visit(exported(TRANSFORMER), "page=tables")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog")).to_be_visible()
    for key in ("Escape", "Enter"):
        stays = page.evaluate(
            """async (key) => {
                const press = (options) =>
                    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...options }));
                const before = document.querySelector("dialog");
                press({ key });
                await Promise.resolve();
                press({ key: "k", ctrlKey: true });
                for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
                const dialog = document.querySelector("dialog");
                return dialog !== before && dialog.open && document.activeElement.tagName;
            }""",
            key,
        )
        assert stays == "INPUT", key


def test_names_that_cannot_be_seen_are_written_out(visit, exported, tmp_path):
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10.0 * i, "dur": 5.0, "args": {"stream": 7, "device": 0, "correlation": i}}
        for i, name in enumerate(["safe\u202egnp.kernel", " ", "plain"])
    ]
    recording = tmp_path / "names.json"
    recording.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}))
    page = visit(exported(recording), "page=tables&table=kernels")
    expect(page.locator(".grid tbody")).to_contain_text("safe\\u202egnp.kernel")
    expect(page.locator(".grid tbody")).to_contain_text("(no name)")
    page = visit(exported(recording), "page=timeline&sel=kernel:0")
    expect(page.locator("section.details .full")).to_have_text("safe\\u202egnp.kernel")


def test_a_link_is_copied_with_one_button_and_opens_what_was_shown(visit, exported):
    page = visit(exported(TRANSFORMER), "page=timeline&sel=kernel:500", permissions=["clipboard-read", "clipboard-write"])
    wait_for_details(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    address, fragment = link.split("#")
    assert address == exported(TRANSFORMER).resolve().as_uri() and "sel=kernel:500" in fragment
    page = visit(exported(TRANSFORMER), fragment)
    wait_for_details(page)
    expect(page.locator("section.details")).to_contain_text("160,447 ns")


def test_a_link_opened_elsewhere_offers_to_choose_the_file(new_page, exported, viewer_built, program, tmp_path):
    fragment = f"page=timeline&sel=kernel:500&of={quote(TRANSFORMER.name)}"
    empty = Path(__file__).resolve().parents[2] / "web" / "dist" / "page.html"
    for path, why in ((exported(INPUT_BOUND), "This link is about"), (empty, "This page contains no recording")):
        page = new_page(offline=True)
        page.goto(f"{path.resolve().as_uri()}#{fragment}")
        expect(page.locator(".choose-file")).to_contain_text(why)
        wrong = tmp_path / "wrong.html"
        wrong.write_text("<p>nothing")
        page.get_by_label("Open a page of the recording").set_input_files(wrong)
        expect(page.get_by_role("status")).to_contain_text("contains no recording")
        page.get_by_label("Open a page of the recording").set_input_files(exported(TRANSFORMER))
        wait_for_details(page)
        expect(page.locator("section.details")).to_contain_text("160,447 ns")
    page = new_page(offline=True)
    page.goto(f"{exported(INPUT_BOUND).resolve().as_uri()}#{fragment}")
    page.get_by_role("button", name=f"Show {INPUT_BOUND.name}").click()
    expect(page.locator("header.bar .source")).to_have_text(INPUT_BOUND.name)
