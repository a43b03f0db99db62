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
