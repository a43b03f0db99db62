#!/usr/bin/env python3
"""The speed of the viewer: first paint, frames during panning and zooming, size of the file.

    bench/viewer/run.py [PAGE.html ...] [--events N] [--chromium PATH]
    bench/viewer/run.py --serve RECORDING [--program PATH] [--chromium PATH]

Without a page it makes a synthetic one of N events (web/test/synthetic.ts). With --serve it starts `gpu-profile view`
and opens the address that it prints. Chromium runs headless with software rendering. Reported per page, as JSON on
standard output:

  first_paint_ms   navigation to the first frame of the timeline whose data has all arrived
  frame_ms         time from the start of a frame's work to the end of its drawing commands, p50 / p95 / max
  interval_ms      time between displayed frames, p50 / p95 / max: 16.7 is every refresh of a 60 Hz screen
  range_answer_ms  from a measured range to its tables on the page: the first one on a fresh page, and p50 / p95 / max of
                   others of the whole to a thousandth of the recording
  file_bytes

A pan and a zoom change the window before every frame: 300 frames each at four depths, or for a served recording 60
frames each at four depths and five places. For a served recording also:

  address_s        start of the program to the line with the address
  program_mib      resident memory of the program: when it prints the address, peak until then, at the end
  overview_ms      navigation to the first answer on the screen
  request_ms       time of a request for blobs during panning and zooming, p50 / p95 / max, and bytes of a reply, p50 / max
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SIZE = {"width": 1280, "height": 720}

# Pans back and forth, then zooms in and out, one change per frame, from the current window.
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


def first_paint(page):
    page.wait_for_selector("canvas[data-complete]", timeout=120_000)
    return round(page.evaluate(PAINTED))


# Shares of the recording; the first is measured before anything else was read.
RANGES = [(0.3, 0.7), (0, 1), (0.1, 0.2), (0.45, 0.451), (0.05, 0.95), (0.61, 0.64), (0.8, 0.99), (0.2, 0.201), (0.5, 0.9)]


def range_answers(page, length):
    times = []
    for begin, end in ((int(begin * length), int(end * length)) for begin, end in RANGES):
        page.evaluate(f"location.hash = 'page=timeline&m={begin}-{end}'")
        page.wait_for_selector(f".range-drawer[data-answered='{begin}-{end}']")
        times.append(page.evaluate("performance.getEntriesByName('range answer').at(-1).duration"))
    page.get_by_role("region", name="Measured range").get_by_role("button", name="Clear").click()
    return {"first": round(times[0], 1), "next": spread(times[1:])}


def measure(browser, page_file):
    page = browser.new_page(viewport=SIZE)
    page.goto(f"{page_file.resolve().as_uri()}#page=timeline")
    first = first_paint(page)
    page.wait_for_timeout(1000)
    answers = range_answers(page, page.evaluate("JSON.parse(document.getElementById('manifest').textContent).window_ns"))
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
        "first_paint_ms": first,
        "range_answer_ms": answers,
        "frame_ms": spread(frames),
        "interval_ms": spread(intervals),
    }


def memory_mib(process):
    """Resident memory now, and its peak so far."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return [int(lines[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM")]


def measure_served(browser, program, recording):
    started = time.monotonic()
    process = subprocess.Popen([program, "view", "--no-open", recording], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = process.stdout.readline().strip()
        address_s = round(time.monotonic() - started, 2)
        resident, most = memory_mib(process)
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.wait_for_selector("section.verdict")
        overview = round(page.evaluate("performance.now()"))
        page.goto("about:blank")
        page.goto(address.split("#")[0] + "#page=timeline")
        first = first_paint(page)
        length = page.evaluate("fetch('/manifest').then((reply) => reply.json()).then((manifest) => manifest.window_ns)")
        answers = range_answers(page, length)
        page.evaluate("performance.setResourceTimingBufferSize(1e6); performance.clearResourceTimings()")
        frames, intervals = [], []
        for depth in (1, 8, 100, 5000):
            for share in (0.1, 0.3, 0.5, 0.7, 0.9):
                begin, span = int(share * length * (1 - 1 / depth)), int(length / depth)
                page.evaluate(f"location.hash = 'page=timeline&t={begin}-{begin + span}'")
                page.wait_for_timeout(400)
                driven = page.evaluate(DRIVE, 60)
                frames += driven["frames"]
                intervals += driven["intervals"]
        requests = page.evaluate(REQUESTS)
        page.close()
        return {
            "recording": recording.name,
            "recording_bytes": recording.stat().st_size,
            "address_s": address_s,
            "program_mib": {"at_address": resident, "most_until_then": most, "at_end": memory_mib(process)[0]},
            "overview_ms": overview,
            "first_paint_ms": first,
            "range_answer_ms": answers,
            "frame_ms": spread(frames),
            "interval_ms": spread(intervals),
            "request_ms": spread([each["ms"] for each in requests]),
            "reply_bytes": spread([each["bytes"] for each in requests]),
        }
    finally:
        process.terminate()
        process.wait()


REQUESTS = """performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/blobs/'))
  .map((entry) => ({ms: entry.duration, bytes: entry.encodedBodySize}))"""


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
    parser.add_argument("--serve", type=Path, metavar="RECORDING")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "bench" / "gpu-profile")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu"])
        if options.serve:
            print(json.dumps(measure_served(browser, options.program, options.serve)))
        else:
            for page in options.pages or [synthetic(options.events, Path(folder))]:
                print(json.dumps(measure(browser, page)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
