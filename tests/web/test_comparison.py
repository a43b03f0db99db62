"""Two recordings in one page: it agrees with `compare`, both timelines move together, and links open either."""

import json
from pathlib import Path

import pytest
from waiting import reaches, settled, window

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PAIRS = {
    "same": ("kineto/transformer.json.zst", "kineto/transformer.json.zst"),
    "shapes": ("kineto/transformer.json.zst", "kineto/transformer-stacks-shapes-memory.json.zst"),
    "hardware": ("kineto/transformer.json.zst", "public/nccl_parser_config__nccl_data.json.zst"),
    "no steps": ("nsys/h100_2gpu_1s.sqlite.zst", "jax/mlp.xplane.pb.zst"),
}

WORDS = {"step_p50": "median step", "step_mean": "mean step", "step_total": "sum of steps"}  # others: spaces instead of _


@pytest.fixture(scope="module")
def pair(program, tmp_path_factory):
    """Return the page of a pair, and the output of `compare` for it."""
    built = {}

    def make(name):
        if name not in built:
            base, new = (FIXTURES / path for path in PAIRS[name])
            out = tmp_path_factory.mktemp("pair") / "pair.html"
            result = program.run("export", "html", new, "--base", base, "-o", out)
            assert result.status == 0, result.errors
            built[name] = out, program.comparison(base, new, "metrics", "attribution", "kernels")
        return built[name]

    return make


def steps_of(program, path):
    return program.report(FIXTURES / path, "steps")["steps"].rows


def ready(page):
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()


def picture(page, side):
    return page.locator(".timelines canvas").nth(side).evaluate("canvas => canvas.toDataURL()")


@pytest.mark.parametrize("name", PAIRS)
def test_the_page_says_what_compare_says(visit, pair, name):
    path, said = pair(name)
    page = visit(path)
    ready(page)
    above = [line["text"] for line in said.document["trust"]]  # not repeated in the verdict
    word, lead = said.document["verdict"]["name"], said.document["lead"]
    assert page.locator("section.verdict h1").inner_text() == word
    assert [line.inner_text() for line in page.locator("section.verdict > p").all()] == [lead[0][len(word) :].strip(), *(line for line in lead[1:] if line not in above)]
    warnings = [line["text"] for line in said.document["trust"] if line["warning"]]
    assert [line.inner_text() for line in page.locator(".data-quality .warning").all()] == [f"! {text}" for text in warnings]
    metrics = said["metrics"].rows
    shown = page.locator("[aria-label='Metrics of both recordings'] tbody tr").all()
    assert [line.locator("th").inner_text() for line in shown] == [WORDS.get(row["metric"], row["metric"].replace("_", " ")) for row in metrics]
    assert [line.locator("td").nth(4).inner_text() for line in shown] == [row["verdict"] for row in metrics]
    for line, row in zip(shown, metrics, strict=True):
        for cell, side in enumerate(("base_ns", "new_ns")):
            if row[side] is not None:
                assert line.locator("td").nth(cell).get_attribute("title") == f"{int(row[side] + 0.5):,} ns"  # JavaScript rounds halves up
    parts = [row for row in said["attribution"].rows if row["difference_ns"] != 0][:8]
    titles = [button.get_attribute("title") for button in page.locator(".attribution .bars button").all()]
    assert len(titles) == len(parts)
    for title, row in zip(titles, parts, strict=True):
        assert title.startswith(f"{row['kind']}: {row['name']}\n")
        assert f"{row['base_ns']:,} ns in BASE, {row['new_ns']:,} ns in NEW" in title


def test_joules_per_step_are_a_metric(visit, program, tmp_path):
    joined, out = tmp_path / "run.gpuprof", tmp_path / "pair.html"
    assert program.run("export", "capture", *(FIXTURES / "nvml" / name for name in ("bursty.trace.json", "bursty.csv")), "-o", joined).status == 0
    assert program.run("export", "html", joined, "--base", joined, "-o", out).status == 0
    said = next(row for row in program.comparison(joined, joined, "metrics")["metrics"].rows if row["metric"] == "energy")
    line = visit(out).locator("[aria-label='Metrics of both recordings'] tbody tr").filter(has_text="energy")
    assert [line.locator("td").nth(cell).inner_text() for cell in (0, 1)] == [f"{said[side]:,.4g} J" for side in ("base_j", "new_j")]


def test_steps_are_aligned(visit, pair, program):
    page = visit(pair("shapes")[0])
    base, new = (steps_of(program, path) for path in PAIRS["shapes"])
    ready(page)
    page.get_by_role("button", name="Next step").click()
    assert new[1]["step"] == base[1]["step"]
    expect(page.get_by_label("Aligned at").locator("option:checked")).to_have_text(new[1]["step"])
    durations = f"{base[1]['dur_ns'] / 1e6:.1f} ms → {new[1]['dur_ns'] / 1e6:.1f} ms"
    reaches(page.locator(".timelines output").inner_text, lambda shown: shown.startswith(durations))
    begin, end = window(page)
    assert begin < new[1]["start_ns"] < new[1]["start_ns"] + max(base[1]["dur_ns"], new[1]["dur_ns"]) < end
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.locator(".sides button").nth(0).click()
    page.wait_for_selector(".page.timeline canvas[data-complete]")
    offset = new[1]["start_ns"] - base[1]["start_ns"]
    assert "side=base" in settled(page)
    assert window(page) == pytest.approx((begin - offset, end - offset), abs=1)


def test_one_window_follows_the_other(visit, pair, program):
    page = visit(pair("shapes")[0], "page=comparison&step=1")
    base, new = (steps_of(program, path) for path in PAIRS["shapes"])
    ready(page)
    before = window(page)
    lower = picture(page, 1)
    page.locator(".timelines canvas").nth(0).hover()  # in the middle
    page.keyboard.press("w")
    after = window(page)
    assert before[0] < after[0] < after[1] < before[1]
    reaches(lambda: picture(page, 1), lambda drawn: drawn != lower)
    assert (after[0] + after[1]) / 2 == pytest.approx((before[0] + before[1]) / 2, abs=(before[1] - before[0]) / 100)


def test_a_row_is_shown_on_both_timelines(visit, pair):
    page = visit(pair("shapes")[0])
    ready(page)
    plain = [picture(page, side) for side in (0, 1)]
    page.locator(".attribution .bars button").first.click()
    page.get_by_role("button", name="Clear highlight").wait_for()
    for side in (0, 1):
        reaches(lambda side=side: picture(page, side), lambda drawn, side=side: drawn != plain[side])
    page.get_by_role("button", name="Clear highlight").click()
    expect(page.get_by_role("button", name="Clear highlight")).to_have_count(0)
    page.locator(".differences .grid tbody tr.clickable").first.click()
    page.get_by_role("button", name="Clear highlight").wait_for()
    settled(page)
    assert page.locator(".timelines header .warning").inner_text() == ""


def test_tables_of_the_comparison_sort_and_change(visit, pair):
    path, said = pair("hardware")
    page = visit(path)
    page.locator(".differences .list button", has_text="kernels").click()
    page.locator(".differences th[data-column=base_ns] button").click()
    known = [row for row in said["kernels"].rows if row["base_ns"] is not None]
    first = page.locator(".differences tbody tr.clickable").first.locator("td").first
    expect(first).to_have_attribute("title", max(known, key=lambda row: row["base_ns"])["name"])
    page.locator(".differences .list button", has_text="idle").click()
    expect(page.locator(".differences section.table h1")).to_have_text("idle")
    page.go_back()
    expect(page.locator(".differences section.table h1")).to_have_text("kernels")


def test_every_row_of_a_comparison_is_there(visit, program, tmp_path):
    files = [tmp_path / name for name in ("base.json", "new.json")]
    for slower, file in enumerate(files):
        events = [
            {"ph": "X", "cat": "kernel", "name": f"kernel_{i}", "pid": 0, "tid": 7, "ts": 100.0 * i, "dur": 5 + i / 100 + slower, "args": {"device": 0, "stream": 7}}
            for i in range(2500)
        ]
        file.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}))
    out = tmp_path / "pair.html"
    assert program.run("export", "html", files[1], "--base", files[0], "-o", out).status == 0
    page = visit(out, "page=comparison")
    differences = page.locator(".differences")
    differences.locator(".list button", has_text="kernels").click()
    expect(differences.locator(".status")).to_have_text("2,500 rows")
    differences.locator("th[data-column=base_ns] button").click()
    differences.get_by_role("grid").focus()
    page.keyboard.press("End")
    expect(differences.locator("tr[aria-rowindex='2501'] td").first).to_have_attribute("title", "kernel_0")


def test_each_side_has_its_own_pages(visit, pair, program):
    page = visit(pair("hardware")[0])
    for side, recording in zip((0, 1), PAIRS["hardware"], strict=True):
        page.get_by_role("button", name="Overview", exact=True).click()
        page.locator(".sides button").nth(side).click()
        said = program.report(FIXTURES / recording, "devices")
        first = program.report(FIXTURES / recording).document
        expect(page.locator("section.verdict h1")).to_have_text(first["verdict"]["name"])
        busy, length = said["devices"].rows[0]["busy_ns"], said.document["source"]["window_ns"]
        page.evaluate(f"location.hash = 'side={'base' if side == 0 else 'x'}&page=timeline&m=0-{length}'")
        page.wait_for_selector(f"section.measure tr[title='{busy:,} ns']")


def test_a_link_opens_the_same(visit, pair):
    path, _ = pair("shapes")
    page = visit(path, "page=comparison&step=1&t=40000000-41000000")
    ready(page)
    expect(page.get_by_label("Aligned at")).to_have_value("1")
    assert window(page) == (40_000_000, 41_000_000)
    base = visit(path, "side=base&page=tables&table=kernels")
    expect(base.locator("section.table h1")).to_have_text("kernels")
    assert base.locator(".sides button[aria-pressed=true]").inner_text().startswith("BASE")


def test_without_a_comparison_there_is_no_such_page(visit, exported):
    page = visit(exported(FIXTURES / "kineto" / "input_bound.json.gz"), "page=comparison")
    expect(page.locator("nav[aria-label=Pages] button")).to_have_text(["Overview", "Timeline", "Steps", "Tables", "Charts", "SQL"])
    expect(page.locator("section.verdict h1")).to_have_count(1)


def test_back_and_reload_return_to_both_sides(visit, pair):
    page = visit(pair("shapes")[0])
    ready(page)
    page.get_by_role("button", name="Next step").click()
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.locator(".sides button").nth(0).click()
    page.get_by_label("Filter tracks by name").press_sequentially("GPU")
    address = settled(page)
    assert "side=base" in address and "filter=GPU" in address and "new.step=1" in address
    page.locator(".sides button").nth(1).click()
    expect(page.get_by_label("Filter tracks by name")).to_have_value("")
    assert "base.filter=GPU" in settled(page)
    page.reload()
    page.go_back()
    expect(page.get_by_label("Filter tracks by name")).to_have_value("GPU")
    assert settled(page) == address
    for _ in range(3):  # the filter, the side, the page
        page.go_back()
    expect(page.get_by_label("Aligned at")).to_have_value("1")
    page.go_back()
    expect(page.get_by_label("Aligned at")).to_have_value("0")
