#!/usr/bin/env python3
"""How fast the viewer is: first paint, frames while panning and zooming, size of the file.

    bench/viewer/run.py [PAGE.html ...] [--events N] [--chromium PATH]

Without a page it makes a synthetic one of N events (web/test/synthetic.ts). Chromium runs headless with software
rendering. Reported per page, as JSON on standard output:

  first_paint_ms   navigation to the first frame of the timeline whose data has all arrived
  frame_ms         time from the start of a frame's work to the end of its drawing commands, p50 / p95 / max
  interval_ms      time between frames as the screen got them, p50 / p95 / max: 16.7 is every refresh of a 60 Hz screen
  file_bytes

A pan and a zoom change the window before every frame; 300 frames each at four depths.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]

# Pans back and forth, then zooms in and out, one change a frame, from where the window is now.
DRIVE = """async (frames) => {
  const canvas = document.querySelector('.lanes canvas');
  const {width, height} = canvas.getBoundingClientRect();
  const intervals = [];
  performance.clearMeasures('frame');
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    const pan = i < frames / 2;
    const back = i % 60 >= 30;
    const event = new WheelEvent('wheel', pan ? {deltaX: back ? -40 : 40, cancelable: true} : {deltaY: back ? 30 : -30, ctrlKey: true, cancelable: true});
    Object.defineProperty(event, 'offsetX', {value: width / 2});
    Object.defineProperty(event, 'offsetY', {value: height / 2});
    canvas.dispatchEvent(event);
    const now = await new Promise(requestAnimationFrame);
    intervals.push(now - last);
    last = now;
  }
  return {intervals, frames: performance.getEntriesByName('frame').map((entry) => entry.duration)};
}"""

PAINTED = "performance.getEntriesByName('data')[0].duration"


def spread(values):
    values = sorted(values)
    at = lambda share: round(values[min(len(values) - 1, int(share * len(values)))], 2)
    return {"p50": at(0.5), "p95": at(0.95), "max": at(1.0), "count": len(values)}


def measure(browser, page_file):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{page_file.resolve().as_uri()}#page=timeline")
    page.wait_for_selector("canvas[data-complete]")
    first = page.evaluate(PAINTED)
    page.wait_for_timeout(1000)
    frames, intervals = [], []
    for depth in (1, 8, 100, 5000):
        page.keyboard.press("0")
        page.evaluate(ZOOM, depth)
        page.wait_for_timeout(400)
        driven = page.evaluate(DRIVE, 300)
        frames += driven["frames"]
        intervals += driven["intervals"]
    page.close()
    return {
        "page": page_file.name,
        "file_bytes": page_file.stat().st_size,
        "first_paint_ms": round(first),
        "frame_ms": spread(frames),
        "interval_ms": spread(intervals),
    }


ZOOM = """(depth) => {
  const canvas = document.querySelector('.lanes canvas');
  let left = Math.log(depth) / 0.004;
  while (left > 0) {
    const event = new WheelEvent('wheel', {deltaY: -Math.min(200, left), ctrlKey: true, cancelable: true});
    Object.defineProperty(event, 'offsetX', {value: canvas.clientWidth / 2});
    canvas.dispatchEvent(event);
    left -= 200;
  }
}"""


def synthetic(events, folder):
    web = ROOT / "web"
    page = folder / f"synthetic-{events}.html"
    subprocess.run(["node", "build.mjs"], cwd=web, check=True, stdout=sys.stderr)
    subprocess.run(["node", "test/make_page.mjs", "synthetic", page, str(events)], cwd=web, check=True)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = options.pages or [synthetic(options.events, Path(folder))]
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu"])
        for page in pages:
            print(json.dumps(measure(browser, page)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
