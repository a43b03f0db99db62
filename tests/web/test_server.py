"""`gpu-profile view` in Chromium: the token is removed from the address, reload and permalinks work, others are
denied."""

from pathlib import Path

from address_bar import settled

RECORDINGS = Path(__file__).resolve().parents[1] / "fixtures" / "kineto"


def ready(page):
    page.wait_for_selector("header.bar")
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_selector("canvas[data-complete]")


def test_a_served_recording(browser, address):
    context = browser.new_context()
    page = context.new_page()
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
    page.wait_for_selector("section.details table")
    settled(page)
    shown = page.locator("section.details .full").inner_text()
    page.reload()
    ready(page)
    page.wait_for_selector("section.details table")
    assert page.locator("section.details .full").inner_text() == shown
    assert wrong == []
    context.close()


def test_a_served_comparison(browser, served):
    context = browser.new_context()
    page = context.new_page()
    wrong = []
    page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
    page.goto(served(RECORDINGS / "overlap.json.gz", "--base", RECORDINGS / "transformer.json.gz"))
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
    assert [each.inner_text().split()[1] for each in page.locator(".timelines h3").all()] == ["transformer.json.gz", "overlap.json.gz"]
    page.get_by_role("button", name="Next step").click()
    settled(page)
    page.reload()
    page.locator(".timelines canvas[data-complete]").nth(1).wait_for()
    assert page.locator(".timelines select").input_value() == "1"
    assert wrong == []
    context.close()


def test_without_the_address_there_is_nothing(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(address.split("#")[0])
    page.wait_for_selector(".notice:has-text('gpu-profile view')")
    context.close()
