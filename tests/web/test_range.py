"""A measured range answers: its figures equal the program's for the same stretch, rows lead to the timeline, ranges are kept."""

import json
import random
import re
from pathlib import Path

import pytest
from sql_answers import length_of, sql
from waiting import reaches, settled, wait_for_details, window

expect = pytest.importorskip("playwright.sync_api").expect

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
INPUT_BOUND = FIXTURES / "kineto/input_bound.json.gz"
PYTHON = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
RECORDINGS = [INPUT_BOUND, PYTHON, FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst", FIXTURES / "jax/mlp.xplane.pb.zst"]
PARTS = [(0, 1), (0.2, 0.5), (0.4, 0.41), (0.633, 0.634)]

CLIPPED = "sum(overlap(start_ns, end_ns, {a}, {z})) ns from {table} where start_ns < {z} and (end_ns > {a} or (dur_ns = 0 and start_ns >= {a}))"


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.name.split(".")[0])
def recording(request):
    return request.param


def self_time(title):
    """Return the exact self time of a row's title: "NAME\n5 ns, self 3 ns", or "NAME\n5 ns" if they are equal."""
    return int(title.rsplit("\n", 1)[1].split("self ")[-1].removesuffix(" ns").replace(",", ""))


def table(page, title):
    """Return the rows of a table of the range by the name in full: exact ns, then the other cells."""
    section = page.locator(f".range-drawer section[aria-label='{title}']")
    if section.count() == 0:
        return {}
    more = section.get_by_role("button", name="Show all")
    if more.count():
        more.click()
    found = section.evaluate("""(section) => [...section.querySelectorAll('tbody tr')].map((row) =>
        [row.querySelector('button').title, row.querySelector('button').textContent.trim(), ...[...row.querySelectorAll('td')].map((cell) => cell.textContent)])""")
    rows = {}
    for title, label, *cells in found:
        name, exact = title.rsplit("\n", 1)
        rows[(name, label)] = (int(exact.split(" ns")[0].replace(",", "")), cells)
    return rows


def answered(page, a, z):
    page.evaluate(f"location.hash = 'page=timeline&m={a}-{z}'")
    page.wait_for_selector(f".range-drawer[data-answered='{a}-{z}']")


def test_a_range_is_what_sql_says(visit, exported, program, recording):
    page, length = visit(exported(recording), "page=timeline"), length_of(program, recording)
    for part in PARTS:
        a, z = (round(share * length) for share in part)
        answered(page, a, z)
        check_work(page, program, recording, a, z)
        check_calls_and_idle_time(page, program, recording, a, z)


def check_work(page, program, recording, a, z):
    for title, source, name in [("Kernels", "kernel", "name"), ("Copies and fills", "memcpy", "kind"), ("Python functions", "python_call", "name")]:
        if source == "python_call" and recording != PYTHON:
            continue
        said = sql(program, recording, f"select {name} name, count(*) n, " + CLIPPED.replace("{table}", source) + f" group by {name}", a, z)
        shown = {key[0]: row for key, row in table(page, title).items()}
        if source == "memcpy":
            shown.pop("fill", None)
        if source == "python_call":  # the total counts recursion once; the count does not
            assert {name: int(cells[-1].replace(",", "")) for name, (_, cells) in shown.items()} == {row["name"]: row["n"] for row in said}
            continue
        assert {name: ns for name, (ns, _) in shown.items()} == {row["name"]: row["ns"] for row in said}
        counts = {name: int(cells[2 if source == "kernel" else 1].replace(",", "")) for name, (_, cells) in shown.items()}
        assert counts == {row["name"]: row["n"] for row in said}


def check_calls_and_idle_time(page, program, recording, a, z):
    said = sql(program, recording, "select name, count(*) n, " + CLIPPED.replace("{table}", "api_call") + " group by name", a, z)
    shown = {}
    for (name, _), (ns, cells) in table(page, "Calls").items():
        old = shown.get(name, (0, 0))
        shown[name] = (old[0] + ns, old[1] + int(cells[1].replace(",", "")))
    assert {name: shown.get(name) for name in [row["name"] for row in said]} == {row["name"]: (row["ns"], row["n"]) for row in said}
    devices = [row["device"] for row in program.report(recording, "devices")["devices"].rows]
    work = " union all ".join(f"select device, start_ns, end_ns from {name}" for name in ("kernel", "memcpy", "memset"))
    busy = sql(program, recording, f"select device, busy(max(start_ns, {{a}}), min(end_ns, {{z}})) ns from ({work}) where start_ns < {{z}} and end_ns > {{a}} group by device", a, z)
    idle = len(devices) * (z - a) - sum(row["ns"] for row in busy)
    assert sum(ns for ns, _ in table(page, "Idle time by cause").values()) == idle


def test_a_range_between_gaps_is_what_the_report_says(visit, exported, program):
    """No event crosses its ends, so that the report, which keeps whole events, says the same."""
    gaps = sorted(program.report(INPUT_BOUND, "gaps")["gaps"].rows[:3], key=lambda row: row["start_ns"])
    a, z = (round((row["start_ns"] + row["dur_ns"] / 2) / 1000) * 1000 for row in (gaps[0], gaps[-1]))
    said = program.report(INPUT_BOUND, "kernels", "memcpy", "--from", f"{a / 1e9:.9f}", "--to", f"{z / 1e9:.9f}")
    page = visit(exported(INPUT_BOUND), "page=timeline")
    answered(page, a, z)
    shown = {name: (ns, cells) for (name, _), (ns, cells) in table(page, "Kernels").items()}
    assert {name: (ns, cells[2]) for name, (ns, cells) in shown.items()} == {row["name"]: (row["total_ns"], f"{row['count']:,}") for row in said["kernels"].rows}
    assert len(shown) > 10
    for row in said["memcpy"].rows:
        assert [ns for (name, _), (ns, _) in table(page, "Copies and fills").items() if name == row["kind"]] == [row["total_ns"]]


def test_idle_causes_of_the_whole_are_those_of_the_report(visit, exported, program, recording):
    page = visit(exported(recording), "page=timeline")
    answered(page, 0, length_of(program, recording))
    said = program.report(recording, "idle")["idle"].rows
    assert sorted(ns for ns, _ in table(page, "Idle time by cause").values()) == sorted(row["total_ns"] for row in said)


def test_self_times_of_operators_of_the_whole_are_those_of_the_report(visit, exported, program):
    """Without Python calls, which the report does not subtract. It does subtract the profiler's own work, which this
    recording has on no thread."""
    page = visit(exported(INPUT_BOUND), "page=timeline")
    answered(page, 0, length_of(program, INPUT_BOUND))
    table(page, "Operators and ranges")  # shows all rows
    titles = page.locator(".range-drawer section[aria-label='Operators and ranges'] tbody button").evaluate_all("(all) => all.map((button) => button.title)")
    said = {}
    for row in program.report(INPUT_BOUND, "ops")["ops"].rows:
        said[row["name"]] = said.get(row["name"], 0) + row["cpu_self_ns"]
    shown = {}
    for title in titles:
        name = title.rsplit("\n", 1)[0]
        shown[name] = shown.get(name, 0) + self_time(title)
    more = {name: ns - said[name] for name, ns in shown.items() if ns != said[name]}
    overhead = sql(program, INPUT_BOUND, "select dur_ns from overhead where thread is null")
    assert sorted(more.values()) == sorted(row["dur_ns"] for row in overhead)
    assert len(shown) > 50


def test_a_row_leads_to_its_longest_event_in_the_range(visit, exported, program):
    length = length_of(program, INPUT_BOUND)
    a, z = round(0.3 * length), round(0.6 * length)
    page = visit(exported(INPUT_BOUND), "page=timeline")
    answered(page, a, z)
    said = sql(program, INPUT_BOUND, "select name, dur_ns from kernel where start_ns >= {a} and start_ns < {z} order by dur_ns desc limit 1", a, z)[0]
    page.locator(".range-drawer section[aria-label='Kernels'] tbody button").first.click()
    wait_for_details(page)
    name = page.locator("section.details .full").inner_text()
    longest = sql(program, INPUT_BOUND, f"select max(dur_ns) ns from kernel where start_ns >= {a} and start_ns < {z} and name = '{name}'")[0]["ns"]
    assert page.locator("section.details tr:has(th:text-is('duration')) td").get_attribute("title") == f"{longest:,} ns"
    assert longest <= said["dur_ns"]
    expect(page.locator("section.measure")).to_be_visible()
    page.locator(".range-drawer section[aria-label='Idle time by cause'] tbody button").first.click()
    expect(page.locator("section.details h2 span")).to_have_text("idle time")


@pytest.mark.parametrize(("name", "row"), [
    ("ProfilerStep#2", "select start_ns, end_ns from range where name = 'ProfilerStep#2'"),
    ("aten::uniform_", "select start_ns, end_ns from op where name = 'aten::uniform_' order by start_ns limit 1"),
    ("cudaLaunchKernel", "select start_ns, end_ns from api_call where name = 'cudaLaunchKernel' order by start_ns limit 1"),
], ids=["step", "operator", "call"])
def test_a_selected_slice_is_measured(visit, exported, program, name, row):
    begin, end = list(sql(program, INPUT_BOUND, row, 0, 0)[0].values())
    page = visit(exported(INPUT_BOUND), "page=timeline")
    page.wait_for_selector("canvas[data-complete]")
    page.keyboard.press("/")
    page.keyboard.type(f"/^{name}$/")
    page.keyboard.press("Enter")
    wait_for_details(page)
    page.get_by_role("button", name="Measure", exact=True).click()
    page.wait_for_selector(f".range-drawer[data-answered='{begin}-{end}']")
    assert f"m={begin}-{end}" in settled(page)


def test_s_keeps_the_range_with_a_number_a_note_and_in_the_address(visit, sample_page):
    page = visit(sample_page("drawn"), "page=timeline&m=22000-85000")
    page.wait_for_selector(".range-drawer[data-answered]")
    page.locator(".lanes canvas").focus()
    page.keyboard.press("s")
    expect(page.locator(".kept li")).to_have_count(1)
    assert window(page) == (0, 100_000)  # a tap does not zoom
    page.get_by_label("Note of range 1").fill("the slow; part")
    settled(page)
    page.evaluate("location.hash = location.hash.replace(/m=[^&]*/, 'm=0-40000')")
    page.locator(".lanes canvas").focus()
    page.keyboard.press("s")
    expect(page.locator(".kept li")).to_have_count(2)
    address = settled(page)
    again = visit(sample_page("drawn"), address.split("#")[1])
    expect(again.get_by_label("Note of range 1")).to_have_value("the slow; part")
    again.get_by_role("button", name=re.compile("^1 · 63.0 us")).click()
    again.wait_for_selector(".range-drawer[data-answered='22000-85000']")
    again.get_by_role("button", name="Remove range 1").click()
    expect(again.locator(".kept li")).to_have_count(1)
    again.get_by_role("button", name="Keep").click()
    expect(again.locator(".kept li").first).to_contain_text("1 · 63.0 us")


def test_holding_s_zooms_out_and_keeps_nothing(visit, sample_page):
    page = visit(sample_page("drawn"), "page=timeline&m=22000-85000&t=40000-50000")
    page.wait_for_selector(".range-drawer[data-answered]")
    page.locator(".lanes canvas").focus()
    page.keyboard.down("s")
    page.wait_for_timeout(600)
    page.keyboard.up("s")
    reaches(lambda: window(page), lambda view: view[1] - view[0] > 12_000)
    expect(page.locator(".kept li")).to_have_count(0)


def test_the_flame_graph_of_a_range(visit, exported, program, is_accessible):
    length = length_of(program, PYTHON)
    a, z = round(0.2 * length), round(0.5 * length)
    page = visit(exported(PYTHON), "page=timeline")
    answered(page, a, z)
    kernels = sum(ns for title in ("Kernels", "Copies and fills") for ns, _ in table(page, title).values())
    idle = sum(ns for ns, _ in table(page, "Idle time by cause").values())
    page.get_by_role("button", name="Flame graph").click()
    root = page.locator(".range-drawer .flame .box").first
    exact = lambda: int(re.search(r"([\d,]+) ns, self", root.get_attribute("title"))[1].replace(",", ""))
    for time, total in [("device", kernels), ("idle", idle)]:
        page.get_by_label("Width", exact=False).and_(page.locator("select")).select_option(time)
        reaches(exact, total)
        for view in ("callers", "callees"):
            page.get_by_label("View:").select_option(view)
            reaches(exact, total)
    page.get_by_label("Include Python functions").check()
    reaches(exact, idle)
    page.get_by_label("Search the flame graph").fill("/scaled_dot/")
    expect(page.locator(".range-drawer .matched-box").first).to_be_visible()
    expect(page.locator(".range-drawer .tools-line [role=status]")).to_contain_text("matches")
    page.locator(".range-drawer .matched-box").first.click()
    name = page.locator(".range-drawer .focused strong").inner_text()
    page.get_by_role("button", name="Callers and callees").click()
    expect(page.get_by_role("tree")).to_have_count(2)
    expect(page.locator(".range-drawer .flame .box").first).to_have_attribute("title", re.compile(f"^{re.escape(name)}\n"))
    is_accessible(page)
    page.get_by_role("button", name="Show on the timeline").first.click()
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text(name)


def test_the_answer_is_accessible(visit, exported, is_accessible):
    page = visit(exported(INPUT_BOUND), "page=timeline&keep=1:1000000-90000000:first")
    answered(page, 1_000_000, 90_000_000)
    is_accessible(page)
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(page.locator(".range-body")).to_have_count(0)


def overlapping(path, seed):
    """Write operators, calls and Python functions of one thread that start and end at random; return their intervals in ns."""
    rng, events, spans = random.Random(seed), [], []
    for i in range(400):
        start, length = rng.randrange(0, 20_000), rng.choice((0, 5, 40, 300, 4_000))
        category = rng.choice(("cpu_op", "python_function", "user_annotation", "cuda_runtime"))
        events.append({"ph": "X", "cat": category, "name": f"{category}.{rng.randrange(6)}", "pid": 1, "tid": 1, "ts": start / 10, "dur": length / 10, "args": {}})
        spans.append((start * 100, (start + length) * 100))
    events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0, "dur": 2_500, "args": {"device": 0, "stream": 7}})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return spans


def covered(spans, a, z):
    total, end = 0, a
    for start, stop in sorted(spans):
        total += max(0, min(stop, z) - max(start, end))
        end = max(end, min(stop, z))
    return total


@pytest.mark.parametrize("seed", [1, 2])
def test_self_times_are_never_negative_and_add_up_to_the_covered_time(visit, exported, tmp_path, seed):
    """Also where events overlap without nesting, as operators and the Python functions inside them do by rounding."""
    path = tmp_path / f"overlapping-{seed}.json"
    spans = overlapping(path, seed)
    page = visit(exported(path), "page=timeline")
    rng = random.Random(seed)
    for a, z in [(0, 2_500_000), *(sorted(rng.sample(range(2_500_000), 2)) for _ in range(4))]:
        answered(page, a, z)
        own = []
        for title in ("Operators and ranges", "Calls", "Python functions"):
            table(page, title)  # shows all rows
            own += [self_time(each) for each in page.locator(f".range-drawer section[aria-label='{title}'] tbody button").evaluate_all("(all) => all.map(({title}) => title)")]
        assert min(own) >= 0
        assert sum(own) == covered(spans, a, z)


def test_flame_graphs_keep_the_threads_of_ranks_apart(visit, exported):
    """Two ranks have equal process and thread numbers."""
    ranks = FIXTURES.parents[1] / "examples" / "ranks"
    page = visit(exported(ranks / "rank00000.json.gz", ranks / "rank00001.json.gz"), "page=timeline&m=0-100000000&drawer=flame")
    roots = page.locator(".flame [role=treeitem][aria-level='2']")
    roots.first.wait_for()
    names = [title.split("\n")[0] for title in roots.evaluate_all("(all) => all.map(({title}) => title)")]
    assert len(set(names)) == len(names) >= 2
    assert any("rank 0" in name for name in names) and any("rank 1" in name for name in names)
