"""Pages of real recordings: the viewer agrees with the report."""

from pathlib import Path

import pytest
from waiting import wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RECORDINGS = [
    "kineto/input_bound.json.gz",
    "kineto/overlap.json.gz",
    "kineto/transformer-stacks-shapes-memory.json.zst",
    "nsys/h100_2gpu_1s.sqlite.zst",
    "public/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "jax/mlp.xplane.pb.zst",
]


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda path: Path(path).name.split(".")[0])
def recording(request):
    return FIXTURES / request.param


def exact(cell):
    """Return the nanoseconds of a line's title: "1,234 ns"."""
    return int(cell.removesuffix(" ns").replace(",", ""))


def measured(page, begin, end):
    """Return the page's figures for a range: busy and idle time by cause of each device in ns, events by table."""
    page.evaluate(f"location.hash = 'page=timeline&m={begin}-{end}'")
    page.wait_for_selector(f"section.measure tr[title='{end - begin:,} ns']")
    devices = {}
    for table in page.locator("section.measure table[data-device]").all():
        lines = {line.locator("th").inner_text().split(": ")[-1]: exact(line.get_attribute("title")) for line in table.locator("tr").all()}
        devices[int(table.get_attribute("data-device"))] = lines
    counts = {
        line.locator("th").inner_text(): int(line.locator("td").first.inner_text().replace(",", ""))
        for line in page.locator("section.measure > table:last-child tr").all()
    }
    return devices, counts


def test_the_whole_is_what_the_report_says(visit, exported, program, recording):
    page = visit(exported(recording), "page=timeline")
    said = program.report(recording, "devices", "idle")
    devices, counts = measured(page, 0, said.document["source"]["window_ns"])
    assert sorted(devices) == sorted(row["device"] for row in said["devices"].rows)
    for row in said["devices"].rows:
        assert devices[row["device"]]["busy"] == row["busy_ns"]
    for row in said["idle"].rows:
        assert devices[row["device"]][row["cause"]] == row["total_ns"]
    assert sum(map(len, devices.values())) == len(said["devices"].rows) + len(said["idle"].rows)
    for table, column in [("kernels", "kernels"), ("copies", "memcpys"), ("fills", "memsets")]:
        assert counts.get(table, 0) == sum(row[column] for row in said["devices"].rows)


@pytest.mark.parametrize("part", [(0.2, 0.5), (0.4, 0.41)])
def test_a_part_is_what_the_report_says(visit, exported, program, recording, part):
    length = program.report(recording, "devices").document["source"]["window_ns"]
    begin, end = (round(share * length / 1000) * 1000 for share in part)
    page = visit(exported(recording), "page=timeline")
    _, counts = measured(page, begin, end)
    said = program.report(recording, "devices", "--from", f"{begin / 1e9:.9f}", "--to", f"{end / 1e9:.9f}")
    for table, column in [("kernels", "kernels"), ("copies", "memcpys"), ("fills", "memsets")]:
        assert counts.get(table, 0) == sum(row[column] for row in said["devices"].rows)


@pytest.mark.parametrize("counters", ["nvidia-smi/h200-580.csv", "memory/growth.snapshot.pickle.gz", "nsys/mock.sqlite.gz"])
def test_recordings_without_names_or_devices_open(visit, exported, counters):
    page = visit(exported(FIXTURES / counters), "page=timeline")
    page.wait_for_selector("canvas[data-complete]")
    expect(page.locator("li.name").first).to_be_visible()
    expect(page.locator(".problem")).to_have_count(0)


def test_the_longest_gap_says_its_cause(visit, exported, program, recording):
    said = program.report(recording, "gaps", "devices")
    gaps = said["gaps"].rows
    if not gaps:
        pytest.skip("no gap is long enough for the report")
    gap = gaps[0]
    begin, end = gap["start_ns"], gap["start_ns"] + gap["dur_ns"]
    page = visit(exported(recording), f"page=timeline&t={begin}-{end}")
    page.wait_for_selector("canvas[data-complete]")
    device = sorted(row["device"] for row in said["devices"].rows).index(gap["device"])
    row = page.locator("li.name.idle").nth(device).bounding_box()
    canvas = page.locator(".lanes canvas").bounding_box()
    page.mouse.click(canvas["x"] + canvas["width"] / 2, row["y"] + 9)
    wait_for_details(page)
    field = lambda name: page.locator(f"section.details tr:has(th:text-is('{name}')) td").get_attribute("title")
    assert (exact(field("start")), exact(field("duration"))) == (begin, gap["dur_ns"])
    assert field("cause") == gap["cause"] == page.locator("section.details .full").inner_text()
    devices, _ = measured(page, begin, end)
    assert "busy" not in devices[gap["device"]] or devices[gap["device"]]["busy"] == 0
    assert sum(devices[gap["device"]].values()) == gap["dur_ns"]
