#!/usr/bin/env python3
"""Draws the images of the viewer in docs/images: `.venv/bin/python tools/draw_view_images.py build/release/gpu-profile`.

Each image is a page that the program exports, opened in Chromium (GPUPROF_CHROMIUM, or the one on PATH) and cut at the
end of an element, so that no line is cut in half. Run it after a change of the viewer or of the reports it shows, and
look at the images before committing them. Fonts differ between machines, so no test compares the images.
"""

import argparse
import base64
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
KINETO = ROOT / "tests" / "fixtures" / "kineto"
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
TRANSFORMER = KINETO / "transformer-stacks-shapes-memory.json.zst"
COUNTERS = ROOT / "tests" / "fixtures" / "ncu" / "kernels.raw.csv.gz"
RANKS = ROOT / "examples" / "ranks"
TWO_GPUS = ROOT / "tests" / "fixtures" / "nsys" / "h100_2gpu_1s.sqlite.zst"

WIDTH = 1280  # CSS pixels
MAX_BYTES = 250_000

# The image with at most 64 colours, the frequent ones first, each apart from those before it, so that rare hues have a place among the greys
# of letters; other colours become the nearest of them. A quality of 1 keeps every pixel.
WITH_FEW_COLOURS = """async (png) => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const image = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const counts = new Map();
  const colours = new Uint32Array(image.data.buffer);
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const rgb = (colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  const palette = [], distances = (colour) => palette.map((other) => rgb(colour).reduce((sum, value, i) => sum + (value - rgb(other)[i]) ** 2, 0));
  for (const [colour] of [...counts].sort((a, b) => b[1] - a[1]))
    if (palette.length < 64 && Math.min(...distances(colour)) > 700) palette.push(colour);
  const nearest = (colour) => {
    const all = distances(colour);
    return palette[all.indexOf(Math.min(...all))];
  };
  const nearests = new Map([...counts.keys()].map((colour) => [colour, nearest(colour)]));
  colours.forEach((colour, i) => { colours[i] = nearests.get(colour); });
  context.putImageData(image, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 1 })).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""


def webp(page, png):
    image = base64.b64decode(page.evaluate(WITH_FEW_COLOURS, base64.b64encode(png).decode()))
    return packed(image) if shutil.which("cwebp") else image


def packed(image):
    """The same pixels in fewer bytes."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.webp", Path(folder) / "after.webp"
        before.write_bytes(image)
        subprocess.run(["cwebp", "-quiet", "-lossless", "-z", "9", before, "-o", after], check=True)
        return after.read_bytes()


@dataclass
class Image:
    name: str
    recording: Path
    address: str  # what follows the # of the page
    height: Optional[int] = None  # CSS pixels; if absent, up to the end of `until`
    until: str = "main"
    base: Optional[Path] = None
    click: Optional[str] = None  # name of a button on the page
    theme: str = "light"


MS = 1_000_000
STEP = f"{105 * MS}-{160 * MS}"  # of the example: the end of a step, its input, and the begin of the next

ALL = [
    Image("view-overview", EXAMPLE, "page=overview", until="main .columns"),
    Image("view-timeline", EXAMPLE, "page=overview", height=720, click="gap-1"),
    Image("view-flame", TRANSFORMER, f"page=timeline&m={20 * MS}-{60 * MS}&t={20 * MS}-{60 * MS}", height=900, click="Flame graph"),
    Image("view-two-gpus", TWO_GPUS, "page=timeline", height=620, theme="dark"),
    Image("view-steps", EXAMPLE, "page=steps", height=900),
    Image("view-kernel", COUNTERS, "page=kernels", until="section[aria-label=Memory]"),
    Image("view-job", RANKS, "page=job", until="main .job-columns"),
    Image("view-comparison", TRANSFORMER, "page=comparison", until=".timelines .side >> nth=1", base=KINETO / "transformer.json.zst"),
]


def export(program, image, folder):
    out = folder / f"{image.name}.html"
    base = [] if image.base is None else ["--base", image.base]
    recording = image.recording
    if recording.is_dir():  # one file of each rank
        recording = folder / "job.gpuprof"
        subprocess.run([program, "ranks", image.recording, "--cache", folder, "--save", recording], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "export", "html", recording, *base, "-o", out], check=True)
    return out


def draw(browser, image, path):
    context = browser.new_context(viewport={"width": WIDTH, "height": image.height or 4000}, color_scheme=image.theme, offline=True)
    page = context.new_page()
    page.goto(f"{path.as_uri()}#{image.address}")
    page.wait_for_selector("header.bar")
    if image.click is not None:
        page.get_by_role("button", name=image.click, exact=True).first.click()
    page.mouse.move(WIDTH - 1, 1)  # no tooltip, no button of a track
    page.wait_for_timeout(2000)  # charts and lanes are drawn from chunks that arrive one by one
    height = image.height
    if height is None:
        box = page.locator(image.until).first.bounding_box()
        height = round(box["y"] + box["height"]) + 12
    data = page.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    page.goto("about:blank")
    data = webp(page, data)
    context.close()
    return data


def main():
    parser = argparse.ArgumentParser(description="Draw the images of the viewer in docs/images.")
    parser.add_argument("program", type=Path, help="the program whose viewer is drawn")
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the images go (default: docs/images)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(image.name for image in ALL)}")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in {image.name for image in ALL}]
    if unknown:
        parser.error(f"unknown image '{unknown[0]}'")
    chromium = os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("cannot draw: no Chromium on PATH; install it or set GPUPROF_CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for image in ALL:
            if given.names and image.name not in given.names:
                continue
            data = draw(browser, image, export(given.program.resolve(), image, Path(folder)))
            if len(data) > MAX_BYTES:
                sys.exit(f"{image.name}: {len(data):,} bytes; the limit is {MAX_BYTES:,}")
            (given.folder / f"{image.name}.webp").write_bytes(data)
            print(f"{image.name}.webp: {len(data):,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
