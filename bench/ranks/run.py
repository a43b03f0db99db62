#!/usr/bin/env python3
"""The speed of the page of a job of many ranks: size, first paint, hovering, changing the quantity.

    bench/ranks/run.py PAGE.html ... [--chromium PATH]

A page is written by `gpu-profile export html JOB.gpuprof`; make_job enlarges a job. Chromium runs headless with software rendering. Reported per page, as JSON on standard output:

  file_bytes
  first_paint_ms   navigation to the first heat map whose cells have all arrived, median of five
  draw_ms          scaling the cells down and drawing them, p50 / max
  hover_ms         finding the cell under the pointer and its text, p50 / p95 / max
  interval_ms      time between displayed frames while the pointer moves, p50 / p95 / max
  quantity_ms      choosing a quantity that was not shown before, to its picture, p50 / max
"""

import argparse
import json
import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1440, "height": 900}
RUNS = 5

# From the choice of a quantity to the end of the drawing after it.
CHOSEN = """async (before) => {
  while (performance.getEntriesByName('heat map').length <= before) await new Promise(requestAnimationFrame);
  const drawn = performance.getEntriesByName('heat map').at(-1);
  return drawn.startTime + drawn.duration - performance.getEntriesByName('chosen').at(-1).startTime;
}"""

# Moves the pointer over the cells, one place per frame.
HOVER = """async (frames) => {
  const canvas = document.querySelector('.heat canvas');
  const {width, height, left, top} = canvas.getBoundingClientRect();
  performance.clearMeasures('hover');
  const intervals = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    const [x, y] = [width * (0.1 + 0.7 * ((i * 37) % frames) / frames), height * 0.8 * ((i * 61) % frames) / frames];
    canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: left + x, clientY: top + y}));
    const now = await new Promise(requestAnimationFrame);
    intervals.push(now - last);
    last = now;
  }
  return {intervals, hover: performance.getEntriesByName('hover').map((entry) => entry.duration)};
}"""


def spread(values):
    values = sorted(values)
    at = lambda share: round(values[min(len(values) - 1, int(share * len(values)))], 2)
    return {"p50": at(0.5), "p95": at(0.95), "max": at(1.0), "count": len(values)}


def open_page(browser, path):
    page = browser.new_page(viewport=SIZE)
    page.goto(path.resolve().as_uri())
    page.wait_for_selector(".heat canvas[data-complete]")
    return page


def measure(browser, path):
    first = []
    for _ in range(RUNS):
        page = open_page(browser, path)
        first.append(page.evaluate("performance.getEntriesByName('data')[0].duration"))
        page.close()
    page = open_page(browser, path)
    hovered = page.evaluate(HOVER, 300)
    chosen = []
    choice = page.locator(".heat select").first
    for name in choice.locator("option").evaluate_all("options => options.map((option) => option.value)")[1:]:
        before = page.evaluate("() => (performance.mark('chosen'), performance.getEntriesByName('heat map').length)")
        choice.select_option(name)
        chosen.append(page.evaluate(CHOSEN, before))
    drawn = page.evaluate("performance.getEntriesByName('heat map').map((entry) => entry.duration)")
    page.close()
    return {
        "page": path.name,
        "file_bytes": path.stat().st_size,
        "first_paint_ms": spread(first),
        "draw_ms": spread(drawn),
        "hover_ms": spread(hovered["hover"]),
        "interval_ms": spread(hovered["intervals"]),
        "quantity_ms": spread(chosen),
    }


def main():
    parser = argparse.ArgumentParser(description="Measure the page of a job of many ranks.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--chromium", default=os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome"))
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        for path in given.pages:
            print(json.dumps(measure(browser, path), indent=1))
        browser.close()


if __name__ == "__main__":
    main()
