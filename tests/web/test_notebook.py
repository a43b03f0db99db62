"""The page in the frame of a notebook: it has an origin of its own, and works without its parent."""

import html
from pathlib import Path

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "input_bound.json.gz"


def test_the_page_works_in_a_frame(new_page, exported, tmp_path):
    frame = f'<iframe title="gpu-profile" sandbox="allow-scripts allow-downloads" style="width: 100%; height: 700px" srcdoc="{html.escape(exported(EXAMPLE).read_text())}"></iframe>'
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{frame}")
    page, wrong = new_page(offline=True), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator(".verdict")).to_be_visible()
    inside.get_by_role("button", name="Timeline", exact=True).click()
    inside.locator("canvas[data-complete]").wait_for()
    inside.get_by_role("button", name="Tables", exact=True).click()
    expect(inside.get_by_role("gridcell").first).to_be_visible()
    assert wrong == []
