#!/usr/bin/env python3
"""The speed of the viewer: first paint, frames during panning and zooming, answers of ranges, memory, size of the file.

    bench/viewer/run.py [PAGE.html ...] [--events N] [--chromium PATH]
    bench/viewer/run.py --serve RECORDING [--program PATH] [--chromium PATH]

Without a page it makes a synthetic one of N events (web/test/synthetic.ts). With --serve it starts `gpu-profile view`
and opens the address that it prints. compare.py measures several sizes, and speedscope beside them. Reported per page, as
JSON on standard output:

  first_paint_ms   navigation to the first frame of the timeline whose data has all arrived
  range_answer_ms  from a measured range to its tables on the page: the first one on a fresh page, and p50 / p95 / max of
                   others of the whole to a thousandth of the recording
  frame_ms         time from the start of a frame's work to the end of its drawing commands, p50 / p95 / max
  interval_ms      time between displayed frames, p50 / p95 / max: 16.7 is every refresh of a 60 Hz screen
  tab_mib          proportional set size of the tab's process: with the timeline; explored: after the ranges and frames
  file_bytes

A pan and a zoom change the window before every frame: 300 frames each at four depths, or for a served recording 60
frames each at four depths and five places. For a served recording also:

  address_s        start of the program to the line with the address
  usable_s         start of the program to the timeline on the screen with data, or to the answer if that comes first
  prepared_s       start of the program until the recording is prepared, and the CPU time of that
  answer_s         start of the program to the first answer on the screen
  program_mib      resident memory of the program: peak until the first answer, and at the end
  overview_ms      navigation to the first answer on the screen, once the recording is prepared
  request_ms       time of a request for blobs, p50 / p95 / max, and bytes of a reply, p50 / max
  tab_mib          also after a search for every name with an "a", and after the pages Tables, Charts and SQL
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from own_viewer import measure_file, measure_served
from playwright.sync_api import sync_playwright
from tab import open_tab

ROOT = Path(__file__).resolve().parents[2]


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
        if options.serve:
            with open_tab(playwright, options.chromium) as page:
                print(json.dumps({"recording": options.serve.name, **measure_served(page, options.program, options.serve)}))
            return
        for file in options.pages or [synthetic(options.events, Path(folder))]:
            with open_tab(playwright, options.chromium) as page:
                print(json.dumps({"page": file.name, **measure_file(page, file)}), flush=True)


if __name__ == "__main__":
    main()
