"""The page in the frame of a notebook: it has an origin of its own, and works without its parent, whatever its server does."""

import html
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from waiting import reaches

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "input_bound.json.gz"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(params=["file", "server"])
def notebook(request, exported, tmp_path):
    """The address of a page with the frame that Python makes: a file, or from a server as those of notebooks are."""
    frame = f'<iframe title="gpu-profile" sandbox="allow-scripts allow-downloads" style="width: 100%; height: 700px" srcdoc="{html.escape(exported(EXAMPLE).read_text())}"></iframe>'
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{frame}")
    if request.param == "file":
        yield (tmp_path / "notebook.html").as_uri()
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/notebook.html"
    server.shutdown()


def test_the_page_works_in_a_frame(new_page, notebook):
    page, wrong, asked = new_page(), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(notebook)
    inside = page.frame_locator("iframe")
    expect(inside.locator(".verdict")).to_be_visible()
    inside.get_by_role("button", name="Timeline", exact=True).click()
    inside.locator("canvas[data-complete]").wait_for()
    box = inside.locator(".lanes canvas").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40)
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 40)
    page.mouse.up()
    inside.locator(".range-drawer[data-answered]").wait_for()
    inside.get_by_role("navigation", name="Pages").get_by_role("button", name="Tables").click()
    expect(inside.get_by_role("gridcell").first).to_be_visible()
    frame = page.frames[1]
    reaches(lambda: frame.evaluate("location.hash"), lambda address: "page=tables" in address)
    assert frame.evaluate("location.href").startswith("about:srcdoc#")
    assert wrong == []
    assert [url for url in asked if not url.startswith(("blob:", "data:", "about:"))] == [notebook]
