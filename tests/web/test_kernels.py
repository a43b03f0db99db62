"""Pages of kernels with counters, in exported pages and in a drawn one: they say what the report says, are linked with
the timeline, and work with mouse and keyboard."""

import re
from pathlib import Path

import pytest
from many_kernels import KERNELS, write_many_kernels
from waiting import reaches, settled, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

TIMELINE = Path(__file__).resolve().parents[1] / "fixtures" / "kineto" / "small_kernels.json.zst"
FLAWED = "k-2"  # several counters are notable: uncoalesced loads and stores, L2-bound


@pytest.fixture
def kernels(visit, exported):
    """Open the page of the kernel with this launch in the exported counters."""
    def open_page(launch=None, **options):
        page = visit(exported(KERNELS), "page=kernels" + ("" if launch is None else f"&launch={launch}"), **options)
        page.wait_for_selector(".kernel section.table")
        return page

    return open_page


@pytest.fixture
def drawn(visit, sample_page):
    return lambda fragment="": visit(sample_page("counters"), fragment)


def bars(page, section):
    """Return {name: (amount, share)} of the bars of a section."""
    lines = page.locator(f"section[aria-label='{section}'] .bars li").all()
    return {line.locator(".label").inner_text(): tuple(line.locator(".amount").all_inner_texts()) for line in lines}


def metrics_of(program, launch):
    """The number of known counters of a launch."""
    return len(about(program.report(KERNELS, "metrics")["metrics"], launch))


def percent(value):
    return "<0.1 %" if 0 < value < 0.05 else f"{value:.1f} %"


def about(table, launch):
    return [row for row in table.rows if row["launch"] == launch]


def test_a_file_with_counters_alone_opens_with_its_kernels(visit, exported, program):
    said = program.report(KERNELS, "findings", "limits")
    page = visit(exported(KERNELS))
    expect(page.locator("nav[aria-label=Pages] [aria-current]")).to_have_text("Kernels")
    page.get_by_role("button", name="Overview").click()
    page.wait_for_selector("article.answer")
    assert page.locator(".verdict h1").inner_text() == said.document["verdict"]["name"]
    assert page.locator(".finding h3").all_inner_texts() == [finding["title"] for finding in said.document["findings"]]
    shown = page.locator(".measured li")
    assert shown.count() == 6
    for line, row in zip(shown.all(), said["limits"].rows, strict=False):
        assert line.locator("button").get_attribute("title").split("\n")[0] == row["name"]
        assert line.locator(".sentence").inner_text() == row["because"]
    assert page.locator("nav[aria-label=Pages] button").all_inner_texts() == ["Overview", "Kernels", "Tables", "SQL"]
    page.locator(".finding").get_by_role("button", name=FLAWED, exact=True).click()
    expect(page.locator(".kernel h1")).to_contain_text(f"{FLAWED} strided_copy")


def test_the_page_of_a_kernel_says_what_the_report_says(kernels, program):
    said = program.report(KERNELS, "limits", "advice", "stalls", "roofline", "metrics")
    for kernel in said["limits"].rows[:3]:
        launch = kernel["launch"]
        page = kernels(launch)
        expect(page.locator(".kernel .full")).to_have_text(kernel["name"])
        shown = f"{page.locator('.kernel .verdict h2').inner_text()}: {page.locator('.kernel .because').inner_text()}"
        assert shown == kernel["because"]
        assert bars(page, "Speed of light")["Compute"][1] == percent(kernel["compute_pct"])
        assert bars(page, "Occupancy")["Achieved"][1] == percent(kernel["occupancy_pct"])
        advice = about(said["advice"], launch)
        assert page.locator(".kernel .finding h3").all_inner_texts() == [row["title"] for row in advice]
        for card, row in zip(page.locator(".kernel .finding").all(), advice, strict=True):
            assert "; ".join(card.locator("li").all_inner_texts()) == row["evidence"]
            assert card.locator(".remedy").inner_text() == f"→ {row['remedy']}"
            gain = row["gain_pct"]
            assert card.locator(".cost").inner_text() == ("gain unknown" if gain is None else f"saves up to {percent(gain)} of the duration")
        page.get_by_role("button", name=re.compile("^Show .* below 1 %")).click()
        expect(page.get_by_role("button", name="Hide reasons below 1 %")).to_be_visible()
        assert {name: share for name, (_, share) in bars(page, "Stalls").items()} == {row["reason"]: percent(row["share_pct"]) for row in about(said["stalls"], launch)}
        points = about(said["roofline"], launch)
        assert page.locator("section[aria-label=Roofline] .point").count() == len(points)
        cells = [line.locator("th, td").all_inner_texts() for line in page.locator("section[aria-label=Roofline] tbody tr").all()]
        assert [(each[0], each[1], each[5]) for each in cells] == [(row["precision"], row["level"], percent(row["of_roof_pct"])) for row in points]
        expect(page.locator(".kernel .status")).to_have_text(f"{len(about(said['metrics'], launch))} rows")


def test_the_memory_chart_shows_traffic_hit_rates_and_the_limit(kernels):
    page = kernels(4)
    chart = page.locator(".memory-chart")
    links = [" / ".join(filter(None, link.locator("text").all_text_contents())) for link in chart.locator(".link").all()]
    assert links == [
        "loads: 32.0 GiB / 2.0 sectors per request", "stores: 16.0 MiB / 4.0 sectors per request", "atomics: none", "local memory: none",
        "shared: 262,144 passes / no bank conflicts", "requests: 3.99 GiB", "read: 32.0 MiB", "written: 11.6 MiB",
    ]
    assert chart.locator(".limiting text").all_text_contents() == ["L1 cache", "87.4 % hit rate", "21.8 TB/s", "97.8 % of peak", "limits the kernel"]
    assert "Device memory: 14.4 GB/s, 0.3 % of peak" in chart.get_attribute("aria-label")


def test_points_lie_under_their_roofs(kernels, program):
    points = about(program.report(KERNELS, "roofline")["roofline"], 4)
    page = kernels(4)
    titles = page.locator("section[aria-label=Roofline] .point title").all_text_contents()
    assert [title.split("\n")[0] for title in titles] == [f"{row['precision']}, {row['level']}" for row in points]
    marks = [mark.bounding_box() for mark in page.locator("section[aria-label=Roofline] .point").all()]
    centre = lambda box: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for (left, a), (right, b) in zip(zip(marks, points, strict=True), list(zip(marks, points, strict=True))[1:], strict=False):
        assert (centre(left)[0] > centre(right)[0]) == (a["flop_per_byte"] > b["flop_per_byte"])
        assert (centre(left)[1] < centre(right)[1] - 1) == (a["flop_per_s"] > b["flop_per_s"])


def test_counters_are_filtered_and_copied(kernels, program):
    page = kernels(1, permissions=["clipboard-read", "clipboard-write"])
    wanted = [row for row in about(program.report(KERNELS, "metrics")["metrics"], 1) if "L2" in row["metric"]]
    table = page.locator(".kernel section.table")
    table.get_by_role("searchbox").fill("L2")
    reaches(lambda: int(table.locator(".status").inner_text().split(" ")[0]), lambda count: len(wanted) <= count < metrics_of(program, 1))
    table.locator(".menu.save summary").click()
    table.get_by_role("button", name="Copy CSV").click()
    expect(table.locator(".menu.save [role=status]")).to_contain_text("Copied")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "section,metric,value,unit,vendor_name"
    assert {row["vendor_name"] for row in wanted} <= {line.split(",")[-1] for line in lines[1:]}


def test_the_kernels_page_works_with_the_keyboard(kernels, program):
    page = kernels()
    first = page.locator("nav[aria-label='Kernels with counters'] button").first
    first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".kernel h1")).to_contain_text(FLAWED)
    assert "page=kernels" in settled(page) and "launch=1" in page.url
    page.locator(".kernel .table").get_by_role("searchbox").focus()
    page.keyboard.type("dram__bytes_read")
    expect(page.locator(".kernel .status")).to_have_text(f"1 of {metrics_of(program, 1)} rows")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    expect(page.locator(".kernel .grid")).to_be_focused()
    page.reload()
    expect(page.locator(".kernel h1")).to_contain_text(FLAWED)


def test_a_row_about_a_kernel_leads_to_its_page(visit, exported, program):
    row = program.report(KERNELS, "stalls")["stalls"].rows[25]
    page = visit(exported(KERNELS), "page=tables&table=stalls")
    page.locator("tr[aria-rowindex='27']").click()
    expect(page.locator(".kernel .full")).to_have_text(row["name"])


def test_pages_of_many_kernels_are_complete(visit, exported, program, tmp_path):
    source = write_many_kernels(tmp_path / "many_kernels.csv", 5)
    said = program.report(source, "limits", "metrics")
    page = visit(exported(source), "page=kernels")
    listed = page.locator("nav[aria-label='Kernels with counters'] button")
    expect(listed).to_have_count(45)
    listed.last.click()
    expect(page.locator(".kernel .status")).to_have_text(f"{len(about(said['metrics'], said['limits'].rows[-1]['launch']))} rows")
    page.get_by_role("button", name="Tables", exact=True).click()
    page.locator("nav[aria-label=Tables]").get_by_role("button", name="metrics").click()
    expect(page.locator(".table .status")).to_have_text(f"{len(said['metrics'].rows):,} rows")


def test_counters_and_a_timeline_in_one_page_are_linked_by_name(visit, program, tmp_path):
    name = program.report(TIMELINE, "kernels")["kernels"].rows[1]["name"]
    source = write_many_kernels(tmp_path / "counters.csv", 1, names={"saxpy": name})
    out = tmp_path / "both.html"
    assert program.run("export", "html", TIMELINE, source, "-o", out).status == 0
    page = visit(out, "page=tables&table=kernels")
    expect(page.locator(".note button")).to_have_text(["k-2", "all kernels with counters"])
    page.locator(".note").get_by_role("button", name="k-2").click()
    expect(page.locator(".kernel .full")).to_have_text(name)
    page.get_by_role("button", name="Show on the timeline").click()
    page.get_by_role("button", name="Show counters").click()
    expect(page.locator(".kernel .full")).to_have_text(name)
    page.get_by_role("button", name="Overview", exact=True).click()
    expect(page.locator(".measured li")).to_have_count(6)


def test_counters_alone_are_served(new_page, served, program):
    page = new_page()
    page.goto(served(KERNELS))
    page.get_by_role("button", name="Overview").click()
    page.locator(".measured button").nth(1).click()
    expect(page.locator(".kernel .status")).to_have_text(f"{metrics_of(program, 1)} rows")


def test_an_execution_leads_to_its_counters_and_back(drawn):
    page = drawn("page=timeline&sel=kernel:1")
    page.get_by_role("button", name="Show counters").click()
    expect(page.locator(".kernel h1")).to_contain_text("k-2 relu")
    page.get_by_role("button", name="Show on the timeline").click()
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text("relu")
    page.get_by_role("button", name="Tables", exact=True).click()
    expect(page.locator(".note button")).to_have_text(["k-2", "all kernels with counters"])
    page.locator(".note").get_by_role("button", name="k-2").click()
    expect(page.locator(".kernel h1")).to_contain_text("k-2 relu")
    page.locator("nav[aria-label='Kernels with counters']").get_by_role("button", name="softmax").click()
    expect(page.locator(".kernel h1")).to_contain_text("k-3 softmax")
    expect(page.get_by_role("button", name="Show on the timeline")).to_have_count(0)


def test_a_kernel_without_counters_of_its_own_has_no_link_to_them(drawn):
    page = drawn("page=timeline&sel=kernel:0")
    wait_for_details(page)
    expect(page.get_by_role("button", name="Show counters")).to_have_count(0)


def test_an_execution_leads_to_its_source_lines_and_back(drawn):
    page = drawn("page=timeline&sel=kernel:0")
    expect(page.locator("section.details")).to_contain_text("Most samples: ")
    page.get_by_role("button", name="Show source lines").click()
    expect(page.locator(".kernel h1")).to_have_text("scan")
    page.get_by_role("button", name="Show on the timeline").click()
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text("void gemm<128, float>(float*, int)")


def test_modelled_operators_are_on_the_roofline_of_a_kernel(drawn):
    page = drawn("page=kernels&launch=7")
    section = page.locator("section[aria-label=Roofline]")
    expect(section.locator("circle.modelled title")).to_have_text(["aten::mm 8x8\n4 FLOP/byte, 3.00 TFLOP/s; modelled".replace(".00", "")])
    expect(section.locator(".keys")).to_contain_text("1 operator of the recording, modelled from shapes")


def test_advice_of_another_tool_is_apart_and_text_only(drawn):
    page = drawn("page=kernels&launch=7")
    advice = page.locator("section[aria-label='Advice of by hand']")
    expect(advice).to_contain_text("SpeedOfLight · SOLBottleneck · OPT · estimated gain 12.5 % (local)")
    expect(advice).to_contain_text("</script><script>")
    expect(page.locator(".kernel .finding")).to_have_count(1)
    assert page.title() != "owned"


def test_what_was_not_collected_is_said(drawn):
    page = drawn("page=kernels&launch=9")
    for section, text in [("Findings", "No findings"), ("Speed of light", "was not collected"), ("Memory", "were not collected"), ("Stalls", "were not collected"), ("Roofline", "No floating-point"), ("Occupancy", "was not collected")]:
        expect(page.locator(f"section[aria-label='{section}']")).to_contain_text(text)
    expect(page.locator(".kernel .status")).to_have_text("1 row")
