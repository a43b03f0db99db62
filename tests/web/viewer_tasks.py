"""Common tasks of docs/guides/viewer-tasks.md, done by mouse and by keyboard on pages of bundled recordings. `Hands` counts what a person
does; a check reads the answer from the page and compares it with what the program says of the recording.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

from sql_answers import sql
from track_places import place
from waiting import reaches, wait_for_details

ROOT = Path(__file__).resolve().parents[2]
KINETO = ROOT / "tests" / "fixtures" / "kineto"
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
MEMORY = KINETO / "transformer-stacks-shapes-memory.json.zst"
OLD = KINETO / "transformer.json.zst"
RANKS = ROOT / "examples" / "ranks"


class Hands:
    """A mouse and a keyboard. What they do counts; zooming, scrolling and reading do not."""

    def __init__(self, page, program):
        self.page, self.program, self.actions = page, program, 0

    def click(self, what):
        self.actions += 1
        what.click()

    def click_at(self, x, y):
        self.actions += 1
        self.page.mouse.click(x, y)

    def drag(self, x, until, y):
        self.actions += 1
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(until, y, steps=4)
        self.page.mouse.up()

    def press(self, *keys):
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def type(self, text):
        self.actions += 1
        self.page.keyboard.type(text)

    def open(self, name):
        self.click(self.page.get_by_role("navigation", name="Pages").get_by_role("button", name=name, exact=True))

    def zoom(self, begin, end):
        """Does not count."""
        self.page.wait_for_selector("canvas[data-complete]")
        self.page.evaluate("(t) => (location.hash = location.hash.replace(/&t=[^&]*/, '') + t)", f"&t={begin}-{end}")
        reaches(lambda: self.page.locator("canvas[data-complete]").count(), 1)


@dataclass
class Task:
    number: int
    recording: Path
    mouse: Callable
    keys: Callable
    check: Callable  # of the page, with the program
    options: tuple = ()
    is_served: bool = False
    before: Optional[Callable] = None  # what the task starts from, which does not count
    commands: int = 0  # typed to open it


def nothing(_):
    pass


def exact_duration(page):
    """Of the selected event, in ns."""
    wait_for_details(page)
    return int(re.search(r"([\d,]+) ns", page.locator("section.details tr:has(th:text-is('duration')) td").inner_text())[1].replace(",", ""))


def field(page, name):
    """What the panel says of the selected event, exactly."""
    wait_for_details(page)
    return page.locator(f"section.details tr:has(th:text-is('{name}')) td").get_attribute("title")


def start_of(page):
    return int(re.sub(r"\D", "", field(page, "start")))


def name_of(page):
    return page.locator("section.details .full").inner_text()


# The first page: 1, 2, 29


def shows_idle_time_by_cause(page, program):
    rows = program.report(EXAMPLE, "idle")["idle"].rows
    bars = page.locator("section[aria-label='Idle time by cause'] .bars button")
    read = lambda: bars.evaluate_all("all => all.map((each) => [each.querySelector('.label').textContent.trim(), each.title])")
    shown = reaches(read, lambda all: len(all) == len(rows))
    assert all(label.endswith(row["cause"]) and title.startswith(f"{row['total_ns']:,} ns") for (label, title), row in zip(shown, rows))


def shows_advice_with_evidence(page, program):
    first = page.locator("section.findings article").first
    first.locator("details li").first.wait_for()
    said = program.report(EXAMPLE).document["findings"][0]
    assert said["remedy"].replace("`", "") in first.locator(".remedy").inner_text()


def shows_gains(page, program):
    section = page.get_by_role("region", name="Predicted changes")
    section.wait_for()
    assert len(re.findall(r"\d %", section.inner_text())) >= 3


# Idle time: 3, 4


def longest_gap(program):
    return max(program.report(EXAMPLE, "gaps")["gaps"].rows, key=lambda row: row["dur_ns"])


def click_the_largest_cause(hands):
    hands.click(hands.page.locator("section[aria-label='Idle time by cause'] .bars button").first)


def shows_the_longest_gap(page, program):
    reaches(lambda: exact_duration(page), longest_gap(program)["dur_ns"])


def click_its_thread(hands):
    click_the_largest_cause(hands)
    hands.click(hands.page.locator("section.details tr:has(th:text-is('host thread')) button"))


def follow_it_to_its_thread(hands):
    hands.press("g")
    wait_for_details(hands.page)
    hands.press("l")


def shows_what_the_thread_did(page, program):
    gap = longest_gap(program)
    reaches(lambda: field(page, "thread"), gap["host_thread"])
    start = start_of(page)
    assert start < gap["start_ns"] + gap["dur_ns"] and start + exact_duration(page) > gap["start_ns"]


# Ranges: 5, 6

STRETCH = (105_000_000, 160_000_000)


def drag_on_the_ruler(hands):
    hands.open("Timeline")
    hands.zoom(*STRETCH)
    box = hands.page.locator(".lanes canvas").bounding_box()
    hands.drag(box["x"] + 0.1 * box["width"], box["x"] + 0.9 * box["width"], box["y"] + 40)


def measure_the_window(hands):
    hands.press("2")
    hands.zoom(*STRETCH)
    hands.press("Shift+M")


def shows_kernels_of_the_range(page, program):
    drawer = page.locator(".range-drawer[data-answered]")
    drawer.wait_for()
    begin, end = map(int, drawer.get_attribute("data-answered").split("-"))
    query = "select sum(overlap(start_ns, end_ns, {a}, {z})) ns from kernel where start_ns < {z} and end_ns > {a}"
    kernels = drawer.locator("section[aria-label='Kernels']")
    if (more := kernels.get_by_role("button", name="Show all")).count():
        more.click()
    read = lambda: kernels.locator("tbody button").evaluate_all("all => all.map((each) => each.title)")
    time_of = lambda title: int(re.sub(r"\D", "", title.rsplit("\n", 1)[1].split(" ns")[0]))
    reaches(lambda: sum(map(time_of, read())), sql(program, EXAMPLE, query, begin, end)[0]["ns"])


# An event: 7 to 10. The first execution of a kernel that makes some large gradients.

WORD = "bn_bw_1C11"


def executions(program):
    return sql(program, EXAMPLE, f"select start_ns, dur_ns, correlation from kernel where name like '%{WORD}%' order by start_ns")


def click_a_kernel(hands):
    first = executions(hands.program)[0]
    hands.open("Timeline")
    hands.zoom(first["start_ns"] - first["dur_ns"], first["start_ns"] + 2 * first["dur_ns"])
    hands.click_at(*place(hands.page, "stream 7", 0.5))
    wait_for_details(hands.page)


def click_a_match(hands, text=WORD):
    hands.open("Timeline")
    hands.click(hands.page.get_by_role("searchbox", name="Search events"))
    hands.type(text)
    hands.click(hands.page.locator(".matches li:not(.hide) button").first)


def enter_a_match(hands, text=WORD):
    hands.press("/")
    hands.page.get_by_role("searchbox", name="Search events").wait_for()
    hands.type(text)
    hands.page.locator(".matches li:not(.hide)").first.wait_for()
    hands.press("Enter")
    wait_for_details(hands.page)


def shows_an_execution(page, program):
    starts = {each["start_ns"] for each in executions(program)}
    reaches(lambda: start_of(page), lambda start: start in starts)
    assert WORD in name_of(page)


def shows_the_second_execution(page, program):
    reaches(lambda: (start_of(page), WORD in name_of(page)), (executions(program)[1]["start_ns"], True))


LONG = "kernel: dur>500us"


def shows_a_long_kernel(page, program):
    count = sql(program, EXAMPLE, "select count(*) n from kernel where dur_ns > 500000")[0]["n"]
    reaches(lambda: page.locator(".search [role=status]").inner_text(), lambda text: f"of {count} events" in text)
    assert exact_duration(page) > 500_000


def click_its_launch(hands):
    click_a_kernel(hands)
    hands.click(hands.page.locator("dt:text-is('launched by') + dd button"))


def follow_it_to_its_launch(hands):
    enter_a_match(hands)
    hands.press("l")


def shows_the_launch(page, program):
    call = f"select start_ns, name from api_call where correlation = {executions(program)[0]['correlation']}"
    reaches(lambda: {"start_ns": start_of(page), "name": name_of(page)}, sql(program, EXAMPLE, call)[0])


def measure_by_keys(hands):
    hands.press("2")
    hands.page.wait_for_selector("canvas[data-complete]")
    hands.press("ArrowRight")
    wait_for_details(hands.page)
    hands.press("m")


def click_and_measure(hands):
    click_a_kernel(hands)
    hands.click(hands.page.locator("section.details").get_by_role("button", name="Measure", exact=True))


def measures_the_event(page, _):
    page.wait_for_selector(".range-drawer[data-answered]")
    begin, end = map(int, page.locator(".range-drawer").get_attribute("data-answered").split("-"))
    assert (begin, end - begin) == (start_of(page), exact_duration(page))


# Whole pages: 12, 14, 20, 25, 28, 30


def shows_fastest_and_slowest(page, program):
    steps = sorted(program.report(EXAMPLE, "steps")["steps"].rows, key=lambda step: step["dur_ns"])
    chosen = lambda side: page.get_by_label(side, exact=True).locator("option:checked").inner_text()
    reaches(lambda: [chosen(side).split(")")[0] for side in "AB"], [f"fastest step ({steps[0]['step']}", f"slowest step ({steps[-1]['step']}"])
    page.locator(".differences-of-ranges").get_by_label("Idle time by cause", exact=True).wait_for()


def shows_what_compare_says(page, program):
    said = program.comparison(OLD, MEMORY, "attribution", "kernels").document
    page.locator("section.verdict h1").wait_for()
    assert page.locator("section.verdict h1").inner_text() == said["verdict"]["name"]
    page.get_by_role("region", name="Kernels").or_(page.locator("[aria-label='Kernels']")).first.wait_for()


QUERY = "SELECT count(*) AS n, sum(dur_ns) AS total_ns FROM kernel"


def click_and_run(hands):
    hands.open("SQL")
    hands.page.get_by_label("SQL", exact=True).wait_for()
    hands.type(QUERY)
    hands.click(hands.page.get_by_role("button", name="Run", exact=True))


def press_and_run(hands):
    hands.press("6")
    hands.page.get_by_label("SQL", exact=True).wait_for()
    hands.type(QUERY)
    hands.press("Control+Enter")


def shows_the_answer(page, program):
    said = sql(program, EXAMPLE, QUERY)[0]
    read = lambda: page.get_by_role("gridcell").all_inner_texts()
    reaches(lambda: [text.replace(",", "") for text in read()][:1], [str(said["n"])])


def shows_the_peak(page, program):
    (peak,) = program.report(MEMORY, "memory")["memory"].rows
    chart = page.locator("#memory")
    said = chart.locator("p.about button").get_attribute("title")
    assert said == f"{peak['peak_bytes']:,} bytes at {peak['at_ns']:,} ns"
    assert peak["largest"] in chart.inner_text()


def shows_the_path(page, program):
    shares = {}
    for row in program.report(EXAMPLE, "criticalpath")["criticalpath"].rows:
        shares[row["part"]] = shares.get(row["part"], 0) + row["total_ns"]
    lines = page.locator("section.path tr")
    read = lambda: {row[0]: int(re.sub(r"\D", "", row[1])) for row in lines.evaluate_all("all => all.map((each) => [each.cells[0].textContent, each.title])")}
    reaches(read, shares)


def open_and_mark(hands):
    hands.open("Timeline")
    hands.click(hands.page.get_by_role("button", name="Critical path", exact=True))


def shows_the_straggler(page, program):
    page.locator("nav[aria-label=Pages] [aria-current=page]").get_by_text("Job").wait_for()
    page.get_by_text("rank 5 (slow GPU)").first.wait_for()


def opens(name):
    return lambda hands: hands.open(name)


def presses(*keys):
    return lambda hands: hands.press(*keys)


TASKS = [
    Task(1, EXAMPLE, nothing, nothing, shows_idle_time_by_cause),
    Task(2, EXAMPLE, nothing, nothing, shows_advice_with_evidence),
    Task(3, EXAMPLE, click_the_largest_cause, presses("g"), shows_the_longest_gap),
    Task(4, EXAMPLE, click_its_thread, follow_it_to_its_thread, shows_what_the_thread_did),
    Task(5, EXAMPLE, drag_on_the_ruler, measure_the_window, shows_kernels_of_the_range),
    Task(6, EXAMPLE, click_and_measure, measure_by_keys, measures_the_event),
    Task(7, EXAMPLE, click_a_match, enter_a_match, shows_an_execution),
    Task(8, EXAMPLE, lambda hands: hands.click(hands.page.get_by_role("button", name="Next match")), presses("n"), shows_the_second_execution, before=enter_a_match),
    Task(9, EXAMPLE, lambda hands: click_a_match(hands, LONG), lambda hands: enter_a_match(hands, LONG), shows_a_long_kernel),
    Task(10, EXAMPLE, click_its_launch, follow_it_to_its_launch, shows_the_launch),
    Task(12, EXAMPLE, opens("Steps"), presses("3"), shows_fastest_and_slowest),
    Task(14, MEMORY, nothing, nothing, shows_what_compare_says, options=("--base", OLD), commands=1),
    Task(20, EXAMPLE, click_and_run, press_and_run, shows_the_answer, is_served=True),
    Task(25, MEMORY, opens("Charts"), presses("5"), shows_the_peak),
    Task(28, EXAMPLE, open_and_mark, presses("2", "c"), shows_the_path),
    Task(29, EXAMPLE, nothing, nothing, shows_gains),
    Task(30, RANKS, nothing, nothing, shows_the_straggler, is_served=True, commands=1),
]
