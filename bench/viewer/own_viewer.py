"""Measures our viewer: a page in one file, or a recording that `gpu-profile view` serves. See run.py for what is reported."""

import subprocess
import time
from pathlib import Path

from tab import DEPTHS, DRIVE, resident_mib, spread, tab_mib

CANVAS = ".lanes canvas"
TURNS = {"in": -30, "out": 30}  # our page zooms by exp(0.004 * turn)
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Shares of the recording; the first is measured before anything else was read.
RANGES = [(0.3, 0.7), (0, 1), (0.1, 0.2), (0.45, 0.451), (0.05, 0.95), (0.61, 0.64), (0.8, 0.99), (0.2, 0.201), (0.5, 0.9)]

PREPARED = """async () => {
  for (;;) {
    const reply = await fetch('/progress'); // refused until the page has its cookie
    const {stage} = reply.ok ? await reply.json() : {};
    if (stage === 'ready' || stage === 'failed') return stage;
    await new Promise((resume) => setTimeout(resume, 50));
  }
}"""
LENGTH_IN_FILE = "JSON.parse(document.getElementById('manifest').textContent).window_ns"
LENGTH_SERVED = "fetch('/manifest').then((reply) => reply.json()).then((manifest) => manifest.window_ns)"
FRAMES = "performance.getEntriesByName('frame').map((entry) => entry.duration)"
REQUESTS = """performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/blobs/'))
  .map((entry) => ({ms: entry.duration, bytes: entry.encodedBodySize}))"""


def first_paint(page):
    page.wait_for_selector("canvas[data-complete]", timeout=120_000)
    return round(page.evaluate("performance.getEntriesByName('data')[0].duration"))


def range_answers(page, length):
    times = []
    for begin, end in ((int(begin * length), int(end * length)) for begin, end in RANGES):
        page.evaluate(f"location.hash = 'page=timeline&m={begin}-{end}'")
        page.wait_for_selector(f".range-drawer[data-answered='{begin}-{end}']")
        times.append(page.evaluate("performance.getEntriesByName('range answer').at(-1).duration"))
    page.get_by_role("region", name="Measured range").get_by_role("button", name="Clear").click()
    return {"first": round(times[0], 1), "next": spread(times[1:])}


def drive(page, length, places, frames):
    """Pans and zooms at each depth and place; returns the time of each frame and between frames."""
    drawn, intervals = [], []
    for depth in DEPTHS:
        for share in places:
            begin, span = int(share * length * (1 - 1 / depth)), int(length / depth)
            page.evaluate(f"location.hash = 'page=timeline&t={begin}-{begin + span}'")
            page.wait_for_timeout(400)
            page.evaluate("performance.clearMeasures('frame')")
            intervals += page.evaluate(DRIVE, {"canvas": CANVAS, "frames": frames, "zoom": TURNS})
            drawn += page.evaluate(FRAMES)
    return {"frame_ms": spread(drawn), "interval_ms": spread(intervals)}


def explore(page, length, places, frames):
    """Memory with the timeline, answers of ranges, frames, and memory afterwards."""
    page.wait_for_timeout(1000)
    memory = {"timeline": tab_mib(page)}
    answers = range_answers(page, length)
    driven = drive(page, length, places, frames)
    memory["explored"] = tab_mib(page)
    return {"range_answer_ms": answers, **driven, "tab_mib": memory}


def measure_file(page, file, frames=300):
    page.goto(f"{Path(file).resolve().as_uri()}#page=timeline")
    first = first_paint(page)
    return {"first_paint_ms": first, **explore(page, page.evaluate(LENGTH_IN_FILE), [0.5], frames), "file_bytes": Path(file).stat().st_size}


def all_pages(page):
    """Memory after a search for most names, and after the other pages that read rows."""
    page.get_by_role("searchbox", name="Search").fill("a")
    page.locator(".search [role=status]", has_text="event").wait_for(timeout=120_000)
    memory = {"search": tab_mib(page)}
    for name in ("tables", "charts", "sql"):
        page.evaluate(f"location.hash = 'page={name}'")
        page.wait_for_timeout(1500)
    return {**memory, "pages": tab_mib(page)}


def measure_served(page, program, recording, frames=60):
    started = time.monotonic()
    since = lambda: round(time.monotonic() - started, 2)
    process = subprocess.Popen([program, "view", "--no-open", recording], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = process.stdout.readline().strip()
        address_s = since()
        page.goto(address)
        page.wait_for_selector("canvas[data-complete], section.verdict", timeout=600_000)
        usable_s = since()
        stage = page.evaluate(PREPARED)
        if stage != "ready":
            raise RuntimeError(f"the program could not prepare {recording}")
        prepared = {"prepared_s": since(), "prepared_cpu_s": cpu_s(process.pid)}
        page.wait_for_selector("section.verdict, .answer-line button")
        answer_s = since()
        most = resident_mib(process.pid)[1]
        page.goto("about:blank")
        page.goto(address.split("#")[0])
        page.wait_for_selector("section.verdict")
        overview = round(page.evaluate("performance.now()"))
        page.goto("about:blank")
        page.goto(address.split("#")[0] + "#page=timeline")
        first = first_paint(page)
        page.evaluate("performance.setResourceTimingBufferSize(1e6)")
        explored = explore(page, page.evaluate(LENGTH_SERVED), PLACES, frames)
        requests = page.evaluate(REQUESTS)
        explored["tab_mib"].update(all_pages(page))
        return {
            "address_s": address_s,
            "usable_s": usable_s,
            **prepared,
            "answer_s": answer_s,
            "program_mib": {"most_until_prepared": most, "at_end": resident_mib(process.pid)[0]},
            "overview_ms": overview,
            "first_paint_ms": first,
            **explored,
            "request_ms": spread([each["ms"] for each in requests]),
            "reply_bytes": spread([each["bytes"] for each in requests]),
            "file_bytes": Path(recording).stat().st_size,
        }
    finally:
        process.terminate()
        process.wait()


def cpu_s(pid):
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return round((int(fields[11]) + int(fields[12])) / 100, 2)
