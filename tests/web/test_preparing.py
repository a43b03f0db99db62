"""A recording that takes long to prepare: `view` prints its address first, and the page shows the progress. Standard
input is the recording, so that the test decides when it has arrived."""

import re
import subprocess
import time
from pathlib import Path

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

RECORDING = Path(__file__).resolve().parents[1] / "fixtures" / "kineto" / "overlap.json.gz"
ADDRESS_S = 60  # far more than the second that it takes, for busy machines; less than the recording would ever take


@pytest.fixture
def waiting(program):
    """`view` of a recording that has not arrived yet, and its address."""
    process = subprocess.Popen([program.path, "view", "--no-open", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = time.monotonic()
    process.address = process.stdout.readline().decode().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#[0-9a-f]{32}", process.address)
    assert time.monotonic() - started < ADDRESS_S
    yield process
    process.kill()
    process.wait()


def test_progress_until_the_recording_is_ready(new_page, waiting, is_accessible):
    page = new_page()
    page.goto(waiting.address)
    expect(page.get_by_role("heading", name="Reading the recording")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Reading the recording")).to_be_visible()
    expect(page.locator(".preparing")).to_contain_text(re.compile(r"Step 1 of 3 · \d+ s"))
    is_accessible(page)
    waiting.stdin.write(RECORDING.read_bytes())
    waiting.stdin.close()
    expect(page.locator(".verdict")).to_be_visible()
    assert page.locator(".preparing").count() == 0


def test_a_recording_that_cannot_be_read_is_said_in_the_page_too(new_page, waiting):
    page = new_page()
    page.goto(waiting.address)
    expect(page.get_by_role("heading", name="Reading the recording")).to_be_visible()
    waiting.stdin.write(b"not a recording")
    waiting.stdin.close()
    expect(page.locator(".notice")).to_contain_text("unknown format")
    assert waiting.wait(30) == 3
    assert b"unknown format" in waiting.stderr.read()


def test_a_reload_during_the_preparation_goes_on(new_page, waiting):
    page = new_page()
    page.goto(waiting.address)
    expect(page.locator(".preparing")).to_be_visible()
    page.reload()
    expect(page.locator(".preparing")).to_be_visible()
    waiting.stdin.write(RECORDING.read_bytes())
    waiting.stdin.close()
    expect(page.locator(".verdict")).to_be_visible()


def test_what_is_known_is_shown_before_the_rest(new_page, waiting, is_accessible):
    """Reading and the first answer take less time than the tables."""
    page = new_page()
    said = {"stage": "analysing", "share": None, "known": ["input-bound: the GPU waits 70.4 % of the time", "DataLoader has no workers"], "elapsed_s": 3}
    page.route("**/progress", lambda route: route.fulfill(json=said))
    page.goto(waiting.address)
    known = page.get_by_role("region", name="Known so far").get_by_role("listitem")
    expect(known).to_have_text(said["known"])
    is_accessible(page)


class EarlyAnswers:
    """Between the page and `view`: what it says of a recording so long that its timeline comes before its answer."""

    SAID = {"stage": "analysing", "share": None, "known": ["Compute-bound: kernels take most of the time", "Copies overlap"], "timeline": True, "elapsed_s": 3}
    LATER = {"report": None, "pictures": None, "critical_path": None, "part_ns": None, "kernels": [], "sampled": [], "long_tables": []}

    def __init__(self, page):
        self.answered = False
        page.route("**/progress", lambda route: route.continue_() if self.answered else route.fulfill(json=self.SAID))
        page.route("**/manifest", self.manifest)

    def manifest(self, route):
        reply = route.fetch()
        route.fulfill(json=reply.json() if self.answered else {**reply.json(), **self.LATER})


@pytest.mark.parametrize("width", [1440, 390])
def test_the_timeline_comes_before_the_answer(new_page, served, is_accessible, width):
    page = new_page(viewport={"width": width, "height": 800})
    early = EarlyAnswers(page)
    page.goto(served(RECORDING))
    page.locator("canvas[data-complete]").wait_for()
    line = page.locator(".answer-line")
    expect(line).to_contain_text("The answer is being computed")
    expect(line).to_contain_text(EarlyAnswers.SAID["known"][0])
    if width > 800:  # else the panel below the timeline scrolls, with or without an answer
        is_accessible(page)
    canvas = page.locator(".lanes canvas").bounding_box()
    window = "t=1000000-5000000"
    page.evaluate(f"location.hash = 'page=timeline&{window}'")
    page.get_by_role("navigation").get_by_role("button", name="Overview").click()
    expect(page.get_by_role("heading", name="The answer is being computed")).to_be_visible()
    expect(page.get_by_role("region", name="Known so far").get_by_role("listitem")).to_have_text(EarlyAnswers.SAID["known"])
    is_accessible(page)
    page.get_by_role("navigation").get_by_role("button", name="Timeline").click()
    page.locator("canvas[data-complete]").wait_for()
    early.answered = True
    expect(line.get_by_role("button", name="Overview")).to_be_visible()
    assert page.locator(".lanes canvas").bounding_box() == canvas, "nothing moves when the answer arrives"
    assert window in page.url
    if width > 800:
        is_accessible(page)
    line.get_by_role("button", name="Overview").click()
    expect(page.locator(".verdict")).to_be_visible()
    expect(line).to_have_count(0)


def test_the_answer_takes_the_place_of_its_announcement(new_page, served):
    page = new_page()
    early = EarlyAnswers(page)
    queries = []
    page.on("request", lambda request: "/sql" in request.url and queries.append(request.url))
    page.goto(served(RECORDING))
    pages = page.get_by_role("navigation")
    pages.get_by_role("button", name="SQL").click()
    expect(page.locator(".sql-page .notice")).to_be_visible()
    pages.get_by_role("button", name="Overview").click()
    expect(page.get_by_role("heading", name="The answer is being computed")).to_be_visible()
    assert queries == [], "the program answers no SQL yet"
    early.answered = True
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.locator(".answer-line")).to_have_count(0)
