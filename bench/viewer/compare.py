#!/usr/bin/env python3
"""Our viewer beside speedscope: the same recordings of several sizes in one run, alternating between the viewers.

    bench/viewer/compare.py [--sizes N,...] [--serve N,...] [--repeats N] [--no-speedscope] [--program PATH] [--tools FOLDER] [--json FILE]

Needs `gpu-profile`, and for more than 10,000 events grow_trace and make_big_capture of the bench preset. Sizes are measured as
one exported file, those of --serve from `gpu-profile view`. speedscope (npm, a fixed version, fetched into a temporary
folder) gets the same recording twice: as Chrome trace JSON, and in its own format, both by `gpu-profile export`. What
cannot be shown within two minutes "fails" and is not tried again. Prints tables in Markdown: the range over the repeats. run.py and
speedscope.py say what the figures are; --json has all of them, one measurement per line.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import speedscope
from own_viewer import measure_file, measure_served
from playwright.sync_api import sync_playwright
from recordings import ROOT, grown
from tab import open_tab
from tables import print_tables

FORMATS = {"html": "html", "chrome": "json", "speedscope": "speedscope.json"}


def exported(program, form, recording, folder):
    """A file of the recording and how long the program took to write it."""
    out = folder / f"{recording.name}.{FORMATS[form]}"
    begun = time.monotonic()
    subprocess.run([program, "export", form, recording, "-o", out], check=True, stdout=subprocess.DEVNULL)
    return out, round(time.monotonic() - begun, 2)


def measure(viewer, recording, options, playwright, server, folder):
    """One measurement of one viewer."""
    with open_tab(playwright, options.chromium) as page:
        if viewer == "view":
            return measure_served(page, options.program, recording, options.frames // 4)
        file, seconds = exported(options.program, viewer, recording, folder)
        if viewer == "html":
            figures = measure_file(page, file, options.frames)
        else:
            figures = speedscope.measure(page, server, file, options.frames // 4)
        file.unlink()
        return {**figures, "export_s": seconds}


def measurements(options, playwright, server, folder):
    sizes = [(events, "html") for events in options.sizes] + [(events, "view") for events in options.serve]
    recordings = {events: grown(events, folder, options.tools) for events, _ in sizes}
    failed = set()
    for repeat in range(options.repeats):
        for events, ours in sizes:
            for viewer in (ours,) if server is None else (ours, "chrome", "speedscope"):
                if (events, viewer) in failed:
                    continue
                figures = measure(viewer, recordings[events], options, playwright, server, folder)
                if "fails" in figures:
                    failed.add((events, viewer))
                yield {"events": events, "viewer": viewer, "repeat": repeat, "load": round(os.getloadavg()[0], 1), **figures}


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=numbers, default=[10_000, 100_000, 1_000_000], metavar="N,...")
    parser.add_argument("--serve", type=numbers, default=[10_000_000], metavar="N,...")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--frames", type=int, default=64, help="frames at each of four depths; of a served recording and of speedscope a quarter, at each place or thread")
    parser.add_argument("--no-speedscope", action="store_true")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "bench" / "gpu-profile")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "bench" / "bench", metavar="FOLDER")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        server = None if options.no_speedscope else speedscope.Server(speedscope.fetch_package(folder))
        for result in measurements(options, playwright, server, folder):
            results.append(result)
            print(json.dumps(result), file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text("".join(json.dumps(each) + "\n" for each in results))
        if server:
            server.close()
    print_tables(results)


if __name__ == "__main__":
    main()
