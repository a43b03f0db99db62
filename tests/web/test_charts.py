"""The charts of exported pages: they agree with the report, and clicks open the timeline."""

import re
from pathlib import Path

import pytest
from waiting import reaches, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
TRANSFORMER = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
SMALL_KERNELS = FIXTURES / "kineto/small_kernels.json.zst"
TWO_DEVICES = FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"
SAMPLES = FIXTURES / "nvidia-smi/h200-580.csv"
ACCOUNT = FIXTURES / "memory/account"
REPORTED = [INPUT_BOUND, TRANSFORMER, SMALL_KERNELS, TWO_DEVICES]


@pytest.fixture(params=REPORTED, ids=lambda path: path.name.split(".")[0])
def recording(request):
    return request.param


@pytest.fixture
def charts(visit, exported):
    def open_page(recording, fragment=""):
        page = visit(exported(recording), f"page=charts{fragment}")
        page.wait_for_selector("article.chart-list")
        return page

    return open_page


def lines(element):
    return element.locator("title").text_content().split("\n")


def exact(text):
    return int(text.split(" ns")[0].replace(",", ""))


def root_time(page, time):
    """Return the exact host, device or idle time of the whole flame graph."""
    page.wait_for_selector("#flame .box")
    page.get_by_label("width").select_option(time)
    said = reaches(lambda: page.locator("#flame .box").first.get_attribute("title").split("\n")[-1], lambda said: said.startswith(time))
    return exact(said.removeprefix(f"{time} "))


def test_areas_of_kernels_are_their_shares(charts, program, recording):
    said = program.report(recording, "kernels")["kernels"].rows
    page = charts(recording)
    page.wait_for_selector(".treemap button")
    boxes = [(button.get_attribute("title").split("\n"), button.bounding_box()) for button in page.locator(".treemap button").all()]
    drawn = {title[0]: (exact(title[1]), box["width"] * box["height"]) for title, box in boxes}
    room = page.locator(".treemap").bounding_box()
    total = sum(row["total_ns"] for row in said)
    assert sum(ns for ns, _ in drawn.values()) == total
    for row in said[:3]:
        ns, area = drawn[row["name"]]
        assert ns == row["total_ns"]
        assert area / (room["width"] * room["height"]) == pytest.approx(ns / total, rel=0.02)


def test_a_histogram_counts_every_execution(charts, program, recording):
    kernel = program.report(recording, "kernels")["kernels"].rows[1]
    page = charts(recording)
    page.get_by_label("Kernel", exact=True).select_option(kernel["name"])
    about = page.locator("#durations .about")
    about.get_by_text(f"{kernel['count']:,} executions").wait_for()
    assert sum(int(bar.get_attribute("data-count")) for bar in page.locator("#durations rect.bar").all()) == kernel["count"]
    bars = [lines(bar)[1] for bar in page.locator("#durations rect.bar").all()]
    assert int(bars[0].split(" to ")[0].replace(",", "").removesuffix(" ns")) == kernel["min_ns"]
    assert int(bars[-1].split(" to ")[1].replace(",", "").removesuffix(" ns")) == kernel["max_ns"]


def test_a_bar_of_the_histogram_leads_to_an_execution_of_its_length(charts, program):
    kernel = program.report(INPUT_BOUND, "kernels")["kernels"].rows[1]
    page = charts(INPUT_BOUND)
    page.get_by_label("Kernel", exact=True).select_option(kernel["name"])
    page.locator("#durations .about").get_by_text(f"{kernel['count']:,} executions").wait_for()
    bar = page.locator("#durations rect.bar").last
    low, high = (int(part.replace(",", "").removesuffix(" ns")) for part in lines(bar)[1].split(" to "))
    bar.click()
    wait_for_details(page)
    assert page.locator("section.details .full").inner_text() == kernel["name"]
    dur = page.locator("section.details tr:has(th:text-is('duration')) td").get_attribute("title")
    assert low - 1 <= exact(dur) <= high + 1


def test_device_time_of_the_flame_graph_is_all_device_work(charts, program, recording):
    said = program.report(recording, "kernels", "memcpy", "memset")
    work = sum(row["total_ns"] for table in ("kernels", "memcpy", "memset") for row in said[table].rows)
    page = charts(recording)
    assert root_time(page, "device") == work
    expect(page.locator("#flame .about").first).to_contain_text("of device time")


def test_idle_time_of_the_flame_graph_is_that_of_the_devices(charts, program, recording):
    idle = sum(row["total_ns"] for row in program.report(recording, "idle")["idle"].rows)
    assert root_time(charts(recording), "idle") == idle


def test_host_time_of_the_flame_graph_is_that_of_ranges(charts, program):
    steps = program.report(INPUT_BOUND, "ranges")["ranges"].rows[0]
    page = charts(INPUT_BOUND)
    page.wait_for_selector("#flame .box")
    box = page.locator("#flame .box", has_text="ProfilerStep*").first
    title = box.get_attribute("title").split("\n")
    assert (title[0], exact(title[-1].removeprefix("host "))) == (steps["path"], steps["host_total_ns"])
    assert title[1].startswith(f"{steps['count']} instances")


def test_arrows_walk_the_flame_graph_and_enter_zooms(charts):
    page = charts(INPUT_BOUND)
    page.wait_for_selector("#flame .box")
    page.locator("#flame .flame").focus()
    for key in ["ArrowDown", "ArrowDown", "ArrowDown"]:
        page.keyboard.press(key)
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    expect(page.locator("#flame .focused")).to_contain_text(loader)
    page.keyboard.press("Enter")
    first = page.locator("#flame .box").first
    expect(first).to_have_attribute("title", re.compile(f"^{re.escape(loader)}"))
    reaches(lambda: first.bounding_box()["width"], lambda width: width > 1000)
    page.get_by_role("button", name="Show on the timeline").click()
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text(loader)


def test_python_functions_enclose_the_operators_that_they_call(charts):
    page = charts(TRANSFORMER)
    device = root_time(page, "device")
    page.get_by_label("Python functions").check()
    page.locator("#flame .box", has_text="workloads.py").first.wait_for()
    assert root_time(page, "device") == device


def test_steps_and_slow_ones(charts, program):
    said = program.report(SMALL_KERNELS, "steps")["steps"].rows
    page = charts(SMALL_KERNELS)
    bars = page.locator("#steps g.bar")
    bars.first.wait_for()
    assert [exact(lines(bar)[0].split(": ")[1]) for bar in bars.all()] == [row["dur_ns"] for row in said]
    assert [bar.locator("text.mark").count() for bar in bars.all()] == [int(row["slow"]) for row in said]
    heights = [bar.locator("rect.outline").bounding_box()["height"] for bar in bars.all()]
    assert heights[1] / heights[0] == pytest.approx(said[1]["dur_ns"] / said[0]["dur_ns"], rel=0.02)
    bars.first.click()
    page.wait_for_selector(f"section.measure tr[title='{said[0]['dur_ns']:,} ns']")


def test_areas_of_owners_add_up_to_the_memory_in_use(charts, program):
    """One area for each part that was recorded. Under the pointer, the legend has the values of the report."""
    said = program.report(ACCOUNT, "memory_curve")["memory_curve"].rows
    page = charts(ACCOUNT)
    areas = page.locator("#memory-owners path.owner")
    expect(areas).to_have_count(6)
    boxes = areas.evaluate_all("paths => paths.map((path) => path.getBBox()).map(({ y, height }) => [y, y + height])")
    assert min(top for top, _ in boxes) == pytest.approx(8, abs=0.6)  # the peak, below the ticks
    assert max(bottom for _, bottom in boxes) == pytest.approx(200, abs=0.6)
    plot = page.locator("#memory-owners g.bar rect")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    keys = page.locator("#memory-owners .keys > span")
    expect(keys.first).to_contain_text("1.6")  # s
    middle = [row for row in said if row["at_ns"] <= 1_600_000_000][-1]
    titles = [int(title.split(" bytes")[0].replace(",", "")) for title in keys.evaluate_all("keys => keys.slice(1).map((key) => key.title)")]
    names = ["device_rest_bytes", "others_bytes", "rest_bytes", "calls_bytes", "cached_bytes", "allocated_bytes"]
    assert titles == [middle[name] or 0 for name in names] and sum(titles) == middle["used_bytes"]
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Timeline")


def test_without_samples_of_memory_there_are_no_owners(charts):
    assert charts(INPUT_BOUND).locator("#memory-owners").count() == 0


def test_the_peak_of_memory_is_that_of_the_report(charts, program):
    peak = program.report(TRANSFORMER, "memory")["memory"].rows[0]
    page = charts(TRANSFORMER)
    page.wait_for_selector("#memory path.curve")
    link = page.locator("#memory button.handle")
    assert link.get_attribute("title") == f"{peak['peak_bytes']:,} bytes at {peak['at_ns']:,} ns"
    assert peak["largest"] in page.locator("#memory").inner_text()
    # The curve's highest point is the peak: at the place of its time, 8 css pixels below the top of the plot's full
    # height.
    top = page.locator("#memory path.curve").first.evaluate("path => path.getBBox().y")
    reserved = page.locator("#memory path.curve").nth(1).evaluate("path => path.getBBox().y")
    assert (180 - top) / (180 - reserved) == pytest.approx(peak["peak_bytes"] / peak["reserved"], rel=0.02)
    page.locator("#memory g.bar").scroll_into_view_if_needed()
    plot = page.locator("#memory g.bar").bounding_box()
    length = program.report(TRANSFORMER, "devices").document["source"]["window_ns"]
    page.mouse.move(plot["x"] + plot["width"] * (peak["at_ns"] / length + 0.002), plot["y"] + 50)
    page.locator("#memory .keys").get_by_text(f"({peak['peak_bytes']:,})").wait_for()


def test_the_roofline_has_every_operator_with_arithmetic(charts, program):
    said = program.report(TRANSFORMER, "arithmetic")["arithmetic"].rows
    page = charts(TRANSFORMER)
    circles = page.locator("#roofline circle")
    circles.first.wait_for()
    wanted = [row for row in said if row["flop_per_byte"] and row["flop_per_s"]]
    expect(circles).to_have_count(len(wanted))
    assert [lines(circle)[0] for circle in circles.all()] == [f"{row['name']} {row['shapes']}" for row in wanted]
    assert f"{said[0]['gb_per_s'] / said[0]['bandwidth_pct'] / 10:.2f} TB/s" in page.locator("#roofline .limits").text_content()


def test_copies_beside_kernels_are_drawn_to_scale(charts, program):
    pairs = [row for row in program.report(TWO_DEVICES, "overlap")["overlap"].rows if row["b"] == "memcpy"]
    page = charts(TWO_DEVICES)
    page.wait_for_selector("#overlap .segments")
    for pair, segments in zip(pairs, page.locator("#overlap .segments").all(), strict=True):
        spans = segments.locator("span").all()
        assert [exact(span.get_attribute("title").split(": ")[1]) for span in spans] == [pair["a_exposed_ns"], pair["both_ns"], pair["b_exposed_ns"]]
        a, b = spans[0].bounding_box()["width"], spans[2].bounding_box()["width"]
        assert a / b == pytest.approx(pair["a_exposed_ns"] / pair["b_exposed_ns"], rel=0.05)


def test_a_missing_chart_says_why(charts):
    page = charts(SAMPLES)
    missing = reaches(page.locator(".chart-section.missing .about").all_inner_texts, lambda texts: len(texts) == 7)
    assert page.locator(".chart-section").count() == 7
    assert all(len(text) > 20 for text in missing)


def test_a_link_with_the_former_page_name_opens_the_charts(visit, exported):
    page = visit(exported(INPUT_BOUND), "page=pictures")
    page.wait_for_selector("article.chart-list")
    assert page.locator("nav [aria-current=page]").inner_text() == "Charts"
