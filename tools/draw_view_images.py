#!/usr/bin/env python3
"""Takes the screenshots of the viewer that the documentation shows, docs/images/view-*.png.

    .venv/bin/pip install pillow    # once; nothing else in the repository needs it
    .venv/bin/python tools/draw_view_images.py BINARY [NAME...]

Exports pages of the repository's recordings with BINARY and photographs them in headless Chromium. Run it after a change of the
viewer that the images show, and look at the result: no test compares images. NAME is one of SHOTS; without any, all are taken.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
KINETO = "tests/fixtures/kineto"
HEAVY = f"{KINETO}/transformer-stacks-shapes-memory.json.gz"


def click(text):
    """Return a step that clicks the first button or link with this text."""
    return lambda page: page.locator("button, a").get_by_text(text, exact=True).first.click()


# name: arguments of `export html`, height in pixels, colour scheme, what to do before the picture is taken
SHOTS = {
    "overview": (["examples/input_bound.json.gz"], 720, "light", None),
    "timeline": (["examples/input_bound.json.gz"], 620, "light", click("gap-1")),
    "two-gpus": (["tests/fixtures/nsys/h100_2gpu_1s.sqlite.gz"], 620, "dark", click("Timeline")),
    "charts": ([HEAVY], 1080, "light", click("Charts")),
    "comparison": ([HEAVY, "--base", f"{KINETO}/transformer.json.gz"], 1240, "light", None),
}


def photograph(browser, page_file, height, scheme, prepare):
    context = browser.new_context(viewport={"width": 1280, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_timeout(1000)
    if prepare:
        prepare(page)
        page.wait_for_timeout(1000)
    page.mouse.move(1050, 20)  # over nothing that reacts
    image = page.screenshot()
    context.close()
    return Image.open(io.BytesIO(image)).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def main():
    program, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or list(SHOTS)
    chromium = os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names:
            recordings, *view = SHOTS[name]
            page_file = Path(folder, f"{name}.html")
            subprocess.run([program, "export", "html", *recordings, "-o", page_file], cwd=ROOT, check=True)
            photograph(browser, page_file, *view).save(ROOT / "docs" / "images" / f"view-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
