"""Pictures to keep: every picture and the timeline's view are saved as SVG, with text as text, and as PNG of the same
size; printed pages keep their boxes and clip nothing."""

import base64
import re
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest
from waiting import reaches

expect = pytest.importorskip("playwright.sync_api").expect

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
TRANSFORMER = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
INPUT_BOUND = ROOT / "examples/input_bound.json.gz"
KERNELS = FIXTURES / "ncu/kernels.raw.csv.gz"
SVG = "{http://www.w3.org/2000/svg}"
PAPER = 718  # css pixels across A4 with margins of 1 cm
CHARTS = {
    "#share": "Kernel time by name",
    "#durations": "Kernel durations",
    "#flame": "Flame graph of ranges, operators and API calls",
    "#steps": "Step times",
    "#memory": "Device memory over time",
    "#roofline": "Roofline",
}


def saved(page, section, label):
    """Return the name and the bytes of the file that the menu of a section saves."""
    menu = page.locator(section).locator(".menu.save").first
    menu.locator("summary").click()
    with page.expect_download() as waiting:
        menu.get_by_role("button", name=label).click()
    page.keyboard.press("Escape")
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def texts(svg):
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def self_contained(svg):
    """The picture loads no file and runs no code."""
    for element in svg.iter():
        assert element.tag.removeprefix(SVG) not in ("script", "foreignObject", "style")
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "http" not in value
            assert not name.endswith("href") or value.startswith("data:image/png")


# Width, height and the number of distinct colours of an image.
DECODE = """async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const words = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  return [image.width, image.height, new Set(words).size];
}"""


def both(page, section, title):
    """Save a picture both ways, check what all pictures have, and return the SVG."""
    name, text = saved(page, section, "Save SVG")
    svg = ET.fromstring(text)
    assert name.endswith(".svg") and texts(svg)[0] == title
    self_contained(svg)
    name, png = saved(page, section, "Save PNG")
    width, height, colours = page.evaluate(DECODE, base64.b64encode(png).decode())
    assert name.endswith(".png")
    assert (width, height) == (2 * int(svg.get("width")), 2 * int(svg.get("height")))
    assert colours > 10, "the picture is blank"
    return svg


@pytest.fixture
def charts(visit, exported):
    page = visit(exported(TRANSFORMER), "page=charts")
    page.wait_for_selector("#flame .box")
    page.wait_for_selector("#memory path.curve")
    page.wait_for_selector("#durations rect.bar")
    return page


@pytest.mark.parametrize("section", CHARTS)
def test_every_chart_is_saved_as_drawn(charts, section):
    svg = both(charts, section, CHARTS[section])
    said = texts(svg)
    assert said[1].startswith("transformer-stacks-shapes-memory.json.zst · 0.00 ms to 82.81 ms of 82.81 ms")
    shown = charts.locator(section).locator(".chart text, .treemap span:not(:has(span))").evaluate_all("""(texts) => texts
        .filter((text) => text.getBoundingClientRect().left < (text.closest("button")?.getBoundingClientRect().right ?? Infinity) - 8)
        .map((text) => text.textContent)""")
    assert [text for text in shown if text not in said and not any(cut.endswith("…") and text.startswith(cut[:-1]) for cut in said)] == []
    assert not any("Click" in text for text in said if section != "#flame")


OVERVIEW = {
    "Busy time by GPU": "",
    "Idle time by cause": "share of idle time · ",
    "Top kernels": "share of kernel time · ",
    "Predicted changes": "time of a step, by replaying the recording with something changed · ",
}


@pytest.mark.parametrize("title", OVERVIEW)
def test_pictures_of_the_overview_are_saved_as_shown(visit, exported, title):
    page = visit(exported(INPUT_BOUND), "page=overview")
    section = f"section[aria-label='{title}']"
    page.locator(section).scroll_into_view_if_needed()
    svg = both(page, section, title)
    said = texts(svg)
    assert said[1].startswith(f"input_bound.json.gz · {OVERVIEW[title]}0.0 ms to ")
    amounts = [text for text in page.locator(section).locator(".amount, .strip p span, .axis span, td.gain").all_inner_texts() if text]
    assert len(amounts) > 4 or title == "Busy time by GPU"
    assert {part for text in amounts for part in text.split("\n")} <= set(said)
    assert not any("Show" in text for text in said)
    fills = page.locator(section).locator(".fill, .range .line").evaluate_all("all => all.map(each => each.getBoundingClientRect()).map(box => [box.width, box.height]).filter(([width]) => width > 1)")
    drawn = [(float(rect.get("width")), float(rect.get("height"))) for rect in svg.iter(f"{SVG}rect")]
    for width, height in fills:
        assert any(abs(width - w) < 1 and abs(height - h) < 1 for w, h in drawn)
    if title == "Busy time by GPU":
        assert any(path.get("d") == page.locator(section).locator("svg path").first.get_attribute("d") for path in svg.iter(f"{SVG}path"))


def test_each_timeline_of_a_comparison_is_saved(visit, exported):
    page = visit(exported(TRANSFORMER, "--base", FIXTURES / "kineto/transformer.json.zst"), "page=comparison")
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
    for side, (name, file) in enumerate({"BASE": "transformer.json.zst", "NEW": "transformer-stacks-shapes-memory.json.zst"}.items()):
        svg = both(page, f".timelines .side:nth-of-type({side + 1})", f"Timeline of {name}")
        said = texts(svg)
        assert said[1].startswith(f"{file} · ") and said[1].endswith("times from the start of the recording")
        assert len([path for path in svg.iter(f"{SVG}path") if path.get("shape-rendering") == "crispEdges"]) > 3
        names = [name for name in page.locator(".side").nth(side).locator(".names .text").all_text_contents() if name]
        assert len(set(names) & set(said)) > 1  # those that are not scrolled away
    svg = both(page, "section.attribution", "Attribution of the difference")
    assert texts(svg)[1] == "BASE transformer.json.zst, NEW transformer-stacks-shapes-memory.json.zst · NEW − BASE, time per step and device"
    assert {text for text in page.locator(".attribution .amount").all_inner_texts()} <= set(texts(svg))


def test_a_treemap_keeps_its_boxes(charts):
    svg = both(charts, "#share", CHARTS["#share"])
    boxes = charts.locator("#share .treemap button").evaluate_all("all => all.map(each => each.getBoundingClientRect()).map(box => [box.width, box.height])")
    drawn = [(float(rect.get("width")), float(rect.get("height"))) for rect in svg.iter(f"{SVG}rect")]
    assert len(boxes) > 10
    for width, height in boxes:
        assert any(abs(width - w) < 1 and abs(height - h) < 1 for w, h in drawn)


def test_the_view_of_the_timeline_is_saved_with_its_names(visit, sample_page):
    page = visit(sample_page("drawn"), "page=timeline&t=0-60000&m=20000-40000")
    page.wait_for_selector(".lanes canvas[data-complete]")
    svg = both(page, ".tools", "Timeline")
    said = texts(svg)
    assert said[1] == "drawn.json · 0.00 us to 60.00 us of 100.0 us, times from the start of the recording"
    names = [name for name in page.locator(".names .text").all_text_contents() if name]
    assert len(names) > 4 and set(names) <= set(said)
    assert {"step 1", "aten::mm", "input pipeline", "20.0 us"} <= set(said)  # slices, a cause, the measured range
    assert len(list(svg.iter(f"{SVG}pattern"))) > 0  # causes do not rely on colour
    blue = [path for path in svg.iter(f"{SVG}path") if path.get("shape-rendering") == "crispEdges"]
    assert len(blue) > 3


def test_a_slice_is_where_its_time_is(visit, sample_page):
    """One pixel of the page is an exact time, so the first kernel (20 us to 40 us of 0 to 100 us) has exact edges."""
    page = visit(sample_page("drawn"), "page=timeline&t=0-100000")
    page.wait_for_selector(".lanes canvas[data-complete]")
    width = page.locator(".lanes canvas").bounding_box()["width"]
    svg = ET.fromstring(saved(page, ".tools", "Save SVG")[1])
    runs = [(float(x), float(x) + float(w)) for path in svg.iter(f"{SVG}path") if path.get("shape-rendering") for x, w in re.findall(r"M(\S+) \S+h([\d.]+)v", path.get("d"))]
    assert any(abs(end - width * 0.4) < 0.6 for _, end in runs)
    assert any(abs(start - width * 0.2) < 0.6 for start, _ in runs)


def test_pictures_are_light_on_request(visit, exported):
    page = visit(exported(TRANSFORMER), "page=charts", color_scheme="dark")
    page.wait_for_selector("#share .treemap button")
    ground = lambda: ET.fromstring(saved(page, "#share", "Save SVG")[1]).find(f"{SVG}rect").get("fill")
    assert ground() == "#14171c"
    page.locator("#share .menu.save summary").click()
    page.locator("#share").get_by_label("Light theme").check()
    page.keyboard.press("Escape")
    assert ground() == "#ffffff"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"


def test_heat_map_and_waterfall_are_saved(visit, exported, program, tmp_path):
    job = tmp_path / "job.gpuprof"
    assert program.run("ranks", ROOT / "examples/ranks", "--save", job).status == 0
    page = visit(exported(job), "page=job")
    page.locator("section.heat canvas[data-complete]").wait_for()
    page.locator("section.waterfall canvas[data-complete]").wait_for()
    ranks = {f"rank {rank}" for rank in range(8)}
    heat = both(page, "section.heat", "Ranks and steps")
    assert ranks | {str(step) for step in range(10, 18)} <= set(texts(heat))
    assert len(list(heat.iter(f"{SVG}image"))) == 1
    assert ranks <= set(texts(both(page, "section.waterfall", "Step 11 over ranks")))


def test_pictures_of_a_kernel_name_it(visit, exported):
    page = visit(exported(KERNELS), "page=kernels")
    name = page.locator(".kernel h1").inner_text()
    for section in ("Roofline", "Memory", "Stalls"):
        svg = both(page, f"section[aria-label={section}]", section)
        assert name.split("(")[0].strip() in texts(svg)[1]


def test_the_menu_works_with_the_keyboard_and_is_accessible(visit, exported, is_accessible):
    page = visit(exported(KERNELS), "page=kernels")
    menu = page.locator("section[aria-label=Roofline] .menu.save")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    is_accessible(page)
    menu.get_by_role("button", name="Save SVG").focus()
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename == "kernels.raw Roofline.svg"
    expect(menu.get_by_role("status")).to_have_text("Saved")
    page.keyboard.press("Escape")
    expect(menu.locator("summary")).to_be_focused()
    expect(menu.get_by_role("button", name="Save SVG")).to_be_hidden()


@pytest.mark.parametrize("shown", ["overview", "charts", "timeline"])
def test_nothing_is_clipped_on_paper(visit, exported, shown):
    page = visit(exported(TRANSFORMER), f"page={shown}", color_scheme="dark")
    page.wait_for_selector({"overview": ".answer .bars", "charts": "#flame .box", "timeline": ".lanes canvas[data-complete]"}[shown])
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    beyond = f"[...document.querySelectorAll('main *')].filter(each => each.checkVisibility() && !each.closest('.spoken') && each.getBoundingClientRect().right > {PAPER} + 1).map(each => each.outerHTML.slice(0, 80))"
    reaches(lambda: page.evaluate(beyond), [])
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_boxes_are_printed_without_background_graphics(charts):
    charts.emulate_media(media="print")
    for box in (".treemap button", ".flame .box"):
        style = charts.locator(box).first.evaluate("each => (({printColorAdjust, outlineStyle}) => [printColorAdjust, outlineStyle])(getComputedStyle(each))")
        assert style == ["exact", "solid"]
    plain = charts.pdf(print_background=False)
    assert plain.startswith(b"%PDF") and fills(plain) > 20


def fills(pdf):
    """Count the distinct colours other than greys that a PDF fills areas with."""
    colours = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue
        for red, green, blue in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg", content):
            if len({red, green, blue}) > 1:
                colours.add((red, green, blue))
    return len(colours)
