"""`gpu-profile view` in Chromium: the token is removed from the address, reload and permalinks work, others are
denied."""

import re
import subprocess
from pathlib import Path

import pytest
from waiting import settled, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

RECORDINGS = Path(__file__).resolve().parents[1] / "fixtures" / "kineto"


def ready(page):
    page.wait_for_selector("header.bar")
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_selector("canvas[data-complete]")


def test_a_served_recording(new_page, address):
    page = new_page()
    wrong, asked = [], []
    page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    ready(page)
    token = address.split("#")[1]
    assert token not in page.url
    origin = address.split("#")[0]
    assert all(url.startswith((origin, "blob:", "data:")) for url in asked)
    assert not any(token in url.split("#")[0] for url in asked)
    page.keyboard.press("/")
    page.keyboard.type("aten::mm")
    page.keyboard.press("Enter")
    wait_for_details(page)
    settled(page)
    shown = page.locator("section.details .full").inner_text()
    page.reload()
    ready(page)
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text(shown)
    assert wrong == []


def test_what_is_typed_while_the_recording_is_read_is_not_lost(new_page, address):
    """Names are read before anything is shown; where they are, comes with the events."""
    page = new_page()
    page.goto(address)
    page.wait_for_selector(".answer")
    held = []
    page.route("**/blobs/*", lambda route: route.continue_() if held is None else held.append(route))
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.keyboard.press("/")
    page.keyboard.type("aten::mm")
    page.keyboard.press("Enter")
    expect(page.locator(".search [role=status]")).to_have_text(re.compile(r"events?, \d+ names?"))
    expect(page.locator("section.details .full")).to_have_count(0)
    waiting, held = held, None
    assert waiting
    for route in waiting:
        route.continue_()
    wait_for_details(page)
    expect(page.locator("section.details .full")).to_have_text(re.compile("aten::mm"))


def test_a_served_comparison(new_page, served):
    page = new_page()
    wrong = []
    page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
    page.goto(served(RECORDINGS / "overlap.json.gz", "--base", RECORDINGS / "transformer.json.zst"))
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
    assert [each.inner_text().split()[1] for each in page.locator(".timelines h3").all()] == ["transformer.json.zst", "overlap.json.gz"]
    page.get_by_role("button", name="Next step").click()
    settled(page)
    page.reload()
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
    expect(page.get_by_label("Aligned at")).to_have_value("1")
    assert wrong == []


def test_without_the_address_there_is_nothing(new_page, address):
    page = new_page()
    page.goto(address.split("#")[0])
    page.wait_for_selector(".notice:has-text('gpu-profile view')")


def test_a_second_browser_gets_in_by_the_same_address(new_page, address):
    for _ in range(2):
        page = new_page()  # with cookies of its own
        page.goto(address)
        page.wait_for_selector(".answer")


def started(program, *arguments):
    """Return the process of `view`, and the address that it prints."""
    process = subprocess.Popen([program.path, "view", "--no-open", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return process, re.search(r"http://127\.0\.0\.1:\d+/#\S+", process.stdout.readline().decode())[0]


def test_a_program_that_ended_takes_nothing_away_and_comes_back(new_page, program):
    recording = RECORDINGS / "small_kernels.json.zst"
    process, address = started(program, recording)
    page = new_page()
    try:
        page.goto(address)
        ready(page)
        process.kill()
        process.wait(10)
        page.keyboard.press("/")
        page.keyboard.type("aten::")
        port = re.search(r":(\d+)/", address)[1]
        lost = page.get_by_role("alert")
        expect(lost).to_contain_text(f"gpu-profile ended; start it again with gpu-profile view small_kernels.json.zst --port {port}")
        expect(page.locator(".search [role=status]")).to_contain_text("events")  # the names were read before
        assert "Failed to fetch" not in page.inner_text("body")
        place = settled(page)
        page.get_by_role("button", name="Retry").click()
        expect(lost).to_contain_text("gpu-profile ended")
        process, address = started(program, recording, "--port", port)
        page.get_by_role("button", name="Retry").click()
        expect(lost).to_contain_text("was started again")
        page.evaluate("(token) => { location.hash = token }", address.split("#")[1])
        expect(lost).to_have_count(0)
        expect(page.locator(".search [role=status]")).to_contain_text("events")
        assert settled(page) == place
        assert "Failed to fetch" not in page.inner_text("body")
    finally:
        process.kill()
        process.wait(10)
