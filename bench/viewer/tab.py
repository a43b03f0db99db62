"""A tab of headless Chromium, and what is measured of any viewer in it: time of frames and memory.

Chromium renders by software, so that machines without a GPU can run this. Each measurement starts a browser of its own: memory of earlier pages
does not count, and nothing is cached.
"""

import contextlib
from pathlib import Path

SIZE = {"width": 1280, "height": 720}
DEPTHS = (1, 8, 100, 5000)  # the window is this part of the recording
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]  # the last one: WebGL without a GPU


@contextlib.contextmanager
def open_tab(playwright, chromium):
    browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
    try:
        yield browser.new_page(viewport=SIZE)
    finally:
        browser.close()


def tab_mib(page):
    """Memory of the tab: proportional set size of its renderer process, the largest of the browser's."""
    return max(proportional_mib(each["id"]) for each in processes(page) if each["type"] == "renderer")


def browser_pid(page):
    return next(each["id"] for each in processes(page) if each["type"] == "browser")


def processes(page):
    session = page.context.browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return found


def proportional_mib(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) // 1024


def resident_mib(pid):
    """Resident memory now, and its peak so far."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return [int(lines[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM")]


def spread(values):
    values = sorted(values)
    at = lambda share: round(values[min(len(values) - 1, int(share * len(values)))], 2)
    return {"p50": at(0.5), "p95": at(0.95), "max": at(1.0), "count": len(values)}


# Pans back and forth, then zooms in and out around the middle, one change per frame, on the last canvas that the selector
# finds. `zoom` has the turns of the wheel that show 0.887 of the window and 1.127 times as much; viewers differ in them.
DRIVE = """async ({canvas, frames, zoom}) => {
  const target = [...document.querySelectorAll(canvas)].at(-1);
  const {left, top, width, height} = target.getBoundingClientRect();
  const intervals = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    const back = i % (frames / 2) >= frames / 4;
    const turn = i < frames / 2 ? {deltaX: back ? -40 : 40} : {deltaY: back ? zoom.out : zoom.in, ctrlKey: true};
    target.dispatchEvent(new WheelEvent('wheel', {...turn, bubbles: true, cancelable: true, clientX: left + width / 2, clientY: top + height / 2}));
    const now = await new Promise(requestAnimationFrame);
    intervals.push(now - last);
    last = now;
  }
  return intervals;
}"""
