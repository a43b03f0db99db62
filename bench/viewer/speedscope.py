"""Measures speedscope, the page that its npm package contains, on a trace that our program wrote for it.

The page comes over HTTP from this process, like the trace, which it loads by #profileURL. It draws by WebGL and reports no
times, so a script that runs before it notes each animation frame that draws. speedscope shows one thread or stream at a
time; frames are measured in each of them. It has no answer for a range.
"""

import http.server
import os
import signal
import subprocess
import tarfile
import threading
from pathlib import Path

from playwright.sync_api import Error
from tab import DEPTHS, DRIVE, browser_pid, spread, tab_mib

PACKAGE = "speedscope@1.25.0"
LIMIT_S = 120  # until the first frame of a trace
CANVAS = "canvas"  # whole page, minimap, flame chart
TURNS = {"in": -4.52, "out": 5.08}  # speedscope zooms by 1 + turn / 40

# [start, end] of each animation frame that draws, once a trace is shown. The page has only one canvas before.
NOTE_FRAMES = """(() => {
  let drawing = false;
  const shown = [];
  window.shownFrames = () => shown.splice(0);
  window.firstFrame = null;
  for (const name of ['drawArrays', 'drawElements']) {
    const draw = WebGLRenderingContext.prototype[name];
    WebGLRenderingContext.prototype[name] = function (...values) { drawing = true; return draw.apply(this, values); };
  }
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => request((time) => {
    drawing = false;
    const begun = performance.now();
    callback(time);
    if (!drawing || document.querySelectorAll('canvas').length < 2) return;
    window.firstFrame ??= performance.now();
    shown.push(performance.now() - begun);
  });
})()"""
# "thread 7 (1/4)" in the heading, if there are several
TIMELINES = "Number(/\\(\\d+\\/(\\d+)\\)/.exec(document.body.innerText)?.[1] ?? 1)"
ZOOM_IN = """(turns) => {
  const target = [...document.querySelectorAll('canvas')].at(-1);
  for (let i = 0; i < turns; i++) target.dispatchEvent(new WheelEvent('wheel', {deltaY: -20, ctrlKey: true, bubbles: true, cancelable: true}));
}"""


def fetch_package(folder):
    """Unpacks speedscope's page below the folder and returns its place."""
    packed = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]
    with tarfile.open(Path(folder) / packed) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder) / "package" / "dist" / "release"


class Server:
    """Serves speedscope's page and one trace, /trace."""

    def __init__(self, release):
        server = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                name = path.partition("?")[0].lstrip("/")
                return str(server.trace if name == "trace" else release / Path(name).name)

            def log_message(self, *_):
                pass

        self.trace = None
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def measure(page, server, trace, frames=16):
    """The same figures as of our viewer, or why there are none."""
    server.trace = trace
    said = []
    page.on("pageerror", lambda error: said.append(str(error).splitlines()[0]))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("crash", lambda _: said.append("the tab crashed"))
    page.add_init_script(NOTE_FRAMES)
    problem = load(page, f"{server.address}/index.html#profileURL={server.address}/trace")
    if problem is not None:
        return {"fails": said[0] if said else problem, "file_bytes": trace.stat().st_size}
    page.wait_for_timeout(1000)
    memory = {"timeline": tab_mib(page)}
    driven = drive(page, frames)
    return {
        "first_paint_ms": round(page.evaluate("window.firstFrame")),
        **driven,
        "tab_mib": {**memory, "explored": tab_mib(page)},
        "file_bytes": trace.stat().st_size,
    }


def load(page, address):
    """Waits for the first frame of the trace; returns why there is none. A tab that computes without end answers nothing, so
    its browser is ended after the limit."""
    late = threading.Event()
    browser = browser_pid(page)
    timer = threading.Timer(LIMIT_S, lambda: (late.set(), os.kill(browser, signal.SIGKILL)))
    timer.start()
    try:
        page.goto(address, timeout=0)
        page.wait_for_function("window.firstFrame !== null || /Something went wrong/.test(document.body.innerText)", timeout=0)
        return None if page.evaluate("window.firstFrame") is not None else "the page says that something went wrong"
    except Error as error:
        return f"nothing drawn within {LIMIT_S} s" if late.is_set() else str(error).splitlines()[0]
    finally:
        timer.cancel()


def drive(page, frames):
    drawn, intervals = [], []
    count = page.evaluate(TIMELINES)
    for place in range(count):
        if place > 0:
            page.keyboard.press("n")
            page.wait_for_function(f"() => document.body.innerText.includes('({place + 1}/{count})')")
        for depth in DEPTHS:
            page.keyboard.press("0")
            page.evaluate(ZOOM_IN, max(0, depth.bit_length() - 1))
            page.wait_for_timeout(400)
            page.evaluate("window.shownFrames()")
            intervals += page.evaluate(DRIVE, {"canvas": CANVAS, "frames": frames, "zoom": TURNS})
            drawn += page.evaluate("window.shownFrames()")
    return {"timelines": count, "frame_ms": spread(drawn), "interval_ms": spread(intervals)}
